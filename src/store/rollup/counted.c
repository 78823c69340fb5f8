// Counted events one after another (rollup.h): four numbers a row, and what its series says once for all.
#include "store/rollup/rollup.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/intern.h"
#include "store/pg.h"
#include "store/rollup/categories.h"

#define EPOCH_2000 946684800LL
enum {
    NAMES_KEPT = 20000,
    SERIES_LOW = 1 << 22, // half of what can be packed: some may be added meanwhile
    SERIES_BITS = 40,     // behind created and retries
};

// What many series have in common; of the arena, absent where empty.
struct counted_origin {
    struct bytes type, source, topic;
};

// There may be one for each event.
struct counted_series {
    uint64_t group;
    const struct counted_origin *origin;
    struct bytes error_class; // of the arena; absent where empty
    enum category category;
};

struct rollup_names {
    const struct store *store;
    struct arena arena;
    struct keys numbers; // of the series in the database
    struct counted_series *series;
    size_t capacity;
    const struct counted_origin *last; // of the series that was read last; NULL: none
};

struct counted {
    struct rollup_names names;
    struct keys returned;            // ids of events that returned
    const struct group_range *range; // NULL: of all groups
    int32_t *chosen;                 // numbers of the series in it; heap
    size_t chosen_count, chosen_capacity;
    int32_t highest; // number of a series
    rollup_event_fn *each;
    void *context;
};

// By number, so that they are looked up once.
#define SERIES                                                                                               \
    "SELECT c.no, c.group_key, nullif(c.event_type, ''), nullif(c.source_table, ''), nullif(c.topic, ''),"   \
    " g.error_class, g.pattern FROM redrive.rollup_series c JOIN redrive.rollup_group g"                     \
    " ON g.key = c.group_key"
static const char series_sql[] = SERIES;
static const char some_series_sql[] = SERIES " WHERE c.no = ANY ($1)";
static const char returned_sql[] =
    "SELECT k.dlq_id FROM redrive.returned k JOIN redrive.rollup_event b ON b.dlq_id = k.dlq_id";
// COPY takes no parameters: the series are passed in a setting of the transaction.
static const char chosen_sql[] = "SELECT pg_catalog.set_config('redrive.series', $1::int4[]::text, true)";
// Without those that redrive closed itself, and that the maintainer has not looked at yet.
#define COPY(columns, condition)                                                                             \
    "COPY (WITH closed AS MATERIALIZED (SELECT due.id FROM (SELECT DISTINCT w.id FROM redrive.rollup_due,"   \
    "   unnest(dlq_ids) AS w (id)) due LEFT JOIN LATERAL (SELECT x.status FROM :\"events\" x"                \
    "   WHERE x.id = due.id LIMIT 1) e ON true WHERE e.status IS DISTINCT FROM 'PENDING')"                   \
    " SELECT " columns " FROM redrive.rollup_event b"                                                        \
    " WHERE NOT b.dlq_id IN (SELECT c.id FROM closed c)" condition ") TO STDOUT (FORMAT binary)"
// The same where there are none, which need not be looked for a million times.
#define COPY_ALL(columns, order)                                                                             \
    "COPY (SELECT " columns " FROM redrive.rollup_event b" order ") TO STDOUT (FORMAT binary)"
static const char has_due_sql[] = "SELECT EXISTS (SELECT FROM redrive.rollup_due)";
// A million rows take as long as they have columns: created and retries share one, of which neither is
// negative and retries are a byte; and series too, while their numbers are low (SERIES_LOW).
#define REST "b.created * 256::int8 + b.retries"
#define COLUMNS "b.dlq_id, " REST ", b.series"
#define PACKED "b.dlq_id, b.series * 1099511627776 + (" REST ")"
#define HIGHEST_FIRST " ORDER BY b.dlq_id DESC"
#define IS_CHOSEN " AND b.series = ANY (pg_catalog.current_setting('redrive.series')::int4[])"
enum { HAS_DUE = 2 };
static const char *const events_sql[] = {COPY_ALL(COLUMNS, HIGHEST_FIRST), COPY_ALL(PACKED, HIGHEST_FIRST),
                                         COPY(COLUMNS, HIGHEST_FIRST), COPY(PACKED, HIGHEST_FIRST)};
static const char *const events_of_sql[] = {COPY(COLUMNS, IS_CHOSEN HIGHEST_FIRST),
                                            COPY(PACKED, IS_CHOSEN HIGHEST_FIRST)};
