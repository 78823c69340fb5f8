#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/backlog/backlog.h"

static const int64_t NOW = 1700000000LL * US_PER_SECOND;

static struct event
make(int64_t id, uint64_t group, const char *type, int64_t age_seconds)
{
    return (struct event){
        .id = id,
        .group = group,
        .event_type = bytes_of(type),
        .topic = bytes_of("orders"),
        .category = CATEGORY_DATA,
        .created_at = NOW - age_seconds * US_PER_SECOND,
        .retries.count = (int32_t)(id % 4),
    };
}

static void
add(struct backlog *backlog, int64_t id, uint64_t group, const char *type, int64_t age)
{
    struct event event = make(id, group, type, age);
    assert_int_equal(backlog_add(backlog, &event, 1), 1);
}

// A scan from above, arrivals, and a late commit in between.
static void
rows_in_any_order_are_there_once(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    for (int64_t id = 50; id > 0; id -= 2)
        add(backlog, id, 7, "a", 100 - id);
    for (int64_t id = 51; id < 60; id++)
        add(backlog, id, 7, "a", 0);
    add(backlog, 33, 8, "late", 67);
    struct event twice = make(33, 8, "late", 67);
    assert_int_equal(backlog_add(backlog, &twice, 1), 0);
    assert_int_equal(backlog_count(backlog), 25 + 9 + 1);
    assert_int_equal(backlog_highest_id(backlog), 59);
    assert_int_equal(backlog_count_upto(backlog, 33), 17);
    assert_int_equal(backlog_count_upto(backlog, 55), 25 + 1 + 5);

    int64_t *ids;
    size_t count;
    backlog_ids(backlog, PIVOT_ERROR, NULL, true, &ids, &count);
    assert_int_equal(count, 35);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i - 1] < ids[i]);
    free(ids);

    uint64_t key;
    assert_true(backlog_group_of(backlog, 33, &key));
    assert_int_equal(key, 8);
    assert_false(backlog_group_of(backlog, 35, &key));
    backlog_destroy(backlog);
}

static void
what_others_wrote_is_renewed(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    for (int64_t id = 10; id > 0; id--)
        add(backlog, id, 7, "a", 100);
    add(backlog, 11, 7, "a", 0); // an arrival, on the other side
    struct event events[] = {make(4, 7, "b", 100), make(11, 8, "a", 0), make(5, 7, "a", 100),
                             make(99, 7, "c", 0)};
    events[0].topic = bytes_of("payments");
    events[0].retries.count = 9;
    assert_int_equal(backlog_renew(backlog, events, 4), 2); // 5 is as it was, 99 is not there
    assert_int_equal(backlog_renew(backlog, events, 4), 0);
    assert_int_equal(backlog_count(backlog), 11);

    struct event seen;
    size_t hint = 0;
    assert_true(backlog_event(backlog, 4, &hint, &seen));
    assert_true(bytes_equal_text(seen.event_type, "b") && bytes_equal_text(seen.topic, "payments"));
    assert_int_equal(seen.retries.count, 9);
    uint64_t key;
    assert_true(backlog_group_of(backlog, 11, &key));
    assert_int_equal(key, 8);
    backlog_destroy(backlog);
}

static void
groups_are_counted_exactly(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    add(backlog, 1, 0xAA, "order.created", 7200);
    add(backlog, 2, 0xAA, "order.created", 60);
    add(backlog, 3, 0xAA, "order.updated", 30);
    add(backlog, 4, 0xBB, "order.created", 10);
    backlog_describe(backlog, 0xAA,
                     &(struct group_text){.pattern = "timeout after <n> ms", .error_class = "Timeout"});

    struct arena arena = {0};
    struct group_list list;
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.events, 4);
    const struct event_group *largest = &list.groups[0];
    assert_int_equal(largest->count, 3);
    assert_string_equal(largest->value, "00000000000000aa");
    assert_string_equal(largest->text.pattern, "timeout after <n> ms");
    assert_string_equal(largest->types[0].name, "order.created");
    assert_int_equal(largest->types[0].count, 2);
    assert_int_equal(largest->types[1].count, 1);
    assert_int_equal(largest->spark[GROUP_SPARK - 1], 2);
    assert_int_equal(largest->heat[GROUP_HEAT - 1], 2);
    assert_int_equal(largest->heat[GROUP_HEAT - 3], 1);
    assert_false(largest->is_new);
    assert_true(list.groups[1].is_new);
    assert_int_equal(largest->last_at, NOW - 30 * US_PER_SECOND);

    uint64_t within = 0xAA;
    backlog_groups(backlog, PIVOT_TYPE, &within, NOW, &arena, &list);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.groups[0].value, "order.created");
    assert_int_equal(list.groups[0].count, 2);
    arena_release(&arena);
    backlog_destroy(backlog);
}

