// string: private part of strings, shared by the scanner, contents and paths.
#ifndef REDRIVE_CORE_JSON_STRING_H
#define REDRIVE_CORE_JSON_STRING_H

#include "core/json/json.h"

// The length of the escape that begins at the first byte, a backslash: 2, or 6 for \uXXXX; 0: it is none.
size_t json_escape_length(struct bytes at);
// Appends the character of an escape that json_escape_length knows. Returns the bytes used: 12 for the two
// halves of a surrogate pair.
size_t json_escape_decode(struct bytes at, struct strbuf *out);

#endif
