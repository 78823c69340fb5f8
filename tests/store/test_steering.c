// Steering: steps, halting by itself, approval, calling back, and how an event that failed again is known.
#include "world.h"

#include "store/story.h"

#define MANY_BYTES (1 << 24)

static struct world world;
static struct slot slot;

static int
begin(void **state)
{
    (void)state;
    world_make(&world, 300);
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    assert_works(slot_acquire(world.store, "kafka-1", "w", NULL, 0, &slot, &err));
    return 0;
}

static int
end(void **state)
{
    (void)state;
    world_end(&world);
    return 0;
}

static int64_t
ask(const struct send_plan *plan, int64_t first, int64_t last)
{
    int64_t ids[300];
    size_t count = 0;
    for (int64_t id = first; id <= last; id++)
        ids[count++] = id;
    struct operation_request request = {.action = ACTION_REPROCESS,
                                        .ids = ids,
                                        .count = count,
                                        .scope = "a test",
                                        .rate = RATE_UNLIMITED,
                                        .plan = *plan};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t no = 0;
    assert_works(operation_create(world.store, &request, NULL, NULL, &no, &err));
    return no;
}

// Is there something to do now, for this operation?
static struct work
look(int64_t no)
{
    struct work work = {0};
    struct err err = {0};
    if (!work_next(world.store, "w", true, NULL, 0, &world.arena, &work, &err) && err.kind != ERR_NOT_FOUND)
        fail_msg("%s", err.text);
    if (work.no)
        assert_int_equal(work.no, no);
    return work;
}

static struct claim
claim_with(struct slot *with, int64_t no, size_t limit)
{
    struct claim claim = {0};
    char id[UUID_TEXT];
    snprintf(id, sizeof id, "%s", new_uuid(world.admin));
    assert_works(chunk_claim(world.store, with, no, id, limit, MANY_BYTES, &world.arena, &claim, &err));
    return claim;
}

static struct claim
claim(int64_t no)
{
    return claim_with(&slot, no, 1000);
}

static struct slot
another_slot(void)
{
    struct slot other;
    assert_works(slot_acquire(world.store, "kafka-1", "w", &slot.no, 1, &other, &err));
    return other;
}

static size_t
send(int64_t no)
{
    struct claim some = claim(no);
    if (some.count)
        assert_works(chunk_settle(world.store, &slot, &some.chunk, CHUNK_COMMITTED, "x", &err));
    return some.count;
}

// Of what was sent, these fail again: a consumer writes a new row under the same event id.
static void
fail_again(int first, int last)
{
    test_sql(world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at)"
             " SELECT event_key, 'order.created', '{}', 'again', clock_timestamp()::timestamp FROM "
             "redrive.operation_item WHERE state = 'done' OR event_id IN (SELECT unnest(event_ids) FROM "
             "redrive.chunk WHERE state = 'claimed') ORDER BY source, source_offset, event_id"
             " OFFSET %d LIMIT %d",
             first - 1, last - first + 1);
}

static void
settled(int64_t no)
{
    test_sql(world.admin, "UPDATE redrive.operation SET settle_until = clock_timestamp() WHERE no = %lld",
             (long long)no);
}

static void
sends_in_steps(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10, 50}, .step_count = 2, .halts = true, .halt_above = 20};
    int64_t no = ask(&plan, 1, 200);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.plan.step_count, 2);
    assert_int_equal(operation.plan.steps[1], 50);
    assert_int_equal(operation.plan.settle_for, SETTLE_FOR);
    assert_true(operation.plan.halts && operation.plan.halt_above == 20);

    assert_int_equal(look(no).wait, 0);
    assert_int_equal(send(no), 10);
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_WAITING);
    assert_int_equal(operation.watched, 10);
    assert_int_equal(operation.quiet, 0);
    assert_int_equal(send(no), 0);
    struct work work = look(no);
    assert_true(work.is_settling && work.wait > 50 * US_PER_SECOND && work.wait <= 60 * US_PER_SECOND);

    fail_again(1, 2); // 20 %, which is not more than 20 %
    settled(no);
    assert_int_equal(look(no).wait, 0);
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_int_equal(operation.step, 2);
    assert_int_equal(operation.came_back, 2);
    assert_int_equal(send(no), 50);
    assert_int_equal(get_operation(&world, no).state, OPERATION_WAITING);
    settled(no);
    look(no);
    assert_int_equal(send(no), 140); // the rest
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'step'"), 4);
}

