#include "store/operations/archive.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/pg.h"

static const char *const actions[] = {[ARCHIVE_MOVE] = "archive",
                                      [ARCHIVE_RESTORE] = "restore",
                                      [ARCHIVE_PURGE] = "purge",
                                      [ARCHIVE_DELETE] = "delete"};

// An instant in µs since 1970 as $2; NULL is none.
#define BEFORE "timestamptz 'epoch' + $2 * interval '1 microsecond'"

static void
add_instant(struct params *params, int64_t instant)
{
    if (instant == TIME_ABSENT)
        param_null(params);
    else
        param_int8(params, instant);
}

bool
archive_count(struct store *store, const struct archive_request *request, int64_t *count, struct err *err)
{
    if (!pg_has_schema(store, err))
        return false;
    struct params params = {0};
    PGresult *r;
    param_text(&params, actions[request->action]);
    add_instant(&params, request->before);
    if (request->ids)
        param_ids(&params, request->ids, request->count);
    else
        param_null(&params);
    if (!pg_ask(store, FOR_SCANNING, "SELECT redrive.archive_count($1, " BEFORE ", $3)", &params, &r, err))
        return false;
    *count = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

static bool
begin_job(struct store *store, const struct archive_request *request, int64_t *job, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_text(&params, actions[request->action]);
    add_instant(&params, request->before);
    param_text(&params, request->scope);
    param_text(&params, request->reason);
    param_int8(&params, request->chosen);
    bool deletes = request->action == ARCHIVE_PURGE || request->action == ARCHIVE_DELETE;
    if (!pg_ask(store, FOR_WRITING,
                deletes ? "SELECT redrive.archive_purge($1, " BEFORE ", $3, $4, $5)"
                        : "SELECT redrive.archive_begin($1, " BEFORE ", $3, $4, $5)",
                &params, &r, err))
        return false;
    *job = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

// How far a job is, and how large its next batch is.
struct archive_pace {
    const struct archive_request *request;
    int64_t job;
    size_t at;    // of the ids
    int64_t rows; // of the next batch
    int64_t taken;
    bool is_over;
};

// Whoever inserts while a batch is written waits for its WAL to be on the disk too, and whoever inserts later
// for the dirty pages that it left: so batches are small, a part of the time, and the larger part belongs to
// others. A million events take some minutes.
enum { ROWS_LEAST = 50, ROWS_FIRST = 50, ROWS_MOST = 1000, SHARE = 10 };
#define BATCH_TIME (3 * (US_PER_SECOND / 1000))

// The function's own time, in µs: the network's is no burden for the server.
#define TOOK "(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::int8"

static bool
take_batch(struct store *store, struct archive_pace *pace, int64_t *took, struct err *err)
{
    const struct archive_request *request = pace->request;
    struct params params = {0};
    PGresult *r;
    size_t left = request->count - pace->at;
    size_t count = left < (size_t)pace->rows ? left : (size_t)pace->rows;
    param_int8(&params, pace->job);
    if (request->ids)
        param_ids(&params, request->ids + pace->at, count);
    else
        param_int8(&params, pace->rows);
    if (!pg_ask(store, FOR_WRITING,
                request->ids ? "SELECT taken, 0::int8, " TOOK " FROM redrive.archive_ids($1, $2) AS taken"
                             : "SELECT taken, looked, " TOOK " FROM redrive.archive_step($1, $2)",
                &params, &r, err))
        return false;
    pace->at += count;
    pace->taken += value_int8(r, 0, 0);
    pace->is_over = request->ids ? pace->at == request->count : value_int8(r, 0, 1) == 0;
    *took = value_int8(r, 0, 2);
    PQclear(r);
    return true;
}

// The next batch is made to take as long as a batch shall. Others have the server until this one's time is a
// tenth of all; what the answer's way took is among it.
static void
keep_pace(struct archive_pace *pace, int64_t took, int64_t waited)
{
    if (took > BATCH_TIME)
        pace->rows = pace->rows / 2 > ROWS_LEAST ? pace->rows / 2 : ROWS_LEAST;
    else if (took < BATCH_TIME / 2 && pace->rows * 2 <= ROWS_MOST)
        pace->rows *= 2;
    int64_t rest = SHARE * took - waited;
    if (!pace->is_over && rest > 0)
        clock_sleep(rest < US_PER_SECOND ? rest : US_PER_SECOND);
}

static bool
end_job(struct store *store, struct archive_result *result, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, result->job);
    param_text(&params, result->was_interrupted ? "interrupted" : "done");
    if (!pg_ask(store, FOR_WRITING, "SELECT moved, deleted, skipped FROM redrive.archive_end($1, $2)",
                &params, &r, err))
        return false;
    result->moved = value_int8(r, 0, 0);
    result->deleted = value_int8(r, 0, 1);
    result->skipped = value_int8(r, 0, 2);
    PQclear(r);
    return true;
}

// Takes batches until all are taken, or the tick says no.
static bool
take_batches(struct store *store, struct archive_pace *pace, archive_tick_fn *tick, void *context,
             bool *was_interrupted, struct err *err)
{
    *was_interrupted = false;
    while (!pace->is_over && !*was_interrupted) {
        int64_t from = clock_mono(), took = 0;
        if (!take_batch(store, pace, &took, err))
            return false;
        keep_pace(pace, took, clock_mono() - from);
        *was_interrupted = !pace->is_over && tick && !tick(context, pace->taken);
    }
    return true;
}

bool
archive_run(struct store *store, const struct archive_request *request, archive_tick_fn *tick, void *context,
            struct archive_result *result, struct err *err)
{
    *result = (struct archive_result){0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err) ||
        !begin_job(store, request, &result->job, err))
        return false;
    struct archive_pace pace = {.request = request, .job = result->job, .rows = ROWS_FIRST};
    if (!take_batches(store, &pace, tick, context, &result->was_interrupted, err))
        return err_context(err, "stopped in the middle; the same command continues");
    return end_job(store, result, err);
}

bool
archive_continue(struct store *store, int64_t job, archive_tick_fn *tick, void *context,
                 struct archive_result *result, struct err *err)
{
    static const struct archive_request whatever_is_due = {0};
    struct archive_pace pace = {.request = &whatever_is_due, .job = job, .rows = ROWS_FIRST};
    *result = (struct archive_result){.job = job};
    return take_batches(store, &pace, tick, context, &result->was_interrupted, err) &&
           (result->was_interrupted || end_job(store, result, err));
}

bool
archive_holds(struct store *store, int64_t *events, int64_t *last_at, struct err *err)
{
    static const char sql[] =
        "SELECT coalesce(sum(CASE j.action WHEN 'archive' THEN j.moved WHEN 'restore' THEN -j.moved"
        " WHEN 'purge' THEN -j.deleted ELSE 0 END), 0)::int8, max(j.seen_at) FILTER (WHERE j.action = "
        "'archive') FROM redrive.archive_job j";
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, NULL, &r, err))
        return false;
    *events = value_int8(r, 0, 0);
    *last_at = value_time(r, 0, 1);
    PQclear(r);
    return true;
}

bool
archive_look_into(struct store *store, struct err *err)
{
    PGresult *r;
    struct arena arena = {0};
    if (!pg_ask(store, FOR_READING, "SELECT redrive.archive_table()", NULL, &r, err))
        return false;
    free(store->table.quoted);
    store->table.quoted = alloc_text(value_text(r, 0, 0, &arena));
    arena_release(&arena);
    PQclear(r);
    return true;
}
