#include "store/operations/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "store/contract.h"
#include "store/events/reader.h"
#include "store/operations/slot_row.h"

static const char *const promises[] = {
    [PROMISE_UNKNOWN] = "unknown",
    [PROMISE_EXACTLY_ONCE] = "exactly once",
    [PROMISE_AT_LEAST_ONCE] = "at least once",
};

static const char *const chunk_states[] = {
    [CHUNK_CLAIMED] = "claimed",
    [CHUNK_COMMITTED] = "committed",
    [CHUNK_ABORTED] = "aborted",
    [CHUNK_IN_DOUBT] = "in doubt",
};

static bool
ledger_may_change(const struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

static bool
ask_cluster(struct store *store, const char *sql, struct params *params, struct cluster *cluster,
            struct err *err)
{
    PGresult *r;
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_READING, sql, params, &r, err))
        return false;
    *cluster = (struct cluster){0};
    bool found = PQntuples(r) == 1;
    if (found) {
        value_copy(r, 0, 0, cluster->name, sizeof cluster->name);
        for (size_t i = 0; i < sizeof promises / sizeof promises[0]; i++) {
            if (bytes_equal_text(value_bytes(r, 0, 1), promises[i]))
                cluster->promise = (enum promise)i;
        }
        value_copy(r, 0, 2, cluster->words, sizeof cluster->words);
        value_copy(r, 0, 3, cluster->evidence, sizeof cluster->evidence);
        cluster->checked_at = value_time(r, 0, 4);
    }
    PQclear(r);
    return found || err_set(err, ERR_NOT_FOUND, "no Kafka cluster was checked yet: run redrive doctor");
}

#define CLUSTER_COLUMNS "SELECT name, promise, words, evidence, checked_at FROM redrive.cluster"

bool
cluster_get(struct store *store, const char *name, struct cluster *cluster, struct err *err)
{
    struct params params = {0};
    param_text(&params, name);
    return ask_cluster(store, CLUSTER_COLUMNS " WHERE name = $1 AND who = session_user", &params, cluster,
                       err);
}

bool
cluster_latest(struct store *store, struct cluster *cluster, struct err *err)
{
    struct params params = {0};
    return ask_cluster(store, CLUSTER_COLUMNS " ORDER BY checked_at DESC LIMIT 1", &params, cluster, err);
}

bool
cluster_put(struct store *store, const struct cluster *cluster, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster->name);
    param_text(&params, promises[cluster->promise]);
    param_text(&params, cluster->words);
    param_text(&params, cluster->evidence);
    return pg_do(store, FOR_WRITING, "SELECT redrive.cluster_put($1, $2, $3, $4)", &params, err);
}

void
slot_row_read(const PGresult *r, int row, struct slot *slot)
{
    *slot = (struct slot){
        .no = value_int4(r, row, 0),
        .generation = value_int4(r, row, 1),
        .fence = value_int8(r, row, 2),
        .finished_seq = value_int8(r, row, 5),
        .is_provisioned = value_bool(r, row, 7),
        .marker_at = value_time(r, row, 8),
        .is_marker_old = value_bool(r, row, 9),
    };
    value_copy(r, row, 3, slot->cluster, sizeof slot->cluster);
    value_copy(r, row, 4, slot->txn_id, sizeof slot->txn_id);
    value_copy(r, row, 6, slot->finished_id, sizeof slot->finished_id);
}

void
slot_row_read_unfinished(const PGresult *r, int row, struct chunk *chunk)
{
    *chunk = (struct chunk){
        .exists = !value_is_null(r, row, SLOT_COLUMN_COUNT),
        .seq = value_int8(r, row, SLOT_COLUMN_COUNT + 1),
        .operation = value_int8(r, row, SLOT_COLUMN_COUNT + 2),
        .count = value_int4(r, row, SLOT_COLUMN_COUNT + 3),
        .state = value_bool(r, row, SLOT_COLUMN_COUNT + 4) ? CHUNK_IN_DOUBT : CHUNK_CLAIMED,
        .created_at = value_time(r, row, SLOT_COLUMN_COUNT + 5),
    };
    value_copy(r, row, SLOT_COLUMN_COUNT, chunk->id, sizeof chunk->id);
}

