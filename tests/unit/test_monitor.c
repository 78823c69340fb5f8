// core/monitor: the pending events by class, category, age and retries, and what became of reprocesses; and
// the layout of the panels (ui/views/monitor/layout).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/monitor.h"
#include "ui/views/monitor/layout.h"

static const int64_t HOUR = 3600 * US_PER_SECOND;
static const int64_t NOW = 500000 * 3600 * US_PER_SECOND + 1800 * US_PER_SECOND; // half past

// --- pending events ---

static void
add(struct backlog *backlog, int64_t id, uint64_t group, enum category category, int64_t age, int retries)
{
    struct event event = {
        .id = id, .group = group, .category = category, .created_at = NOW - age, .retries.count = retries};
    assert_int_equal(backlog_add(backlog, &event, 1), 1);
}

static void
describe(struct backlog *backlog, uint64_t group, const char *error_class)
{
    backlog_describe(backlog, group,
                     &(struct group_text){.pattern = "p", .sample = "s", .error_class = error_class});
}

static struct backlog *
some_backlog(void)
{
    struct backlog *backlog = backlog_create();
    for (int64_t id = 1; id <= 60; id++)
        add(backlog, id, 1, CATEGORY_TRANSIENT, 40 * 60 * US_PER_SECOND, 0); // before the hour
    for (int64_t id = 61; id <= 70; id++)
        add(backlog, id, 2, CATEGORY_TRANSIENT, 60 * US_PER_SECOND, 1); // within it
    for (int64_t id = 71; id <= 94; id++)
        add(backlog, id, 3, CATEGORY_DATA, 30 * HOUR, 3);
    for (int64_t id = 95; id <= 100; id++)
        add(backlog, id, 4, CATEGORY_DATA, 60 * 24 * HOUR, 9);
    describe(backlog, 1, "java.net.SocketTimeoutException");
    describe(backlog, 2, "java.net.SocketTimeoutException");
    describe(backlog, 3, NULL);
    return backlog;
}

static void
groups_of_one_class_are_one_row(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct monitor_pending pending;
    struct backlog *backlog = some_backlog();
    monitor_count(backlog, true, NOW, &arena, &pending);
    assert_int_equal(pending.count, 100);
    assert_int_equal(pending.class_count, 2);
    assert_string_equal(pending.classes[0].name, "java.net.SocketTimeoutException");
    assert_int_equal(pending.classes[0].count, 70);
    assert_null(pending.classes[1].name);
    assert_int_equal(pending.classes[1].count, 24);
    assert_int_equal(pending.in_other_classes, 6); // not described
    assert_int_equal(pending.categories[CATEGORY_TRANSIENT], 70);
    assert_int_equal(pending.categories[CATEGORY_DATA], 30);
    backlog_destroy(backlog);
    arena_release(&arena);
}

static void
ages_begin_at_whole_hours(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct monitor_pending pending;
    struct backlog *backlog = some_backlog();
    monitor_count(backlog, true, NOW, &arena, &pending);
    const struct monitor_ages *ages = &pending.ages;
    assert_true(ages->is_known);
    assert_int_equal(ages->counts[AGE_THIS_HOUR], 10);
    assert_int_equal(ages->counts[AGE_6_HOURS], 60);
    assert_int_equal(ages->counts[AGE_24_HOURS], 0);
    assert_int_equal(ages->counts[AGE_7_DAYS], 24);
    assert_int_equal(ages->counts[AGE_OLDER], 6);
    assert_int_equal(ages->from[AGE_THIS_HOUR], 500000 * HOUR);
    assert_int_equal(ages->from[AGE_6_HOURS], 499995 * HOUR);
    assert_int_equal(ages->oldest_at, 500000 * HOUR - 60 * 24 * HOUR);
    monitor_count(backlog, false, NOW, &arena, &pending);
    assert_false(pending.ages.is_known);
    backlog_destroy(backlog);
    arena_release(&arena);
}

