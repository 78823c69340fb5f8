#include "core/envelope/schema_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "core/json/json.h"
#include "core/target.h"

static void
print_guid(struct bytes raw, char out[37])
{
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = "0123456789abcdef"[(unsigned char)raw.data[i] >> 4];
        out[at++] = "0123456789abcdef"[(unsigned char)raw.data[i] & 15];
    }
    out[at] = '\0';
}

static bool
read_number(struct bytes raw, struct schema_id *schema)
{
    if (raw.len < 5 || raw.data[0] != 0 || raw.data[1] != 0)
        return false;
    schema->has_number = true;
    for (size_t i = 1; i < 5; i++)
        schema->number = schema->number << 8 | (unsigned char)raw.data[i];
    return true;
}

static bool
read_header(const struct envelope_record *record, struct schema_id *schema)
{
    for (size_t i = record->header_count; i-- > 0;) {
        struct bytes raw = record->headers[i].value;
        if (!bytes_equal_text(record->headers[i].name, "__value_schema_id"))
            continue;
        if (raw.len == 5 && read_number(raw, schema))
            return true;
        if (raw.len == 17 && raw.data[0] == 1) {
            print_guid(bytes_slice(raw, 1, 16), schema->guid);
            return true;
        }
    }
    return false;
}

bool
schema_id_of(const struct envelope_record *record, struct schema_id *schema)
{
    struct bytes value = record->value, rest = value;
    *schema = (struct schema_id){.registry = "a schema registry"};
    bool is_there = read_header(record, schema);
    if (!is_there && value.len > 5 && read_number(value, schema)) {
        rest = bytes_slice(value, 5, SIZE_MAX);
        is_there = true;
    }
    if (!is_there && value.len > 18 && value.data[0] == 3 && (value.data[1] == 0 || value.data[1] == 5)) {
        schema->registry = "an AWS Glue schema registry";
        rest = bytes_slice(value, 18, SIZE_MAX);
        print_guid(bytes_slice(value, 2, 16), schema->guid);
        is_there = true;
    }
    if (!is_there)
        return false;
    schema->rest = rest;
    schema->language = json_check(rest, NULL) ? "JSON Schema" : "Avro or Protobuf";
    return true;
}

void
schema_value_of(const struct envelope_record *record, struct bytes topic, struct arena *arena,
                struct schema_value *value)
{
    struct schema_id id;
    *value = (struct schema_value){.rest = record->value};
    if (schema_id_of(record, &id)) {
        value->name =
            id.has_number ? arena_printf(arena, "%" PRIu32, id.number) : arena_text(arena, bytes_of(id.guid));
        value->is_named = true;
        value->is_asked = strstr(id.registry, "Glue") == NULL;
        value->rest = id.rest;
    } else if (target_name_check(topic, NULL)) {
        value->name = arena_printf(arena, "%.*s.value", (int)topic.len, topic.data);
    }
}

const char *
schema_id_text(const struct schema_id *schema, struct arena *arena)
{
    if (schema->has_number)
        return arena_printf(arena, "schema %" PRIu32 " of %s (%s)", schema->number, schema->registry,
                            schema->language);
    return arena_printf(arena, "schema %s of %s (%s)", schema->guid, schema->registry, schema->language);
}