static bool
fail_fenced(const struct slot *slot, struct err *err)
{
    return err_set(err, ERR_CONFLICT, "slot %d was taken over by another worker", slot->no);
}

// Every fenced function begins with these three parameters.
static void
add_slot(struct params *params, const struct slot *slot)
{
    param_text(params, slot->cluster);
    param_int4(params, slot->no);
    param_int8(params, slot->fence);
}

static bool
acquire(struct store *store, const char *cluster, const char *worker, const int32_t *mine, size_t mine_count,
        bool quarantined, struct slot *slot, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, worker);
    param_numbers(&params, mine, mine_count);
    param_bool(&params, quarantined);
    param_int4(&params, PQbackendPID(store->conn)); // a pooler makes up one of its own
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT " SLOT_COLUMNS " FROM redrive.slot_acquire($1, $2, $3, $4, $5) s",
                &params, &r, err))
        return false;
    bool found = PQntuples(r) == 1;
    if (found)
        slot_row_read(r, 0, slot);
    PQclear(r);
    if (found)
        return true;
    return err_set(err, ERR_NOT_FOUND,
                   quarantined ? "no slot has a chunk in doubt that nobody looks after"
                               : "no slot is free now: other workers hold them, or they are in doubt");
}

bool
slot_acquire(struct store *store, const char *cluster, const char *worker, const int32_t *mine,
             size_t mine_count, struct slot *slot, struct err *err)
{
    return acquire(store, cluster, worker, mine, mine_count, false, slot, err);
}

bool
slot_acquire_in_doubt(struct store *store, const char *cluster, const char *worker, const int32_t *mine,
                      size_t mine_count, struct slot *slot, struct err *err)
{
    return acquire(store, cluster, worker, mine, mine_count, true, slot, err);
}

bool
slot_check(struct store *store, struct slot *slot, struct chunk *unfinished, struct err *err)
{
    *unfinished = (struct chunk){0};
    struct params params = {0};
    add_slot(&params, slot);
    PGresult *r;
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_READING,
                                              "SELECT " SLOT_COLUMNS SLOT_UNFINISHED_COLUMNS
                                              " FROM redrive.slot_check($1, $2, $3) s" SLOT_UNFINISHED_JOIN,
                                              &params, &r, err))
        return false;
    bool found = PQntuples(r) == 1;
    if (found) {
        slot_row_read(r, 0, slot);
        slot_row_read_unfinished(r, 0, unfinished);
    }
    PQclear(r);
    return found || fail_fenced(slot, err);
}

static bool
do_fenced(struct store *store, const struct slot *slot, const char *sql, const char *text, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    add_slot(&params, slot);
    if (text)
        param_text(&params, text);
    return pg_do(store, FOR_WRITING, sql, &params, err);
}

bool
slot_heartbeat(struct store *store, const struct slot *slot, struct err *err)
{
    return do_fenced(store, slot, "SELECT redrive.slot_heartbeat($1, $2, $3)", NULL, err);
}

bool
slot_release(struct store *store, const struct slot *slot, struct err *err)
{
    return do_fenced(store, slot, "SELECT redrive.slot_release($1, $2, $3)", NULL, err);
}

bool
slot_suspend(struct store *store, const struct slot *slot, const char *evidence, struct err *err)
{
    return do_fenced(store, slot, "SELECT redrive.slot_suspend($1, $2, $3, $4)", evidence, err);
}

bool
slot_provisioned(struct store *store, struct slot *slot, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    add_slot(&params, slot);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.slot_provisioned($1, $2, $3)", &params, &r, err))
        return false;
    slot->is_provisioned = true;
    slot->marker_at = value_time(r, 0, 0);
    PQclear(r);
    return true;
}

// Runs a fenced function that answers with the slot as it is now.
static bool
ask_slot(struct store *store, struct slot *slot, const char *sql, struct params *params, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_TURNS, sql, params, &r, err))
        return false;
    bool found = PQntuples(r) == 1;
    if (found)
        slot_row_read(r, 0, slot);
    PQclear(r);
    return found || fail_fenced(slot, err);
}

