// Operations that cannot go on (src/publish/worker_setbacks.c): the worker passes them, tries them later and
// smaller, and their rows say why.
#include "world.h"

#include "publish/worker.h"

// Carries out what it can, until nothing can be carried out or an operation has failed too often.
static bool
work_once(struct world *world, struct err *err)
{
    const struct worker_settings settings = {.store = world->settings, .mode = WORKER_ONCE};
    return worker_run(&settings, err);
}

// PostgreSQL refuses the change of event 5 in that way.
static void
refuse_event(struct world *world, const char *state)
{
    test_sql(world->admin,
             "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS"
             " $$BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = '%s'; END$$;"
             "CREATE TRIGGER refuse BEFORE UPDATE ON public.dlq_events FOR EACH ROW WHEN (OLD.id = 5)"
             " EXECUTE FUNCTION public.refuse()",
             state);
}

static void
one_that_fails_does_not_keep_the_others(void **state)
{
    (void)state;
    static const struct {
        const char *state;
        enum err_kind kind;
        const char *words;
    } cases[] = {
        {"P0001", ERR_INTERNAL, "not this one"},                // a trigger of the table's owner
        {"57014", ERR_CANCELLED, "stopped the statement"},      // statement_timeout, or pg_cancel_backend
        {"53100", ERR_UNREACHABLE, "no room or resources left"} // a full disk
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        world_make(&world, 40);
        refuse_event(&world, cases[i].state);
        int64_t bad = make_operation(&world, world.store, ACTION_DISCARD, 1, 10);
        int64_t good = make_operation(&world, world.store, ACTION_DISCARD, 20, 24);
        assert_refused(work_once(&world, &err), cases[i].kind, cases[i].words);
        assert_int_equal(get_operation(&world, good).state, OPERATION_DONE);
        assert_int_equal(get_operation(&world, good).done, 5);

        struct operation operation = get_operation(&world, bad);
        assert_int_equal(operation.state, OPERATION_RUNNING);
        assert_in_range(operation.done, 1, 4); // in steps of 10, 5, 2 and 1
        assert_non_null(operation.state_note);
        if (!strstr(operation.state_note, cases[i].words) || !strstr(operation.state_note, "next try within"))
            fail_msg("%s", operation.state_note);

        test_sql(world.admin, "DROP TRIGGER refuse ON public.dlq_events");
        assert_works(work_once(&world, &err));
        operation = get_operation(&world, bad);
        assert_int_equal(operation.state, OPERATION_DONE);
        assert_null(operation.state_note);
        world_end(&world);
    }
}

static void
one_whose_events_cannot_be_found_does_not_keep_the_others(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    int64_t bad = make_operation(&world, world.store, ACTION_DISCARD, 1, 10);
    int64_t good = make_operation(&world, world.store, ACTION_DISCARD, 20, 24);
    test_sql(world.admin, "DELETE FROM redrive.operation_batch WHERE operation_no = %lld", (long long)bad);
    assert_refused(work_once(&world, &err), ERR_DATA, "none of its events can be found");
    assert_int_equal(get_operation(&world, good).state, OPERATION_DONE);
    struct operation operation = get_operation(&world, bad);
    assert_non_null(operation.state_note);
    if (!strstr(operation.state_note, "none of its events can be found"))
        fail_msg("%s", operation.state_note);
    world_end(&world);
}

// A client of its own can commit a freeze and never confirm it.
static void
a_half_made_one_can_be_cancelled(void **state)
{
    (void)state;
    static const char *const actions[] = {"reprocess", "discard"};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        struct world world;
        world_make(&world, 40);
        char sql[400];
        snprintf(sql, sizeof sql,
                 "WITH made AS MATERIALIZED (SELECT b.no FROM redrive.operation_begin(gen_random_uuid(),"
                 " '%s', 'half', NULL, NULL, 'test', NULL, -1) b) SELECT made.no FROM made",
                 actions[i]);
        int64_t half = test_number(world.admin, sql);
        test_sql(world.admin, "SELECT redrive.operation_freeze(%lld, ARRAY(SELECT generate_series(1, 10)))",
                 (long long)half);
        int64_t good = make_operation(&world, world.store, ACTION_DISCARD, 20, 24);
        assert_works(work_once(&world, &err));
        assert_int_equal(get_operation(&world, good).state, OPERATION_DONE);
        assert_int_equal(get_operation(&world, half).state, OPERATION_FREEZING);

        assert_works(operation_steer(world.store, half, STEER_CANCEL, 0, NULL, &err));
        struct operation operation = get_operation(&world, half);
        assert_int_equal(operation.state, OPERATION_CANCELLED);
        assert_int_equal(operation.cancelled, 10);
        assert_int_equal(items_in(&world, half, "cancelled"), 10);
        int64_t again = make_operation(&world, world.store, ACTION_DISCARD, 1, 10); // its events are free
        assert_works(work_once(&world, &err));
        assert_int_equal(get_operation(&world, again).done, 10);
        world_end(&world);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_fails_does_not_keep_the_others),
        cmocka_unit_test(one_whose_events_cannot_be_found_does_not_keep_the_others),
        cmocka_unit_test(a_half_made_one_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("setbacks", tests, NULL, NULL);
}
