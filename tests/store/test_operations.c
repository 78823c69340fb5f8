// Operations that are plain SQL: what was confirmed is what happens.
#include "tests/lib/forecast.h"
#include "world.h"

static bool
count_slices(void *context, size_t written, size_t total)
{
    size_t *calls = context;
    assert_int_equal(total, 12000);
    assert_int_equal(written, ++*calls == 1 ? 10000 : 12000);
    return true;
}

static void
discards_what_was_frozen(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 12010);
    int64_t ids[12000];
    for (int i = 0; i < 12000; i++)
        ids[i] = i + 1;
    struct operation_request request = {.action = ACTION_DISCARD,
                                        .ids = ids,
                                        .count = 12000,
                                        .scope = "12,000 events of Connection refused",
                                        .filter_text = "refused",
                                        .group = "00000000000000aa",
                                        .reason = "host is gone",
                                        .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    size_t calls = 0;
    int64_t no;
    assert_works(operation_create(world.store, &request, count_slices, &calls, &no, &err));
    assert_int_equal(calls, 2);
    add_events(world.admin, 5); // arrive after the freeze: not touched

    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_FROZEN);
    assert_int_equal(operation.total, 12000);
    assert_string_equal(operation.scope, request.scope);
    assert_string_equal(operation.reason, "host is gone");
    assert_string_equal(operation.group, "00000000000000aa");
    assert_string_equal(operation.requested_by, "postgres");

    struct work work;
    assert_works(work_next(world.store, "w", false, NULL, 0, &world.arena, &work, &err));
    assert_int_equal(work.no, no);
    assert_int_equal(work.action, ACTION_DISCARD);
    int64_t applied, left;
    assert_works(work_apply(world.store, no, 5000, &applied, &left, &err));
    assert_int_equal(applied, 5000);
    assert_int_equal(left, 7000);
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_int_not_equal(operation.started_at, TIME_ABSENT);
    apply_to_end(world.store, no, 5000);
    assert_works(work_finish(world.store, no, &err));

    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.done, 12000);
    assert_int_not_equal(operation.finished_at, TIME_ABSENT);
    assert_int_equal(events_in(&world, "DISCARDED"), 12000);
    assert_int_equal(events_in(&world, "PENDING"), 15);
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM public.dlq_events WHERE status = 'DISCARDED' AND resolved_by ="
                    " 'postgres' AND resolved_at > localtimestamp - interval '1 min' AND retry_count = 0"),
        12000);

    struct audit_row *rows;
    size_t count;
    assert_works(audit_list(world.store, &(struct audit_query){.operation = no, .limit = 100}, &world.arena,
                            &rows, &count, &err));
    assert_int_equal(count, 5); // discard, three times apply, done
    assert_string_equal(rows[4].action, "discard");
    assert_string_equal(rows[4].reason, "host is gone");
    assert_int_equal(rows[4].events, 12000);
    assert_non_null(strstr(rows[4].detail, "filter: refused"));
    assert_ptr_equal(strstr(rows[4].detail, "selected 12,000; ids "), rows[4].detail); // none is skipped
    assert_string_equal(rows[0].action, "done");
    assert_string_equal(rows[0].detail, "12,000 done");
    assert_works(audit_list(world.store,
                            &(struct audit_query){.operation = no, .before = rows[2].no, .limit = 100},
                            &world.arena, &rows, &count, &err));
    assert_int_equal(count, 2);
    // Of people's decisions it is one.
    assert_works(audit_list(world.store,
                            &(struct audit_query){.operation = no, .of_people = true, .limit = 100},
                            &world.arena, &rows, &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].action, "discard");
    world_end(&world);
}

