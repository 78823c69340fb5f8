#include "store/events/records.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "store/pg.h"

bool
records_keep(struct store *store, const struct found_record *records, size_t count, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct arena arena = {0};
    size_t headers = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        headers += records[i].header_count;
    int64_t *ids = arena_array(&arena, count, sizeof *ids),
            *times = arena_array(&arena, count, sizeof *times);
    int32_t *counts = arena_array(&arena, count, sizeof *counts);
    struct bytes *keys = arena_array(&arena, count, sizeof *keys),
                 *values = arena_array(&arena, count, sizeof *values),
                 *header_values = arena_array(&arena, headers, sizeof *header_values);
    const char **names = arena_array(&arena, headers, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        ids[i] = records[i].id;
        times[i] = records[i].timestamp == TIME_ABSENT ? -1 : records[i].timestamp;
        keys[i] = records[i].key;
        values[i] = records[i].value;
        counts[i] = (int32_t)records[i].header_count;
        for (uint32_t h = 0; h < records[i].header_count; h++) {
            names[at] = arena_text(&arena, records[i].headers[h].name);
            header_values[at++] = records[i].headers[h].value;
        }
    }
    struct params params = {0};
    param_ids(&params, ids, count);
    param_ids(&params, times, count);
    param_blobs(&params, keys, count);
    param_blobs(&params, values, count);
    param_numbers(&params, counts, count);
    param_texts(&params, names, headers);
    param_blobs(&params, header_values, headers);
    bool ok = pg_do(store, FOR_WRITING, "SELECT redrive.work_keep_records($1, $2, $3, $4, $5, $6, $7)",
                    &params, err);
    arena_release(&arena);
    return ok;
}

bool
letter_ids(struct store *store, const char *queue, int64_t **ids, size_t *count, struct err *err)
{
    static const char rows[] =
        "SELECT e.id::int8 FROM :\"events\" e WHERE e.kafka_topic::text = $1 ORDER BY 1";
    static const char both[] = "SELECT e.id::int8 FROM :\"events\" e WHERE e.kafka_topic::text = $1"
                               " UNION SELECT r.dlq_id FROM redrive.record r WHERE r.format IS NOT NULL"
                               " AND coalesce(r.queue, r.topic) = $1 ORDER BY 1";
    static const char all[] = "SELECT r.dlq_id FROM redrive.record r WHERE r.format IS NOT NULL AND $1::text"
                              " IS NULL ORDER BY 1";
    *ids = NULL;
    *count = 0;
    bool has_schema = store->info.schema_version > 0;
    if (!has_schema && !queue)
        return true;
    struct params params = {0};
    PGresult *r;
    param_text(&params, queue);
    if (!pg_ask(store, FOR_SCANNING, !queue ? all : has_schema ? both : rows, &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *ids = alloc_array(*count + 1, sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = value_int8(r, (int)i, 0);
    PQclear(r);
    return true;
}

bool
record_want(struct store *store, int64_t id, struct arena *arena, struct record_answer *answer,
            struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, id);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT is_kept, has_worker, why FROM redrive.record_want($1)", &params,
                &r, err))
        return false;
    *answer = (struct record_answer){
        .is_kept = value_bool(r, 0, 0), .has_worker = value_bool(r, 0, 1), .why = value_text(r, 0, 2, arena)};
    PQclear(r);
    return true;
}

bool
records_wanted(struct store *store, int64_t *ids, size_t room, size_t *count, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int4(&params, (int32_t)room);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT w FROM redrive.work_records_wanted($1) AS w", &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    for (size_t i = 0; i < *count; i++)
        ids[i] = value_int8(r, (int)i, 0);
    PQclear(r);
    return true;
}

bool
records_answer(struct store *store, const int64_t *ids, const char *const *whys, size_t count,
               struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_ids(&params, ids, count);
    param_texts(&params, whys, count);
    return pg_do(store, FOR_WRITING, "SELECT redrive.work_records_answer($1, $2)", &params, err);
}

bool
records_exist(struct store *store, bool *exist, struct err *err)
{
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING, "SELECT EXISTS (SELECT FROM redrive.record)", NULL, &r, err))
        return false;
    *exist = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
letter_values(struct store *store,
              void (*each)(void *context, const char *field, struct bytes value, int64_t count),
              void *context, struct err *err)
{
    static const char sql[] =
        "WITH newest AS MATERIALIZED (SELECT k.format, k.consumer, coalesce(k.queue, k.topic) AS queue"
        " FROM redrive.record k"
        " ORDER BY k.dlq_id DESC LIMIT 5000)"
        " SELECT v.field, v.value, count(*) FROM newest n CROSS JOIN LATERAL (VALUES ('format', n.format),"
        " ('consumer', n.consumer), ('queue', n.queue)) AS v (field, value)"
        " WHERE n.format IS NOT NULL AND v.value <> '' GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT 300";
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, NULL, &r, err))
        return false;
    struct arena arena = {0};
    for (int i = 0; i < PQntuples(r); i++)
        each(context, value_text(r, i, 0, &arena), value_bytes(r, i, 1), value_int8(r, i, 2));
    arena_release(&arena);
    PQclear(r);
    return true;
}
