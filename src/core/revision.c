#include "core/revision.h"

#include "core/event.h"

bool
correction_is_empty(const struct correction *correction)
{
    return !correction->has_payload && !correction->has_key && !correction->has_headers &&
           !correction->has_topic && !correction->has_partition;
}

// Absent and empty are not the same: a null key is not an empty one.
static bool
same_bytes(struct bytes a, struct bytes b)
{
    return bytes_present(a) == bytes_present(b) && (!bytes_present(a) || bytes_equal(a, b));
}

static bool
same_headers(const struct correction *a, const struct correction *b)
{
    if (a->has_headers != b->has_headers || a->header_count != b->header_count)
        return false;
    for (uint32_t i = 0; i < a->header_count; i++)
        if (!bytes_equal(a->headers[i].name, b->headers[i].name) ||
            !same_bytes(a->headers[i].value, b->headers[i].value))
            return false;
    return true;
}

bool
correction_equals(const struct correction *a, const struct correction *b)
{
    return a->has_payload == b->has_payload && same_bytes(a->payload, b->payload) &&
           a->has_key == b->has_key && same_bytes(a->key, b->key) && same_headers(a, b) &&
           a->has_topic == b->has_topic && same_bytes(a->topic, b->topic) &&
           a->has_partition == b->has_partition && (!a->has_partition || a->partition == b->partition);
}
