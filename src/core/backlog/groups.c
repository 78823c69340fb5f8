// Groups and lists, derived from the rows in one pass.
#include "core/backlog/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static uint32_t
path_number(struct path_values *paths, int64_t id)
{
    uint32_t number = path_values_of(paths, id);
    return number == PATH_UNREAD ? 0 : number;
}

static uint32_t
value_of_row(const struct backlog *backlog, const struct backlog_row *row, enum pivot pivot,
             struct path_values *paths)
{
    switch (pivot) {
    case PIVOT_TYPE:
        return row->type;
    case PIVOT_SOURCE:
        return row->source;
    case PIVOT_TOPIC:
        return row->topic;
    case PIVOT_CATEGORY:
        return (uint32_t)backlog->infos[row->group].category;
    case PIVOT_HOUR:
        return row->created / 3600;
    case PIVOT_PATH:
        return path_number(paths, row->id);
    case PIVOT_ERROR:
    case PIVOT_COUNT:
        break;
    }
    return row->group;
}

uint64_t
backlog_value(const struct backlog *backlog, const struct backlog_row *row, const struct tally_query *query)
{
    uint64_t value = value_of_row(backlog, row, query->pivot, backlog->paths);
    if (query->second)
        return value << 32 | value_of_row(backlog, row, query->second->pivot, query->second->paths);
    return query->leaders ? query->leaders[value] : value;
}

const struct intern *
backlog_interned(const struct backlog *backlog, enum pivot pivot)
{
    return pivot == PIVOT_TYPE     ? &backlog->types
           : pivot == PIVOT_SOURCE ? &backlog->sources
           : pivot == PIVOT_TOPIC  ? &backlog->topics
                                   : NULL;
}

// The number of a value; false: nothing is counted under it.
static bool
value_number(const struct backlog *backlog, enum pivot pivot, const char *value, uint64_t *number)
{
    struct bytes text = *value ? bytes_of(value) : BYTES_ABSENT;
    int64_t found = -1;
    uint64_t low, high;
    enum category category;
    int64_t wall;
    bool is_date;
    switch (pivot) {
    case PIVOT_TYPE:
    case PIVOT_SOURCE:
    case PIVOT_TOPIC:
        found = intern_find(backlog_interned(backlog, pivot), text);
        break;
    case PIVOT_CATEGORY:
        found = category_parse(text, &category) ? (int64_t)category : -1;
        break;
    case PIVOT_HOUR:
        if (bytes_ends(text, "Z"))
            text.len--;
        found = time_parse_wall(text, &wall, &is_date, NULL) ? wall / US_PER_SECOND / 3600 : -1;
        break;
    case PIVOT_PATH: // its values are chosen by terms: core/filter/path_term
        break;
    case PIVOT_ERROR:
    case PIVOT_COUNT:
        if (group_parse(text, &low, &high))
            found = keys_find(&backlog->keys, low);
        break;
    }
    *number = (uint64_t)found;
    return found >= 0;
}

// One pass over the rows, group by group.
struct tally {
    const struct backlog *backlog;
    const struct tally_query *query;
    enum pivot pivot;
    int64_t now;        // seconds
    int64_t minute;     // start of the current minute, in which nothing fades
    int64_t only;       // index of the only group by error to count; -1: all
    struct keys chosen; // with is_limited: the values of the groups that are listed
    bool is_limited;    // the events of all others are counted in `rest`
    size_t total;       // groups, with is_limited
    struct event_group rest;
    bool is_detailed;
    int64_t *returned; // by index of the group, with counts_returned
    bool counts_returned;
    size_t returned_capacity;
    struct keys values; // numbers of the values grouped by, in the order of groups
    struct event_group *groups;
    size_t capacity;
    struct keys pairs; // index of the group << 32 | column << 16 | word, for the most common types and topics
    int64_t *pair_counts;
    size_t pair_capacity;
};