static void
restores_what_was_discarded(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    apply_to_end(world.store, make_operation(&world, world.store, ACTION_DISCARD, 1, 10), 3);
    apply_operation(&world, ACTION_RESOLVE, 11, 15);
    int64_t no = make_operation(&world, world.store, ACTION_RESTORE, 5, 12);
    apply_to_end(world.store, no, 100);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.done, 6);
    assert_int_equal(operation.skipped, 2); // resolved ones are not restored
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM public.dlq_events WHERE id BETWEEN 5 AND 10 AND status = 'PENDING'"
                    " AND resolved_at IS NULL AND resolved_by IS NULL"),
        6);
    // And it may be decided again.
    apply_operation(&world, ACTION_RESOLVE, 5, 10);
    assert_int_equal(events_in(&world, "RESOLVED"), 11);

    struct decision *decisions;
    size_t count;
    assert_works(event_decisions(world.store, 5, &world.arena, &decisions, &count, &err));
    assert_int_equal(count, 3);
    assert_int_equal(decisions[0].action, ACTION_RESOLVE);
    assert_int_equal(decisions[1].action, ACTION_RESTORE);
    assert_int_equal(decisions[2].action, ACTION_DISCARD);
    assert_int_equal(decisions[2].state, ITEM_DONE);
    assert_string_equal(decisions[2].who, "postgres");
    world_end(&world);
}

static int64_t
ask_restore(struct world *world, int64_t undoes, struct err *err)
{
    static const int64_t ids[] = {1, 2, 3, 4};
    struct operation_request request = {.action = ACTION_RESTORE,
                                        .ids = ids,
                                        .count = 4,
                                        .scope = "4 events of an operation",
                                        .rate = RATE_UNLIMITED,
                                        .undoes = undoes};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world->admin));
    int64_t no = 0;
    return operation_create(world->store, &request, NULL, NULL, &no, err) ? no : 0;
}

static void
a_discard_is_undone_once(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    int64_t discard = make_operation(&world, world.store, ACTION_DISCARD, 1, 4);
    assert_false(operation_can_be_undone(&(struct operation){.action = ACTION_RESOLVE, .done = 4}));
    struct operation operation = get_operation(&world, discard);
    assert_false(operation_can_be_undone(&operation)); // it has not happened yet
    apply_to_end(world.store, discard, 10);
    operation = get_operation(&world, discard);
    assert_true(operation_can_be_undone(&operation));

    // While somebody undoes it; but what he cancelled is left to be undone.
    struct err refusal = {0};
    int64_t first = ask_restore(&world, discard, &refusal);
    operation = get_operation(&world, discard);
    assert_int_equal(operation.undone.by, first);
    assert_false(operation.undone.is_done);
    assert_false(operation_can_be_undone(&operation));
    assert_works(operation_steer(world.store, first, STEER_CANCEL, 0, NULL, &err));
    operation = get_operation(&world, discard);
    assert_int_equal(operation.undone.by, 0);
    assert_true(operation_can_be_undone(&operation));

    int64_t second = ask_restore(&world, discard, &refusal);
    apply_to_end(world.store, second, 10);
    struct operation *operations;
    size_t count;
    assert_works(operation_list(world.store, 0, 10, &world.arena, &operations, &count, &err));
    assert_int_equal(operations[2].no, discard);
    assert_int_equal(operations[2].undone.by, second);
    assert_true(operations[2].undone.is_done);
    assert_false(operation_can_be_undone(&operations[2]));
    assert_int_equal(operations[0].undone.by, 0);

    // Only a discard is undone.
    int64_t resolve = make_operation(&world, world.store, ACTION_RESOLVE, 7, 9);
    assert_int_equal(ask_restore(&world, resolve, &refusal), 0);
    assert_int_equal(refusal.kind, ERR_USAGE);
    assert_non_null(strstr(refusal.text, "cannot undo"));
    world_end(&world);
}

