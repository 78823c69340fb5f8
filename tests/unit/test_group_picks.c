// Selecting groups: their events are collected, each group's after the one before.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "app_world.h"
#include "async/message.h"
#include "ui/views/groups/picks.h"
#include "ui/views/groups/query.h"

// Queries of rows are made of the frame's memory, and answered frames later.
static void
a_query_outlives_the_frame(void **state)
{
    struct world *world = *state;
    struct group_picks picks = {0};
    struct arena frame = {0};
    const struct event_group rows[] = {{.key = 7, .path_term = "$.sku=\"a\"", .path = "sku"},
                                       {.key = 8, .path_term = "$.sku=\"b\"", .path = "sku"}};
    for (size_t i = 0; i < 2; i++) {
        struct list_query query = group_query(PIVOT_PATH, NULL, &rows[i], "type:paid", &frame);
        group_picks_want(&picks, PICK_ADD, &rows[i].key, &query);
    }
    arena_release(&frame);

    group_picks_start(world->app, &picks);
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_COLLECT);
    assert_string_equal(request->list.path, "sku");
    assert_int_equal(request->list.path_key, 7);
    assert_string_equal(request->list.filter, "$.sku=\"a\" type:paid");
    request_destroy(request);
    group_picks_release(&picks);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(a_query_outlives_the_frame),
    };
    return cmocka_run_group_tests_name("group picks", tests, NULL, NULL);
}
