// What an operation of a recipe may be besides applied: in steps, forced, undone, and followed by a
// reprocess.
#include "correcting.h"
#include "store/events/revisions.h"

// What a worker is given to do next, by name; nothing is 0.
static int64_t
next_work(struct store *store, const char *worker, struct arena *arena, struct work *work)
{
    struct err none = {0};
    *work = (struct work){0};
    return work_next(store, worker, false, NULL, 0, arena, work, &none) && work->wait == 0 ? work->no : 0;
}

static void
halts_after_each_step(void **state)
{
    (void)state;
    struct world world;
    struct work work;
    world_make(&world, 30);
    const struct operation_request steps = {.plan = {.steps = {3, 4}, .step_count = 2}};
    int64_t no = ask_correct_with(&world, 1, 30, "set $.n 2", &steps);
    const int64_t after[] = {3, 7};
    for (int i = 0; i < 2; i++) {
        carry_on_correct(world.store, no);
        struct operation operation = get_operation(&world, no);
        assert_int_equal(operation.state, OPERATION_HALTED);
        assert_int_equal(operation.done, after[i]);
        assert_non_null(strstr(operation.state_note, "then resume"));
        assert_int_equal(next_work(world.store, "a", &world.arena, &work), 0); // nobody goes on by itself
        assert_works(operation_steer(world.store, no, STEER_RESUME, 0, NULL, &err));
        assert_int_equal(next_work(world.store, "a", &world.arena, &work), no);
    }
    carry_on_correct(world.store, no);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(revisions_by(&world, no), 30);
    world_end(&world);
}

static void
halts_above_its_share_of_refused_events(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    const struct operation_request plan = {.plan = {.halts = true, .halt_above = 10}};
    int64_t no = ask_correct_with(&world, 1, 40, "set $.n 2", &plan);
    struct hand hand = take_correct(world.store, no, 20);
    struct corrected events[20];
    for (int i = 0; i < 20; i++)
        events[i] = (struct corrected){.outcome = i < 3 ? "invalid" : "unchanged", .detail = "x"};
    keep_correct(world.store, no, &hand, events);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_HALTED);
    assert_non_null(strstr(operation.state_note, "3 of 20 refused, more than 10%"));
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, NULL, &err)); // accepts them
    carry_on_correct(world.store, no);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    world_end(&world);
}

static void
a_forced_event_is_changed_and_says_so(void **state)
{
    (void)state;
    struct world world;
    struct work work;
    world_make(&world, 3);
    const struct operation_request force = {.is_forced = true};
    int64_t no = ask_correct_with(&world, 1, 3, "set $.n 2", &force);
    assert_int_equal(next_work(world.store, "a", &world.arena, &work), no);
    assert_true(work.is_forced);
    const struct correction two = {.has_payload = true, .payload = BYTES("{\"n\": 2}")};
    const struct corrected events[] = {
        {.outcome = "changed", .correction = two},
        {.outcome = "forced", .detail = "forced: too low", .correction = two},
        {.outcome = "failed", .detail = "no answer"},
    };
    struct hand hand = take_correct(world.store, no, 10);
    keep_correct(world.store, no, &hand, events);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.done, 2);
    assert_int_equal(operation_changed(&operation), 2);
    assert_int_equal(operation.recipe.forced, 1);
    assert_int_equal(operation.recipe.failed, 1);
    assert_int_equal(operation.refused, 1);
    assert_string_equal(detail_of(&world, no, 2), "done: forced: too low");
    assert_int_equal(revisions_by(&world, no), 2);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE detail LIKE '%%forced%%'"), 2);

    // Without a reason nobody answers for it.
    struct operation_request request = {.action = ACTION_CORRECT,
                                        .ids = (int64_t[]){1},
                                        .count = 1,
                                        .scope = "x",
                                        .recipe = "set $.n 3",
                                        .is_forced = true,
                                        .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    assert_refused(operation_create(world.store, &request, NULL, NULL, &no, &err), ERR_USAGE,
                   "without a reason");
    world_end(&world);
}

// --- undo ---

static int64_t
ask_undo(struct world *world, int64_t undone, const int64_t *ids, size_t count)
{
    struct operation_request request = {.action = ACTION_CORRECT,
                                        .ids = ids,
                                        .count = count,
                                        .scope = "an undo",
                                        .reason = "wrong recipe",
                                        .undoes = undone,
                                        .rate = RATE_UNLIMITED};
    int64_t no;
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world->admin));
    assert_works(operation_create(world->store, &request, NULL, NULL, &no, &err));
    return no;
}

