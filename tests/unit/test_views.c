// What the views decide by themselves, without an app: order, filters, rates, queries.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "ui/views/groups/query.h"
#include "ui/views/groups/rows.h"
#include "ui/app/app.h"
#include "ui/views/operations/row.h"
#include "ui/views/row_filter.h"
#include "ui/views/operations/steering.h"

struct sample {
    uint64_t key;
    int64_t count;
    const char *pattern;
};

// An answer as the backend gives it: largest first.
static void
answer(struct group_rows *rows, const struct sample *samples, size_t count, bool is_last)
{
    struct reply *reply = reply_create(REPLY_GROUPS, 1);
    reply->is_last = is_last;
    reply->groups.list.groups = arena_array(&reply->arena, count, sizeof *reply->groups.list.groups);
    reply->groups.list.count = count;
    for (size_t i = 0; i < count; i++)
        reply->groups.list.groups[i] =
            (struct event_group){.key = samples[i].key,
                                 .count = samples[i].count,
                                 .value = arena_printf(&reply->arena, "%016llx", (long long)samples[i].key),
                                 .text.pattern = arena_text(&reply->arena, bytes_of(samples[i].pattern))};
    (void)group_rows_take(rows, reply);
    reply_destroy(reply);
}

static void
expect_rows(const struct group_rows *rows, const struct sample *samples, size_t count)
{
    assert_int_equal(rows->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows->rows[i].key, samples[i].key);
        assert_int_equal(rows->rows[i].count, samples[i].count);
        assert_string_equal(rows->rows[i].text.pattern, samples[i].pattern);
    }
}

static void
test_order_follows_until_frozen(void **state)
{
    (void)state;
    struct group_rows rows = {0};
    answer(&rows, (struct sample[]){{1, 5, "a"}, {2, 3, "b"}}, 2, false);
    answer(&rows, (struct sample[]){{2, 9, "b"}, {1, 5, "a"}}, 2, true);
    expect_rows(&rows, (struct sample[]){{2, 9, "b"}, {1, 5, "a"}}, 2);
    assert_true(rows.is_frozen);

    // Counts change in place; what is new waits.
    answer(&rows, (struct sample[]){{3, 70, "c"}, {1, 50, "a"}, {2, 9, "b"}}, 3, true);
    expect_rows(&rows, (struct sample[]){{2, 9, "b"}, {1, 50, "a"}}, 2);
    assert_int_equal(rows.arrived, 1);

    group_rows_order(&rows);
    expect_rows(&rows, (struct sample[]){{3, 70, "c"}, {1, 50, "a"}, {2, 9, "b"}}, 3);
    assert_int_equal(rows.arrived, 0);
    group_rows_release(&rows);
}

static void
test_a_group_that_is_gone_keeps_its_place(void **state)
{
    (void)state;
    struct group_rows rows = {0};
    answer(&rows, (struct sample[]){{1, 5, "a"}, {2, 3, "b"}, {3, 1, "c"}}, 3, true);
    answer(&rows, (struct sample[]){{1, 5, "a"}, {3, 1, "c"}}, 2, true);
    answer(&rows, (struct sample[]){{1, 6, "a"}, {3, 1, "c"}}, 2, true);
    expect_rows(&rows, (struct sample[]){{1, 6, "a"}, {2, 0, "b"}, {3, 1, "c"}}, 3);

    // It may come back, and it may be let go.
    answer(&rows, (struct sample[]){{1, 6, "a"}, {2, 2, "b"}, {3, 1, "c"}}, 3, true);
    expect_rows(&rows, (struct sample[]){{1, 6, "a"}, {2, 2, "b"}, {3, 1, "c"}}, 3);
    answer(&rows, (struct sample[]){{1, 6, "a"}}, 1, true);
    group_rows_order(&rows);
    expect_rows(&rows, (struct sample[]){{1, 6, "a"}}, 1);
    group_rows_release(&rows);
}

static void
test_the_first_groups_after_none_are_shown(void **state)
{
    (void)state;
    struct group_rows rows = {0};
    answer(&rows, NULL, 0, true);
    assert_false(rows.is_frozen);
    answer(&rows, (struct sample[]){{1, 5, "a"}}, 1, true);
    expect_rows(&rows, (struct sample[]){{1, 5, "a"}}, 1);
    group_rows_release(&rows);
}

// An answer about other events, as after a change of the filter: no row of the one before stays.
static void
test_rows_of_other_events_are_made_anew(void **state)
{
    (void)state;
    struct group_rows rows = {0};
    answer(&rows, (struct sample[]){{1, 5, "a"}, {2, 3, "b"}, {3, 1, "c"}}, 3, true);
    assert_true(rows.is_frozen);
    group_rows_renew(&rows);
    answer(&rows, (struct sample[]){{3, 1, "c"}, {2, 2, "b"}}, 2, true);
    expect_rows(&rows, (struct sample[]){{2, 2, "b"}, {3, 1, "c"}}, 2);
    group_rows_release(&rows);
}

