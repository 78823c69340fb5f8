#include "ui/views/editor/sections.h"

#include <inttypes.h>
#include "base/base64.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/event.h"
#include "core/json/json.h"
#include "ui/views/editor/texts.h"

const char *
section_name(enum section section)
{
    static const char *const names[] = {"payload", "key", "headers", "target"};
    return names[section];
}

// `"name": ` and the value as text, or `"base64": "…"` where it is none; an absent one is null.
static void
print_member(struct strbuf *out, const char *name, struct bytes value)
{
    bool is_text = !bytes_present(value) || utf8_valid(value);
    strbuf_printf(out, "\"%s\": ", is_text ? name : "base64");
    if (!bytes_present(value)) {
        strbuf_add_text(out, "null");
    } else if (is_text) {
        json_quote(value, out);
    } else {
        strbuf_add_char(out, '"');
        base64_add(out, value);
        strbuf_add_char(out, '"');
    }
}

static void
print_key(struct bytes key, struct strbuf *out)
{
    if (!bytes_present(key)) {
        strbuf_add_text(out, "null");
    } else if (utf8_valid(key)) {
        json_quote(key, out);
    } else {
        strbuf_add_char(out, '{');
        print_member(out, "value", key);
        strbuf_add_char(out, '}');
    }
}

static void
print_headers(const struct event_header *headers, uint32_t count, struct strbuf *out)
{
    strbuf_add_text(out, count ? "[\n" : "[]");
    for (uint32_t i = 0; i < count; i++) {
        strbuf_add_text(out, "  {");
        print_member(out, "name", headers[i].name);
        strbuf_add_text(out, ", ");
        print_member(out, "value", headers[i].value);
        strbuf_add_text(out, i + 1 < count ? "},\n" : "}\n");
    }
    if (count)
        strbuf_add_char(out, ']');
}

static void
print_target(struct bytes topic, int32_t partition, struct strbuf *out)
{
    strbuf_add_char(out, '{');
    print_member(out, "topic", topic);
    if (partition >= 0)
        strbuf_printf(out, ", \"partition\": %" PRId32 "}", partition);
    else
        strbuf_add_text(out, ", \"partition\": null}");
}

void
section_print(enum section section, const struct event_detail *detail, struct strbuf *out)
{
    const struct correction *corrected = &detail->event.known.correction;
    const struct would_send *send = &detail->would_send;
    uint32_t header_count;
    const struct event_header *headers = event_kept_headers(&detail->event, &header_count);
    switch (section) {
    case SECTION_PAYLOAD:
        strbuf_add(out, detail->event.payload);
        break;
    case SECTION_KEY:
        print_key(corrected->has_key ? corrected->key : send->key, out);
        break;
    case SECTION_HEADERS:
        if (corrected->has_headers)
            print_headers(corrected->headers, corrected->header_count, out);
        else
            print_headers(headers, header_count, out);
        break;
    case SECTION_TARGET:
        print_target(bytes_of(send->topic), send->partition, out);
        break;
    case SECTION_COUNT:
        break;
    }
}

// The members of an object that sections have; absent ones have no bytes.
struct members {
    struct bytes name, value, base64, topic, partition;
    bool has_other;
};

static struct bytes *
member_of(struct members *members, struct bytes name)
{
    return bytes_equal_text(name, "\"name\"")        ? &members->name
           : bytes_equal_text(name, "\"value\"")     ? &members->value
           : bytes_equal_text(name, "\"base64\"")    ? &members->base64
           : bytes_equal_text(name, "\"topic\"")     ? &members->topic
           : bytes_equal_text(name, "\"partition\"") ? &members->partition
                                                     : NULL;
}

static bool
read_members(struct bytes object, struct members *members)
{
    struct json_children children;
    struct json_token name, value;
    *members = (struct members){0};
    if (!json_children(&children, object) || !children.is_object)
        return false;
    while (json_child(&children, &name, &value)) {
        struct bytes *member = member_of(members, bytes_slice(object, name.from, name.len));
        members->has_other |= !member || bytes_present(*member);
        if (member)
            *member = bytes_slice(object, value.from, value.len);
    }
    return !members->has_other;
}