// By command or from a list nobody says what it takes back: it is what leaves nothing of a discard closed.
static void
a_restore_undoes_what_it_covers(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 40);
    int64_t part = apply_operation(&world, ACTION_DISCARD, 1, 10);
    int64_t whole = apply_operation(&world, ACTION_DISCARD, 11, 20);
    int64_t other = apply_operation(&world, ACTION_DISCARD, 21, 30);

    // A part leaves something to be undone, and the rest of it nothing.
    apply_operation(&world, ACTION_RESTORE, 1, 9);
    assert_int_equal(get_operation(&world, part).undone.by, 0);
    int64_t rest = make_operation(&world, world.store, ACTION_RESTORE, 10, 10);
    assert_int_equal(get_operation(&world, part).undone.by, rest);
    assert_works(operation_steer(world.store, rest, STEER_CANCEL, 0, NULL, &err));
    assert_int_equal(get_operation(&world, part).undone.by, 0);

    // Exactly; and more than that, which takes back what is newest.
    int64_t same = make_operation(&world, world.store, ACTION_RESTORE, 11, 20);
    assert_int_equal(get_operation(&world, whole).undone.by, same);
    assert_false(get_operation(&world, whole).undone.is_done);
    apply_to_end(world.store, same, 100);
    assert_true(get_operation(&world, whole).undone.is_done);
    int64_t more = make_operation(&world, world.store, ACTION_RESTORE, 10, 30);
    assert_int_equal(get_operation(&world, other).undone.by, more);
    assert_int_equal(get_operation(&world, part).undone.by, 0);

    // Somebody opened the first one by himself.
    int64_t again = apply_operation(&world, ACTION_DISCARD, 31, 34);
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id = 31");
    int64_t last = make_operation(&world, world.store, ACTION_RESTORE, 32, 34);
    assert_int_equal(get_operation(&world, again).undone.by, last);
    world_end(&world);
}

static void
others_close_events_meanwhile(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'early', resolved_at ="
             " '2026-01-02 03:04:05' WHERE id = 1");
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 32); // 31 and 32 do not exist
    assert_int_equal(get_operation(&world, no).skipped, 3);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'rest-api', resolved_at ="
             " '2026-02-03 04:05:06' WHERE id IN (7, 8); DELETE FROM public.dlq_events WHERE id = 9");
    apply_to_end(world.store, no, 4);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.done, 26);
    assert_int_equal(operation.skipped, 6);
    assert_int_equal(events_in(&world, "DISCARDED"), 26);
    assert_int_equal(events_in(&world, "RESOLVED"), 3);

    struct outcome *outcomes;
    size_t count;
    assert_works(operation_outcomes(world.store, no, &world.arena, &outcomes, &count, &err));
    assert_int_equal(count, 4);
    assert_int_equal(outcomes[0].state, ITEM_DONE);
    assert_int_equal(outcomes[0].count, 26);
    assert_null(outcomes[0].reason);
    assert_string_equal(outcomes[1].reason, "no longer in the table");
    assert_int_equal(outcomes[1].count, 3);
    assert_string_equal(outcomes[2].reason, "resolved by rest-api at 2026-02-03 04:05");
    assert_int_equal(outcomes[2].first_event, 7);
    assert_string_equal(outcomes[3].reason, "resolved by early at 2026-01-02 03:04");

    int64_t *ids;
    assert_works(operation_item_ids(world.store, no, 1u << ITEM_SKIPPED, NULL, &ids, &count, &err));
    assert_int_equal(count, 6);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[3], 9);
    assert_int_equal(ids[5], 32);
    free(ids);
    // Each reason has its own.
    assert_works(
        operation_item_ids(world.store, no, 1u << ITEM_SKIPPED, outcomes[2].reason, &ids, &count, &err));
    assert_int_equal(count, outcomes[2].count);
    assert_int_equal(ids[0], 7);
    free(ids);
    world_end(&world);
}

