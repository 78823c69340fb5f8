#include "core/filter/saved.h"

#include "base/utf8.h"
#include "core/filter/parse.h"

static int
column_of(struct bytes text, size_t at)
{
    int column = 1;
    for (size_t i = 0; i < at; column++) {
        uint32_t point;
        i += utf8_decode(text, i, &point);
    }
    return column;
}

// The end of the word at `at`: what is quoted in it, behind a colon too, may hold blanks.
static size_t
word_end(struct bytes text, size_t at)
{
    char quote = '\0';
    for (bool may_open = true; at < text.len; at++) {
        char c = text.data[at];
        if (quote) {
            at += c == '\\';
            quote = c == quote ? '\0' : quote;
        } else if (filter_is_blank(c)) {
            break;
        } else if (may_open && c == '"') {
            quote = c;
        }
        may_open = c == ':' || c == '=' || c == '~' || c == '!';
    }
    return at < text.len ? at : text.len;
}

static bool
add_word(struct bytes text, size_t at, size_t end, const struct notes *saved, struct strbuf *out,
         struct err *err)
{
    struct bytes word = bytes_slice(text, at, end - at);
    struct bytes name = bytes_slice(word, 1, SIZE_MAX);
    if (!bytes_starts(word, "@") || !notes_is_name(name)) {
        strbuf_add(out, word);
        return true;
    }
    const char *meaning = notes_find(saved, name);
    if (meaning) {
        strbuf_add_text(out, meaning);
        return true;
    }
    err_set(err, ERR_USAGE, "there is no saved filter %.*s (in quotes it is text)", BYTES_ARGS(word));
    if (err)
        err->column = column_of(text, at);
    return false;
}

bool
filter_expand(struct bytes text, const struct notes *saved, struct strbuf *out, struct err *err)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && filter_is_blank(text.data[end]))
            end++;
        strbuf_add(out, bytes_slice(text, at, end - at));
        at = end;
        end = word_end(text, at);
        if (at < text.len && !add_word(text, at, end, saved, out, err))
            return false;
        at = end;
    }
    return true;
}
