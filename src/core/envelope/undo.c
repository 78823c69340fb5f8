#include "core/envelope/undo.h"

#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/envelope/dropped_headers.h"
#include "core/envelope/format.h"
#include "core/envelope/topic_name.h"
#include "core/json/json.h"

// The value at the path of a step; false: there is none.
static bool
find(const struct envelope_step *step, struct bytes text, struct json_path **path, struct bytes *token)
{
    struct json_token found;
    *path = NULL;
    if (!json_path_parse(path, bytes_of(step->path), NULL) || !json_path_find(*path, text, &found))
        return false;
    *token = bytes_slice(text, found.from, found.len);
    return true;
}

// Text with `to` in place of a token of it.
static struct bytes
replace(struct bytes text, struct bytes token, struct bytes to, struct arena *arena)
{
    size_t from = (size_t)(token.data - text.data), behind = from + token.len;
    char *out = arena_alloc(arena, size_add(text.len - token.len, to.len));
    memcpy(out, text.data, from);
    memcpy(out + from, to.data, to.len);
    memcpy(out + from + to.len, text.data + behind, text.len - behind);
    return (struct bytes){out, text.len - token.len + to.len};
}

// The text after a step whose path leads to this token; the same where it changes nothing.
static struct bytes
apply(const struct envelope_step *step, struct bytes text, const struct json_path *path, struct bytes token,
      struct arena *arena)
{
    if (step->change == CHANGE_SET)
        return bytes_equal_text(token, step->to) ? text : replace(text, token, bytes_of(step->to), arena);
    struct strbuf out = {0};
    struct bytes changed = json_remove(path, text, &out) ? arena_copy(arena, strbuf_bytes(&out)) : text;
    strbuf_release(&out);
    return changed;
}

// A string's content, or the bytes of another value; null is a null value.
static void
unwrap(struct bytes token, struct envelope_undo *undo, struct arena *arena)
{
    undo->how = UNDO_UNWRAPPED;
    undo->value = member_text(token, arena);
    if (json_lone_surrogates(token) > 0) {
        undo->is_exact = false;
        undo->why = "a half of a surrogate pair in it cannot be written as UTF-8";
    } else if (bytes_find(undo->value, BYTES("\xEF\xBF\xBD"), 0) != SIZE_MAX) {
        undo->is_exact = false;
        undo->why = "it holds U+FFFD, which replaces bytes that were no text";
    }
}

static void
undo_value(const struct envelope_format *format, struct envelope_undo *undo, struct arena *arena)
{
    for (const struct envelope_step *step = format->steps; step && step->change; step++) {
        struct json_path *path;
        struct bytes token;
        bool is_found = find(step, undo->value, &path, &token);
        if (is_found && step->change == CHANGE_UNWRAP) {
            unwrap(token, undo, arena);
        } else if (is_found) {
            undo->value = apply(step, undo->value, path, token, arena);
            undo->how = UNDO_CHANGED;
        }
        json_path_destroy(path);
        if (undo->how == UNDO_UNWRAPPED)
            break;
    }
    if (undo->how != UNDO_AS_IS && format->inexact) {
        undo->is_exact = false;
        undo->why = format->inexact;
    }
}

static void
undo_place(const struct envelope_record *record, const struct envelope *envelope, struct envelope_undo *undo)
{
    undo->topic = envelope->facts[FACT_TOPIC];
    undo->partition = envelope->has_number[FACT_PARTITION] ? (int32_t)envelope->numbers[FACT_PARTITION] : -1;
    if (undo->topic.len > 0)
        return;
    undo->topic = topic_name_original(record->topic, envelope->facts[FACT_CONSUMER]);
    undo->is_topic_by_name = bytes_present(undo->topic);
}

static bool
is_kept(const struct envelope_format *format, struct bytes name)
{
    for (const struct envelope_header_row *row = format->headers; row && row->name; row++)
        if (header_name_matches(name, row->name))
            return row->flags & KEPT;
    return !dropped_header(name);
}

static void
add(struct envelope_undo *undo, struct bytes name, struct bytes value, enum header_fate fate)
{
    undo->headers[undo->header_count++] = (struct undo_header){.name = name, .value = value, .fate = fate};
}

// Of an envelope that holds the headers of the original as an object of strings. Those that are never sent on
// are not the original's either.
static void
add_members(const struct members *members, struct envelope_undo *undo, struct arena *arena)
{
    for (size_t i = 0; i < members->count; i++)
        if (!dropped_header(members->items[i].name))
            add(undo, members->items[i].name, member_text(members->items[i].value, arena), FATE_ADDED);
}

int64_t
envelope_reprocessed(const struct event_header *headers, size_t count, int64_t otherwise)
{
    int64_t most = otherwise;
    for (size_t i = 0; i < count; i++) {
        int64_t n;
        if (bytes_equal_text(headers[i].name, "reprocess.count") &&
            text_parse_int(headers[i].value, &n, NULL) && n > most)
            most = n;
    }
    return most < INT32_MAX ? most : INT32_MAX - 1;
}

