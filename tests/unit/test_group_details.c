// All types and topics of a group, and how many of its events returned: from rows, merged, and by any pivot.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>
#include "core/backlog/backlog.h"

static const int64_t NOW = 1700000000LL * US_PER_SECOND;

static void
add(struct backlog *backlog, int64_t id, uint64_t group, const char *type, const char *topic,
    bool is_returned)
{
    struct event event = {.id = id,
                          .group = group,
                          .event_type = bytes_of(type),
                          .topic = bytes_of(topic),
                          .category = CATEGORY_DATA,
                          .created_at = NOW,
                          .known.returned = is_returned};
    assert_int_equal(backlog_add(backlog, &event, 1), 1);
}

// Group 7: four types more than the top three hold. Group 8: no type, no topic.
static struct backlog *
make_backlog(void)
{
    struct backlog *backlog = backlog_create();
    static const char *const types[] = {"d", "b", "b", "c", "a", "e", "b", "c"};
    for (int64_t i = 0; i < 8; i++)
        add(backlog, i + 1, 7, types[i], i == 0 ? "late" : "orders", i < 3);
    add(backlog, 9, 8, NULL, NULL, true);
    return backlog;
}

static void
assert_names(const struct group_share *shares, size_t count, const char *wanted)
{
    char names[100] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s %lld, ", shares[i].name,
                 (long long)shares[i].count);
    assert_string_equal(names, wanted);
}

static void
details_hold_more_than_the_top_three(void **state)
{
    (void)state;
    struct backlog *backlog = make_backlog();
    struct arena arena = {0};
    struct group_list list;
    backlog_groups_detailed(backlog, PIVOT_ERROR, false, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 2);
    const struct group_details *details = list.groups[0].details;
    assert_names(details->types, details->type_count, "b 3, c 2, a 1, d 1, e 1, ");
    assert_names(details->topics, details->topic_count, "orders 7, late 1, ");
    assert_int_equal(details->returned, 3);
    details = list.groups[1].details;
    assert_int_equal(details->type_count + details->topic_count, 0);
    assert_int_equal(details->returned, 1);

    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_null(list.groups[0].details); // the screen does not pay for them
    arena_release(&arena);
    backlog_destroy(backlog);
}

// BACK by its events alone: more than half of what is pending was republished before. Emptied or not.
static void
a_group_of_which_most_returned_is_back(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    struct arena arena = {0};
    struct group_list list;
    for (int64_t id = 1; id <= 4; id++)
        add(backlog, id, 7, "a", "orders", id > 2);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_false(list.groups[0].is_returned); // half of them
    assert_int_equal(list.groups[0].outcomes.returned, 2);
    add(backlog, 5, 7, "a", "orders", true);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_true(list.groups[0].is_returned);
    add(backlog, 6, 7, "a", "orders", false);
    backlog_groups(backlog, PIVOT_ERROR, NULL, NOW, &arena, &list);
    assert_false(list.groups[0].is_returned);
    arena_release(&arena);
    backlog_destroy(backlog);
}

static void
every_pivot_has_them(void **state)
{
    (void)state;
    struct backlog *backlog = make_backlog();
    struct arena arena = {0};
    struct group_list list;
    backlog_groups_detailed(backlog, PIVOT_TYPE, false, NULL, NOW, &arena, &list);
    assert_string_equal(list.groups[0].value, "b");
    assert_int_equal(list.groups[0].details->returned, 2);
    assert_names(list.groups[0].details->topics, list.groups[0].details->topic_count, "orders 3, ");
    backlog_groups_detailed(backlog, PIVOT_CATEGORY, false, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.groups[0].details->returned, 4);
    arena_release(&arena);
    backlog_destroy(backlog);
}

// Each pair of values is a row with both of its names; the largest ones where the list is limited.
static void
pairs_are_counted_by_both(void **state)
{
    (void)state;
    struct backlog *backlog = make_backlog();
    struct path_values *values = path_values_create();
    for (int64_t id = 1; id <= 8; id++)
        path_values_put(values, id, id <= 4 ? BYTES("\"charge\"") : BYTES("5"));
    struct arena arena = {0};
    struct group_list list;
    const struct second_pivot error = {.pivot = PIVOT_ERROR};
    backlog_set_paths(backlog, values);
    backlog_groups_paired(backlog, PIVOT_PATH, &error, NULL, NOW, &arena, &list);
    assert_int_equal(list.count, 3); // charge and 5 of group 7, missing of group 8
    assert_int_equal(list.events, 9);
    assert_string_equal(list.groups[0].value, "5");
    assert_int_equal(list.groups[0].count, 4);
    assert_int_equal(list.groups[0].details->second->key, 7);
    assert_string_equal(list.groups[0].details->second->value, "0000000000000007");
    assert_int_equal(list.groups[2].path_kind, PATH_MISSING);
    assert_int_equal(list.groups[2].details->second->key, 8);

    const struct second_pivot path = {.pivot = PIVOT_PATH, .paths = values};
    backlog_set_paths(backlog, NULL); // the second one has values of its own
    backlog_groups_paired(backlog, PIVOT_TYPE, &path, &(struct group_limit){.most = 1}, NOW, &arena, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.total, 8); // a 5, b charge, b 5, c charge, c 5, d charge, e 5, and none
    assert_int_equal(list.events, 9);
    assert_string_equal(list.groups[0].value, "b");
    assert_string_equal(list.groups[0].details->second->value, "charge");
    arena_release(&arena);
    backlog_destroy(backlog);
    path_values_destroy(values);
}

static void
kind_is_a_synonym(void **state)
{
    (void)state;
    enum pivot pivot;
    assert_true(pivot_parse(BYTES("kind"), &pivot) && pivot == PIVOT_CATEGORY);
    assert_true(pivot_parse(BYTES("category"), &pivot) && pivot == PIVOT_CATEGORY);
    assert_string_equal(pivot_name(PIVOT_CATEGORY), "category");
    assert_false(pivot_parse(BYTES("colour"), &pivot));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(details_hold_more_than_the_top_three),
        cmocka_unit_test(a_group_of_which_most_returned_is_back),
        cmocka_unit_test(every_pivot_has_them),
        cmocka_unit_test(pairs_are_counted_by_both),
        cmocka_unit_test(kind_is_a_synonym),
    };
    return cmocka_run_group_tests_name("group details", tests, NULL, NULL);
}
