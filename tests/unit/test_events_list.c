// A list of events while it is searched: what came so far, and what a search that failed leaves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "app_world.h"
#include "async/message.h"
#include "base/alloc.h"

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_failed_search_has_no_hits_of_the_list_before, begin, destroy_world),
        cmocka_unit_test_setup_teardown(a_search_that_fails_on_the_way_says_how_far_it_came, begin,
                                        destroy_world),
    };
    return cmocka_run_group_tests_name("events list", tests, NULL, NULL);
}