bool
slot_retire(struct store *store, struct slot *slot, const char *why, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    add_slot(&params, slot);
    param_text(&params, why);
    return ask_slot(store, slot, "SELECT " SLOT_COLUMNS " FROM redrive.slot_retire($1, $2, $3, $4) s",
                    &params, err);
}

struct claiming {
    struct event_reader reader;
    struct arena *arena;
    struct claim *claim;
    size_t room; // for so many items, which the claim says beforehand
};

static bool
read_item(void *context, const PGresult *row)
{
    struct claiming *claiming = context;
    struct claim *claim = claiming->claim;
    if (claim->count == claiming->room) {
        claiming->room = claiming->room ? size_mul(claiming->room, 2)
                                        : (size_t)(claim->chunk.count > 0 ? claim->chunk.count : 1);
        struct claimed_item *items = arena_array(claiming->arena, claiming->room, sizeof *items);
        if (claim->count)
            memcpy(items, claim->items, claim->count * sizeof *items);
        claim->items = items;
    }
    struct claimed_item *item = &claim->items[claim->count++];
    event_reader_row(&claiming->reader, row, 0, &item->event);
    item->event_id = item->event.id;
    item->attempt = value_int4(row, 0, 0);
    item->reprocess_count = 1;
    return true;
}

static void
read_claim(const PGresult *r, const char *chunk_id, int64_t operation, struct arena *arena,
           struct claim *claim)
{
    claim->skipped = value_int8(r, 0, 2);
    claim->rate = value_int4(r, 0, 4);
    claim->requested_by = value_text(r, 0, 5, arena);
    claim->target_topic = value_text(r, 0, 6, arena);
    claim->chunk = (struct chunk){
        .exists = !value_is_null(r, 0, 0),
        .seq = value_int8(r, 0, 0),
        .operation = operation,
        .count = value_int4(r, 0, 1),
        .state = CHUNK_CLAIMED,
        .created_at = value_time(r, 0, 3),
    };
    snprintf(claim->chunk.id, sizeof claim->chunk.id, "%s", chunk_id);
}

// The attempt is counted when it has an outcome; an earlier version did so when it
// claimed.
#define CLAIMED_ROWS                                                                                         \
    "SELECT " CONTRACT_COLUMNS ", i.attempt AS item_attempt FROM ("                                          \
    "SELECT w.id, b.tries + coalesce(w.attempt, 0) + 1 AS attempt FROM redrive.chunk c"                      \
    " CROSS JOIN LATERAL unnest(c.batches) AS n (no)"                                                        \
    " JOIN redrive.operation_batch b ON b.operation_no = c.operation_no AND b.no = n.no"                     \
    " CROSS JOIN LATERAL unnest(b.dlq_ids, b.attempts) AS w (id, attempt) WHERE c.id = :chunk"               \
    " UNION ALL" /* with a limit the planner uses the key, whatever it thinks of the table */                \
    " SELECT w.id, h.attempt FROM redrive.chunk c CROSS JOIN LATERAL unnest(c.dlq_ids) AS w (id)"            \
    " CROSS JOIN LATERAL (SELECT r.attempt + (r.state = 'queued')::int4 AS attempt"                          \
    " FROM redrive.operation_item r WHERE r.dlq_id = w.id AND r.operation_no = c.operation_no LIMIT 1) h"    \
    " WHERE c.id = :chunk AND c.batches IS NULL) i"                                                          \
    " JOIN :\"events\" e ON e.id = i.id"

static const struct query_piece claimed_rows = PIECE_ROW(CLAIMED_ROWS);
static const struct query_piece claimed_plain_rows =
    PIECE_ROW(CLAIMED_ROWS " WHERE (SELECT " EVENT_READER_IS_PLAIN ")");

// Absent values come last.
static int
ledger_by_number(bool has_a, int64_t a, bool has_b, int64_t b)
{
    if (!has_a || !has_b)
        return has_b - has_a;
    return (a > b) - (a < b);
}

