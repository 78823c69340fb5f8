// Sums of closed events (src/store/sql/rollup_closed.sql): after every kind of change they are no longer
// taken, and whoever counts is told what the table says. Each condition is tried where the others do not
// notice.
#include "world.h"

#include <stdio.h>
#include "actors.h"
#include "base/uuid.h"
#include "rollup/maintainer.h"
#include "store/operations/archive.h"
#include "store/rollup/rollup.h"
#include "store/rollup/stats_closed.h"

#define IS_KNOWN "SELECT is_known::int FROM redrive.closed_sums('infinity')"
#define IS_KEPT "SELECT count(stamp) FROM redrive.rollup_closed"

struct bench {
    struct world world;
    struct store *alone; // reads the table: its sessions count no changes
    char conninfo[400];
};

static void
keep_until_exact(const struct store_settings *settings)
{
    struct maintainer *maintainer = maintainer_create(settings);
    int64_t until = clock_mono() + 60 * US_PER_SECOND;
    while (!maintainer_is_exact(maintainer)) {
        int64_t wait = maintainer_step(maintainer);
        assert_true(clock_mono() < until);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
    maintainer_destroy(maintainer);
}

// Closed events of two types and three statuses, of this week and before, some without the time of their end.
static void
begin_with(struct bench *bench, bool is_partitioned)
{
    (is_partitioned ? world_make_partitioned : world_make)(&bench->world, 400);
    if (PQserverVersion(bench->world.admin) < 150000) {
        world_end(&bench->world);
        skip(); // counts of changes could be lost
    }
    test_sql(bench->world.admin, "UPDATE dlq_events SET event_type = CASE id %% 3 WHEN 0 THEN 'a' WHEN 1 "
                                 "THEN 'b' ELSE event_type END");
    test_sql(bench->world.admin, "UPDATE dlq_events SET status = CASE id %% 5 WHEN 0 THEN 'DISCARDED' WHEN 1 "
                                 "THEN 'PARKED' ELSE 'RESOLVED' "
                                 "END, resolved_at = CASE WHEN id %% 7 > 0 THEN created_at + id * interval "
                                 "'1.37 s' END WHERE id <= 300");
    if (!is_partitioned)
        test_sql(bench->world.admin,
                 "UPDATE dlq_events SET created_at = localtimestamp - id * interval '1.1 h' WHERE id > 4");
    tell_statistics(bench->world.admin);
    keep_until_exact(&bench->world.settings);
    snprintf(bench->conninfo, sizeof bench->conninfo, "%s options='-c track_counts=off'",
             bench->world.conninfo);
    bench->alone = open_store(bench->conninfo);
}

static void
begin(struct bench *bench)
{
    begin_with(bench, false);
}

static void
end(struct bench *bench)
{
    store_close(bench->alone);
    world_end(&bench->world);
}

static void
write_down(struct store *store, struct arena *arena, struct strbuf *out)
{
    struct stats_closed closed;
    assert_works(stats_closed_read(store, arena, &closed, &err));
    for (size_t i = 0; i < closed.count; i++) {
        const struct stats_closed_row *row = &closed.rows[i];
        strbuf_printf(out, "%s %lld: %lld %lld %lld, %lld in %.17g\n",
                      row->event_type ? row->event_type : "(none)", (long long)row->hour,
                      (long long)row->resolved, (long long)row->discarded, (long long)row->other,
                      (long long)row->timed, row->seconds);
    }
}

// Whoever counts now is told what the table says, and the next one as well.
static void
assert_right(struct bench *bench)
{
    for (int i = 0; i < 2; i++) {
        struct strbuf told = {0}, read = {0};
        write_down(bench->world.store, &bench->world.arena, &told);
        write_down(bench->alone, &bench->world.arena, &read);
        assert_string_equal(strbuf_text(&told), strbuf_text(&read));
        strbuf_release(&told);
        strbuf_release(&read);
    }
}

static void
assert_known(struct bench *bench, bool wanted)
{
    assert_int_equal(test_number(bench->world.admin, IS_KNOWN), wanted);
}

// Counted once, so that the sums are there.
static void
count(struct bench *bench)
{
    assert_right(bench);
    assert_known(bench, true);
}

static void
sums_are_taken_until_something_changes(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    assert_known(&bench, false);
    count(&bench);
    // Nothing but arrivals: the sums stay.
    add_events(bench.world.admin, 20);
    tell_statistics(bench.world.admin);
    assert_known(&bench, true);
    // It is the sums that are read: false ones would be told.
    test_sql(bench.world.admin,
             "UPDATE redrive.rollup_closed SET taken = ARRAY(SELECT '7 s'::interval FROM unnest(taken))");
    struct stats_closed closed;
    assert_works(stats_closed_read(bench.world.store, &bench.world.arena, &closed, &err));
    for (size_t i = 0; i < closed.count; i++)
        assert_true(closed.rows[i].resolved == 0 || (int64_t)closed.rows[i].seconds % 7 == 0);
    end(&bench);
}

// What a consumer does to closed events while their number stays: PostgreSQL's count tells.
static void
changes_of_consumers_are_noticed(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE dlq_events SET resolved_at = resolved_at + interval '1 h' WHERE id = 2",
        "UPDATE dlq_events SET event_type = 'b' WHERE id = 3",
        "UPDATE dlq_events SET created_at = created_at - interval '5 h' WHERE id = 4",
        "UPDATE dlq_events SET status = CASE status WHEN 'PENDING' THEN 'RESOLVED' ELSE 'PENDING' END WHERE "
        "id IN (7, 301)",
        "WITH gone AS (DELETE FROM dlq_events WHERE id = 8 RETURNING *)"
        " INSERT INTO dlq_events (event_id, event_type, source_table, event_payload, error_message, status, "
        "created_at)"
        " SELECT 'again', 'c', source_table, event_payload, error_message, status, created_at FROM gone",
    };
    for (int is_partitioned = 0; is_partitioned < 2; is_partitioned++) {
        struct bench bench;
        begin_with(&bench, is_partitioned);
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
            count(&bench);
            test_sql(bench.world.admin, "%s", changes[i]);
            tell_statistics(bench.world.admin);
            assert_known(&bench, false);
            assert_right(&bench);
        }
        end(&bench);
    }
}