enum { COLUMN_TYPE, COLUMN_TOPIC, COLUMN_CATEGORY };
enum { RATE_SECONDS = 300 };
#define REST UINT32_MAX // the index of `rest`

static void
tally_pair(struct tally *tally, uint32_t group_index, unsigned column, uint16_t word, int64_t count)
{
    if (group_index == REST)
        return;
    size_t before = tally->pairs.count;
    uint32_t index = keys_index(&tally->pairs, (uint64_t)group_index << 32 | (uint64_t)column << 16 | word);
    if (index == before) {
        tally->pair_counts =
            alloc_grow(tally->pair_counts, index, &tally->pair_capacity, sizeof *tally->pair_counts);
        tally->pair_counts[index] = 0;
    }
    tally->pair_counts[index] += count;
}

// Adds `count` events at this time to the curves of a group.
static void
tally_curves(const struct tally *tally, struct event_group *group, int64_t at, int64_t count)
{
    // Up to the end of this minute: a curve without arrivals stays as it is until the next minute, and its
    // newest column covers nearly its whole time.
    int64_t age = tally->minute + 59 - at;
    if (age < 0)
        age = 0;
    if (age < 3600)
        group->spark[GROUP_SPARK - 1 - age * GROUP_SPARK / 3600] += (uint32_t)count;
    if (at >= tally->minute - RATE_SECONDS)
        group->per_minute += (double)count; // the sum, until tally_rates
}

// Rates are as of the last arrival in this minute, or of its start: they rise with each arrival and fade once
// a minute without arrivals.
static void
tally_rates(struct tally *tally)
{
    int64_t as_of = tally->rest.last_at > tally->minute ? tally->rest.last_at : tally->minute;
    for (size_t g = 0; g < tally->values.count; g++)
        as_of = tally->groups[g].last_at > as_of ? tally->groups[g].last_at : as_of;
    if (as_of > tally->now)
        as_of = tally->now;
    double minutes = (double)(RATE_SECONDS + as_of - tally->minute) / 60;
    for (size_t g = 0; g < tally->values.count; g++)
        tally->groups[g].per_minute /= minutes;
    tally->rest.per_minute /= minutes;
}

static void
tally_heat(const struct tally *tally, struct event_group *group, int64_t at, int64_t count)
{
    int64_t hours = tally->now / 3600 - at / 3600;
    if (hours < GROUP_HEAT)
        group->heat[GROUP_HEAT - 1 - (hours < 0 ? 0 : hours)] += (uint32_t)count;
}

static void
tally_bounds(struct event_group *group, int64_t first, int64_t last)
{
    if (first == 0)
        return;
    if (group->first_at == TIME_ABSENT || first < group->first_at)
        group->first_at = first;
    if (group->last_at == TIME_ABSENT || last > group->last_at)
        group->last_at = last;
}

// The group that a row is counted in; the first row makes it.
static struct event_group *
tally_group(struct tally *tally, const struct backlog_row *row, uint32_t *group_index)
{
    size_t before = tally->values.count;
    uint64_t value = backlog_value(tally->backlog, row, tally->query);
    if (tally->is_limited && keys_find(&tally->chosen, value) < 0) {
        *group_index = REST;
        return &tally->rest;
    }
    *group_index = keys_index(&tally->values, value);
    if (*group_index == before) {
        tally->groups = alloc_grow(tally->groups, *group_index, &tally->capacity, sizeof *tally->groups);
        tally->groups[*group_index] = (struct event_group){
            .sample_id = row->id,
            .first_at = TIME_ABSENT,
            .last_at = TIME_ABSENT,
            .category = tally->backlog->infos[row->group].category,
        };
        if (tally->counts_returned) {
            tally->returned =
                alloc_grow(tally->returned, *group_index, &tally->returned_capacity, sizeof *tally->returned);
            tally->returned[*group_index] = 0;
        }
    }
    return &tally->groups[*group_index];
}