static void
halts_when_events_come_back(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1, .halts = true, .halt_above = 20};
    int64_t no = ask(&plan, 1, 200);
    assert_int_equal(send(no), 10);
    fail_again(1, 3);
    fail_again(1, 1); // written twice, it came back once
    assert_int_equal(look(no).no, 0);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_HALTED);
    assert_int_equal(operation.came_back, 3);
    assert_string_equal(operation.state_note, "30 % of 10 failed, more than 20 %: 3 came back, 0 refused");
    assert_int_equal(send(no), 0);

    // A person lets it go on; what was seen then does not count again.
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, &err));
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_int_equal(operation.step, 2);
    assert_int_equal(look(no).wait, 0);
    struct claim rest = claim(no);
    assert_int_equal(rest.count, 190);
    assert_works(chunk_settle(world.store, &slot, &rest.chunk, CHUNK_COMMITTED, "x", &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
}

// What a person has seen counts no more, neither among those that failed nor among those that were sent.
static void
what_was_pardoned_is_out_of_the_share(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10, 20}, .step_count = 2, .halts = true, .halt_above = 20};
    int64_t no = ask(&plan, 1, 200);
    assert_int_equal(send(no), 10);
    fail_again(1, 3);
    (void)look(no);
    assert_int_equal(get_operation(&world, no).state, OPERATION_HALTED);
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, &err));
    assert_int_equal(send(no), 20);
    fail_again(11, 13); // 3 of 20, and 6 of 30 in all
    (void)look(no);
    assert_int_equal(get_operation(&world, no).state, OPERATION_WAITING);
    fail_again(14, 15); // 5 of 20, where 5 of 30 would pass
    (void)look(no);
    assert_int_equal(get_operation(&world, no).state, OPERATION_HALTED);
}

// One in one, or three in nine, is no share to judge by; a first step that is smaller was made to be judged.
static void
few_are_no_share_to_halt_by(void **state)
{
    (void)state;
    const struct send_plan all = {.halts = true, .halt_above = 20};
    int64_t no = ask(&all, 1, 100);
    for (int sent = 1; sent <= 10; sent++) {
        struct claim one = claim_with(&slot, no, 1);
        assert_works(chunk_settle(world.store, &slot, &one.chunk, CHUNK_COMMITTED, "x", &err));
        if (sent <= 3)
            fail_again(sent, sent);
        assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
        struct operation operation = get_operation(&world, no);
        assert_int_equal(operation.came_back, sent < 3 ? sent : 3);
        assert_int_equal(operation.state, sent < 10 ? OPERATION_RUNNING : OPERATION_HALTED);
    }
    const struct send_plan small = {.steps = {3}, .step_count = 1, .halts = true, .halt_above = 20};
    no = ask(&small, 201, 300);
    assert_int_equal(send(no), 3);
    test_sql(world.admin,
             "UPDATE public.dlq_events SET status = 'PENDING' WHERE id IN (SELECT event_id FROM "
             "redrive.operation_item WHERE state = 'done' AND operation_no = %lld LIMIT 1)",
             (long long)no);
    look(no);
    assert_int_equal(get_operation(&world, no).state, OPERATION_HALTED);
}

