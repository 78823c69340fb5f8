// Walks a payload and sees each value under its path.
#include "core/apart/private.h"

#include "core/json/json.h"

enum { DEPTH = 24, PATH_BYTES = 240 }; // deeper and longer ones are left out

struct level {
    size_t path_len; // of the container
    bool is_array;
};

static enum apart_kind
kind_of(enum json_kind kind)
{
    switch (kind) {
    case JSON_OBJECT_BEGIN:
        return APART_OBJECT;
    case JSON_ARRAY_BEGIN:
        return APART_ARRAY;
    case JSON_STRING:
        return APART_TEXT;
    case JSON_NUMBER:
        return APART_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return APART_BOOLEAN;
    case JSON_NULL:
        return APART_NULL;
    case JSON_END:
    case JSON_ERROR:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_NAME:
    case JSON_COLON:
    case JSON_COMMA:
        break;
    }
    return APART_NOT_JSON;
}

static void
cut_path(struct apart *apart, size_t len)
{
    apart->path.len = len;
    apart->path.data[len] = '\0';
}

// A new name in an object that has many is data, such as an id.
static bool
is_kept(struct apart *apart, size_t container)
{
    struct bytes path = strbuf_bytes(&apart->path);
    if (apart_field_find(apart, APART_PATH, path))
        return true;
    struct apart_field *object = apart_field_need(apart, APART_PATH, bytes_slice(path, 0, container));
    return object && object->names++ < APART_NAMES;
}

// The value that the token begins, at the path.
static void
see_value(struct apart *apart, struct bytes payload, struct json_token token, size_t container)
{
    if (apart->path.len > PATH_BYTES || (container && !is_kept(apart, container)))
        return;
    struct bytes text = bytes_slice(payload, token.from, token.len);
    enum apart_kind kind = kind_of(token.kind);
    if (kind == APART_TEXT) {
        strbuf_reset(&apart->scratch);
        json_decode(text, &apart->scratch);
        text = strbuf_bytes(&apart->scratch);
    }
    apart_see(apart, apart_field_need(apart, APART_PATH, strbuf_bytes(&apart->path)), kind, text);
}

static void
walk(struct apart *apart, struct bytes payload)
{
    struct level levels[DEPTH + 1] = {{0}};
    struct json_scan scan;
    struct json_token token;
    json_begin(&scan, payload);
    for (token = json_next(&scan); token.kind != JSON_END && token.kind != JSON_ERROR;
         token = json_next(&scan)) {
        bool is_close = token.kind == JSON_OBJECT_END || token.kind == JSON_ARRAY_END;
        if (token.depth > DEPTH || is_close || token.kind == JSON_COLON || token.kind == JSON_COMMA)
            continue;
        const struct level *level = &levels[token.depth];
        if (token.depth > 0 && (token.kind == JSON_NAME || level->is_array))
            cut_path(apart, level->path_len);
        if (token.kind == JSON_NAME) {
            json_path_add_name(bytes_slice(payload, token.from, token.len), &apart->path);
            continue;
        }
        if (token.depth > 0 && level->is_array)
            strbuf_add_text(&apart->path, "[*]");
        see_value(apart, payload, token, token.depth > 0 ? level->path_len : 0);
        if (token.depth < DEPTH && (token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN))
            levels[token.depth + 1] = (struct level){apart->path.len, token.kind == JSON_ARRAY_BEGIN};
    }
}

void
apart_read_payload(struct apart *apart, struct bytes payload)
{
    if (!bytes_present(payload) || apart->leaves_out & 1u << APART_PATH)
        return;
    strbuf_reset(&apart->path);
    strbuf_add_char(&apart->path, '$');
    if (json_check(payload, NULL))
        walk(apart, payload);
    else
        apart_see(apart, apart_field_need(apart, APART_PATH, BYTES("$")), APART_NOT_JSON, payload);
}
