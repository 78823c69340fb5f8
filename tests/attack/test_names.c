// Names that are SQL: what redrive says a person should run does what it says, and nothing else.
#include "base/strbuf.h"
#include "store/checkup.h"
#include "tests/store/actors.h"

// A role whose name ends the quotes and goes on; with the quotes doubled, as SQL writes it.
#define GAIN "; ALTER ROLE redrive_viewer SUPERUSER; --"
static const char raw[] = "x\"" GAIN "'", written[] = "\"x\"\"" GAIN "'\"";

static const char *
conninfo_of_raw(void)
{
    static char conninfo[900];
    snprintf(conninfo, sizeof conninfo, "%s user='x\"" GAIN "\\''", actors.world.conninfo);
    return conninfo;
}

static int
begin(void **state)
{
    begin_actors(state);
    test_sql(actors.world.admin, "CREATE ROLE %s LOGIN", written);
    return 0;
}

static int
end(void **state)
{
    test_sql(actors.world.admin, "ALTER ROLE redrive_viewer NOSUPERUSER; DROP OWNED BY %s; DROP ROLE %s",
             written, written);
    return end_actors(state);
}

static void
assert_gains_nothing(void)
{
    assert_int_equal(test_number(actors.world.admin,
                                 "SELECT rolsuper::int FROM pg_roles WHERE rolname = 'redrive_viewer'"),
                     0);
}

// Runs what a sentence says to run, as an administrator who pastes it.
static void
paste(const char *sentence, const char *from)
{
    const char *statement = strstr(sentence, from);
    if (!statement)
        fail_msg("\"%s\" is missing in: %s", from, sentence);
    test_sql(actors.world.admin, "%s", statement);
    assert_gains_nothing();
}

static void
a_missing_right_is_granted_by_what_is_said(void **state)
{
    (void)state;
    const int64_t id = 1;
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = &id, .count = 1, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(actors.world.admin));
    int64_t no;
    // One right after the other, each by the statement of the error, until it works.
    for (int i = 0; i < 6; i++) {
        struct err err = {0};
        struct store *store = NULL;
        const struct store_settings settings = {
            .conninfo = conninfo_of_raw(), .table = "public.dlq_events", .program = "test"};
        bool ok =
            store_open(&store, &settings, &err) && operation_create(store, &request, NULL, NULL, &no, &err);
        store_close(store);
        if (ok) {
            assert_true(i > 0);
            return;
        }
        assert_int_equal(err.kind, ERR_DENIED);
        paste(err.text, "GRANT ");
    }
    fail_msg("six statements were not enough");
}

static void
note_remedy(void *context, enum checkup_verdict verdict, const char *sentence, const char *remedy)
{
    struct strbuf *remedies = context;
    (void)verdict;
    (void)sentence;
    const char *statement = strstr(remedy, "SELECT redrive.slot_renew");
    if (strncmp(remedy, "GRANT", 5) == 0 || statement)
        strbuf_printf(remedies, "%s\n", statement ? statement : remedy);
}

static void
what_doctor_says_gains_nothing(void **state)
{
    (void)state;
    test_sql(actors.world.admin,
             "INSERT INTO redrive.slot (cluster, no, txn_id, finished_id, is_suspended) VALUES "
             "('x'', 0, ''y'')" GAIN "', 1, 't', gen_random_uuid(), true)");
    struct strbuf remedies = {0};
    struct store *store = open_store(conninfo_of_raw());
    assert_works(store_checkup(store, note_remedy, &remedies, &err));
    store_close(store);
    if (!strstr(strbuf_text(&remedies), "slot_renew('x'', 0, ''y'')"))
        fail_msg("%s", strbuf_text(&remedies));
    test_sql(actors.world.admin, "%s", strbuf_text(&remedies));
    assert_gains_nothing();
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.slot WHERE is_suspended"),
                     0);
    strbuf_release(&remedies);
}

static void
grants_for_a_role_are_for_it(void **state)
{
    (void)state;
    test_sql(actors.world.admin, "REVOKE redrive_operator, redrive_worker FROM %s", written);
    PGresult *r = PQexecParams(actors.world.admin, "SELECT redrive.grants($1, 'operator')", 1, NULL,
                               (const char *const[]){raw}, NULL, NULL, 0);
    assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(r); i++)
        test_sql(actors.world.admin, "%s", PQgetvalue(r, i, 0));
    PQclear(r);
    assert_gains_nothing();
    struct store *store = open_store(conninfo_of_raw());
    make_operation(&actors.world, store, ACTION_DISCARD, 10, 11);
    store_close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_right_is_granted_by_what_is_said),
        cmocka_unit_test(what_doctor_says_gains_nothing),
        cmocka_unit_test(grants_for_a_role_are_for_it),
    };
    return cmocka_run_group_tests_name("names", tests, begin, end);
}