// Another hand takes no more than what the step has left beside what is in hand, or in doubt.
static void
a_step_counts_what_is_in_hand(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = ask(&plan, 1, 200);
    struct slot other = another_slot();
    struct claim first = claim_with(&slot, no, 4);
    assert_int_equal(first.count, 4);
    struct claim second = claim_with(&other, no, 1000);
    assert_int_equal(second.count, 6);
    assert_works(chunk_settle(world.store, &other, &second.chunk, CHUNK_ABORTED, "x", &err));
    assert_works(chunk_settle(world.store, &slot, &first.chunk, CHUNK_IN_DOUBT, "x", &err));
    assert_int_equal(get_operation(&world, no).held, 4);
    assert_int_equal(claim_with(&other, no, 1000).count, 6);
}

// An event that was refused had its turn: the step does not take another one for it.
static void
a_step_counts_what_was_refused(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = ask(&plan, 1, 200);
    struct claim first = claim(no);
    assert_int_equal(first.count, 10);
    assert_works(chunk_settle(world.store, &slot, &first.chunk, CHUNK_ABORTED, "x", &err));
    struct refusal refusals[4];
    for (int i = 0; i < 4; i++)
        refusals[i] = (struct refusal){i + 1, "no such topic"};
    assert_works(items_refuse(world.store, &slot, no, refusals, 4, &err));
    struct claim again = claim(no);
    assert_int_equal(again.count, 6);
    assert_works(chunk_settle(world.store, &slot, &again.chunk, CHUNK_COMMITTED, "x", &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_WAITING);
}

static void
halts_when_events_are_refused(void **state)
{
    (void)state;
    const struct send_plan plan = {.halts = true, .halt_above = 20};
    int64_t no = ask(&plan, 1, 200);
    struct claim all = claim(no);
    assert_works(chunk_settle(world.store, &slot, &all.chunk, CHUNK_ABORTED, "x", &err));
    struct refusal refusals[60];
    for (int i = 0; i < 60; i++)
        refusals[i] = (struct refusal){i + 1, "no such topic"};
    // Few of a chunk that was returned are few, though nothing else is sent yet.
    assert_works(items_refuse(world.store, &slot, no, refusals, 20, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_RUNNING);
    assert_works(items_refuse(world.store, &slot, no, refusals + 20, 40, &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_HALTED);
    assert_non_null(strstr(operation.state_note, "60 refused"));
    assert_works(operation_steer(world.store, no, STEER_CANCEL, 0, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_CANCELLED);
}

static void
pauses_and_goes_on_while_it_waits(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = ask(&plan, 1, 200);
    assert_int_equal(send(no), 10);
    assert_works(operation_steer(world.store, no, STEER_PAUSE, 0, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_PAUSED);
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_WAITING);
    // Resumed while it waits: the next step begins now.
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_RUNNING);
    assert_int_equal(send(no), 190);
}

static void
its_plan_changes_while_it_runs(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1, .settle_for = 3600 * US_PER_SECOND};
    int64_t no = ask(&plan, 1, 200);
    assert_int_equal(send(no), 10);
    struct send_plan changed = {.steps = {5, 20}, .step_count = 2, .settle_for = 0};
    assert_works(operation_tune(world.store, no, STEER_STEPS, &changed, &err));
    assert_works(operation_tune(world.store, no, STEER_SETTLE, &changed, &err));
    look(no); // not an hour
    assert_int_equal(send(no), 5);
    look(no);
    assert_int_equal(send(no), 20);
    changed = (struct send_plan){.halts = true, .halt_above = 1};
    assert_works(operation_tune(world.store, no, STEER_HALT, &changed, &err));
    fail_again(20, 25);
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&world, no).state, OPERATION_HALTED);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action IN ('steps', "
                                              "'settle', 'halt') AND detail LIKE '%: was%; is%'"),
                     3);
    int64_t other = make_operation(&world, world.store, ACTION_DISCARD, 250, 260);
    assert_refused(operation_tune(world.store, other, STEER_HALT, &changed, &err), ERR_USAGE,
                   "only a reprocess");
}