static void
tally_count(struct tally *tally, const struct backlog_row *row, int64_t count)
{
    uint32_t group_index;
    struct event_group *group = tally_group(tally, row, &group_index);
    if (group->count == 0 || row->retries < group->retries_low)
        group->retries_low = row->retries;
    if (group->count == 0 || row->retries > group->retries_high)
        group->retries_high = row->retries;
    group->count += count;
    tally_pair(tally, group_index, COLUMN_TYPE, row->type, count);
    tally_pair(tally, group_index, COLUMN_TOPIC, row->topic, count);
    if (tally->pivot != PIVOT_ERROR)
        tally_pair(tally, group_index, COLUMN_CATEGORY, (uint16_t)tally->backlog->infos[row->group].category,
                   count);
}

static void
tally_row(struct tally *tally, const struct backlog_row *row)
{
    uint32_t group_index;
    tally_count(tally, row, 1);
    struct event_group *group = tally_group(tally, row, &group_index);
    tally_bounds(group, row->created, row->created);
    if (tally->counts_returned && group_index != REST)
        tally->returned[group_index] += row->is_returned;
    if (row->created) {
        tally_curves(tally, group, row->created, 1);
        tally_heat(tally, group, row->created, 1);
    }
}

// --- from the rollup ---

static bool
is_asked(const struct tally *tally, const struct backlog_row *row)
{
    return tally->only < 0 || row->group == tally->only;
}

static void
tally_retries(struct tally *tally)
{
    const struct backlog *backlog = tally->backlog;
    for (size_t i = 0; i < backlog->rollup.retry_count; i++) {
        const struct rollup_count *count = &backlog->rollup.retries[i];
        struct backlog_row row = backlog->series_rows[count->series].row;
        row.retries = (uint8_t)(count->at < 0 ? 0 : count->at > 255 ? 255 : count->at);
        if (is_asked(tally, &row))
            tally_count(tally, &row, count->count);
    }
}

// When the events of a series were created in an hour: exactly, where it began or ended in that hour. Of
// others the hour's bounds are told, unless the hour is one of those that are counted by bucket: then what is
// not in a bucket is older than these.
static void
tally_hour(const struct tally *tally, struct event_group *group, const struct rollup_series_row *series,
           int64_t at)
{
    int64_t first = series->row.created / 3600 * 3600 == at ? series->row.created : at;
    int64_t last = at + 3599, by_bucket = tally->now - 3600;
    if (series->last_at / 3600 * 3600 == at)
        last = series->last_at;
    else if (last >= by_bucket)
        last = at >= by_bucket ? at : by_bucket - 1;
    tally_bounds(group, first, last);
    group->retries_low = group->retries_high = -1;
}

static void
tally_bucket(const struct tally *tally, struct event_group *group, const struct rollup_series_row *series,
             int64_t at)
{
    int64_t first = series->row.created / BUCKET_SECONDS * BUCKET_SECONDS == at ? series->row.created : at;
    int64_t last = at + BUCKET_SECONDS - 1 < tally->now ? at + BUCKET_SECONDS - 1 : tally->now;
    if (series->last_at / BUCKET_SECONDS * BUCKET_SECONDS == at)
        last = series->last_at;
    tally_bounds(group, first, last);
}

// Curves, and for the pivot by hour the counts.
static void
tally_times(struct tally *tally)
{
    const struct backlog *backlog = tally->backlog;
    const struct {
        const struct rollup_count *counts;
        size_t count;
        int64_t seconds;
    } lists[] = {{backlog->rollup.hours, backlog->rollup.hour_count, 3600},
                 {backlog->rollup.buckets, backlog->rollup.bucket_count, BUCKET_SECONDS}};
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < lists[which].count; i++) {
            const struct rollup_count *count = &lists[which].counts[i];
            const struct rollup_series_row *series = &backlog->series_rows[count->series];
            struct backlog_row row = series->row;
            int64_t at = count->at * lists[which].seconds;
            row.created = (uint32_t)at;
            if (!is_asked(tally, &row))
                continue;
            bool is_hour = lists[which].seconds == 3600;
            if (is_hour && tally->pivot == PIVOT_HOUR)
                tally_count(tally, &row, count->count);
            uint32_t group_index;
            struct event_group *group = tally_group(tally, &row, &group_index);
            if (is_hour)
                tally_heat(tally, group, at, count->count);
            else
                tally_curves(tally, group, at + BUCKET_SECONDS / 2, count->count);
            if (tally->pivot != PIVOT_HOUR)
                continue;
            if (is_hour)
                tally_hour(tally, group, series, at);
            else
                tally_bucket(tally, group, series, at);
        }
    }
}

