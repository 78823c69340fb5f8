// The trend against a second calculation: what arrived and what left, whoever wrote it down and whenever it
// was seen.
#include "world.h"

#include "base/uuid.h"
#include "rollup/maintainer.h"
#include "store/rollup/rollup.h"
#include "store/rollup/trend.h"

static const int64_t PATIENCE = 120 * US_PER_SECOND;

struct bench {
    struct world world;
    PGconn *admin; // of world
    struct maintainer *maintainer;
};

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

// What the maintainer does by itself every few seconds, now, until nothing is left to do.
static void
take(struct bench *bench, const char *name, int64_t pending)
{
    struct rollup_lease lease;
    assert_works(rollup_acquire(bench->world.store, name, &lease, &err));
    assert_true(lease.is_mine);
    for (bool is_done = false; !is_done;)
        assert_works(rollup_take_trend(bench->world.store, name, pending, &is_done, &err));
    assert_works(rollup_release(bench->world.store, name, &err));
}

// Everything seen, with a maintainer that gives way to the next one.
static void
settle(struct bench *bench)
{
    keep_until_exact(bench->maintainer);
    maintainer_destroy(bench->maintainer);
    take(bench, "settling", TREND_UNKNOWN);
    bench->maintainer = maintainer_create(&bench->world.settings);
}

static void
begin(struct bench *bench, int events)
{
    *bench = (struct bench){0};
    world_make_with_rules(&bench->world, events);
    bench->admin = bench->world.admin;
    bench->maintainer = maintainer_create(&bench->world.settings);
}

static void
end(struct bench *bench)
{
    maintainer_destroy(bench->maintainer);
    world_end(&bench->world);
}

static int64_t
sum_of(struct bench *bench, const char *column, const char *step)
{
    char sql[200];
    (void)snprintf(sql, sizeof sql, "SELECT coalesce(sum(%s), 0) FROM redrive.trend WHERE step = '%s'",
                   column, step);
    return test_number(bench->admin, sql);
}

// The names of the columns, and what is the same in all: event_id and created_at follow.
#define ADD                                                                                                  \
    "INSERT INTO public.dlq_events (event_type, event_payload, status, error_message, event_id, "            \
    "created_at) SELECT 't', '{}', 'PENDING', 'lost', "

// A day of arrivals in waves, most of which were closed some minutes later.
static void
fill_a_day(PGconn *admin)
{
    test_sql(admin, ADD "'day-' || i, date_trunc('minute', now()) - interval '1 day' +"
                        " make_interval(secs => i * 43 + (i %% 7) * 11) FROM generate_series(1, 2000) AS i");
}

static void
close_by_minute(PGconn *admin)
{
    test_sql(admin,
             "UPDATE public.dlq_events SET status = CASE id %% 3 WHEN 0 THEN 'DISCARDED' ELSE 'RESOLVED' END,"
             " resolved_at = created_at + make_interval(mins => (id %% 90)::int) WHERE event_id LIKE 'day-%%'"
             " AND id %% 5 <> 0 AND created_at < now() - interval '2 hours'");
}

// How many of all minutes differ from a calculation of the table alone.
static int64_t
arrivals_that_differ(struct bench *bench)
{
    return test_number(
        bench->admin,
        "SELECT count(*) FROM (SELECT to_timestamp(t.at + 946684800) AT TIME ZONE "
        "current_setting('TimeZone') AS at,"
        " t.arrived FROM redrive.trend t WHERE t.step = 'minute' AND t.arrived > 0) a FULL JOIN (SELECT"
        " date_trunc('minute', created_at) AS at, count(*) AS n FROM public.dlq_events WHERE created_at > "
        "now() -"
        " interval '47 hours' GROUP BY 1) b ON a.at = b.at WHERE a.arrived IS DISTINCT FROM b.n");
}