static void
can_be_called_back(void **state)
{
    (void)state;
    const struct send_plan plan = {.send_after = 3600 * US_PER_SECOND};
    int64_t no = ask(&plan, 1, 20);
    struct work work = look(no);
    assert_true(work.wait > 3000 * US_PER_SECOND && !work.is_settling);
    assert_int_equal(send(no), 0);
    struct operation operation = get_operation(&world, no);
    assert_true(operation_can_be_called_back(&operation));
    assert_true(operation.send_after > operation.created_at);
    assert_works(operation_steer(world.store, no, STEER_CANCEL, 0, &err));
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(operation.cancelled, 20);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING'"), 300);
}

static void
somebody_else_approves(void **state)
{
    (void)state;
    const struct send_plan plan = {.approve_above = 20};
    int64_t small = ask(&plan, 1, 20);
    assert_int_equal(get_operation(&world, small).state, OPERATION_FROZEN);
    assert_works(operation_steer(world.store, small, STEER_CANCEL, 0, &err));
    int64_t no = ask(&plan, 1, 21);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_AWAITING);
    assert_string_equal(operation.state_note, "more than 20 events: somebody else approves it");
    assert_int_equal(look(no).no, 0);
    assert_int_equal(send(no), 0);
    assert_refused(operation_steer(world.store, no, STEER_APPROVE, 0, &err), ERR_DENIED, "somebody else");
    assert_refused(operation_steer(world.store, no, STEER_RESUME, 0, &err), ERR_CONFLICT,
                   "awaiting approval");

    test_sql(world.admin, "DROP ROLE IF EXISTS steering_other; CREATE ROLE steering_other LOGIN SUPERUSER");
    char other[1000];
    snprintf(other, sizeof other, "%s user=steering_other", world.conninfo);
    struct store *store = open_store(other);
    assert_works(operation_steer(store, no, STEER_APPROVE, 0, &err));
    store_close(store);
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_FROZEN);
    assert_string_equal(operation.approved_by, "steering_other");
    assert_int_equal(send(no), 21);

    // What the owner of the schema asks for holds whatever the asker's settings say.
    test_sql(world.admin, "UPDATE redrive.install SET approve_above = 5");
    assert_int_equal(get_operation(&world, ask(&(struct send_plan){0}, 30, 36)).state, OPERATION_AWAITING);
    assert_int_equal(get_operation(&world, ask(&(struct send_plan){.approve_above = 1000}, 40, 46)).state,
                     OPERATION_AWAITING);
    test_sql(world.admin, "DROP ROLE steering_other");
}

static void
assert_known_by(int64_t id, const char *how, int64_t no)
{
    char sql[200], want[64];
    snprintf(
        sql, sizeof sql,
        "SELECT concat_ws(' ', operation_no, sent_id, known_by) FROM redrive.comeback WHERE event_id = %lld",
        (long long)id);
    snprintf(want, sizeof want, "%lld %s", (long long)no, how);
    assert_string_equal(test_text(world.admin, sql), want);
}