static void
tally_series(struct tally *tally)
{
    const struct backlog *backlog = tally->backlog;
    for (size_t i = 0; i < backlog->series_count; i++) {
        const struct rollup_series_row *series = &backlog->series_rows[i];
        if (!is_asked(tally, &series->row))
            continue;
        uint32_t group_index;
        struct event_group *group = tally_group(tally, &series->row, &group_index);
        tally_bounds(group, series->row.created, series->last_at);
        if (group->last_at == series->last_at)
            group->sample_id = series->row.id;
        if (tally->is_detailed && group_index != REST)
            tally->returned[group_index] += series->returned;
    }
}

static void
tally_rollup(struct tally *tally)
{
    if (tally->pivot != PIVOT_HOUR)
        tally_retries(tally);
    tally_times(tally);
    if (tally->pivot != PIVOT_HOUR)
        tally_series(tally);
}

// Puts a share where it belongs among the GROUP_TOP largest.
static void
share_add(struct group_share *shares, const char *name, int64_t count)
{
    for (int i = 0; i < GROUP_TOP; i++) {
        if (count <= shares[i].count)
            continue;
        memmove(shares + i + 1, shares + i, (size_t)(GROUP_TOP - 1 - i) * sizeof *shares);
        shares[i] = (struct group_share){.name = name, .count = count};
        return;
    }
}

static void
tally_shares(struct tally *tally, struct arena *arena)
{
    const struct backlog *backlog = tally->backlog;
    // By group: the count of its most common category so far.
    int64_t *largest = alloc_array(tally->values.count, sizeof *largest);
    for (size_t i = 0; i < tally->pairs.count; i++) {
        uint64_t pair = tally->pairs.keys[i];
        struct event_group *group = &tally->groups[pair >> 32];
        uint16_t word = (uint16_t)(pair & 0xFFFF);
        uint64_t column = pair >> 16 & 0xFFFF;
        if (column == COLUMN_CATEGORY) {
            if (tally->pair_counts[i] > largest[pair >> 32]) {
                largest[pair >> 32] = tally->pair_counts[i];
                group->category = (enum category)word;
            }
            continue;
        }
        bool is_type = column == COLUMN_TYPE;
        const char *name = intern_text(is_type ? &backlog->types : &backlog->topics, word);
        share_add(is_type ? group->types : group->topics, name, tally->pair_counts[i]);
    }
    free(largest);
    for (size_t g = 0; g < tally->values.count; g++)
        for (int i = 0; i < GROUP_TOP; i++) {
            struct event_group *group = &tally->groups[g];
            group->types[i].name = arena_text(arena, bytes_of(group->types[i].name));
            group->topics[i].name = arena_text(arena, bytes_of(group->topics[i].name));
        }
}

// --- details ---

// How many events of a group have a type, or a topic.
struct detail_share {
    uint32_t group_index;
    unsigned column;
    struct group_share share;
};

static int
by_share(const void *left, const void *right)
{
    const struct detail_share *a = left, *b = right;
    if (a->group_index != b->group_index)
        return a->group_index < b->group_index ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    if (a->share.count != b->share.count)
        return a->share.count > b->share.count ? -1 : 1;
    return strcmp(a->share.name, b->share.name);
}

