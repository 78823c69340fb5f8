// Policies: each due run once, whoever runs it and whoever is killed at it; limits, rests and topics that are
// in use; and when a policy halts itself. Events are chosen by their topic, as a caller would do by a filter.
#include "world.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "store/watch/policies.h"
#include "watch/policies.h"

static const struct policy a_policy = {.name = "again",
                                       .action = POLICY_REPROCESS,
                                       .filter = "topic:orders",
                                       .words = "reprocess topic:orders",
                                       .schedule_text = "every 1s",
                                       .schedule = {.every = US_PER_SECOND},
                                       .attempts = 3,
                                       .backoff = {.first = 1, .most = US_PER_SECOND, .factor = 2},
                                       .rate = RATE_UNLIMITED,
                                       .plan = {.halts = true, .halt_above = 20, .settle_for = 1000},
                                       .limit = 1000,
                                       .is_enabled = true};

struct bench {
    struct world world;
    struct policy policies[3];
    struct policy_plan plan;
    bool dies; // the chooser
};

// All pending events, those of manual review excepted: they match odd ids.
static bool
choose_all(void *context, struct store *store, const struct policy *policy, int64_t **ids, size_t *count,
           struct err *err)
{
    struct bench *bench = context;
    (void)store;
    (void)err;
    if (bench->dies)
        raise(SIGKILL);
    int64_t events = test_number(bench->world.admin, "SELECT max(id) FROM dlq_events");
    *ids = malloc((size_t)events * sizeof **ids);
    *count = 0;
    for (int64_t id = events; id > 0; id--)
        if (policy->action != POLICY_MANUAL_REVIEW || id % 2)
            (*ids)[(*count)++] = id;
    return true;
}

static void
begin(struct bench *bench, int events)
{
    *bench = (struct bench){.policies = {a_policy, a_policy, a_policy}};
    world_make(&bench->world, events);
    bench->plan =
        (struct policy_plan){.policies = bench->policies, .count = 1, .choose = choose_all, .context = bench};
    bench->policies[1].name = "other";
    bench->policies[2].name = "third";
}

static struct policy_run
run_by(struct bench *bench, struct store *store, const char *holder)
{
    struct policy_run run;
    assert_works(policy_run_next(store, &bench->plan, holder, NULL, &run, &err));
    return run;
}

static struct policy_run
run(struct bench *bench)
{
    return run_by(bench, bench->world.store, "one");
}

// Everything happened so much earlier.
static void
pass(struct bench *bench, const char *length)
{
    test_sql(bench->world.admin,
             "UPDATE redrive.policy SET next_at = next_at - interval '%s', judged_from = judged_from - "
             "interval '%s', halted_at = halted_at - interval '%s'",
             length, length, length);
    test_sql(bench->world.admin, "UPDATE redrive.policy_run SET at = at - interval '%s'", length);
    test_sql(bench->world.admin,
             "UPDATE redrive.operation SET created_at = created_at - interval '%s', finished_at = "
             "finished_at - interval '%s'",
             length, length);
}

// Ends an operation as a worker would, by its figures alone.
static void
end_operation(struct bench *bench, int64_t no, int64_t done, int64_t refused, int64_t returned)
{
    test_sql(bench->world.admin,
             "UPDATE redrive.operation_batch SET state = 'done' WHERE operation_no = %lld", (long long)no);
    test_sql(bench->world.admin,
             "UPDATE redrive.operation SET state = 'done', queued = 0, done = %lld, refused = %lld, returned "
             "= %lld, finished_at = clock_timestamp() WHERE no = %lld",
             (long long)done, (long long)refused, (long long)returned, (long long)no);
}

static struct policy_row
row(struct bench *bench)
{
    struct policy_row *rows;
    size_t count;
    assert_works(policies_list(bench->world.store, &bench->world.arena, &rows, &count, &err));
    assert_true(count > 0);
    return rows[0];
}

// The numbers of operations in which an event is twice or more.
static int64_t
taken_twice(struct bench *bench)
{
    return test_number(
        bench->world.admin,
        "SELECT count(*) FROM (SELECT dlq_id FROM redrive.item GROUP BY 1 HAVING count(*) > 1) x");
}

// --- tests ---