static void
knows_what_came_back(void **state)
{
    (void)state;
    int64_t no = ask(&(struct send_plan){0}, 1, 10);
    assert_int_equal(send(no), 10);
    // 301: its event id. 302: its correlation id, type and source. 303: its place. 304: a header. 305: the
    // correlation of another type, which is another event. 306: written before it was sent. 307: an offset of
    // the same partition from which nothing was sent. 308: the correlation of another source. 309, 310,
    // 311: correlation, place and header once more, but written before.
    test_sql(
        world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message, "
        "correlation_id, kafka_topic,"
        " kafka_partition, kafka_offset, created_at) SELECT v.event_id, v.type, v.source, '{}', 'again',"
        " (SELECT correlation_id FROM public.dlq_events WHERE id = v.like_id), v.topic, v.part, v.off, "
        "clock_timestamp()::timestamp - v.age"
        " FROM (VALUES (1, 'evt-1', 'x', NULL, NULL::bigint, NULL, NULL::int, NULL::bigint, interval '0'),"
        " (2, 'new-2', 'order.created', 'src-2', 2, NULL, NULL, NULL, '0'),"
        " (3, 'new-3', 'x', NULL, NULL, 'orders', 3, 0, '0'),"
        " (4, 'new-4', 'x', NULL, NULL, NULL, NULL, NULL, '0'),"
        " (5, 'new-5', 'other.type', 'src-5', 5, NULL, NULL, NULL, '0'),"
        " (6, 'evt-6', 'x', NULL, NULL, NULL, NULL, NULL, '1 hour'),"
        " (7, 'new-7', 'x', NULL, NULL, 'orders', 3, 77, '0'),"
        " (8, 'new-8', 'order.created', 'src-2', 8, NULL, NULL, NULL, '0'),"
        " (9, 'new-9', 'order.created', 'src-2', 2, NULL, NULL, NULL, '1 hour'),"
        " (10, 'new-10', 'x', NULL, NULL, 'orders', 3, 0, '1 hour'),"
        " (11, 'new-11', 'x', NULL, NULL, NULL, NULL, NULL, '1 hour')) AS v(n, event_id, type, source, "
        "like_id, topic, part, off, age)"
        " ORDER BY n");
    test_sql(world.admin,
             "INSERT INTO redrive.record (event_id, topic, partition, \"offset\", header_names, "
             "header_values) VALUES"
             " (304, 'orders-dlq', 0, 1, '{redrive-event-id,redrive-operation}', ARRAY['4'::bytea, "
             "'%lld'::bytea]),"
             " (311, 'orders-dlq', 0, 2, '{redrive-event-id,redrive-operation}', ARRAY['5'::bytea, "
             "'%lld'::bytea])",
             (long long)no, (long long)no);
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&world, no).came_back, 4);
    assert_known_by(301, "1 event id", no);
    assert_known_by(302, "2 correlation id", no);
    assert_known_by(303, "3 coordinates", no);
    assert_known_by(304, "4 headers", no);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.comeback"), 4);

    // Sent and failed once more, it has come back twice.
    int64_t again = ask(&(struct send_plan){0}, 302, 302);
    assert_int_equal(send(again), 1);
    test_sql(world.admin, "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, "
                          "error_message, correlation_id,"
                          " created_at) SELECT 'newer-2', event_type, source_id, '{}', 'again', "
                          "correlation_id, clock_timestamp()::timestamp"
                          " FROM public.dlq_events WHERE id = 302");
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    assert_known_by(312, "302 correlation id", again);
    assert_int_equal(test_number(world.admin, "SELECT times FROM redrive.comeback WHERE event_id = 312"), 2);
}

static void
a_quick_consumer_is_noticed(void **state)
{
    (void)state;
    int64_t no = ask(&(struct send_plan){0}, 1, 10);
    struct claim some = claim(no);
    fail_again(1, 1); // after the commit in Kafka, before PostgreSQL has it
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    assert_works(chunk_settle(world.store, &slot, &some.chunk, CHUNK_COMMITTED, "x", &err));
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&world, no).came_back, 1);
}

static void
a_row_that_is_opened_anew_came_back(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1, .halts = true, .halt_above = 20};
    int64_t no = ask(&plan, 1, 200);
    assert_int_equal(send(no), 10);
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id IN (SELECT event_id FROM "
                          "redrive.operation_item WHERE state = 'done' LIMIT 5)");
    look(no);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.came_back, 5);
    assert_int_equal(operation.state, OPERATION_HALTED);
}