// In the order of its source. PostgreSQL would sort whole payloads, which do not fit into what it sorts in
// memory.
static int
ledger_by_place(const void *a, const void *b)
{
    const struct event *x = &((const struct claimed_item *)a)->event;
    const struct event *y = &((const struct claimed_item *)b)->event;
    int order = x->topic.data && y->topic.data ? bytes_compare(x->topic, y->topic)
                                               : (y->topic.data != NULL) - (x->topic.data != NULL);
    if (order == 0)
        order = ledger_by_number(x->origin.has_partition, x->origin.partition, y->origin.has_partition,
                                 y->origin.partition);
    if (order == 0)
        order =
            ledger_by_number(x->origin.has_offset, x->origin.offset, y->origin.has_offset, y->origin.offset);
    return order ? order : ledger_by_number(true, x->id, true, y->id);
}

static bool
read_rows(struct store *store, struct claiming *claiming, const char *chunk_id, bool plain, struct err *err)
{
    struct query query = {0};
    const struct event_source source = {.extra = PIECE("e.item_attempt"),
                                        .extra_count = 1,
                                        .rows = plain ? &claimed_plain_rows : &claimed_rows,
                                        .row_count = 1};
    event_reader_init(&claiming->reader, store, claiming->arena, EVENT_PLANNED, 0);
    claiming->reader.is_plain = plain;
    event_reader_query(&claiming->reader, &query, &source);
    param_uuid(query_param(&query, "chunk"), chunk_id);
    bool ok = pg_stream(store, FOR_READING, query_text(&query), &query.params, read_item, claiming, err);
    query_release(&query);
    return ok;
}

// Claimed items cannot change any more, so they are read after the claim is committed. Other sessions that
// wait for the operation's row do not wait for this read. Where redrive keeps no record and no revision, the
// thirty columns that are NULL in every row would cost as much as the payloads.
static bool
read_items(struct store *store, struct claiming *claiming, const char *chunk_id, struct err *err)
{
    struct claim *claim = claiming->claim;
    bool ok = read_rows(store, claiming, chunk_id, true, err) &&
              (claim->count > 0 || read_rows(store, claiming, chunk_id, false, err));
    if (ok && claim->count)
        qsort(claim->items, claim->count, sizeof *claim->items, ledger_by_place);
    return ok;
}

static int
by_event_id(const void *a, const void *b)
{
    const struct claimed_item *const *x = a, *const *y = b;
    return bytes_compare((*x)->event.event_id, (*y)->event.event_id);
}

// $1 chunk. Its own operation sends each of its events once, also those that have one event id.
static const char sent_sql[] =
    "SELECT s.event_id, count(*)::int4 FROM redrive.chunk c CROSS JOIN LATERAL redrive.items_sent("
    "CASE WHEN c.batches IS NULL THEN ARRAY(SELECT i.event_id FROM unnest(c.dlq_ids) AS w (id)"
    " CROSS JOIN LATERAL (SELECT r.event_id::text FROM redrive.operation_item r"
    " WHERE r.dlq_id = w.id AND r.operation_no = c.operation_no LIMIT 1) i)"
    " ELSE ARRAY(SELECT k FROM unnest(c.batches) AS n (no)"
    " JOIN redrive.operation_batch b ON b.operation_no = c.operation_no AND b.no = n.no"
    " CROSS JOIN LATERAL unnest(b.event_ids) AS k) END, c.operation_no) s WHERE c.id = $1 GROUP BY 1";

// How often the events of a claim were sent before, in other operations: for most of them never.
static bool
count_sent(struct store *store, const char *chunk_id, struct claim *claim, struct arena *arena,
           struct err *err)
{
    struct params params = {0};
    param_uuid(&params, chunk_id);
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sent_sql, &params, &r, err))
        return false;
    if (PQntuples(r) == 0) {
        PQclear(r);
        return true;
    }
    struct claimed_item **items = arena_array(arena, claim->count, sizeof *items);
    for (size_t i = 0; i < claim->count; i++)
        items[i] = &claim->items[i];
    qsort(items, claim->count, sizeof *items, by_event_id);
    for (int i = 0; i < PQntuples(r); i++) {
        struct claimed_item wanted = {.event.event_id = value_bytes(r, i, 0)};
        struct claimed_item *const key = &wanted;
        struct claimed_item **found = bsearch(&key, items, claim->count, sizeof *items, by_event_id);
        // A consumer may have written one event twice.
        while (found && found > items && by_event_id(found - 1, &key) == 0)
            found--;
        for (; found && found < items + claim->count && by_event_id(found, &key) == 0; found++)
            (*found)->reprocess_count = value_int4(r, i, 1) + 1;
    }
    PQclear(r);
    return true;
}

