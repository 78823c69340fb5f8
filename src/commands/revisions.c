#include "commands/revisions.h"

#include <inttypes.h>
#include "base/text.h"
#include "commands/cli/output.h"
#include "core/event_json.h"
#include "core/json/changes.h"
#include "store/events/events.h"

// --- as JSON ---

static void
add_name(struct value *list, const char *name)
{
    value_add_text(list, NULL, name);
}

static void
add_payload_changes(struct value *list, struct bytes before, struct bytes after)
{
    struct arena arena = {0};
    struct json_changes changes = {0};
    struct err ignored = {0};
    bool is_compared = json_compare(before, after, &arena, &changes, &ignored);
    for (size_t i = 0; is_compared && i < changes.count; i++)
        value_add_bytes(list, NULL, changes.items[i].path);
    if (!is_compared || changes.count == 0)
        add_name(list, "$");
    arena_release(&arena);
}

static bool
same_part(struct bytes a, struct bytes b)
{
    return bytes_present(a) == bytes_present(b) && (!bytes_present(a) || bytes_equal(a, b));
}

// Headers by name: one that was added, removed, or has another value.
static void
add_header_changes(struct value *list, const struct record_parts *one, const struct record_parts *other,
                   bool is_both)
{
    for (size_t i = 0; i < one->header_count; i++) {
        const struct event_header *twin = parts_header(other, one->headers[i].name);
        struct strbuf name = {0};
        if (twin ? !is_both || same_part(twin->value, one->headers[i].value) : false)
            continue;
        strbuf_add_text(&name, "header:");
        strbuf_add(&name, one->headers[i].name);
        value_add_bytes(list, NULL, strbuf_bytes(&name));
        strbuf_release(&name);
    }
}

struct value *
changes_json(const struct record_parts *before, const struct record_parts *after)
{
    struct value *list = value_array();
    if (!same_part(before->payload, after->payload))
        add_payload_changes(list, before->payload, after->payload);
    if (!same_part(before->key, after->key))
        add_name(list, "key");
    add_header_changes(list, before, after, true);
    add_header_changes(list, after, before, false);
    if (!same_part(before->topic, after->topic))
        add_name(list, "topic");
    if (before->partition != after->partition)
        add_name(list, "partition");
    return list;
}

// --- for people ---

// "payload, key, 3 headers, topic orders.events"
static const char *
parts_text(const struct correction *parts, struct arena *arena)
{
    struct strbuf text = {0};
    const struct {
        bool is_there;
        const char *name;
    } rows[] = {
        {parts->has_payload, "payload"},
        {parts->has_key, "key"},
        {parts->has_headers, arena_printf(arena, "%u header%s", (unsigned)parts->header_count,
                                          parts->header_count == 1 ? "" : "s")},
        {parts->has_topic, arena_printf(arena, "topic %s", arena_text(arena, parts->topic))},
        {parts->has_partition, arena_printf(arena, "partition %" PRId32, parts->partition)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is_there)
            strbuf_printf(&text, "%s%s", text.len ? ", " : "", rows[i].name);
    const char *words = text.len ? arena_text(arena, strbuf_bytes(&text)) : "as the original";
    strbuf_release(&text);
    return words;
}

static bool
revisions_table(struct call *call, struct one_event *one, size_t original_size, struct err *err)
{
    static const struct output_column columns[] = {
        {"revision", ALIGN_RIGHT, 8, 0}, {"of", ALIGN_RIGHT, 4, 0},    {"at", ALIGN_LEFT, 19, 0},
        {"author", ALIGN_LEFT, 8, 30},   {"bytes", ALIGN_RIGHT, 9, 0}, {"replaces", ALIGN_LEFT, 8, 60},
        {"reason", ALIGN_LAST, 0, 0}};
    struct output_table table;
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < one->revision_count; i++) {
        const struct revision *revision = &one->revisions[i];
        const struct correction *parts = &revision->parts;
        table_add_count(&table, revision->no);
        table_add_count(&table, revision->parent);
        table_add_time(&table, revision->at);
        table_add_text(&table, revision->author);
        table_add_count(&table, (int64_t)(parts->has_payload ? parts->payload.len : original_size));
        table_add_text(&table, parts_text(parts, &one->arena));
        table_add_text(&table, revision->reason ? revision->reason : "");
    }
    return table_end(&table, err);
}

// --- both ---

// The number of bytes that the table or the record has; Kafka is not asked for it.
static bool
measure_original(struct store *store, struct one_event *one, size_t *size, struct err *err)
{
    struct bytes payload = one->event.payload;
    bool is_kept;
    if (one->event.known.correction.has_payload &&
        !store_original(store, one->event.id, &one->arena, &payload, &is_kept, err))
        return false;
    *size = payload.len;
    return true;
}

bool
revisions_print(struct call *call, struct store *store, struct one_event *one, struct err *err)
{
    size_t original_size;
    if (!measure_original(store, one, &original_size, err))
        return false;
    if (one->revision_count == 0)
        remark(call, "event %" PRId64 " was never corrected", one->event.id);
    if (!call->options.general.json)
        return one->revision_count == 0 || revisions_table(call, one, original_size, err);
    for (size_t i = 0; i < one->revision_count; i++)
        if (!json_print(revision_json(&one->revisions[i], original_size, one->zone_us), err))
            return false;
    return true;
}

bool
revision_payload(struct call *call, struct store *store, struct one_event *one, int64_t no,
                 struct bytes *payload, struct err *err)
{
    bool is_exact;
    const struct revision *revision = one_event_revision(one, no);
    if (no != 0 && !revision)
        return err_set(err, ERR_NOT_FOUND, "event %" PRId64 " has no revision %" PRId64 "; its newest is %d",
                       one->event.id, no, one->revision_count ? (int)one->revisions[0].no : 0);
    if (revision && revision->parts.has_payload) {
        *payload = revision->parts.payload;
        return true;
    }
    if (!one_event_original(call, store, one, payload, &is_exact, err))
        return false;
    if (!is_exact)
        remark(call, "the original bytes are unknown: %s",
               one->original.why ? one->original.why
                                 : "none were kept, and Kafka was not asked; give -b HOST:PORT");
    return true;
}

bool
bytes_print(struct call *call, struct bytes bytes, struct err *err)
{
    if (!call->out_is_terminal)
        return output_bytes(bytes, err);
    struct strbuf out = {0};
    text_visible(&out, bytes, true);
    strbuf_add_char(&out, '\n');
    bool ok = output_bytes(strbuf_bytes(&out), err);
    strbuf_release(&out);
    remark(call, "control characters are shown as escapes; a file or a pipe gets the exact bytes");
    return ok;
}

bool
revision_print(struct call *call, struct store *store, struct one_event *one, int64_t no, struct err *err)
{
    struct bytes payload = BYTES_ABSENT;
    if (!revision_payload(call, store, one, no, &payload, err))
        return false;
    const struct revision original = {.at = one->event.created_at};
    const struct revision *revision = no ? one_event_revision(one, no) : &original;
    if (call->options.command.raw)
        return bytes_print(call, payload, err);
    if (call->options.general.json) {
        struct value *object = revision_json(revision, payload.len, one->zone_us);
        if (!revision->parts.has_payload)
            value_add_payload(object, "payload", payload);
        return json_print(object, err);
    }
    remark(call, "revision %" PRId64 "%s%s: %s", no, no ? " by " : ", the original",
           no ? revision->author : "", parts_text(&revision->parts, &one->arena));
    return bytes_print(call, payload, err);
}