// PostgreSQL counts insertions apart: the number of each status tells.
static void
closed_rows_that_arrive_are_noticed(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    static const char *const statuses[] = {"'RESOLVED'", "'DISCARDED'", "'PARKED'", "'ZZZ'", "NULL"};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        count(&bench);
        test_sql(bench.world.admin,
                 "INSERT INTO dlq_events (event_id, event_type, source_table, event_payload, error_message, "
                 "status)"
                 " VALUES ('new' || %d, 'a', 's', '{}', 'boom', %s)",
                 (int)i, statuses[i]);
        assert_known(&bench, false);
        assert_right(&bench);
    }
    // Nobody has told PostgreSQL yet, and as many came as went: but not of each status.
    count(&bench);
    test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'DISCARDED' WHERE id = 12");
    assert_known(&bench, false);
    assert_right(&bench);
    end(&bench);
}

static void
archive_all(struct bench *bench, enum archive_action action)
{
    struct archive_request request = {.action = action,
                                      .before = action == ARCHIVE_RESTORE ? TIME_ABSENT : clock_now(),
                                      .scope = "what a test moves",
                                      .chosen = 1};
    struct archive_result result;
    assert_works(archive_run(bench->world.store, &request, NULL, NULL, &result, &err));
    assert_true(result.moved > 0);
}

// What redrive does itself.
static void
changes_of_redrive_are_noticed(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    count(&bench);
    apply_operation(&bench.world, ACTION_DISCARD, 310, 320);
    assert_known(&bench, false);
    assert_right(&bench);
    keep_until_exact(&bench.world.settings);
    count(&bench);
    apply_operation(&bench.world, ACTION_RESOLVE, 330, 340);
    assert_known(&bench, false);
    assert_right(&bench);
    keep_until_exact(&bench.world.settings);
    count(&bench);
    apply_operation(&bench.world, ACTION_RESTORE, 310, 320);
    assert_known(&bench, false);
    assert_right(&bench);
    keep_until_exact(&bench.world.settings);
    count(&bench);
    archive_all(&bench, ARCHIVE_MOVE);
    assert_known(&bench, false);
    assert_right(&bench);
    keep_until_exact(&bench.world.settings);
    count(&bench);
    archive_all(&bench, ARCHIVE_RESTORE);
    assert_known(&bench, false);
    assert_right(&bench);
    end(&bench);
}

