#include "store/ingest/decode_again.h"

#include "base/kill_point.h"
#include "store/ingest/kept_rows.h"
#include "store/ingest/letter_rows.h"
#include "store/pg.h"

static const char *const words[] = {
    [AGAIN_DECODED] = "decoded", [AGAIN_UNCHANGED] = "unchanged", [AGAIN_CORRECTED] = "corrected",
    [AGAIN_BUSY] = "busy",       [AGAIN_SPLIT] = "split",         [AGAIN_TAKEN] = "taken",
    [AGAIN_REFUSED] = "refused", [AGAIN_CLOSED] = "closed",
};

const char *
decode_again_word(enum decode_again_fate fate)
{
    return words[fate];
}

bool
decode_again_clusters(struct store *store, const char *topic, struct arena *arena, const char ***clusters,
                      size_t *count, struct err *err)
{
    struct params params = {0};
    *count = 0;
    if (!pg_has_schema(store, err))
        return false;
    param_text(&params, topic);
    return pg_ask_texts(store, FOR_READING,
                        "SELECT DISTINCT p.cluster FROM redrive.ingest_position p WHERE p.topic = $1"
                        " ORDER BY p.cluster",
                        &params, arena, clusters, count, err);
}

// By the index record_place, so that each page begins where the last one ended. With their further dead
// letters they are a few MB.
static const char records_sql[] =
    "SELECT " KEPT_RECORD_COLUMNS " FROM (SELECT r.*, sum(r.size) OVER (ORDER BY r.generation, r.partition,"
    " r.\"offset\") - r.size AS before FROM (SELECT k.*, " KEPT_RECORD_BYTES(
        "k") " + pg_column_size(k.header_values) + coalesce((SELECT sum(octet_length(a.value)"
             " + pg_column_size(a.header_values)) FROM redrive.attempt a WHERE a.dlq_id = k.dlq_id), 0) AS "
             "size"
             " FROM redrive.record k WHERE k.cluster = $1 AND k.topic = $2"
             " AND k.format IS NOT NULL AND NOT k.is_imported"
             " AND (k.generation, k.partition, k.\"offset\") > ($3, $4, $5)"
             " AND EXISTS (SELECT FROM :\"events\" e WHERE e.id = k.dlq_id AND e.status = 'PENDING')"
             " ORDER BY k.generation, k.partition, k.\"offset\" LIMIT $6) r) w" KEPT_RECORD_JOIN
             " WHERE w.before < 4194304 ORDER BY w.generation, w.partition, w.\"offset\"";

// By its primary key.
static const char attempts_sql[] =
    "SELECT " KEPT_RECORD_COLUMNS " FROM (SELECT r.*, sum(r.size) OVER (ORDER BY r.generation, r.partition,"
    " r.\"offset\") - r.size AS before FROM (SELECT k.*, coalesce(octet_length(k.value), 0)"
    " + pg_column_size(k.header_values) AS size FROM redrive.attempt k WHERE k.cluster = $1 AND k.topic = $2"
    " AND (k.generation, k.partition, k.\"offset\") > ($3, $4, $5)"
    " AND EXISTS (SELECT FROM :\"events\" e WHERE e.id = k.dlq_id AND e.status = 'PENDING')"
    " AND NOT EXISTS (SELECT FROM redrive.record o WHERE o.dlq_id = k.dlq_id AND o.cluster = $1 AND o.topic "
    "= $2)"
    " ORDER BY k.generation, k.partition, k.\"offset\" LIMIT $6) r) w" KEPT_RECORD_JOIN
    " WHERE w.before < 4194304 ORDER BY w.generation, w.partition, w.\"offset\"";

static bool
ask_page(struct store *store, const char *sql, const char *cluster, const char *topic,
         const struct kept_record *after, struct arena *arena, struct kept_record *records, size_t room,
         size_t *count, struct err *err)
{
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, topic);
    param_int4(&params, after ? after->generation : -1);
    param_int4(&params, after ? after->record.partition : -1);
    param_int8(&params, after ? after->record.offset : -1);
    param_int4(&params, (int32_t)room);
    return kept_records_ask(store, FOR_SCANNING, sql, &params, arena, records, count, err);
}

bool
decode_again_records(struct store *store, const char *cluster, const char *topic,
                     const struct kept_record *after, struct arena *arena, struct kept_record *records,
                     size_t room, size_t *count, struct err *err)
{
    return ask_page(store, records_sql, cluster, topic, after, arena, records, room, count, err);
}

bool
decode_again_attempts(struct store *store, const char *cluster, const char *topic,
                      const struct kept_record *after, struct arena *arena, struct kept_record *records,
                      size_t room, size_t *count, struct err *err)
{
    return ask_page(store, attempts_sql, cluster, topic, after, arena, records, room, count, err);
}

bool
decode_again_attempts_of(struct store *store, const char *cluster, const int64_t *ids, size_t id_count,
                         struct arena *arena, struct kept_record **records, size_t *count, struct err *err)
{
    struct params params = {0};
    param_text(&params, cluster);
    param_ids(&params, ids, id_count);
    return kept_records_ask_all(store, FOR_SCANNING,
                                "SELECT " KEPT_RECORD_COLUMNS " FROM redrive.attempt w" KEPT_RECORD_JOIN
                                " WHERE w.cluster = $1 AND w.dlq_id = ANY ($2)",
                                &params, arena, records, count, err);
}

// A row has a fate, whether it is one of further dead letters, and how many there are.
static void
count_fates(const PGresult *r, struct decode_again_counts *counts)
{
    for (int row = 0; row < PQntuples(r); row++)
        for (int fate = 0; fate < AGAIN_FATES; fate++) {
            if (!bytes_equal_text(value_bytes(r, row, 0), words[fate]))
                continue;
            int64_t count = value_int8(r, row, 2);
            if (!value_bool(r, row, 1))
                counts->of[fate] += count;
            else if (fate == AGAIN_DECODED)
                counts->attempts += count;
            else if (fate == AGAIN_UNCHANGED)
                counts->attempts_same += count;
            else if (fate == AGAIN_SPLIT)
                counts->attempts_split += count;
        }
}

bool
decode_again_take(struct store *store, const struct ingester *ingester, const struct ingest_letter *letters,
                  const int64_t *ids, size_t count, size_t records, bool is_dry,
                  struct decode_again_counts *counts, struct err *err)
{
    const struct ingest_chunk chunk = {.letters = letters, .letter_count = count};
    struct params stage = {0}, take = {0};
    PGresult *r = NULL;
    if (!pg_may_write(store, err) || !pg_begin(store, FOR_TURNS, err))
        return false;
    param_int8(&stage, ingester->no);
    param_int8(&stage, ingester->fence);
    bool ok = pg_do(store, FOR_TURNS, "SELECT redrive.ingest_stage($1, $2)", &stage, err) &&
              letter_rows_copy(store, &chunk, err);
    if (ok) {
        param_int8(&take, ingester->no);
        param_int8(&take, ingester->fence);
        param_ids(&take, ids, count);
        param_int8(&take, (int64_t)records);
        ok = pg_ask(store, FOR_TURNS,
                    "SELECT f.fate, f.n > $4, count(*) FROM unnest(redrive.ingest_decode_again($1, $2, $3))"
                    " WITH ORDINALITY AS f (fate, n) GROUP BY 1, 2",
                    &take, &r, err);
    }
    KILL_POINT("decode-again-taken");
    ok = ok && (is_dry || pg_commit(store, err));
    pg_rollback(store);
    if (ok)
        count_fates(r, counts);
    PQclear(r);
    return ok;
}
