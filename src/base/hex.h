// hex: bytes as lines of a hex view, each made when it is asked for.
//
//     00000010  20 37 2c 20 22 6e 61 6d  65 22 3a 22 5a 6f eb 22   7, "name":"Zo."
//
// Columns are cells from 0; all characters are ASCII.
#ifndef REDRIVE_BASE_HEX_H
#define REDRIVE_BASE_HEX_H

#include <stddef.h>
#include "base/bytes.h"
#include "base/strbuf.h"

#define HEX_ROW 16 // bytes a line

size_t hex_lines(size_t len); // of so many bytes; of none: 0
// Appends the line (from 0) without a line end. Behind the last: nothing.
void hex_line(struct bytes b, size_t line, struct strbuf *out);
// The same of a line whose bytes are at hand, up to HEX_ROW; `from`: the offset of the first.
void hex_row(size_t from, struct bytes row, struct strbuf *out);
// The column of the digits of the byte `i` of a line, and of its character. Offsets beyond 4 GiB move both.
size_t hex_digits_column(size_t i);
size_t hex_text_column(size_t i);

#endif
