// What a keeper reads: pending events, each with its fingerprint and the cell that it is counted in.
#include "store/rollup.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"
#include "core/fingerprint.h"
#include "core/group_rules.h"
#include "core/words.h"
#include "store/pg.h"

#define EPOCH_2000 946684800LL
enum { SAMPLE_BYTES = 300, CELLS_FULL = 200000 };

// What is new in a slice, to be made known before its events are counted.
struct news {
    struct arena arena;
    int64_t *groups;
    const char **types, **sources, **topics;
    size_t count, capacity;
    int64_t *keys;
    const char **classes, **patterns, **samples, **frames;
    size_t key_count, key_capacity;
};

struct rollup_cells {
    struct keys hashes; // of cells
    int32_t *numbers;   // by index in hashes
    size_t capacity;
    struct keys groups; // those described
};

struct rollup_cells *
rollup_cells_create(void)
{
    return alloc_bytes(sizeof(struct rollup_cells));
}

static void
cells_forget(struct rollup_cells *cells)
{
    keys_release(&cells->hashes);
    keys_release(&cells->groups);
    free(cells->numbers);
    *cells = (struct rollup_cells){0};
}

void
rollup_cells_destroy(struct rollup_cells *cells)
{
    if (!cells)
        return;
    cells_forget(cells);
    free(cells);
}

void
rollup_slice_release(struct rollup_slice *slice)
{
    free(slice->ids);
    free(slice->cells);
    free(slice->created);
    free(slice->retries);
    *slice = (struct rollup_slice){0};
}

static void
news_release(struct news *news)
{
    arena_release(&news->arena);
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
news_grow_cells(struct news *news)
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
news_grow_groups(struct news *news)
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
describe(struct news *news, uint64_t key, const struct fingerprint_input *input)
{
    news_grow_groups(news);
    struct fingerprint print = fingerprint_explain(input, &news->arena);
    struct bytes line = input->message;
    size_t end = bytes_find(line, BYTES("\n"), 0);
    line.len = end == SIZE_MAX ? line.len : end;
    size_t i = news->key_count++;
    news->keys[i] = (int64_t)key;
    news->classes[i] = arena_text(&news->arena, print.root_class);
    news->patterns[i] = arena_text(&news->arena, bytes_present(print.pattern) ? print.pattern : BYTES(""));
    news->samples[i] = cut_text(&news->arena, bytes_present(line) ? line : BYTES(""), SAMPLE_BYTES);
    news->frames[i] = arena_text(&news->arena, print.frame);
}

struct gathering {
    const struct group_rules *rules;
    struct rollup_cells *cells;
    struct rollup_slice *slice;
    struct news news;
};

enum {
    COLUMN_ID,
    COLUMN_TYPE,
    COLUMN_SOURCE,
    COLUMN_TOPIC,
    COLUMN_RETRIES,
    COLUMN_CREATED,
    COLUMN_ERROR,
    COLUMN_STACK
};

static uint64_t
cell_hash(uint64_t group, const struct bytes texts[3])
{
    uint64_t hash = group;
    for (int i = 0; i < 3; i++)
        hash =
            (hash ^ (texts[i].len ? bytes_hash(texts[i]) : 0)) * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)i;
    return hash;
}

static uint32_t
find_cell(struct gathering *gathering, uint64_t group, const struct bytes texts[3])
{
    struct rollup_cells *cells = gathering->cells;
    size_t before = cells->hashes.count;
    uint32_t index = keys_index(&cells->hashes, cell_hash(group, texts));
    if (index < before)
        return index;
    cells->numbers = alloc_grow(cells->numbers, index, &cells->capacity, sizeof *cells->numbers);
    cells->numbers[index] = 0;

    struct news *news = &gathering->news;
    news_grow_cells(news);
    const char **names[] = {news->types, news->sources, news->topics};
    for (int i = 0; i < 3; i++)
        names[i][news->count] = texts[i].len ? arena_text(&news->arena, texts[i]) : "";
    news->groups[news->count++] = (int64_t)group;
    return index;
}

// Seconds since 2000 as the sums have them: 0 is absent, what lies before is the first second.
static int32_t
seconds_since_2000(int64_t instant)
{
    if (instant == TIME_ABSENT)
        return 0;
    int64_t seconds = instant / US_PER_SECOND - EPOCH_2000;
    return seconds < 1 ? 1 : seconds > INT32_MAX ? INT32_MAX : (int32_t)seconds;
}

static void
slice_grow(struct rollup_slice *slice)
{
    if (slice->count < slice->capacity)
        return;
    slice->capacity = slice->capacity ? slice->capacity * 2 : 512;
    slice->ids = alloc_resize(slice->ids, slice->capacity, sizeof *slice->ids);
    slice->cells = alloc_resize(slice->cells, slice->capacity, sizeof *slice->cells);
    slice->created = alloc_resize(slice->created, slice->capacity, sizeof *slice->created);
    slice->retries = alloc_resize(slice->retries, slice->capacity, sizeof *slice->retries);
}

