// Tables of other programs: read by a mapping, decided about on our side, and never written to.
#include "world.h"

#include "base/strbuf.h"
#include "settings/mapping_file.h"
#include "store/mapping.h"
#include "store/rollup/rollup.h"

#define FOLDER "tests/cases/tables/"

static struct store *
open_table(const char *conninfo, const char *table)
{
    struct store *store = NULL;
    const struct store_settings settings = {
        .conninfo = conninfo, .table = table, .zone = "UTC", .program = "test"};
    assert_works(store_open(&store, &settings, &err));
    return store;
}

static void
load_fixture(struct world *world, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s.sql", name);
    FILE *stream = fopen(path, "re");
    assert_non_null(stream);
    char *sql = calloc(1, 65536);
    assert_true(fread(sql, 1, 65535, stream) > 0);
    fclose(stream);
    PGresult *r = PQexec(world->admin, sql);
    if (PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", path, PQresultErrorMessage(r));
    PQclear(r);
    free(sql);
}

static bool
migrate_by(struct store *store, const char *mapping, struct err *err)
{
    struct schema_result result;
    return schema_migrate_mapped(store, NULL, mapping, &result, err);
}

// Opened behind the migration, as any later program is.
static struct store *
map_table(struct world *world, const char *fixture, const char *mapping, const char *table)
{
    struct strbuf json = {0};
    load_fixture(world, fixture);
    struct store *store = open_table(world->conninfo, table);
    assert_works(mapping_file_read(mapping, &json, &err));
    assert_works(migrate_by(store, strbuf_text(&json), &err));
    strbuf_release(&json);
    store_close(store);
    return open_table(world->conninfo, table);
}

static void
look(struct world *world, struct store *store)
{
    test_sql(world->admin, "UPDATE %s.mapping SET next_at = '-infinity'", store_info(store)->schema);
    assert_works(mapping_look(store, &err));
}

// Owner's rows as text.
static char *
rows_of(struct world *world, const char *table)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM %s t", table);
    return strdup(test_text(world->admin, sql));
}

static int64_t
count_of(struct world *world, const char *what)
{
    char sql[1000];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", what);
    return test_number(world->admin, sql);
}

static void
three_layouts_are_read(void **state)
{
    (void)state;
    static const struct layout {
        const char *fixture, *mapping, *table, *schema;
        int pending;
        const char *third;
    } layouts[] = {
        {"river", "river", "public.river_job", "redrive_river_job", 30,
         "3/sync/slow/connection refused/3/PENDING/2026-11-20 10:00:03"},
        {"pg-boss", "pg-boss", "pgboss.job", "redrive_pgboss_job", 21,
         "00000000-0000-4000-8000-000000000003/bill/bill/no such account/2/PENDING/2026-11-20 10:00:03"},
        {"oban", "oban", "public.oban_jobs", "redrive_oban_jobs", 12,
         "3/App.Importer/events/** (KeyError) key :total not found/20/PENDING/2026-11-20 10:00:03"},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *layout = &layouts[i];
        struct world world;
        char sql[600];
        world_make(&world, 5);
        struct store *store = map_table(&world, layout->fixture, layout->mapping, layout->table);
        assert_string_equal(store_info(store)->schema, layout->schema);
        snprintf(
            sql, sizeof sql,
            "SELECT concat_ws('/', event_id, event_type, source_table, error_message, retry_count, status, "
            "created_at) FROM %s.mapped WHERE id = 3",
            layout->schema);
        assert_string_equal(test_text(world.admin, sql), layout->third);
        snprintf(sql, sizeof sql, "%s.mapped WHERE status = 'PENDING'", layout->schema);
        assert_int_equal(count_of(&world, sql), layout->pending);
        snprintf(sql, sizeof sql,
                 "%s.mapped WHERE stack_trace <> '' AND position(error_message IN stack_trace) = 0",
                 layout->schema);
        assert_true(strcmp(layout->mapping, "pg-boss") == 0 || count_of(&world, sql) == layout->pending);
        store_close(store);
        world_end(&world);
    }
}

static void
the_columns_of_an_older_version_are_found(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct store *store = map_table(&world, "pg-boss.old", "pg-boss", "pgboss.job");
    assert_int_equal(count_of(&world, "redrive_pgboss_job.mapped WHERE status = 'PENDING'"), 1);
    store_close(store);
    world_end(&world);
}