static int64_t
per_hour(const struct group_list *list)
{
    return (int64_t)(list->per_minute * 60);
}

// Rates are told as of the last event or the start of the minute, so that only an event changes them within
// one.
static void
nothing_fades_before_the_minute_is_over(void **state)
{
    (void)state;
    const int64_t minute = NOW / US_PER_SECOND / 60 * 60;
    struct backlog *backlog = backlog_create();
    for (int i = 0; i < 300; i++) // one a second until 5 s after the start of this minute
        add(backlog, i + 1, 0xAA, "order.created", NOW / US_PER_SECOND - (minute + 5 - i));
    struct arena arena = {0};
    struct group_list first, list;
    backlog_groups(backlog, PIVOT_ERROR, NULL, (minute + 5) * US_PER_SECOND, &arena, &first);
    assert_int_equal(per_hour(&first), 300 * 3600 / 305);
    for (int second = 6; second < 60; second++) {
        backlog_groups(backlog, PIVOT_ERROR, NULL, (minute + second) * US_PER_SECOND, &arena, &list);
        assert_memory_equal(list.spark, first.spark, sizeof first.spark);
        assert_memory_equal(list.groups[0].heat, first.groups[0].heat, sizeof list.groups[0].heat);
        assert_int_equal(per_hour(&list), per_hour(&first));
        assert_true(list.groups[0].is_new);
    }
    backlog_groups(backlog, PIVOT_ERROR, NULL, (minute + 60) * US_PER_SECOND, &arena, &list);
    assert_int_equal(per_hour(&list), 246 * 3600 / 300);
    add(backlog, 301, 0xAA, "order.created", NOW / US_PER_SECOND - (minute + 90));
    backlog_groups(backlog, PIVOT_ERROR, NULL, (minute + 100) * US_PER_SECOND, &arena, &list);
    assert_int_equal(per_hour(&list), 247 * 3600 / 330);
    arena_release(&arena);
    backlog_destroy(backlog);
}

static void
what_others_closed_goes_and_what_was_missed_is_named(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    for (int64_t id = 1; id <= 10; id++)
        add(backlog, id, 1, "a", 100 - id);
    const int64_t without_two[] = {1, 3, 4, 5, 6, 7, 8, 9};
    int64_t *none;
    size_t none_count;
    backlog_reconcile(backlog, without_two, 8, 9, &none, &none_count);
    assert_int_equal(none_count, 0);
    free(none);

    // 3 and 5 were closed by somebody, 2 was set back to pending, 10 arrived after the truth was read.
    const int64_t truth[] = {1, 2, 4, 6, 7, 8, 9};
    int64_t *missing;
    size_t count;
    backlog_reconcile(backlog, truth, 7, 9, &missing, &count);
    assert_int_equal(count, 1);
    assert_int_equal(missing[0], 2);
    free(missing);
    assert_int_equal(backlog_count(backlog), 7);
    uint64_t key;
    assert_false(backlog_group_of(backlog, 5, &key));
    assert_true(backlog_group_of(backlog, 10, &key));
    backlog_destroy(backlog);
}

static void
a_group_that_was_emptied_comes_back(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    add(backlog, 1, 5, "a", 60);
    backlog_emptied(backlog, 5, NOW - 120 * US_PER_SECOND);
    struct arena arena = {0};
    struct group_list list;
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_true(list.groups[0].is_returned);
    add(backlog, 2, 5, "a", 180);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_false(list.groups[0].is_returned);
    backlog_emptied(backlog, 6, NOW - 120 * US_PER_SECOND); // told before its first event was read
    add(backlog, 3, 6, "b", 60);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.groups[1].key, 6);
    assert_true(list.groups[1].is_returned);
    assert_int_equal(list.groups[1].sample_id, 3);
    backlog_emptied(backlog, 7, NOW); // and one that never comes is no group, nor asked about
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 2);
    arena_release(&arena);
    backlog_destroy(backlog);
}

