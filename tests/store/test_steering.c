// Steering: steps, halting by itself, approval, calling back.
#include "sender.h"

static struct sender sender;

static void
finished(int64_t no)
{
    test_sql(sender.world.admin,
             "UPDATE redrive.operation SET observe_until = clock_timestamp() WHERE no = %lld", (long long)no);
}

static void
sends_in_steps(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10, 50}, .step_count = 2, .halts = true, .halt_above = 20};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.plan.step_count, 2);
    assert_int_equal(operation.plan.steps[1], 50);
    assert_int_equal(operation.plan.settle_for, SETTLE_FOR);
    assert_true(operation.plan.halts && operation.plan.halt_above == 20);

    assert_int_equal(sender_look(&sender, no).wait, 0);
    assert_int_equal(sender_send(&sender, no), 10);
    operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_WAITING);
    assert_int_equal(operation.sent.watched, 10);
    assert_int_equal(operation.sent.quiet, 0);
    assert_int_equal(sender_send(&sender, no), 0);
    struct work work = sender_look(&sender, no);
    assert_true(work.is_observing && work.wait > 50 * US_PER_SECOND && work.wait <= 60 * US_PER_SECOND);

    sender_fail_again(&sender, 1, 2); // 20%, which is not more than 20%
    finished(no);
    assert_int_equal(sender_look(&sender, no).wait, 0);
    operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_int_equal(operation.step, 2);
    assert_int_equal(operation.returned, 2);
    assert_int_equal(sender_send(&sender, no), 50);
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_WAITING);
    finished(no);
    sender_look(&sender, no);
    assert_int_equal(sender_send(&sender, no), 140); // the rest
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_DONE);
    assert_int_equal(
        test_number(sender.world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'step'"), 4);
    assert_string_equal(
        test_text(sender.world.admin, // nothing is known of who took them
                  "SELECT string_agg(detail, '|' ORDER BY no) FROM redrive.audit WHERE action = "
                  "'step' AND detail LIKE '%begins'"),
        "2 of 10 returned; step 2 of 3 begins|2 of 60 returned; step 3 of 3 begins");
}

static void
halts_when_events_come_back(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1, .halts = true, .halt_above = 20};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    assert_int_equal(sender_send(&sender, no), 10);
    sender_fail_again(&sender, 1, 3);
    sender_fail_again(&sender, 1, 1); // written twice, it came back once
    assert_int_equal(sender_look(&sender, no).no, 0);
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_HALTED);
    assert_int_equal(operation.returned, 3);
    assert_string_equal(operation.state_note, "3 of 10 returned, more than 20%");
    assert_int_equal(sender_send(&sender, no), 0);

    // A person lets it go on; what was seen then does not count again.
    assert_works(operation_steer(sender.world.store, no, STEER_RESUME, 0, NULL, &err));
    operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_int_equal(operation.step, 2);
    assert_int_equal(sender_look(&sender, no).wait, 0);
    struct claim rest = sender_claim(&sender, no);
    assert_int_equal(rest.count, 190);
    assert_works(chunk_finish(sender.world.store, &sender.slot, &rest.chunk, CHUNK_COMMITTED, "x", &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_DONE);
}

// What a person has seen counts no more, neither among those that failed nor among those that were sent.
static void
what_was_pardoned_is_out_of_the_share(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10, 20}, .step_count = 2, .halts = true, .halt_above = 20};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    assert_int_equal(sender_send(&sender, no), 10);
    sender_fail_again(&sender, 1, 3);
    (void)sender_look(&sender, no);
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_HALTED);
    assert_works(operation_steer(sender.world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_int_equal(sender_send(&sender, no), 20);
    sender_fail_again(&sender, 11, 13); // 3 of 20, and 6 of 30 in all
    (void)sender_look(&sender, no);
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_WAITING);
    sender_fail_again(&sender, 14, 15); // 5 of 20, where 5 of 30 would pass
    (void)sender_look(&sender, no);
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_HALTED);
}

