// A list of events while it is searched: what came so far, and what a search that failed leaves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "app_world.h"
#include "async/message.h"
#include "base/alloc.h"
#include "core/selection.h"

static int
begin(void **state)
{
    (void)make_world_of(state, &(struct app_config){.views = views, .view_count = view_count});
    press(((struct world *)*state)->app, "2");
    return 0;
}

// The list that was asked for last.
static uint64_t
asked(struct world *world)
{
    uint64_t number = 0;
    for (struct request *request; (request = take_request(world)); request_destroy(request))
        number = request->kind == REQUEST_LIST ? request->number : number;
    assert_true(number > 0);
    return number;
}

static void
list(struct world *world, uint64_t number, int64_t scanned, size_t count, bool is_last)
{
    struct reply *reply = reply_create(REPLY_LIST, number);
    reply->is_last = is_last;
    reply->list = (struct list_reply){.is_first = true, .count = count, .scanned = scanned, .total = 31};
    reply->list.ids = alloc_array(count + 1, sizeof *reply->list.ids);
    for (size_t i = 0; i < count; i++)
        reply->list.ids[i] = 4700 + (int64_t)i;
    tell(world, reply);
}

static void
break_off(struct world *world, uint64_t number)
{
    struct reply *reply = reply_create(REPLY_ERROR, number);
    (void)err_set(&reply->err, ERR_DATA, "PostgreSQL answered: out of memory");
    tell(world, reply);
}

static void
a_failed_search_has_no_hits_of_the_list_before(void **state)
{
    struct world *world = *state;
    list(world, asked(world), 31, 31, true);
    assert_true(shows(world->app, "4,700"));
    press(world->app, "/zzz<Enter>");
    break_off(world, asked(world));
    assert_true(shows(world->app, "failed after 0"));
    assert_true(shows(world->app, "out of memory"));
    assert_false(shows(world->app, "4,700"));
}

static void
a_search_that_fails_on_the_way_says_how_far_it_came(void **state)
{
    struct world *world = *state;
    list(world, asked(world), 31, 31, true);
    press(world->app, "/zzz<Enter>");
    uint64_t number = asked(world);
    list(world, number, 20, 2, false);
    break_off(world, number);
    assert_true(shows(world->app, "failed after 2"));
    assert_false(shows(world->app, "searching"));
    press(world->app, "r");
    list(world, asked(world), 31, 2, true);
    assert_false(shows(world->app, "failed after"));
}

// A list whose matches rest on what somebody else wrote down, and a row under the cursor.
static void
list_unconfirmed(struct world *world)
{
    press(world->app, "/zzz<Enter>");
    uint64_t number = asked(world);
    struct reply *reply = reply_create(REPLY_LIST, number);
    reply->is_last = true;
    reply->list = (struct list_reply){
        .is_first = true, .count = 31, .scanned = 31, .total = 31, .is_unconfirmed = true};
    reply->list.ids = alloc_array(31, sizeof *reply->list.ids);
    for (int i = 0; i < 31; i++)
        reply->list.ids[i] = 4700 + i;
    tell(world, reply);
    shows(world->app, ""); // asks for the rows
    for (struct request *request; (request = take_request(world)); request_destroy(request))
        continue;
}

// What was asked to be matched once more: these match, and one that was not in the list.
static void
collected(struct world *world, size_t count)
{
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_COLLECT);
    struct reply *reply = reply_create(REPLY_LIST, request->number);
    reply->is_last = true;
    reply->list = (struct list_reply){.is_first = true, .count = count + 1};
    reply->list.ids = alloc_array(count + 1, sizeof *reply->list.ids);
    reply->list.ids[0] = 9000;
    for (size_t i = 0; i < count; i++)
        reply->list.ids[i + 1] = 4700 + 3 * (int64_t)i;
    request_destroy(request);
    tell(world, reply);
}

static void
what_others_wrote_down_selects_nothing(void **state)
{
    struct world *world = *state;
    list_unconfirmed(world);
    press(world->app, "A");
    assert_int_equal(app_selection(world->app)->count, 0);
    collected(world, 3);
    assert_int_equal(app_selection(world->app)->count, 3);
    assert_true(shows(world->app, "selected 3 more, 28 left out"));
}

static void
a_range_of_it_is_matched_once_more(void **state)
{
    struct world *world = *state;
    list_unconfirmed(world);
    press(world->app, "vjjjj<Space>");
    assert_int_equal(app_selection(world->app)->count, 0);
    collected(world, 3); // 4700 and 4703 are in the range, 4706 is not
    assert_int_equal(app_selection(world->app)->count, 2);
    press(world->app, "*");
    collected(world, 5);
    assert_int_equal(app_selection(world->app)->count, 3); // 4706, 4709 and 4712
    assert_true(selection_has(app_selection(world->app), 4712));
}

static void
an_action_waits_for_what_is_selected(void **state)
{
    struct world *world = *state;
    list_unconfirmed(world);
    press(world->app, "AD");
    assert_false(app_has_dialog(world->app));
    collected(world, 3);
    assert_true(app_has_dialog(world->app));
    assert_true(shows(world->app, "3 selected events"));
}

static void
an_action_on_a_range_waits_as_well(void **state)
{
    struct world *world = *state;
    list_unconfirmed(world);
    press(world->app, "vjjjjD");
    assert_false(app_has_dialog(world->app));
    collected(world, 3);
    assert_true(shows(world->app, "2 selected events"));
}

static void
an_action_on_what_does_not_match_is_none_on_the_cursor(void **state)
{
    struct world *world = *state;
    list_unconfirmed(world);
    press(world->app, "AD");
    collected(world, 0);
    assert_false(app_has_dialog(world->app));
    assert_true(shows(world->app, "31 left out: gone, or its row does not match"));
}

static void
what_has_come_so_far_is_not_all(void **state)
{
    struct world *world = *state;
    const struct selection *selection = app_selection(world->app);
    press(world->app, "/zzz<Enter>");
    uint64_t number = asked(world);
    list(world, number, 20, 2, false);
    press(world->app, "A");
    assert_true(shows(world->app, "still loading; select all when the list is complete"));
    press(world->app, "*");
    assert_true(shows(world->app, "still loading"));
    assert_int_equal(selection->count, 0);

    break_off(world, number);
    press(world->app, "A");
    assert_true(shows(world->app, "the list is not complete: nothing was selected; r reads it again"));
    assert_int_equal(selection->count, 0);
    press(world->app, "r");
    list(world, asked(world), 31, 31, true);
    press(world->app, "A");
    assert_int_equal(selection->count, 31);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_failed_search_has_no_hits_of_the_list_before, begin, destroy_world),
        cmocka_unit_test_setup_teardown(a_search_that_fails_on_the_way_says_how_far_it_came, begin,
                                        destroy_world),
        cmocka_unit_test_setup_teardown(what_others_wrote_down_selects_nothing, begin, destroy_world),
        cmocka_unit_test_setup_teardown(a_range_of_it_is_matched_once_more, begin, destroy_world),
        cmocka_unit_test_setup_teardown(an_action_waits_for_what_is_selected, begin, destroy_world),
        cmocka_unit_test_setup_teardown(an_action_on_a_range_waits_as_well, begin, destroy_world),
        cmocka_unit_test_setup_teardown(an_action_on_what_does_not_match_is_none_on_the_cursor, begin,
                                        destroy_world),
        cmocka_unit_test_setup_teardown(what_has_come_so_far_is_not_all, begin, destroy_world),
    };
    return cmocka_run_group_tests_name("events list", tests, NULL, NULL);
}
