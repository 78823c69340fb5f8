// Retention: closed events leave for the archive, come back byte for byte, and are deleted in the end; a job
// that is killed leaves every event in one place.
#include "world.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "actors.h"
#include "rollup/maintainer.h"
#include "store/operations/archive.h"
#include "store/rollup/rollup.h"
#include "store/rollup/trend.h"

static const int64_t PATIENCE = 60 * US_PER_SECOND;

#define ARCHIVED "SELECT count(*) FROM archive.dlq_events_archive"
#define EVENTS "SELECT count(*) FROM public.dlq_events"
#define ALL_COLUMNS                                                                                          \
    "id, event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, "         \
    "retry_count, max_retries, status, created_at, last_retry_at, resolved_at, resolved_by, kafka_offset, "  \
    "kafka_partition, kafka_topic, correlation_id"

static void
close_events(PGconn *admin, int first, int last, const char *age)
{
    test_sql(admin,
             "UPDATE public.dlq_events SET status = CASE id %% 2 WHEN 0 THEN 'RESOLVED' ELSE 'DISCARDED' END,"
             " resolved_at = now()::timestamp - interval '%s', resolved_by = 'ana' WHERE id BETWEEN %d AND "
             "%d",
             age, first, last);
}

static struct archive_request
request_for(enum archive_action action, int64_t days)
{
    return (struct archive_request){.action = action,
                                    .before =
                                        days < 0 ? TIME_ABSENT : clock_now() - days * 86400 * US_PER_SECOND,
                                    .scope = "what a test moves",
                                    .chosen = 1};
}

static struct archive_result
run_job(struct store *store, enum archive_action action, int64_t days)
{
    struct archive_request request = request_for(action, days);
    struct archive_result result;
    assert_works(archive_run(store, &request, NULL, NULL, &result, &err));
    return result;
}

static struct archive_result
run_ids(struct store *store, enum archive_action action, int64_t days, const int64_t *ids, size_t count)
{
    struct archive_request request = request_for(action, days);
    struct archive_result result;
    request.ids = ids;
    request.count = count;
    assert_works(archive_run(store, &request, NULL, NULL, &result, &err));
    return result;
}

// --- what moves, and what does not ---

static void
only_old_and_closed_events_move(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3000);
    close_events(world.admin, 1, 1500, "100 days");
    close_events(world.admin, 1501, 2000, "10 days");
    test_sql(world.admin, "UPDATE public.dlq_events SET created_at = now()::timestamp - interval '400 days'");
    test_sql(world.admin, "UPDATE public.dlq_events SET resolved_at = NULL WHERE id = 2000");
    test_sql(world.admin, "UPDATE public.dlq_events SET status = 'PARKED' WHERE id = 1");
    struct archive_request request = request_for(ARCHIVE_MOVE, 90);
    int64_t count;
    assert_works(archive_count(world.store, &request, &count, &err));
    assert_int_equal(count, 1500); // 1499, and one that was closed nobody knows when
    struct archive_result result = run_job(world.store, ARCHIVE_MOVE, 90);
    assert_int_equal(result.moved, 1500);
    assert_int_equal(result.skipped, 0);
    assert_int_equal(test_number(world.admin, ARCHIVED), 1500);
    assert_int_equal(test_number(world.admin, EVENTS), 1500);
    assert_int_equal(events_in(&world, "PENDING"), 1000);
    assert_int_equal(test_number(world.admin, EVENTS " WHERE id = 1"), 1);
    assert_int_equal(test_number(world.admin,
                                 ARCHIVED " WHERE archived_by <> session_user OR archived_job <> 1"
                                          " OR archived_at < now() - interval '1 hour'"),
                     0);
    int64_t holds, last_at;
    assert_works(archive_holds(world.store, &holds, &last_at, &err));
    assert_int_equal(holds, 1500);
    world_end(&world);
}

// Most of the time belongs to others: each row says when it came, and rows of one transaction are a batch.
static void
batches_are_short_and_far_between(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 4000);
    close_events(world.admin, 1, 4000, "100 days");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 4000);