static void
test_a_run(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 30);
    bench.policies[0].is_enabled = false;
    assert_null(run(&bench).policy); // nothing is on by itself
    assert_int_equal(row(&bench).state, POLICY_DISABLED);
    assert_works(policy_switch(bench.world.store, "again", true, "tried it", &err));

    struct policy_run first = run(&bench);
    assert_true(first.operation > 0);
    assert_int_equal(first.acted, 30);
    struct operation operation = get_operation(&bench.world, first.operation);
    assert_string_equal(operation.requested_by, "policy again");
    assert_string_equal(operation.filter_text, "topic:orders");
    assert_string_equal(operation.scope, "30 events of policy again");
    assert_int_equal(operation.queued, 30);
    struct policy_row known = row(&bench);
    assert_int_equal(known.state, POLICY_ENABLED);
    assert_int_equal(known.today, 30);
    assert_int_equal(known.operation, first.operation);

    // While its operation has not ended, it is not due, however late it is.
    pass(&bench, "1 hour");
    assert_null(run(&bench).policy);
    assert_works(policy_switch(bench.world.store, "again", false, NULL, &err));
    end_operation(&bench, first.operation, 30, 0, 0);
    pass(&bench, "1 hour");
    assert_null(run(&bench).policy);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.audit WHERE action IN "
                                                    "('policy on', 'policy off')"),
                     2);
    assert_refused(policy_switch(bench.world.store, "none", true, NULL, &err), ERR_NOT_FOUND, "no policy");
    world_end(&bench.world);
}

static void
test_several_runners(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 30);
    struct store *second = open_store(bench.world.conninfo);
    struct policy_claim claim;
    assert_works(policies_know(second, bench.policies, 1, 0, &err));
    assert_works(policies_claim(second, "two", bench.policies, 1, NULL, US_PER_SECOND, &claim, &err));
    assert_non_null(claim.policy);
    assert_null(run(&bench).policy); // the other has it

    // Its lease lapses, and it does not know: only one of both begins an operation.
    test_sql(bench.world.admin, "UPDATE redrive.policy SET lease_until = clock_timestamp()");
    assert_true(run(&bench).operation > 0);
    const struct policy_begun begun = {.name = "again", .holder = "two"};
    int64_t ids[] = {1, 2}, no;
    struct operation_request request = {
        .action = ACTION_REPROCESS, .ids = ids, .count = 2, .scope = "", .rate = -1, .policy = &begun};
    (void)snprintf(request.key, sizeof request.key, "%s", new_uuid(bench.world.admin));
    assert_refused(operation_create(second, &request, NULL, NULL, &no, &err), ERR_CONFLICT,
                   "another process runs it");
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.operation"), 1);
    assert_int_equal(taken_twice(&bench), 0);
    store_close(second);
    world_end(&bench.world);
}

// Runs in a process of its own that dies by SIGKILL.
static void
run_and_die(struct bench *bench, const char *kill_point)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (kill_point)
            setenv("REDRIVE_KILL", kill_point, 1);
        struct store *store = open_store(bench->world.conninfo);
        struct policy_run result;
        struct err err = {0};
        bench->world.admin = test_connect(bench->world.conninfo);
        (void)!policy_run_next(store, &bench->plan, "dead", NULL, &result, &err);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// PostgreSQL notices within moments that the process of a claim is gone.
static void
await_no_claim(struct bench *bench)
{
    for (int64_t end = clock_mono() + 60 * US_PER_SECOND; clock_mono() < end; clock_sleep(20000))
        if (test_number(bench->world.admin,
                        "SELECT count(*) FROM redrive.policy WHERE holder IS NOT NULL AND "
                        "NOT redrive._session_is_gone(holder_pid, holder_since)") == 0)
            return;
    fail_msg("the claim of a dead process holds");
}

static void
test_killed(void **state)
{
    static const char *const points[] = {"policy_claimed:1", "policy_chosen:1", "policy_begun:1"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct bench bench;
        begin(&bench, 30);
        bench.dies = i == 3;
        run_and_die(&bench, i < 3 ? points[i] : NULL);
        bench.dies = false;
        bool is_begun = i == 2;
        assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.operation"), is_begun);
        // Its session is gone, which ends a claim; an operation that it began is still there.
        await_no_claim(&bench);
        struct policy_run next = run(&bench);
        assert_int_equal(next.operation > 0, !is_begun);
        assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.operation"), 1);
        assert_int_equal(taken_twice(&bench), 0);
        assert_int_equal(row(&bench).acted, 30);
        world_end(&bench.world);
    }
}