static void
a_day_is_counted_as_sql_counts_it(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 0);
    settle(&bench); // from here on what leaves is counted
    test_sql(bench.admin,
             "UPDATE redrive.trend_state SET began = began - 100000, counted_from = counted_from - 100000");
    fill_a_day(bench.admin);
    settle(&bench);
    assert_int_equal(arrivals_that_differ(&bench), 0);
    close_by_minute(bench.admin);
    settle(&bench);
    assert_int_equal(arrivals_that_differ(&bench), 0);
    assert_int_equal(sum_of(&bench, "arrived", "minute"), 2000);
    assert_int_equal(sum_of(&bench, "arrived", "hour"), 2000);
    assert_int_equal(sum_of(&bench, "arrived", "day"), 2000);
    assert_int_equal(
        test_number(
            bench.admin,
            "SELECT count(*) FROM (SELECT to_timestamp(t.at + 946684800) AT TIME ZONE"
            " current_setting('TimeZone') AS at, t.resolved, t.discarded FROM redrive.trend t WHERE t.step ="
            " 'minute' AND t.resolved + t.discarded > 0) a FULL JOIN (SELECT date_trunc('minute', "
            "resolved_at)"
            " AS at, count(*) FILTER (WHERE status = 'RESOLVED') AS resolved, count(*) FILTER (WHERE status ="
            " 'DISCARDED') AS discarded FROM public.dlq_events WHERE resolved_at IS NOT NULL GROUP BY 1) b ON"
            " a.at = b.at WHERE (a.resolved, a.discarded) IS DISTINCT FROM (b.resolved, b.discarded)"),
        0);
    end(&bench);
}

// Several maintainers, one after another and at the same moment: each event once.
static void
two_maintainers_count_once(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 50);
    settle(&bench);
    assert_int_equal(sum_of(&bench, "arrived", "minute"), 50);
    take(&bench, "first", 50);
    take(&bench, "second", 50);
    assert_int_equal(sum_of(&bench, "arrived", "minute"), 50);
    assert_int_equal(sum_of(&bench, "arrived", "day"), 50);

    struct rollup_lease lease;
    bool is_done;
    assert_works(rollup_acquire(bench.world.store, "first", &lease, &err));
    assert_refused(rollup_take_trend(bench.world.store, "second", 50, &is_done, &err), ERR_CONFLICT,
                   "somebody else");
    assert_works(rollup_release(bench.world.store, "first", &err));
    end(&bench);
}

// An event that came and went between two looks is in both counts.
static void
what_came_and_went_is_counted(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 10);
    settle(&bench);
    test_sql(bench.admin, ADD "'quick-' || i, now() FROM generate_series(1, 4) AS i;"
                              "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE"
                              " event_id LIKE 'quick-%%'");
    settle(&bench);
    settle(&bench);
    assert_int_equal(sum_of(&bench, "arrived", "minute"), 14);
    assert_int_equal(sum_of(&bench, "resolved", "minute"), 4);
    end(&bench);
}

// A row that is committed long after its time gets into its own minute, once.
static void
a_late_row_counts_in_its_minute(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 10);
    settle(&bench);
    test_sql(bench.admin, ADD "'late-1', date_trunc('minute', now()) - interval '3 hours'");
    settle(&bench);
    settle(&bench);
    assert_int_equal(
        test_number(bench.admin,
                    "SELECT arrived FROM redrive.trend WHERE step = 'minute' AND at = extract(epoch FROM"
                    " date_trunc('minute', now()) - interval '3 hours')::int - 946684800"),
        1);
    assert_int_equal(sum_of(&bench, "arrived", "minute"), 11);
    end(&bench);
}

// Rows that retention deletes stay counted; those that were pending have left.
static void
deleted_rows_stay_counted(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 20);
    settle(&bench);
    test_sql(bench.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE id <= 5");
    settle(&bench);
    test_sql(bench.admin, "DELETE FROM public.dlq_events WHERE id <= 8");
    settle(&bench);
    settle(&bench);
    assert_int_equal(sum_of(&bench, "arrived", "minute"), 20);
    assert_int_equal(sum_of(&bench, "resolved", "minute"), 5);
    assert_int_equal(sum_of(&bench, "gone", "minute"), 3);
    end(&bench);
}