// The same in the seconds in which PostgreSQL has not told it, with a number that stays: the note is enough,
// and the one who takes it forgets the sums.
static void
notes_are_enough(void **state)
{
    (void)state;
    struct bench bench;
    char name[UUID_SIZE];
    struct rollup_lease lease;
    struct rollup_missing missing;
    int64_t looked_at;
    begin(&bench);
    count(&bench);
    test_sql(bench.world.admin, "INSERT INTO redrive.rollup_due VALUES ('{20}')");
    assert_known(&bench, false);
    uuid_make(name);
    assert_works(rollup_acquire(bench.world.store, name, &lease, &err));
    assert_works(rollup_drain(bench.world.store, name, &missing, &looked_at, &err));
    assert_int_equal(looked_at, 1);
    rollup_missing_release(&missing);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_due"), 0);
    assert_known(&bench, false);
    assert_int_equal(test_number(bench.world.admin, IS_KEPT), 0);
    count(&bench);
    // So does one who finds out by comparing.
    test_sql(bench.world.admin, "SELECT redrive._rollup_remove('{399}')");
    assert_int_equal(test_number(bench.world.admin, IS_KEPT), 0);
    assert_works(rollup_release(bench.world.store, name, &err));
    keep_until_exact(&bench.world.settings);
    count(&bench);
    test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'PENDING' WHERE id = 20");
    keep_until_exact(&bench.world.settings);
    assert_int_equal(test_number(bench.world.admin, IS_KEPT), 0);
    end(&bench);
}

