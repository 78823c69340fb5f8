#include "store/ingest/schemas.h"

#include "store/events/reader.h"
#include "store/ingest/kept_rows.h"
#include "store/pg.h"

bool
schemas_find(struct store *store, const char *name, struct arena *arena, struct kept_schema *schema,
             struct err *err)
{
    *schema = (struct kept_schema){0};
    if (store->info.schema_version == 0)
        return true;
    struct params params = {0};
    struct event_header *texts = NULL;
    uint32_t count = 0;
    PGresult *r;
    param_text(&params, name);
    if (!pg_ask(store, FOR_READING,
                "SELECT name, language, texts, origin FROM redrive.schema WHERE name = $1", &params, &r, err))
        return false;
    if (PQntuples(r) == 1 && schema_language_find(value_bytes(r, 0, 1), &schema->language)) {
        event_headers_read(value_bytes(r, 0, 2), true, arena, &texts, &count);
        struct bytes *copy = arena_array(arena, count + 1, sizeof *copy);
        for (uint32_t i = 0; i < count; i++)
            copy[i] = texts[i].name;
        schema->name = value_text(r, 0, 0, arena);
        schema->texts = copy;
        schema->text_count = count;
        schema->origin = value_text(r, 0, 3, arena);
    }
    PQclear(r);
    return true;
}

bool
schemas_keep(struct store *store, const struct kept_schema *schema, struct err *err)
{
    struct params params = {0};
    param_text(&params, schema->name);
    param_text(&params, schema_language_word(schema->language));
    param_blobs(&params, schema->texts, schema->text_count);
    param_text(&params, schema->origin);
    return pg_do(store, FOR_WRITING, "SELECT redrive.ingest_schema_keep($1, $2, $3, $4)", &params, err);
}

bool
schemas_missed(struct store *store, const char *name, const char *why, struct err *err)
{
    struct params params = {0};
    param_text(&params, name);
    param_text(&params, why);
    return pg_do(store, FOR_WRITING, "SELECT redrive.ingest_schema_missed($1, $2)", &params, err);
}

// From name to name in the index, so that a million events of one schema are one step.
static const char wanted_sql[] =
    "WITH RECURSIVE names AS ("
    " (SELECT r.schema FROM redrive.record r WHERE r.decoding = 'waiting' ORDER BY r.schema LIMIT 1)"
    " UNION ALL SELECT (SELECT r.schema FROM redrive.record r WHERE r.decoding = 'waiting'"
    "   AND r.schema > n.schema ORDER BY r.schema LIMIT 1) FROM names n WHERE n.schema IS NOT NULL)"
    " SELECT n.schema, s.name IS NOT NULL, coalesce(m.next_at <= clock_timestamp(), true)"
    " FROM (SELECT x.schema FROM names x WHERE x.schema IS NOT NULL LIMIT 10000) n"
    " LEFT JOIN redrive.schema s ON s.name = n.schema LEFT JOIN redrive.schema_missed m ON m.name = n.schema"
    " ORDER BY s.name IS NULL, m.next_at NULLS FIRST, n.schema LIMIT $1";

bool
schemas_wanted(struct store *store, struct arena *arena, struct wanted_schema *wanted, size_t room,
               size_t *count, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *count = 0;
    if (!pg_has_schema(store, err))
        return false;
    param_int4(&params, (int32_t)room);
    if (!pg_ask(store, FOR_SCANNING, wanted_sql, &params, &r, err))
        return false;
    for (; *count < (size_t)PQntuples(r); (*count)++)
        wanted[*count] = (struct wanted_schema){.name = value_text(r, (int)*count, 0, arena),
                                                .is_known = value_bool(r, (int)*count, 1),
                                                .is_due = value_bool(r, (int)*count, 2)};
    PQclear(r);
    return true;
}

static const char waiting_sql[] =
    "SELECT " KEPT_RECORD_COLUMNS " FROM (SELECT r.*, sum(r.size) OVER (ORDER BY r.dlq_id) - r.size AS before"
    " FROM (SELECT k.*, " KEPT_RECORD_BYTES(
        "k") " AS size FROM redrive.record k WHERE k.decoding = 'waiting'"
             " AND k.schema = $1 AND k.dlq_id > $2 ORDER BY k.dlq_id LIMIT $3) r) w" KEPT_RECORD_JOIN
             " WHERE w.before < 4194304 ORDER BY w.dlq_id";

bool
schemas_waiting(struct store *store, const char *name, int64_t after, struct arena *arena,
                struct kept_record *records, size_t room, size_t *count, struct err *err)
{
    struct params params = {0};
    param_text(&params, name);
    param_int8(&params, after);
    param_int4(&params, (int32_t)room);
    return kept_records_ask(store, FOR_READING, waiting_sql, &params, arena, records, count, err);
}

bool
schemas_decoded(struct store *store, const struct decoded_record *records, size_t count, struct err *err)
{
    struct arena arena = {0};
    int64_t *ids = arena_array(&arena, count, sizeof *ids);
    const char **payloads = arena_array(&arena, count, sizeof *payloads);
    const char **states = arena_array(&arena, count, sizeof *states);
    for (size_t i = 0; i < count; i++) {
        ids[i] = records[i].id;
        payloads[i] = records[i].payload;
        states[i] = records[i].is_decoded ? "decoded" : "failed";
    }
    struct params params = {0};
    param_ids(&params, ids, count);
    param_texts(&params, payloads, count);
    param_texts(&params, states, count);
    bool ok = pg_do(store, FOR_WRITING, "SELECT redrive.ingest_decoded($1, $2, $3)", &params, err);
    arena_release(&arena);
    return ok;
}
