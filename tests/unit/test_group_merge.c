// Near-equal groups as one: what is merged, what must never be, and that the order of arrival says nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/backlog/backlog.h"
#include "core/fingerprint/merge.h"
#include "tests/unit/cpu_time.h"

enum { MOST = 16 };

// One case a row: patterns, and how many groups they come to.
static const struct {
    const char *what;
    const char *error_class;
    const char *patterns[MOST];
    size_t groups;
} rows[] = {
    {"five cities in one place",
     NULL,
     {"no route to Lisboa today", "no route to Seoul today", "no route to Madrid today",
      "no route to Porto today", "no route to Busan today"},
     1},
    {"four are too few",
     NULL,
     {"no route to Lisboa today", "no route to Seoul today", "no route to Madrid today",
      "no route to Porto today"},
     4},
    {"a full stop behind the word is no difference of words, but of texts",
     NULL,
     {"no route to Lisboa.", "no route to Seoul.", "no route to Madrid.", "no route to Porto.",
      "no route to Busan.", "no route to Busan"},
     2},
    {"another number of words is another text",
     NULL,
     {"no route to Lisboa today", "no route to Seoul today", "no route to Madrid today",
      "no route to Porto today", "no route to New York today"},
     5},
    {"two places differ",
     NULL,
     {"no route to Lisboa today", "no road to Seoul today", "no way to Madrid today",
      "no path to Porto today", "no line to Busan today"},
     5},
    {"one literal word elsewhere is not enough",
     NULL,
     {"<n> lost Lisboa", "<n> lost Seoul", "<n> lost Madrid", "<n> lost Porto", "<n> lost Busan"},
     5},
    {"methods of HTTP are not words",
     NULL,
     {"cannot GET the page", "cannot POST the page", "cannot PUT the page", "cannot DELETE the page",
      "cannot PATCH the page", "cannot HEAD the page"},
     6},
    {"codes are not words",
     NULL,
     {"broker says E11000 again today", "broker says E11001 again today", "broker says E11002 again today",
      "broker says E11003 again today", "broker says E11004 again today"},
     5},
    {"what is named is kept apart",
     NULL,
     {"there is no column amount here", "there is no column price here", "there is no column total here",
      "there is no column tax here", "there is no column city here"},
     5},
    {"Korean words too",
     NULL,
     {"결제 실패 서울 지점", "결제 실패 부산 지점", "결제 실패 대구 지점", "결제 실패 인천 지점",
      "결제 실패 광주 지점"},
     1},
};

static struct merge_input
input(const char *error_class, const char *pattern, uint64_t key)
{
    return (struct merge_input){
        .key = key, .error_class = bytes_of(error_class), .pattern = bytes_of(pattern)};
}

static size_t
count_leaders(const struct merge *merges, size_t count)
{
    size_t leaders = 0;
    for (size_t i = 0; i < count; i++)
        leaders += merges[i].leader == i;
    return leaders;
}

static void
what_is_one_and_what_is_not(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct merge_input inputs[MOST];
        struct merge merges[MOST];
        size_t count = 0;
        for (; count < MOST && rows[r].patterns[count]; count++)
            inputs[count] = input(rows[r].error_class, rows[r].patterns[count], 1000 - count * 7);
        group_merge(inputs, count, merges);
        if (count_leaders(merges, count) != rows[r].groups)
            fail_msg("%s: %zu groups instead of %zu", rows[r].what, count_leaders(merges, count),
                     rows[r].groups);
    }
}

static void
another_class_is_another_group(void **state)
{
    (void)state;
    static const char *const cities[] = {"Lisboa", "Seoul", "Madrid", "Porto", "Busan", "Faro"};
    struct merge_input inputs[6];
    struct merge merges[6];
    char patterns[6][40];
    for (size_t i = 0; i < 6; i++) {
        snprintf(patterns[i], sizeof patterns[i], "no route to %s today", cities[i]);
        inputs[i] = input(i == 5 ? "RouteError" : NULL, patterns[i], i + 1);
    }
    group_merge(inputs, 6, merges);
    assert_int_equal(merges[5].leader, 5);
    assert_false(bytes_present(merges[5].word));
    assert_int_equal(merges[4].leader, 0); // the smallest key
    assert_true(bytes_equal_text(merges[4].word, "Busan"));
}