// A text token, or null, as bytes. false: it is something else.
static bool
read_text(struct bytes token, struct arena *arena, struct bytes *out)
{
    struct strbuf text = {0};
    *out = BYTES_ABSENT;
    bool ok = bytes_equal_text(token, "null");
    if (!ok && bytes_present(token) && json_decode(token, &text)) {
        *out = arena_copy(arena, strbuf_bytes(&text));
        ok = true;
    }
    strbuf_release(&text);
    return ok;
}

static bool
read_base64(struct bytes token, struct arena *arena, struct bytes *out)
{
    struct strbuf text = {0}, content = {0};
    bool ok = json_decode(token, &text) && base64_decode(&content, strbuf_bytes(&text));
    if (ok)
        *out = arena_copy(arena, strbuf_bytes(&content));
    strbuf_release(&text);
    strbuf_release(&content);
    return ok;
}

// Names and topics are texts in the database, which have no NUL.
static bool
read_name(struct bytes token, struct arena *arena, struct bytes *out)
{
    return read_text(token, arena, out) && bytes_present(*out) && !memchr(out->data, '\0', out->len);
}

static bool
parse_key(struct bytes text, struct arena *arena, struct correction *correction, struct err *err)
{
    struct members members;
    correction->has_key =
        read_text(text, arena, &correction->key) ||
        (read_members(text, &members) && bytes_present(members.base64) && !bytes_present(members.value) &&
         !bytes_present(members.name) && read_base64(members.base64, arena, &correction->key));
    return correction->has_key || err_set(err, ERR_DATA, MSG_KEY_FORM);
}

static bool
parse_header(struct bytes object, struct arena *arena, struct event_header *header)
{
    struct members members;
    if (!read_members(object, &members) || bytes_present(members.topic) || bytes_present(members.partition) ||
        bytes_present(members.value) == bytes_present(members.base64) ||
        !read_name(members.name, arena, &header->name))
        return false;
    return bytes_present(members.base64) ? read_base64(members.base64, arena, &header->value)
                                         : read_text(members.value, arena, &header->value);
}

static bool
parse_headers(struct bytes text, struct arena *arena, struct correction *correction, struct err *err)
{
    struct json_children children;
    struct json_token value;
    if (!json_children(&children, text) || children.is_object)
        return err_set(err, ERR_DATA, MSG_HEADERS_FORM);
    while (json_child(&children, NULL, &value))
        ;
    correction->headers = arena_array(arena, children.count + 1, sizeof *correction->headers);
    if (!json_children(&children, text))
        return err_set(err, ERR_DATA, MSG_HEADERS_FORM);
    while (json_child(&children, NULL, &value)) {
        struct event_header *header = &correction->headers[correction->header_count++];
        if (!parse_header(bytes_slice(text, value.from, value.len), arena, header))
            return err_set(err, ERR_DATA, MSG_HEADER_FORM, children.count);
    }
    correction->has_headers = true;
    return true;
}

static bool
parse_target(struct bytes text, struct arena *arena, struct correction *correction, struct err *err)
{
    struct members members;
    int64_t number = 0;
    bool is_number;
    if (!read_members(text, &members) || !read_name(members.topic, arena, &correction->topic) ||
        correction->topic.len == 0 || bytes_present(members.name) || bytes_present(members.value) ||
        bytes_present(members.base64))
        return err_set(err, ERR_DATA, MSG_TARGET_FORM);
    is_number = bytes_present(members.partition) && !bytes_equal_text(members.partition, "null");
    if (is_number && (!text_parse_int(members.partition, &number, NULL) || number < 0 || number > INT32_MAX))
        return err_set(err, ERR_DATA, MSG_TARGET_FORM);
    correction->has_topic = true;
    correction->has_partition = is_number;
    correction->partition = is_number ? (int32_t)number : 0;
    return true;
}

bool
section_parse(enum section section, struct bytes text, struct arena *arena, struct correction *correction,
              struct err *err)
{
    if (section == SECTION_PAYLOAD) {
        correction->has_payload = true;
        correction->payload = arena_copy(arena, text);
        return true;
    }
    struct bytes trimmed = bytes_trim(text);
    if (!json_check(trimmed, err))
        return false;
    switch (section) {
    case SECTION_KEY:
        return parse_key(trimmed, arena, correction, err);
    case SECTION_HEADERS:
        return parse_headers(trimmed, arena, correction, err);
    case SECTION_TARGET:
        return parse_target(trimmed, arena, correction, err);
    case SECTION_PAYLOAD:
    case SECTION_COUNT:
        break;
    }
    return false;
}