// One in one, or three in nine, is no share to judge by; a first step that is smaller was made to be judged.
static void
few_are_no_share_to_halt_by(void **state)
{
    (void)state;
    const struct send_plan all = {.halts = true, .halt_above = 20};
    int64_t no = sender_ask(&sender, &all, 1, 100);
    for (int sent = 1; sent <= 10; sent++) {
        struct claim one = sender_claim_with(&sender, &sender.slot, no, 1);
        assert_works(chunk_finish(sender.world.store, &sender.slot, &one.chunk, CHUNK_COMMITTED, "x", &err));
        if (sent <= 3)
            sender_fail_again(&sender, sent, sent);
        assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
        struct operation operation = get_operation(&sender.world, no);
        assert_int_equal(operation.returned, sent < 3 ? sent : 3);
        assert_int_equal(operation.state, sent < 10 ? OPERATION_RUNNING : OPERATION_HALTED);
    }
    const struct send_plan small = {.steps = {3}, .step_count = 1, .halts = true, .halt_above = 20};
    no = sender_ask(&sender, &small, 201, 300);
    assert_int_equal(sender_send(&sender, no), 3);
    test_sql(sender.world.admin,
             "UPDATE public.dlq_events SET status = 'PENDING' WHERE id IN (SELECT dlq_id FROM "
             "redrive.item WHERE state = 'done' AND operation_no = %lld LIMIT 1)",
             (long long)no);
    sender_look(&sender, no);
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_HALTED);
}

// Another hand takes no more than what the step has left beside what is in flight, or in doubt.
static void
a_step_counts_events_in_flight(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    struct slot other = sender_another_slot(&sender);
    struct claim first = sender_claim_with(&sender, &sender.slot, no, 4);
    assert_int_equal(first.count, 4);
    struct claim second = sender_claim_with(&sender, &other, no, 1000);
    assert_int_equal(second.count, 6);
    assert_works(chunk_finish(sender.world.store, &other, &second.chunk, CHUNK_ABORTED, "x", &err));
    assert_works(chunk_finish(sender.world.store, &sender.slot, &first.chunk, CHUNK_IN_DOUBT, "x", &err));
    assert_int_equal(get_operation(&sender.world, no).in_doubt, 4);
    assert_int_equal(sender_claim_with(&sender, &other, no, 1000).count, 6);
}

