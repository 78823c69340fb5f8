#include "base/hex.h"

enum { OFFSET_CELLS = 8, GAP = 2 };

size_t
hex_lines(size_t len)
{
    return len / HEX_ROW + (len % HEX_ROW > 0);
}

size_t
hex_digits_column(size_t i)
{
    return OFFSET_CELLS + GAP + 3 * i + (i >= HEX_ROW / 2);
}

size_t
hex_text_column(size_t i)
{
    return hex_digits_column(HEX_ROW) + GAP - 1 + i;
}

void
hex_line(struct bytes b, size_t line, struct strbuf *out)
{
    if (line < hex_lines(b.len))
        hex_row(line * HEX_ROW, bytes_slice(b, line * HEX_ROW, HEX_ROW), out);
}

void
hex_row(size_t from, struct bytes row, struct strbuf *out)
{
    strbuf_printf(out, "%0*zx ", OFFSET_CELLS, from);
    for (size_t i = 0; i < HEX_ROW; i++) {
        strbuf_add_text(out, i == HEX_ROW / 2 ? "  " : " ");
        if (i < row.len)
            strbuf_printf(out, "%02x", (unsigned char)row.data[i]);
        else
            strbuf_add_text(out, "  ");
    }
    strbuf_add_text(out, "  ");
    for (size_t i = 0; i < row.len; i++)
        strbuf_add_char(out, row.data[i] >= ' ' && row.data[i] < 0x7F ? row.data[i] : '.');
}
