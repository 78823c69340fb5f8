// The maintainer's half of rollup.h; what it reads stands in rollup_gather.c.
#include "store/rollup/rollup.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/fingerprint/rules.h"
#include "base/intern.h"
#include "store/pg.h"

#define EPOCH_2000 946684800LL

// The slot in which an hour ago was.
static int32_t
hour_ago(void)
{
    return (int32_t)((clock_now() / US_PER_SECOND - EPOCH_2000 - 3600) / SLOT_SECONDS);
}

bool
rollup_claim(struct store *store, const char *maintainer, struct rollup_claim *claim, struct err *err)
{
    *claim = (struct rollup_claim){0};
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
    *claim = (struct rollup_claim){.is_mine = value_bool(r, 0, 0),
                                   .low = value_int8(r, 0, 1),
                                   .high = value_int8(r, 0, 2),
                                   .slots_from = value_int4(r, 0, 3),
                                   .unswept = value_int8(r, 0, 4)};
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
rollup_add(struct store *store, const char *maintainer, const struct rollup_slice *slice, int64_t high,
           struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_ids(&params, slice->ids, slice->count);
    param_numbers(&params, slice->cells, slice->count);
    param_numbers(&params, slice->created, slice->count);
    param_numbers(&params, slice->retries, slice->count);
    param_xids(&params, slice->versions, slice->count);
    param_int8(&params, high);
    return pg_do(store, FOR_WRITING,
                 "SELECT redrive.rollup_add($1, $2, $3, $4, $5, $6, nullif($7, '-9223372036854775808'))",
                 &params, err);
}

// Numbers that belong together counted: cell, at, count, cell, at, …
struct counted {
    struct keys pairs;
    int32_t *counts;
    size_t capacity;
};

static void
count_pair(struct counted *counted, int32_t cell, int32_t at)
{
    size_t before = counted->pairs.count;
    uint32_t i = keys_index(&counted->pairs, (uint64_t)(uint32_t)cell << 32 | (uint32_t)at);
    if (i == before) {
        counted->counts = alloc_grow(counted->counts, i, &counted->capacity, sizeof *counted->counts);
        counted->counts[i] = 0;
    }
    counted->counts[i]++;
}

// As a parameter; releases it.
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

// The ends of each cell's times, as rollup_event's index would tell them.
struct bounds {
    struct keys cells;
    struct bound {
        int32_t first, last;
        int64_t newest;
    } * each;
    size_t capacity;
};

static void
bound_cell(struct bounds *bounds, int32_t cell, int32_t created, int64_t id)
{
    size_t before = bounds->cells.count;
    uint32_t i = keys_index(&bounds->cells, (uint64_t)(uint32_t)cell);
    if (i == before) {
        bounds->each = alloc_grow(bounds->each, i, &bounds->capacity, sizeof *bounds->each);
        bounds->each[i] = (struct bound){.first = created, .last = created, .newest = id};
        return;
    }
    struct bound *bound = &bounds->each[i];
    if (created && (bound->first == 0 || created < bound->first))
        bound->first = created;
    if (created > bound->last || (created == bound->last && id > bound->newest)) {
        bound->last = created;
        bound->newest = id;
    }
}

// As four parameters; releases them.
static void
param_bounds(struct params *params, struct bounds *bounds)
{
    size_t count = bounds->cells.count;
    int32_t *cells = alloc_array(count, sizeof *cells);
    int32_t *first = alloc_array(count, sizeof *first);
    int32_t *last = alloc_array(count, sizeof *last);
    int64_t *newest = alloc_array(count, sizeof *newest);
    for (size_t i = 0; i < count; i++) {
        cells[i] = (int32_t)bounds->cells.keys[i];
        first[i] = bounds->each[i].first;
        last[i] = bounds->each[i].last;
        newest[i] = bounds->each[i].newest;
    }
    param_numbers(params, cells, count);
    param_numbers(params, first, count);
    param_numbers(params, last, count);
    param_ids(params, newest, count);
    free(cells);
    free(first);
    free(last);
    free(newest);
    free(bounds->each);
    keys_release(&bounds->cells);
}

static void
swap_numbers(int32_t *a, int32_t *b)
{
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void
turn_round(struct rollup_slice *slice)
{
    for (size_t i = 0, j = slice->count; i + 1 < j; i++) {
        j--;
        int64_t id = slice->ids[i];
        slice->ids[i] = slice->ids[j];
        slice->ids[j] = id;
        swap_numbers(&slice->cells[i], &slice->cells[j]);
        swap_numbers(&slice->created[i], &slice->created[j]);
        swap_numbers(&slice->retries[i], &slice->retries[j]);
    }
}

bool
rollup_fill(struct store *store, const char *maintainer, struct rollup_slice *slice, int64_t was_low,
            int64_t low, int32_t slots_from, struct err *err)
{
    struct counted totals = {0}, hours = {0}, slots = {0};
    struct bounds bounds = {0};
    turn_round(slice);
    for (size_t i = 0; i < slice->count; i++) {
        count_pair(&totals, slice->cells[i], slice->retries[i]);
        count_pair(&hours, slice->cells[i], slice->created[i] / 3600);
        if (slice->created[i] / SLOT_SECONDS >= slots_from)
            count_pair(&slots, slice->cells[i], slice->created[i] / SLOT_SECONDS);
        bound_cell(&bounds, slice->cells[i], slice->created[i], slice->ids[i]);
    }
    struct params params = {0};
    param_text(&params, maintainer);
    param_ids(&params, slice->ids, slice->count);
    param_numbers(&params, slice->cells, slice->count);
    param_numbers(&params, slice->created, slice->count);
    param_numbers(&params, slice->retries, slice->count);
    param_counted(&params, &totals);
    param_counted(&params, &hours);
    param_counted(&params, &slots);
    param_bounds(&params, &bounds);
    param_int8(&params, was_low);
    param_int8(&params, low);
    return pg_do(store, FOR_WRITING,
                 "SELECT redrive.rollup_load($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
                 &params, err);
}

bool
rollup_list_slice(struct store *store, const char *maintainer, int64_t *left, struct err *err)
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

// The elements of a one-dimensional array in binary form: dimensions, flags, type, length, lower bound, then
// length and value of each. *first: that of the first value; they follow each other by 4 bytes more than
// `size`.
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

// Ids, and versions in the column behind them.
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
    if (!pg_ask(store, FOR_READING, "SELECT ids, versions FROM redrive.rollup_arrivals($1, $2)", &params, &r,
                err))
        return false;
    read_missing(r, 0, missing);
    PQclear(r);
    return true;
}

bool
rollup_reconcile(struct store *store, const char *maintainer, struct rollup_missing *missing,
                 int64_t *looked_at, struct err *err)
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
rollup_recount(struct store *store, const char *maintainer, size_t rows, int32_t *cell, int64_t *wrong,
               struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int4(&params, *cell);
    param_int8(&params, (int64_t)rows);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT until, wrong FROM redrive.rollup_recount($1, $2, $3)", &params,
                &r, err))
        return false;
    *cell = value_int4(r, 0, 0);
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