// In the order of their index, which has all of them: the table is not read, and nothing is sorted.
static const char ids_of_sql[] = COPY("b.dlq_id", IS_CHOSEN);
// Keys are unsigned, and the column is not.
#define UNSIGNED(key) "(" key " # '-9223372036854775808')"
static const char range_sql[] =
    "SELECT pg_catalog.set_config('redrive.series', ARRAY(SELECT c.no FROM redrive.rollup_series c"
    " WHERE " UNSIGNED("c.group_key") " BETWEEN " UNSIGNED("$1") " AND " UNSIGNED("$2") ")::text, true)";

// The same as of the series before, where it is.
static const struct counted_origin *
origin_of(struct rollup_names *names, const PGresult *row)
{
    const struct counted_origin read = {value_bytes(row, 0, 2), value_bytes(row, 0, 3),
                                        value_bytes(row, 0, 4)};
    const struct counted_origin *last = names->last;
    if (last && bytes_equal(last->type, read.type) && bytes_equal(last->source, read.source) &&
        bytes_equal(last->topic, read.topic))
        return last;
    struct counted_origin *origin = arena_alloc(&names->arena, sizeof *origin);
    *origin =
        (struct counted_origin){arena_copy(&names->arena, read.type), arena_copy(&names->arena, read.source),
                                arena_copy(&names->arena, read.topic)};
    return names->last = origin;
}

static bool
read_series(void *context, const PGresult *row)
{
    struct rollup_names *names = context;
    size_t i = keys_index(&names->numbers, (uint64_t)value_int4(row, 0, 0));
    names->series = alloc_grow(names->series, i, &names->capacity, sizeof *names->series);
    uint64_t key = (uint64_t)value_int8(row, 0, 1);
    struct bytes error_class = value_bytes(row, 0, 5);
    names->series[i] = (struct counted_series){
        .group = key,
        .origin = origin_of(names, row),
        .error_class = arena_copy(&names->arena, error_class),
        .category = store_category(names->store, key, error_class, value_bytes(row, 0, 6), NULL),
    };
    return true;
}

static void
forget_names(struct rollup_names *names)
{
    keys_release(&names->numbers);
    arena_release(&names->arena);
    free(names->series);
    *names = (struct rollup_names){0};
}

// What an event has of its series. False: the series is newer than those that were read.
static bool
name_event(const struct rollup_names *names, int32_t number, struct event *event)
{
    int64_t at = keys_find(&names->numbers, (uint64_t)number);
    if (at < 0)
        return false;
    const struct counted_series *series = &names->series[at];
    event->group = series->group;
    event->category = series->category;
    event->event_type = series->origin->type;
    event->source_table = series->origin->source;
    event->topic = series->origin->topic;
    event->error_class = series->error_class;
    return true;
}

// The ends of the range also stand for what is beyond them.
static bool
is_exact(int32_t created)
{
    return created > 1 && created < INT32_MAX;
}

static bool
read_returned(void *context, const PGresult *row)
{
    struct counted *counted = context;
    keys_index(&counted->returned, (uint64_t)value_int8(row, 0, 0));
    return true;
}

static bool
read_event(void *context, const struct bytes fields[PG_FIELDS])
{
    struct counted *counted = context;
    enum { RETRIES_OR_MORE = 255 };
    int64_t id = field_int8(fields[0]), packed = field_int8(fields[1]);
    int32_t series = (int32_t)(packed >> SERIES_BITS), retries = packed & 0xff;
    int32_t created = (int32_t)(packed >> 8 & UINT32_MAX);
    if (bytes_present(fields[2]))
        series = field_int4(fields[2]);
    struct event event = {.id = id, .status = EVENT_PENDING, .created_wall = TIME_ABSENT};
    bool is_whole =
        is_exact(created) && retries < RETRIES_OR_MORE && name_event(&counted->names, series, &event);
    if (!is_whole)
        return counted->each(counted->context, &event, false);
    event.created_at = (created + EPOCH_2000) * US_PER_SECOND;
    event.retries.count = retries;
    event.known.returned = keys_find(&counted->returned, (uint64_t)id) >= 0;
    return counted->each(counted->context, &event, true);
}

static bool
read_counted_series(void *context, const PGresult *row)
{
    struct counted *counted = context;
    const struct group_range *range = counted->range;
    uint64_t group = (uint64_t)value_int8(row, 0, 1);
    int32_t number = value_int4(row, 0, 0);
    if (number > counted->highest)
        counted->highest = number;
    if (range && group >= range->low && group <= range->high) {
        counted->chosen = alloc_grow(counted->chosen, counted->chosen_count, &counted->chosen_capacity,
                                     sizeof *counted->chosen);
        counted->chosen[counted->chosen_count++] = number;
    }
    return read_series(&counted->names, row);
}

static bool
choose_series(struct store *store, const struct counted *counted, struct err *err)
{
    struct params params = {0};
    param_numbers(&params, counted->chosen, counted->chosen_count);
    return pg_do(store, FOR_SCANNING, chosen_sql, &params, err);
}

