// Which value each event has at a path, and the pivot by it. core/backlog/path_values, core/backlog/groups.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/backlog/backlog.h"

static const int64_t NOW = 1700000000LL * US_PER_SECOND;

static unsigned seed = 3;

static unsigned
chance(unsigned of)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % of;
}

static void
put(struct path_values *values, int64_t id, const char *token)
{
    path_values_put(values, id, token ? bytes_of(token) : BYTES_ABSENT);
}

static void
assert_value(struct path_values *values, int64_t id, enum path_kind kind, const char *name)
{
    struct bytes found;
    uint32_t number = path_values_of(values, id);
    assert_int_not_equal(number, PATH_UNREAD);
    assert_int_equal(path_values_value(values, number, &found), kind);
    assert_true(bytes_equal_text(found, name));
}

static void
the_last_value_of_an_event_counts(void **state)
{
    (void)state;
    struct path_values *values = path_values_create();
    put(values, 5, "\"pay\"");
    put(values, 3, "1.0");
    put(values, 9, NULL);
    put(values, 3, "\"1\"");
    assert_value(values, 3, PATH_TEXT, "1");
    assert_value(values, 5, PATH_TEXT, "pay");
    assert_value(values, 9, PATH_MISSING, "");
    put(values, 5, "null");
    put(values, 7, "[1]");
    assert_value(values, 5, PATH_NULL, "");
    assert_value(values, 7, PATH_ARRAY, "");
    assert_int_equal(path_values_of(values, 4), PATH_UNREAD);
    const int64_t ids[] = {9, 4, 3, 11};
    int64_t unread[4];
    assert_int_equal(path_values_unread(values, ids, 4, unread), 2);
    assert_int_equal(unread[0], 4);
    assert_int_equal(unread[1], 11);
    path_values_destroy(values);
    path_values_destroy(NULL);
}

// Below zero and above, close together or from both ends of the type; the one after it is never put.
static int64_t
spread(int i, int round)
{
    int64_t step = round % 2 ? INT64_MAX / 400 : 3;
    return (i - 350) * step;
}

// Random ids in random order, asked for in random order, against an array.
static void
any_order_finds_the_same(void **state)
{
    (void)state;
    enum { IDS = 700 };
    for (int round = 0; round < 20; round++) {
        struct path_values *values = path_values_create();
        int expected[IDS];
        for (int i = 0; i < IDS; i++)
            expected[i] = -1;
        for (int step = 0; step < 3000; step++) {
            int id = (int)chance(IDS);
            if (chance(3) > 0) {
                char token[16];
                snprintf(token, sizeof token, "%d", expected[id] = (int)chance(50));
                put(values, spread(id, round), token);
                continue;
            }
            uint32_t number = path_values_of(values, spread(id, round) + (int)chance(2));
            uint32_t own = path_values_of(values, spread(id, round));
            struct bytes name;
            assert_true(number == own || number == PATH_UNREAD);
            assert_int_equal(own == PATH_UNREAD, expected[id] < 0);
            if (own == PATH_UNREAD)
                continue;
            (void)path_values_value(values, own, &name);
            assert_int_equal(strtol(name.data, NULL, 10), expected[id]);
        }
        for (int i = IDS - 1; i >= 0; i--)
            assert_int_equal(path_values_of(values, spread(i, round)) == PATH_UNREAD, expected[i] < 0);
        path_values_destroy(values);
    }
}

static struct backlog *
make_backlog(struct path_values *values, int events, int different)
{
    struct backlog *backlog = backlog_create();
    for (int i = 1; i <= events; i++) {
        const struct event event = {.id = i,
                                    .group = (uint64_t)(i % 4),
                                    .created_at = NOW - i * US_PER_SECOND,
                                    .event_type = i % 2 ? BYTES("a") : BYTES("b"),
                                    .category = CATEGORY_DATA};
        char token[32];
        snprintf(token, sizeof token, "\"value-%d\"", i % 10 == 0 ? 0 : i % different);
        backlog_add(backlog, &event, 1);
        put(values, i, token);
    }
    backlog_set_paths(backlog, values);
    return backlog;
}

static const struct event_group *
group_named(const struct group_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->groups[i].value, name) == 0)
            return &list->groups[i];
    return NULL;
}

static void
groups_by_a_path_are_counted(void **state)
{
    (void)state;
    struct path_values *values = path_values_create();
    struct backlog *backlog = make_backlog(values, 99, 3);
    struct arena arena = {0};
    struct group_list list;
    put(values, 98, NULL);
    put(values, 97, "null");
    backlog_groups(backlog, PIVOT_PATH, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 5);
    assert_int_equal(list.events, 99);
    const struct event_group *largest = &list.groups[0];
    assert_string_equal(largest->value, "value-0");
    assert_int_equal(largest->count, 33 + 6);
    assert_int_equal(largest->path_kind, PATH_TEXT);
    assert_int_equal(largest->first_at, NOW - 99 * US_PER_SECOND);
    assert_int_equal(largest->last_at, NOW - 3 * US_PER_SECOND);
    assert_int_equal(largest->types[0].count + largest->types[1].count, 39);
    assert_int_equal(list.groups[3].path_kind + list.groups[4].path_kind, PATH_MISSING + PATH_NULL);

    const uint64_t within = 1;
    backlog_groups(backlog, PIVOT_PATH, &within, NOW, &arena, &list);
    assert_int_equal(list.events, 25);
    assert_null(group_named(&list, "value-9"));
    arena_release(&arena);
    backlog_destroy(backlog);
    path_values_destroy(values);
}

// Of values that differ in each event the largest are listed, and the totals are of all.
static void
many_values_are_limited(void **state)
{
    (void)state;
    struct path_values *values = path_values_create();
    struct backlog *backlog = make_backlog(values, 5000, 100000);
    struct arena arena = {0};
    struct group_list list;
    const struct group_limit limit = {.most = 20};
    backlog_groups_limited(backlog, PIVOT_PATH, NULL, &limit, NOW, &arena, &list);
    assert_int_equal(list.count, 20);
    assert_int_equal(list.total, 4501);
    assert_int_equal(list.events, 5000);
    assert_string_equal(list.groups[0].value, "value-0");
    assert_int_equal(list.groups[0].count, 500);
    arena_release(&arena);
    backlog_destroy(backlog);
    path_values_destroy(values);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_value_of_an_event_counts),
        cmocka_unit_test(any_order_finds_the_same),
        cmocka_unit_test(groups_by_a_path_are_counted),
        cmocka_unit_test(many_values_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