// A row's id is of one failure. What its owner takes back is not pending, and its next failure is another
// event.
static void
a_decision_is_about_one_failure(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct store *store = map_table(&world, "river", "river", "public.river_job");
    char *before = rows_of(&world, "river_job");
    test_sql(world.admin,
             "UPDATE redrive_river_job.mapped SET status = 'DISCARDED', resolved_by = 'ana' WHERE id "
             "IN (3, 4)");
    char *after = rows_of(&world, "river_job");
    assert_string_equal(before, after);
    assert_int_equal(count_of(&world, "redrive_river_job.mapped WHERE status = 'DISCARDED'"), 2);

    test_sql(world.admin, "UPDATE river_job SET state = 'available', finalized_at = NULL WHERE id IN (3, 5)");
    look(&world, store);
    assert_int_equal(count_of(&world, "redrive_river_job.mapped"), 28);
    test_sql(world.admin,
             "UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE id IN (3, 5)");
    look(&world, store);
    assert_string_equal(test_text(world.admin,
                                  "SELECT string_agg(id || ' ' || event_id || ' ' || status, ', ' ORDER "
                                  "BY id) FROM redrive_river_job.mapped WHERE event_id IN ('3', '5')"),
                        "31 3 PENDING, 32 5 PENDING");
    free(before);
    free(after);
    store_close(store);
    world_end(&world);
}

// Two decisions at once: the second finds that the first was made.
static void
two_decisions_at_once_are_one(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct store *store = map_table(&world, "river", "river", "public.river_job");
    PGconn *other = test_connect(world.conninfo);
    test_sql(other, "BEGIN; UPDATE redrive_river_job.mapped SET status = 'RESOLVED' WHERE id = 7");
    assert_int_equal(
        PQsendQuery(world.admin,
                    "WITH c AS (UPDATE redrive_river_job.mapped SET status = 'DISCARDED' WHERE id "
                    "= 7 AND status = 'PENDING' RETURNING id) SELECT count(*) FROM c"),
        1);
    clock_sleep(US_PER_SECOND / 5);
    test_sql(other, "COMMIT");
    PGresult *r = PQgetResult(world.admin);
    assert_string_equal(PQgetvalue(r, 0, 0), "0");
    PQclear(r);
    while ((r = PQgetResult(world.admin)))
        PQclear(r);
    assert_string_equal(test_text(world.admin, "SELECT status FROM redrive_river_job.mapped WHERE id = 7"),
                        "RESOLVED");
    PQfinish(other);
    store_close(store);
    world_end(&world);
}

// The owner's own migrations go through, and a mapping that does not fit any more can be applied again.
static void
the_owner_may_change_the_table(void **state)
{
    (void)state;
    struct world world;
    struct strbuf json = {0};
    world_make(&world, 0);
    struct store *store = map_table(&world, "pg-boss.old", "pg-boss", "pgboss.job");
    test_sql(world.admin, "ALTER TABLE pgboss.job RENAME completedon TO completed_on");
    test_sql(world.admin,
             "ALTER TABLE pgboss.job ALTER name TYPE varchar(100), DROP retrylimit, ADD retry_limit int");
    store_close(store);
    store = open_table(world.conninfo, "pgboss.job");
    assert_works(mapping_file_read("pg-boss", &json, &err));
    assert_works(migrate_by(store, strbuf_text(&json), &err));
    assert_int_equal(count_of(&world, "redrive_pgboss_job.mapped"), 1);
    test_sql(world.admin, "DROP TABLE pgboss.job");
    strbuf_release(&json);
    store_close(store);
    world_end(&world);
}

