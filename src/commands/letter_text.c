#include "commands/letter_text.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/envelope/schema_id.h"
#include "core/json/content.h"

enum { TEXT_MOST = 240, COLUMN = 22 };

static void
add_cut(struct strbuf *out, struct bytes text)
{
    char size[TEXT_SHORT];
    if (!bytes_present(text)) {
        strbuf_add_text(out, "(null)");
        return;
    }
    bool is_cut = text.len > TEXT_MOST;
    text_visible(out, is_cut ? bytes_slice(text, 0, utf8_cut(text, TEXT_MOST)) : text, false);
    if (is_cut)
        strbuf_printf(out, " … (%s)", text_size(text.len, size));
}

static void
add_label(struct strbuf *out, const char *indent, const char *label)
{
    strbuf_printf(out, "%s%-*s ", indent, COLUMN, label);
}

static void
add_line(struct strbuf *out, const char *label, struct bytes text)
{
    add_label(out, "  ", label);
    add_cut(out, text);
    strbuf_add_char(out, '\n');
}

static const char *
place_text(const struct envelope_record *record, struct arena *arena)
{
    struct bytes topic = bytes_present(record->topic) ? record->topic : BYTES("-");
    if (record->partition < 0) // of a row that says no more
        return arena_text(arena, topic);
    return arena_printf(arena, "%.*s/%d/%" PRId64, BYTES_ARGS(topic), (int)record->partition, record->offset);
}

static const char *
fact_text(const struct envelope *envelope, enum envelope_fact fact, struct arena *arena)
{
    char time[TIME_TEXT];
    bool is_time = (fact == FACT_FAILED_AT || fact == FACT_TIMESTAMP) && envelope->has_number[fact];
    return is_time ? arena_printf(arena, "%s", time_rfc3339(envelope->numbers[fact], 0, time))
                   : arena_text(arena, envelope->facts[fact]);
}

static void
add_head(const struct letter *letter, struct arena *arena, struct strbuf *out)
{
    const struct envelope *envelope = &letter->envelope;
    struct schema_id schema;
    struct content content;
    text_visible(out, bytes_of(place_text(&letter->record, arena)), false);
    strbuf_printf(out, "  %s: %s\n", envelope_format_name(envelope->format),
                  envelope_format_title(envelope->format));
    add_line(out, "because", bytes_of(envelope->why));
    for (size_t i = 0; i < ENVELOPE_ALSO && envelope->also[i]; i++)
        add_line(out, "it could also be", bytes_of(envelope_format_name(envelope->also[i])));
    content_of(letter->record.value, &content);
    add_line(out, "value", bytes_of(content.why));
    if (schema_id_of(&letter->record, &schema))
        add_line(out, "written with", bytes_of(schema_id_text(&schema, arena)));
    for (int i = FACT_NONE + 1; i < FACT_COUNT; i++)
        if (bytes_present(envelope->facts[i]))
            add_line(out, envelope_fact_title((enum envelope_fact)i),
                     bytes_of(fact_text(envelope, (enum envelope_fact)i, arena)));
    if (bytes_present(letter->original))
        add_line(out, "the original", letter->original);
    else if (envelope->pointer)
        add_line(out, "the original", bytes_of(envelope->pointer));
}

static void
add_fields(const struct envelope *envelope, struct strbuf *out)
{
    if (envelope->field_count > 0)
        strbuf_add_text(out, "  fields that were read\n");
    for (size_t i = 0; i < envelope->field_count; i++) {
        const struct envelope_field *field = &envelope->fields[i];
        add_label(out, "    ", field->is_taken ? envelope_fact_title(field->fact) : "");
        strbuf_add_text(out, field->is_header ? "header " : "member ");
        text_visible(out, field->name, false);
        strbuf_add_text(out, " = ");
        if (bytes_present(field->text) || !field->note)
            add_cut(out, field->text);
        if (field->note)
            strbuf_printf(out, bytes_present(field->text) ? " (%s)" : "(%s)", field->note);
        strbuf_add_char(out, '\n');
    }
}

static void
add_value(const struct envelope_undo *undo, struct strbuf *out)
{
    bool is_there = undo->how != UNDO_POINTER && undo->how != UNDO_LOST;
    add_label(out, "    ", "key");
    if (is_there)
        add_cut(out, undo->key);
    else
        strbuf_add_text(out, "not in the dead letter");
    strbuf_add_char(out, '\n');
    add_label(out, "    ", "value");
    const char *exact = undo->is_exact ? "; exact: " : is_there ? "; perhaps not exact: " : ": ";
    strbuf_printf(out, "%s%s%s\n", undo->how_text, exact, undo->why);
    if (undo->how == UNDO_CHANGED || undo->how == UNDO_UNWRAPPED) {
        add_label(out, "    ", "");
        add_cut(out, undo->value);
        strbuf_add_char(out, '\n');
    }
}

