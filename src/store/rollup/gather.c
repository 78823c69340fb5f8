// Reading of a maintainer (rollup.h): pending events, each with its fingerprint and its series.
#include "store/rollup/rollup.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"
#include "core/fingerprint/fingerprint.h"
#include "core/fingerprint/rules.h"
#include "base/intern.h"
#include "store/events/unreadable.h"
#include "store/pg.h"

#define EPOCH_2000 946684800LL
enum { SAMPLE_BYTES = 300, SERIES_FULL = 200000 };
enum { TOLD_AT_ONCE = 2000 }; // the buffers of a connection never shrink

// New series and groups of a batch. The database learns them before their events are counted.
struct rollup_news {
    struct arena arena;
    struct arena scratch; // of one group
    int64_t *groups;      // of the series
    const char **types, **sources, **topics;
    size_t count, capacity;
    int64_t *keys; // of the groups
    const char **classes, **patterns, **samples, **frames;
    size_t key_count, key_capacity;
};

struct rollup_series {
    struct keys hashes; // of the series' columns
    int32_t *numbers;   // of the series in the database, by index in hashes
    size_t capacity;
    struct keys groups; // that the database has descriptions of
};

struct rollup_series *
rollup_series_create(void)
{
    return alloc_bytes(sizeof(struct rollup_series));
}

static void
series_forget(struct rollup_series *series)
{
    keys_release(&series->hashes);
    keys_release(&series->groups);
    free(series->numbers);
    *series = (struct rollup_series){0};
}

void
rollup_series_destroy(struct rollup_series *series)
{
    if (!series)
        return;
    series_forget(series);
    free(series);
}

void
rollup_batch_release(struct rollup_batch *batch)
{
    free(batch->ids);
    free(batch->series);
    free(batch->created);
    free(batch->retries);
    free(batch->versions);
    *batch = (struct rollup_batch){0};
}

static void
news_release(struct rollup_news *news)
{
    arena_release(&news->arena);
    arena_release(&news->scratch);
    free(news->groups);
    free(news->types);
    free(news->sources);
    free(news->topics);
    free(news->keys);
    free(news->classes);
    free(news->patterns);
    free(news->samples);
    free(news->frames);
}

static void
news_grow_series(struct rollup_news *news)
{
    if (news->count < news->capacity)
        return;
    news->capacity = news->capacity ? news->capacity * 2 : 64;
    news->groups = alloc_resize(news->groups, news->capacity, sizeof *news->groups);
    news->types = alloc_resize(news->types, news->capacity, sizeof *news->types);
    news->sources = alloc_resize(news->sources, news->capacity, sizeof *news->sources);
    news->topics = alloc_resize(news->topics, news->capacity, sizeof *news->topics);
}

static void
news_grow_groups(struct rollup_news *news)
{
    if (news->key_count < news->key_capacity)
        return;
    news->key_capacity = news->key_capacity ? news->key_capacity * 2 : 64;
    news->keys = alloc_resize(news->keys, news->key_capacity, sizeof *news->keys);
    news->classes = alloc_resize(news->classes, news->key_capacity, sizeof *news->classes);
    news->patterns = alloc_resize(news->patterns, news->key_capacity, sizeof *news->patterns);
    news->samples = alloc_resize(news->samples, news->key_capacity, sizeof *news->samples);
    news->frames = alloc_resize(news->frames, news->key_capacity, sizeof *news->frames);
}

static const char *
cut_text(struct arena *arena, struct bytes text, size_t most)
{
    text.len = text.len > most ? utf8_cut(text, most) : text.len;
    return arena_text(arena, text);
}

static void
rollup_gather_describe(struct rollup_news *news, uint64_t key, const struct fingerprint_input *input)
{
    news_grow_groups(news);
    struct fingerprint print = fingerprint_explain(input, &news->scratch);
    struct bytes line = input->message;
    size_t end = bytes_find(line, BYTES("\n"), 0);
    line.len = end == SIZE_MAX ? line.len : end;
    size_t i = news->key_count++;
    news->keys[i] = (int64_t)key;
    news->classes[i] = arena_text(&news->arena, print.root_class);
    news->patterns[i] = arena_text(&news->arena, bytes_present(print.pattern) ? print.pattern : BYTES(""));
    news->samples[i] = cut_text(&news->arena, bytes_present(line) ? line : BYTES(""), SAMPLE_BYTES);
    news->frames[i] = arena_text(&news->arena, print.frame);
    arena_reset(&news->scratch);
}

struct gathering {
    const struct group_rules *rules;
    struct rollup_series *series;
    struct rollup_batch *batch;
    struct rollup_news news;
};

// The columns of a pending event that its group and series follow from.
struct pending {
    int64_t id, created;
    struct bytes type, source, topic, error, stack;
    int32_t retries, version;
};