static size_t
collect_shares(const struct tally *tally, struct detail_share *found)
{
    size_t count = 0;
    for (size_t i = 0; i < tally->pairs.count; i++) {
        uint64_t pair = tally->pairs.keys[i];
        unsigned column = (unsigned)(pair >> 16 & 0xFFFF);
        if (column == COLUMN_CATEGORY || tally->pair_counts[i] <= 0)
            continue;
        const struct intern *names = column == COLUMN_TYPE ? &tally->backlog->types : &tally->backlog->topics;
        const char *name = intern_text(names, (uint16_t)(pair & 0xFFFF));
        if (!name)
            continue;
        found[count] = (struct detail_share){.group_index = (uint32_t)(pair >> 32),
                                             .column = column,
                                             .share = {.name = name, .count = tally->pair_counts[i]}};
        count++;
    }
    if (count)
        qsort(found, count, sizeof *found, by_share);
    return count;
}

static const char *
value_text(const struct backlog *backlog, enum pivot pivot, const struct path_values *paths, uint32_t number,
           struct arena *arena)
{
    char hex[GROUP_TEXT];
    char hour[TIME_TEXT];
    const char *text = NULL;
    struct bytes name;
    switch (pivot) {
    case PIVOT_TYPE:
    case PIVOT_SOURCE:
    case PIVOT_TOPIC:
        text = intern_text(backlog_interned(backlog, pivot), (uint16_t)number);
        break;
    case PIVOT_CATEGORY:
        text = category_name((enum category)number);
        break;
    case PIVOT_HOUR:
        text = number ? time_rfc3339((int64_t)number * 3600 * US_PER_SECOND, 0, hour) : NULL;
        break;
    case PIVOT_PATH:
        (void)path_values_value(paths, number, &name);
        return arena_text(arena, name);
    case PIVOT_ERROR:
    case PIVOT_COUNT:
        text = group_text(backlog->keys.keys[number], hex);
        break;
    }
    return arena_text(arena, bytes_of(text ? text : ""));
}

static int64_t
to_instant(int64_t seconds)
{
    return seconds == TIME_ABSENT ? TIME_ABSENT : seconds * US_PER_SECOND;
}

// What a group is called by a pivot.
static void
tally_name_by(const struct backlog *backlog, enum pivot pivot, const struct path_values *paths,
              uint32_t number, struct event_group *group, struct arena *arena)
{
    group->key = number;
    group->value = value_text(backlog, pivot, paths, number, arena);
    if (pivot == PIVOT_CATEGORY)
        group->category = (enum category)number;
    if (pivot == PIVOT_PATH) {
        group->key = path_values_key(paths, number);
        group->path_kind = path_values_value(paths, number, &(struct bytes){0});
    }
    if (pivot != PIVOT_ERROR)
        return;
    const struct group_info *info = &backlog->infos[number];
    const struct group_text text = backlog_text(backlog, info);
    group->key = backlog->keys.keys[number];
    group->text = (struct group_text){
        .pattern = arena_text(arena, bytes_of(text.pattern)),
        .error_class = arena_text(arena, bytes_of(text.error_class)),
        .sample = arena_text(arena, bytes_of(text.sample)),
        .frame = arena_text(arena, bytes_of(text.frame)),
    };
    group->is_overridden = info->is_overridden;
}

static const struct event_group *
tally_second(const struct tally *tally, size_t g, struct arena *arena)
{
    const struct second_pivot *second = tally->query->second;
    uint32_t number = (uint32_t)tally->values.keys[g];
    struct event_group *group = arena_array(arena, 1, sizeof *group);
    tally_name_by(tally->backlog, second->pivot, second->paths, number, group, arena);
    if (second->pivot == PIVOT_ERROR)
        group->category = tally->backlog->infos[number].category;
    return group;
}

