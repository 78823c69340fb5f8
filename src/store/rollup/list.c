// Lists of events (rollup.h) from the table of counted events. Its index has their order, series by series.
#include "store/rollup/rollup.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "store/rollup/categories.h"
#include "store/pg.h"

#define EPOCH_2000 946684800LL

// $1 limit, $2 and $3 the place, $4 and $5 bounds of created, $6 any fingerprint, or those of $7, $8 type, $9
// source, $10 topic; NULL: any
#define CELLS_OF_LIST                                                                                        \
    "SELECT c.no FROM redrive.rollup_series c WHERE ($6 OR c.group_key = ANY ($7)) AND "                     \
    "($8::text IS NULL OR c.event_type = $8) AND ($9::text IS NULL OR c.source_table = $9) AND "             \
    "($10::text IS NULL OR c.topic = $10)"

static const char newest_sql[] =
    "SELECT x.created, x.dlq_id FROM (" CELLS_OF_LIST
    ") c CROSS JOIN LATERAL (SELECT b.created, b.dlq_id FROM "
    "redrive.rollup_event b WHERE b.series = c.no AND b.created BETWEEN $4 AND $5 AND (b.created, b.dlq_id) "
    "< "
    "($2, $3)"
    " ORDER BY b.created DESC, b.dlq_id DESC LIMIT $1) x ORDER BY x.created DESC, x.dlq_id DESC LIMIT $1";
static const char oldest_sql[] =
    "SELECT x.created, x.dlq_id FROM (" CELLS_OF_LIST
    ") c CROSS JOIN LATERAL (SELECT b.created, b.dlq_id FROM "
    "redrive.rollup_event b WHERE b.series = c.no AND b.created BETWEEN $4 AND $5 AND (b.created, b.dlq_id) "
    "> "
    "($2, $3)"
    " ORDER BY b.created, b.dlq_id LIMIT $1) x ORDER BY x.created, x.dlq_id LIMIT $1";

// COPY takes no parameters: they are passed in settings of the transaction.
static const char settings_sql[] =
    "SELECT pg_catalog.set_config('redrive.series', ARRAY(" CELLS_OF_LIST ")::text, true),"
    " pg_catalog.set_config('redrive.created', $2::text, true), pg_catalog.set_config('redrive.dlq_id', "
    "$3::text, true),"
    " pg_catalog.set_config('redrive.low', $4::text, true), pg_catalog.set_config('redrive.high', $5::text, "
    "true),"
    " $1::int8";
#define COPY_WHERE                                                                                           \
    "COPY (SELECT b.dlq_id FROM redrive.rollup_event b WHERE b.series = "                                    \
    "ANY (pg_catalog.current_setting('redrive.series')::int4[]) AND b.created BETWEEN "                      \
    "pg_catalog.current_setting('redrive.low')::int4 AND pg_catalog.current_setting('redrive.high')::int4 "  \
    "AND (b.created, b.dlq_id)"
#define COPY_PLACE                                                                                           \
    "(pg_catalog.current_setting('redrive.created')::int4, "                                                 \
    "pg_catalog.current_setting('redrive.dlq_id')::int8)"
static const char other_newest_sql[] =
    COPY_WHERE " < " COPY_PLACE " ORDER BY b.created DESC, b.dlq_id DESC) TO STDOUT (FORMAT binary)";
static const char other_oldest_sql[] =
    COPY_WHERE " > " COPY_PLACE " ORDER BY b.created, b.dlq_id) TO STDOUT (FORMAT binary)";

// The bounds of created for the hour that the list asks for; all times where it asks for none.
static void
bounds_of(const struct rollup_list *list, int32_t *low, int32_t *high)
{
    *low = 0;
    *high = INT32_MAX;
    if (list->pivot != PIVOT_HOUR || !list->value)
        return;
    struct bytes text = bytes_of(list->value);
    if (bytes_ends(text, "Z"))
        text.len--;
    int64_t wall;
    bool is_date;
    *high = 0;
    if (!text.len || !time_parse_wall(text, &wall, &is_date, NULL))
        return;
    int64_t from = wall / US_PER_SECOND - EPOCH_2000;
    *low = from < 1 ? 1 : (int32_t)from;
    *high = (int32_t)(from + 3599);
}

// Each series is read in the order of its index up to the limit. Until the server has counted the events of
// a new rollup, it takes a series for a few rows, and would read and sort all of them.
static const char in_order_sql[] = "SELECT pg_catalog.set_config('enable_bitmapscan', 'off', true)";

static void
list_params(const struct rollup_list *list, size_t limit, struct params *params)
{
    int32_t low, high;
    bounds_of(list, &low, &high);
    param_int8(params, (int64_t)limit);
    param_int4(params, list->place.created);
    param_int8(params, list->place.id);
    param_int4(params, low);
    param_int4(params, high);

    uint64_t *groups = list->groups;
    size_t count = list->group_count;
    uint64_t keys[GROUPS_LISTED];
    if (list->pivot == PIVOT_ERROR && list->value) {
        count = groups_parse(bytes_of(list->value), keys);
        groups = keys;
    }
    param_bool(params, groups == NULL);
    param_ids(params, (const int64_t *)groups, groups ? count : 0);
    param_text(params, list->pivot == PIVOT_TYPE ? list->value : NULL);
    param_text(params, list->pivot == PIVOT_SOURCE ? list->value : NULL);
    param_text(params, list->pivot == PIVOT_TOPIC ? list->value : NULL);
}

bool
rollup_first_ids(struct store *store, struct rollup_list *list, int64_t *ids, size_t limit, size_t *count,
                 struct err *err)
{
    list->place = list->oldest_first ? (struct rollup_place){-1, INT64_MIN}
                                     : (struct rollup_place){INT32_MAX, INT64_MAX};
    struct params params = {0};
    list_params(list, limit, &params);
    PGresult *r = NULL;
    struct pg_step steps[] = {
        {.sql = in_order_sql},
        {.sql = list->oldest_first ? oldest_sql : newest_sql, .params = &params, .whole = &r}};
    *count = 0;
    bool ok = pg_run(store, FOR_READING, steps, sizeof steps / sizeof *steps, err);
    params_release(&params);
    if (!ok)
        return false;
    for (int i = 0; i < PQntuples(r); i++) {
        list->place = (struct rollup_place){value_int4(r, i, 0), value_int8(r, i, 1)};
        ids[(*count)++] = list->place.id;
    }
    PQclear(r);
    return true;
}

bool
rollup_other_ids(struct store *store, const struct rollup_list *list, rollup_ids_fn *each, void *context,
                 struct err *err)
{
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    struct params params = {0};
    list_params(list, 0, &params);
    bool ok =
        pg_do(store, FOR_SCANNING, settings_sql, &params, err) &&
        pg_copy_ids(store, list->oldest_first ? other_oldest_sql : other_newest_sql, each, context, err);
    pg_rollback(store);
    return ok;
}