static bool
gather_row(void *context, const PGresult *row)
{
    struct gathering *gathering = context;
    const struct fingerprint_input input = {.message = value_bytes(row, 0, COLUMN_ERROR),
                                            .stack = value_bytes(row, 0, COLUMN_STACK),
                                            .rules = gathering->rules};
    const struct bytes texts[3] = {value_bytes(row, 0, COLUMN_TYPE), value_bytes(row, 0, COLUMN_SOURCE),
                                   value_bytes(row, 0, COLUMN_TOPIC)};
    uint64_t key = fingerprint_key(&input);
    size_t known = gathering->cells->groups.count;
    if (keys_index(&gathering->cells->groups, key) == known)
        describe(&gathering->news, key, &input);

    struct rollup_slice *slice = gathering->slice;
    slice_grow(slice);
    size_t i = slice->count++;
    int32_t retries = value_int4(row, 0, COLUMN_RETRIES);
    slice->ids[i] = value_int8(row, 0, COLUMN_ID);
    slice->cells[i] = (int32_t)find_cell(gathering, key, texts);
    slice->created[i] = seconds_since_2000(value_time(row, 0, COLUMN_CREATED));
    slice->retries[i] = retries < 0 ? 0 : retries > 255 ? 255 : retries;
    return true;
}

// Makes new cells and groups known, and gets the numbers of the cells.
static bool
publish_news(struct store *store, const char *keeper, struct gathering *gathering, struct err *err)
{
    const struct news *news = &gathering->news;
    struct rollup_cells *cells = gathering->cells;
    if (news->key_count) {
        struct params params = {0};
        param_text(&params, keeper);
        param_ids(&params, news->keys, news->key_count);
        param_texts(&params, news->classes, news->key_count);
        param_texts(&params, news->patterns, news->key_count);
        param_texts(&params, news->samples, news->key_count);
        param_texts(&params, news->frames, news->key_count);
        if (!pg_do(store, FOR_WRITING, "SELECT redrive.backlog_describe($1, $2, $3, $4, $5, $6)", &params,
                   err))
            return false;
    }
    if (news->count == 0)
        return true;
    struct params params = {0};
    param_text(&params, keeper);
    param_ids(&params, news->groups, news->count);
    param_texts(&params, news->types, news->count);
    param_texts(&params, news->sources, news->count);
    param_texts(&params, news->topics, news->count);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT w.no FROM unnest(redrive.backlog_cells($1, $2, $3, $4, $5)) WITH ORDINALITY"
                " AS w (no, place) ORDER BY w.place",
                &params, &r, err))
        return false;
    bool ok = (size_t)PQntuples(r) == news->count ||
              err_set(err, ERR_INTERNAL, "cells of the backlog were not made");
    size_t first = cells->hashes.count - news->count;
    for (size_t i = 0; ok && i < news->count; i++)
        cells->numbers[first + i] = value_int4(r, (int)i, 0);
    PQclear(r);
    return ok;
}

#define GATHER_COLUMNS                                                                                       \
    "SELECT e.id::int8, e.event_type::text, e.source_table::text, e.kafka_topic::text, "                     \
    "coalesce(e.retry_count, 0)::int4, e.created_at::timestamp AT TIME ZONE $1, e.error_message::text, "     \
    "e.stack_trace::text FROM :\"events\" e WHERE e.status = 'PENDING'"

static const char above_sql[] =
    GATHER_COLUMNS " AND e.id > $3 AND NOT EXISTS (SELECT FROM redrive.backlog_event b WHERE b.id = e.id) "
                   "ORDER BY e.id LIMIT $2";
static const char below_sql[] = GATHER_COLUMNS " AND e.id <= $3 ORDER BY e.id DESC LIMIT $2";
static const char these_sql[] = GATHER_COLUMNS " AND e.id = ANY ($3) LIMIT $2";

bool
rollup_gather(struct store *store, const char *keeper, struct rollup_cells *cells,
              const struct rollup_range *range, struct rollup_slice *slice, struct err *err)
{
    slice->count = 0;
    if (range->ids && range->id_count == 0)
        return true;
    if (cells->hashes.count > CELLS_FULL || cells->groups.count > CELLS_FULL)
        cells_forget(cells);

    struct params params = {0};
    param_text(&params, store->zone);
    param_int8(&params, (int64_t)(range->ids ? range->id_count : range->limit));
    if (range->ids)
        param_ids(&params, range->ids, range->id_count);
    else
        param_int8(&params, range->before_id ? range->before_id : range->after_id);
    const char *sql = range->ids ? these_sql : range->before_id ? below_sql : above_sql;
    struct gathering gathering = {.rules = store->group_rules, .cells = cells, .slice = slice};
    bool ok = pg_stream(store, FOR_READING, sql, &params, gather_row, &gathering, err) &&
              publish_news(store, keeper, &gathering, err);
    for (size_t i = 0; ok && i < slice->count; i++)
        slice->cells[i] = cells->numbers[slice->cells[i]];
    news_release(&gathering.news);
    if (!ok)
        cells_forget(cells); // some of them may not be known to the database
    return ok;
}