// An archive leaves a note, too.
static void
an_archive_leaves_a_note(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    archive_all(&bench, ARCHIVE_MOVE);
    assert_true(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_due") > 0);
    keep_until_exact(&bench.world.settings);
    archive_all(&bench, ARCHIVE_RESTORE);
    assert_true(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_due") > 0);
    end(&bench);
}

// --- sums that are not kept ---

// They were begun before redrive changed something, and end after that was taken note of.
static void
sums_that_were_overtaken_are_not_kept(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    PGconn *slow = test_connect(bench.world.conninfo);
    test_sql(bench.world.admin, "BEGIN; LOCK TABLE dlq_events IN ACCESS EXCLUSIVE MODE");
    assert_int_equal(PQsendQuery(slow, "SELECT redrive.rollup_sum_closed('-infinity')"), 1);
    PGconn *look = test_connect(bench.world.conninfo);
    int64_t until = clock_mono() + 60 * US_PER_SECOND;
    while (test_number(look,
                       "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE "
                       "'%rollup_sum_closed%' AND pid <> pg_backend_pid()") == 0) {
        assert_true(clock_mono() < until);
        clock_sleep(10000);
    }
    test_sql(look, "SELECT redrive._closed_forget()");
    test_sql(bench.world.admin, "ROLLBACK");
    for (PGresult *r; (r = PQgetResult(slow)); PQclear(r))
        assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    assert_int_equal(test_number(look, IS_KEPT), 0);
    PQfinish(slow);
    PQfinish(look);
    count(&bench);
    end(&bench);
}

static void
only_what_may_be_taken_is_kept(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    PGconn *admin = bench.world.admin;
    // A snapshot that is older than the stamp.
    test_sql(admin,
             "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT redrive.rollup_sum_closed('-infinity'); COMMIT");
    assert_int_equal(test_number(admin, IS_KEPT), 0);
    // A session that does not count.
    test_sql(bench.world.admin, "SET track_counts = off");
    test_sql(admin, "SELECT redrive.rollup_sum_closed('-infinity')");
    assert_int_equal(test_number(admin, IS_KEPT), 0);
    assert_known(&bench, false);
    test_sql(bench.world.admin, "RESET track_counts");
    // Very many.
    test_sql(
        admin,
        "INSERT INTO dlq_events (event_id, event_type, source_table, event_payload, error_message, status)"
        " SELECT 'm' || i, 'type ' || i, 's', '{}', 'boom', 'RESOLVED' FROM generate_series(1, 20001) AS i");
    test_sql(admin, "SELECT redrive.rollup_sum_closed('-infinity')");
    assert_int_equal(test_number(admin, IS_KEPT), 0);
    assert_right(&bench);
    test_sql(admin, "DELETE FROM dlq_events WHERE event_type = 'type 1'");
    test_sql(admin, "SELECT redrive.rollup_sum_closed('2000-01-01')");
    assert_int_equal(
        test_number(admin,
                    "SELECT (cardinality(types) > 20000)::int FROM redrive.rollup_sum_closed('2000-01-01')"),
        1);
    end(&bench);
}

// Hours before the first that the sums have cannot be told from them; later ones can, also tomorrow.
static void
sums_serve_later_hours_only(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    count(&bench);
    PGconn *admin = bench.world.admin;
    assert_int_equal(
        test_number(
            admin,
            "SELECT is_known::int FROM redrive.closed_sums((SELECT since FROM redrive.rollup_closed))"),
        1);
    assert_int_equal(
        test_number(admin,
                    "SELECT is_known::int FROM redrive.closed_sums((SELECT since - interval '1 h' FROM "
                    "redrive.rollup_closed))"),
        0);
    // As if they had been made two days ago.
    test_sql(admin,
             "SELECT redrive.rollup_sum_closed((SELECT since - interval '48 h' FROM redrive.rollup_closed))");
    assert_known(&bench, true);
    assert_right(&bench);
    end(&bench);
}

// A count that was set back, and has come to the same number again, is no proof.
static void
a_count_that_was_set_back_is_another(void **state)
{
    (void)state;
    static const char one_change[] =
        "UPDATE dlq_events SET resolved_at = resolved_at + interval '1 s' WHERE id = 2";
    struct bench bench;
    begin(&bench);
    for (int i = 0; i < 2; i++) {
        test_sql(bench.world.admin, "SELECT pg_stat_reset()");
        test_sql(bench.world.admin, "%s", one_change);
        tell_statistics(bench.world.admin);
        assert_known(&bench, false);
        assert_right(&bench);
        assert_int_equal(test_number(bench.world.admin,
                                     "SELECT n_tup_upd + n_tup_del FROM pg_stat_all_tables WHERE "
                                     "relid = 'dlq_events'::regclass"),
                         1);
    }
    end(&bench);
}

// --- who may ---

static void
rights_are_those_of_the_levels(void **state)
{
    (void)state;
    struct world *world = &actors.world;
    test_sql(world->admin,
             "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = localtimestamp WHERE id < 20");
    tell_statistics(world->admin);
    keep_until_exact(&world->settings);
    struct stats_closed closed;
    struct store *viewer = store_of(actors.viewer);
    assert_works(stats_closed_read(viewer, &world->arena, &closed, &err));
    assert_true(closed.count > 0);
    assert_int_equal(test_number(world->admin, IS_KEPT), 0); // who may only look leaves nothing
    PGconn *looking = test_connect(conninfo_of(actors.viewer));
    assert_int_equal(test_number(looking, "SELECT may_sum::int FROM redrive.closed_sums('infinity')"), 0);
    assert_string_equal(test_state(looking, "SELECT redrive.rollup_sum_closed('infinity')"), "42501");
    assert_string_equal(test_state(looking, "SELECT redrive._closed_forget()"), "42501");
    struct store *worker = store_of(actors.worker);
    assert_works(stats_closed_read(worker, &world->arena, &closed, &err));
    assert_int_equal(test_number(world->admin, IS_KEPT), 1);
    assert_int_equal(test_number(looking, IS_KNOWN), 1);
    PGconn *working = test_connect(conninfo_of(actors.worker));
    assert_string_equal(test_state(working, "UPDATE redrive.rollup_closed SET settled = 0"), "42501");
    assert_string_equal(test_state(working, "SELECT redrive._closed_forget()"), "42501");
    PQfinish(working);
    PQfinish(looking);
    store_close(viewer);
    store_close(worker);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_taken_until_something_changes),
        cmocka_unit_test(changes_of_consumers_are_noticed),
        cmocka_unit_test(closed_rows_that_arrive_are_noticed),
        cmocka_unit_test(changes_of_redrive_are_noticed),
        cmocka_unit_test(notes_are_enough),
        cmocka_unit_test(an_archive_leaves_a_note),
        cmocka_unit_test(sums_that_were_overtaken_are_not_kept),
        cmocka_unit_test(only_what_may_be_taken_is_kept),
        cmocka_unit_test(sums_serve_later_hours_only),
        cmocka_unit_test(a_count_that_was_set_back_is_another),
    };
    const struct CMUnitTest rights[] = {
        cmocka_unit_test(rights_are_those_of_the_levels),
    };
    int failed = cmocka_run_group_tests_name("closed sums", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("closed sums, rights", rights, begin_actors, end_actors);
}
