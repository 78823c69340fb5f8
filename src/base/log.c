#include "base/log.h"

#include <inttypes.h>
#include "base/bytes.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/utf8.h"

static struct {
    FILE *stream;
    enum log_level least;
    bool json;
    struct log_pair always; // without a text: none
} target;

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void
log_to(FILE *stream, enum log_level least, bool json)
{
    target.stream = stream;
    target.least = least;
    target.json = json;
}

void
log_always(const char *name, const char *text)
{
    target.always = LOG_TEXT(name, text);
}

static void
add_unit(struct strbuf *out, uint32_t unit)
{
    strbuf_printf(out, "\\u%04x", unit);
}

// As JSON writes it, in pairs beyond U+FFFF.
static void
add_escaped(struct strbuf *out, uint32_t point)
{
    if (point == UTF8_INVALID)
        point = 0xFFFD;
    if (point <= 0xFFFF) {
        add_unit(out, point);
        return;
    }
    point -= 0x10000;
    add_unit(out, 0xD800 + (point >> 10));
    add_unit(out, 0xDC00 + (point & 0x3FF));
}

static void
add_string(struct strbuf *out, struct bytes text)
{
    strbuf_add_char(out, '"');
    for (size_t at = 0; at < text.len;) {
        uint32_t point;
        size_t len = utf8_decode(text, at, &point);
        if (point == '"' || point == '\\')
            strbuf_printf(out, "\\%c", (char)point);
        else if (point == '\n')
            strbuf_add_text(out, "\\n");
        else if (point == UTF8_INVALID || !utf8_printable(point))
            add_escaped(out, point);
        else
            strbuf_add(out, bytes_slice(text, at, len));
        at += len;
    }
    strbuf_add_char(out, '"');
}

// Needs no quotes in logfmt: printable ASCII without blanks, quotes, = and backslashes.
static bool
is_bare(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '=' || c == '\\')
            return false;
    }
    return text.len > 0;
}

static void
add_pair(struct strbuf *out, const struct log_pair *pair)
{
    if (!pair->is_number && pair->text == NULL)
        return;
    if (target.json)
        strbuf_printf(out, "%s\"%s\":", out->len > 0 ? "," : "{", pair->name);
    else
        strbuf_printf(out, "%s%s=", out->len > 0 ? " " : "", pair->name);

    if (pair->is_number)
        strbuf_printf(out, "%" PRId64, pair->number);
    else if (!target.json && is_bare(bytes_of(pair->text)))
        strbuf_add_text(out, pair->text);
    else
        add_string(out, bytes_of(pair->text));
}

void
log_pairs(enum log_level level, const char *msg, const struct log_pair *pairs)
{
    if (!target.stream || level < target.least)
        return;

    char at[TIME_TEXT];
    time_rfc3339(clock_now(), 0, at);
    struct strbuf line = {0};
    add_pair(&line, &LOG_TEXT("at", at));
    add_pair(&line, &LOG_TEXT("level", level_names[level]));
    add_pair(&line, &LOG_TEXT("msg", msg));
    add_pair(&line, &target.always);
    for (; pairs->name != NULL; pairs++)
        add_pair(&line, pairs);
    strbuf_add_text(&line, target.json ? "}\n" : "\n");
    fputs(strbuf_text(&line), target.stream);
    fflush(target.stream);
    strbuf_release(&line);
}