// The statement for these events: which columns, and whether any of them may be closed.
static bool
choose_statement(struct store *store, const struct counted *counted, const char **sql, struct err *err)
{
    PGresult *r;
    int is_packed = counted->highest < SERIES_LOW;
    *sql = events_of_sql[is_packed];
    if (counted->range)
        return choose_series(store, counted, err);
    if (!pg_ask(store, FOR_SCANNING, has_due_sql, NULL, &r, err))
        return false;
    *sql = events_sql[is_packed + (value_bool(r, 0, 0) ? HAS_DUE : 0)];
    PQclear(r);
    return true;
}

bool
rollup_events(struct store *store, const struct group_range *range, rollup_event_fn *each, void *context,
              struct err *err)
{
    struct counted counted = {.names = {.store = store}, .range = range, .each = each, .context = context};
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    const char *sql;
    bool ok = pg_stream(store, FOR_SCANNING, series_sql, NULL, read_counted_series, &counted, err) &&
              pg_stream(store, FOR_SCANNING, returned_sql, NULL, read_returned, &counted, err) &&
              choose_statement(store, &counted, &sql, err) &&
              pg_copy_rows(store, sql, read_event, &counted, err);
    pg_rollback(store);
    keys_release(&counted.returned);
    free(counted.chosen);
    forget_names(&counted.names);
    return ok;
}

bool
rollup_ids(struct store *store, const struct group_range *range, rollup_ids_fn *each, void *context,
           struct err *err)
{
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    struct params params = {0};
    param_int8(&params, (int64_t)range->low);
    param_int8(&params, (int64_t)range->high);
    bool ok = pg_do(store, FOR_SCANNING, range_sql, &params, err) &&
              pg_copy_ids(store, ids_of_sql, each, context, err);
    pg_rollback(store);
    return ok;
}

// --- page by page ---

struct rollup_names *
rollup_names_create(void)
{
    return alloc_bytes(sizeof(struct rollup_names));
}

void
rollup_names_destroy(struct rollup_names *names)
{
    if (!names)
        return;
    forget_names(names);
    free(names);
}

// Series of these rows that are not named yet, each once.
static size_t
find_unnamed(const struct rollup_names *names, const PGresult *r, int32_t *numbers)
{
    struct keys found = {0};
    for (int i = 0; i < PQntuples(r); i++) {
        int32_t number = value_int4(r, i, 1);
        if (keys_find(&names->numbers, (uint64_t)number) < 0)
            numbers[keys_index(&found, (uint64_t)number)] = number;
    }
    size_t count = found.count;
    keys_release(&found);
    return count;
}

// Those of the page alone: where each event is a group of its own, little memory does not hold all of them.
static bool
name_rows(struct store *store, struct rollup_names *names, const PGresult *r, struct err *err)
{
    int32_t *numbers = alloc_array((size_t)PQntuples(r), sizeof *numbers);
    size_t count = find_unnamed(names, r, numbers);
    bool ok = count == 0;
    if (!ok) {
        if (names->numbers.count + count > NAMES_KEPT) {
            forget_names(names);
            count = find_unnamed(names, r, numbers);
        }
        struct params params = {0};
        param_numbers(&params, numbers, count);
        names->store = store;
        ok = pg_stream(store, FOR_SCANNING, some_series_sql, &params, read_series, names, err);
    }
    free(numbers);
    return ok;
}

bool
rollup_rows(struct store *store, struct rollup_names *names, int64_t upto, size_t limit, rollup_row_fn *each,
            void *context, struct rollup_page *page, struct err *err)
{
    static const char sql[] =
        "SELECT b.dlq_id, b.series, b.created, b.retries::int4 FROM redrive.rollup_event b"
        " WHERE b.dlq_id <= $1 ORDER BY b.dlq_id DESC LIMIT $2";
    struct params params = {0};
    param_int8(&params, upto);
    param_int8(&params, (int64_t)limit);
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING, sql, &params, &r, err))
        return false;
    int count = PQntuples(r);
    *page = (struct rollup_page){(size_t)count, count ? value_int8(r, count - 1, 0) : upto};
    bool ok = name_rows(store, names, r, err);
    for (int i = 0; ok && i < count; i++) {
        int32_t created = value_int4(r, i, 2);
        struct event event = {
            .id = value_int8(r, i, 0),
            .status = EVENT_PENDING,
            .created_at = is_exact(created) ? (created + EPOCH_2000) * US_PER_SECOND : TIME_ABSENT,
            .created_wall = TIME_ABSENT,
            .retries.count = value_int4(r, i, 3),
        };
        if (name_event(names, value_int4(r, i, 1), &event))
            each(context, &event);
    }
    PQclear(r);
    return ok;
}