static void
apply_undo(struct world *world, int64_t no)
{
    int64_t applied, left = 1;
    while (left > 0)
        assert_works(work_apply(world->store, no, 3, &applied, &left, &err));
}

// The newest revision of an event: "no payload".
static const char *
newest(struct world *world, int64_t id)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT no || ' ' || coalesce(encode(payload, 'escape'), 'original') FROM redrive.revision"
             " WHERE dlq_id = %lld ORDER BY no DESC LIMIT 1",
             (long long)id);
    return test_text(world->admin, sql);
}

static void
undo_reverts_what_still_holds(void **state)
{
    (void)state;
    struct world world;
    struct work work;
    world_make(&world, 10);
    test_sql(world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, payload, topic) VALUES (8, 1, 'by hand', 't')");
    int64_t no = ask_correct(&world, 1, 10, "set $.n 2");
    struct hand hand = take_correct(world.store, no, 100);
    struct corrected events[10];
    for (int i = 0; i < 10; i++)
        events[i] = (struct corrected){.parent = hand.ids[i] == 8,
                                       .outcome = hand.ids[i] == 9 ? "unchanged" : "changed",
                                       .detail = hand.ids[i] == 9 ? "unchanged" : NULL,
                                       .correction = {.has_payload = true, .payload = BYTES("{\"n\": 2}")}};
    keep_correct(world.store, no, &hand, events);
    assert_true(operation_can_be_undone(
        &(struct operation){.action = ACTION_CORRECT, .state = OPERATION_DONE, .done = 1}));

    // Corrected again, closed, and taken by another operation meanwhile.
    test_sql(world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, parent, payload) VALUES (2, 2, 1, 'later');"
             "UPDATE dlq_events SET status = 'RESOLVED' WHERE id = 3");
    int64_t *ids;
    size_t count;
    assert_works(operation_corrected_ids(world.store, no, &ids, &count, &err));
    assert_int_equal(count, 7);
    const int64_t expected[] = {1, 4, 5, 6, 7, 8, 10};
    assert_memory_equal(ids, expected, sizeof expected);
    int64_t busy = ask_correct(&world, 4, 4, "set $.n 5");

    int64_t undo = ask_undo(&world, no, ids, count);
    assert_int_equal(next_work(world.store, "a", &world.arena, &work), busy);
    test_sql(world.admin, "UPDATE dlq_events SET status = 'DISCARDED' WHERE id = 7"); // by somebody outside
    apply_undo(&world, undo);
    struct operation operation = get_operation(&world, undo);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.undone.of, no);
    assert_int_equal(operation.done, 5);
    assert_int_equal(operation.skipped, 2);
    assert_string_equal(newest(&world, 1), "2 original");
    assert_string_equal(newest(&world, 2), "2 later");
    assert_string_equal(newest(&world, 3), "1 {\"n\": 2}");
    assert_string_equal(newest(&world, 4), "1 {\"n\": 2}");
    assert_string_equal(newest(&world, 7), "1 {\"n\": 2}");
    assert_string_equal(newest(&world, 8), "3 by hand");
    assert_string_equal(test_text(world.admin, "SELECT topic || reason || author FROM redrive.revision WHERE "
                                               "dlq_id = 8 AND no = 3"),
                        "twrong recipepostgres");
    assert_int_equal(get_operation(&world, no).undone.by, undo);
    assert_false(operation_can_be_undone(&operation));

    // Once more, with the ids as they were: nothing holds any more.
    int64_t revisions = test_number(world.admin, "SELECT count(*) FROM redrive.revision");
    apply_undo(&world, ask_undo(&world, no, ids, count));
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision"), revisions);
    free(ids);
    assert_works(operation_corrected_ids(world.store, no, &ids, &count, &err));
    assert_int_equal(count, 1); // the one that another operation has
    free(ids);
    world_end(&world);
}

static void
only_a_recipe_is_undone(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    int64_t no = ask_correct(&world, 1, 5, "set $.n 2");
    carry_on_correct(world.store, no);
    int64_t ids[] = {1, 2};
    int64_t undo = ask_undo(&world, no, ids, 2);
    apply_undo(&world, undo);
    struct operation_request request = {.action = ACTION_CORRECT,
                                        .ids = ids,
                                        .count = 2,
                                        .scope = "x",
                                        .undoes = undo,
                                        .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    assert_refused(operation_create(world.store, &request, NULL, NULL, &no, &err), ERR_USAGE, "cannot undo");
    world_end(&world);
}

// --- followed by a reprocess ---

static int64_t
follower_of(struct world *world, int64_t no)
{
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT coalesce(followed_by, -1) FROM redrive.operation WHERE no = %lld",
             (long long)no);
    return test_number(world->admin, sql);
}