static uint64_t
series_hash(uint64_t group, const struct bytes texts[3])
{
    uint64_t hash = group;
    for (int i = 0; i < 3; i++)
        hash =
            (hash ^ (texts[i].len ? bytes_hash(texts[i]) : 0)) * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)i;
    return hash;
}

static uint32_t
find_series(struct gathering *gathering, uint64_t group, const struct bytes texts[3])
{
    struct rollup_series *series = gathering->series;
    size_t before = series->hashes.count;
    uint32_t index = keys_index(&series->hashes, series_hash(group, texts));
    if (index < before)
        return index;
    series->numbers = alloc_grow(series->numbers, index, &series->capacity, sizeof *series->numbers);
    series->numbers[index] = 0;

    struct rollup_news *news = &gathering->news;
    news_grow_series(news);
    const char **names[] = {news->types, news->sources, news->topics};
    for (int i = 0; i < 3; i++)
        names[i][news->count] = texts[i].len ? arena_text(&news->arena, texts[i]) : "";
    news->groups[news->count++] = (int64_t)group;
    return index;
}

// Seconds since 2000, as the rollup counts them. 0 is absent; earlier times are the first second.
static int32_t
seconds_since_2000(int64_t instant)
{
    if (instant == TIME_ABSENT)
        return 0;
    int64_t seconds = instant / US_PER_SECOND - EPOCH_2000;
    return seconds < 1 ? 1 : seconds > INT32_MAX ? INT32_MAX : (int32_t)seconds;
}

static void
batch_grow(struct rollup_batch *batch)
{
    if (batch->count < batch->capacity)
        return;
    batch->capacity = batch->capacity ? batch->capacity * 2 : 512;
    batch->ids = alloc_resize(batch->ids, batch->capacity, sizeof *batch->ids);
    batch->series = alloc_resize(batch->series, batch->capacity, sizeof *batch->series);
    batch->created = alloc_resize(batch->created, batch->capacity, sizeof *batch->created);
    batch->retries = alloc_resize(batch->retries, batch->capacity, sizeof *batch->retries);
    batch->versions = alloc_resize(batch->versions, batch->capacity, sizeof *batch->versions);
}

static void
rollup_gather_gather(struct gathering *gathering, const struct pending *event)
{
    const struct fingerprint_input input = {
        .message = event->error, .stack = event->stack, .rules = gathering->rules};
    const struct bytes texts[3] = {event->type, event->source, event->topic};
    uint64_t key = fingerprint_key(&input);
    size_t known = gathering->series->groups.count;
    if (keys_index(&gathering->series->groups, key) == known)
        rollup_gather_describe(&gathering->news, key, &input);

    struct rollup_batch *batch = gathering->batch;
    batch_grow(batch);
    size_t i = batch->count++;
    batch->ids[i] = event->id;
    batch->series[i] = (int32_t)find_series(gathering, key, texts);
    batch->created[i] = seconds_since_2000(event->created);
    batch->retries[i] = event->retries < 0 ? 0 : event->retries > 255 ? 255 : event->retries;
    batch->versions[i] = event->version;
}

// Columns come in the order of GATHER_COLUMNS, and the version.
static bool
gather_row(void *context, const PGresult *row)
{
    const struct pending event = {.id = value_int8(row, 0, 0),
                                  .type = value_bytes(row, 0, 1),
                                  .source = value_bytes(row, 0, 2),
                                  .topic = value_bytes(row, 0, 3),
                                  .retries = value_int4(row, 0, 4),
                                  .created = value_time(row, 0, 5),
                                  .error = value_bytes(row, 0, 6),
                                  .stack = value_bytes(row, 0, 7),
                                  .version = value_int4(row, 0, 8)};
    rollup_gather_gather(context, &event);
    return true;
}

static bool
gather_fields(void *context, const struct bytes fields[PG_FIELDS])
{
    const struct pending event = {.id = field_int8(fields[0]),
                                  .type = fields[1],
                                  .source = fields[2],
                                  .topic = fields[3],
                                  .retries = field_int4(fields[4]),
                                  .created = field_time(fields[5]),
                                  .error = fields[6],
                                  .stack = fields[7]};
    rollup_gather_gather(context, &event);
    return true;
}

static bool
describe_groups(struct store *store, const char *maintainer, const struct rollup_news *news, size_t from,
                struct err *err)
{
    size_t count = news->key_count - from < TOLD_AT_ONCE ? news->key_count - from : TOLD_AT_ONCE;
    struct params params = {0};
    param_text(&params, maintainer);
    param_ids(&params, news->keys + from, count);
    param_texts(&params, news->classes + from, count);
    param_texts(&params, news->patterns + from, count);
    param_texts(&params, news->samples + from, count);
    param_texts(&params, news->frames + from, count);
    return pg_do(store, FOR_WRITING, "SELECT redrive.rollup_describe($1, $2, $3, $4, $5, $6)", &params, err);
}

