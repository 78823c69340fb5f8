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
        cmocka_unit_test(every_pivot_has_them),
        cmocka_unit_test(kind_is_a_synonym),
    };
    return cmocka_run_group_tests_name("group details", tests, NULL, NULL);
}