#define OF_BATCHES(what)                                                                                     \
    "SELECT " what " FROM (SELECT count(*) AS rows, min(archived_at) AS first, max(archived_at) AS last"     \
    " FROM archive.dlq_events_archive GROUP BY xmin::text) b"
    assert_in_range(test_number(world.admin, OF_BATCHES("max(rows)")), 20, 1000);
    assert_in_range(test_number(world.admin, OF_BATCHES("(100 * extract(epoch FROM sum(last - first)) / "
                                                        "extract(epoch FROM max(last) - min(first)))::int8")),
                    0, 10);
    world_end(&world);
}

// Of an operation that has not ended, and what somebody has locked.
static void
events_in_use_are_passed_over(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    close_events(world.admin, 1, 20, "100 days");
    int64_t restore = make_operation(&world, world.store, ACTION_RESTORE, 1, 4); // 1 and 3 are discarded
    PGconn *other = test_connect(world.conninfo);
    test_sql(other, "BEGIN");
    test_sql(other, "SELECT FROM public.dlq_events WHERE id = 7 FOR UPDATE");
    int64_t began = clock_mono();
    struct archive_result result = run_job(world.store, ARCHIVE_MOVE, 90);
    assert_true(clock_mono() - began < 20 * US_PER_SECOND);
    assert_int_equal(result.moved, 17);
    assert_int_equal(result.skipped, 3);
    apply_to_end(world.store, restore, 100);
    assert_int_equal(test_number(world.admin, EVENTS " WHERE id IN (1, 3) AND status = 'PENDING'"), 2);
    test_sql(other, "COMMIT");
    PQfinish(other);
    result = run_job(world.store, ARCHIVE_MOVE, 90);
    assert_int_equal(result.moved, 1);
    world_end(&world);
}

static void
what_comes_back_is_what_went(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 50);
    test_sql(world.admin, "ALTER TABLE public.dlq_events ADD COLUMN team text DEFAULT 'none',"
                          " ADD COLUMN shown text GENERATED ALWAYS AS (upper(event_type)) STORED");
    close_events(world.admin, 1, 40, "100 days");
    test_sql(world.admin,
             "UPDATE public.dlq_events SET team = 't' || id, event_payload = '{\"a\": 1.50, \"b\": "
             "\"\\\\u00e9\"}',"
             " error_message = E'x\\ty\\\\z', correlation_id = md5(id::text)::uuid, last_retry_at ="
             " '2020-02-29 23:59:59.123456', retry_count = NULL WHERE id <= 40");
    test_sql(world.admin, "CREATE TABLE was AS SELECT e::text AS line FROM public.dlq_events e");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 40);
    test_sql(world.admin,
             "ALTER TABLE public.dlq_events ALTER source_id TYPE varchar(80), ADD COLUMN later int");
    close_events(world.admin, 41, 41, "100 days");
    test_sql(world.admin,
             "UPDATE public.dlq_events SET later = 7, source_id = repeat('t', 80) WHERE id = 41");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 1); // with the wider column
    const int64_t some[] = {3, 4, 9, 9, 1000};
    struct archive_result result = run_ids(world.store, ARCHIVE_RESTORE, -1, some, 5);
    assert_int_equal(result.moved, 3);
    assert_int_equal(result.skipped, 0);
    assert_int_equal(run_job(world.store, ARCHIVE_RESTORE, -1).moved, 38);
    assert_int_equal(test_number(world.admin, ARCHIVED), 0);
    assert_int_equal(test_number(world.admin, EVENTS " WHERE later = 7 AND length(source_id) = 80"), 1);
    test_sql(world.admin, "ALTER TABLE public.dlq_events DROP COLUMN later");
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM public.dlq_events e JOIN was w ON w.line ="
                                 " e::text WHERE e.id <> 41"),
                     49);
    world_end(&world);
}