// An event that was refused had its turn: the step does not take another one for it.
static void
a_step_counts_what_was_refused(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    struct claim first = sender_claim(&sender, no);
    assert_int_equal(first.count, 10);
    assert_works(chunk_finish(sender.world.store, &sender.slot, &first.chunk, CHUNK_ABORTED, "x", &err));
    struct refusal refusals[4];
    for (int i = 0; i < 4; i++)
        refusals[i] = (struct refusal){i + 1, "no such topic"};
    assert_works(items_refuse(sender.world.store, &sender.slot, no, refusals, 4, &err));
    struct claim again = sender_claim(&sender, no);
    assert_int_equal(again.count, 6);
    assert_works(chunk_finish(sender.world.store, &sender.slot, &again.chunk, CHUNK_COMMITTED, "x", &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_WAITING);
}

static void
halts_when_events_are_refused(void **state)
{
    (void)state;
    const struct send_plan plan = {.halts = true, .halt_above = 20};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    struct claim all = sender_claim(&sender, no);
    assert_works(chunk_finish(sender.world.store, &sender.slot, &all.chunk, CHUNK_ABORTED, "x", &err));
    struct refusal refusals[60];
    for (int i = 0; i < 60; i++)
        refusals[i] = (struct refusal){i + 1, "no such topic"};
    // Few of a chunk that was returned are few, though nothing else is sent yet.
    assert_works(items_refuse(sender.world.store, &sender.slot, no, refusals, 20, &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_RUNNING);
    assert_works(items_refuse(sender.world.store, &sender.slot, no, refusals + 20, 40, &err));
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_HALTED);
    assert_non_null(strstr(operation.state_note, "60 of 200 refused, more than 20%"));
    assert_works(operation_steer(sender.world.store, no, STEER_CANCEL, 0, NULL, &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_CANCELLED);
}

static void
pauses_and_goes_on_while_it_waits(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    assert_int_equal(sender_send(&sender, no), 10);
    assert_works(operation_steer(sender.world.store, no, STEER_PAUSE, 0, NULL, &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_PAUSED);
    assert_works(operation_steer(sender.world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_WAITING);
    // Resumed while it waits: the next step begins now.
    assert_works(operation_steer(sender.world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_RUNNING);
    assert_works(operation_steer(sender.world.store, no, STEER_RATE, 1500, NULL, &err));
    assert_works(operation_steer(sender.world.store, no, STEER_RATE, -1, NULL, &err));
    assert_int_equal(sender_send(&sender, no), 190);
    char words[200];
    snprintf(words, sizeof words,
             "SELECT string_agg(detail, '|' ORDER BY no) FROM redrive.audit WHERE operation_no = %lld AND "
             "action IN ('pause', 'resume', 'rate')",
             (long long)no);
    assert_string_equal(test_text(sender.world.admin, words),
                        "was watching for returns|was paused|was watching for returns; step 2 begins|"
                        "was no limit; is 1,500/s|was 1,500/s; is no limit");
}

static void
its_plan_changes_while_it_runs(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1, .settle_for = 3600 * US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    assert_int_equal(sender_send(&sender, no), 10);
    struct send_plan changed = {.steps = {5, 20}, .step_count = 2, .settle_for = 0};
    assert_works(operation_tune(sender.world.store, no, STEER_STEPS, &changed, NULL, &err));
    assert_works(operation_tune(sender.world.store, no, STEER_SETTLE_FOR, &changed, NULL, &err));
    sender_look(&sender, no); // not an hour
    assert_int_equal(sender_send(&sender, no), 5);
    sender_look(&sender, no);
    assert_int_equal(sender_send(&sender, no), 20);
    changed = (struct send_plan){.halts = true, .halt_above = 1};
    assert_works(operation_tune(sender.world.store, no, STEER_HALT, &changed, NULL, &err));
    sender_fail_again(&sender, 20, 25);
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_HALTED);
    assert_int_equal(test_number(sender.world.admin,
                                 "SELECT count(*) FROM redrive.audit WHERE action IN ('steps', "
                                 "'settle', 'halt') AND detail LIKE '%: was%; is%'"),
                     3);
    char words[200];
    snprintf(words, sizeof words,
             "SELECT detail FROM redrive.audit WHERE action = 'halt' AND operation_no = %lld", (long long)no);
    assert_string_equal(
        test_text(sender.world.admin, words),
        "halt: was first 10, then 5, then 20, then the rest, 0 s after each; is first 10, then 5, "
        "then 20, then the rest, 0 s after each, halts above 1%");
    int64_t other = make_operation(&sender.world, sender.world.store, ACTION_DISCARD, 250, 260);
    assert_refused(operation_tune(sender.world.store, other, STEER_HALT, &changed, NULL, &err), ERR_USAGE,
                   "only a reprocess");
}

static void
can_be_called_back(void **state)
{
    (void)state;
    const struct send_plan plan = {.send_after = 3600 * US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 20);
    struct work work = sender_look(&sender, no);
    assert_true(work.wait > 3000 * US_PER_SECOND && !work.is_observing);
    assert_int_equal(sender_send(&sender, no), 0);
    struct operation operation = get_operation(&sender.world, no);
    assert_true(operation_can_be_called_back(&operation));
    assert_true(operation.send_after > operation.created_at);
    assert_works(operation_steer(sender.world.store, no, STEER_CANCEL, 0, NULL, &err));
    operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(operation.cancelled, 20);
    assert_int_equal(
        test_number(sender.world.admin, "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING'"),
        300);
}

// By PostgreSQL's clock, for every function by which a worker could begin it.
static void
begins_at_its_time(void **state)
{
    (void)state;
    const struct send_plan plan = {.begin.after = 3600 * US_PER_SECOND, .send_after = US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 20);
    struct work work = sender_look(&sender, no);
    assert_true(work.wait > 3000 * US_PER_SECOND && work.is_later);
    assert_int_equal(sender_send(&sender, no), 0);
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_FROZEN);
    assert_true(operation.plan.begin.at >= operation.created_at + 3600 * US_PER_SECOND);
    assert_int_equal(operation.send_after, operation.plan.begin.at);
    assert_true(operation_can_be_called_back(&operation));
    assert_true(operation_begins_later(&operation, operation.created_at));
    assert_works(operation_steer(sender.world.store, no, STEER_PAUSE, 0, NULL, &err));
    assert_works(operation_steer(sender.world.store, no, STEER_RESUME, 0, NULL, &err));
    assert_int_equal(sender_send(&sender, no), 0);
    test_sql(sender.world.admin, "UPDATE redrive.operation SET begins_at = now(), send_after = now()");
    assert_int_equal(sender_look(&sender, no).wait, 0);
    assert_int_equal(sender_send(&sender, no), 20);
}

static void
an_action_in_the_table_begins_at_its_time(void **state)
{
    (void)state;
    int64_t applied, left;
    int64_t no = make_operation(&sender.world, sender.world.store, ACTION_DISCARD, 1, 20);
    test_sql(sender.world.admin, "UPDATE redrive.operation SET begins_at = now() + interval '1 h',"
                                 " send_after = now() + interval '1 h'");
    assert_works(work_apply(sender.world.store, no, 100, &applied, &left, &err));
    assert_int_equal(applied, 0);
    assert_int_equal(left, 20);
    struct operation operation = get_operation(&sender.world, no);
    assert_true(operation_can_be_called_back(&operation));
    assert_works(operation_steer(sender.world.store, no, STEER_UNDO, 0, NULL, &err));
    operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(operation.cancelled, 20);
    assert_int_equal(
        test_number(sender.world.admin, "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING'"),
        300);
}

static void
a_time_that_is_past_is_now(void **state)
{
    (void)state;
    const struct send_plan plan = {.begin.at = US_PER_SECOND};
    int64_t no = sender_ask(&sender, &plan, 1, 20);
    assert_int_equal(sender_send(&sender, no), 20);
    const struct send_plan far = {.begin.after = 400 * 86400 * US_PER_SECOND};
    int64_t ids[] = {200};
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = ids, .count = 1, .scope = "a test", .plan = far};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(sender.world.admin));
    assert_refused(operation_create(sender.world.store, &request, NULL, NULL, &no, &err), ERR_USAGE,
                   "within a year");
}

static void
somebody_else_approves(void **state)
{
    (void)state;
    const struct send_plan plan = {.approve_above = 20};
    int64_t small = sender_ask(&sender, &plan, 1, 20);
    assert_int_equal(get_operation(&sender.world, small).state, OPERATION_FROZEN);
    assert_works(operation_steer(sender.world.store, small, STEER_CANCEL, 0, NULL, &err));
    int64_t no = sender_ask(&sender, &plan, 1, 21);
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_AWAITING);
    assert_string_equal(operation.state_note, "more than 20 events: somebody else approves it");
    assert_int_equal(sender_look(&sender, no).no, 0);
    assert_int_equal(sender_send(&sender, no), 0);
    assert_refused(operation_steer(sender.world.store, no, STEER_APPROVE, 0, NULL, &err), ERR_DENIED,
                   "somebody else");
    assert_refused(operation_steer(sender.world.store, no, STEER_RESUME, 0, NULL, &err), ERR_CONFLICT,
                   "awaiting approval");

    test_sql(sender.world.admin,
             "DROP ROLE IF EXISTS steering_other; CREATE ROLE steering_other LOGIN SUPERUSER");
    char other[1000];
    snprintf(other, sizeof other, "%s user=steering_other", sender.world.conninfo);
    struct store *store = open_store(other);
    assert_works(operation_steer(store, no, STEER_APPROVE, 0, NULL, &err));
    store_close(store);
    operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_FROZEN);
    assert_string_equal(operation.approved_by, "steering_other");
    assert_int_equal(sender_send(&sender, no), 21);

    // What the owner of the schema asks for holds whatever the asker's settings say.
    test_sql(sender.world.admin, "UPDATE redrive.install SET approve_above = 5");
    assert_int_equal(get_operation(&sender.world, sender_ask(&sender, &(struct send_plan){0}, 30, 36)).state,
                     OPERATION_AWAITING);
    assert_int_equal(
        get_operation(&sender.world, sender_ask(&sender, &(struct send_plan){.approve_above = 1000}, 40, 46))
            .state,
        OPERATION_AWAITING);
    test_sql(sender.world.admin, "DROP ROLE steering_other");
}

