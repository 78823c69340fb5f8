// Texts that PostgreSQL cannot return: a jsonb of some kilobytes whose text has more than a gigabyte, a
// message or a stack of which the storage is damaged. The events beside it are read, searched, grouped and
// listed; the one says why it is not.
#include "world.h"

#include "rollup/maintainer.h"
#include "search/choose.h"
#include "search/search.h"
#include "store/events/texts.h"
#include "store/rollup/rollup.h"

enum { EVENTS = 40, BAD = 7 };

static void
make_world(struct world *world)
{
    world_make(world, EVENTS);
    test_sql(world->admin,
             "UPDATE public.dlq_events SET event_payload = (SELECT jsonb_agg(1e131071) FROM"
             " generate_series(1, 9000)) WHERE id = %d",
             BAD);
}

static void
a_page_shows_the_other_rows(void **state)
{
    (void)state;
    struct world world;
    make_world(&world);
    const unsigned fields = EVENT_NARROW | EVENT_ERROR | EVENT_PAYLOAD | EVENT_RAW | EVENT_GROUP;
    struct event_query query = {.fields = fields, .limit = EVENTS, .cut = 500, .takes_unreadable = true};
    for (int again = 0; again < 2; again++) {
        struct event_page page;
        assert_works(store_events(world.store, &query, &page, &err));
        assert_int_equal(page.count, EVENTS);
        for (size_t i = 0; i < page.count; i++) {
            const struct event *event = &page.events[i];
            assert_true(bytes_present(event->error_message));
            if ((event->id == BAD) != (event->known.unreadable != NULL))
                fail_msg("event %lld", (long long)event->id);
            assert_int_equal(bytes_present(event->payload), event->id != BAD);
            if (event->known.unreadable && !strstr(event->known.unreadable, "cannot return the payload"))
                fail_msg("%s", event->known.unreadable);
        }
        event_page_release(&page);
    }

    // Nobody gets an event without its payload who did not say that it may be missing.
    struct event_page page;
    query.takes_unreadable = false;
    assert_refused(store_events(world.store, &query, &page, &err), ERR_INTERNAL, "");

    // Corrected, it can be read.
    test_sql(world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, payload, reason) VALUES (%d, 1, '{}', 'corrected')",
             BAD);
    query.takes_unreadable = true;
    query.fields |= EVENT_REPLACED; // what it replaces cannot
    assert_works(store_events(world.store, &query, &page, &err));
    for (size_t i = 0; i < page.count; i++)
        assert_null(page.events[i].known.unreadable);
    for (size_t i = 0; i < page.count; i++)
        assert_false(bytes_present(page.events[i].known.correction.replaced));
    event_page_release(&page);
    world_end(&world);
}

struct counting {
    int64_t count, bad;
};

static bool
count_text(void *context, int64_t id, struct bytes text)
{
    struct counting *counting = context;
    counting->count += bytes_present(text);
    counting->bad += id == BAD;
    return true;
}

static void
its_text_is_left_out(void **state)
{
    (void)state;
    struct world world;
    make_world(&world);
    for (int ascending = 0; ascending < 2; ascending++) {
        struct counting counting = {0};
        const struct event_texts_query query = {.text = EVENT_TEXT_PAYLOAD,
                                                .after_id = 0,
                                                .before_id = INT64_MAX,
                                                .ascending = ascending,
                                                .limit = 100};
        assert_works(store_event_texts(world.store, &query, count_text, &counting, &err));
        assert_int_equal(counting.count, EVENTS - 1);
        assert_int_equal(counting.bad, 0);
    }
    world_end(&world);
}

static bool
take_chosen(void *context, const struct event *event)
{
    struct counting *counting = context;
    counting->count++;
    counting->bad += event->id == BAD;
    return true;
}

static void
a_filter_does_not_decide_it(void **state)
{
    (void)state;
    static const struct {
        const char *filter;
        int64_t count;
        bool is_undecided;
    } cases[] = {
        {"payload:zzz", 0, true},           {"payload:\"order\"", EVENTS - 1, true},
        {"!payload:zzz", EVENTS - 1, true}, {"$.order=3", 1, true},
        {"error:refused", EVENTS, false},   {"payload:zzz error:nothing", 0, false},
    };
    struct world world;
    make_world(&world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct counting counting = {0};
        struct choose_tally tally = {0};
        const struct choice choice = {.filter = cases[i].filter, .statuses = 1u << EVENT_PENDING};
        assert_works(choose_scan(world.store, &choice, 0, take_chosen, NULL, &counting, &tally, &err));
        if (counting.count != cases[i].count || tally.undecided_count != cases[i].is_undecided ||
            (cases[i].is_undecided && counting.bad))
            fail_msg("%s: %lld chosen, %zu undecided", cases[i].filter, (long long)counting.count,
                     tally.undecided_count);
        choose_tally_release(&tally);
    }
    world_end(&world);
}

// As a lost block of its storage: the chunks of the text are gone, and the row still points to them.
static void
make_damaged_world(struct world *world, const char *column)
{
    world_make(world, EVENTS);
    test_sql(
        world->admin,
        "ALTER TABLE public.dlq_events ALTER COLUMN %s SET STORAGE EXTERNAL;"
        "UPDATE public.dlq_events SET %s = repeat('a connection was refused ', 1000) WHERE id = %d;"
        "CREATE EXTENSION pg_surgery SCHEMA public;"
        "DO $$ DECLARE stored regclass; BEGIN"
        " SELECT reltoastrelid INTO stored FROM pg_class WHERE oid = 'public.dlq_events'::regclass;"
        " EXECUTE format('SELECT public.heap_force_kill(%%L, ARRAY(SELECT ctid FROM %%s))', stored, stored);"
        " END $$",
        column, column, BAD);
}

