// Steering an operation on the screen: what each key asks before it changes something, and the reason that
// goes with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "tests/unit/app_world.h"
#include "ui/views/operations/steering.h"

enum { LEFT = 570 };

static struct operation operation; // that the view is about

static void *
view_open(struct app *app, const void *argument)
{
    (void)app;
    (void)argument;
    return alloc_bytes(sizeof(struct steering));
}

static void
view_close(struct app *app, void *state)
{
    (void)app;
    steering_release(state);
    free(state);
}

static bool
view_steer(struct app *app, void *state, enum action action)
{
    steering_handle(app, state, &operation, action);
    return true;
}

static const struct view_action actions[] = {
    {.part = steering_handles, .run = view_steer},
    {0},
};

static bool
view_receive(struct app *app, void *state, struct reply *reply)
{
    if (reply->kind == REPLY_OPERATION)
        steering_seen(app, state, &operation);
    return reply->kind == REPLY_OPERATION || steering_receive(app, state, reply);
}

static void
view_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    (void)app;
    (void)state;
    (void)canvas;
    (void)areas;
}

static const struct view view = {.name = "fixture",
                                 .context = CONTEXT_VIEW_operations,
                                 .open = view_open,
                                 .close = view_close,
                                 .actions = actions,
                                 .receive = view_receive,
                                 .draw = view_draw};
static const struct view_row rows[] = {{&view, 1}};

static int
begin_with(void **state, bool reason_required)
{
    operation = (struct operation){.no = 41,
                                   .action = ACTION_REPROCESS,
                                   .state = OPERATION_RUNNING,
                                   .requested_by = "ana",
                                   .scope = "",
                                   .rate = 20,
                                   .total = 1000,
                                   .queued = LEFT,
                                   .done = 430,
                                   .started_at = 1,
                                   .finished_at = TIME_ABSENT,
                                   .settle_until = TIME_ABSENT,
                                   .send_after = TIME_ABSENT};
    return make_world_of(state, &(struct app_config){.views = rows,
                                                     .view_count = 1,
                                                     .decision.confirm_above = 100,
                                                     .decision.reason_required = reason_required});
}

static int
begin(void **state)
{
    return begin_with(state, false);
}

static int
begin_strict(void **state)
{
    return begin_with(state, true);
}

static void
assert_steers(struct world *world, enum steer steer, const char *reason)
{
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_STEER);
    assert_int_equal(request->operation, 41);
    assert_int_equal(request->steering.steer, steer);
    if (reason) {
        assert_non_null(request->reason);
        assert_string_equal(request->reason, reason);
    } else {
        assert_null(request->reason);
    }
    request_destroy(request);
}

static void
a_stop_takes_its_reason_along(void **state)
{
    struct world *world = *state;
    press(world->app, "X");
    assert_true(shows(world->app, "Stop operation 41"));
    press(world->app, "gateway down<Enter>"); // the focus begins in the reason, and goes on to the count
    assert_true(shows(world->app, "same as: redrive operation 41 cancel --reason 'gateway down'"));
    press(world->app, "570<Enter>");
    assert_null(take_request(world)); // the right count leads to the button, and does not press it
    press(world->app, "<Enter>");
    assert_steers(world, STEER_CANCEL, "gateway down");
}

static void
a_reason_need_not_be_given(void **state)
{
    struct world *world = *state;
    operation.state = OPERATION_PAUSED;
    press(world->app, "p<Tab>570<Enter><Enter>");
    assert_steers(world, STEER_RESUME, NULL);
    operation.state = OPERATION_AWAITING;
    press(world->app, "A<Tab>1000<Enter><Enter>");
    assert_steers(world, STEER_APPROVE, NULL);
    operation.state = OPERATION_RUNNING;
    press(world->app, "p"); // pausing is quick
    assert_steers(world, STEER_PAUSE, NULL);
    press(world->app, "+");
    assert_steers(world, STEER_RATE, NULL);
}

static void
some_settings_want_a_reason_of_each(void **state)
{
    struct world *world = *state;
    press(world->app, "p<Tab><Enter>");
    assert_null(take_request(world));
    assert_true(shows(world->app, "reason is required"));
    press(world->app, "deploy<Tab><Enter>");
    assert_steers(world, STEER_PAUSE, "deploy");
    press(world->app, "+");
    assert_true(shows(world->app, "20/s → 50/s"));
    press(world->app, "INC-7<Tab><Enter>");
    assert_steers(world, STEER_RATE, "INC-7");
    operation.state = OPERATION_PAUSED;
    press(world->app, "pfixed<Tab>570<Enter><Enter>");
    assert_steers(world, STEER_RESUME, "fixed");
}

// It goes on being carried out while the question is read: the number to type stays what it was, and the
// dialog says which number that is.
static void
the_number_to_type_is_told_beside_the_one_of_now(void **state)
{
    struct world *world = *state;
    press(world->app, "X");
    assert_true(shows(world->app, "the 570 not yet sent stay pending"));
    assert_false(shows(world->app, "that many were left"));
    operation.queued = 412;
    tell(world, reply_create(REPLY_OPERATION, 0));
    assert_true(shows(world->app, "the 412 not yet sent stay pending"));
    assert_true(shows(world->app, "type 570: that many were left when this dialog opened"));
    press(world->app, "<Tab>412<Enter><Enter>");
    assert_null(take_request(world));
    press(world->app, "<C-u>570<Enter><Enter>");
    assert_steers(world, STEER_CANCEL, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stop_takes_its_reason_along, begin, destroy_world),
        cmocka_unit_test_setup_teardown(a_reason_need_not_be_given, begin, destroy_world),
        cmocka_unit_test_setup_teardown(some_settings_want_a_reason_of_each, begin_strict, destroy_world),
        cmocka_unit_test_setup_teardown(the_number_to_type_is_told_beside_the_one_of_now, begin,
                                        destroy_world),
    };
    return cmocka_run_group_tests_name("steering", tests, NULL, NULL);
}