static void
tally_details(struct tally *tally, struct arena *arena)
{
    struct group_details *details = arena_array(arena, tally->values.count, sizeof *details);
    struct detail_share *found = alloc_array(tally->pairs.count, sizeof *found);
    size_t count = collect_shares(tally, found);
    struct group_share *shares = arena_array(arena, count, sizeof *shares);
    for (size_t g = 0; g < tally->values.count; g++) {
        details[g].returned = tally->returned[g];
        details[g].second = tally->query->second ? tally_second(tally, g, arena) : NULL;
        tally->groups[g].details = &details[g];
    }
    for (size_t i = 0; i < count; i++) {
        shares[i] = (struct group_share){.name = arena_text(arena, bytes_of(found[i].share.name)),
                                         .count = found[i].share.count};
        struct group_details *of = &details[found[i].group_index];
        bool is_type = found[i].column == COLUMN_TYPE;
        const struct group_share **first = is_type ? &of->types : &of->topics;
        size_t *length = is_type ? &of->type_count : &of->topic_count;
        if ((*length)++ == 0)
            *first = &shares[i];
    }
    free(found);
}

// What is known of a group by error over its life. The rollup has counted those that returned; rows are
// counted here.
static void
tally_life(const struct tally *tally, const struct group_life *life, size_t g, struct event_group *group)
{
    if (life->outcomes)
        group->outcomes = *life->outcomes;
    if (!tally->backlog->has_rollup)
        group->outcomes.returned = tally->returned[g];
    bool was_emptied = life->emptied_at != TIME_ABSENT && group->first_at != TIME_ABSENT &&
                       group->first_at >= life->emptied_at / US_PER_SECOND; // rows know whole seconds
    group->is_returned = was_emptied || group->outcomes.returned * 2 > group->count;
    if (life->seen_at != TIME_ABSENT && (group->first_at == TIME_ABSENT || life->seen_at < group->first_at))
        group->first_at = life->seen_at;
}

// Names the group and fills the members that are not counted row by row.
static void
tally_name(struct tally *tally, size_t g, struct arena *arena)
{
    const struct backlog *backlog = tally->backlog;
    const struct second_pivot *second = tally->query->second;
    struct event_group *group = &tally->groups[g];
    assert(tally->values.keys && g < tally->values.count);
    uint64_t number = tally->values.keys[g];
    tally_name_by(backlog, tally->pivot, backlog->paths, (uint32_t)(second ? number >> 32 : number), group,
                  arena);
    if (second)
        group->key = number;
    else if (tally->pivot == PIVOT_ERROR)
        tally_life(tally, backlog_life(backlog, number), g, group);
    group->is_new = group->first_at != TIME_ABSENT && tally->minute - group->first_at < 3600;
    group->first_at = to_instant(group->first_at);
    group->last_at = to_instant(group->last_at);
}

static int
by_count(const void *left, const void *right)
{
    const struct event_group *a = left;
    const struct event_group *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    int order = strcmp(a->value, b->value);
    if (order || a->path_kind != b->path_kind)
        return order ? order : a->path_kind > b->path_kind ? 1 : -1;
    bool is_pair = a->details && a->details->second && b->details && b->details->second;
    return is_pair ? by_count(a->details->second, b->details->second) : 0;
}

int
event_group_by_key(const void *left, const void *right)
{
    const struct event_group *const *a = left;
    const struct event_group *const *b = right;
    return ((*a)->key > (*b)->key) - ((*a)->key < (*b)->key);
}

void
backlog_groups(const struct backlog *backlog, enum pivot pivot, const uint64_t *within, int64_t now,
               struct arena *arena, struct group_list *list)
{
    backlog_tally(backlog, &(struct tally_query){.pivot = pivot, .within = within}, now, arena, list);
}

void
backlog_groups_limited(const struct backlog *backlog, enum pivot pivot, const uint64_t *within,
                       const struct group_limit *limit, int64_t now, struct arena *arena,
                       struct group_list *list)
{
    const struct tally_query query = {.pivot = pivot, .within = within, .limit = limit};
    backlog_tally(backlog, &query, now, arena, list);
}