bool
chunk_claim(struct store *store, struct slot *slot, int64_t operation, const char *chunk_id, size_t limit,
            uint64_t max_bytes, struct arena *arena, struct claim *claim, struct err *err)
{
    *claim = (struct claim){0};
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    add_slot(&params, slot);
    param_int8(&params, operation);
    param_uuid(&params, chunk_id);
    param_int4(&params, limit > INT32_MAX ? INT32_MAX : (int32_t)limit);
    param_int8(&params, max_bytes > INT64_MAX ? INT64_MAX : (int64_t)max_bytes);
    PGresult *r = NULL;
    if (!pg_ask(store, FOR_TURNS,
                "SELECT seq, events, skipped, created_at, rate, requested_by::text, target_topic"
                " FROM redrive.chunk_claim($1, $2, $3, $4, $5, $6, $7)",
                &params, &r, err))
        return false;
    read_claim(r, chunk_id, operation, arena, claim);
    PQclear(r);
    struct claiming claiming = {.arena = arena, .claim = claim};
    if (claim->chunk.exists && !read_items(store, &claiming, chunk_id, err))
        return false;
    if ((size_t)claim->chunk.count != claim->count)
        return err_set(
            err, ERR_INTERNAL,
            "chunk %s claimed %d events and reads %zu: an event vanished, or the table has an id twice",
            chunk_id, claim->chunk.count, claim->count);
    return claim->count == 0 || count_sent(store, chunk_id, claim, arena, err);
}

static bool
ledger_finish_chunk(struct store *store, struct slot *slot, const struct chunk *chunk,
                    enum chunk_state outcome, const char *evidence, const int64_t *published, size_t count,
                    struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    add_slot(&params, slot);
    param_uuid(&params, chunk->id);
    param_text(&params, chunk_states[outcome]);
    param_text(&params, evidence);
    if (published)
        param_ids(&params, published, count);
    return ask_slot(store, slot,
                    published
                        ? "SELECT " SLOT_COLUMNS " FROM redrive.chunk_finish($1, $2, $3, $4, $5, $6, $7) s"
                        : "SELECT " SLOT_COLUMNS " FROM redrive.chunk_finish($1, $2, $3, $4, $5, $6, NULL) s",
                    &params, err);
}

bool
chunk_finish(struct store *store, struct slot *slot, const struct chunk *chunk, enum chunk_state outcome,
             const char *evidence, struct err *err)
{
    return ledger_finish_chunk(store, slot, chunk, outcome, evidence, NULL, 0, err);
}

bool
chunk_finish_scanned(struct store *store, struct slot *slot, const struct chunk *chunk,
                     const int64_t *published, size_t count, const char *evidence, struct err *err)
{
    static const int64_t none;
    return ledger_finish_chunk(store, slot, chunk, count ? CHUNK_COMMITTED : CHUNK_ABORTED, evidence,
                               published ? published : &none, count, err);
}

static void
param_places(struct params *params, const struct sent_places *places)
{
    size_t count = places->row_count;
    const char **topics = alloc_array(count, sizeof *topics),
               **consumers = alloc_array(count, sizeof *consumers);
    int32_t *partitions = alloc_array(count, sizeof *partitions),
            *counts = alloc_array(count, sizeof *counts);
    int64_t *lows = alloc_array(count, sizeof *lows);
    for (size_t i = 0; i < count; i++) {
        topics[i] = places->rows[i].topic;
        partitions[i] = places->rows[i].partition;
        consumers[i] = places->rows[i].consumer;
        lows[i] = places->rows[i].low;
        counts[i] = places->rows[i].count;
    }
    param_texts(params, topics, count);
    param_numbers(params, partitions, count);
    param_texts(params, consumers, count);
    param_ids(params, lows, count);
    param_numbers(params, counts, count);
    param_ids(params, places->ids, places->count);
    param_numbers(params, places->offsets, places->count);
    free(topics);
    free(partitions);
    free(consumers);
    free(lows);
    free(counts);
}

