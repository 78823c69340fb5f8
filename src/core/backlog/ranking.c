// Which groups a limited list has: found by what their order looks at alone, so that two hundred thousand
// groups cost little more than those that are listed.
#include "core/backlog/rows.h"

#include <stdlib.h>
#include "base/alloc.h"

// What a group is ranked by.
struct rank_sum {
    int64_t count, first_at, last_at;
    int64_t recent; // events of the last minutes, as its rate counts them
};

struct ranking {
    const struct backlog *backlog;
    const struct tally_query *query;
    int64_t only, recent_from;
    struct keys values; // of the groups, in the order of sums
    struct rank_sum *sums;
    size_t capacity;
};

static struct rank_sum *
sum_of(struct ranking *ranking, const struct backlog_row *row)
{
    size_t before = ranking->values.count;
    uint32_t i = keys_index(&ranking->values, backlog_value(ranking->backlog, row, ranking->query));
    if (i == before) {
        ranking->sums = alloc_grow(ranking->sums, i, &ranking->capacity, sizeof *ranking->sums);
        ranking->sums[i] = (struct rank_sum){.first_at = TIME_ABSENT, .last_at = TIME_ABSENT};
    }
    return &ranking->sums[i];
}

static bool
is_ranked(const struct ranking *ranking, const struct backlog_row *row)
{
    return ranking->only < 0 || row->group == ranking->only;
}

static void
rank_bounds(struct rank_sum *sum, int64_t first, int64_t last)
{
    if (first == 0)
        return;
    if (sum->first_at == TIME_ABSENT || first < sum->first_at)
        sum->first_at = first;
    if (sum->last_at == TIME_ABSENT || last > sum->last_at)
        sum->last_at = last;
}

static void
rank_rows(struct ranking *ranking)
{
    size_t count = backlog_count(ranking->backlog);
    for (size_t i = 0; i < count; i++) {
        const struct backlog_row *row = backlog_row(ranking->backlog, i);
        if (!is_ranked(ranking, row))
            continue;
        struct rank_sum *sum = sum_of(ranking, row);
        sum->count++;
        sum->recent += row->created >= ranking->recent_from;
        rank_bounds(sum, row->created, row->created);
    }
}

static void
rank_hours(struct ranking *ranking)
{
    const struct backlog_rollup *rollup = &ranking->backlog->rollup;
    for (size_t i = 0; i < rollup->hour_count; i++) {
        struct backlog_row row = ranking->backlog->series_rows[rollup->hours[i].series].row;
        row.created = (uint32_t)rollup->hours[i].at * 3600;
        if (!is_ranked(ranking, &row))
            continue;
        struct rank_sum *sum = sum_of(ranking, &row);
        sum->count += rollup->hours[i].count;
        rank_bounds(sum, row.created, row.created);
    }
}

static void
rank_series(struct ranking *ranking)
{
    const struct backlog *backlog = ranking->backlog;
    const struct backlog_rollup *rollup = &backlog->rollup;
    for (size_t i = 0; i < rollup->retry_count; i++) {
        const struct backlog_row *row = &backlog->series_rows[rollup->retries[i].series].row;
        if (is_ranked(ranking, row))
            sum_of(ranking, row)->count += rollup->retries[i].count;
    }
    for (size_t i = 0; i < backlog->series_count; i++) {
        const struct rollup_series_row *series = &backlog->series_rows[i];
        if (is_ranked(ranking, &series->row))
            rank_bounds(sum_of(ranking, &series->row), series->row.created, series->last_at);
    }
    for (size_t i = 0; i < rollup->bucket_count; i++) {
        const struct backlog_row *row = &backlog->series_rows[rollup->buckets[i].series].row;
        if (is_ranked(ranking, row) &&
            (int64_t)rollup->buckets[i].at * BUCKET_SECONDS + BUCKET_SECONDS / 2 >= ranking->recent_from)
            sum_of(ranking, row)->recent += rollup->buckets[i].count;
    }
}

struct ranked {
    int64_t score, count;
    uint64_t value;
};

static struct bytes
interned_text(const struct intern *texts, uint32_t number)
{
    const char *text = intern_text(texts, (uint16_t)number);
    return text ? bytes_of(text) : BYTES("");
}

