// string: private part of strings, shared by the scanner, contents and paths.
#ifndef REDRIVE_CORE_JSON_STRING_H
#define REDRIVE_CORE_JSON_STRING_H

#include "core/json/json.h"

// The length of the escape that begins at the first byte, a backslash: 2, or 6 for \uXXXX; 0: it is none.
size_t json_escape_length(struct bytes at);
// The character of an escape that json_escape_length knows; of a lone half of a surrogate pair U+FFFD.
// Returns the bytes used: 12 for both halves of a pair.
size_t json_escape_point(struct bytes at, uint32_t *point);
// The two-byte escape of a character, or 0 where it has none: 'n' of a line feed.
char json_escape_letter(uint32_t point);

#endif
