// Any bytes as text for a person and as words that people type: what comes out is harmless, and what is read
// is whole.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/event.h"
#include "core/json/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static void
check_harmless(struct bytes text, bool has_lines)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t point;
        at += utf8_decode(text, at, &point);
        require(utf8_printable(point) || (has_lines && (point == '\n' || point == '\t')));
    }
}

static void
check_visible(struct bytes text)
{
    for (int lines = 0; lines < 2; lines++) {
        struct strbuf out = {0};
        text_visible(&out, text, lines);
        check_harmless(strbuf_bytes(&out), lines);
        strbuf_release(&out);
    }
    struct value *object = value_object();
    value_add_bytes(object, "text", text);
    value_add_payload(object, "payload", text);
    struct strbuf out = {0};
    value_dump(object, &out);
    check_harmless(strbuf_bytes(&out), false);
    strbuf_release(&out);
    value_destroy(object);
}

static void
check_utf8(struct bytes text)
{
    bool is_valid = true;
    for (size_t at = 0; at < text.len;) {
        uint32_t point;
        size_t len = utf8_decode(text, at, &point);
        require(len >= 1 && len <= 4 && len <= text.len - at);
        char back[4];
        if (point == UTF8_INVALID)
            is_valid = false;
        else
            require(bytes_equal((struct bytes){back, utf8_encode(point, back)}, bytes_slice(text, at, len)));
        at += len;
    }
    require(utf8_valid(text) == is_valid);
    for (size_t cut = 0; is_valid && cut <= text.len; cut++)
        require(utf8_cut(text, cut) <= cut && utf8_valid(bytes_slice(text, 0, utf8_cut(text, cut))));
}

static void
check_words(struct bytes text)
{
    int64_t n;
    struct err err = {0};
    bool is_date;
    require(text_parse_int(text, &n, &err) == !err_is_set(&err));
    err_clear(&err);
    require(text_parse_duration(text, &n, &err) ? n >= 0 : err_is_set(&err));
    err_clear(&err);
    require(time_parse_wall(text, &n, &is_date, &err) == !err_is_set(&err));
    uint64_t low;
    uint64_t high;
    char key[GROUP_TEXT];
    if (group_parse(text, &low, &high))
        require(low <= high && group_text(low, key) == key);
    struct bytes original = topic_original(text);
    require(topic_is_queue(text) == (original.len < text.len));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096)
        return 0;
    struct bytes text = {size ? (const char *)data : "", size};
    check_visible(text);
    check_utf8(text);
    check_words(text);
    return 0;
}