static void
a_mapping_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *words;
    } wrong[] = {
        {"{\"name\": \"x\", \"failed\": [{\"column\": \"at\", \"path\": []}]}", "has no id"},
        {"{\"name\": \"x\", \"id\": [{\"column\": \"no\", \"path\": []}]}", "has no such column"},
        {"{\"name\": \"x\", \"id\": [{\"column\": \"twice\", \"path\": []}], \"failed\": [{\"column\": "
         "\"at\", "
         "\"path\": []}]}",
         "one row could be taken for another"},
        {"{\"name\": \"x\", \"id\": [{\"column\": \"id\", \"path\": []}]}", "needs failed or attempts"},
        {"{\"name\": \"x\", \"id\": [{\"column\": \"id\", \"path\": []}], \"failed\": [{\"column\": "
         "\"twice\", "
         "\"path\": []}]}",
         "not a time"},
        {"{\"name\": \"x\", \"id\": [{\"column\": \"id\", \"path\": []}], \"failed\": [{\"column\": \"at\", "
         "\"path\": []}], \"error\": [{\"column\": \"what\", \"path\": [\"a\"]}]}",
         "not json"},
    };
    struct world world;
    world_make(&world, 0);
    test_sql(world.admin, "CREATE TABLE other (id bigint PRIMARY KEY, twice int, at timestamptz, what text)");
    struct store *store = open_table(world.conninfo, "public.other");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(migrate_by(store, wrong[i].json, &err), ERR_USAGE, wrong[i].words);
    assert_int_equal(count_of(&world, "pg_namespace WHERE nspname ~ 'redrive_'"), 0);
    // Nor may a mapping take the place of a table that redrive keeps itself.
    assert_refused(migrate_by(world.store, wrong[0].json, &err), ERR_USAGE, "without a mapping already");
    store_close(store);
    world_end(&world);
}

// What a mapping and a table say is data, whatever it looks like.
static void
names_and_words_are_data(void **state)
{
    (void)state;
#define EVIL "a\"b'); DROP TABLE victim; --"
#define EVIL_JSON "a\\\"b'); DROP TABLE victim; --"
    static const char json[] =
        "{\"name\": \"$$" EVIL_JSON "\", \"owner\": \"%s" EVIL_JSON
        "\", \"topic\": \"$$ '; DROP TABLE victim; --\","
        " \"id\": [{\"column\": \"" EVIL_JSON
        "\", \"path\": []}], \"failed\": [{\"column\": \"at\", \"path\": []}],"
        " \"zone\": \"UTC'); DROP TABLE victim; --\", \"state\": [{\"column\": \"state\", \"path\": []}],"
        " \"pending\": [\"dead'}'); DROP TABLE victim; --\", \"$$,\\\\\"],"
        " \"error\": [{\"column\": \"doc\", \"path\": [\"'}'); DROP TABLE victim; --\", \"$1 %I\"]}]}";
    struct world world;
    world_make(&world, 0);
    test_sql(world.admin,
             "CREATE TABLE victim (); CREATE TABLE \"O'Brien; \"\"x\" (\"a\"\"b'); DROP TABLE victim; --\" "
             "int PRIMARY KEY, at timestamptz, state text, doc jsonb)");
    test_sql(
        world.admin,
        "INSERT INTO \"O'Brien; \"\"x\" VALUES (1, now(), $q$dead'}'); DROP TABLE victim; --$q$, "
        "$q${\"'}'); DROP TABLE victim; --\": {\"$1 %%I\": \"'; DROP TABLE victim; --\"}}$q$), (2, now(), "
        "E'$$,\\\\', '{}'), (3, now(), 'fine', '{}')");
    struct store *store = open_table(world.conninfo, "public.\"O'Brien; \"\"x\"");
    assert_works(migrate_by(store, json, &err));
    store_close(store);
    store = open_table(world.conninfo, "public.\"O'Brien; \"\"x\"");
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT string_agg(concat_ws('|', event_id, error_message, kafka_topic), '/' ORDER BY id) FROM "
             "%s.mapped",
             store_info(store)->schema);
    assert_string_equal(
        test_text(world.admin, sql),
        "1|'; DROP TABLE victim; --|$$ '; DROP TABLE victim; --/2|$$ '; DROP TABLE victim; --");
    assert_int_equal(count_of(&world, "victim"), 0);
    store_close(store);
    world_end(&world);
}

