// Key, headers, topic and partition as places that operations read and write.
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/recipe/private.h"

bool
place_takes(enum place_kind kind, struct bytes json, const char **expected)
{
    struct strbuf content = {0};
    bool is_absent = false;
    bool is_text = json.len && json.data[0] == '"';
    bool ok = true;
    int64_t number;
    switch (kind) {
    case PAYLOAD:
        break;
    case KEY:
    case HEADER:
        *expected = "text, {\"base64\": \"…\"} or null";
        ok = parts_bytes(json, &content, &is_absent);
        break;
    case TOPIC:
        *expected = "the name of a topic in quotes: up to 249 letters, digits, dots, _ and -";
        ok = is_text && parts_bytes(json, &content, &is_absent) &&
             parts_topic_is_legal(strbuf_bytes(&content));
        break;
    case PARTITION:
        *expected = "the number of a partition, or null";
        ok = bytes_equal_text(json, "null") ||
             (text_parse_int(json, &number, NULL) && number >= 0 && number <= INT32_MAX);
        break;
    case PLACES_NONE:
    case PLACES_ALL:
        ok = false;
        break;
    }
    strbuf_release(&content);
    return ok;
}

bool
place_exists(const struct apply *apply, const struct place *place)
{
    switch (place->kind) {
    case KEY:
        return bytes_present(apply->now.key);
    case HEADER:
        return parts_header(&apply->now, place->name) != NULL;
    case TOPIC:
        return bytes_present(apply->now.topic);
    case PARTITION:
        return apply->now.partition != PARTITION_NONE;
    case PAYLOAD:
    case PLACES_NONE:
    case PLACES_ALL:
        break;
    }
    return false;
}

bool
place_json(const struct apply *apply, const struct place *place, struct strbuf *out)
{
    if (!place_exists(apply, place))
        return false;
    if (place->kind == PARTITION)
        strbuf_printf(out, "%d", apply->now.partition);
    else if (place->kind == HEADER)
        parts_json(parts_header(&apply->now, place->name)->value, out);
    else
        parts_json(place->kind == KEY ? apply->now.key : apply->now.topic, out);
    return true;
}

// A copy of the headers with room for one more.
static struct event_header *
copy_headers(struct apply *apply)
{
    size_t count = apply->now.header_count;
    struct event_header *headers = arena_array(apply->arena, count + 1, sizeof *headers);
    if (count)
        memcpy(headers, apply->now.headers, count * sizeof *headers);
    apply->now.headers = headers;
    return headers;
}

static bool
same_value(struct bytes a, struct bytes b)
{
    return bytes_present(a) == bytes_present(b) && bytes_equal(a, b);
}

static enum recipe_outcome
set_header(struct apply *apply, const struct place *place, struct bytes value, bool appends)
{
    const struct event_header *there = appends ? NULL : parts_header(&apply->now, place->name);
    size_t at = there ? (size_t)(there - apply->now.headers) : apply->now.header_count;
    if (there && same_value(there->value, value))
        return RECIPE_UNCHANGED;
    for (size_t i = 0; there && i < at; i++)
        if (bytes_equal(apply->now.headers[i].name, place->name))
            apply->note.warnings |= 1u << RECIPE_WARN_DUPLICATE;
    struct event_header *headers = copy_headers(apply);
    if (!there)
        headers[at].name = arena_copy(apply->arena, place->name);
    headers[at].value = value;
    apply->now.header_count += !there;
    return RECIPE_CHANGED;
}

static enum recipe_outcome
set_partition(struct apply *apply, struct bytes json)
{
    int64_t number = PARTITION_NONE;
    if (bytes_starts(json, "\"")) // text of a key or header
        json = bytes_slice(json, 1, json.len - 2);
    if (!bytes_equal_text(json, "null") &&
        (!text_parse_int(json, &number, NULL) || number < 0 || number > INT32_MAX))
        return apply_stop(apply, RECIPE_INVALID, "%.*s is no partition",
                          BYTES_ARGS(bytes_slice(json, 0, utf8_cut(json, 40))));
    if (apply->now.partition == (int32_t)number)
        return RECIPE_UNCHANGED;
    apply->now.partition = (int32_t)number;
    return RECIPE_CHANGED;
}

enum recipe_outcome
place_set(struct apply *apply, const struct place *place, struct bytes json, bool appends)
{
    if (place->kind == PARTITION)
        return set_partition(apply, json);
    struct strbuf content = {0};
    bool is_absent;
    bool ok = parts_bytes(json, &content, &is_absent);
    struct bytes value = is_absent ? BYTES_ABSENT : arena_copy(apply->arena, strbuf_bytes(&content));
    strbuf_release(&content);
    if (!ok)
        return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s holds text, not %.*s", BYTES_ARGS(place->text),
                          BYTES_ARGS(bytes_slice(json, 0, utf8_cut(json, 40))));
    if (place->kind == HEADER)
        return set_header(apply, place, value, appends);
    if (place->kind == TOPIC && !parts_topic_is_legal(value))
        return apply_stop(apply, RECIPE_INVALID, "\"%.*s\" is no name of a topic",
                          BYTES_ARGS(bytes_slice(value, 0, utf8_cut(value, 60))));
    struct bytes *there = place->kind == KEY ? &apply->now.key : &apply->now.topic;
    if (same_value(*there, value))
        return RECIPE_UNCHANGED;
    *there = value;
    return RECIPE_CHANGED;
}

enum recipe_outcome
place_remove(struct apply *apply, const struct place *place)
{
    if (!place_exists(apply, place))
        return apply_missing(apply, place);
    if (place->kind == KEY) {
        apply->now.key = BYTES_ABSENT;
    } else if (place->kind == PARTITION) {
        apply->now.partition = PARTITION_NONE;
    } else {
        struct event_header *headers = copy_headers(apply);
        size_t kept = 0;
        for (size_t i = 0; i < apply->now.header_count; i++)
            if (!bytes_equal(headers[i].name, place->name))
                headers[kept++] = headers[i];
        apply->now.header_count = kept;
    }
    return RECIPE_CHANGED;
}

enum recipe_outcome
place_rename(struct apply *apply, const struct place *place, struct bytes name)
{
    if (!place_exists(apply, place))
        return apply_missing(apply, place);
    if (bytes_equal(place->name, name))
        return RECIPE_UNCHANGED;
    if (parts_header(&apply->now, name))
        return apply_stop(apply, RECIPE_NOT_APPLICABLE, "header:%.*s exists already", BYTES_ARGS(name));
    struct event_header *headers = copy_headers(apply);
    for (size_t i = 0; i < apply->now.header_count; i++)
        if (bytes_equal(headers[i].name, place->name))
            headers[i].name = arena_copy(apply->arena, name);
    return RECIPE_CHANGED;
}