void
backlog_groups_paired(const struct backlog *backlog, enum pivot pivot, const struct second_pivot *second,
                      const struct group_limit *limit, int64_t now, struct arena *arena,
                      struct group_list *list)
{
    const struct tally_query query = {.pivot = pivot, .second = second, .is_detailed = true, .limit = limit};
    backlog_tally(backlog, &query, now, arena, list);
}

// Are there more groups than a limited list has? Most backlogs cannot have them, which is known without a
// look.
static bool
may_be_more(const struct backlog *backlog, const struct tally_query *query)
{
    if (!query->limit || query->second)
        return query->limit != NULL;
    size_t values = backlog->has_rollup ? backlog->rollup.hour_count : backlog_count(backlog);
    if (query->pivot == PIVOT_ERROR)
        values = backlog->keys.count;
    else if (query->pivot == PIVOT_PATH)
        values = path_values_count(backlog->paths);
    else if (query->pivot == PIVOT_CATEGORY)
        values = CATEGORY_COUNT;
    else if (query->pivot != PIVOT_HOUR)
        values = backlog_interned(backlog, query->pivot)->count + 2; // absent, and all beyond WORDS_LIMIT
    return values > query->limit->most;
}

static void
tally_limit(struct tally *tally, const struct tally_query *query)
{
    if (!may_be_more(tally->backlog, query))
        return;
    tally->total = backlog_rank(tally->backlog, query, tally->minute - RATE_SECONDS, &tally->chosen);
    tally->is_limited = tally->total > query->limit->most;
    tally->rest = (struct event_group){.first_at = TIME_ABSENT, .last_at = TIME_ABSENT};
}

static void
list_add(struct group_list *list, const struct event_group *group)
{
    list->events += group->count;
    list->per_minute += group->per_minute;
    for (int i = 0; i < GROUP_SPARK; i++)
        list->spark[i] += group->spark[i];
}

void
backlog_tally(const struct backlog *backlog, const struct tally_query *query, int64_t now,
              struct arena *arena, struct group_list *list)
{
    struct tally tally = {.backlog = backlog,
                          .query = query,
                          .pivot = query->pivot,
                          .now = now / US_PER_SECOND,
                          .minute = now / US_PER_SECOND / 60 * 60,
                          .only = query->within ? keys_find(&backlog->keys, *query->within) : -1,
                          .is_detailed = query->is_detailed,
                          .counts_returned = query->is_detailed || !backlog->has_rollup};
    bool is_possible = (!query->within || tally.only >= 0) &&
                       (query->pivot != PIVOT_PATH || (backlog->paths && !backlog->has_rollup)) &&
                       !(query->second && backlog->has_rollup);
    if (is_possible)
        tally_limit(&tally, query);
    *list = (struct group_list){0};
    if (tally.is_limited) { // so many groups are large, and are counted where they will stand
        tally.capacity = tally.chosen.count;
        tally.groups = list->groups = arena_array(arena, tally.capacity, sizeof *tally.groups);
    }
    size_t rows = is_possible && !backlog->has_rollup ? backlog_count(backlog) : 0;
    for (size_t i = 0; i < rows; i++) {
        const struct backlog_row *row = backlog_row(backlog, i);
        if (is_asked(&tally, row))
            tally_row(&tally, row);
    }
    if (is_possible && backlog->has_rollup)
        tally_rollup(&tally);
    tally_shares(&tally, arena);
    tally_rates(&tally);
    if (tally.is_detailed)
        tally_details(&tally, arena);

    if (!tally.is_limited)
        list->groups = arena_array(arena, tally.values.count, sizeof *list->groups);
    for (size_t g = 0; g < tally.values.count; g++) {
        if (tally.groups[g].count <= 0)
            continue; // counts of two instants: its events were closed in between
        tally_name(&tally, g, arena);
        list->groups[list->count++] = tally.groups[g];
        list_add(list, &tally.groups[g]);
    }
    list->total = list->count;
    if (tally.is_limited) {
        list->total = tally.total;
        list_add(list, &tally.rest);
    }
    if (list->count)
        qsort(list->groups, list->count, sizeof *list->groups, by_count);

