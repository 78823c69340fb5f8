// syntax: which class of JSON each byte belongs to, for colours.
#ifndef REDRIVE_UI_EDITOR_SYNTAX_H
#define REDRIVE_UI_EDITOR_SYNTAX_H

#include "ui/editor/editor.h"

enum syntax_class {
    SYNTAX_NAME, // with its quotes
    SYNTAX_STRING,
    SYNTAX_ESCAPE, // within a name or string
    SYNTAX_NUMBER,
    SYNTAX_LITERAL, // true, false, null
    SYNTAX_PUNCTUATION,
    SYNTAX_ERROR, // what does not belong there
};

struct syntax_span {
    enum syntax_class class;
    size_t from, len;
};
// The classes of the bytes [from, to), in order; white space is left out, and spans are clipped to the range.
// Writes the first `room` and returns how many it wrote; a view goes on behind the last one. Reads the range
// and at most 8 KiB before it, if everything before was read since the last edit (else up to it: once).
// Ranges that follow each other cost nothing but themselves. 0 for a text.
size_t editor_classes(struct editor *editor, size_t from, size_t to, struct syntax_span *spans, size_t room);

#endif
