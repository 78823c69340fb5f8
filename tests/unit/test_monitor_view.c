// The monitor while PostgreSQL takes longer to answer than the monitor waits, and what its alerts lead to.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "app_world.h"
#include "async/message.h"
#include "base/clock.h"

static int
begin(void **state)
{
    (void)make_world_of(state, &(struct app_config){.views = views, .view_count = view_count});
    press(((struct world *)*state)->app, "3");
    return 0;
}

// The number of the last request of this kind, 0: there was none. filter: its list's, to be freed; or NULL.
static uint64_t
asked(struct world *world, enum request_kind kind, char *filter, size_t room)
{
    uint64_t number = 0;
    for (struct request *request; (request = take_request(world)); request_destroy(request)) {
        if (request->kind != kind)
            continue;
        number = request->number;
        if (filter)
            (void)snprintf(filter, room, "%s", request->list.filter ? request->list.filter : "");
    }
    return number;
}

static void
answer_monitor(struct world *world, uint64_t number)
{
    static struct alert_label labels[] = {{"event_type", "order paid"}};
    static struct alert_row row = {.rule = "DLQOneType",
                                   .instance = "order paid",
                                   .state = ALERT_FIRING,
                                   .is_firing = true,
                                   .condition = "share",
                                   .summary = "order paid is most",
                                   .severity = "info",
                                   .labels = labels,
                                   .label_count = 1};
    struct reply *reply = reply_create(REPLY_MONITOR, number);
    row.since = row.resolved_at = app_now(world->app);
    reply->figures.monitor.alerts = (struct alert_board){
        .rows = &row, .count = 1, .as_of = app_now(world->app), .measured_at = app_now(world->app)};
    reply->is_last = true;
    tell(world, reply);
}

static void
a_slow_answer_is_waited_for(void **state)
{
    struct world *world = *state;
    uint64_t number = asked(world, REQUEST_MONITOR, NULL, 0);
    assert_true(number > 0);
    for (int i = 0; i < 3; i++) {
        clock_skip(6 * US_PER_SECOND);
        app_tick(world->app);
    }
    assert_int_equal(asked(world, REQUEST_MONITOR, NULL, 0), 0);
    answer_monitor(world, number);
    clock_skip(6 * US_PER_SECOND);
    app_tick(world->app);
    assert_true(asked(world, REQUEST_MONITOR, NULL, 0) > number);
}

static void
an_alert_about_a_type_opens_its_events(void **state)
{
    struct world *world = *state;
    char filter[200] = "";
    answer_monitor(world, asked(world, REQUEST_MONITOR, NULL, 0));
    for (int i = 0; i < 20 && !shows(world->app, "DLQOneType"); i++)
        press(world->app, "}");
    for (int i = 0; i < 20 && !filter[0]; i++) {
        press(world->app, "<Enter>");
        if (asked(world, REQUEST_LIST, filter, sizeof filter) == 0)
            press(world->app, "}");
    }
    assert_string_equal(filter, "type:=\"order paid\"");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_slow_answer_is_waited_for, begin, destroy_world),
        cmocka_unit_test_setup_teardown(an_alert_about_a_type_opens_its_events, begin, destroy_world),
    };
    return cmocka_run_group_tests_name("monitor view", tests, NULL, NULL);
}
