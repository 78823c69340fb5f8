#include "core/filter/required_literals.h"

#include <stdio.h>
#include <string.h>
#include "base/utf8.h"

static bool
is_mark(char c, enum outline_mark mark)
{
    return (unsigned char)c == mark;
}

static bool
is_any_mark(char c)
{
    return (unsigned char)c >= OUTLINE_OR;
}

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// --- making ---

static bool
ends_with(const struct strbuf *outline, enum outline_mark mark)
{
    return outline->len && is_mark(outline->data[outline->len - 1], mark);
}

void
outline_add_gap(struct strbuf *outline, enum outline_mark mark)
{
    bool is_first = outline->len == 0 || ends_with(outline, OUTLINE_OR);
    if (!is_first && !(mark == OUTLINE_ANY && ends_with(outline, OUTLINE_ANY)))
        strbuf_add_char(outline, (char)mark);
}

void
outline_end_alternative(struct strbuf *outline)
{
    while (ends_with(outline, OUTLINE_ANY) || ends_with(outline, OUTLINE_ONE))
        outline->len--;
}

void
outline_begin_alternative(struct strbuf *outline)
{
    strbuf_add_char(outline, (char)OUTLINE_OR);
}

static void
add_again(struct strbuf *outline, char c, const char *without)
{
    if (is_mark(c, OUTLINE_OR)) {
        outline_end_alternative(outline);
        outline_begin_alternative(outline);
    } else if (is_any_mark(c)) {
        outline_add_gap(outline, (enum outline_mark)(unsigned char)c);
    } else if ((unsigned char)c >= 0x80 || strchr(without, lower(c))) {
        outline_add_gap(outline, OUTLINE_ANY);
    } else {
        strbuf_add_char(outline, c);
    }
}

void
outline_ignore_case(struct strbuf *outline, const char *also)
{
    struct strbuf again = {0};
    char without[32];
    snprintf(without, sizeof without, "ks%s", also);
    for (size_t i = 0; i < outline->len; i++)
        add_again(&again, outline->data[i], without);
    outline_end_alternative(&again);
    strbuf_release(outline);
    *outline = again;
}

// --- what it is ---

size_t
outline_weight(struct bytes outline)
{
    size_t least = SIZE_MAX;
    size_t most = 0;  // of a stretch in this alternative
    size_t bytes = 0; // of this stretch
    for (size_t i = 0; i <= outline.len; i++) {
        bool is_end = i == outline.len || is_mark(outline.data[i], OUTLINE_OR);
        if (!is_end && !is_mark(outline.data[i], OUTLINE_ANY)) {
            bytes += !is_any_mark(outline.data[i]);
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
outline_is_text(struct bytes outline)
{
    for (size_t i = 0; i < outline.len; i++)
        if (is_any_mark(outline.data[i]))
            return false;
    return outline.len > 0;
}

void
outline_print(struct bytes outline, struct strbuf *out)
{
    for (size_t i = 0; i < outline.len; i++) {
        if (is_mark(outline.data[i], OUTLINE_ANY))
            strbuf_add_text(out, "\xe2\x80\xa6");
        else if (is_mark(outline.data[i], OUTLINE_ONE))
            strbuf_add_text(out, "\xc2\xb7");
        else if (is_mark(outline.data[i], OUTLINE_OR))
            strbuf_add_text(out, "|");
        else
            strbuf_add_char(out, outline.data[i]);
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
        if (is_mark(stretch.data[i], OUTLINE_ONE)) {
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
alternative_fits(struct bytes outline, bool is_caseless, struct bytes text)
{
    size_t at = 0;
    for (size_t from = 0; from < outline.len;) {
        const char *mark = memchr(outline.data + from, OUTLINE_ANY, outline.len - from);
        size_t len = mark ? (size_t)(mark - outline.data) - from : outline.len - from;
        struct bytes stretch = bytes_slice(outline, from, len);
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
outline_fits(struct bytes outline, bool is_caseless, struct bytes text)
{
    for (size_t from = 0; from <= outline.len;) {
        const char *mark =
            outline.len > from ? memchr(outline.data + from, OUTLINE_OR, outline.len - from) : NULL;
        size_t len = mark ? (size_t)(mark - outline.data) - from : outline.len - from;
        if (alternative_fits(bytes_slice(outline, from, len), is_caseless, text))
            return true;
        from += len + 1;
    }
    return false;
}