// Days after its first event a group is not NEW, whatever is pending of it now; it is BACK where
// an operation had emptied it.
static void
a_group_is_new_once_in_its_life(void **state)
{
    (void)state;
    const int64_t seen = NOW / US_PER_SECOND - 4 * 86400;
    struct backlog *backlog = backlog_create();
    struct arena arena = {0};
    struct group_list list;
    add(backlog, 1, 5, "a", 60);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_true(list.groups[0].is_new);
    assert_false(list.groups[0].is_returned);

    backlog_seen(backlog, 5, seen);
    backlog_emptied(backlog, 5, NOW - 120 * US_PER_SECOND);
    add(backlog, 2, 5, "a", 50);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_false(list.groups[0].is_new);
    assert_true(list.groups[0].is_returned);
    assert_int_equal(list.groups[0].first_at, seen * US_PER_SECOND);
    arena_release(&arena);
    backlog_destroy(backlog);
}

static void
curves_stand_still_within_a_minute(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    for (int i = 0; i < 60; i++)
        add(backlog, i + 1, 5, "a", i * 61);
    int64_t begin = NOW - NOW % (60 * US_PER_SECOND) + 60 * US_PER_SECOND;
    struct arena arena = {0};
    struct group_list first, list;
    backlog_groups(backlog, PIVOT_ERROR, NULL, begin, &arena, &first);
    for (int second = 1; second < 60; second += 7) {
        backlog_groups(backlog, PIVOT_ERROR, NULL, begin + second * US_PER_SECOND, &arena, &list);
        assert_memory_equal(list.groups[0].spark, first.groups[0].spark, sizeof first.groups[0].spark);
    }
    arena_release(&arena);
    backlog_destroy(backlog);
}

static void
lists_by_pivot_are_newest_first(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    add(backlog, 1, 5, "a", 10);
    add(backlog, 2, 5, "b", 30);
    add(backlog, 3, 6, "a", 20);
    int64_t *ids;
    size_t count;
    backlog_ids(backlog, PIVOT_TYPE, "a", false, &ids, &count);
    assert_int_equal(count, 2);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 3);
    free(ids);
    backlog_ids(backlog, PIVOT_TYPE, "nobody", false, &ids, &count);
    assert_int_equal(count, 0);
    free(ids);
    backlog_ids(backlog, PIVOT_TYPE, "", false, &ids, &count);
    assert_int_equal(count, 0);
    free(ids);
    backlog_destroy(backlog);
}

static enum category
only_eight_is_given(const void *context, uint64_t key, const struct group_text *text, bool *is_overridden)
{
    assert_ptr_equal(context, &NOW);
    assert_null(text->pattern);
    *is_overridden = key == 8;
    return key == 8 ? CATEGORY_PERMANENT : key == 9 ? CATEGORY_COUNT : CATEGORY_SYSTEM;
}

static void
categories_are_decided_again(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    for (int64_t id = 1; id < 4; id++)
        add(backlog, id, (uint64_t)id + 6, "a", 0);
    backlog_categorize(backlog, only_eight_is_given, &NOW);
    struct arena arena = {0};
    struct group_list list;
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    const enum category wanted[] = {CATEGORY_SYSTEM, CATEGORY_PERMANENT, CATEGORY_DATA};
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.groups[i].category, wanted[list.groups[i].key - 7]);
        assert_int_equal(list.groups[i].is_overridden, list.groups[i].key == 8);
    }
    backlog_groups(backlog, PIVOT_CATEGORY, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 3);
    enum category category;
    assert_true(backlog_category(backlog, 8, &category));
    assert_int_equal(category, CATEGORY_PERMANENT);
    assert_false(backlog_category(backlog, 77, &category));
    arena_release(&arena);
    backlog_destroy(backlog);
}

// --- hours out of a rollup ---

enum { SERIES = 3, EACH = 40 };

// Series k ends k quarters of an hour ago, and has an event every 7 minutes before.
static int64_t
age_of(int64_t series, int64_t i)
{
    return series * 900 + i * 420 + 17;
}

