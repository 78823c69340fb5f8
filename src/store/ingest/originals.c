#include "store/ingest/originals.h"

#include "base/kill_point.h"
#include "store/ingest/kept_rows.h"
#include "store/ingest/letter_rows.h"
#include "store/pg.h"

bool
originals_due(struct store *store, const char *cluster, bool *are_due, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *are_due = false;
    if (!pg_has_schema(store, err))
        return false;
    param_text(&params, cluster);
    if (!pg_ask(store, FOR_READING,
                "SELECT EXISTS (SELECT FROM redrive.original o WHERE o.state = 'waiting'"
                " AND ($1 = '' OR o.cluster = $1) AND o.next_at <= pg_catalog.clock_timestamp())",
                &params, &r, err))
        return false;
    *are_due = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

static const char waiting_sql[] =
    "SELECT " KEPT_RECORD_COLUMNS " FROM (SELECT k.*, q.next_at FROM redrive.original q"
    " JOIN redrive.record k ON k.dlq_id = q.dlq_id WHERE q.state = 'waiting' AND q.cluster = $1"
    " AND q.next_at <= pg_catalog.to_timestamp($2::float8 / 1000000) ORDER BY q.next_at, q.dlq_id LIMIT $3) "
    "w" KEPT_RECORD_JOIN " ORDER BY w.next_at, w.dlq_id";

bool
originals_waiting(struct store *store, const char *cluster, int64_t due_by, struct arena *arena,
                  struct kept_record *records, size_t room, size_t *count, struct err *err)
{
    struct params params = {0};
    param_text(&params, cluster);
    param_int8(&params, due_by);
    param_int4(&params, (int32_t)room);
    return kept_records_ask(store, FOR_READING, waiting_sql, &params, arena, records, count, err);
}

bool
originals_left(struct store *store, const char *cluster, int64_t *count, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_text(&params, cluster);
    if (!pg_ask(store, FOR_READING,
                "SELECT count(*) FROM redrive.original o WHERE o.state = 'waiting' AND o.cluster = $1",
                &params, &r, err))
        return false;
    *count = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

// The arrays of ingest_originals; headers of all stand one after the other.
static void
param_answers(struct params *params, const struct original_answer *answers, size_t count, struct arena *arena)
{
    size_t headers = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        headers += answers[i].original.record.header_count;
    int64_t *ids = arena_array(arena, count, sizeof *ids), *times = arena_array(arena, count, sizeof *times),
            *crcs = arena_array(arena, count, sizeof *crcs);
    int32_t *header_counts = arena_array(arena, count, sizeof *header_counts);
    const char **words = arena_array(arena, count, sizeof *words),
               **whys = arena_array(arena, count, sizeof *whys),
               **names = arena_array(arena, headers, sizeof *names);
    struct bytes *keys = arena_array(arena, count, sizeof *keys),
                 *values = arena_array(arena, count, sizeof *values),
                 *header_values = arena_array(arena, headers, sizeof *header_values);
    for (size_t i = 0; i < count; i++) {
        const struct envelope_record *record = &answers[i].original.record;
        ids[i] = answers[i].id;
        words[i] = event_original_state_name(answers[i].original.state);
        whys[i] = answers[i].original.why;
        times[i] = record->timestamp == TIME_ABSENT ? -1 : record->timestamp;
        keys[i] = record->key;
        values[i] = record->value;
        crcs[i] = answers[i].crc;
        header_counts[i] = (int32_t)record->header_count;
        for (size_t h = 0; h < record->header_count; h++) {
            names[at] = arena_text(arena, record->headers[h].name);
            header_values[at++] = record->headers[h].value;
        }
    }
    param_ids(params, ids, count);
    param_texts(params, words, count);
    param_texts(params, whys, count);
    param_ids(params, times, count);
    param_blobs(params, keys, count);
    param_blobs(params, values, count);
    param_ids(params, crcs, count);
    param_numbers(params, header_counts, count);
    param_texts(params, names, headers);
    param_blobs(params, header_values, headers);
}

bool
originals_take(struct store *store, const struct ingester *ingester, const struct original_answer *answers,
               const struct ingest_letter *letters, size_t count, struct err *err)
{
    const struct ingest_chunk chunk = {.letters = letters, .letter_count = count};
    struct params stage = {0}, take = {0};
    struct arena arena = {0};
    if (!pg_may_write(store, err) || !pg_begin(store, FOR_WRITING, err))
        return false;
    param_int8(&stage, ingester->no);
    param_int8(&stage, ingester->fence);
    bool ok = pg_do(store, FOR_WRITING, "SELECT redrive.ingest_stage($1, $2)", &stage, err) &&
              letter_rows_copy(store, &chunk, err);
    KILL_POINT("originals-staged");
    if (ok) {
        param_int8(&take, ingester->no);
        param_int8(&take, ingester->fence);
        param_answers(&take, answers, count, &arena);
        ok = pg_do(store, FOR_WRITING,
                   "SELECT redrive.ingest_originals($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
                   &take, err);
    }
    KILL_POINT("originals-taken");
    ok = ok && pg_commit(store, err);
    pg_rollback(store);
    arena_release(&arena);
    return ok;
}
