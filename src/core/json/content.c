#include "core/json/content.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/envelope/schema_id.h"

const char *
content_name(enum content_kind kind)
{
    static const char *const names[] = {"no value", "JSON", "text", "bytes"};
    return names[kind];
}

static void __attribute__((format(printf, 2, 3))) add_why(struct content *content, const char *format, ...)
{
    size_t len = strlen(content->why);
    va_list args;
    va_start(args, format);
    vsnprintf(content->why + len, sizeof content->why - len, format, args);
    va_end(args);
}

// The first byte that no text has.
static size_t
find_not_text(struct bytes payload)
{
    for (size_t at = 0; at < payload.len;) {
        uint32_t point;
        size_t len = utf8_decode(payload, at, &point);
        if (point == UTF8_INVALID || point == 0)
            return at;
        at += len;
    }
    return payload.len;
}

// What begins like this is often meant to be that.
static void
add_guess(struct content *content, struct bytes payload)
{
    static const struct {
        struct bytes begin;
        const char *is;
    } forms[] = {
        {{"\x1F\x8B", 2}, "gzip"},
        {{"\x28\xB5\x2F\xFD", 4}, "Zstandard"},
        {{"\x04\x22\x4D\x18", 4}, "LZ4"},
        {{"Obj\x01", 4}, "an Avro file"},
        {{"\xAC\xED\0\x05", 4}, "a serialised Java object"},
        {{"\xFF\xFE", 2}, "UTF-16"},
        {{"\xFE\xFF", 2}, "UTF-16"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (bytes_equal(bytes_slice(payload, 0, forms[i].begin.len), forms[i].begin)) {
            add_why(content, "; it begins like %s", forms[i].is);
            return;
        }
    }
    struct schema_id schema;
    struct arena arena = {0};
    if (schema_id_of(&(struct envelope_record){.value = payload}, &schema))
        add_why(content, "; it begins like a value of %s", schema_id_text(&schema, &arena));
    arena_release(&arena);
}

// Can as many be edited? Otherwise says so.
static bool
check_limit(struct content *content, size_t count, size_t limit, const char *what)
{
    char is[TEXT_SHORT];
    char most[TEXT_SHORT];
    if (count <= limit)
        return true;
    add_why(content, "; it has %s %s and is to be read only: up to %s are edited",
            text_count((int64_t)count, is), what, text_count((int64_t)limit, most));
    return false;
}

static void
look_at_json(struct bytes payload, struct content *content)
{
    content->kind = CONTENT_JSON;
    add_why(content, "this is JSON");
    content->is_editable = check_limit(content, payload.len, JSON_BYTES, "bytes") &&
                           check_limit(content, content->fault.tokens, JSON_TOKENS, "tokens");
}

static void
look_at_text(struct bytes payload, struct content *content)
{
    const struct json_fault *fault = &content->fault;
    content->kind = CONTENT_TEXT;
    if (payload.len == 0)
        add_why(content, "this value is empty: it has no bytes");
    else if (fault->is_too_deep)
        add_why(content, "this is nested more than %d levels deep at line %d, column %d: it is shown as text",
                JSON_DEPTH, fault->line, fault->column);
    else
        add_why(content, "this is text and not JSON: line %d, column %d: expected %s", fault->line,
                fault->column, fault->expected);
    content->is_editable = check_limit(content, payload.len, JSON_BYTES, "bytes");
}

void
content_of(struct bytes payload, struct content *content)
{
    *content = (struct content){.kind = CONTENT_NONE};
    if (!bytes_present(payload)) {
        add_why(content, "there is no value: a null, which deletes the key in a compacted topic");
        return;
    }
    if (!json_find_fault(payload, &content->fault)) {
        look_at_json(payload, content);
        return;
    }
    content->not_text = find_not_text(payload);
    if (content->not_text == payload.len) {
        content->not_text = 0;
        look_at_text(payload, content);
        return;
    }
    content->kind = CONTENT_BYTES;
    bool is_nul = payload.data[content->not_text] == '\0';
    add_why(content, "these are bytes and no text: byte %zu is %s", content->not_text,
            is_nul ? "NUL" : "not UTF-8");
    add_guess(content, payload);
}