static void
test_a_wrong_filter_leaves_the_last_good_one(void **state)
{
    (void)state;
    struct row_filter filter = {0};
    struct err err = {0};
    assert_true(row_filter_set(&filter, BYTES("good"), NULL));
    assert_false(row_filter_set(&filter, BYTES("ba(d"), &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_in_range(err.column, 1, 5);
    int column = err.column;
    assert_true(row_filter_match(&filter, BYTES("a good one")));
    assert_false(row_filter_match(&filter, BYTES("a bad one")));

    // The column counts the `!` of an inverted one too.
    err_clear(&err);
    assert_false(row_filter_set(&filter, BYTES("!ba(d"), &err));
    assert_int_equal(err.column, column + 1);
    assert_true(row_filter_clear(&filter));
    assert_true(row_filter_match(&filter, BYTES("a bad one")));
    assert_false(row_filter_clear(&filter));
    row_filter_release(&filter);
}

static void
test_orders_never_tie(void **state)
{
    (void)state;
    const struct event_group a = {.key = 1, .value = "", .count = 3};
    const struct event_group b = {.key = 2, .value = "", .count = 3};
    for (int order = 0; order < GROUP_ORDERS; order++) {
        assert_true(group_compare(&a, &b, (enum group_order)order) < 0);
        assert_true(group_compare(&b, &a, (enum group_order)order) > 0);
        assert_int_equal(group_compare(&a, &a, (enum group_order)order), 0);
    }
}

static void
test_queries_of_groups(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct event_group group = {.key = 7, .value = "pay \"now\""};
    uint64_t within = 0x8f3a;
    struct list_query query = group_query(PIVOT_TYPE, &within, &group, NULL, &arena);
    assert_int_equal(query.source, LIST_PENDING);
    assert_true(query.has_value);
    assert_string_equal(query.value, "pay \"now\"");
    assert_string_equal(query.filter, "group:0000000000008f3a");
    assert_null(group_query(PIVOT_TYPE, NULL, &group, NULL, &arena).filter);
    assert_string_equal(group_query(PIVOT_TYPE, NULL, &group, "a or topic:x", &arena).filter, "a or topic:x");
    query = group_query(PIVOT_TYPE, &within, &group, "a or topic:x", &arena);
    assert_string_equal(query.filter, "group:0000000000008f3a (a or topic:x)");
    query = group_query(PIVOT_TYPE, &within, &group, "timed out|refused topic:x", &arena);
    assert_string_equal(query.filter, "group:0000000000008f3a timed out|refused topic:x");

    assert_string_equal(group_term(PIVOT_TYPE, &group, &arena), "type:=\"pay \\\"now\\\"\"");
    const struct event_group absent = {.value = ""};
    assert_string_equal(group_term(PIVOT_SOURCE, &absent, &arena), "!source:/^/");
    assert_null(group_term(PIVOT_HOUR, &group, &arena));

    // A value at a path is found by its term, whatever it is called.
    const struct event_group value = {
        .key = 7, .value = "5", .path = "$.task", .path_term = "$.task?text $.task=\"5\""};
    assert_string_equal(group_term(PIVOT_PATH, &value, &arena), value.path_term);
    query = group_query(PIVOT_PATH, &within, &value, "a or topic:x", &arena);
    assert_false(query.has_value);
    assert_string_equal(query.filter, "group:0000000000008f3a $.task?text $.task=\"5\" (a or topic:x)");
    assert_string_equal(query.path, "$.task");
    assert_int_equal(query.path_key, 7);
    assert_int_equal(query.path_filter, bytes_hash(bytes_of(query.filter)));
    arena_release(&arena);
}

static void
test_rates_step(void **state)
{
    (void)state;
    assert_int_equal(steering_step_rate(100, 0, true), 200);
    assert_int_equal(steering_step_rate(150, 0, true), 200);
    assert_int_equal(steering_step_rate(150, 0, false), 100);
    assert_int_equal(steering_step_rate(100, 0, false), 50);
    assert_int_equal(steering_step_rate(100000, 0, true), RATE_UNLIMITED);
    assert_int_equal(steering_step_rate(RATE_UNLIMITED, 0, true), RATE_UNLIMITED);
    // Down from no limit begins below what it does now; never to nothing, which is p's.
    assert_int_equal(steering_step_rate(RATE_UNLIMITED, 950, false), 500);
    assert_int_equal(steering_step_rate(1, 0, false), 1);
    assert_int_equal(steering_step_rate(0, 0, true), 1);
}

static void
test_views_offer_what_their_tables_name(void **state)
{
    (void)state;
    assert_true(app_handles(&view_groups, DO_PIVOT));
    assert_true(app_handles(&view_groups, DO_SELECT));
    assert_true(app_handles(&view_groups, DO_DOWN));
    assert_false(app_handles(&view_operations, DO_SELECT));
    assert_false(app_handles(&view_operations, DO_MERGE));
    assert_false(app_handles(&view_operations, DO_REPROCESS)); // its row only says why not
    assert_false(app_handles(&view_audit, DO_DISCARD));
    assert_false(app_handles(&view_audit, DO_VISUAL));
    assert_true(app_handles(&view_operations, DO_OPERATION_CANCEL));
    assert_false(app_handles(&view_groups, DO_OPERATION_CANCEL));
    assert_true(app_handles(&view_stats, DO_NEXT_MATCH));
    assert_false(app_handles(&view_stats, DO_COPY));
    assert_true(app_handles(&view_audit, DO_QUIT));
    assert_true(app_handles(NULL, DO_QUIT));
    assert_false(app_handles(NULL, DO_DOWN));
}

static bool
is_handled_somewhere(enum action action)
{
    for (int v = 0; v < view_count; v++)
        if (view_handles(views[v].view, action) && action_allowed(action, views[v].view->context))
            return true;
    return false;
}

// A row of actions.def that nobody handles would be a key that does nothing.
static void
test_every_action_has_a_handler(void **state)
{
    (void)state;
    for (int a = DO_NONE + 1; a < DO_COUNT; a++) {
        const struct action_row *row = action_row((enum action)a);
        bool is_own = app_handles(NULL, (enum action)a);
        if (is_own != ((row->contexts & IN_GLOBAL) != 0))
            fail_msg("%s: IN_GLOBAL and the app's own actions do not agree", row->word);
        if (!is_own && (row->contexts & (IN_LIST | IN_TEXT | IN_STEER)) &&
            !is_handled_somewhere((enum action)a))
            fail_msg("%s is handled by no view", row->word);
    }
}

static void
test_footers_name_what_is_handled(void **state)
{
    (void)state;
    for (int v = 0; v < view_count; v++)
        for (const enum action *action = views[v].view->footer; action && *action; action++)
            if (!app_handles(views[v].view, *action))
                fail_msg("the footer of %s names %s", views[v].view->name, action_row(*action)->word);
}

static void
test_counts_say_what_is_there(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct operation operation = {.action = ACTION_REPROCESS,
                                  .done = 1420,
                                  .queued = 570,
                                  .refused = 2,
                                  .returned = 3,
                                  .sent.watched = 17,
                                  .sent.quiet = 1400,
                                  .sent.taken.count = -1};
    assert_string_equal(
        operation_counts(&operation, &arena),
        "sent 1,420   returned 3   stayed away 1,400   watching 17   refused 2   to send 570");
    operation = (struct operation){.action = ACTION_DISCARD, .state = OPERATION_DONE, .done = 84};
    assert_string_equal(operation_counts(&operation, &arena), "discarded 84");
    assert_string_equal(operation_hint(&operation, &arena), "u undo");
    operation.undone.by = 43;
    assert_string_equal(operation_hint(&operation, &arena), "being undone by 43");
    operation.undone.is_done = true;
    assert_string_equal(operation_hint(&operation, &arena), "undone by 43");
    arena_release(&arena);
}

static void
test_what_it_waits_for_is_said(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct operation operation = {
        .action = ACTION_REPROCESS,
        .state = OPERATION_WAITING,
        .plan = {.steps = {10, 1000}, .step_count = 2, .halts = true, .halt_above = 20},
        .step = 1,
        .sent.watched = 17,
        .settle_until = 60 * US_PER_SECOND,
        .send_after = TIME_ABSENT};
    assert_string_equal(operation_wait_text(&operation, 17 * US_PER_SECOND + 1, "·", &arena),
                        "step 1 of 3 · watching 17 for returns · next step in 43s · halts above 20%");
    operation.step = 3;
    assert_string_equal(operation_step_text(&operation, &arena), "step 3 of 3 (rest)");
    operation.state = OPERATION_FROZEN;
    assert_string_equal(operation_wait_text(&operation, 0, "·", &arena), "");
    operation.send_after = 3 * US_PER_SECOND;
    assert_string_equal(operation_wait_text(&operation, 1, "·", &arena), "sending in 3s");
    assert_string_equal(operation_hint(&operation, &arena), "u undo");
    operation.done = 1;
    assert_string_equal(operation_hint(&operation, &arena), "");
    operation.done = 0;
    operation.state = OPERATION_CANCELLED;
    assert_string_equal(operation_hint(&operation, &arena), "");
    operation.state = OPERATION_FROZEN;
    assert_string_equal(operation_wait_text(&operation, 3 * US_PER_SECOND, "·", &arena), "");
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_follows_until_frozen),
        cmocka_unit_test(test_a_group_that_is_gone_keeps_its_place),
        cmocka_unit_test(test_the_first_groups_after_none_are_shown),
        cmocka_unit_test(test_rows_of_other_events_are_made_anew),
        cmocka_unit_test(test_a_wrong_filter_leaves_the_last_good_one),
        cmocka_unit_test(test_orders_never_tie),
        cmocka_unit_test(test_queries_of_groups),
        cmocka_unit_test(test_rates_step),
        cmocka_unit_test(test_views_offer_what_their_tables_name),
        cmocka_unit_test(test_every_action_has_a_handler),
        cmocka_unit_test(test_footers_name_what_is_handled),
        cmocka_unit_test(test_counts_say_what_is_there),
        cmocka_unit_test(test_what_it_waits_for_is_said),
    };
    return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
