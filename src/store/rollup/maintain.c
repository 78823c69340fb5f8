// The calls of a maintainer (rollup.h), except reading, which is in gather.c.
#include "store/rollup/rollup.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/fingerprint/rules.h"
#include "base/intern.h"
#include "store/mapping.h"
#include "store/pg.h"

#define EPOCH_2000 946684800LL

// The bucket of an hour ago.
static int32_t
hour_ago(void)
{
    return (int32_t)((clock_now() / US_PER_SECOND - EPOCH_2000 - 3600) / BUCKET_SECONDS);
}

bool
rollup_acquire(struct store *store, const char *maintainer, struct rollup_lease *lease, struct err *err)
{
    *lease = (struct rollup_lease){0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_text(&params, maintainer);
    param_int4(&params, group_rules_number(store->group_rules));
    param_text(&params, store->zone);
    param_int4(&params, hour_ago());
    PGresult *r;
    if (!pg_ask(
            store, FOR_WRITING,
            "SELECT is_mine, low, high, buckets_from, uncompared FROM redrive.rollup_acquire($1, $2, $3, $4)",
            &params, &r, err))
        return false;
    *lease = (struct rollup_lease){.is_mine = value_bool(r, 0, 0),
                                   .low = value_int8(r, 0, 1),
                                   .high = value_int8(r, 0, 2),
                                   .buckets_from = value_int4(r, 0, 3),
                                   .uncompared = value_int8(r, 0, 4)};
    PQclear(r);
    return true;
}

bool
rollup_release(struct store *store, const char *maintainer, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    return pg_do(store, FOR_WRITING, "SELECT redrive.rollup_release($1)", &params, err);
}

bool
rollup_add(struct store *store, const char *maintainer, const struct rollup_batch *batch, int64_t high,
           struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_ids(&params, batch->ids, batch->count);
    param_numbers(&params, batch->series, batch->count);
    param_numbers(&params, batch->created, batch->count);
    param_numbers(&params, batch->retries, batch->count);
    param_xids(&params, batch->versions, batch->count);
    param_int8(&params, high);
    return pg_do(store, FOR_WRITING,
                 "SELECT redrive.rollup_add($1, $2, $3, $4, $5, $6, nullif($7, '-9223372036854775808'))",
                 &params, err);
}

// Counts of pairs of numbers: series, at, count, series, at, …
struct counted {
    struct keys pairs;
    int32_t *counts;
    size_t capacity;
};

static void
count_pair(struct counted *counted, int32_t series, int32_t at)
{
    size_t before = counted->pairs.count;
    uint32_t i = keys_index(&counted->pairs, (uint64_t)(uint32_t)series << 32 | (uint32_t)at);
    if (i == before) {
        counted->counts = alloc_grow(counted->counts, i, &counted->capacity, sizeof *counted->counts);
        counted->counts[i] = 0;
    }
    counted->counts[i]++;
}

// Adds the counts as a parameter, and releases them.
static void
param_counted(struct params *params, struct counted *counted)
{
    int32_t *triples = alloc_array(size_mul(counted->pairs.count, 3), sizeof *triples);
    for (size_t i = 0; i < counted->pairs.count; i++) {
        triples[3 * i] = (int32_t)(counted->pairs.keys[i] >> 32);
        triples[3 * i + 1] = (int32_t)(counted->pairs.keys[i] & UINT32_MAX);
        triples[3 * i + 2] = counted->counts[i];
    }
    param_numbers(params, triples, counted->pairs.count * 3);
    free(triples);
    free(counted->counts);
    keys_release(&counted->pairs);
}

// The first and last time of each series, as the index of the counted events gives them.
struct time_bounds {
    struct keys series;
    struct time_bound {
        int32_t first, last;
        int64_t newest;
    } * each;
    size_t capacity;
};

static void
bound_series(struct time_bounds *bounds, int32_t series, int32_t created, int64_t id)
{
    size_t before = bounds->series.count;
    uint32_t i = keys_index(&bounds->series, (uint64_t)(uint32_t)series);
    if (i == before) {
        bounds->each = alloc_grow(bounds->each, i, &bounds->capacity, sizeof *bounds->each);
        bounds->each[i] = (struct time_bound){.first = created, .last = created, .newest = id};
        return;
    }
    struct time_bound *bound = &bounds->each[i];
    if (created && (bound->first == 0 || created < bound->first))
        bound->first = created;
    if (created > bound->last || (created == bound->last && id > bound->newest)) {
        bound->last = created;
        bound->newest = id;
    }
}

// Adds the bounds as four parameters, and releases them.
static void
param_bounds(struct params *params, struct time_bounds *bounds)
{
    size_t count = bounds->series.count;
    int32_t *series = alloc_array(count, sizeof *series);
    int32_t *first = alloc_array(count, sizeof *first);
    int32_t *last = alloc_array(count, sizeof *last);
    int64_t *newest = alloc_array(count, sizeof *newest);
    for (size_t i = 0; i < count; i++) {
        series[i] = (int32_t)bounds->series.keys[i];
        first[i] = bounds->each[i].first;
        last[i] = bounds->each[i].last;
        newest[i] = bounds->each[i].newest;
    }
    param_numbers(params, series, count);
    param_numbers(params, first, count);
    param_numbers(params, last, count);
    param_ids(params, newest, count);
    free(series);
    free(first);
    free(last);
    free(newest);
    free(bounds->each);
    keys_release(&bounds->series);
}

static void
swap_numbers(int32_t *a, int32_t *b)
{
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void
reverse_batch(struct rollup_batch *batch)
{
    for (size_t i = 0, j = batch->count; i + 1 < j; i++) {
        j--;
        int64_t id = batch->ids[i];
        batch->ids[i] = batch->ids[j];
        batch->ids[j] = id;
        swap_numbers(&batch->series[i], &batch->series[j]);
        swap_numbers(&batch->created[i], &batch->created[j]);
        swap_numbers(&batch->retries[i], &batch->retries[j]);
    }
}

bool
rollup_load(struct store *store, const char *maintainer, struct rollup_batch *batch, int64_t was_low,
            int64_t low, int32_t buckets_from, struct err *err)
{
    struct counted totals = {0}, hours = {0}, buckets = {0};
    struct time_bounds bounds = {0};
    reverse_batch(batch);
    for (size_t i = 0; i < batch->count; i++) {
        count_pair(&totals, batch->series[i], batch->retries[i]);
        count_pair(&hours, batch->series[i], batch->created[i] / 3600);
        if (batch->created[i] / BUCKET_SECONDS >= buckets_from)
            count_pair(&buckets, batch->series[i], batch->created[i] / BUCKET_SECONDS);
        bound_series(&bounds, batch->series[i], batch->created[i], batch->ids[i]);
    }
    struct params params = {0};
    param_text(&params, maintainer);
    param_ids(&params, batch->ids, batch->count);
    param_numbers(&params, batch->series, batch->count);
    param_numbers(&params, batch->created, batch->count);
    param_numbers(&params, batch->retries, batch->count);
    param_counted(&params, &totals);
    param_counted(&params, &hours);
    param_counted(&params, &buckets);
    param_bounds(&params, &bounds);
    param_int8(&params, was_low);
    param_int8(&params, low);
    return pg_do(store, FOR_WRITING,
                 "SELECT redrive.rollup_load($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
                 &params, err);
}

bool
rollup_move_batch(struct store *store, const char *maintainer, int64_t *left, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.rollup_move_batch($1)", &params, &r, err))
        return false;
    *left = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

// The number of elements of a one-dimensional array in binary form: dimensions, flags, type, length, lower
// bound, then length and value of each element. *first: the first value; values are `size` + 4 bytes apart.
static size_t
read_array(const PGresult *r, int column, size_t size, const char **first)
{
    enum { HEAD = 20, LENGTH = 4 };
    struct bytes array = value_bytes(r, 0, column);
    if (array.len < HEAD)
        return 0;
    *first = array.data + HEAD + LENGTH;
    return (array.len - HEAD) / (LENGTH + size);
}

// Reads ids from a column, and their versions from the next one.
static void
read_missing(const PGresult *r, int column, struct rollup_missing *missing)
{
    const char *ids, *versions;
    size_t count = read_array(r, column, 8, &ids);
    if (count == 0 || read_array(r, column + 1, 4, &versions) != count)
        return;
    missing->ids = alloc_array(count, sizeof *missing->ids);
    missing->versions = alloc_array(count, sizeof *missing->versions);
    for (size_t i = 0; i < count; i++) {
        missing->ids[i] = pg_read64(ids + i * 12);
        missing->versions[i] = pg_read32(versions + i * 8);
    }
    missing->count = count;
}

void
rollup_missing_release(struct rollup_missing *missing)
{
    free(missing->ids);
    free(missing->versions);
    *missing = (struct rollup_missing){0};
}

bool
rollup_arrivals(struct store *store, int64_t above, size_t limit, struct rollup_missing *missing,
                struct err *err)
{
    *missing = (struct rollup_missing){0};
    struct params params = {0};
    param_int8(&params, above);
    param_int8(&params, (int64_t)limit);
    PGresult *r;
    if (!mapping_look(store, err) ||
        !pg_ask(store, FOR_READING, "SELECT ids, versions FROM redrive.rollup_arrivals($1, $2)", &params, &r,
                err))
        return false;
    read_missing(r, 0, missing);
    PQclear(r);
    return true;
}

bool
rollup_drain(struct store *store, const char *maintainer, struct rollup_missing *missing, int64_t *looked_at,
             struct err *err)
{
    *missing = (struct rollup_missing){0};
    struct params params = {0};
    param_text(&params, maintainer);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT looked_at, missing, versions FROM redrive.rollup_drain($1)",
                &params, &r, err))
        return false;
    *looked_at = value_int8(r, 0, 0);
    read_missing(r, 1, missing);
    PQclear(r);
    return true;
}

bool
rollup_compare(struct store *store, const char *maintainer, int64_t upto, size_t rows,
               struct rollup_missing *missing, struct err *err)
{
    *missing = (struct rollup_missing){0};
    struct params params = {0};
    param_text(&params, maintainer);
    param_int8(&params, upto);
    param_int8(&params, (int64_t)rows);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT until, gone, missing, versions FROM redrive.rollup_compare($1, $2, $3)", &params, &r,
                err))
        return false;
    missing->until = value_int8(r, 0, 0);
    missing->gone = value_int8(r, 0, 1);
    read_missing(r, 2, missing);
    PQclear(r);
    return true;
}

