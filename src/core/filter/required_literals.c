#include "core/filter/required_literals.h"

#include <stdio.h>
#include <string.h>
#include "base/utf8.h"

static bool
is_mark(char c, enum required_mark mark)
{
    return (unsigned char)c == mark;
}

static bool
is_any_mark(char c)
{
    return (unsigned char)c >= REQUIRED_OR;
}

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// --- making ---

static bool
required_ends_with(const struct strbuf *required, enum required_mark mark)
{
    return required->len && is_mark(required->data[required->len - 1], mark);
}

void
required_add_gap(struct strbuf *required, enum required_mark mark)
{
    bool is_first = required->len == 0 || required_ends_with(required, REQUIRED_OR);
    if (!is_first && !(mark == REQUIRED_ANY && required_ends_with(required, REQUIRED_ANY)))
        strbuf_add_char(required, (char)mark);
}

void
required_end_alternative(struct strbuf *required)
{
    while (required_ends_with(required, REQUIRED_ANY) || required_ends_with(required, REQUIRED_ONE))
        required->len--;
}

void
required_begin_alternative(struct strbuf *required)
{
    strbuf_add_char(required, (char)REQUIRED_OR);
}

static void
add_again(struct strbuf *required, char c, const char *without)
{
    if (is_mark(c, REQUIRED_OR)) {
        required_end_alternative(required);
        required_begin_alternative(required);
    } else if (is_any_mark(c)) {
        required_add_gap(required, (enum required_mark)(unsigned char)c);
    } else if ((unsigned char)c >= 0x80 || strchr(without, lower(c))) {
        required_add_gap(required, REQUIRED_ANY);
    } else {
        strbuf_add_char(required, c);
    }
}

void
required_ignore_case(struct strbuf *required, const char *also)
{
    struct strbuf again = {0};
    char without[32];
    snprintf(without, sizeof without, "ks%s", also);
    for (size_t i = 0; i < required->len; i++)
        add_again(&again, required->data[i], without);
    required_end_alternative(&again);
    strbuf_release(required);
    *required = again;
}

// --- what it is ---

size_t
required_weight(struct bytes required)
{
    size_t least = SIZE_MAX;
    size_t most = 0;  // of a stretch in this alternative
    size_t bytes = 0; // of this stretch
    for (size_t i = 0; i <= required.len; i++) {
        bool is_end = i == required.len || is_mark(required.data[i], REQUIRED_OR);
        if (!is_end && !is_mark(required.data[i], REQUIRED_ANY)) {
            bytes += !is_any_mark(required.data[i]);
            continue;
        }
        most = bytes > most ? bytes : most;
        bytes = 0;
        if (!is_end)
            continue;
        least = most < least ? most : least;
        most = 0;
    }
    return least;
}

bool
required_is_text(struct bytes required)
{
    for (size_t i = 0; i < required.len; i++)
        if (is_any_mark(required.data[i]))
            return false;
    return required.len > 0;
}

void
required_print(struct bytes required, struct strbuf *out)
{
    for (size_t i = 0; i < required.len; i++) {
        if (is_mark(required.data[i], REQUIRED_ANY))
            strbuf_add_text(out, "\xe2\x80\xa6");
        else if (is_mark(required.data[i], REQUIRED_ONE))
            strbuf_add_text(out, "\xc2\xb7");
        else if (is_mark(required.data[i], REQUIRED_OR))
            strbuf_add_text(out, "|");
        else
            strbuf_add_char(out, required.data[i]);
    }
}

// --- fitting ---

// A stretch without an ANY at this place of the text: the offset behind it, or SIZE_MAX.
static size_t
stretch_end(struct bytes stretch, bool is_caseless, struct bytes text, size_t at)
{
    for (size_t i = 0; i < stretch.len; i++) {
        if (at >= text.len)
            return SIZE_MAX;
        if (is_mark(stretch.data[i], REQUIRED_ONE)) {
            uint32_t point;
            at += utf8_decode(text, at, &point);
            continue;
        }
        char c = is_caseless ? lower(text.data[at]) : text.data[at];
        if (c != (is_caseless ? lower(stretch.data[i]) : stretch.data[i]))
            return SIZE_MAX;
        at++;
    }
    return at;
}

// The first place is as good as any: what stands behind has the most room there.
static bool
alternative_fits(struct bytes required, bool is_caseless, struct bytes text)
{
    size_t at = 0;
    for (size_t from = 0; from < required.len;) {
        const char *mark = memchr(required.data + from, REQUIRED_ANY, required.len - from);
        size_t len = mark ? (size_t)(mark - required.data) - from : required.len - from;
        struct bytes stretch = bytes_slice(required, from, len);
        size_t end = SIZE_MAX;
        for (; at <= text.len && end == SIZE_MAX; at++)
            if (at == text.len || ((unsigned char)text.data[at] & 0xC0) != 0x80)
                end = stretch_end(stretch, is_caseless, text, at);
        if (end == SIZE_MAX)
            return false;
        at = end;
        from += len + 1;
    }
    return true;
}

bool
required_fits(struct bytes required, bool is_caseless, struct bytes text)
{
    for (size_t from = 0; from <= required.len;) {
        const char *mark =
            required.len > from ? memchr(required.data + from, REQUIRED_OR, required.len - from) : NULL;
        size_t len = mark ? (size_t)(mark - required.data) - from : required.len - from;
        if (alternative_fits(bytes_slice(required, from, len), is_caseless, text))
            return true;
        from += len + 1;
    }
    return false;
}
