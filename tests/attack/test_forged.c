// What somebody with some rights may try with the names, numbers and locks of others: to hold everybody up,
// to decide what is not his to decide, and to be believed where he lies.
#include "core/fingerprint/fingerprint.h"
#include "store/rollup/rollup.h"
#include "tests/store/actors.h"

static char second[80]; // another operator

static int
begin(void **state)
{
    begin_actors(state);
    make_login(second, "otto", "redrive_operator");
    return 0;
}

static int
end(void **state)
{
    test_sql(actors.world.admin, "DROP OWNED BY %s; DROP ROLE %s", second, second);
    return end_actors(state);
}

static void
assert_state(PGconn *session, const char *sql, const char *state)
{
    const char *got = test_state(session, sql);
    if (strcmp(got, state) != 0)
        fail_msg("%s: %s instead of %s", sql, *got ? got : "it worked", state);
}

// --- locks ---

// A login may take any advisory lock and keep it, and any table's name gives a number that everybody knows.
static void
a_lock_that_anybody_may_take_holds_nobody_up(void **state)
{
    (void)state;
    PGconn *viewer = test_connect(conninfo_of(actors.viewer));
    test_sql(viewer, "SELECT pg_advisory_lock(oid::bigint) FROM pg_class WHERE relnamespace = "
                     "'redrive'::regnamespace; SELECT pg_advisory_lock(32199629435663973);"
                     "SELECT pg_advisory_lock(oid::integer, n) FROM pg_class, generate_series(0, 2) AS n"
                     " WHERE relnamespace = 'redrive'::regnamespace");
    struct store *store = store_of(actors.operator_);
    int64_t before = clock_mono();
    make_operation(&actors.world, store, ACTION_DISCARD, 1, 2);
    struct schema_result result;
    assert_works(schema_migrate(actors.world.store, &result, &err));
    assert_true(clock_mono() - before < 5 * US_PER_SECOND);
    store_close(store);

    PGconn *operator_ = test_connect(conninfo_of(actors.operator_));
    test_sql(operator_, "SET statement_timeout = '5s'");
    assert_state(operator_,
                 "BEGIN; SELECT redrive.import_stage(); SELECT redrive.import_take('s', 'r', NULL); COMMIT",
                 "");
    assert_state(operator_,
                 "DO $$ DECLARE v record; BEGIN SELECT * INTO v FROM redrive.ingest_begin('c', 'h', 1);"
                 " PERFORM redrive.ingest_claim(v.no, v.fence, '{t}', '{1}');"
                 " PERFORM redrive.ingest_end(v.no, v.fence); END $$",
                 "");
    PQfinish(operator_);
    PQfinish(viewer);
}

static void
nobody_else_takes_a_turn(void **state)
{
    (void)state;
    static const char *const turns[] = {"freeze_turn", "ingest_turn", "import_turn"};
    static const char *const tries[][2] = {
        {"SELECT FROM redrive.", " FOR UPDATE"},
        {"SELECT FROM redrive.", " FOR KEY SHARE"},
        {"DO $$ BEGIN LOCK TABLE redrive.", " IN ROW SHARE MODE; END $$"},
        {"INSERT INTO redrive.", " DEFAULT VALUES"},
        {"DELETE FROM redrive.", ""},
        {"TRUNCATE redrive.", ""},
    };
    const char *const logins[] = {actors.viewer, actors.worker, actors.operator_, actors.admin};
    enum { TRIES = sizeof tries / sizeof *tries, TURNS = sizeof turns / sizeof *turns };
    for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
        PGconn *session = test_connect(conninfo_of(logins[i]));
        for (size_t j = 0; j < TRIES * TURNS; j++) {
            char sql[120];
            snprintf(sql, sizeof sql, "%s%s%s", tries[j % TRIES][0], turns[j / TRIES], tries[j % TRIES][1]);
            assert_state(session, sql, "42501");
        }
        PQfinish(session);
    }
}

// --- slots and chunks ---

static struct held {
    struct store *store; // of the worker
    struct slot slot;
    struct chunk chunk;
    int64_t operation;
} held;

