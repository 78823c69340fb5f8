#include "core/json/value.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/utf8.h"

struct value {
    json_t *json;
};

static struct value *
wrap(json_t *json)
{
    if (!json)
        die("out of memory");
    struct value *value = alloc_bytes(sizeof *value);
    value->json = json;
    return value;
}

struct value *
value_object(void)
{
    return wrap(json_object());
}

struct value *
value_array(void)
{
    return wrap(json_array());
}

void
value_destroy(struct value *value)
{
    if (!value)
        return;
    json_decref(value->json);
    free(value);
}

// Takes the json over.
static void
value_put(struct value *to, const char *name, json_t *json)
{
    int failed = json_is_array(to->json) ? json_array_append_new(to->json, json)
                                         : json_object_set_new(to->json, name, json);
    if (failed)
        die("out of memory");
}

static json_t *
text_of(struct bytes text)
{
    if (!bytes_present(text))
        return json_null();
    if (utf8_valid(text))
        return json_stringn(text.data, text.len);

    struct strbuf mended = {0};
    for (size_t at = 0; at < text.len;) {
        uint32_t point;
        size_t len = utf8_decode(text, at, &point);
        strbuf_add(&mended, point == UTF8_INVALID ? BYTES("\xEF\xBF\xBD") : bytes_slice(text, at, len));
        at += len;
    }
    json_t *json = json_stringn(mended.data, mended.len);
    strbuf_release(&mended);
    return json;
}

void
value_add_text(struct value *to, const char *name, const char *text)
{
    value_put(to, name, text_of(bytes_of(text)));
}

void
value_add_bytes(struct value *to, const char *name, struct bytes text)
{
    value_put(to, name, text_of(text));
}

void
value_add_int(struct value *to, const char *name, int64_t number)
{
    value_put(to, name, json_integer(number));
}

// A measure as a person reads it: to a thousandth, below one to a millionth.
static double
shortened(double number)
{
    double steps = fabs(number) < 1 ? 1e6 : 1e3;
    return fabs(number) < 1e9 ? round(number * steps) / steps : number;
}

void
value_add_real(struct value *to, const char *name, double number)
{
    value_put(to, name, isfinite(number) ? json_real(shortened(number)) : json_null());
}

void
value_add_bool(struct value *to, const char *name, bool flag)
{
    value_put(to, name, json_boolean(flag));
}

void
value_add_null(struct value *to, const char *name)
{
    value_put(to, name, json_null());
}

void
value_add_int_or_null(struct value *to, const char *name, bool is_there, int64_t number)
{
    if (is_there)
        value_add_int(to, name, number);
    else
        value_add_null(to, name);
}

void
value_add(struct value *to, const char *name, struct value *member)
{
    value_put(to, name, member->json);
    free(member);
}

void
value_add_time(struct value *to, const char *name, int64_t instant, int64_t offset_us)
{
    char text[TIME_TEXT];
    value_add_text(to, name, instant == TIME_ABSENT ? NULL : time_rfc3339(instant, offset_us, text));
}

void
value_add_payload(struct value *to, const char *name, struct bytes payload)
{
    if (!bytes_present(payload) || utf8_valid(payload)) {
        value_add_bytes(to, name, payload);
        return;
    }
    struct strbuf key = {0};
    struct strbuf coded = {0};
    strbuf_printf(&key, "%s_base64", name);
    base64_add(&coded, payload);
    value_add_bytes(to, strbuf_text(&key), strbuf_bytes(&coded));
    strbuf_release(&key);
    strbuf_release(&coded);
}

// jansson escapes what JSON demands and nothing more: the rest of what a terminal must not see is escaped
// here, in place.
static void
add_escaped(struct strbuf *out, struct bytes json)
{
    for (size_t at = 0; at < json.len;) {
        uint32_t point;
        size_t len = utf8_decode(json, at, &point);
        if (utf8_printable(point))
            strbuf_add(out, bytes_slice(json, at, len));
        else if (point > 0xFFFF)
            strbuf_printf(out, "\\u%04X\\u%04X", 0xD800 + ((point - 0x10000) >> 10),
                          0xDC00 + ((point - 0x10000) & 0x3FF));
        else
            strbuf_printf(out, "\\u%04X", point);
        at += len;
    }
}

void
value_dump(const struct value *value, struct strbuf *out)
{
    char *text = json_dumps(value->json, JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (!text)
        die("a document of ours could not be written as JSON");
    add_escaped(out, bytes_of(text));
    free(text);
}