static void
test_limit(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 30);
    bench.policies[0].limit = 20;
    bench.policies[0].plan.halts = false;
    struct policy_run first = run(&bench);
    assert_int_equal(first.acted, 20);
    assert_int_equal(first.matched, 30);
    end_operation(&bench, first.operation, 20, 0, 0);
    test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'RESOLVED' WHERE id <= 20");
    pass(&bench, "1 hour");
    struct policy_run second = run(&bench);
    assert_int_equal(second.operation, 0);
    assert_string_equal(second.note, "its limit of 20 events a day is reached");
    assert_string_equal(row(&bench).note, "its limit of 20 events a day is reached");
    pass(&bench, "24 hours");
    assert_int_equal(run(&bench).acted, 10);
    assert_int_equal(taken_twice(&bench), 0);
    world_end(&bench.world);
}

static void
test_own_history(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 10);
    bench.policies[0].backoff = (struct policy_backoff){.first = 60 * US_PER_SECOND, .factor = 2};
    bench.policies[0].backoff.most = 3600 * US_PER_SECOND;
    test_sql(bench.world.admin, "UPDATE dlq_events SET created_at = now() - interval '1 day'");
    // 1 arrived now, 2 returned once now, 3 twice three minutes ago, 4 twice six minutes ago, 5 three times.
    test_sql(bench.world.admin, "UPDATE dlq_events SET created_at = now() WHERE id = 1");
    test_sql(bench.world.admin,
             "INSERT INTO redrive.returned (dlq_id, operation_no, times, at) VALUES (2, 1, 1, now()), (3, 1, "
             "2, now() - interval '3 min'), (4, 1, 2, now() - interval '6 min'), (5, 1, 3, now() - interval "
             "'1 day')");
    // 6 was refused three times, 7 is in a person's operation, 8 is closed.
    test_sql(bench.world.admin,
             "INSERT INTO redrive.operation_item (operation_no, dlq_id, at, state) SELECT n, 6, now() - "
             "interval '1 day', 'refused' FROM generate_series(91, 93) n");
    (void)make_operation(&bench.world, bench.world.store, ACTION_DISCARD, 7, 7);
    test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'RESOLVED' WHERE id = 8");
    struct policy_run result = run(&bench);
    assert_int_equal(result.acted, 3);
    char sql[200];
    (void)snprintf(
        sql, sizeof sql,
        "SELECT string_agg(dlq_id::text, ',' ORDER BY dlq_id) FROM redrive.item WHERE operation_no "
        "= %lld",
        (long long)result.operation);
    assert_string_equal(test_text(bench.world.admin, sql), "4,9,10");
    world_end(&bench.world);
}

static void
test_review_and_counting(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 10);
    bench.plan.count = 2;
    bench.policies[1].action = POLICY_MANUAL_REVIEW;
    bench.policies[0].action = POLICY_DISCARD;
    struct policy_run first = run(&bench), second = run(&bench);
    assert_string_equal(first.policy->name, "again"); // also where the other has not run yet
    assert_int_equal(first.acted, 5);
    assert_int_equal(second.matched, 5);
    assert_int_equal(second.operation, 0);
    struct operation operation = get_operation(&bench.world, first.operation);
    assert_int_equal(operation.action, ACTION_DISCARD);
    apply_to_end(bench.world.store, first.operation, 100);
    assert_int_equal(events_in(&bench.world, "DISCARDED"), 5);
    assert_string_equal(test_text(bench.world.admin, "SELECT DISTINCT resolved_by FROM dlq_events WHERE "
                                                     "status = 'DISCARDED'"),
                        "policy again");
    world_end(&bench.world);
}

// Retention is a job of the archive: a turn at a time, which the next run continues, and the job is the
// policy's.
static void
test_retention(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 600);
    test_sql(bench.world.admin,
             "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = localtimestamp - interval "
             "'91 days' WHERE id <= 500");
    test_sql(bench.world.admin,
             "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = localtimestamp - interval "
             "'89 days' WHERE id > 590");
    bench.policies[0].action = POLICY_ARCHIVE;
    bench.policies[0].older_than = 90 * 86400 * US_PER_SECOND;
    bench.policies[0].filter = NULL;
    bench.policies[0].words = "archive what was closed 90d ago";
    bench.plan.retention_turn = 1;
    struct policy_run first = run(&bench);
    assert_int_equal(first.operation, 0);
    assert_int_equal(first.matched, 500);
    assert_true(first.acted > 0 && first.acted < 500);
    assert_non_null(strstr(first.note, " of 500 so far"));
    assert_true(row(&bench).next_at <= row(&bench).ran_at); // due at once

    bench.plan.retention_turn = 0;
    struct policy_run second = run(&bench);
    assert_int_equal(first.acted + second.acted, 500);
    assert_string_equal(second.note, "");
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM archive.dlq_events_archive"), 500);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM dlq_events"), 100);
    assert_string_equal(test_text(bench.world.admin,
                                  "SELECT string_agg(concat_ws(' ', action, state, policy, reason, "
                                  "moved), '|') FROM redrive.archive_job"),
                        "archive done again policy again 500");
    struct policy_row known = row(&bench);
    assert_int_equal(known.acted, 500);
    assert_int_equal(known.today, 500);
    assert_int_equal(known.runs, 1);

    pass(&bench, "1 hour");
    assert_string_equal(run(&bench).note, "nothing was closed so long ago");
    bench.policies[0].action = POLICY_PURGE;
    pass(&bench, "1 hour");
    assert_int_equal(run(&bench).acted, 500);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM archive.dlq_events_archive"), 0);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM dlq_events"), 100);
    world_end(&bench.world);
}