// Gets the numbers of new series.
static bool
number_series(struct store *store, const char *maintainer, const struct rollup_news *news, size_t from,
              int32_t *numbers, struct err *err)
{
    size_t count = news->count - from < TOLD_AT_ONCE ? news->count - from : TOLD_AT_ONCE;
    struct params params = {0};
    param_text(&params, maintainer);
    param_ids(&params, news->groups + from, count);
    param_texts(&params, news->types + from, count);
    param_texts(&params, news->sources + from, count);
    param_texts(&params, news->topics + from, count);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT w.no FROM unnest(redrive.rollup_series_of($1, $2, $3, $4, $5)) WITH ORDINALITY"
                " AS w (no, place) ORDER BY w.place",
                &params, &r, err))
        return false;
    bool ok =
        (size_t)PQntuples(r) == count || err_set(err, ERR_INTERNAL, "series of the rollup were not made");
    for (size_t i = 0; ok && i < count; i++)
        numbers[from + i] = value_int4(r, (int)i, 0);
    PQclear(r);
    return ok;
}

// Tells the database the new series and groups, and gets the numbers of the series.
static bool
publish_news(struct store *store, const char *maintainer, struct gathering *gathering, struct err *err)
{
    const struct rollup_news *news = &gathering->news;
    struct rollup_series *series = gathering->series;
    size_t first = series->hashes.count - news->count;
    bool ok = true;
    for (size_t from = 0; ok && from < news->key_count; from += TOLD_AT_ONCE)
        ok = describe_groups(store, maintainer, news, from, err);
    for (size_t from = 0; ok && from < news->count; from += TOLD_AT_ONCE)
        ok = number_series(store, maintainer, news, from, series->numbers + first, err);
    return ok;
}

// Texts that PostgreSQL cannot return count as absent.
#define GATHER_COLUMNS(zone, bad_errors, bad_stacks)                                                         \
    "SELECT e.id::int8, e.event_type::text, e.source_table::text, e.kafka_topic::text, "                     \
    "coalesce(e.retry_count, 0)::int4, e.created_at::timestamp AT TIME ZONE " zone                           \
    ", CASE WHEN e.id <> ALL (" bad_errors ") THEN e.error_message::text END"                                \
    ", CASE WHEN e.id <> ALL (" bad_stacks ") THEN e.stack_trace::text END"

static const char these_sql[] = GATHER_COLUMNS(
    "$1", "$4",
    "$5") ", w.version FROM unnest($2::int8[], $3::xid[]) AS w (id, version) CROSS JOIN LATERAL (SELECT "
          "x.id, x.event_type, x.source_table, x.kafka_topic, x.retry_count, x.created_at, x.error_message, "
          "x.stack_trace FROM :\"events\" x WHERE x.id = w.id AND x.status = 'PENDING' LIMIT 1) e";

// COPY takes no parameters: they are passed in settings of the transaction.
static const char below_settings_sql[] =
    "SELECT pg_catalog.set_config('redrive.zone', $1, true), pg_catalog.set_config('redrive.limit', "
    "$2::text, true), pg_catalog.set_config('redrive.upto', $3::text, true), "
    "pg_catalog.set_config('redrive.from', $4::text, true), "
    "pg_catalog.set_config('redrive.bad_errors', $5::int8[]::text, true), "
    "pg_catalog.set_config('redrive.bad_stacks', $6::int8[]::text, true)";
static const char below_sql[] =
    "COPY (" GATHER_COLUMNS("(SELECT pg_catalog.current_setting('redrive.zone'))",
                            "(SELECT pg_catalog.current_setting('redrive.bad_errors'))::int8[]",
                            "(SELECT pg_catalog.current_setting('redrive.bad_stacks'))::int8[]") //
    " FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id <= "
    "pg_catalog.current_setting('redrive.upto')::int8 AND e.id >= "
    "pg_catalog.current_setting('redrive.from')::int8 ORDER BY e.id DESC LIMIT "
    "pg_catalog.current_setting('redrive.limit')::int8) TO STDOUT (FORMAT binary)";

static bool
read_below(struct store *store, const struct rollup_range *range, struct gathering *gathering,
           struct err *err)
{
    struct params params = {0};
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    param_text(&params, store->zone);
    param_int8(&params, (int64_t)range->limit);
    param_int8(&params, range->before_id);
    param_int8(&params, range->after_id == ROLLUP_END ? INT64_MIN : range->after_id + 1);
    unreadable_param(store, LONG_ERROR, &params);
    unreadable_param(store, LONG_STACK, &params);
    bool ok = pg_do(store, FOR_SCANNING, below_settings_sql, &params, err) &&
              pg_copy_rows(store, below_sql, gather_fields, gathering, err);
    pg_rollback(store);
    return ok;
}