// What the store reads of the same events: each series with its first and last time, and counts by hour and,
// in the last hour, by bucket.
static struct backlog *
make_hours_counted(void)
{
    struct backlog_rollup rollup = {.series = calloc(SERIES, sizeof *rollup.series),
                                    .retries = calloc(SERIES, sizeof *rollup.retries),
                                    .hours = calloc((size_t)SERIES * EACH, sizeof *rollup.hours),
                                    .buckets = calloc((size_t)SERIES * EACH, sizeof *rollup.buckets)};
    int64_t now = NOW / US_PER_SECOND;
    for (uint32_t k = 0; k < SERIES; k++) {
        rollup.series[rollup.series_count++] = (struct backlog_series){.group = k + 1,
                                                                       .event_type = BYTES("a"),
                                                                       .newest_id = k + 1,
                                                                       .first_at = now - age_of(k, EACH - 1),
                                                                       .last_at = now - age_of(k, 0)};
        rollup.retries[rollup.retry_count++] = (struct rollup_count){.series = k, .at = 0, .count = EACH};
        for (int i = 0; i < EACH; i++) {
            int64_t at = now - age_of(k, i);
            rollup.hours[rollup.hour_count++] =
                (struct rollup_count){.series = k, .at = (int32_t)(at / 3600), .count = 1};
            if (at >= now - 3600)
                rollup.buckets[rollup.bucket_count++] =
                    (struct rollup_count){.series = k, .at = (int32_t)(at / BUCKET_SECONDS), .count = 1};
        }
    }
    struct backlog *backlog = backlog_create();
    backlog_adopt_rollup(backlog, &rollup);
    return backlog;
}

// A rollup counts by hour, not when within it. What it does not know it does not make up: the newest event of
// this hour is not as old as the clock is.
static void
the_newest_event_of_an_hour_is_no_clock(void **state)
{
    (void)state;
    struct backlog *counted = make_hours_counted(), *read = backlog_create();
    int64_t id = 1, now = NOW / US_PER_SECOND;
    for (uint32_t k = 0; k < SERIES; k++)
        for (int i = 0; i < EACH; i++, id++)
            add(read, id, k + 1, "a", age_of(k, i));
    struct arena arena = {0};
    struct group_list told, truth;
    backlog_groups(counted, PIVOT_HOUR, NULL, NOW, &arena, &told);
    backlog_groups(read, PIVOT_HOUR, NULL, NOW, &arena, &truth);
    assert_int_equal(told.count, truth.count);
    for (size_t i = 0; i < told.count; i++) {
        const struct event_group *a = &told.groups[i], *b = truth.groups;
        while (strcmp(a->value, b->value) != 0)
            b++;
        assert_int_equal(a->count, b->count);
        int64_t last = b->last_at / US_PER_SECOND, start = last / 3600 * 3600;
        assert_true(a->first_at <= b->first_at && a->first_at / US_PER_SECOND >= start);
        assert_true(a->last_at >= b->last_at && a->last_at / US_PER_SECOND < start + 3600);
        if (start == now / 3600 * 3600)
            assert_int_equal(a->last_at, b->last_at);
        else if (last >= now - 3600)
            assert_true(a->last_at / US_PER_SECOND - last < BUCKET_SECONDS);
    }
    arena_release(&arena);
    backlog_destroy(counted);
    backlog_destroy(read);
}

// --- more groups than a list has ---

enum { MANY = 300, LISTED = 20 };

// Group k has k / 3 + 1 events, so that some are as large as others.
static struct backlog *
make_many(void)
{
    struct backlog *backlog = backlog_create();
    int64_t id = 1;
    for (uint64_t k = 0; k < MANY; k++)
        for (uint64_t i = 0; i <= k / 3; i++, id++)
            add(backlog, id, k + 1, i % 2 ? "a" : "b", (int64_t)(k * 7919 % 1000 + i * 3));
    return backlog;
}

