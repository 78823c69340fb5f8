#include "commands/letter_line.h"

#include "base/base64.h"
#include "base/clock.h"
#include "core/envelope/members.h"
#include "core/envelope/reading.h"
#include "core/json/json.h"

// Base64 in a string, null or nothing.
static bool
read_base64(struct bytes token, const char *what, struct arena *arena, struct bytes *bytes, struct err *err)
{
    struct strbuf out = {0};
    *bytes = BYTES_ABSENT;
    if (!bytes_present(token) || bytes_equal_text(token, "null"))
        return true;
    bool ok = bytes_starts(token, "\"") && base64_decode(&out, member_text(token, arena));
    if (ok)
        *bytes = arena_copy(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return ok || err_set(err, ERR_DATA, "%s is not base64 in a string, and not null", what);
}

static bool
read_number(const struct members *members, const char *name, int64_t least, int64_t *number, struct err *err)
{
    struct bytes token = members_find(members, bytes_of(name));
    if (!bytes_present(token))
        return true;
    return (envelope_number(token, number) && *number >= least) ||
           err_set(err, ERR_DATA, "%s is not a whole number from %d on", name, (int)least);
}

static bool
read_header(struct bytes pair, struct arena *arena, struct event_header *header, struct err *err)
{
    struct json_children children;
    struct json_token name, value;
    bool ok = json_children(&children, pair) && !children.is_object && json_child(&children, NULL, &name) &&
              name.kind == JSON_STRING && json_child(&children, NULL, &value);
    if (!ok)
        return err_set(err, ERR_DATA, "a header is not [name, base64 or null]");
    header->name = member_text(bytes_slice(pair, name.from, name.len), arena);
    return read_base64(bytes_slice(pair, value.from, value.len), "the value of a header", arena,
                       &header->value, err);
}

static size_t
count_children(struct bytes array)
{
    struct json_children children;
    struct json_token value;
    if (!json_children(&children, array) || children.is_object)
        return SIZE_MAX;
    while (json_child(&children, NULL, &value))
        ;
    return children.count;
}

static bool
read_headers(struct bytes array, struct arena *arena, struct envelope_record *record, struct err *err)
{
    struct json_children children;
    struct json_token pair;
    if (!bytes_present(array) || bytes_equal_text(array, "null"))
        return true;
    size_t count = count_children(array);
    if (count == SIZE_MAX || !json_children(&children, array))
        return err_set(err, ERR_DATA, "headers is not an array");
    struct event_header *headers = arena_array(arena, count + 1, sizeof *headers);
    record->headers = headers;
    while (json_child(&children, NULL, &pair))
        if (!read_header(bytes_slice(array, pair.from, pair.len), arena, &headers[record->header_count++],
                         err))
            return false;
    return true;
}

bool
letter_line_read(struct bytes line, struct arena *arena, struct envelope_record *record, struct err *err)
{
    struct members members;
    int64_t partition = 0, milliseconds = -1;
    *record = (struct envelope_record){.timestamp = TIME_ABSENT};
    if (!json_check(line, err))
        return false;
    if (!members_read(line, arena, &members) && !bytes_starts(bytes_trim(line), "{"))
        return err_set(err, ERR_DATA, "it is not an object with topic, key, value and headers");
    if (!read_number(&members, "partition", 0, &partition, err) ||
        !read_number(&members, "offset", 0, &record->offset, err) ||
        !read_number(&members, "timestamp", -1, &milliseconds, err))
        return false;
    if (partition > INT32_MAX)
        return err_set(err, ERR_DATA, "partition is too large");
    record->partition = (int32_t)partition;
    if (milliseconds >= 0 && milliseconds < INT64_MAX / 1000)
        record->timestamp = milliseconds * 1000;
    record->topic = member_text(members_find(&members, BYTES("topic")), arena);
    return read_base64(members_find(&members, BYTES("key")), "key", arena, &record->key, err) &&
           read_base64(members_find(&members, BYTES("value")), "value", arena, &record->value, err) &&
           read_headers(members_find(&members, BYTES("headers")), arena, record, err);
}