static void
retries_and_their_95th_percentile(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct monitor_pending pending;
    struct backlog *backlog = some_backlog();
    monitor_count(backlog, true, NOW, &arena, &pending);
    assert_int_equal(pending.retries[0], 60);
    assert_int_equal(pending.retries[1], 10);
    assert_int_equal(pending.retries[3], 24);
    assert_int_equal(pending.retries[5], 6);
    assert_int_equal(pending.retries_95, 9); // the 95th of 100 is the first of those
    add(backlog, 200, 1, CATEGORY_DATA, HOUR, 3);
    for (int64_t id = 201; id < 240; id++)
        add(backlog, id, 1, CATEGORY_DATA, HOUR, 3);
    monitor_count(backlog, true, NOW, &arena, &pending);
    assert_int_equal(pending.retries_95, 3);
    backlog_destroy(backlog);
    arena_release(&arena);
}

static void
retries_of_a_rollup_are_those_of_its_counts(void **state)
{
    (void)state;
    struct backlog *backlog = backlog_create();
    struct backlog_rollup rollup = {.series = calloc(1, sizeof *rollup.series),
                                    .series_count = 1,
                                    .retries = calloc(2, sizeof *rollup.retries),
                                    .retry_count = 2};
    rollup.series[0] = (struct backlog_series){.group = 1, .first_at = NOW, .last_at = NOW};
    rollup.retries[0] = (struct rollup_count){.at = 2, .count = 5};
    rollup.retries[1] = (struct rollup_count){.at = 400, .count = 1};
    backlog_adopt_rollup(backlog, &rollup);
    int64_t counts[BACKLOG_RETRIES];
    assert_int_equal(backlog_retries(backlog, counts), 6);
    assert_int_equal(counts[2], 5);
    assert_int_equal(counts[BACKLOG_RETRIES - 1], 1);
    backlog_destroy(backlog);
}

// --- reprocesses ---

static void
results_are_of_reprocesses_since_then(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct operation operations[] = {
        {.no = 9, .action = ACTION_REPROCESS, .state = OPERATION_FREEZING, .started_at = NOW, .total = 7},
        {.no = 8,
         .action = ACTION_REPROCESS,
         .state = OPERATION_DONE,
         .started_at = NOW,
         .total = 10,
         .done = 10,
         .returned = 4,
         .sent.taken = {.count = -1}},
        {.no = 7,
         .action = ACTION_REPROCESS,
         .state = OPERATION_RUNNING,
         .started_at = TIME_ABSENT,
         .created_at = NOW - HOUR,
         .total = 5,
         .done = 2,
         .queued = 2,
         .refused = 1,
         .sent.watched = 2,
         .sent.taken = {.count = -1}},
        {.no = 6,
         .action = ACTION_DISCARD,
         .state = OPERATION_DONE,
         .started_at = NOW - HOUR,
         .total = 3,
         .done = 3},
        {.no = 5,
         .action = ACTION_REPROCESS,
         .state = OPERATION_DONE,
         .started_at = NOW - HOUR,
         .total = 1,
         .done = 1,
         .sent.taken = {.count = -1}},
        {.no = 4,
         .action = ACTION_REPROCESS,
         .state = OPERATION_DONE,
         .started_at = NOW - 9 * HOUR,
         .total = 99,
         .done = 99},
    };
    struct monitor monitor = {.operations = operations,
                              .operation_count = sizeof operations / sizeof *operations};
    struct outcomes results;
    assert_int_equal(monitor_results(&monitor, NOW - 6 * HOUR, &results), 3);
    assert_int_equal(results.total, 16);
    assert_int_equal(results.parts[PART_STAYED], 7);
    assert_int_equal(results.parts[PART_WATCHING], 2);
    assert_int_equal(results.parts[PART_RETURNED], 4);
    assert_int_equal(results.parts[PART_REFUSED], 1);
    assert_int_equal(results.parts[PART_UNSENT], 2);
    assert_string_equal(monitor_results_filter(&monitor, NOW - 6 * HOUR, "returned", &arena),
                        "(operation:7..8 outcome:returned) or (operation:5 outcome:returned)");
    assert_null(monitor_results_filter(&monitor, NOW + HOUR, "returned", &arena));
    arena_release(&arena);
}

// --- the layout ---

static const int wishes[MONITOR_PANELS_MOST] = {15, 4, 9, 5, 8, 4, 10, 10, 2, 7, 3};

static int
shown(int rows, int cols, struct area areas[MONITOR_PANELS_MOST])
{
    return monitor_layout(monitor_panels, wishes, monitor_panel_count, 0,
                          (struct area){.row = 2, .col = 0, .rows = rows, .cols = cols}, areas);
}

