#include "core/schema/decoding.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base64.h"
#include "core/json/json.h"

// Names of fields are not in the value, so the result is longer: by this factor, and this much.
enum { LONGER = 64, LONGER_BY = 64 << 10 };

void
decoding_begin(struct decoding *decoding, struct bytes value, struct strbuf *out, struct err *err)
{
    size_t most = value.len < (SCHEMA_JSON_MOST - LONGER_BY) / LONGER ? value.len * LONGER + LONGER_BY
                                                                      : (size_t)SCHEMA_JSON_MOST;
    *decoding = (struct decoding){.value = value, .out = out, .begin = out->len, .most = most, .err = err};
}

bool
decoding_fail(struct decoding *decoding, const char *format, ...)
{
    char why[300];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return err_set(decoding->err, ERR_DATA, "byte %zu: %s", decoding->at, why);
}

bool
decoding_room(struct decoding *decoding)
{
    return decoding->out->len - decoding->begin <= decoding->most ||
           decoding_fail(decoding, "decoded it is longer than %zu bytes", decoding->most);
}

bool
decoding_enter(struct decoding *decoding)
{
    return ++decoding->depth <= SCHEMA_DEPTH ||
           decoding_fail(decoding, "it is nested more than %d levels deep", SCHEMA_DEPTH);
}

void
decoding_leave(struct decoding *decoding)
{
    decoding->depth--;
}

bool
decoding_take(struct decoding *decoding, uint64_t len, const char *what, struct bytes *taken)
{
    size_t left = decoding->value.len - decoding->at;
    if (len > left) {
        (void)decoding_fail(decoding, "%s of %" PRIu64 " bytes, and %zu are left", what, len, left);
        return false;
    }
    *taken = bytes_slice(decoding->value, decoding->at, (size_t)len);
    decoding->at += (size_t)len;
    return true;
}

bool
decoding_varint(struct decoding *decoding, uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0; decoding->at < decoding->value.len; shift += 7) {
        uint64_t byte = (unsigned char)decoding->value.data[decoding->at];
        if (shift > 63 || (shift == 63 && byte > 1))
            return decoding_fail(decoding, "a number of more than 64 bits");
        decoding->at++;
        *n |= (byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return decoding_fail(decoding, "the value ends within a number");
}

static bool
take_little(struct decoding *decoding, size_t len, uint64_t *n)
{
    struct bytes raw;
    if (!decoding_take(decoding, len, "a number", &raw))
        return false;
    *n = 0;
    for (size_t i = len; i-- > 0;)
        *n = *n << 8 | (unsigned char)raw.data[i];
    return true;
}

bool
decoding_fixed32(struct decoding *decoding, uint32_t *n)
{
    uint64_t wide;
    if (!take_little(decoding, 4, &wide))
        return false;
    *n = (uint32_t)wide;
    return true;
}

bool
decoding_fixed64(struct decoding *decoding, uint64_t *n)
{
    return take_little(decoding, 8, n);
}

int64_t
decoding_zigzag(uint64_t n)
{
    return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

void
decoding_add_text(struct decoding *decoding, struct bytes text)
{
    const char *nul = text.len > 0 ? memchr(text.data, '\0', text.len) : NULL;
    if (!nul) {
        json_quote(text, decoding->out);
        return;
    }
    struct strbuf copy = {0};
    for (; nul; nul = text.len > 0 ? memchr(text.data, '\0', text.len) : NULL) {
        size_t len = (size_t)(nul - text.data);
        strbuf_add(&copy, bytes_slice(text, 0, len));
        strbuf_add_text(&copy, "\xEF\xBF\xBD");
        text = bytes_slice(text, len + 1, SIZE_MAX);
    }
    strbuf_add(&copy, text);
    json_quote(strbuf_bytes(&copy), decoding->out);
    strbuf_release(&copy);
}

void
decoding_add_base64(struct decoding *decoding, struct bytes b)
{
    strbuf_add_text(decoding->out, "{\"base64\":\"");
    base64_add(decoding->out, b);
    strbuf_add_text(decoding->out, "\"}");
}

static bool
add_no_number(struct decoding *decoding, double number)
{
    if (isfinite(number))
        return false;
    strbuf_add_text(decoding->out, isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return true;
}

void
decoding_add_float(struct decoding *decoding, float number)
{
    char text[32];
    if (add_no_number(decoding, (double)number))
        return;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)number);
        float back = strtof(text, NULL);
        if (!(back < number) && !(back > number))
            break;
    }
    strbuf_add_text(decoding->out, text);
}

void
decoding_add_double(struct decoding *decoding, double number)
{
    char text[32];
    if (add_no_number(decoding, number))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        double back = strtod(text, NULL);
        if (!(back < number) && !(back > number))
            break;
    }
    strbuf_add_text(decoding->out, text);
}