static void
an_event_that_the_table_has_again_stays_archived(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    test_sql(world.admin, "CREATE UNIQUE INDEX ON public.dlq_events (event_id)");
    close_events(world.admin, 1, 4, "100 days");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 4);
    test_sql(world.admin,
             "INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message) VALUES"
             " (1, 'another', 't', '{}', 'e'), (5000, 'evt-2', 't', '{}', 'e')");
    struct archive_result result = run_job(world.store, ARCHIVE_RESTORE, -1);
    assert_int_equal(result.moved, 2);
    assert_int_equal(result.skipped, 2);
    assert_int_equal(test_number(world.admin, ARCHIVED " WHERE id IN (1, 2)"), 2);
    // The new event 1 is archived too: both rows are kept, and both come back, one after the other.
    close_events(world.admin, 1, 1, "100 days");
    const int64_t one[] = {1};
    assert_int_equal(run_ids(world.store, ARCHIVE_MOVE, 90, one, 1).moved, 1);
    assert_int_equal(test_number(world.admin, ARCHIVED " WHERE id = 1"), 2);
    assert_int_equal(run_ids(world.store, ARCHIVE_RESTORE, -1, one, 1).moved, 1);
    assert_int_equal(test_number(world.admin, EVENTS " WHERE id = 1 AND event_id = 'another'"), 1);
    assert_int_equal(test_number(world.admin, ARCHIVED " WHERE id = 1"), 1);
    world_end(&world);
}

static void
purging_takes_what_is_kept_beside_the_event(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    test_sql(world.admin, "INSERT INTO redrive.revision (dlq_id, no, payload) SELECT i, 1, '{}' FROM"
                          " generate_series(1, 20) i");
    test_sql(world.admin,
             "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\") SELECT i, 't', 0, i"
             " FROM generate_series(1, 20) i");
    close_events(world.admin, 1, 5, "400 days");
    close_events(world.admin, 6, 10, "100 days");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 10);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision"), 20);
    close_events(world.admin, 11, 12, "400 days");
    struct archive_result result = run_job(world.store, ARCHIVE_PURGE, 365);
    assert_int_equal(result.deleted, 5);
    assert_int_equal(test_number(world.admin, ARCHIVED), 5);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision WHERE dlq_id > 5"), 15);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision"), 15);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.record"), 15);
    assert_int_equal(run_job(world.store, ARCHIVE_DELETE, 365).deleted, 2);
    assert_int_equal(test_number(world.admin, EVENTS), 8);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'purge' AND"
                                              " detail LIKE '%done%' AND events IN (5, 2)"),
                     2);
    world_end(&world);
}

static void
a_partitioned_table_is_moved_row_by_row(void **state)
{
    (void)state;
    struct world world;
    world_make_partitioned(&world, 200);
    close_events(world.admin, 1, 150, "100 days");
    test_sql(world.admin, "CREATE TABLE was AS SELECT e::text AS line FROM public.dlq_events e");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 150);
    assert_int_equal(test_number(world.admin, EVENTS), 50);
    assert_int_equal(run_job(world.store, ARCHIVE_RESTORE, -1).moved, 150);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM public.dlq_events e JOIN was w ON w.line ="
                                 " e::text"),
                     200);
    world_end(&world);
}

// --- killed, and beside others ---