// The same, as a rollup would hold it.
static struct backlog *
make_many_counted(void)
{
    struct backlog_rollup rollup = {.series = calloc(MANY, sizeof *rollup.series),
                                    .retries = calloc(MANY, sizeof *rollup.retries),
                                    .buckets = calloc((size_t)MANY * MANY, sizeof *rollup.buckets)};
    for (uint32_t k = 0; k < MANY; k++) {
        int64_t newest = k * 7919 % 1000, count = k / 3 + 1;
        rollup.series[rollup.series_count++] =
            (struct backlog_series){.group = k + 1,
                                    .event_type = BYTES("a"),
                                    .newest_id = k + 1,
                                    .first_at = NOW / US_PER_SECOND - newest - (count - 1) * 3,
                                    .last_at = NOW / US_PER_SECOND - newest};
        rollup.retries[rollup.retry_count++] = (struct rollup_count){.series = k, .at = 0, .count = count};
        for (int64_t i = 0; i < count; i++)
            rollup.buckets[rollup.bucket_count++] = (struct rollup_count){
                .series = k,
                .at = (int32_t)((NOW / US_PER_SECOND - newest - i * 3) / BUCKET_SECONDS),
                .count = 1};
    }
    struct backlog *backlog = backlog_create();
    backlog_adopt_rollup(backlog, &rollup);
    return backlog;
}

static double
rank_of(const struct event_group *group, enum group_rank rank)
{
    return rank == RANK_NEWEST  ? (double)group->last_at
           : rank == RANK_RATE  ? group->per_minute
           : rank == RANK_FIRST ? (double)group->first_at
                                : (double)group->count;
}

static bool
is_listed(const struct group_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->groups[i].key == key)
            return true;
    return false;
}

static void
check_limit(const struct backlog *backlog, struct group_limit limit)
{
    struct arena arena = {0};
    struct group_list all, first;
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &all);
    assert_int_equal(all.total, MANY);
    backlog_groups_limited(backlog, PIVOT_ERROR, NULL, &limit, NOW, &arena, &first);
    assert_int_equal(first.count, LISTED);
    assert_int_equal(first.total, MANY);
    assert_int_equal(first.events, all.events);
    assert_memory_equal(first.spark, all.spark, sizeof all.spark);
    assert_true(first.per_minute > all.per_minute - 0.001 && first.per_minute < all.per_minute + 0.001);
    // Nothing that is left out stands before what is listed.
    double sign = limit.is_reversed ? -1 : 1, last = 1e18;
    for (size_t i = 0; i < first.count; i++)
        last = sign * rank_of(&first.groups[i], limit.rank) < last
                   ? sign * rank_of(&first.groups[i], limit.rank)
                   : last;
    for (size_t i = 0; i < all.count; i++) {
        const struct event_group *group = &all.groups[i];
        if (!is_listed(&first, group->key))
            assert_true(sign * rank_of(group, limit.rank) <= last);
    }
    // What is listed is the same group in all it says.
    for (size_t i = 0; i < first.count; i++)
        for (size_t j = 0; j < all.count; j++)
            if (all.groups[j].key == first.groups[i].key) {
                assert_int_equal(all.groups[j].count, first.groups[i].count);
                assert_int_equal(all.groups[j].last_at, first.groups[i].last_at);
                assert_memory_equal(all.groups[j].spark, first.groups[i].spark, sizeof all.spark);
                assert_int_equal(all.groups[j].types[0].count, first.groups[i].types[0].count);
            }
    arena_release(&arena);
}

// ranking.c
static void
a_limited_list_has_the_first_and_exact_totals(void **state)
{
    (void)state;
    struct backlog *backlogs[] = {make_many(), make_many_counted()};
    for (int i = 0; i < 2; i++) {
        for (enum group_rank rank = RANK_COUNT; rank <= RANK_FIRST; rank++)
            for (int reversed = 0; reversed < 2; reversed++)
                check_limit(backlogs[i], (struct group_limit){LISTED, rank, reversed});
        struct arena arena = {0};
        struct group_list list, parts;
        const uint64_t within = MANY;
        const struct group_limit limit = {.most = LISTED};
        backlog_groups_limited(backlogs[i], PIVOT_TYPE, &within, &limit, NOW, &arena, &list);
        assert_int_equal(list.events, MANY / 3);
        assert_int_equal(list.total, list.count);
        backlog_groups_merged(backlogs[i], &limit, NOW, &arena, &list, &parts);
        assert_int_equal(list.count, LISTED);
        assert_int_equal(list.total, MANY);
        arena_release(&arena);
        backlog_destroy(backlogs[i]);
    }
}

