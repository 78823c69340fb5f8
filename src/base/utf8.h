// utf8: decoding, validity, display width, and which characters are safe to show.
#ifndef REDRIVE_BASE_UTF8_H
#define REDRIVE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

// Decodes one character at b[at]; returns its length in bytes (1..4) and sets *point. A byte that starts no
// valid character (overlong, surrogate, above U+10FFFF, cut off) has length 1 and *point = UTF8_INVALID.
#define UTF8_INVALID 0xFFFFFFFFu
size_t utf8_decode(struct bytes b, size_t at, uint32_t *point);
size_t utf8_encode(uint32_t point, char out[4]); // returns the length

bool utf8_valid(struct bytes b);
// The largest length ≤ len at which b can be cut without splitting a character.
size_t utf8_cut(struct bytes b, size_t len);

// Cells a character takes: 0 (combining), 1 or 2. Independent of the locale: a table made from Unicode's East
// Asian Width.
int utf8_width(uint32_t point);

// May this character reach the terminal as it is? No for C0, DEL, C1, line and paragraph separators, bidi
// controls, zero-width and invisible ones, tags, variation selectors, private use, surrogates, noncharacters:
// each of these can control a terminal or hide text. They are drawn as visible escapes.
bool utf8_printable(uint32_t point);

#endif