static void
kill_in_the_middle(struct world *world, int64_t after)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *store = open_store(world->conninfo);
        struct archive_request request = request_for(ARCHIVE_MOVE, 90);
        struct archive_result result;
        struct err err = {0};
        (void)!archive_run(store, &request, NULL, NULL, &result, &err);
        _exit(0);
    }
    int64_t until = clock_mono() + PATIENCE, moved = 0;
    while (moved < after) {
        assert_true(clock_mono() < until);
        clock_sleep(1000);
        moved = test_number(world->admin, "SELECT coalesce(sum(moved), 0) FROM redrive.archive_job");
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void
no_event_is_lost_or_doubled_by_a_kill(void **state)
{
    (void)state;
    enum { ALL = 30000, OLD = 25000 };
    struct world world;
    world_make(&world, ALL);
    close_events(world.admin, 1, OLD, "100 days");
    test_sql(world.admin, "CREATE TABLE was AS SELECT md5(e::text) AS line FROM public.dlq_events e");
    kill_in_the_middle(&world, 1);
    kill_in_the_middle(&world, 4000);
    kill_in_the_middle(&world, 9000);
    int64_t until = clock_mono() + PATIENCE; // the last batch of the dead may still be on its way
    while (test_number(world.admin, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query"
                                    " LIKE '%archive_step%' AND pid <> pg_backend_pid()") > 0) {
        assert_true(clock_mono() < until);
        clock_sleep(10000);
    }
    int64_t moved = test_number(world.admin, ARCHIVED);
    print_message("# figure: killed three times, %lld of %d archived\n", (long long)moved, OLD);
    assert_true(moved >= 9000 && moved < OLD);
    assert_int_equal(moved + test_number(world.admin, EVENTS), ALL);
    assert_int_equal(test_number(world.admin, "SELECT sum(moved) FROM redrive.archive_job"), moved);
    test_sql(world.admin, "UPDATE redrive.archive_job SET seen_at = seen_at - interval '2 minutes'");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, OLD - moved);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.archive_job WHERE state ="
                                              " 'interrupted'"),
                     3);
    assert_int_equal(
        test_number(world.admin, "SELECT sum(events) FROM redrive.audit WHERE action = 'archive'"), OLD);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM (SELECT md5(e::text) AS line FROM"
                                 " public.dlq_events e UNION ALL SELECT md5((SELECT x FROM (SELECT "
                                 "a." ALL_COLUMNS ") x)::text) FROM archive.dlq_events_archive a)"
                                 " l JOIN was w ON w.line = l.line"),
                     ALL);
    world_end(&world);
}

static bool
stop_soon(void *context, int64_t taken)
{
    *(int64_t *)context = taken;
    return taken < 300;
}

static void
a_job_that_is_stopped_says_how_far_it_came(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 3000);
    close_events(world.admin, 1, 3000, "100 days");
    struct archive_request request = request_for(ARCHIVE_MOVE, 90);
    struct archive_result result;
    int64_t told = 0;
    assert_works(archive_run(world.store, &request, stop_soon, &told, &result, &err));
    assert_true(result.was_interrupted);
    assert_true(result.moved >= 300 && result.moved < 3000);
    assert_int_equal(result.moved, told);
    assert_int_equal(test_number(world.admin, ARCHIVED), result.moved);
    assert_string_equal(test_text(world.admin, "SELECT state FROM redrive.archive_job"), "interrupted");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 3000 - result.moved);
    world_end(&world);
}

struct arriving {
    const char *conninfo;
    atomic_bool stop;
    int64_t written;
};

// Writes one event after the other, some of which are closed at once, as by the team's own REST API.
static void *
consume(void *context)
{
    struct arriving *arriving = context;
    PGconn *conn = test_connect(arriving->conninfo);
    while (!atomic_load(&arriving->stop)) {
        test_sql(conn,
                 "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, status,"
                 " resolved_at) SELECT 'new-' || i, 't', '{}', 'e', CASE i %% 3 WHEN 0 THEN 'RESOLVED' ELSE"
                 " 'PENDING' END, CASE i %% 3 WHEN 0 THEN now()::timestamp END FROM generate_series(1, 3) i");
        arriving->written += 3;
    }
    PQfinish(conn);
    return NULL;
}