// Events arrive in another order at each reading; the list must not change with it.
static void
equal_groups_are_listed_by_value(void **state)
{
    enum { VALUES = 10, FIRST = 3 };
    (void)state;
    struct arena arena = {0};
    const struct group_limit limit = {.most = FIRST};
    for (int turned = 0; turned < 2; turned++) {
        struct backlog *backlog = backlog_create();
        struct path_values *paths = path_values_create();
        for (int i = 0; i < VALUES; i++) {
            int n = turned ? VALUES - 1 - i : i;
            add(backlog, i + 1, (uint64_t)n + 1, arena_printf(&arena, "value %d", n), 0);
            path_values_put(paths, i + 1, bytes_of(arena_printf(&arena, "\"value %d\"", n)));
        }
        backlog_set_paths(backlog, paths);
        static const enum pivot pivots[] = {PIVOT_TYPE, PIVOT_PATH, PIVOT_ERROR};
        for (size_t p = 0; p < sizeof pivots / sizeof *pivots; p++) {
            struct group_list list;
            backlog_groups_limited(backlog, pivots[p], NULL, &limit, NOW, &arena, &list);
            assert_int_equal(list.count, FIRST);
            for (int i = 0; i < FIRST; i++)
                if (pivots[p] == PIVOT_ERROR)
                    assert_int_equal(list.groups[i].key, i + 1);
                else
                    assert_string_equal(list.groups[i].value, arena_printf(&arena, "value %d", i));
        }
        backlog_destroy(backlog);
        path_values_destroy(paths);
    }
    arena_release(&arena);
}

// Of more groups than are kept with their texts the others have a category; a list asks for what it lacks.
static void
texts_of_the_first_are_kept(void **state)
{
    (void)state;
    struct backlog *backlog = make_many_counted();
    backlog_keep_texts(backlog, LISTED);
    const struct group_text text = {
        .pattern = "connection refused", .category = CATEGORY_TRANSIENT, .has_category = true};
    uint64_t key;
    int64_t sample;
    size_t cursor = 0, described = 0;
    for (; backlog_undescribed(backlog, &cursor, &key, &sample); described++)
        backlog_describe(backlog, key, &text);
    assert_int_equal(described, MANY);
    cursor = 0;
    assert_false(backlog_undescribed(backlog, &cursor, &key, &sample));

    struct arena arena = {0};
    struct group_list list;
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    size_t kept = 0;
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.groups[i].category, CATEGORY_TRANSIENT);
        kept += list.groups[i].text.pattern != NULL;
    }
    assert_int_equal(kept, LISTED);

    assert_false(backlog_make_room(backlog, LISTED));
    backlog_describe(backlog, list.groups[0].key, &text);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_string_equal(list.groups[0].text.pattern, "connection refused");
    assert_true(backlog_make_room(backlog, 2 * LISTED));
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_null(list.groups[0].text.pattern);
    assert_int_equal(list.groups[0].category, CATEGORY_TRANSIENT);

    assert_true(backlog_describe_again(backlog));
    cursor = 0;
    assert_true(backlog_undescribed(backlog, &cursor, &key, &sample));
    arena_release(&arena);
    backlog_destroy(backlog);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limited_list_has_the_first_and_exact_totals),
        cmocka_unit_test(equal_groups_are_listed_by_value),
        cmocka_unit_test(texts_of_the_first_are_kept),
        cmocka_unit_test(rows_in_any_order_are_there_once),
        cmocka_unit_test(what_others_wrote_is_renewed),
        cmocka_unit_test(groups_are_counted_exactly),
        cmocka_unit_test(nothing_fades_before_the_minute_is_over),
        cmocka_unit_test(what_others_closed_goes_and_what_was_missed_is_named),
        cmocka_unit_test(a_group_that_was_emptied_comes_back),
        cmocka_unit_test(a_group_is_new_once_in_its_life),
        cmocka_unit_test(curves_stand_still_within_a_minute),
        cmocka_unit_test(the_newest_event_of_an_hour_is_no_clock),
        cmocka_unit_test(lists_by_pivot_are_newest_first),
        cmocka_unit_test(categories_are_decided_again),
    };
    return cmocka_run_group_tests_name("backlog", tests, NULL, NULL);
}
