// Policies under a worker's login: it runs those that a person switched on, as they were then, and neither
// its file nor psql makes it do more.
#include "tests/store/actors.h"

#include "store/watch/policies.h"
#include "watch/policies.h"

static const struct policy a_policy = {.name = "expiry",
                                       .action = POLICY_DISCARD,
                                       .filter = "topic:orders",
                                       .words = "discard topic:orders",
                                       .schedule_text = "every 1s",
                                       .schedule = {.every = US_PER_SECOND},
                                       .limit = 3,
                                       .rate = RATE_UNLIMITED,
                                       .is_enabled = true};

// All pending events.
static bool
choose_all(void *context, struct store *store, const struct policy *policy, int64_t **ids, size_t *count,
           struct err *err)
{
    (void)context;
    (void)store;
    (void)policy;
    (void)err;
    PGresult *r = PQexec(actors.world.admin, "SELECT id FROM dlq_events WHERE status = 'PENDING'");
    *count = (size_t)PQntuples(r);
    *ids = malloc((*count + 1) * sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = strtoll(PQgetvalue(r, (int)i, 0), NULL, 10);
    PQclear(r);
    return true;
}

static struct policy_run
run_as(const char *who, const struct policy *policy)
{
    struct policy_plan plan = {.policies = policy, .count = 1, .choose = choose_all};
    struct store *store = store_of(who);
    struct policy_run run;
    assert_works(policy_run_next(store, &plan, "one", NULL, &run, &err));
    store_close(store);
    return run;
}

static void
switch_on(const struct policy *policy)
{
    struct store *store = store_of(actors.operator_);
    assert_works(policies_know(store, policy, 1, 0, &err));
    assert_works(policy_switch(store, policy->name, true, "tried it", &err));
    store_close(store);
    test_sql(actors.world.admin, "UPDATE redrive.policy SET next_at = '-infinity'");
}

static const char *
note(void)
{
    return test_text(actors.world.admin, "SELECT note FROM redrive.policy");
}

static void
forget_policies(void)
{
    test_sql(
        actors.world.admin,
        "DELETE FROM redrive.policy; DELETE FROM redrive.policy_run; UPDATE redrive.operation SET state = "
        "'done', queued = 0 WHERE state <> 'done'; UPDATE redrive.operation_batch SET state = 'done'");
}

static void
a_file_alone_enables_nothing(void **state)
{
    (void)state;
    forget_policies();
    assert_null(run_as(actors.worker, &a_policy).policy);
    assert_null(run_as(actors.worker, &a_policy).policy);
    assert_string_equal(note(), "only its file enables it: an operator switches it on");
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.policy WHERE is_enabled"),
                     0);

    // One that only counts needs nobody.
    struct policy counts = a_policy;
    counts.name = "review";
    counts.action = POLICY_MANUAL_REVIEW;
    assert_non_null(run_as(actors.worker, &counts).policy);
}

static void
a_person_switches_it_on(void **state)
{
    (void)state;
    forget_policies();
    switch_on(&a_policy);
    struct policy_run run = run_as(actors.worker, &a_policy);
    if (run.acted != 3)
        fail_msg("it acted on %lld: %s", (long long)run.acted, run.note);
    struct operation operation = get_operation(&actors.world, run.operation);
    assert_string_equal(operation.requested_by, "policy expiry");
    assert_int_equal(operation.queued, 3);
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT requested_by FROM redrive.operation WHERE no = %lld",
             (long long)run.operation);
    assert_string_equal(test_text(actors.world.admin, sql), actors.worker);
}

// A file that says something else since then is not what the person agreed to.
static void
another_file_is_not_what_was_switched_on(void **state)
{
    (void)state;
    forget_policies();
    switch_on(&a_policy);
    struct policy more = a_policy;
    more.limit = 1000;
    assert_null(run_as(actors.worker, &more).policy);
    assert_string_equal(note(),
                        "its file has changed since it was switched on: an operator switches it on again");
    // Nor where an operator's program has read that file, but nobody switched it.
    struct store *store = store_of(actors.operator_);
    assert_works(policies_know(store, &more, 1, 0, &err));
    store_close(store);
    assert_null(run_as(actors.worker, &more).policy);
    assert_null(run_as(actors.worker, &a_policy).policy);
    switch_on(&more);
    assert_true(run_as(actors.worker, &more).acted > 3);
}

// With psql: a claim, the begin of a run that says this, and more than it may do.
static const struct {
    const char *what, *action, *topic, *ids;
    int acted;
    const char *state;
} forgeries[] = {
    {"all is as it was switched on", "discard", "NULL", "'{41,42}'", 2, ""},
    {"another action", "resolve", "NULL", "'{}'", 2, "RD003"},
    {"a reprocess", "reprocess", "NULL", "'{}'", 2, "RD003"},
    {"more events than the run says", "discard", "NULL", "'{41,42,43}'", 2, "RD003"},
    {"more events than a day's limit", "discard", "NULL", "'{41,42,43,44}'", 4, "RD003"},
    {"another topic", "discard", "'elsewhere'", "'{41}'", 1, "RD003"},
};