static void
a_larger_screen_shows_at_least_as_much(void **state)
{
    (void)state;
    struct area areas[MONITOR_PANELS_MOST];
    for (int rows = 5; rows < 90; rows++) {
        for (int cols = 40; cols < 300; cols++) {
            int here = shown(rows, cols, areas);
            assert_true(here >= 1);
            if (shown(rows + 1, cols, areas) < here || shown(rows, cols + 1, areas) < here)
                fail_msg("%dx%d shows more than a larger one", cols, rows);
        }
    }
    assert_int_equal(shown(20, 80, areas), 6); // 80x24
    assert_int_equal(shown(46, 160, areas), monitor_panel_count);
}

static bool
overlap(const struct area *a, const struct area *b)
{
    return a->row < b->row + b->rows && b->row < a->row + a->rows && a->col < b->col + b->cols &&
           b->col < a->col + a->cols;
}

static void
panels_stay_in_their_room_and_apart(void **state)
{
    (void)state;
    struct area areas[MONITOR_PANELS_MOST];
    for (int rows = 5; rows < 90; rows += 3) {
        for (int cols = 40; cols < 300; cols += 7) {
            int count = shown(rows, cols, areas);
            for (int i = 0; i < count; i++) {
                assert_true(areas[i].row >= 2 && areas[i].row + areas[i].rows <= 2 + rows);
                assert_true(areas[i].col >= 0 && areas[i].col + areas[i].cols <= cols);
                assert_true(areas[i].rows <= monitor_panels[i]->most);
                for (int j = 0; j < i; j++)
                    assert_false(overlap(&areas[i], &areas[j]));
            }
        }
    }
}

static void
each_panel_is_on_a_page(void **state)
{
    (void)state;
    struct area areas[MONITOR_PANELS_MOST];
    for (int rows = 5; rows < 50; rows++) {
        struct area room = {.rows = rows, .cols = 60};
        for (int panel = 0; panel < monitor_panel_count; panel++) {
            int first = monitor_page(monitor_panels, monitor_panel_count, panel, room);
            int count = monitor_layout(monitor_panels, wishes, monitor_panel_count, first, room, areas);
            assert_true(panel >= first && panel < first + count);
        }
    }
}

// --- topics of dead letters ---

static void
letters_come_in_so_fast(void **state)
{
    (void)state;
    struct letters_seen seen[2] = {0};
    struct letter_topic topics[] = {{.read = 1000, .left = 5, .is_read = true}, {.read = 500, .left = 7}};
    int64_t now = 100 * US_PER_SECOND;
    assert_int_equal(letter_topics_left(topics, 2), 5);
    assert_int_equal(letter_topics_left((struct letter_topic[]){{.left = -1, .is_read = true}, topics[0]}, 2),
                     5);
    assert_true(letters_per_second(seen, topics, 2, now) < 0);
    for (int second = 1; second <= 60; second++) {
        topics[second % 2].read += second <= 30 ? 40 : 80;
        double rate = letters_per_second(seen, topics, 2, now += US_PER_SECOND);
        assert_true(rate >= 40 && rate <= 80);
        assert_true(second > 30 || rate == 40);
        assert_true(second < 50 || rate == 80); // what was before is forgotten after 20 s
    }
    topics[0].read = 3; // made anew
    assert_true(letters_per_second(seen, topics, 2, now += US_PER_SECOND) < 0);
    topics[0].read += 9;
    assert_true(letters_per_second(seen, topics, 2, now += US_PER_SECOND) == 9);
    // Nobody looked for an hour.
    topics[0].read += 100;
    assert_true(letters_per_second(seen, topics, 2, now += 3600 * US_PER_SECOND) < 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_one_class_are_one_row),
        cmocka_unit_test(ages_begin_at_whole_hours),
        cmocka_unit_test(retries_and_their_95th_percentile),
        cmocka_unit_test(retries_of_a_rollup_are_those_of_its_counts),
        cmocka_unit_test(results_are_of_reprocesses_since_then),
        cmocka_unit_test(a_larger_screen_shows_at_least_as_much),
        cmocka_unit_test(panels_stay_in_their_room_and_apart),
        cmocka_unit_test(each_panel_is_on_a_page),
        cmocka_unit_test(letters_come_in_so_fast),
    };
    return cmocka_run_group_tests_name("monitor", tests, NULL, NULL);
}