static bool
read_these(struct store *store, const struct rollup_range *range, struct gathering *gathering,
           struct err *err)
{
    struct params params = {0};
    param_text(&params, store->zone);
    param_ids(&params, range->ids, range->id_count);
    param_xids(&params, range->versions, range->id_count);
    unreadable_param(store, LONG_ERROR, &params);
    unreadable_param(store, LONG_STACK, &params);
    return pg_stream(store, FOR_READING, these_sql, &params, gather_row, gathering, err);
}

// The range failed: looks for texts that PostgreSQL cannot return. True: some were found, so that reading it
// again may work.
static bool
find_unreadable_in(struct store *store, const struct rollup_range *range)
{
    const unsigned texts = 1u << LONG_ERROR | 1u << LONG_STACK;
    if (range->ids)
        return unreadable_find(store, texts, range->ids, range->id_count);
    struct params params = {0};
    param_int8(&params, range->before_id);
    param_int8(&params, range->after_id ? range->after_id + 1 : INT64_MIN);
    param_int8(&params, (int64_t)range->limit);
    struct err ignored = {0};
    PGresult *r;
    if (!pg_ask(
            store, FOR_SCANNING,
            "SELECT e.id::int8 FROM :\"events\" e WHERE e.status = 'PENDING' AND e.id <= $1 AND e.id >= $2"
            " ORDER BY e.id DESC LIMIT $3",
            &params, &r, &ignored))
        return false;
    size_t count = (size_t)PQntuples(r);
    int64_t *ids = alloc_array(count + 1, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = value_int8(r, (int)i, 0);
    PQclear(r);
    bool is_found = unreadable_find(store, texts, ids, count);
    free(ids);
    return is_found;
}

static bool
read_range(struct store *store, const struct rollup_range *range, struct gathering *gathering,
           struct err *err)
{
    struct err failure = {0};
    if ((range->ids ? read_these : read_below)(store, range, gathering, &failure))
        return true;
    if (!unreadable_is_cause(&failure) || !find_unreadable_in(store, range)) {
        if (err && !err_is_set(err))
            *err = failure;
        return false;
    }
    news_release(&gathering->news);
    series_forget(gathering->series); // some are not told to the database
    gathering->news = (struct rollup_news){0};
    gathering->batch->count = 0;
    return (range->ids ? read_these : read_below)(store, range, gathering, err);
}

int64_t
rollup_low(const struct rollup_batch *batch, size_t limit)
{
    bool is_end = batch->count < limit || batch->ids[batch->count - 1] == INT64_MIN;
    return is_end ? ROLLUP_END : batch->ids[batch->count - 1] - 1;
}

bool
rollup_rows_below(struct store *store, int64_t upto, size_t rows, int64_t *id, struct err *err)
{
    struct params params = {0};
    param_int8(&params, upto);
    param_int8(&params, (int64_t)rows);
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT e.id::int8 FROM :\"events\" e WHERE e.id <= $1 ORDER BY e.id DESC OFFSET $2 LIMIT 1",
                &params, &r, err))
        return false;
    *id = PQntuples(r) ? value_int8(r, 0, 0) : ROLLUP_END;
    PQclear(r);
    return true;
}

bool
rollup_gather(struct store *store, const char *maintainer, struct rollup_series *series,
              const struct rollup_range *range, struct rollup_batch *batch, struct err *err)
{
    batch->count = 0;
    if (range->ids && range->id_count == 0)
        return true;
    if (series->hashes.count > SERIES_FULL || series->groups.count > SERIES_FULL)
        series_forget(series);

    struct gathering gathering = {.rules = store->group_rules, .series = series, .batch = batch};
    bool ok = read_range(store, range, &gathering, err) && publish_news(store, maintainer, &gathering, err);
    for (size_t i = 0; ok && i < batch->count; i++)
        batch->series[i] = series->numbers[batch->series[i]];
    batch->described = gathering.news.key_count;
    news_release(&gathering.news);
    if (!ok)
        series_forget(series); // the database may not know some
    return ok;
}

bool
rollup_prune(struct store *store, const char *maintainer, struct rollup_series *series,
             struct rollup_pruning *pruning, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int4(&params, pruning->above);
    param_int8(&params, (int64_t)pruning->rows);
    param_int8(&params, pruning->idle_us);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT until, gone FROM redrive.rollup_prune($1, $2, $3, $4 * interval '1 microsecond')",
                &params, &r, err)) {
        series_forget(series); // it may have been done
        return false;
    }
    pruning->above = value_int4(r, 0, 0);
    pruning->gone = value_int8(r, 0, 1);
    if (pruning->gone > 0)
        series_forget(series);
    PQclear(r);
    return true;
}