// By what the values are called: most of their numbers tell in which order events arrived, which varies from
// run to run.
static int
compare_values(const struct backlog *backlog, enum pivot pivot, const struct path_values *paths, uint32_t a,
               uint32_t b)
{
    const struct intern *texts = backlog_interned(backlog, pivot);
    struct bytes left, right;
    if (a == b)
        return 0;
    if (texts)
        return bytes_compare(interned_text(texts, a), interned_text(texts, b));
    if (pivot == PIVOT_ERROR)
        return backlog->keys.keys[a] < backlog->keys.keys[b] ? -1 : 1;
    if (pivot != PIVOT_PATH)
        return a < b ? -1 : 1;
    enum path_kind left_kind = path_values_value(paths, a, &left);
    enum path_kind right_kind = path_values_value(paths, b, &right);
    int order = bytes_compare(left, right);
    return order ? order : left_kind < right_kind ? -1 : 1;
}

static int
by_score(const void *left, const void *right, void *context)
{
    const struct ranking *ranking = context;
    const struct second_pivot *second = ranking->query->second;
    const struct ranked *a = left, *b = right;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    int order = compare_values(ranking->backlog, ranking->query->pivot, ranking->backlog->paths,
                               (uint32_t)(second ? a->value >> 32 : a->value),
                               (uint32_t)(second ? b->value >> 32 : b->value));
    return order || !second ? order
                            : compare_values(ranking->backlog, second->pivot, second->paths,
                                             (uint32_t)a->value, (uint32_t)b->value);
}

static int64_t
score_of(const struct rank_sum *sum, enum group_rank rank)
{
    switch (rank) {
    case RANK_NEWEST:
        return sum->last_at;
    case RANK_RATE:
        return sum->recent;
    case RANK_FIRST:
        return sum->first_at;
    case RANK_COUNT:
        break;
    }
    return sum->count;
}

// The best of what was offered, as a heap whose first is the worst of them: the list is passed over once, and
// few of a long one are moved. Where the list is turned round its end is what is wanted.
struct best {
    const struct ranking *ranking;
    struct ranked *kept;
    size_t count, most;
    bool is_reversed;
};

static bool
is_worse(const struct best *best, const struct ranked *a, const struct ranked *b)
{
    int order = by_score(a, b, (void *)(uintptr_t)best->ranking);
    return best->is_reversed ? order < 0 : order > 0;
}

static void
sink(struct best *best)
{
    struct ranked one = best->kept[0];
    size_t at = 0;
    for (size_t child = 1; child < best->count; child = 2 * at + 1) {
        if (child + 1 < best->count && is_worse(best, &best->kept[child + 1], &best->kept[child]))
            child++;
        if (!is_worse(best, &best->kept[child], &one))
            break;
        best->kept[at] = best->kept[child];
        at = child;
    }
    best->kept[at] = one;
}

static void
rise(struct best *best, struct ranked one)
{
    size_t at = best->count++;
    for (; at > 0 && is_worse(best, &one, &best->kept[(at - 1) / 2]); at = (at - 1) / 2)
        best->kept[at] = best->kept[(at - 1) / 2];
    best->kept[at] = one;
}

static void
offer(struct best *best, const struct ranked *one)
{
    if (best->count < best->most) {
        rise(best, *one);
    } else if (best->most && is_worse(best, &best->kept[0], one)) {
        best->kept[0] = *one;
        sink(best);
    }
}

// The first `most` of the groups that have events, or the last. Forgets the sums.
static size_t
choose(struct ranking *ranking, const struct group_limit *limit, struct keys *chosen)
{
    size_t most = limit->most < ranking->values.count ? limit->most : ranking->values.count, count = 0;
    struct best best = {.ranking = ranking,
                        .kept = alloc_array(most + 1, sizeof *best.kept),
                        .most = most,
                        .is_reversed = limit->is_reversed};
    for (size_t i = 0; i < ranking->values.count; i++) {
        const struct rank_sum *sum = &ranking->sums[i];
        if (sum->count <= 0)
            continue;
        offer(&best, &(struct ranked){.score = score_of(sum, limit->rank),
                                      .count = sum->count,
                                      .value = ranking->values.keys[i]});
        count++;
    }
    free(ranking->sums);
    ranking->sums = NULL;
    keys_release(&ranking->values);
    if (best.count)
        qsort_r(best.kept, best.count, sizeof *best.kept, by_score, ranking);
    for (size_t i = 0; i < best.count; i++)
        keys_index(chosen, best.kept[i].value);
    free(best.kept);
    return count;
}

size_t
backlog_rank(const struct backlog *backlog, const struct tally_query *query, int64_t recent_from,
             struct keys *chosen)
{
    struct ranking ranking = {.backlog = backlog,
                              .query = query,
                              .only = query->within ? keys_find(&backlog->keys, *query->within) : -1,
                              .recent_from = recent_from};
    if (!backlog->has_rollup)
        rank_rows(&ranking);
    else if (query->pivot == PIVOT_HOUR)
        rank_hours(&ranking);
    else
        rank_series(&ranking);
    return choose(&ranking, query->limit, chosen);
}
