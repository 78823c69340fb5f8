#include "core/export_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/base64.h"
#include "base/utf8.h"
#include "core/event_json.h"

bool
export_form_parse(const char *name, enum export_form *form, struct err *err)
{
    static const char *const names[EXPORT_FORMS] = {
        [EXPORT_JSONL] = "jsonl", [EXPORT_CSV] = "csv", [EXPORT_IDS] = "ids"};
    for (int i = 0; i < EXPORT_FORMS; i++)
        if (strcmp(names[i], name) == 0) {
            *form = (enum export_form)i;
            return true;
        }
    return err_set(err, ERR_USAGE, "a form is jsonl, csv or ids, not \"%s\"", name);
}

enum export_form
export_form_of_file(const char *name)
{
    struct bytes file = bytes_of(name);
    return bytes_ends(file, ".csv")                               ? EXPORT_CSV
           : bytes_ends(file, ".ids") || bytes_ends(file, ".txt") ? EXPORT_IDS
                                                                  : EXPORT_JSONL;
}

unsigned
export_form_fields(enum export_form form)
{
    return form == EXPORT_IDS ? 0
                              : EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD | EVENT_RAW |
                                    EVENT_GROUP | EVENT_KNOWN;
}

// --- jsonl ---

// Under the names of the contract table. What a database in SQL_ASCII holds need not be UTF-8.
static void
add_columns(struct value *object, const struct event *event, int64_t zone_us)
{
    value_add_int(object, "id", event->id);
    value_add_payload(object, "event_id", event->event_id);
    value_add_payload(object, "event_type", event->event_type);
    value_add_payload(object, "source_table", event->source_table);
    value_add_payload(object, "source_id", event->source_id);
    value_add_payload(object, "error_message", event->error_message);
    value_add_payload(object, "stack_trace", event->stack_trace);
    value_add_int(object, "retry_count", event->retries.count);
    value_add_int(object, "max_retries", event->retries.max);
    value_add_payload(object, "status", event->status_text);
    value_add_time(object, "created_at", event->created_at, zone_us);
    value_add_time(object, "last_retry_at", event->retries.last_at, zone_us);
    value_add_time(object, "resolved_at", event->closed.at, zone_us);
    value_add_payload(object, "resolved_by", event->closed.by);
    value_add_int_or_null(object, "kafka_offset", event->origin.has_offset, event->origin.offset);
    value_add_int_or_null(object, "kafka_partition", event->origin.has_partition, event->origin.partition);
    value_add_payload(object, "kafka_topic", event->topic);
    value_add_bytes(object, "correlation_id", event->correlation_id);
}

// Where the bytes come from; redrive import puts them there again.
static void
add_record(struct value *object, const struct event_record *record, int64_t zone_us)
{
    struct value *place = value_object();
    value_add_bytes(place, "topic", record->topic);
    value_add_int_or_null(place, "partition", bytes_present(record->topic), record->partition);
    value_add_int_or_null(place, "offset", bytes_present(record->topic), record->offset);
    value_add_time(place, "timestamp", record->timestamp ? record->timestamp : TIME_ABSENT, zone_us);
    value_add_bytes(place, "format", record->format);
    value_add_bytes(place, "consumer", record->consumer);
    if (bytes_present(record->format)) {
        char identity[24];
        snprintf(identity, sizeof identity, "%" PRId64, record->identity);
        value_add_bytes(place, "cluster", record->cluster);
        value_add_int(place, "generation", record->generation);
        value_add_time(place, "failed_at", record->failed_at ? record->failed_at : TIME_ABSENT, zone_us);
        value_add_text(place, "identity", identity); // more digits than a reader of JSON may keep
        value_add_int(place, "crc32c", record->crc);
    }
    if (record->original.state != EVENT_ORIGINAL_INSIDE)
        value_add(place, "original", event_original_json(&record->original, zone_us));
    value_add(object, "record", place);
}

static void
add_json(const struct exported *exported, struct strbuf *out)
{
    const struct event *event = exported->event;
    const struct event_known *known = &event->known;
    int64_t zone_us = event->created_at == TIME_ABSENT ? 0 : event->created_wall - event->created_at;
    char group[GROUP_TEXT];
    struct value *object = value_object();
    add_columns(object, event, zone_us);
    value_add_payload(object, "payload", event->payload);
    value_add_bool(object, "exact", event->record.is_kept);
    if (known->unreadable)
        value_add_text(object, "unreadable", known->unreadable);
    if (known->unreadable_error)
        value_add_text(object, "unreadable_error_message", known->unreadable_error);
    if (known->unreadable_stack)
        value_add_text(object, "unreadable_stack_trace", known->unreadable_stack);
    value_add_payload(object, "key", event->record.key);
    value_add(object, "headers", event_headers_json(event->record.headers, event->record.header_count));
    if (event->record.is_kept)
        add_record(object, &event->record, zone_us);
    value_add_text(object, "group", group_text(event->group, group));
    value_add_text(object, "category", category_name(event->category));
    value_add_int(object, "returned", known->returned);
    struct value *revisions = value_array();
    for (size_t i = 0; i < exported->revision_count; i++)
        value_add(revisions, NULL, revision_json(&exported->revisions[i], event->payload.len, zone_us));
    value_add(object, "revisions", revisions);
    value_dump(object, out);
    value_destroy(object);
    strbuf_add_char(out, '\n');
}

