#include "base/log.h"

#include <stdarg.h>
#include "base/bytes.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"

static struct {
    FILE *stream;
    enum log_level least;
    bool json;
} target;

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void
log_to(FILE *stream, enum log_level least, bool json)
{
    target.stream = stream;
    target.least = least;
    target.json = json;
}

static void
add_json_text(struct strbuf *out, struct bytes text)
{
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '"' || c == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, c);
    }
    strbuf_add_char(out, '"');
}

void
log_line(enum log_level level, const char *msg, const char *format, ...)
{
    if (!target.stream || level < target.least)
        return;

    struct strbuf raw = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&raw, format, args);
    va_end(args);
    struct strbuf detail = {0};
    text_visible(&detail, strbuf_bytes(&raw), false);

    struct strbuf line = {0};
    char at[TIME_TEXT];
    time_rfc3339(clock_now(), 0, at);
    if (target.json) {
        strbuf_printf(&line, "{\"at\":\"%s\",\"level\":\"%s\",\"msg\":", at, level_names[level]);
        add_json_text(&line, bytes_of(msg));
        strbuf_add_text(&line, ",\"detail\":");
        add_json_text(&line, strbuf_bytes(&detail));
        strbuf_add_text(&line, "}\n");
    } else {
        strbuf_printf(&line, "at=%s level=%s msg=\"%s\" %s\n", at, level_names[level], msg,
                      strbuf_text(&detail));
    }
    fputs(strbuf_text(&line), target.stream);
    fflush(target.stream);

    strbuf_release(&line);
    strbuf_release(&detail);
    strbuf_release(&raw);
}