static void
names_who_has_an_event(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    int64_t first = make_operation(&world, world.store, ACTION_DISCARD, 1, 6);
    int64_t second = make_operation(&world, world.store, ACTION_RESOLVE, 5, 10);
    assert_int_equal(get_operation(&world, second).skipped, 2);
    char expected[64];
    snprintf(expected, sizeof expected, "in postgres's operation %lld", (long long)first);
    assert_string_equal(
        test_text(world.admin, "SELECT detail FROM redrive.item WHERE operation_no = 2 AND dlq_id = 5"),
        expected);

    // What it says beforehand is the same.
    struct preview preview;
    const int64_t ids[] = {1, 5, 6, 7, 99};
    assert_works(look_ahead(world.store,
                            &(struct preview_query){.action = ACTION_DISCARD, .ids = ids, .count = 5},
                            &world.arena, &preview, &err));
    assert_int_equal(preview.busy, 4);
    assert_int_equal(preview.closed, 1);
    assert_int_equal(preview.open, 0);
    snprintf(expected, sizeof expected, "postgres's operation %lld", (long long)first);
    assert_string_equal(preview.busy_with, expected);

    // An operation of nothing but conflicts is over at once.
    int64_t third = make_operation(&world, world.store, ACTION_RESOLVE, 1, 3);
    assert_int_equal(get_operation(&world, third).state, OPERATION_DONE);
    world_end(&world);
}

static bool
stop_at_second(void *context, size_t written, size_t total)
{
    (void)context;
    (void)total;
    return written < 20000;
}

static void
a_stopped_freeze_leaves_nothing(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 25000);
    int64_t *ids = malloc(25000 * sizeof *ids);
    for (int i = 0; i < 25000; i++)
        ids[i] = i + 1;
    struct operation_request request = {
        .action = ACTION_REPROCESS, .ids = ids, .count = 25000, .scope = "x", .rate = 10};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t no;
    assert_refused(operation_create(world.store, &request, stop_at_second, NULL, &no, &err), ERR_CANCELLED,
                   "nothing was written");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.operation"), 0);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.item"), 0);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action <> 'migrate'"),
                     0);
    request.target_topic = "redrive.marker";
    assert_refused(operation_create(world.store, &request, NULL, NULL, &no, &err), ERR_USAGE,
                   "redrive.marker is a topic of the publish protocol");
    request.target_topic = NULL;
    // The connection and the same key are good for the next attempt.
    assert_works(operation_create(world.store, &request, NULL, NULL, &no, &err));
    assert_int_equal(get_operation(&world, no).total, 25000);
    free(ids);
    world_end(&world);
}

static void
asked_twice_is_made_once(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    const int64_t ids[] = {1, 2, 3};
    struct operation_request request = {
        .action = ACTION_RESOLVE, .ids = ids, .count = 3, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t first, second;
    assert_works(operation_create(world.store, &request, NULL, NULL, &first, &err));
    apply_to_end(world.store, first, 10);
    assert_works(operation_create(world.store, &request, NULL, NULL, &second, &err));
    assert_int_equal(first, second);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.item"), 3);
    request.action = ACTION_DISCARD;
    assert_refused(operation_create(world.store, &request, NULL, NULL, &second, &err), ERR_CONFLICT,
                   "somebody else");
    world_end(&world);
}

// Each with its reason, as it was written; what has none is there as well.
static void
the_audit_keeps_why_an_operation_was_steered(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    int64_t no = make_operation(&world, world.store, ACTION_REPROCESS, 1, 20);
    const struct send_plan halts = {.halts = true, .halt_above = 10};
    assert_works(operation_steer(world.store, no, STEER_PAUSE, 0, "gateway down", &err));
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, " ", &err));
    assert_works(operation_steer(world.store, no, STEER_RATE, 50, "slowly", &err));
    assert_works(operation_tune(world.store, no, STEER_HALT, &halts, "INC-7", &err));
    // A program that knows of no reason.
    test_sql(world.admin, "SELECT redrive.operation_steer(%lld, 'pause', NULL)", (long long)no);
    assert_works(operation_steer(world.store, no, STEER_CANCEL, 0, "not needed", &err));
    assert_string_equal(test_text(world.admin,
                                  "SELECT string_agg(concat(action, ': ', coalesce(reason, '-')), ', ' ORDER "
                                  "BY no) FROM redrive.audit WHERE operation_no = 1 AND action <> "
                                  "'reprocess'"),
                        "pause: gateway down, resume: -, rate: slowly, halt: INC-7, pause: -, cancel: not "
                        "needed, cancelled: -");
    world_end(&world);
}