// --- csv ---

static const char csv_head[] =
    "id,event_id,event_type,status,group,category,error_class,error_message,stack_trace,retry_count,"
    "max_retries,created_at,last_retry_at,resolved_at,resolved_by,source_table,source_id,correlation_id,"
    "kafka_topic,kafka_partition,kafka_offset,returned,revisions,key,key_base64,payload,payload_base64\r\n";

static void
add_comma(struct strbuf *out)
{
    strbuf_add_char(out, ',');
}

// RFC 4180, section 2: fields with line ends, quotes or commas are quoted, and a quote within is doubled.
// Blanks at the ends are quoted too: some readers drop them.
static void
csv_text(struct strbuf *out, struct bytes text)
{
    bool needs_quotes = text.len == 0 || text.data[0] == ' ' || text.data[text.len - 1] == ' ';
    for (size_t i = 0; bytes_present(text) && i < text.len && !needs_quotes; i++)
        needs_quotes = strchr(",\"\r\n", text.data[i]) != NULL;
    add_comma(out);
    if (!bytes_present(text))
        return;
    if (!needs_quotes) {
        strbuf_add(out, text);
        return;
    }
    strbuf_add_char(out, '"');
    for (size_t at = 0; at < text.len;) {
        size_t quote = bytes_find(text, BYTES("\""), at);
        size_t end = quote == SIZE_MAX ? text.len : quote + 1;
        strbuf_add(out, bytes_slice(text, at, end - at));
        if (quote != SIZE_MAX)
            strbuf_add_char(out, '"');
        at = end;
    }
    strbuf_add_char(out, '"');
}

static void
csv_number(struct strbuf *out, bool is_there, int64_t number)
{
    add_comma(out);
    if (is_there)
        strbuf_printf(out, "%" PRId64, number);
}

static void
csv_time(struct strbuf *out, int64_t instant, int64_t zone_us)
{
    char text[TIME_TEXT];
    csv_text(out, instant == TIME_ABSENT ? BYTES_ABSENT : bytes_of(time_rfc3339(instant, zone_us, text)));
}

// Two columns, of which one is empty.
static void
csv_payload(struct strbuf *out, struct bytes payload)
{
    bool is_text = utf8_valid(payload) && bytes_find(payload, (struct bytes){"", 1}, 0) == SIZE_MAX;
    if (is_text || !bytes_present(payload)) {
        csv_text(out, payload);
        add_comma(out);
        return;
    }
    add_comma(out);
    add_comma(out);
    base64_add(out, payload);
}

static void
add_csv(const struct exported *exported, struct strbuf *out)
{
    const struct event *event = exported->event;
    int64_t zone_us = event->created_at == TIME_ABSENT ? 0 : event->created_wall - event->created_at;
    char group[GROUP_TEXT];
    strbuf_printf(out, "%" PRId64, event->id);
    csv_text(out, event->event_id);
    csv_text(out, event->event_type);
    csv_text(out, event->status_text);
    csv_text(out, bytes_of(group_text(event->group, group)));
    csv_text(out, bytes_of(category_name(event->category)));
    csv_text(out, event->error_class);
    csv_text(out, event_error_text(event));
    csv_text(out, event_stack_text(event));
    csv_number(out, true, event->retries.count);
    csv_number(out, true, event->retries.max);
    csv_time(out, event->created_at, zone_us);
    csv_time(out, event->retries.last_at, zone_us);
    csv_time(out, event->closed.at, zone_us);
    csv_text(out, event->closed.by);
    csv_text(out, event->source_table);
    csv_text(out, event->source_id);
    csv_text(out, event->correlation_id);
    csv_text(out, event->topic);
    csv_number(out, event->origin.has_partition, event->origin.partition);
    csv_number(out, event->origin.has_offset, event->origin.offset);
    csv_number(out, true, event->known.returned);
    csv_number(out, true, event->known.revisions);
    csv_payload(out, event->record.key);
    csv_payload(out, event->known.unreadable ? bytes_of(event->known.unreadable) : event->payload);
    strbuf_add_text(out, "\r\n");
}

// --- all ---

void
export_form_head(enum export_form form, struct strbuf *out)
{
    if (form == EXPORT_CSV)
        strbuf_add_text(out, csv_head);
}

void
export_form_event(enum export_form form, const struct exported *exported, struct strbuf *out)
{
    switch (form) {
    case EXPORT_JSONL:
        add_json(exported, out);
        break;
    case EXPORT_CSV:
        add_csv(exported, out);
        break;
    case EXPORT_IDS:
    case EXPORT_FORMS:
        strbuf_printf(out, "%" PRId64 "\n", exported->event->id);
        break;
    }
}