static void
consumers_write_meanwhile_and_two_archive_at_once(void **state)
{
    (void)state;
    enum { OLD = 20000 };
    struct world world;
    struct arriving arriving = {0};
    pthread_t thread;
    world_make(&world, OLD);
    arriving.conninfo = world.conninfo;
    close_events(world.admin, 1, OLD, "100 days");
    assert_int_equal(pthread_create(&thread, NULL, consume, &arriving), 0);
    kill_in_the_middle(&world, 10); // one of them goes in the middle of it
    struct archive_result result = run_job(world.store, ARCHIVE_MOVE, 90);
    result.moved += run_job(world.store, ARCHIVE_MOVE, 90).moved;
    atomic_store(&arriving.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(result.moved > 0);
    assert_int_equal(test_number(world.admin, ARCHIVED), OLD);
    assert_int_equal(test_number(world.admin, "SELECT count(DISTINCT id) FROM archive.dlq_events_archive"),
                     OLD);
    assert_int_equal(test_number(world.admin, EVENTS), arriving.written);
    assert_true(arriving.written > 0);
    world_end(&world);
}

// --- the sums ---

static void
keep_until_exact(struct maintainer *maintainer)
{
    int64_t until = clock_mono() + PATIENCE;
    do {
        int64_t wait = maintainer_step(maintainer);
        assert_true(clock_mono() < until);
        clock_sleep(wait > 20000 ? 20000 : wait);
    } while (!maintainer_is_exact(maintainer));
}

// A maintainer that counts all there is, and gives way.
static void
count_all(struct world *world)
{
    struct maintainer *maintainer = maintainer_create(&world->settings);
    struct rollup_lease lease;
    keep_until_exact(maintainer);
    maintainer_destroy(maintainer);
    assert_works(rollup_acquire(world->store, "test", &lease, &err));
    assert_true(lease.is_mine);
    for (bool is_done = false; !is_done;)
        assert_works(rollup_take_trend(world->store, "test", TREND_UNKNOWN, &is_done, &err));
    assert_works(rollup_release(world->store, "test", &err));
}

static int64_t
trend_sum(struct world *world, const char *column)
{
    char sql[200];
    (void)snprintf(sql, sizeof sql, "SELECT coalesce(sum(%s), 0) FROM redrive.trend WHERE step = 'hour'",
                   column);
    return test_number(world->admin, sql);
}

// Closed by hand and archived before the maintainer has seen either: the events left as what they were
// closed.
static void
sums_stay_right(void **state)
{
    (void)state;
    struct world world;
    world_make_with_rules(&world, 100);
    count_all(&world);
    int64_t arrived = trend_sum(&world, "arrived");
    test_sql(world.admin, "UPDATE public.dlq_events SET status = CASE WHEN id <= 20 THEN 'RESOLVED' ELSE"
                          " 'DISCARDED' END, resolved_at = now()::timestamp WHERE id <= 30");
    clock_sleep(1100000);
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 0).moved, 30);
    count_all(&world);
    assert_int_equal(trend_sum(&world, "resolved"), 20);
    assert_int_equal(trend_sum(&world, "discarded"), 10);
    assert_int_equal(trend_sum(&world, "gone"), 0);
    assert_int_equal(test_number(world.admin, "SELECT sum(n) FROM redrive.rollup_outcome WHERE outcome ="
                                              " 'resolved'"),
                     20);
    assert_int_equal(test_number(world.admin, "SELECT sum(n) FROM redrive.rollup_total"), 70);
    assert_int_equal(run_job(world.store, ARCHIVE_RESTORE, -1).moved, 30);
    count_all(&world);
    // Retention of somebody else deletes pending ones and closed ones.
    test_sql(world.admin, "DELETE FROM public.dlq_events WHERE id BETWEEN 16 AND 45");
    count_all(&world);
    assert_int_equal(trend_sum(&world, "arrived"), arrived);
    assert_int_equal(trend_sum(&world, "resolved"), 20);
    assert_int_equal(trend_sum(&world, "gone"), 15);
    assert_int_equal(test_number(world.admin, "SELECT sum(n) FROM redrive.rollup_total"), 55);
    world_end(&world);
}

// --- rights ---

static void
only_those_who_decide_may_archive(void **state)
{
    (void)state;
    close_events(actors.world.admin, 1, 10, "100 days");
    struct archive_request request = request_for(ARCHIVE_MOVE, 90);
    struct archive_result result;
    struct store *store = store_of(actors.viewer);
    assert_refused(archive_run(store, &request, NULL, NULL, &result, &err), ERR_DENIED, "archive_begin");
    store_close(store);
    store = store_of(actors.worker);
    assert_refused(archive_run(store, &request, NULL, NULL, &result, &err), ERR_DENIED, "archive_begin");
    store_close(store);
    store = store_of(actors.operator_);
    assert_int_equal(run_job(store, ARCHIVE_MOVE, 90).moved, 10);
    request = request_for(ARCHIVE_PURGE, 90);
    assert_refused(archive_run(store, &request, NULL, NULL, &result, &err), ERR_DENIED, "archive_purge");
    request = request_for(ARCHIVE_DELETE, 90);
    assert_refused(archive_run(store, &request, NULL, NULL, &result, &err), ERR_DENIED, "archive_purge");
    store_close(store);
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM archive.dlq_events_archive WHERE"
                                                     " archived_by = session_user"),
                     0);
    assert_string_equal(test_state(actors.session, "DELETE FROM archive.dlq_events_archive"), "42501");
    assert_string_equal(test_state(actors.session, "SELECT event_payload FROM archive.dlq_events_archive"),
                        "");
    store = store_of(actors.admin);
    assert_int_equal(run_job(store, ARCHIVE_PURGE, 90).deleted, 10);
    store_close(store);
}

