#include "core/recipe/parts.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "core/json/json.h"

static bool
same(struct bytes a, struct bytes b)
{
    return bytes_present(a) == bytes_present(b) && bytes_equal(a, b);
}

bool
parts_equal(const struct record_parts *a, const struct record_parts *b)
{
    if (!same(a->payload, b->payload) || !same(a->key, b->key) || !same(a->topic, b->topic) ||
        a->partition != b->partition || a->header_count != b->header_count)
        return false;
    for (size_t i = 0; i < a->header_count; i++)
        if (!same(a->headers[i].name, b->headers[i].name) || !same(a->headers[i].value, b->headers[i].value))
            return false;
    return true;
}

const struct event_header *
parts_header(const struct record_parts *parts, struct bytes name)
{
    for (size_t i = parts->header_count; i > 0; i--)
        if (bytes_equal(parts->headers[i - 1].name, name))
            return &parts->headers[i - 1];
    return NULL;
}

void
parts_json(struct bytes value, struct strbuf *out)
{
    if (!bytes_present(value)) {
        strbuf_add_text(out, "null");
    } else if (utf8_valid(value)) {
        json_quote(value, out);
    } else {
        strbuf_add_text(out, "{\"base64\":\"");
        base64_add(out, value);
        strbuf_add_text(out, "\"}");
    }
}

// The text of the only member "base64" of an object, decoded.
static bool
bytes_of_base64(struct bytes json, struct strbuf *out)
{
    struct json_children children;
    struct json_token name = {0};
    struct json_token value = {0};
    struct strbuf text = {0};
    bool ok = json_children(&children, json) && children.is_object && json_child(&children, &name, &value) &&
              bytes_equal_text(json_bytes(&children.scan, name), "\"base64\"") &&
              json_decode(json_bytes(&children.scan, value), &text) &&
              !json_child(&children, &name, &value) && children.is_whole &&
              base64_decode(out, strbuf_bytes(&text));
    strbuf_release(&text);
    return ok;
}

// Half of a surrogate pair is no character, so that no bytes stand for it.
static bool
has_half_pair(struct bytes token)
{
    struct json_warning warnings[8];
    if (!memchr(token.data, '\\', token.len))
        return false;
    size_t count = json_warnings(token, warnings, 8);
    for (size_t i = 0; i < count && i < 8; i++)
        if (warnings[i].risk == JSON_RISK_SURROGATE)
            return true;
    return count > 8;
}

bool
parts_bytes(struct bytes json, struct strbuf *out, bool *is_absent)
{
    struct json_scan scan;
    json_begin(&scan, json);
    struct json_token token = json_next(&scan);
    *is_absent = token.kind == JSON_NULL;
    switch (token.kind) {
    case JSON_STRING:
        return !has_half_pair(json_bytes(&scan, token)) && json_decode(json_bytes(&scan, token), out);
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
        strbuf_add(out, json_bytes(&scan, token));
        return true;
    case JSON_NULL:
        return true;
    case JSON_OBJECT_BEGIN:
        return bytes_of_base64(json, out);
    case JSON_END:
    case JSON_ERROR:
    case JSON_OBJECT_END:
    case JSON_ARRAY_BEGIN:
    case JSON_ARRAY_END:
    case JSON_NAME:
    case JSON_COLON:
    case JSON_COMMA:
        break;
    }
    return false;
}

bool
parts_topic_is_legal(struct bytes topic)
{
    if (topic.len == 0 || topic.len > 249 || bytes_equal_text(topic, ".") || bytes_equal_text(topic, ".."))
        return false;
    for (size_t i = 0; i < topic.len; i++) {
        char c = topic.data[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}
