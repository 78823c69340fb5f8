#include "base/comments.h"

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
