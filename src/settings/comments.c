#include "settings/comments.h"

#include "base/alloc.h"

// Past a quoted text that begins at `at`, its closing quote included.
static size_t
skip_quoted(const char *text, size_t len, size_t at)
{
    char quote = text[at++];
    while (at < len && text[at] != quote)
        at += text[at] == '\\' ? 2 : 1;
    return at < len ? at + 1 : len;
}

static size_t
blank_line(char *text, size_t len, size_t at)
{
    while (at < len && text[at] != '\n')
        text[at++] = ' ';
    return at;
}

static size_t
blank_block(char *text, size_t len, size_t at)
{
    size_t end = at + 2;
    while (end < len && !(text[end - 1] == '*' && text[end] == '/' && end > at + 2))
        end++;
    for (; at < len && at <= end; at++)
        text[at] = text[at] == '\n' ? '\n' : ' ';
    return at;
}

void
comments_blank(char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        char next = at + 1 < len ? text[at + 1] : '\0';
        if (text[at] == '"' || text[at] == '\'')
            at = skip_quoted(text, len, at);
        else if (text[at] == '#' || (text[at] == '/' && next == '/'))
            at = blank_line(text, len, at);
        else if (text[at] == '/' && next == '*')
            at = blank_block(text, len, at);
        else
            at++;
    }
}

char *
comments_read(FILE *stream)
{
    char *text = NULL;
    size_t len = 0, capacity = 0, got = 0;
    do {
        if (capacity - len < 4096)
            text = alloc_resize(text, capacity = capacity * 2 + 8192, 1);
        len += got = fread(text + len, 1, capacity - len - 1, stream);
    } while (got > 0);
    text[len] = '\0';
    comments_blank(text, len);
    return text;
}
