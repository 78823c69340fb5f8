// One pass over the table says of every event what reading it page by page says, so that a command chooses
// the same events either way.
#include "store/events/pass.h"
#include "world.h"

enum { EVENTS = 3000 };

struct seen {
    struct event_page page; // the same events, read by pages, highest id first
    size_t count;
    unsigned statuses;
    bool is_grouped;
    size_t stop_at;
    int64_t other; // the first that is not the same
};

static const struct event *
paged(const struct seen *seen, int64_t id)
{
    for (size_t i = 0; i < seen->page.count; i++)
        if (seen->page.events[i].id == id)
            return &seen->page.events[i];
    return NULL;
}

static bool
same_bytes(struct bytes a, struct bytes b)
{
    return bytes_present(a) == bytes_present(b) && bytes_compare(a, b) == 0;
}

static bool
is_same(const struct event *a, const struct event *b, bool is_grouped)
{
    return same_bytes(a->status_text, b->status_text) && same_bytes(a->event_type, b->event_type) &&
           same_bytes(a->source_table, b->source_table) && same_bytes(a->topic, b->topic) &&
           a->status == b->status && a->retries.count == b->retries.count && a->created_at == b->created_at &&
           a->created_wall == b->created_wall &&
           (!is_grouped || (a->group == b->group && a->category == b->category &&
                            same_bytes(a->error_class, b->error_class)));
}

// No test fails in here: the connection would be left in the middle of its answer.
static bool
compare(void *context, const struct event *event)
{
    struct seen *seen = context;
    if (seen->statuses && !(seen->statuses >> event->status & 1))
        return true; // more may come than was asked for
    const struct event *same = paged(seen, event->id);
    if (!seen->other && !(same && is_same(event, same, seen->is_grouped)))
        seen->other = event->id;
    return ++seen->count != seen->stop_at;
}

static void
pass_and_pages_agree(struct world *world, unsigned statuses, unsigned fields)
{
    struct seen seen = {.statuses = statuses, .is_grouped = fields & EVENT_GROUP};
    struct event_query query = {.fields = EVENT_NARROW | fields, .statuses = statuses, .limit = EVENTS};
    assert_works(store_events(world->store, &query, &seen.page, &err));
    assert_works(
        store_pass(world->store, EVENT_BARE | EVENT_COUNTED | fields, statuses, compare, &seen, &err));
    assert_int_equal(seen.other, 0);
    assert_int_equal(seen.count, seen.page.count);
    event_page_release(&seen.page);
}

static void
a_pass_says_what_pages_say(void **state)
{
    (void)state;
    struct world world;
    world_make_with_rules(&world, EVENTS);
    test_sql(
        world.admin,
        "UPDATE public.dlq_events SET event_type = 'type ' || id %% 7, source_table = CASE id %% 3 WHEN 0 "
        "THEN 'table ' || id %% 5 WHEN 1 THEN '' END, retry_count = nullif(id %% 6, 0), kafka_topic = "
        "CASE WHEN id %% 9 > 0 THEN 'topic ' || id %% 9 END, created_at = CASE WHEN id %% 50 > 0 THEN "
        "localtimestamp - id * interval '7 minutes' END, error_message = CASE id %% 4 WHEN 0 THEN "
        "'connection refused by host-' || id WHEN 1 THEN E'java.lang.IllegalStateException: \\u00fc' "
        "WHEN 2 THEN '' ELSE 'x' END, stack_trace = CASE WHEN id %% 8 = 2 THEN E'java.io.IOException: "
        "x\\n\\tat a.b.C.d(C.java:1)' END,"
        "status = (ARRAY['PENDING','RESOLVED','DISCARDED','strange',NULL])[1 + id %% 5]");
    static const unsigned statuses[] = {0, 1u << EVENT_PENDING, 1u << EVENT_RESOLVED, 1u << EVENT_DISCARDED,
                                        1u << EVENT_PENDING | 1u << EVENT_OTHER};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        pass_and_pages_agree(&world, statuses[i], 0);
        pass_and_pages_agree(&world, statuses[i], EVENT_GROUP);
    }
    world_end(&world);
}

static void
who_has_enough_stops_it(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, EVENTS);
    struct seen seen = {.stop_at = 10};
    struct event_query query = {.fields = EVENT_NARROW, .limit = EVENTS};
    assert_works(store_events(world.store, &query, &seen.page, &err));
    assert_refused(store_pass(world.store, EVENT_BARE | EVENT_COUNTED, 0, compare, &seen, &err),
                   ERR_CANCELLED, "");
    assert_int_equal(seen.other, 0);
    assert_int_equal(seen.count, 10);
    // The connection serves on.
    int64_t pending, highest;
    assert_works(store_pending_count(world.store, &pending, &highest, &err));
    assert_int_equal(pending, EVENTS);
    event_page_release(&seen.page);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_says_what_pages_say),
        cmocka_unit_test(who_has_enough_stops_it),
    };
    return cmocka_run_group_tests_name("event_pass", tests, NULL, NULL);
}