static void
refuses_what_postgresql_cannot_read(void **state)
{
    (void)state;
    // 90 kB of JSON whose text has more than a gigabyte.
    test_sql(sender.world.admin,
             "UPDATE public.dlq_events SET event_payload = (SELECT jsonb_agg(1e131071) FROM "
             "generate_series(1, 10000))"
             " WHERE id IN (5, 6)");
    test_sql(sender.world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, payload, reason) VALUES (6, 1, '{}', 'corrected')");
    int64_t no = sender_ask(&sender, &(struct send_plan){0}, 1, 10);
    assert_int_equal(sender_send(&sender, no), 9);
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.refused, 1);
    const char *why = test_text(sender.world.admin, "SELECT detail FROM redrive.item WHERE dlq_id = 5");
    if (!strstr(why, "the payload cannot be read: "))
        fail_msg("%s", why);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        sent(sends_in_steps),
        sent(halts_when_events_come_back),
        sent(what_was_pardoned_is_out_of_the_share),
        sent(few_are_no_share_to_halt_by),
        sent(a_step_counts_events_in_flight),
        sent(a_step_counts_what_was_refused),
        sent(halts_when_events_are_refused),
        sent(pauses_and_goes_on_while_it_waits),
        sent(its_plan_changes_while_it_runs),
        sent(can_be_called_back),
        sent(begins_at_its_time),
        sent(an_action_in_the_table_begins_at_its_time),
        sent(a_time_that_is_past_is_now),
        sent(somebody_else_approves),
        sent(refuses_what_postgresql_cannot_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