// Without transactions a chunk may be sent in part. What was refused of it is pending as before: that is no
// return.
static void
what_was_refused_did_not_come_back(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = ask(&plan, 1, 200), published[6];
    struct claim some = claim(no);
    struct refusal refusals[4];
    for (int i = 0; i < 10; i++)
        if (i < 6)
            published[i] = some.items[i].event_id;
        else
            refusals[i - 6] = (struct refusal){some.items[i].event_id, "no such topic"};
    assert_works(chunk_settle_scanned(world.store, &slot, &some.chunk, published, 6, "x", &err));
    assert_works(items_refuse(world.store, &slot, no, refusals, 4, &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.done, 6);
    assert_int_equal(operation.state, OPERATION_WAITING);
    look(no);
    assert_int_equal(get_operation(&world, no).came_back, 0);
}

static void
sends_a_record_once_that_was_written_twice(void **state)
{
    (void)state;
    test_sql(world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                          "error_message, kafka_topic, kafka_partition,"
                          " kafka_offset) SELECT event_id, event_type, event_payload, error_message, "
                          "kafka_topic, kafka_partition, kafka_offset"
                          " FROM public.dlq_events WHERE id IN (7, 9);"
                          "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                          "error_message) VALUES ('evt-8', 'x', '{}', 'x')");
    int64_t ids[] = {7, 8, 9, 10, 301, 302, 303};
    struct preview preview;
    assert_works(operation_preview(world.store, ACTION_REPROCESS, ids, 7, &world.arena, &preview, &err));
    assert_int_equal(preview.doubled, 6);
    struct operation_request request = {
        .action = ACTION_REPROCESS, .ids = ids, .count = 7, .scope = "a test", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world.admin));
    int64_t no = 0;
    assert_works(operation_create(world.store, &request, NULL, NULL, &no, &err));
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.conflict, 2);
    assert_string_equal(
        test_text(world.admin, "SELECT detail FROM redrive.operation_item WHERE event_id = 302"),
        "the same record as event 9, which is sent");
    assert_int_equal(send(no), 5); // another record under the same event id is another record
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
}

static void
refuses_what_postgresql_cannot_read(void **state)
{
    (void)state;
    // 90 kB of JSON whose text has more than a gigabyte.
    test_sql(world.admin, "UPDATE public.dlq_events SET event_payload = (SELECT jsonb_agg(1e131071) FROM "
                          "generate_series(1, 10000))"
                          " WHERE id IN (5, 6)");
    test_sql(world.admin,
             "INSERT INTO redrive.revision (event_id, no, payload, reason) VALUES (6, 1, '{}', 'corrected')");
    int64_t no = ask(&(struct send_plan){0}, 1, 10);
    assert_int_equal(send(no), 9);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.refused, 1);
    const char *why = test_text(world.admin, "SELECT detail FROM redrive.operation_item WHERE event_id = 5");
    if (!strstr(why, "the payload cannot be read: "))
        fail_msg("%s", why);
}

static void
warns_of_what_was_overtaken(void **state)
{
    (void)state;
    // 1: a newer one of its key is resolved. 2: a newer one is pending. 3: the newer one is sent along. 4:
    // only an older one. 5: came back itself.
    test_sql(world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message, "
             "kafka_topic, status, created_at)"
             " VALUES ('n1', 'x', 'src-1', '{}', 'x', 'orders', 'RESOLVED', localtimestamp + interval '1 h'),"
             " ('n2', 'x', 'src-2', '{}', 'x', 'orders', 'PENDING', localtimestamp + interval '1 h'),"
             " ('n3', 'x', 'src-3', '{}', 'x', 'orders', 'PENDING', localtimestamp + interval '1 h'),"
             " ('n4', 'x', 'src-4', '{}', 'x', 'orders', 'PENDING', localtimestamp - interval '1 h'),"
             " ('evt-5', 'x', 'src-5', '{}', 'x', 'orders', 'PENDING', localtimestamp + interval '1 h'),"
             " ('n6', 'x', 'src-6', '{}', 'x', 'other', 'PENDING', localtimestamp + interval '1 h')");
    const int64_t ids[] = {1, 2, 3, 4, 5, 6, 303};
    struct preview preview;
    assert_works(operation_preview(world.store, ACTION_REPROCESS, ids, 7, &world.arena, &preview, &err));
    assert_int_equal(preview.overtaken, 2);
    assert_int_equal(preview.overtaken_resolved, 1);
    assert_works(operation_preview(world.store, ACTION_DISCARD, ids, 7, &world.arena, &preview, &err));
    assert_int_equal(preview.overtaken, 0);
}