static void
steers(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 20);
    struct work work;
    int64_t applied, left;
    assert_works(operation_steer(world.store, no, STEER_PAUSE, 0, NULL, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_PAUSED);
    assert_refused(operation_steer(world.store, no, STEER_PAUSE, 0, NULL, &err), ERR_CONFLICT,
                   "it is paused");
    assert_refused(work_next(world.store, "w", true, NULL, 0, &world.arena, &work, &err), ERR_NOT_FOUND,
                   "no operation");
    assert_works(work_apply(world.store, no, 5, &applied, &left, &err));
    assert_int_equal(applied, 0);
    assert_int_equal(left, 20);
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_FROZEN);
    assert_works(operation_steer(world.store, no, STEER_RATE, 0, NULL, &err));
    assert_refused(work_next(world.store, "w", true, NULL, 0, &world.arena, &work, &err), ERR_NOT_FOUND,
                   "no operation");
    assert_works(operation_steer(world.store, no, STEER_RATE, 500, NULL, &err));
    assert_works(work_next(world.store, "w", true, NULL, 0, &world.arena, &work, &err));
    assert_int_equal(work.rate, 500);
    assert_works(work_apply(world.store, no, 5, &applied, &left, &err));
    assert_works(operation_steer(world.store, no, STEER_PAUSE, 0, NULL, &err));
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_RUNNING);
    assert_refused(operation_steer(world.store, no, STEER_APPROVE, 0, NULL, &err), ERR_CONFLICT,
                   "does not wait for approval");
    assert_works(operation_steer(world.store, no, STEER_CANCEL, 0, NULL, &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(operation.done, 5);
    assert_int_equal(operation.cancelled, 15);
    assert_int_equal(events_in(&world, "PENDING"), 15);
    assert_refused(operation_steer(world.store, no, STEER_RESUME, 0, NULL, &err), ERR_CONFLICT,
                   "is already cancelled");
    assert_refused(operation_steer(world.store, 99, STEER_RESUME, 0, NULL, &err), ERR_NOT_FOUND,
                   "no operation 99");
    assert_refused(operation_get(world.store, 99, &world.arena, &operation, &err), ERR_NOT_FOUND,
                   "no operation 99");
    // The cancelled ones are free again.
    assert_int_equal(get_operation(&world, make_operation(&world, world.store, ACTION_RESOLVE, 6, 20)).queued,
                     15);

    test_sql(world.admin, "UPDATE redrive.operation SET state = 'awaiting approval' WHERE no = 2");
    assert_refused(operation_steer(world.store, 2, STEER_APPROVE, 0, NULL, &err), ERR_DENIED,
                   "somebody else approves");
    test_sql(world.admin, "UPDATE redrive.operation SET requested_by = 'ana' WHERE no = 2");
    assert_works(operation_steer(world.store, 2, STEER_APPROVE, 0, NULL, &err));
    assert_int_equal(get_operation(&world, 2).state, OPERATION_FROZEN);
    world_end(&world);
}

static void
gives_work_in_order(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    int64_t reprocess = make_operation(&world, world.store, ACTION_REPROCESS, 1, 10);
    int64_t discard = make_operation(&world, world.store, ACTION_DISCARD, 11, 20);
    int64_t resolve = make_operation(&world, world.store, ACTION_RESOLVE, 21, 30);
    struct work work;
    assert_works(work_next(world.store, "w", true, NULL, 0, &world.arena, &work, &err));
    assert_int_equal(work.no, reprocess);
    assert_works(work_next(world.store, "w", false, NULL, 0, &world.arena, &work, &err));
    assert_int_equal(work.no, discard);
    const int64_t skip[] = {reprocess, discard};
    assert_works(work_next(world.store, "w", true, skip, 2, &world.arena, &work, &err));
    assert_int_equal(work.no, resolve);
    assert_string_equal(work.requested_by, "postgres");
    int64_t applied, left;
    assert_refused(work_apply(world.store, reprocess, 5, &applied, &left, &err), ERR_USAGE,
                   "published, not applied");

    struct operation *operations;
    size_t count;
    assert_works(operation_list(world.store, 0, 2, &world.arena, &operations, &count, &err));
    assert_int_equal(count, 2);
    assert_int_equal(operations[0].no, resolve);
    assert_works(operation_list(world.store, operations[1].no, 10, &world.arena, &operations, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(operations[0].no, reprocess);
    assert_string_equal(operations[0].worker, "w");
    world_end(&world);
}

static void
reports_changes(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    int64_t token = 0;
    bool changed;
    assert_works(operation_changes(world.store, &token, &changed, &err));
    assert_works(operation_changes(world.store, &token, &changed, &err));
    assert_false(changed);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 20);
    assert_works(operation_changes(world.store, &token, &changed, &err));
    assert_true(changed);
    assert_works(operation_changes(world.store, &token, &changed, &err));
    assert_false(changed);

    // A change whose number was drawn before, but that commits after a later one was seen.
    int64_t applied, left;
    PGconn *slow = test_connect(world.conninfo);
    assert_int_equal(make_operation(&world, world.store, ACTION_DISCARD, 99, 99),
                     2); // of nothing: done at once
    test_sql(world.admin, "UPDATE redrive.operation SET state = 'running' WHERE no = 2");
    test_sql(slow, "BEGIN; UPDATE redrive.operation SET changed = nextval('redrive.change') WHERE no = 2");
    assert_works(work_apply(world.store, no, 5, &applied, &left, &err));
    assert_works(operation_changes(world.store, &token, &changed, &err));
    assert_true(changed);
    test_sql(slow, "COMMIT");
    assert_works(operation_changes(world.store, &token, &changed, &err));
    assert_true(changed);
    apply_to_end(world.store, no, 100);
    assert_works(operation_changes(world.store, &token, &changed, &err));
    assert_true(changed);
    PQfinish(slow);
    world_end(&world);
}

// A worker's session that began with five events, when the tables were remembered as empty, gets a large
// backlog.
static void
a_session_grows_from_few_to_many(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    test_sql(world.admin, "VACUUM ANALYZE redrive.operation_item");
    test_sql(world.admin, "VACUUM ANALYZE redrive.operation_batch");
    for (int i = 0; i < 6; i++) { // as often as a plan takes to be kept
        apply_to_end(world.store, make_operation(&world, world.store, ACTION_DISCARD, 1, 7), 3);
        apply_to_end(world.store, make_operation(&world, world.store, ACTION_RESTORE, 1, 7), 3);
    }
    test_sql(world.admin, "DELETE FROM redrive.operation_item");
    test_sql(world.admin, "DELETE FROM redrive.operation_batch");
    test_sql(world.admin, "VACUUM ANALYZE redrive.operation_item");
    test_sql(world.admin, "VACUUM ANALYZE redrive.operation_batch");
    apply_to_end(world.store, make_operation(&world, world.store, ACTION_DISCARD, 1, 7), 3);
    // Also what is in conflict.
    int64_t some = make_operation(&world, world.store, ACTION_DISCARD, 1, 99);
    assert_works(operation_steer(world.store, some, STEER_CANCEL, 0, NULL, &err));
    int64_t reprocess = make_operation(&world, world.store, ACTION_REPROCESS, 1, 10);
    assert_works(operation_steer(world.store, reprocess, STEER_CANCEL, 0, NULL, &err));

    enum { MANY = 40000 };
    add_events(world.admin, MANY);
    int64_t began = clock_mono();
    reprocess = make_operation(&world, world.store, ACTION_REPROCESS, 11, MANY);
    assert_int_equal(
        get_operation(&world, make_operation(&world, world.store, ACTION_DISCARD, 1, MANY)).skipped,
        MANY - 3);
    assert_works(operation_steer(world.store, reprocess, STEER_CANCEL, 0, NULL, &err));
    int64_t discard = make_operation(&world, world.store, ACTION_DISCARD, 11, MANY);
    apply_to_end(world.store, discard, 5000);
    assert_int_equal(get_operation(&world, discard).done, MANY - 10);
    assert_in_range(clock_mono() - began, 0,
                    60 * US_PER_SECOND); // two seconds on an idle machine; ten minutes by the wrong plan
    world_end(&world);
}

static void
the_audit_is_final(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    apply_to_end(world.store, make_operation(&world, world.store, ACTION_DISCARD, 1, 5), 10);
    int64_t rows = test_number(world.admin, "SELECT count(*) FROM redrive.audit");
    assert_true(rows >= 4);
    static const char *const attempts[] = {
        "UPDATE redrive.audit SET who = 'nobody'",
        "DELETE FROM redrive.audit",
        "TRUNCATE redrive.audit",
        "SET session_replication_role = replica; DELETE FROM redrive.audit",
        "DELETE FROM redrive.audit WHERE false",
        "INSERT INTO redrive.audit (no, action) VALUES (1, 'x')",
    };
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        assert_string_not_equal(test_state(world.admin, attempts[i]), "");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit"), rows);
    assert_string_equal(
        test_text(
            world.admin,
            "SELECT host || ' ' || (pid > 0) || ' ' || program FROM redrive.audit ORDER BY no DESC LIMIT 1"),
        test_text(world.admin,
                  "SELECT 'local true ' || program FROM redrive.audit ORDER BY no DESC LIMIT 1"));
    world_end(&world);
}

static void
works_on_a_partitioned_table(void **state)
{
    (void)state;
    struct world world;
    world_make_partitioned(&world, 100);
    int64_t no = make_operation(&world, world.store, ACTION_DISCARD, 1, 60);
    apply_to_end(world.store, no, 7);
    assert_int_equal(get_operation(&world, no).done, 60);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM public.dlq_old WHERE status = 'DISCARDED'"), 30);
    int64_t reprocess = make_operation(&world, world.store, ACTION_REPROCESS, 1, 100);
    assert_int_equal(get_operation(&world, reprocess).queued, 40);
    struct event_page page;
    const struct event_query query = {
        .fields = EVENT_NARROW | EVENT_PAYLOAD, .statuses = 1u << EVENT_PENDING, .limit = 100};
    assert_works(store_events(world.store, &query, &page, &err));
    assert_int_equal(page.count, 40);
    assert_int_equal(page.events[0].id, 100);
    event_page_release(&page);
    // Its owner may go on altering it.
    test_sql(world.admin, "ALTER TABLE public.dlq_events ADD COLUMN more text; ALTER TABLE public.dlq_events "
                          "ALTER COLUMN error_message TYPE varchar(2000)");
    no = make_operation(&world, world.store, ACTION_RESTORE, 1, 60);
    apply_to_end(world.store, no, 100);
    assert_int_equal(get_operation(&world, no).done, 60);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discards_what_was_frozen),
        cmocka_unit_test(restores_what_was_discarded),
        cmocka_unit_test(a_discard_is_undone_once),
        cmocka_unit_test(a_restore_undoes_what_it_covers),
        cmocka_unit_test(others_close_events_meanwhile),
        cmocka_unit_test(names_who_has_an_event),
        cmocka_unit_test(a_stopped_freeze_leaves_nothing),
        cmocka_unit_test(asked_twice_is_made_once),
        cmocka_unit_test(steers),
        cmocka_unit_test(the_audit_keeps_why_an_operation_was_steered),
        cmocka_unit_test(gives_work_in_order),
        cmocka_unit_test(reports_changes),
        cmocka_unit_test(a_session_grows_from_few_to_many),
        cmocka_unit_test(the_audit_is_final),
        cmocka_unit_test(works_on_a_partitioned_table),
    };
    return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}