// Two ways to merge the same groups: the larger set takes them, whatever comes first.
static void
the_order_says_nothing(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * 2 };
    static const char *const words[SIDE] = {"red",   "blue",  "green", "white",
                                            "black", "brown", "grey",  "pink"};
    struct merge_input inputs[COUNT];
    char patterns[COUNT][60];
    size_t count = 0;
    for (size_t i = 0; i < SIDE; i++)
        snprintf(patterns[count++], 60, "the %s light is out", words[i]);
    for (size_t i = 0; i < 6; i++)
        snprintf(patterns[count++], 60, "the red %s is out", words[i]);
    for (size_t i = 0; i < count; i++)
        inputs[i] = input(NULL, patterns[i], (i * 37) % 101 + 1);
    struct merge first[COUNT];
    struct merge merges[COUNT];
    group_merge(inputs, count, first);
    uint64_t leaders[102] = {0};
    for (size_t i = 0; i < count; i++)
        leaders[inputs[i].key] = inputs[first[i].leader].key;
    for (size_t turn = 1; turn < count; turn++) {
        struct merge_input turned[COUNT];
        for (size_t i = 0; i < count; i++)
            turned[i] = inputs[(i + turn) % count];
        group_merge(turned, count, merges);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(turned[merges[i].leader].key, leaders[turned[i].key]);
    }
    assert_int_equal(count_leaders(first, count), 2);
}

// Five thousand groups, as many in sets as not, within a frame.
static void
many_groups_cost_little(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct merge_input *inputs = alloc_array(COUNT, sizeof *inputs);
    struct merge *merges = alloc_array(COUNT, sizeof *merges);
    char *texts = alloc_bytes((size_t)COUNT * 100);
    for (size_t i = 0; i < COUNT; i++) {
        char *text = texts + i * 100;
        snprintf(text, 100, "the order of %c%c%c%c cannot be shipped from the %c%c house before noon",
                 (int)('a' + i % 26), (int)('a' + i / 26 % 26), (int)('a' + i / 676 % 26), 'o',
                 (int)('a' + i % 7), (int)('a' + i % 11));
        inputs[i] = input("ShippingError", text, i * UINT64_C(0x9E3779B97F4A7C15) + 1);
    }
    int64_t began = cpu_time();
    group_merge(inputs, COUNT, merges);
    int64_t took = cpu_time() - began;
    assert_in_range(count_leaders(merges, COUNT), 1, COUNT / 10);
    assert_in_range(took, 0, 2 * SECOND_SPENT); // with sanitizers
    free(inputs);
    free(merges);
    free(texts);
}

// --- the list ---

static const int64_t NOW = 1700000000LL * US_PER_SECOND;

static void
add(struct backlog *backlog, int64_t id, uint64_t group, const char *type)
{
    struct event event = {.id = id,
                          .group = group,
                          .event_type = bytes_of(type),
                          .category = CATEGORY_DATA,
                          .created_at = NOW - id * US_PER_SECOND};
    assert_int_equal(backlog_add(backlog, &event, 1), 1);
}

static void
counts_of_merged_groups_are_sums(void **state)
{
    (void)state;
    static const char *const cities[] = {"Lisboa", "Seoul", "Madrid", "Porto", "Busan"};
    struct backlog *backlog = backlog_create();
    int64_t id = 1;
    for (uint64_t city = 0; city < 5; city++) {
        char pattern[60];
        for (uint64_t i = 0; i <= city; i++)
            add(backlog, id++, 50 - city, i ? "a" : "b");
        snprintf(pattern, sizeof pattern, "no route to %s today", cities[city]);
        backlog_describe(backlog, 50 - city, &(struct group_text){.pattern = pattern, .sample = pattern});
    }
    add(backlog, id++, 7, "c");
    backlog_describe(backlog, 7, &(struct group_text){.pattern = "alone", .sample = "alone"});

    struct arena arena = {0};
    struct group_list list;
    struct group_list parts;
    backlog_groups_merged(backlog, NULL, NOW, &arena, &list, &parts);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.events, 16);
    const struct event_group *merged = &list.groups[0];
    assert_int_equal(merged->count, 15);
    assert_int_equal(merged->part_count, 5);
    assert_int_equal(merged->parts[0], 46);
    assert_int_equal(merged->parts[4], 50);
    assert_int_equal(merged->key, ~UINT64_C(46));
    assert_string_equal(merged->text.pattern, "no route to <word> today");
    assert_int_equal(merged->types[0].count, 10);
    assert_string_equal(merged->types[0].name, "a");
    assert_int_equal(list.groups[1].part_count, 0);
    assert_int_equal(parts.count, 5);
    int64_t sum = 0;
    for (size_t i = 0; i < parts.count; i++)
        sum += parts.groups[i].count;
    assert_int_equal(sum, merged->count);
    arena_release(&arena);
    backlog_destroy(backlog);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_one_and_what_is_not),      cmocka_unit_test(another_class_is_another_group),
        cmocka_unit_test(the_order_says_nothing),           cmocka_unit_test(many_groups_cost_little),
        cmocka_unit_test(counts_of_merged_groups_are_sums),
    };
    return cmocka_run_group_tests_name("group_merge", tests, NULL, NULL);
}
