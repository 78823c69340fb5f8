// A wider or higher window shows at least as much: the lists are drawn at every size, and what is on the
// screen is counted. The test is the backend.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "tests/unit/app_world.h"

enum { GROUPS = 90, EVENTS = 300, ROWS_LEAST = 16, ROWS_MOST = 70, COLS_LEAST = 60, COLS_MOST = 250 };

static const int64_t now = INT64_C(1767323045) * US_PER_SECOND;

static int
begin(void **state)
{
    return make_world_of(state, &(struct app_config){.views = views, .view_count = view_count});
}

static struct reply *
groups_reply(const struct request *request)
{
    struct reply *reply = reply_create(REPLY_GROUPS, request->number);
    struct group_list *list = &reply->groups.list;
    reply->is_last = true;
    list->groups = arena_array(&reply->arena, GROUPS, sizeof *list->groups);
    list->count = list->total = GROUPS;
    for (int i = 0; i < GROUPS; i++) {
        list->groups[i] = (struct event_group){
            .key = (uint64_t)i + 1,
            .value = arena_printf(&reply->arena, "%016x", i + 1),
            .count = 100000 / (i + 1),
            .first_at = now - 7200 * US_PER_SECOND,
            .last_at = now,
            .per_minute = 90 - i,
            .category = CATEGORY_DATA,
            .types = {{.name = "order.created", .count = 5}},
            .topics = {{.name = "orders.events", .count = 5}},
            .text =
                {.pattern =
                     "could not execute statement; SQL [n/a]; constraint [orders_pkey]; nested exception is "
                     "org.hibernate.exception.ConstraintViolationException: could not execute statement",
                 .error_class = "org.springframework.dao.DataIntegrityViolationException",
                 .frame = "com.acme.orders.OrderRepository.save(OrderRepository.java:88)",
                 .sample = "could not execute statement; SQL [n/a]; constraint [orders_pkey]"},
        };
        for (int h = 0; h < GROUP_HEAT; h++)
            list->groups[i].heat[h] = (uint32_t)h;
        list->events += list->groups[i].count;
    }
    return reply;
}

static struct reply *
list_reply(const struct request *request)
{
    struct reply *reply = reply_create(REPLY_LIST, request->number);
    reply->is_last = reply->list.is_first = true;
    reply->list.ids = alloc_array(EVENTS, sizeof *reply->list.ids);
    reply->list.count = EVENTS;
    reply->list.total = reply->list.scanned = EVENTS;
    for (int i = 0; i < EVENTS; i++)
        reply->list.ids[i] = EVENTS - i;
    return reply;
}

static struct reply *
rows_reply(const struct request *request)
{
    struct reply *reply = reply_create(REPLY_ROWS, request->number);
    struct rows_reply *rows = &reply->rows;
    reply->is_last = true;
    rows->events = arena_array(&reply->arena, request->id_count, sizeof *rows->events);
    rows->count = request->id_count;
    for (size_t i = 0; i < rows->count; i++) {
        static const char payload[] =
            "{\"lines\": [{\"sku\": \"A1\", \"quantity\": 3}], \"amount\": 1200.50, "
            "\"currency\": \"BRL\", \"customer\": \"c-88218\", \"order_id\": \"A-82114\"}";
        rows->events[i] = (struct event){
            .id = request->ids[i],
            .created_at = now,
            .event_type = BYTES("order.created"),
            .source_id = BYTES("c-88218"),
            .topic = BYTES("orders.events"),
            .error_message =
                BYTES("could not execute statement; SQL [n/a]; constraint [orders_pkey]; nested exception "
                      "is org.hibernate.exception.ConstraintViolationException: could not execute statement"),
            .payload = BYTES(payload),
            .payload_size = sizeof payload - 1,
        };
    }
    return reply;
}

// Answers what was asked since.
static void
serve(struct world *world)
{
    struct request *request;
    while ((request = take_request(world)) != NULL) {
        if (request->kind == REQUEST_GROUPS)
            tell(world, groups_reply(request));
        else if (request->kind == REQUEST_LIST)
            tell(world, list_reply(request));
        else if (request->kind == REQUEST_ROWS)
            tell(world, rows_reply(request));
        request_destroy(request);
    }
}

static int
letters_at(struct world *world, int rows, int cols)
{
    int letters = 0;
    app_resize(world->app, rows, cols);
    (void)app_draw(world->app); // asks for what came into sight
    serve(world);
    const struct canvas *canvas = app_draw(world->app);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            letters += canvas_cell(canvas, row, col)->base > ' ';
    return letters;
}

// Where a column or the preview comes in, its own blanks take the place of a few letters; a preview takes
// rows.
static void
grows(struct world *world, const char *what)
{
    enum { SLACK = 9, SLACK_ROWS = 20 }; // percent
    static int widest[ROWS_MOST + 1];
    for (int rows = ROWS_LEAST; rows <= ROWS_MOST; rows += 3) {
        int most = 0;
        for (int cols = COLS_LEAST; cols <= COLS_MOST; cols++) {
            int letters = letters_at(world, rows, cols);
            if (letters * 100 < most * (100 - SLACK))
                fail_msg("%s: %dx%d shows %d letters, a narrower window %d", what, cols, rows, letters, most);
            most = letters > most ? letters : most;
        }
        widest[rows] = most;
    }
    for (int rows = ROWS_LEAST + 3, most = widest[ROWS_LEAST]; rows <= ROWS_MOST; rows += 3) {
        if (widest[rows] * 100 < most * (100 - SLACK_ROWS))
            fail_msg("%s: %d rows show %d letters, fewer rows %d", what, rows, widest[rows], most);
        most = widest[rows] > most ? widest[rows] : most;
    }
}

static void
a_larger_window_shows_at_least_as_much(void **state)
{
    struct world *world = *state;
    serve(world);
    grows(world, "groups");
    press(world->app, "2");
    serve(world);
    (void)letters_at(world, ROWS_MOST, COLS_MOST);
    assert_true(shows(world->app, "order.created"));
    grows(world, "events");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_larger_window_shows_at_least_as_much, begin, destroy_world),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