static void
read_trend(struct bench *bench, enum trend_span span, struct trend *trend)
{
    assert_works(trend_read(bench->world.store, span, &bench->world.arena, trend, &err));
}

// Time that nobody looked at is a gap, not zero. Where somebody looked, nothing pending is zero.
static void
a_gap_is_a_gap(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 0);
    settle(&bench);
    take(&bench, "looking", 0);
    struct trend trend;
    read_trend(&bench, TREND_15_MINUTES, &trend);
    assert_int_equal(trend.count, 15);
    assert_int_equal(trend.points[14].pending, 0);
    assert_true(trend.points[0].pending < 0);
    assert_true(trend.points[7].pending < 0);
    read_trend(&bench, TREND_7_DAYS, &trend);
    assert_int_equal(trend.count, 168);
    assert_int_equal(trend.points[167].pending, 0);
    assert_true(trend.points[166].pending < 0);
    end(&bench);
}

// A clock that was ahead and is right again loses nothing: arrivals before counted_from still count, once.
static void
a_clock_that_jumps_back_counts_once(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 10);
    settle(&bench);
    test_sql(bench.admin, "UPDATE redrive.trend_state SET counted_from = counted_from + 86400");
    add_events(bench.admin, 7);
    settle(&bench);
    settle(&bench);
    assert_int_equal(sum_of(&bench, "arrived", "minute"), 17);
    test_sql(bench.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE id <= 5");
    settle(&bench);
    assert_int_equal(sum_of(&bench, "resolved", "minute"), 5);
    end(&bench);
}

// Each step forgets what is older than it is kept.
static void
old_steps_are_forgotten(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 5);
    settle(&bench);
    test_sql(bench.admin,
             "INSERT INTO redrive.trend (step, at, arrived) SELECT s, extract(epoch FROM now())::int -"
             " 946684800 - d * 86400, 1 FROM (VALUES ('minute', 1), ('minute', 3), ('hour', 3),"
             " ('hour', 91), ('day', 91), ('day', 1900)) AS v (s, d);"
             "UPDATE redrive.trend_state SET counted_from = counted_from - 300");
    take(&bench, "looking", TREND_UNKNOWN);
    char kept[200];
    (void)snprintf(kept, sizeof kept, "%s",
                   test_text(bench.admin,
                             "SELECT string_agg(step, ',' ORDER BY step) FROM redrive.trend WHERE at <"
                             " extract(epoch FROM now())::int - 946684800 - 80000 AND arrived = 1"));
    assert_string_equal(kept, "day,hour,minute");
    end(&bench);
}

// Marks of people and operations stand on the same axis.
static void
marks_are_read_in_order(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 10);
    assert_works(trend_set_mark(bench.world.store, "deploy 1.8", &err));
    (void)make_operation(&bench.world, bench.world.store, ACTION_DISCARD, 1, 4);
    struct trend trend;
    read_trend(&bench, TREND_6_HOURS, &trend);
    assert_int_equal(trend.mark_count, 2);
    assert_string_equal(trend.marks[0].text, "deploy 1.8");
    assert_int_equal(trend.marks[0].operation, 0);
    assert_string_equal(trend.marks[1].text, "discard 4");
    assert_true(trend.marks[1].operation > 0);
    assert_refused(trend_set_mark(bench.world.store, "  ", &err), ERR_USAGE, "a mark has some text");
    assert_int_equal(test_number(bench.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'mark'"), 1);
    end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_is_counted_as_sql_counts_it),
        cmocka_unit_test(two_maintainers_count_once),
        cmocka_unit_test(what_came_and_went_is_counted),
        cmocka_unit_test(a_late_row_counts_in_its_minute),
        cmocka_unit_test(deleted_rows_stay_counted),
        cmocka_unit_test(a_gap_is_a_gap),
        cmocka_unit_test(a_clock_that_jumps_back_counts_once),
        cmocka_unit_test(old_steps_are_forgotten),
        cmocka_unit_test(marks_are_read_in_order),
    };
    return cmocka_run_group_tests_name("trend", tests, NULL, NULL);
}