static void
undo_headers(const struct envelope_record *record, const struct envelope *envelope,
             struct envelope_undo *undo, struct arena *arena)
{
    const struct envelope_format *format = envelope->format;
    struct members value = {0}, inside = {0};
    if (format->headers_at && members_read(record->value, arena, &value))
        members_read(members_at(&value, format->headers_at, arena), arena, &inside);
    undo->headers = arena_array(arena, record->header_count + inside.count + 2, sizeof *undo->headers);
    undo->reprocessed = envelope_reprocessed(
        record->headers, record->header_count,
        envelope->has_number[FACT_REPROCESSED] ? envelope->numbers[FACT_REPROCESSED] : 0);
    for (size_t i = 0; i < record->header_count; i++)
        add(undo, record->headers[i].name, record->headers[i].value,
            is_kept(format, record->headers[i].name) ? FATE_KEPT : FATE_DROPPED);
    add_members(&inside, undo, arena);
    if (envelope->has_number[FACT_TIMESTAMP])
        add(undo, BYTES("redrive-original-timestamp"),
            bytes_of(arena_int(arena, envelope->numbers[FACT_TIMESTAMP] / 1000)), FATE_ADDED);
    add(undo, BYTES("reprocess.count"), bytes_of(arena_int(arena, undo->reprocessed + 1)), FATE_ADDED);
}

static void
explain(struct envelope_undo *undo)
{
    static const char *const texts[] = {
        [UNDO_AS_IS] = "the value of the dead letter as it is",
        [UNDO_CHANGED] = "the value without what the failure added; every other byte as it was",
        [UNDO_UNWRAPPED] = "the value inside the dead letter",
        [UNDO_POINTER] = "not in the dead letter",
        [UNDO_LOST] = "not available",
    };
    undo->how_text = texts[undo->how];
    if (!undo->why)
        undo->why = undo->how == UNDO_AS_IS     ? "the failure added headers only"
                    : undo->how == UNDO_CHANGED ? "other members are not touched"
                                                : "its bytes are all there";
}

void
envelope_undo(const struct envelope_record *record, const struct envelope *envelope, struct arena *arena,
              struct envelope_undo *undo)
{
    *undo = (struct envelope_undo){.key = record->key, .value = record->value, .is_exact = true};
    undo_place(record, envelope, undo);
    if (envelope->pointer || envelope->format->lost) {
        undo->how = envelope->pointer && envelope->has_number[FACT_OFFSET] ? UNDO_POINTER : UNDO_LOST;
        undo->value = BYTES_ABSENT;
        undo->is_exact = false;
        undo->why = envelope->pointer ? envelope->pointer : envelope->format->lost;
    } else {
        undo_value(envelope->format, undo, arena);
    }
    // What a header says of a key that is no text cannot be that key.
    if (bytes_present(envelope->facts[FACT_KEY]) && utf8_valid(record->key))
        undo->key = envelope->facts[FACT_KEY];
    if (envelope->format == &envelope_unknown) {
        undo->is_exact = false;
        undo->why = "no format says what the original was";
    }
    if (envelope->format->drops_headers && undo->how == UNDO_AS_IS)
        undo->why = "its bytes are all there; headers of the original were not copied";
    undo_headers(record, envelope, undo, arena);
    explain(undo);
}

void
envelope_parts(const struct envelope_record *record, const struct envelope *envelope,
               const struct envelope_undo *undo, struct arena *arena, struct bytes *data,
               struct bytes *metadata)
{
    const struct envelope_format *format = envelope->format;
    struct members members = {0};
    bool is_other = undo->how == UNDO_CHANGED || undo->how == UNDO_UNWRAPPED;
    members_read(record->value, arena, &members);
    *data = format->data_at ? members_at(&members, format->data_at, arena)
            : is_other      ? undo->value
                            : BYTES_ABSENT;
    *metadata = format->metadata_at ? members_at(&members, format->metadata_at, arena) : BYTES_ABSENT;
}

// Would this step change the payload? A wrapper is one where a string is inside.
static bool
changes(const struct envelope_step *step, struct bytes payload)
{
    struct json_path *path;
    struct bytes token = BYTES_ABSENT;
    bool is_found = find(step, payload, &path, &token);
    json_path_destroy(path);
    switch (step->change) {
    case CHANGE_SET:
        return is_found && !bytes_equal_text(token, step->to);
    case CHANGE_REMOVE:
        return is_found;
    case CHANGE_UNWRAP:
        break;
    }
    return is_found && bytes_starts(token, "\"");
}

bool
envelope_recipe(struct bytes payload, struct strbuf *recipe)
{
    struct arena arena = {0};
    struct envelope envelope;
    const struct envelope_record record = {.value = payload, .timestamp = TIME_ABSENT};
    size_t len = recipe->len;
    if (bytes_present(payload) && json_check(payload, NULL))
        envelope_read(&record, &arena, &envelope);
    else
        envelope.format = &envelope_unknown;
    for (const struct envelope_step *step = envelope.format->steps; step && step->change; step++) {
        if (!changes(step, payload))
            continue;
        if (step->change == CHANGE_UNWRAP)
            strbuf_printf(recipe, "unwrap %s\n", step->path);
        else if (step->change == CHANGE_REMOVE)
            strbuf_printf(recipe, "remove %s\n", step->path);
        else
            strbuf_printf(recipe, "set %s %s\n", step->path, step->to);
    }
    arena_release(&arena);
    return recipe->len > len;
}
