#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_add(struct strbuf *out, struct bytes b)
{
    for (size_t i = 0; i < b.len; i += 3) {
        size_t have = b.len - i < 3 ? b.len - i : 3;
        uint32_t word = (uint32_t)(unsigned char)b.data[i] << 16;
        if (have > 1)
            word |= (uint32_t)(unsigned char)b.data[i + 1] << 8;
        if (have > 2)
            word |= (uint32_t)(unsigned char)b.data[i + 2];
        strbuf_add_char(out, digits[word >> 18 & 63]);
        strbuf_add_char(out, digits[word >> 12 & 63]);
        strbuf_add_char(out, have > 1 ? digits[word >> 6 & 63] : '=');
        strbuf_add_char(out, have > 2 ? digits[word & 63] : '=');
    }
}

// The value of a digit, or 64.
static uint32_t
digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

bool
base64_decode(struct strbuf *out, struct bytes text)
{
    size_t len = text.len;
    if (len % 4 == 0)
        for (int i = 0; i < 2 && len && text.data[len - 1] == '='; i++)
            len--;
    if (len % 4 == 1)
        return false;
    for (size_t i = 0; i < len; i++)
        if (digit_value(text.data[i]) == 64)
            return false;

    uint32_t word = 0;
    for (size_t i = 0; i < len; i++) {
        word = word << 6 | digit_value(text.data[i]);
        if (i % 4 > 0)
            strbuf_add_char(out, (char)(word >> (6 - 2 * (i % 4)) & 0xFF));
    }
    return true;
}