static void
has_pg_surgery(const struct world *world)
{
    if (test_number(world->admin, "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_surgery'") ==
        0) {
        print_message("# skip: pg_surgery, which damages storage, is not installed\n");
        skip();
    }
}

static const struct damaged {
    const char *column, *filter, *unfit;
    enum event_text text;
} damages[] = {
    {"error_message", "error:refused", "error:zzz", EVENT_TEXT_ERROR},
    {"stack_trace", "stack:ConnectException", "stack:zzz", EVENT_TEXT_STACK},
};

static void
check_page(struct world *world, const struct damaged *damaged, struct event_query *query)
{
    struct event_page page;
    assert_works(store_events(world->store, query, &page, &err));
    assert_int_equal(page.count, EVENTS);
    for (size_t i = 0; i < page.count; i++) {
        const struct event *event = &page.events[i];
        const char *why =
            damaged->text == EVENT_TEXT_ERROR ? event->known.unreadable_error : event->known.unreadable_stack;
        const char *other =
            damaged->text == EVENT_TEXT_ERROR ? event->known.unreadable_stack : event->known.unreadable_error;
        assert_true(bytes_present(event->payload));
        assert_null(other);
        if ((event->id == BAD) != (why != NULL))
            fail_msg("event %lld: %s", (long long)event->id, why ? why : "no reason");
        if (why && (!strstr(why, "missing chunk") || !strstr(why, damaged->column)))
            fail_msg("%s", why);
    }
    event_page_release(&page);
}

static void
a_damaged_text_hides_no_other_row(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
        struct world world;
        world_begin(&world);
        has_pg_surgery(&world);
        world_end(&world);
        make_damaged_world(&world, damages[d].column);
        const unsigned all = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD | EVENT_GROUP;
        for (int again = 0; again < 2; again++) {
            check_page(&world, &damages[d], &(struct event_query){.fields = all, .limit = EVENTS});
            check_page(&world, &damages[d],
                       &(struct event_query){.fields = all, .limit = EVENTS, .cut = 500});
        }
        world_end(&world);
    }
}

static void
a_filter_leaves_a_damaged_text_undecided(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
        struct world world;
        world_begin(&world);
        has_pg_surgery(&world);
        world_end(&world);
        make_damaged_world(&world, damages[d].column);
        const struct {
            const char *filter;
            int64_t count;
            bool is_undecided;
        } cases[] = {
            {damages[d].filter, EVENTS - 1, true},
            {damages[d].unfit, 0, true},
            {"payload:\"order\"", EVENTS, false},
            {"category:permanent", 0, true},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct counting counting = {0};
            struct choose_tally tally = {0};
            const struct choice choice = {.filter = cases[i].filter, .statuses = 1u << EVENT_PENDING};
            assert_works(
                choose_scan(world.store, &choice, EVENT_ERROR, take_chosen, NULL, &counting, &tally, &err));
            bool is_bad_met = cases[i].is_undecided && counting.bad;
            if (counting.count != cases[i].count || tally.undecided_count != cases[i].is_undecided ||
                is_bad_met)
                fail_msg("%s: %lld chosen, %zu undecided", cases[i].filter, (long long)counting.count,
                         tally.undecided_count);
            choose_tally_release(&tally);
        }
        struct counting counting = {0};
        const struct event_texts_query query = {
            .text = damages[d].text, .after_id = INT64_MIN, .before_id = INT64_MAX, .limit = 100};
        assert_works(store_event_texts(world.store, &query, count_text, &counting, &err));
        assert_int_equal(counting.bad, 0);
        world_end(&world);
    }
}

// The counts of groups are kept by one process for all: it may not stand still for one row.
static void
a_damaged_text_is_counted_and_analysed(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
        struct world world;
        world_begin(&world);
        has_pg_surgery(&world);
        world_end(&world);
        make_damaged_world(&world, damages[d].column);
        struct maintainer *maintainer = maintainer_create(&world.settings);
        for (int64_t end = clock_mono() + 60 * US_PER_SECOND; !maintainer_is_exact(maintainer);) {
            int64_t wait = maintainer_step(maintainer);
            if (clock_mono() > end)
                fail_msg("%s: the counts of groups never came true", damages[d].column);
            clock_sleep(wait < 20000 ? wait : 20000);
        }
        maintainer_destroy(maintainer);
        assert_int_equal(test_number(world.admin, "SELECT sum(n) FROM redrive.rollup_total"), EVENTS);

        struct stats stats;
        assert_works(stats_read(world.store, false, &world.arena, &stats, &err));
        int64_t count = 0;
        for (size_t i = 0; i < stats.error_count; i++)
            count += stats.errors[i].count;
        assert_int_equal(count, EVENTS);
        world_end(&world);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_shows_the_other_rows),
        cmocka_unit_test(its_text_is_left_out),
        cmocka_unit_test(a_filter_does_not_decide_it),
        cmocka_unit_test(a_damaged_text_hides_no_other_row),
        cmocka_unit_test(a_filter_leaves_a_damaged_text_undecided),
        cmocka_unit_test(a_damaged_text_is_counted_and_analysed),
    };
    return cmocka_run_group_tests_name("unreadable", tests, NULL, NULL);
}