static void
what_was_corrected_is_sent(void **state)
{
    (void)state;
    struct world world;
    struct work work;
    world_make(&world, 12);
    struct store *other = open_store(world.conninfo);
    const struct operation_request then = {
        .then_reprocess = true,
        .rate = 0, // paused at first; the recipe is not
        .plan = {
            .steps = {2}, .step_count = 1, .settle_for = 5 * US_PER_SECOND, .halts = true, .halt_above = 7}};
    int64_t no = ask_correct_with(&world, 1, 12, "set $.n 2", &then);
    next_work(world.store, "a", &world.arena, &work);
    assert_int_equal(work.no, no);
    struct hand hand = take_correct(world.store, no, 6); // its steps are those of the sending
    assert_int_equal(hand.count, 6);
    struct corrected events[6];
    for (int i = 0; i < 6; i++)
        events[i] = (struct corrected){.outcome = i ? "changed" : "unchanged",
                                       .detail = i ? NULL : "unchanged",
                                       .correction = {.has_payload = true, .payload = BYTES("{\"n\": 2}")}};
    keep_correct(world.store, no, &hand, events);
    next_work(other, "b", &world.arena, &work);
    assert_int_equal(follower_of(&world, no), -1); // not before all of it is done
    carry_on_correct(world.store, no);
    // Corrected again, closed, and returned too often meanwhile.
    test_sql(world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, parent, payload) VALUES (3, 2, 1, 'later');"
             "UPDATE dlq_events SET status = 'RESOLVED' WHERE id = 4;"
             "INSERT INTO redrive.returned (dlq_id, operation_no, times) VALUES (5, 1, 1000000)");
    next_work(world.store, "a", &world.arena, &work);
    next_work(other, "b", &world.arena, &work);
    int64_t follower = follower_of(&world, no);
    assert_true(follower > no);
    struct operation operation = get_operation(&world, follower);
    assert_int_equal(operation.action, ACTION_REPROCESS);
    assert_int_equal(operation.state, OPERATION_FROZEN);
    assert_string_equal(operation.reason, "INC-7");
    assert_int_equal(operation.plan.step_count, 1);
    assert_int_equal(operation.plan.settle_for, 5 * US_PER_SECOND);
    assert_int_equal(operation.rate, 0);
    assert_true(operation.plan.halts && operation.plan.halt_above == 7);
    assert_int_equal(operation.total, 8); // without 1, which was unchanged, and those three
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.operation WHERE action = 'reprocess'"), 1);
    store_close(other);
    world_end(&world);
}

static void
nothing_follows_where_nothing_was_corrected_or_it_was_cancelled(void **state)
{
    (void)state;
    struct world world;
    struct work work;
    world_make(&world, 8);
    const struct operation_request then = {.then_reprocess = true};
    int64_t none = ask_correct_with(&world, 1, 3, "set $.n 2", &then);
    struct hand hand = take_correct(world.store, none, 10);
    struct corrected events[3] = {{.outcome = "unchanged", .detail = "unchanged"},
                                  {.outcome = "invalid", .detail = "x"},
                                  {.outcome = "not_applicable", .detail = "x"}};
    keep_correct(world.store, none, &hand, events);
    int64_t cancelled = ask_correct_with(&world, 4, 8, "set $.n 2", &then);
    hand = take_correct(world.store, cancelled, 2);
    keep_correct(world.store, cancelled, &hand, NULL);
    assert_works(operation_steer(world.store, cancelled, STEER_CANCEL, 0, NULL, &err));
    next_work(world.store, "a", &world.arena, &work);
    assert_int_equal(follower_of(&world, none), 0);
    assert_int_equal(follower_of(&world, cancelled), -1);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.operation WHERE action = 'reprocess'"), 0);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halts_after_each_step),
        cmocka_unit_test(halts_above_its_share_of_refused_events),
        cmocka_unit_test(a_forced_event_is_changed_and_says_so),
        cmocka_unit_test(undo_reverts_what_still_holds),
        cmocka_unit_test(only_a_recipe_is_undone),
        cmocka_unit_test(what_was_corrected_is_sent),
        cmocka_unit_test(nothing_follows_where_nothing_was_corrected_or_it_was_cancelled),
    };
    return cmocka_run_group_tests_name("recipe operations", tests, NULL, NULL);
}