static void
add_undo(const struct envelope_undo *undo, struct strbuf *out)
{
    static const char *const fates[] = {"keeps header", "drops header", "adds header"};
    strbuf_add_text(out, "  sent instead of it\n");
    add_label(out, "    ", "topic");
    if (bytes_present(undo->topic))
        text_visible(out, undo->topic, false);
    else
        strbuf_add_text(
            out, "not known: the record names none, and its topic's name does not say; name it with --to");
    strbuf_add_text(out, undo->is_topic_by_name ? ", by the name of the dead letter's topic\n" : "\n");
    add_label(out, "    ", "partition");
    if (undo->partition >= 0)
        strbuf_printf(out, "%d\n", (int)undo->partition);
    else
        strbuf_add_text(out, "by the key\n");
    add_value(undo, out);
    for (size_t i = 0; i < undo->header_count; i++) {
        add_label(out, "    ", fates[undo->headers[i].fate]);
        text_visible(out, undo->headers[i].name, false);
        if (undo->headers[i].fate != FATE_DROPPED) {
            strbuf_add_text(out, " = ");
            add_cut(out, undo->headers[i].value);
        }
        strbuf_add_char(out, '\n');
    }
}

void
letter_facts(const struct letter *letter, struct arena *arena, struct strbuf *out)
{
    add_head(letter, arena, out);
    add_fields(&letter->envelope, out);
}

void
letter_text(const struct letter *letter, struct arena *arena, struct strbuf *out)
{
    letter_facts(letter, arena, out);
    add_undo(&letter->undo, out);
}

static struct value *
facts_json(const struct envelope *envelope)
{
    struct value *object = value_object();
    for (int i = FACT_NONE + 1; i < FACT_COUNT; i++) {
        enum envelope_fact fact = (enum envelope_fact)i;
        const char *name = envelope_fact_name(fact);
        bool is_time = fact == FACT_FAILED_AT || fact == FACT_TIMESTAMP;
        if (!bytes_present(envelope->facts[i]))
            continue;
        if (is_time && envelope->has_number[i])
            value_add_time(object, name, envelope->numbers[i], 0);
        else if (envelope->has_number[i])
            value_add_int(object, name, envelope->numbers[i]);
        else
            value_add_bytes(object, name, envelope->facts[i]);
    }
    return object;
}

static struct value *
fields_json(const struct envelope *envelope)
{
    struct value *array = value_array();
    for (size_t i = 0; i < envelope->field_count; i++) {
        const struct envelope_field *field = &envelope->fields[i];
        struct value *object = value_object();
        value_add_text(object, "in", field->is_header ? "header" : "value");
        value_add_bytes(object, "name", field->name);
        value_add_bytes(object, "text", field->text);
        if (!bytes_present(field->text) && bytes_present(field->raw))
            value_add_payload(object, "raw", field->raw);
        value_add_text(object, "note", field->note);
        value_add_text(object, "fact", field->is_taken ? envelope_fact_name(field->fact) : NULL);
        value_add(array, NULL, object);
    }
    return array;
}

static struct value *
undo_json(const struct envelope_undo *undo)
{
    static const char *const fates[] = {"kept", "dropped", "added"};
    static const char *const hows[] = {"as is", "changed", "unwrapped", "pointer", "lost"};
    struct value *object = value_object(), *headers = value_array();
    value_add_bytes(object, "topic", undo->topic);
    value_add_bool(object, "topic_by_name", undo->is_topic_by_name);
    if (undo->partition >= 0)
        value_add_int(object, "partition", undo->partition);
    else
        value_add_null(object, "partition");
    value_add_payload(object, "key", undo->key);
    value_add_payload(object, "value", undo->value);
    value_add_text(object, "how", hows[undo->how]);
    value_add_bool(object, "exact", undo->is_exact);
    value_add_text(object, "why", undo->why);
    for (size_t i = 0; i < undo->header_count; i++) {
        struct value *header = value_object();
        value_add_text(header, "fate", fates[undo->headers[i].fate]);
        value_add_bytes(header, "name", undo->headers[i].name);
        value_add_payload(header, "value", undo->headers[i].value);
        value_add(headers, NULL, header);
    }
    value_add(object, "headers", headers);
    return object;
}

struct value *
letter_json(const struct letter *letter, struct arena *arena)
{
    const struct envelope *envelope = &letter->envelope;
    struct schema_id schema;
    struct value *object = value_object(), *also = value_array();
    bool has_schema = schema_id_of(&letter->record, &schema);
    value_add_bytes(object, "topic", letter->record.topic);
    value_add_int(object, "partition", letter->record.partition);
    value_add_int(object, "offset", letter->record.offset);
    value_add_text(object, "format", envelope_format_name(envelope->format));
    value_add_text(object, "format_title", envelope_format_title(envelope->format));
    value_add_text(object, "because", envelope->why);
    for (size_t i = 0; i < ENVELOPE_ALSO && envelope->also[i]; i++)
        value_add_text(also, NULL, envelope_format_name(envelope->also[i]));
    value_add(object, "also", also);
    value_add_text(object, "schema", has_schema ? schema_id_text(&schema, arena) : NULL);
    value_add(object, "says", facts_json(envelope));
    value_add(object, "fields", fields_json(envelope));
    value_add_text(object, "pointer", envelope->pointer);
    value_add(object, "sent_instead", undo_json(&letter->undo));
    return object;
}