static const char *
forge(PGconn *session, size_t i)
{
    static char sql[600];
    test_sql(session, "SELECT redrive.policy_claim('h', jsonb_build_array(jsonb_build_object('name', name, "
                      "'definition', definition)), NULL, '1 min', pg_backend_pid()) FROM redrive.policy");
    snprintf(sql, sizeof sql,
             "SELECT no FROM redrive.policy_begin(gen_random_uuid(), '%s', 'x', NULL, NULL, NULL, %s, -1, "
             "'h', 'expiry', 9, %d, 0, '{}')",
             forgeries[i].action, forgeries[i].topic, forgeries[i].acted);
    PGresult *r = PQexec(session, sql);
    if (PQresultStatus(r) != PGRES_TUPLES_OK) {
        snprintf(sql, sizeof sql, "%s", PQresultErrorField(r, PG_DIAG_SQLSTATE));
        PQclear(r);
        return sql;
    }
    long long no = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
    PQclear(r);
    test_sql(session, "SELECT redrive.operation_freeze(%lld, %s)", no, forgeries[i].ids);
    snprintf(sql, sizeof sql, "SELECT redrive.operation_confirm(%lld)", no);
    return test_state(session, sql);
}

static void
psql_does_no_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        forget_policies();
        switch_on(&a_policy);
        PGconn *session = test_connect(conninfo_of(actors.worker));
        test_sql(session, "BEGIN");
        const char *got = forge(session, i);
        if (strcmp(got, forgeries[i].state) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", forgeries[i].what, got, forgeries[i].state);
        PQfinish(session);
    }
}

static void
nobody_ends_the_claim_of_another(void **state)
{
    (void)state;
    forget_policies();
    switch_on(&a_policy);
    struct store *store = store_of(actors.operator_);
    struct policy_claim claim;
    assert_works(policies_claim(store, "h", &a_policy, 1, NULL, US_PER_SECOND, &claim, &err));
    assert_non_null(claim.policy);
    PGconn *session = test_connect(conninfo_of(actors.worker));
    assert_string_equal(test_state(session, "SELECT redrive.policy_halt('h', 'expiry', 'x')"), "RD001");
    assert_string_equal(test_state(session, "SELECT redrive.policy_finish('h', 'expiry', 1, 1, 'x')"),
                        "RD001");
    assert_string_equal(test_state(session, "SELECT redrive.policy_switch('expiry', true, 'x')"), "42501");
    assert_string_equal(test_state(session,
                                   "SELECT redrive.operation_begin(gen_random_uuid(), 'discard', 'x', "
                                   "NULL, NULL, NULL, NULL, -1)"),
                        "42501");
    PQfinish(session);
    store_close(store);
}

// What deletes for good is an administrator's, also where a policy does it: no operator switches it on, or
// changes how old is old enough.
static void
only_an_administrator_lets_a_policy_delete(void **state)
{
    (void)state;
    struct policy purge = a_policy;
    purge.name = "purge";
    purge.action = POLICY_PURGE;
    purge.filter = NULL;
    purge.older_than = 365 * 86400 * US_PER_SECOND;
    forget_policies();
    assert_null(run_as(actors.operator_, &purge).policy);
    struct store *store = store_of(actors.operator_);
    assert_refused(policy_switch(store, "purge", true, "x", &err), ERR_DENIED,
                   "an administrator switches it on");
    store_close(store);
    test_sql(actors.world.admin,
             "SELECT redrive.policy_switch('purge', true, 'as agreed'); UPDATE redrive.policy SET "
             "next_at = '-infinity'");
    assert_non_null(run_as(actors.worker, &purge).policy);

    test_sql(actors.world.admin, "UPDATE redrive.policy SET next_at = '-infinity'");
    purge.older_than = US_PER_SECOND;
    assert_null(run_as(actors.operator_, &purge).policy);
    assert_null(run_as(actors.worker, &purge).policy);
    PGconn *session = test_connect(conninfo_of(actors.worker));
    assert_string_equal(test_state(session, "SELECT * FROM redrive.policy_archive('one', 'purge')"), "RD001");
    PQfinish(session);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_alone_enables_nothing),
        cmocka_unit_test(a_person_switches_it_on),
        cmocka_unit_test(another_file_is_not_what_was_switched_on),
        cmocka_unit_test(psql_does_no_more),
        cmocka_unit_test(nobody_ends_the_claim_of_another),
        cmocka_unit_test(only_an_administrator_lets_a_policy_delete),
    };
    return cmocka_run_group_tests_name("policies", tests, begin_actors, end_actors);
}
