#include "store/events/decode.h"

#include "core/envelope/schema_id.h"
#include "core/json/json.h"
#include "store/ingest/schemas.h"

static void
decode_by(const struct kept_schema *kept, const struct schema_value *value, struct arena *arena,
          struct decoded *decoded)
{
    struct err err = {0};
    struct strbuf out = {0};
    decoded->language = schema_language_name(kept->language);
    decoded->origin = kept->origin;
    const struct schema *schema = schema_read(kept->language, kept->texts, kept->text_count, arena, &err);
    enum schema_framing framing = value->is_named ? SCHEMA_FRAMED : SCHEMA_BARE;
    if (schema && schema_decode(schema, framing, value->rest, &out, &err))
        decoded->json = arena_copy(arena, strbuf_bytes(&out));
    else
        decoded->why = arena_printf(arena, "it is not what its schema says: %s", err.text);
    strbuf_release(&out);
}

bool
event_decode(struct store *store, const struct event *event, const struct envelope_record *letter,
             const struct envelope_undo *undo, struct arena *arena, struct decoded *decoded, struct err *err)
{
    struct kept_schema kept;
    struct schema_value value;
    struct envelope_record original = *letter;
    *decoded = (struct decoded){0};
    original.value = undo->how == UNDO_LOST || undo->how == UNDO_POINTER ? BYTES_ABSENT : undo->value;
    if (event->record.original.state == EVENT_ORIGINAL_FETCHED) {
        original.value = event->payload;
        original.headers = event->record.original.headers;
        original.header_count = event->record.original.header_count;
    }
    bool is_here =
        event->record.is_kept && !event->known.correction.has_payload && bytes_present(original.value);
    if (!is_here || json_check(original.value, NULL))
        return true;
    schema_value_of(&original, undo->topic, arena, &value);
    if (!value.name)
        return true;
    if (!schemas_find(store, value.name, arena, &kept, err))
        return false;
    if (!kept.name && !value.is_named)
        return true;
    decoded->schema = value.name;
    if (!kept.name)
        decoded->why = "redrive ingest has not found its schema yet";
    else if (event->payload.len < event->payload_size)
        decoded->why = "only its beginning is here";
    else
        decode_by(&kept, &value, arena, decoded);
    return true;
}