bool
chunk_published(struct store *store, struct slot *slot, const struct chunk *chunk,
                const struct sent_places *places, const char *evidence, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    add_slot(&params, slot);
    param_uuid(&params, chunk->id);
    param_text(&params, evidence);
    param_places(&params, places);
    return ask_slot(store, slot,
                    "SELECT " SLOT_COLUMNS
                    " FROM redrive.chunk_published($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) s",
                    &params, err);
}

bool
items_refuse(struct store *store, const struct slot *slot, int64_t operation, const struct refusal *refusals,
             size_t count, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    if (count == 0)
        return true;
    int64_t *ids = alloc_array(count, sizeof *ids);
    const char **reasons = alloc_array(count, sizeof *reasons);
    for (size_t i = 0; i < count; i++) {
        ids[i] = refusals[i].event_id;
        reasons[i] = refusals[i].reason;
    }
    struct params params = {0};
    add_slot(&params, slot);
    param_int8(&params, operation);
    param_ids(&params, ids, count);
    param_texts(&params, reasons, count);
    free(ids);
    free(reasons);
    return pg_do(store, FOR_TURNS, "SELECT redrive.items_refuse($1, $2, $3, $4, $5, $6)", &params, err);
}

bool
recovery_wanted(struct store *store, const char *cluster, const char *worker, const int32_t *mine,
                size_t mine_count, struct recovery_wanted *wanted, struct err *err)
{
    *wanted = (struct recovery_wanted){0};
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, worker);
    param_numbers(&params, mine, mine_count);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT unfinished, in_doubt, old_markers FROM redrive.slot_recovery($1, $2, $3)", &params,
                &r, err))
        return false;
    wanted->unfinished = value_int8(r, 0, 0);
    wanted->in_doubt = value_int8(r, 0, 1);
    wanted->old_markers = value_int8(r, 0, 2);
    PQclear(r);
    return true;
}

bool
chunk_ends(struct store *store, const struct slot *slot, const char *chunk_id, const char *const *ends,
           size_t count, struct err *err)
{
    if (!ledger_may_change(store, err))
        return false;
    struct params params = {0};
    add_slot(&params, slot);
    param_uuid(&params, chunk_id);
    param_texts(&params, ends, count);
    return pg_do(store, FOR_WRITING, "SELECT redrive.chunk_ends($1, $2, $3, $4, $5)", &params, err);
}

static bool
ask_chunk_texts(struct store *store, const char *sql, const struct chunk *chunk, struct arena *arena,
                const char ***texts, size_t *count, struct err *err)
{
    struct params params = {0};
    param_uuid(&params, chunk->id);
    return pg_ask_texts(store, FOR_READING, sql, &params, arena, texts, count, err);
}

bool
chunk_ends_read(struct store *store, const struct chunk *chunk, struct arena *arena, const char ***ends,
                size_t *count, struct err *err)
{
    return ask_chunk_texts(store, "SELECT t FROM redrive.chunk c, unnest(c.ends) AS t WHERE c.id = $1", chunk,
                           arena, ends, count, err);
}

bool
chunk_topics(struct store *store, const struct chunk *chunk, struct arena *arena, const char ***topics,
             size_t *count, struct err *err)
{
    return ask_chunk_texts(store,
                           "SELECT t FROM redrive.chunk c, unnest(c.topics) AS t WHERE c.id = $1 ORDER BY t",
                           chunk, arena, topics, count, err);
}

bool
slots_count(struct store *store, struct monitor_slots *slots, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT count(*), count(*) FILTER (WHERE holder IS NOT NULL AND lease_until > "
                "clock_timestamp()), count(*) FILTER (WHERE is_suspended) FROM redrive.slot",
                NULL, &r, err))
        return false;
    *slots = (struct monitor_slots){
        .total = value_int8(r, 0, 0), .held = value_int8(r, 0, 1), .suspended = value_int8(r, 0, 2)};
    PQclear(r);
    return true;
}