// The schema's owner reads and no more; and nothing inserts or deletes through the view.
static void
nothing_is_written_into_the_table(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 0);
    struct store *store = map_table(&world, "river", "river", "public.river_job");
    static const char *const writes[] = {
        "DELETE FROM redrive_river_job.mapped WHERE id = 1",
        "INSERT INTO redrive_river_job.mapped (event_id) VALUES ('x')",
        "SELECT redrive_river_job.import_stage()",
        "SELECT redrive_river_job.ingest_begin('c', 'h', 1)",
        "SELECT redrive_river_job.archive_count('archive', now(), NULL)",
    };
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        PGresult *r = PQexec(world.admin, writes[i]);
        if (!strstr(PQresultErrorMessage(r),
                    "is the table of River, which redrive reads and never writes to"))
            fail_msg("%s: %s", writes[i], PQresultErrorMessage(r));
        PQclear(r);
    }
    PGresult *r =
        PQexec(world.admin, "SELECT redrive_river_job.operation_begin(gen_random_uuid(), 'reprocess', 'all', "
                            "NULL, NULL, 'why', NULL, NULL)");
    assert_non_null(strstr(PQresultErrorMessage(r), "JobRetry"));
    PQclear(r);
    store_close(store);
    world_end(&world);
}

// Whoever may migrate may map. A viewer reads with column rights of the table's owner; nobody else can give a
// mapping or change a decision by hand; and the schema's owner could not write into the table.
static void
a_mapping_needs_the_rights_of_a_migration(void **state)
{
    (void)state;
    struct world world;
    struct strbuf json = {0}, left = {0};
    struct schema_result result;
    char owner[80], viewer[80], conninfo[600];
    world_begin(&world);
    load_fixture(&world, "river");
    snprintf(owner, sizeof owner, "%s_owner", world.db.name);
    snprintf(viewer, sizeof viewer, "%s_viewer", world.db.name);
    test_sql(world.admin, "CREATE ROLE %s LOGIN", viewer);
    snprintf(conninfo, sizeof conninfo, "%s user=%s", world.conninfo, viewer);
    assert_works(mapping_file_read("river", &json, &err));
    struct store *store = open_table(conninfo, "public.river_job");
    assert_refused(migrate_by(store, strbuf_text(&json), &err), ERR_DENIED, "");
    store_close(store);

    store = open_table(world.conninfo, "public.river_job");
    assert_works(schema_migrate_mapped(store, owner, strbuf_text(&json), &result, &err));
    assert_works(schema_roles(store, true, &left, &err));
    assert_string_equal(strbuf_text(&left), "");
    assert_string_equal(test_text(world.admin,
                                  "SELECT string_agg(privilege_type, ',' ORDER BY privilege_type) FROM "
                                  "information_schema.table_privileges WHERE table_name = 'river_job' "
                                  "AND grantee LIKE '%\\_owner'"),
                        "REFERENCES,SELECT");
    store_close(store);

    test_sql(world.admin, "GRANT redrive_viewer TO %s", viewer);
    PGconn *session = test_connect(conninfo);
    assert_int_equal(test_number(session, "SELECT count(*) FROM redrive.mapped WHERE status = 'PENDING'"),
                     30);
    static const char *const denied[] = {
        "SELECT redrive._mapping_apply('{}')",
        "SELECT redrive._mapping_make(20)",
        "INSERT INTO redrive.mapping (name) VALUES ('x')",
        "UPDATE redrive.mapping SET settings = '{}'",
        "UPDATE redrive.mapped SET status = 'RESOLVED'",
        "UPDATE redrive.mapped_row SET status = 'RESOLVED'",
        "CREATE OR REPLACE FUNCTION redrive._mapped_source() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SELECT metadata FROM river_job",
    };
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        if (strcmp(test_state(session, denied[i]), "42501") != 0)
            fail_msg("%s: %s", denied[i], test_state(session, denied[i]));
    assert_string_equal(test_state(session, "SELECT redrive.mapped_look()"), "");
    PQfinish(session);
    test_sql(world.admin, "DROP OWNED BY %s CASCADE; DROP OWNED BY %s CASCADE", viewer, owner);
    test_sql(world.admin, "DROP ROLE %s; DROP ROLE %s", viewer, owner);
    strbuf_release(&json);
    strbuf_release(&left);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_layouts_are_read),
        cmocka_unit_test(the_columns_of_an_older_version_are_found),
        cmocka_unit_test(a_decision_is_about_one_failure),
        cmocka_unit_test(two_decisions_at_once_are_one),
        cmocka_unit_test(the_owner_may_change_the_table),
        cmocka_unit_test(a_mapping_that_does_not_fit_is_refused),
        cmocka_unit_test(names_and_words_are_data),
        cmocka_unit_test(nothing_is_written_into_the_table),
        cmocka_unit_test(a_mapping_needs_the_rights_of_a_migration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