static void
test_halts(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 10);
    struct policy_run first = run(&bench);
    end_operation(&bench, first.operation, 10, 0, 3);
    pass(&bench, "1 min");
    struct policy_run second = run(&bench);
    assert_true(second.halts);
    assert_int_equal(row(&bench).state, POLICY_HALTED);
    assert_non_null(strstr(row(&bench).halted_why, "30% of 10 were refused or returned"));
    pass(&bench, "10 days");
    assert_null(run(&bench).policy); // until a person switches it on

    // Then it tries one event, and goes on only where that stayed away.
    assert_works(policy_switch(bench.world.store, "again", true, NULL, &err));
    struct policy_run probe = run(&bench);
    assert_int_equal(probe.acted, 1);
    end_operation(&bench, probe.operation, 1, 0, 1);
    pass(&bench, "1 min");
    assert_true(run(&bench).halts);
    bench.policies[0].probe_after = 3600 * US_PER_SECOND; // or by itself, after an hour
    assert_null(run(&bench).policy);
    pass(&bench, "61 min");
    probe = run(&bench);
    assert_int_equal(probe.acted, 1);
    end_operation(&bench, probe.operation, 1, 0, 0);
    pass(&bench, "1 min");
    struct policy_run whole = run(&bench);
    assert_true(whole.acted > 1);
    assert_int_equal(row(&bench).state, POLICY_ENABLED);
    world_end(&bench.world);
}

// So many events of an operation are claimed now, of at most `limit`, and sent.
static size_t
send_some(struct bench *bench, struct slot *slot, int64_t no, size_t limit)
{
    struct claim claim = next_claim(&bench->world, slot, no, limit);
    if (claim.count > 0)
        assert_works(chunk_finish(bench->world.store, slot, &claim.chunk, CHUNK_COMMITTED, "read", &err));
    return claim.count;
}

// What a worker is given to do; 0: nothing.
static int64_t
work_given(struct bench *bench)
{
    struct work work = {0};
    struct err err = {0};
    bool is_found = work_next(bench->world.store, "w", true, NULL, 0, &bench->world.arena, &work, &err);
    return is_found && work.wait == 0 ? work.no : 0;
}

// Two policies, each with its own run of 40 events of one topic.
static void
begin_two(struct bench *bench, struct slot *slot, int64_t no[2])
{
    begin(bench, 80);
    bench->plan.count = 2;
    bench->policies[0].limit = bench->policies[1].limit = 40;
    bench->policies[0].rate = 20;
    bench->policies[1].rate = 8;
    bench->policies[1].plan.settle_for = 60 * US_PER_SECOND;
    no[0] = run(bench).operation;
    no[1] = run(bench).operation;
    assert_true(no[0] > 0 && no[1] > no[0]);
    assert_int_equal(taken_twice(bench), 0);
    assert_works(worker_beat(bench->world.store, "w", true, "starting", 0, &err));
    *slot = acquire(&bench->world, "w");
}

