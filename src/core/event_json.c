#include "core/event_json.h"

struct value *
event_headers_json(const struct event_header *headers, uint32_t count)
{
    struct value *list = value_array();
    for (uint32_t i = 0; i < count; i++) {
        struct value *header = value_object();
        value_add_bytes(header, "name", headers[i].name);
        value_add_payload(header, "value", headers[i].value);
        value_add(list, NULL, header);
    }
    return list;
}

struct value *
revision_json(const struct revision *revision, size_t original_size, int64_t zone_us)
{
    const struct correction *parts = &revision->parts;
    struct value *row = value_object();
    value_add_int(row, "revision", revision->no);
    value_add_text(row, "author", revision->author);
    value_add_time(row, "at", revision->at, zone_us);
    value_add_text(row, "reason", revision->reason);
    value_add_int(row, "bytes", (int64_t)(parts->has_payload ? parts->payload.len : original_size));
    value_add_int(row, "parent", revision->parent);
    value_add_int_or_null(row, "operation", revision->operation > 0, revision->operation);
    if (parts->has_payload)
        value_add_payload(row, "payload", parts->payload);
    if (parts->has_key)
        value_add_payload(row, "key", parts->key);
    if (parts->has_headers)
        value_add(row, "headers", event_headers_json(parts->headers, parts->header_count));
    if (parts->has_topic)
        value_add_bytes(row, "topic", parts->topic);
    if (parts->has_partition)
        value_add_int(row, "partition", parts->partition);
    return row;
}

struct value *
event_original_json(const struct event_original *original, int64_t zone_us)
{
    struct value *object = value_object();
    value_add_text(object, "state", event_original_state_name(original->state));
    value_add_bytes(object, "topic", original->topic);
    value_add_int(object, "partition", original->partition);
    value_add_int(object, "offset", original->offset);
    value_add_time(object, "at", original->at, zone_us);
    value_add_bytes(object, "why", original->why);
    if (original->state == EVENT_ORIGINAL_FETCHED) {
        value_add_time(object, "timestamp", original->timestamp, zone_us);
        value_add_payload(object, "key", original->key);
        value_add(object, "headers", event_headers_json(original->headers, original->header_count));
        value_add_int(object, "crc32c", original->crc);
    }
    return object;
}