static void
tells_the_whole_story(void **state)
{
    (void)state;
    assert_int_equal(send(ask(&(struct send_plan){0}, 4, 4)), 1);
    test_sql(world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                          "error_message, stack_trace, created_at)"
                          " VALUES ('evt-4', 'x', '{}', 'second', 'at b', clock_timestamp()::timestamp)");
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    int64_t again = ask(&(struct send_plan){0}, 301, 301);
    assert_int_equal(send(again), 1);
    test_sql(world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                          "error_message, stack_trace, created_at)"
                          " VALUES ('evt-4', 'x', '{}', 'second', 'at b', clock_timestamp()::timestamp)");
    assert_works(worker_beat(world.store, "w", true, "idle", 0, &err));
    for (int64_t id = 301; id <= 302; id++) {
        struct event *attempts;
        size_t count;
        assert_works(event_attempts(world.store, id, &world.arena, &attempts, &count, &err));
        assert_int_equal(count, 3);
        assert_int_equal(attempts[0].id, 4);
        assert_int_equal(attempts[2].id, 302);
        assert_true(bytes_equal_text(attempts[1].error_message, "second"));
        assert_true(bytes_equal_text(attempts[1].stack_trace, "at b"));
        assert_true(bytes_starts(attempts[0].stack_trace, "java.net.ConnectException"));
    }
    struct event *attempts;
    size_t count;
    assert_works(event_attempts(world.store, 10, &world.arena, &attempts, &count, &err));
    assert_int_equal(count, 1);

    struct returned *returns;
    assert_works(operation_returns(world.store, again, &world.arena, &returns, &count, &err));
    assert_int_equal(count, 1);
    assert_true(returns[0].is_same && returns[0].count == 1);
    assert_works(operation_returns(world.store, again - 1, &world.arena, &returns, &count, &err));
    assert_int_equal(count, 1);
    assert_false(returns[0].is_same);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sends_in_steps, begin, end),
        cmocka_unit_test_setup_teardown(halts_when_events_come_back, begin, end),
        cmocka_unit_test_setup_teardown(what_was_pardoned_is_out_of_the_share, begin, end),
        cmocka_unit_test_setup_teardown(few_are_no_share_to_halt_by, begin, end),
        cmocka_unit_test_setup_teardown(a_step_counts_what_is_in_hand, begin, end),
        cmocka_unit_test_setup_teardown(a_step_counts_what_was_refused, begin, end),
        cmocka_unit_test_setup_teardown(halts_when_events_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(pauses_and_goes_on_while_it_waits, begin, end),
        cmocka_unit_test_setup_teardown(its_plan_changes_while_it_runs, begin, end),
        cmocka_unit_test_setup_teardown(can_be_called_back, begin, end),
        cmocka_unit_test_setup_teardown(somebody_else_approves, begin, end),
        cmocka_unit_test_setup_teardown(knows_what_came_back, begin, end),
        cmocka_unit_test_setup_teardown(a_quick_consumer_is_noticed, begin, end),
        cmocka_unit_test_setup_teardown(a_row_that_is_opened_anew_came_back, begin, end),
        cmocka_unit_test_setup_teardown(what_was_refused_did_not_come_back, begin, end),
        cmocka_unit_test_setup_teardown(sends_a_record_once_that_was_written_twice, begin, end),
        cmocka_unit_test_setup_teardown(refuses_what_postgresql_cannot_read, begin, end),
        cmocka_unit_test_setup_teardown(warns_of_what_was_overtaken, begin, end),
        cmocka_unit_test_setup_teardown(tells_the_whole_story, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