static void
test_shared_rate(void **state)
{
    struct bench bench;
    struct slot slot;
    int64_t no[2];
    (void)state;
    begin_two(&bench, &slot, no);
    int64_t began = clock_mono(), took = 0;
    size_t sent[2] = {0};
    for (int i = 0; sent[0] + sent[1] < 32; i ^= 1) {
        took = clock_mono() - began;
        sent[i] += send_some(&bench, &slot, no[i], 3);
        double most = 8 + 8 * (double)(clock_mono() - began) / US_PER_SECOND;
        if ((double)(sent[0] + sent[1]) > most)
            fail_msg("%zu and %zu events were claimed where %g are the most", sent[0], sent[1], most);
        if (took > 30 * US_PER_SECOND)
            fail_msg("only %zu and %zu events were claimed in half a minute", sent[0], sent[1]);
        clock_sleep(20000);
    }
    assert_true(sent[0] > 0 && sent[1] > 0);

    // The one that is left has its own rate again.
    end_operation(&bench, no[1], 40, 0, 0);
    clock_sleep(1100000);
    assert_in_range(send_some(&bench, &slot, no[0], 100), 9, 20);
    world_end(&bench.world);
}

static void
test_shared_ramp(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 80);
    bench.plan.count = 2;
    bench.policies[0].limit = bench.policies[1].limit = 40;
    bench.policies[0].plan.steps[0] = 5;
    bench.policies[0].plan.step_count = 1;
    bench.policies[0].plan.settle_for = 3600 * US_PER_SECOND;
    int64_t first = run(&bench).operation, second = run(&bench).operation;
    struct slot slot = acquire(&bench.world, "w");
    assert_int_equal(work_given(&bench), first);
    assert_int_equal(send_some(&bench, &slot, first, 100), 5);
    assert_int_equal(work_given(&bench), 0); // the canary is watched, and the other waits for it
    assert_non_null(strstr(get_operation(&bench.world, second).state_note, "waits for the first steps"));
    test_sql(bench.world.admin, "UPDATE redrive.operation SET state = 'running', step = 2 WHERE no = %lld",
             (long long)first);
    assert_int_equal(work_given(&bench), first);
    assert_int_equal(send_some(&bench, &slot, second, 100), 40);
    world_end(&bench.world);
}

static int64_t
audited(struct bench *bench, const char *action)
{
    return test_number(
        bench->world.admin,
        arena_printf(&bench->world.arena, "SELECT count(*) FROM redrive.audit WHERE action = '%s'", action));
}

// The first policy finds that the target fails: the other one's operation waits, then tries one event.
static void
test_circuit(void **state)
{
    struct bench bench;
    struct slot slot;
    int64_t no[2];
    (void)state;
    begin_two(&bench, &slot, no);
    end_operation(&bench, no[0], 40, 0, 30);
    pass(&bench, "1 min");
    assert_true(run(&bench).halts);
    assert_int_equal(work_given(&bench), 0);
    assert_int_equal(send_some(&bench, &slot, no[1], 8), 0);
    assert_string_equal(get_operation(&bench.world, no[1]).state_note,
                        "waits: orders fails, as policy again found");
    assert_int_equal(audited(&bench, "circuit open"), 1);

    // Half-open: one event, which returns. The circuit is open again.
    assert_works(policy_switch(bench.world.store, "again", false, NULL, &err));
    assert_int_equal(work_given(&bench), no[1]);
    assert_int_equal(send_some(&bench, &slot, no[1], 8), 1);
    assert_int_equal(send_some(&bench, &slot, no[1], 8), 0);
    test_sql(bench.world.admin, "UPDATE redrive.operation SET returned = 1 WHERE no = %lld",
             (long long)no[1]);
    clock_sleep(1100000);
    assert_int_equal(work_given(&bench), 0);
    assert_int_equal(send_some(&bench, &slot, no[1], 8), 0);
    assert_int_equal(audited(&bench, "circuit open"), 1); // it never closed
    assert_int_equal(audited(&bench, "circuit closed"), 0);

    // The next one stays away for as long as it is watched. It closes.
    assert_works(policy_switch(bench.world.store, "again", false, NULL, &err));
    assert_int_equal(send_some(&bench, &slot, no[1], 8), 1);
    assert_int_equal(work_given(&bench), 0);
    test_sql(bench.world.admin, "UPDATE redrive.chunk SET decided_at = decided_at - interval '2 min'");
    clock_sleep(1100000);
    assert_int_equal(work_given(&bench), no[1]);
    assert_true(send_some(&bench, &slot, no[1], 8) > 1);
    assert_int_equal(audited(&bench, "circuit open"), 1);
    assert_int_equal(audited(&bench, "circuit closed"), 1);
    world_end(&bench.world);
}