bool
rollup_compare_written(struct store *store, const char *maintainer, size_t rows, int64_t changes,
                       enum rollup_compared *result, struct rollup_missing *missing, struct err *err)
{
    *missing = (struct rollup_missing){0};
    struct params params = {0};
    param_text(&params, maintainer);
    param_int8(&params, (int64_t)rows);
    param_int8(&params, changes);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT is_done, is_read, gone, missing, versions FROM redrive.rollup_compare_written($1, "
                "$2, $3)",
                &params, &r, err))
        return false;
    if (value_is_null(r, 0, 0))
        *result = COMPARED_NOT;
    else if (!value_bool(r, 0, 0))
        *result = COMPARED_SOME;
    else
        *result = value_bool(r, 0, 1) ? COMPARED_ALL : COMPARED_NOTHING;
    missing->gone = value_int8(r, 0, 2);
    read_missing(r, 3, missing);
    PQclear(r);
    return true;
}

bool
rollup_check(struct store *store, const char *maintainer, struct rollup_check *check, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT pending, ahead, difference FROM redrive.rollup_check($1)",
                &params, &r, err))
        return false;
    *check = (struct rollup_check){value_int8(r, 0, 0), value_int8(r, 0, 1), value_int8(r, 0, 2)};
    PQclear(r);
    return true;
}

bool
rollup_recount(struct store *store, const char *maintainer, size_t rows, int32_t *series, int64_t *wrong,
               struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int4(&params, *series);
    param_int8(&params, (int64_t)rows);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT until, wrong FROM redrive.rollup_recount($1, $2, $3)", &params,
                &r, err))
        return false;
    *series = value_int4(r, 0, 0);
    *wrong = value_int8(r, 0, 1);
    PQclear(r);
    return true;
}

bool
rollup_fold(struct store *store, const char *maintainer, int64_t rows, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int8(&params, rows);
    param_int4(&params, hour_ago());
    return pg_do(store, FOR_WRITING,
                 "SELECT redrive.rollup_fold($1, $2, $3), redrive.rollup_fold_outcomes($1, $2)", &params,
                 err);
}