    if (!tally.is_limited)
        free(tally.groups);
    free(tally.pair_counts);
    free(tally.returned);
    keys_release(&tally.chosen);
    keys_release(&tally.values);
    keys_release(&tally.pairs);
}

// An event's place in a list.
struct group_place {
    int64_t id;
    uint32_t created;
};

static int
by_newest(const void *left, const void *right)
{
    const struct group_place *a = left;
    const struct group_place *b = right;
    if (a->created != b->created)
        return a->created < b->created ? 1 : -1;
    return (a->id < b->id) - (a->id > b->id);
}

// By index of a group by error.
static bool *
listed_groups(const struct backlog *backlog, const char *value)
{
    uint64_t keys[GROUPS_LISTED];
    size_t count = groups_parse(bytes_of(value), keys);
    bool *is_listed = alloc_array(backlog->keys.count, sizeof *is_listed);
    for (size_t i = 0; i < count; i++) {
        int64_t index = keys_find(&backlog->keys, keys[i]);
        if (index >= 0)
            is_listed[index] = true;
    }
    return is_listed;
}

// The rows of a list, newest id first.
struct listing {
    const struct backlog *backlog;
    enum pivot pivot;
    const char *value; // NULL: all rows
    uint64_t number;   // of the value
    bool *is_listed;   // by index of a group; NULL: by number
};

static bool
is_in_list(const struct listing *listing, const struct backlog_row *row)
{
    return listing->is_listed ? listing->is_listed[row->group]
                              : !listing->value || value_of_row(listing->backlog, row, listing->pivot,
                                                                listing->backlog->paths) == listing->number;
}

// Ids mostly grow with time, so their order is that of time already. False: it is not.
static bool
ids_as_stored(const struct listing *listing, size_t rows, int64_t *ids, size_t *count)
{
    uint32_t created = UINT32_MAX;
    *count = 0;
    for (size_t i = 0; i < rows; i++) {
        const struct backlog_row *row = backlog_row(listing->backlog, i);
        if (!is_in_list(listing, row))
            continue;
        if (row->created > created)
            return false;
        created = row->created;
        ids[(*count)++] = row->id;
    }
    return true;
}

static void
ids_by_time(const struct listing *listing, size_t rows, int64_t *ids, size_t *count)
{
    struct group_place *places = alloc_array(rows, sizeof *places);
    *count = 0;
    for (size_t i = 0; i < rows; i++) {
        const struct backlog_row *row = backlog_row(listing->backlog, i);
        if (is_in_list(listing, row))
            places[(*count)++] = (struct group_place){.id = row->id, .created = row->created};
    }
    qsort(places, *count, sizeof *places, by_newest);
    for (size_t i = 0; i < *count; i++)
        ids[i] = places[i].id;
    free(places);
}

void
backlog_ids(const struct backlog *backlog, enum pivot pivot, const char *value, bool oldest_first,
            int64_t **ids, size_t *count)
{
    struct listing listing = {.backlog = backlog, .pivot = pivot, .value = value};
    listing.is_listed = value && pivot == PIVOT_ERROR ? listed_groups(backlog, value) : NULL;
    bool is_possible = !value || listing.is_listed || value_number(backlog, pivot, value, &listing.number);
    size_t rows = is_possible ? backlog_count(backlog) : 0;
    *ids = alloc_array(rows, sizeof **ids);
    if (!ids_as_stored(&listing, rows, *ids, count))
        ids_by_time(&listing, rows, *ids, count);
    for (size_t i = 0; oldest_first && i < *count / 2; i++) {
        int64_t id = (*ids)[i];
        (*ids)[i] = (*ids)[*count - 1 - i];
        (*ids)[*count - 1 - i] = id;
    }
    free(listing.is_listed);
}