static void
an_archive_of_somebody_else_is_not_used(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    close_events(world.admin, 1, 10, "100 days");
    struct archive_request request = request_for(ARCHIVE_MOVE, 90);
    struct archive_result result;
    test_sql(world.admin, "DROP SCHEMA archive");
    assert_refused(archive_run(world.store, &request, NULL, NULL, &result, &err), ERR_DENIED,
                   "there is no schema archive");
    char login[80];
    (void)snprintf(login, sizeof login, "%s_mallory", world.db.name);
    test_sql(world.admin, "CREATE ROLE %s", login);
    test_sql(world.admin, "CREATE SCHEMA archive AUTHORIZATION %s", login);
    assert_refused(archive_run(world.store, &request, NULL, NULL, &result, &err), ERR_DENIED,
                   "ALTER SCHEMA archive OWNER TO");
    test_sql(world.admin, "ALTER SCHEMA archive OWNER TO postgres");
    test_sql(world.admin, "CREATE TABLE archive.dlq_events_archive (LIKE public.dlq_events)");
    test_sql(world.admin, "ALTER TABLE archive.dlq_events_archive OWNER TO %s", login);
    assert_refused(archive_run(world.store, &request, NULL, NULL, &result, &err), ERR_DENIED,
                   "ALTER TABLE archive.dlq_events_archive OWNER TO");
    test_sql(world.admin, "ALTER TABLE archive.dlq_events_archive OWNER TO postgres");
    assert_int_equal(run_job(world.store, ARCHIVE_MOVE, 90).moved, 10); // what the team has made before
    test_sql(world.admin, "DROP OWNED BY %s", login);
    test_sql(world.admin, "DROP ROLE %s", login);
    world_end(&world);
}

static void
rows_that_others_refer_to_stay(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 10);
    close_events(world.admin, 1, 10, "100 days");
    test_sql(world.admin, "CREATE TABLE note (dlq_id bigint REFERENCES public.dlq_events ON DELETE CASCADE)");
    test_sql(world.admin, "INSERT INTO note VALUES (3)");
    struct archive_request request = request_for(ARCHIVE_MOVE, 90);
    struct archive_result result;
    assert_refused(archive_run(world.store, &request, NULL, NULL, &result, &err), ERR_DENIED,
                   "would change rows of public.note as well");
    assert_int_equal(test_number(world.admin, EVENTS), 10);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_old_and_closed_events_move),
        cmocka_unit_test(batches_are_short_and_far_between),
        cmocka_unit_test(events_in_use_are_passed_over),
        cmocka_unit_test(what_comes_back_is_what_went),
        cmocka_unit_test(an_event_that_the_table_has_again_stays_archived),
        cmocka_unit_test(purging_takes_what_is_kept_beside_the_event),
        cmocka_unit_test(a_partitioned_table_is_moved_row_by_row),
        cmocka_unit_test(no_event_is_lost_or_doubled_by_a_kill),
        cmocka_unit_test(a_job_that_is_stopped_says_how_far_it_came),
        cmocka_unit_test(consumers_write_meanwhile_and_two_archive_at_once),
        cmocka_unit_test(sums_stay_right),
        cmocka_unit_test(an_archive_of_somebody_else_is_not_used),
        cmocka_unit_test(rows_that_others_refer_to_stay),
        cmocka_unit_test_setup_teardown(only_those_who_decide_may_archive, begin_actors, end_actors),
    };
    return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