// The worker has a chunk of an operator's operation in flight.
static void
hold_a_chunk(int first, int last)
{
    struct store *operator_ = store_of(actors.operator_);
    struct claim claim;
    char id[UUID_SIZE];
    test_sql(actors.world.admin, "UPDATE redrive.slot SET lease_until = '-infinity'");
    held = (struct held){.store = store_of(actors.worker)};
    held.operation = make_operation(&actors.world, operator_, ACTION_REPROCESS, first, last);
    assert_works(slot_acquire(held.store, "kafka-1", "host/1/1", NULL, 0, &held.slot, &err));
    snprintf(id, sizeof id, "%s", new_uuid(actors.world.admin));
    assert_works(chunk_claim(held.store, &held.slot, held.operation, id, 100, MANY_BYTES, &actors.world.arena,
                             &claim, &err));
    held.chunk = claim.chunk;
    store_close(operator_);
}

static const char *
state_of_chunk(void)
{
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT state FROM redrive.chunk WHERE id = '%s'", held.chunk.id);
    return test_text(actors.world.admin, sql);
}

static void
assert_finishes_nothing(struct store *store)
{
    struct slot slot = held.slot; // with its fence, however that became known
    struct chunk chunk;
    const struct refusal refusal = {.event_id = 10, .reason = "forged"};
    const int64_t published = 10;
    assert_refused(chunk_finish(store, &slot, &held.chunk, CHUNK_COMMITTED, "forged", &err), ERR_CONFLICT,
                   "taken over");
    assert_refused(chunk_finish_scanned(store, &slot, &held.chunk, &published, 1, "forged", &err),
                   ERR_CONFLICT, "taken over");
    assert_refused(items_refuse(store, &slot, held.operation, &refusal, 1, &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_check(store, &slot, &chunk, &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_heartbeat(store, &slot, &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_suspend(store, &slot, "forged", &err), ERR_CONFLICT, "taken over");
    assert_refused(slot_release(store, &slot, &err), ERR_CONFLICT, "taken over");
    assert_string_equal(state_of_chunk(), "claimed");
}

static void
nobody_else_finishes_a_chunk_in_flight(void **state)
{
    (void)state;
    hold_a_chunk(10, 12);
    const char *const logins[] = {actors.operator_, second, actors.admin, actors.worker};
    for (size_t i = 0; i < sizeof logins / sizeof *logins;
         i++) { // the last: the same login in another session
        struct store *store = store_of(logins[i]);
        assert_finishes_nothing(store);
        store_close(store);
    }
    assert_works(chunk_finish(held.store, &held.slot, &held.chunk, CHUNK_COMMITTED, "read back", &err));
    store_close(held.store);
}

// A worker's name is shown to everybody; whoever gives it as his own gets another slot.
static void
a_workers_name_does_not_give_his_slot(void **state)
{
    (void)state;
    hold_a_chunk(13, 14);
    struct store *store = store_of(second);
    struct slot slot;
    for (int i = 0; i < 15; i++) {
        assert_works(slot_acquire(store, "kafka-1", i ? "host/9/9" : "host/1/1", NULL, 0, &slot, &err));
        assert_int_not_equal(slot.no, held.slot.no);
        test_sql(actors.world.admin, "UPDATE redrive.slot SET holder = 'host/8/8' WHERE no = %d", slot.no);
    }
    assert_refused(slot_acquire(store, "kafka-1", "host/1/1", NULL, 0, &slot, &err), ERR_NOT_FOUND,
                   "no slot is free");
    assert_works(chunk_finish(held.store, &held.slot, &held.chunk, CHUNK_COMMITTED, "read back", &err));
    store_close(store);
    store_close(held.store);
}

static void
fences_are_read_by_nobody(void **state)
{
    (void)state;
    static const char *const tries[] = {
        "SELECT fence FROM redrive.slot",
        "SELECT * FROM redrive.slot",
        "SELECT s FROM redrive.slot s",
        "SELECT fence FROM redrive.chunk",
        "SELECT to_jsonb(c) FROM redrive.chunk c",
        "COPY redrive.slot TO STDOUT",
        "SELECT count(*) FROM redrive.slot WHERE fence > 0",
    };
    const char *const logins[] = {actors.viewer, actors.worker, actors.operator_, actors.admin};
    for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
        PGconn *session = test_connect(conninfo_of(logins[i]));
        for (size_t j = 0; j < sizeof tries / sizeof *tries; j++)
            assert_state(session, tries[j], "42501");
        assert_state(session, "SELECT no, holder, is_suspended FROM redrive.slot", "");
        PQfinish(session);
    }
}

// Also not by the one who holds the slot: the records may be in another install's Kafka.
static void
what_a_person_decides_no_worker_decides(void **state)
{
    (void)state;
    hold_a_chunk(15, 17);
    assert_works(chunk_finish(held.store, &held.slot, &held.chunk, CHUNK_IN_DOUBT, "unknown", &err));
    test_sql(actors.world.admin, "UPDATE redrive.chunk SET needs_person = true WHERE id = '%s'",
             held.chunk.id);
    const int64_t published[] = {15, 16, 17};
    assert_refused(chunk_finish_scanned(held.store, &held.slot, &held.chunk, published, 3, "forged", &err),
                   ERR_DENIED, "decided by an administrator");
    assert_string_equal(state_of_chunk(), "in doubt");
    store_close(held.store);
}

// --- lies ---

static void
a_verdict_is_believed_by_whose_it_is(void **state)
{
    (void)state;
    const struct cluster forged = {
        .name = "kafka-9", .promise = PROMISE_EXACTLY_ONCE, .words = "exactly once", .evidence = "forged"};
    struct cluster found;
    struct store *liar = store_of(second), *worker = store_of(actors.worker);
    assert_works(cluster_put(liar, &forged, &err));
    assert_works(cluster_get(liar, "kafka-9", &found, &err));
    assert_refused(cluster_get(worker, "kafka-9", &found, &err), ERR_NOT_FOUND, "redrive doctor");
    store_close(liar);
    store_close(worker);
    PGconn *session = test_connect(conninfo_of(second));
    assert_state(session, "SELECT redrive.cluster_put('', 'exactly once', 'x', 'x')", "23514");
    assert_state(session, "SELECT redrive.cluster_put('kafka-9', 'always', 'x', 'x')", "23514");
    PQfinish(session);
}

static void
a_workers_row_is_his_own(void **state)
{
    (void)state;
    struct store *liar = store_of(second), *worker = store_of(actors.worker);
    assert_works(worker_beat(worker, "host/1/1", true, "idle", 0, &err));
    assert_refused(worker_beat(liar, "host/1/1", false, "gone fishing", 0, &err), ERR_DENIED,
                   "somebody else's");
    test_sql(actors.world.admin, "UPDATE redrive.operation SET worker = 'host/1/1' WHERE no = %lld",
             (long long)held.operation);
    assert_works(worker_gone(liar, "host/1/1", &err));
    assert_string_equal(test_text(actors.world.admin,
                                  "SELECT publishes || ' ' || note || ' ' || (SELECT count(*) FROM "
                                  "redrive.operation WHERE worker = w.name) FROM redrive.worker w"),
                        "true idle 1");
    assert_works(worker_gone(worker, "host/1/1", &err));
    store_close(liar);
    store_close(worker);
}

static void
counts_are_written_by_who_maintains_them(void **state)
{
    (void)state;
    struct store *worker = store_of(actors.worker);
    struct rollup_lease lease;
    assert_works(rollup_acquire(worker, "m", &lease, &err));
    assert_true(lease.is_mine);
    PGconn *liar = test_connect(conninfo_of(second));
    assert_state(liar, "SELECT redrive.text_snapshot_put('m', 1, 60, 60, 'forged')", "RD001");
    assert_state(liar, "SELECT redrive.rollup_add('m', '{1}', '{1}', '{1}', '{0}', '{0}', 1)", "RD001");
    assert_string_equal(
        test_text(liar, "SELECT is_mine FROM redrive.rollup_acquire('m', 4, current_setting('TimeZone'), 0)"),
        "f");
    test_sql(liar, "SELECT redrive.rollup_release('m')");
    assert_works(rollup_acquire(worker, "m", &lease, &err));
    assert_true(lease.is_mine);
    assert_works(rollup_release(worker, "m", &err));
    PQfinish(liar);
    store_close(worker);
}

// One call with a version that no program has must not end the counting for all others.
static void
a_version_of_nobody_does_not_end_the_counts(void **state)
{
    (void)state;
    char sql[160];
    PGconn *liar = test_connect(conninfo_of(second));
    assert_int_equal(test_number(actors.world.admin, "SELECT redrive._rollup_newest()"), FINGERPRINT_VERSION);
    const int unknown[] = {0, -1, FINGERPRINT_VERSION + 1, (1 << 20) - 1};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        snprintf(sql, sizeof sql, "SELECT redrive.rollup_acquire('evil', %d, 'UTC', 0)", unknown[i]);
        assert_state(liar, sql, "RD004");
    }
    // A number that could be a team's own rules is taken.
    assert_string_equal(test_text(liar, "SELECT is_mine FROM redrive.rollup_acquire('evil', 2147483647, "
                                        "current_setting('TimeZone'), 0)"),
                        "t");
    struct rollup_lease lease;
    struct store *worker = store_of(actors.worker);
    assert_works(rollup_acquire(worker, "m", &lease, &err));
    assert_false(lease.is_mine);
    test_sql(actors.world.admin,
             "UPDATE redrive.rollup_state SET lease_until = clock_timestamp() - interval '61 s'");
    assert_works(rollup_acquire(worker, "m", &lease, &err));
    assert_true(lease.is_mine);
    assert_int_equal(test_number(actors.world.admin, "SELECT version FROM redrive.rollup_state"),
                     FINGERPRINT_VERSION);
    assert_works(rollup_release(worker, "m", &err));
    PQfinish(liar);
    store_close(worker);
}

// --- approval ---

static int64_t
ask_in_steps(PGconn *session)
{
    char sql[120];
    int64_t no =
        test_number(session, "SELECT no FROM redrive.operation_begin(gen_random_uuid(), 'reprocess', "
                             "'some events', NULL, NULL, 'because', NULL, -1)");
    test_sql(session, "SELECT redrive.operation_plan(%lld, '{2,4}', 60000, 20, 0, 1)", (long long)no);
    test_sql(session, "SELECT redrive.operation_freeze(%lld, ARRAY(SELECT generate_series(30, 45)))",
             (long long)no);
    test_sql(session, "SELECT redrive.operation_confirm(%lld)", (long long)no);
    snprintf(sql, sizeof sql, "SELECT state FROM redrive.operation WHERE no = %lld", (long long)no);
    assert_string_equal(test_text(session, sql), "awaiting approval");
    return no;
}

static void
assert_tunes(PGconn *session, int64_t no, const char *what, const char *state)
{
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT redrive.operation_tune(%lld, %s)", (long long)no, what);
    assert_state(session, sql, state);
}

static void
assert_asker_loosens_nothing(int64_t no)
{
    static const char *const looser[] = {
        "'steps', '{}', NULL", "'steps', '{16}', NULL", "'steps', '{2,5}', NULL", "'steps', NULL, NULL",
        "'settle', NULL, 0",   "'halt', NULL, NULL",    "'halt', NULL, 21"};
    for (size_t i = 0; i < sizeof looser / sizeof *looser; i++)
        assert_tunes(actors.session, no, looser[i], "RD003");
}

// What the operation has come to: it waits after its first step, or has halted.
static void
set_state(int64_t no, const char *assignments)
{
    test_sql(actors.world.admin, "UPDATE redrive.operation SET %s WHERE no = %lld", assignments,
             (long long)no);
}

static void
assert_resumes(PGconn *session, int64_t no, const char *state)
{
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT redrive.operation_steer(%lld, 'resume', NULL)", (long long)no);
    assert_state(session, sql, state);
}

// A step's watch and a halt end before their time by somebody else's word, who answers for it.
static void
what_was_approved_its_asker_does_not_resume(void **state)
{
    (void)state;
    int64_t no = ask_in_steps(actors.session);
    char sql[120];
    PGconn *approver = test_connect(conninfo_of(second));
    PGconn *third = test_connect(conninfo_of(actors.admin));
    test_sql(approver, "SELECT redrive.operation_steer(%lld, 'approve', NULL)", (long long)no);
    set_state(no, "state = 'waiting', started_at = now(), observe_until = now() + interval '1 min'");
    assert_resumes(actors.session, no, "RD003");
    test_sql(actors.session, "SELECT redrive.operation_steer(%lld, 'pause', NULL)", (long long)no);
    assert_resumes(actors.session, no, ""); // it waits as before
    assert_resumes(actors.session, no, "RD003");
    set_state(no, "state = 'halted', observe_until = NULL");
    assert_resumes(actors.session, no, "RD003");

    assert_resumes(third, no, "");
    snprintf(sql, sizeof sql, "SELECT approved_by FROM redrive.operation WHERE no = %lld", (long long)no);
    assert_string_equal(test_text(actors.world.admin, sql), actors.admin);
    test_sql(actors.session, "SELECT redrive.operation_steer(%lld, 'cancel', NULL)", (long long)no);
    PQfinish(approver);
    PQfinish(third);
}

// What was approved is what is sent.
static void
what_was_approved_its_asker_does_not_loosen(void **state)
{
    (void)state;
    int64_t no = ask_in_steps(actors.session);
    char sql[200];
    PGconn *approver = test_connect(conninfo_of(second));
    assert_asker_loosens_nothing(no); // the approver may be looking at it
    test_sql(approver, "SELECT redrive.operation_steer(%lld, 'approve', NULL)", (long long)no);
    assert_asker_loosens_nothing(no);
    snprintf(sql, sizeof sql,
             "SELECT concat_ws(' ', steps, settle_for, halt_above) FROM redrive.operation WHERE no = %lld",
             (long long)no);
    assert_string_equal(test_text(actors.world.admin, sql), "{2,4} 00:01:00 20");

    // Stricter is his own affair.
    assert_tunes(actors.session, no, "'steps', '{1,1,4}', NULL", "");
    assert_tunes(actors.session, no, "'settle', NULL, 90000", "");
    assert_tunes(actors.session, no, "'halt', NULL, 10", "");
    // Somebody else may, and answers for it.
    PGconn *third = test_connect(conninfo_of(actors.admin));
    assert_tunes(third, no, "'steps', '{}', NULL", "");
    snprintf(sql, sizeof sql, "SELECT approved_by FROM redrive.operation WHERE no = %lld", (long long)no);
    assert_string_equal(test_text(actors.world.admin, sql), actors.admin);
    test_sql(actors.session, "SELECT redrive.operation_steer(%lld, 'cancel', NULL)", (long long)no);
    PQfinish(approver);
    PQfinish(third);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_that_anybody_may_take_holds_nobody_up),
        cmocka_unit_test(nobody_else_takes_a_turn),
        cmocka_unit_test(nobody_else_finishes_a_chunk_in_flight),
        cmocka_unit_test(a_workers_name_does_not_give_his_slot),
        cmocka_unit_test(fences_are_read_by_nobody),
        cmocka_unit_test(what_a_person_decides_no_worker_decides),
        cmocka_unit_test(a_verdict_is_believed_by_whose_it_is),
        cmocka_unit_test(a_workers_row_is_his_own),
        cmocka_unit_test(counts_are_written_by_who_maintains_them),
        cmocka_unit_test(a_version_of_nobody_does_not_end_the_counts),
        cmocka_unit_test(what_was_approved_its_asker_does_not_loosen),
        cmocka_unit_test(what_was_approved_its_asker_does_not_resume),
    };
    return cmocka_run_group_tests_name("forged", tests, begin, end);
}