// A policy that halts again and again has opened its circuit once.
static void
test_circuit_stays_open(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 10);
    bench.policies[0].probe_after = 60 * US_PER_SECOND;
    for (int i = 0; i < 3; i++) {
        struct policy_run trial = run(&bench);
        assert_true(trial.operation > 0);
        assert_int_equal(trial.acted, i == 0 ? 10 : 1);
        end_operation(&bench, trial.operation, trial.acted, 0, trial.acted);
        pass(&bench, "1 hour");
        assert_true(run(&bench).halts);
        pass(&bench, "1 hour");
    }
    assert_int_equal(audited(&bench, "policy halted"), 3);
    assert_int_equal(audited(&bench, "circuit open"), 1);
    world_end(&bench.world);
}

// A person calls a run back before it is sent: the policy has not acted on its events, and may again.
static void
test_called_back(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 30);
    bench.policies[0].limit = 20;
    struct policy_run first = run(&bench);
    assert_int_equal(first.acted, 20);
    assert_int_equal(row(&bench).acted, 20);
    assert_works(operation_steer(bench.world.store, first.operation, STEER_UNDO, 0, NULL, &err));
    assert_int_equal(get_operation(&bench.world, first.operation).cancelled, 20);
    struct policy_row known = row(&bench);
    assert_int_equal(known.runs, 1);
    assert_int_equal(known.acted, 0);
    assert_int_equal(known.today, 0);

    // A person was against it, so it halts until somebody switches it on.
    pass(&bench, "1 min");
    assert_true(run(&bench).halts);
    assert_works(policy_switch(bench.world.store, "again", true, NULL, &err));
    assert_int_equal(run(&bench).acted, 1);
    assert_int_equal(row(&bench).acted, 1);
    world_end(&bench.world);
}

// Where another one's operation halted, no run begins at its topic until somebody decides about it.
static void
test_halted_topic(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 10);
    bench.plan.count = 1;
    bench.policies[0].limit = 4;
    struct policy_run first = run(&bench), second;
    assert_int_equal(first.acted, 4);
    test_sql(bench.world.admin, "UPDATE redrive.operation SET state = 'halted'");
    bench.plan.count = 2;
    pass(&bench, "1 min");
    while ((second = run(&bench)).policy && second.halts)
        continue;
    assert_string_equal(second.policy ? second.policy->name : "none", "other");
    assert_int_equal(second.operation, 0);
    assert_non_null(strstr(second.note, "the topics of 6 are in use"));
    assert_works(operation_steer(bench.world.store, first.operation, STEER_CANCEL, 0, NULL, &err));
    pass(&bench, "1 min");
    second = run(&bench);
    assert_string_equal(second.policy->name, "other");
    assert_true(second.operation > 0);
    world_end(&bench.world);
}

// What the recipe corrects is sent as an operation of the same policy.
static void
test_recipe(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 5);
    bench.policies[0].recipe = "set $.mended true\n";
    bench.policies[0].rate = 7;
    struct policy_run first = run(&bench);
    struct operation operation = get_operation(&bench.world, first.operation);
    assert_int_equal(operation.action, ACTION_CORRECT);
    assert_true(operation.follower.is_wanted);
    assert_int_equal(operation.rate, 7);
    end_operation(&bench, first.operation, 5, 0, 0);
    pass(&bench, "1 min");
    assert_null(run(&bench).policy); // what it corrected is still to be sent
    test_sql(
        bench.world.admin,
        "INSERT INTO redrive.revision (dlq_id, no, payload, reason, operation_no) SELECT n, 1, '{}', 'x', "
        "%lld FROM generate_series(1, 5) n",
        (long long)first.operation);
    test_sql(bench.world.admin, "SELECT redrive._operations_follow()");
    struct operation sent =
        get_operation(&bench.world, test_number(bench.world.admin, "SELECT max(no) FROM redrive.operation"));
    assert_int_equal(sent.action, ACTION_REPROCESS);
    assert_string_equal(sent.requested_by, "policy again");
    assert_null(run(&bench).policy);
    assert_int_equal(row(&bench).today, 5); // each event once
    world_end(&bench.world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run),       cmocka_unit_test(test_several_runners),
        cmocka_unit_test(test_killed),      cmocka_unit_test(test_limit),
        cmocka_unit_test(test_own_history), cmocka_unit_test(test_review_and_counting),
        cmocka_unit_test(test_retention),   cmocka_unit_test(test_halts),
        cmocka_unit_test(test_shared_rate), cmocka_unit_test(test_shared_ramp),
        cmocka_unit_test(test_circuit),     cmocka_unit_test(test_circuit_stays_open),
        cmocka_unit_test(test_called_back), cmocka_unit_test(test_halted_topic),
        cmocka_unit_test(test_recipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
