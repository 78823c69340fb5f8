// The calls of a maintainer of the rollup, one by one: a fault that one look misses another one repairs a
// second later, so the end result would hide it.
#include "world.h"

#include "base/uuid.h"
#include "rollup/maintainer.h"
#include "store/events/texts.h"
#include "store/rollup/rollup.h"

struct bench {
    struct world world;
    struct store *store; // of world
    struct rollup_series *series;
    struct rollup_batch batch;
    char name[UUID_SIZE];
};

static const int64_t PATIENCE = 120 * US_PER_SECOND;

static void
keep_until_exact(struct maintainer *maintainer)
{
    int64_t until = clock_mono() + PATIENCE;
    while (!maintainer_is_exact(maintainer)) {
        int64_t wait = maintainer_step(maintainer);
        assert_true(clock_mono() < until);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
}

static struct rollup_lease
claim(struct bench *bench, const char *name, bool wanted)
{
    struct rollup_lease claimed;
    assert_works(rollup_acquire(bench->store, name, &claimed, &err));
    assert_int_equal(claimed.is_mine, wanted);
    return claimed;
}

static void
prepare(struct bench *bench, int events)
{
    *bench = (struct bench){0};
    world_make_with_rules(&bench->world, events);
    bench->store = bench->world.store;
    bench->series = rollup_series_create();
    uuid_make(bench->name);
}

// A rollup that agrees with the table. From here on the test itself is the maintainer.
static void
count_all(struct bench *bench)
{
    struct maintainer *maintainer = maintainer_create(&bench->world.settings);
    keep_until_exact(maintainer);
    maintainer_destroy(maintainer);
    claim(bench, bench->name, true);
}

static void
begin(struct bench *bench, int events)
{
    prepare(bench, events);
    count_all(bench);
}

static void
end(struct bench *bench)
{
    rollup_batch_release(&bench->batch);
    rollup_series_destroy(bench->series);
    world_end(&bench->world);
}

static void
assert_check(struct bench *bench, int64_t pending, int64_t ahead, int64_t difference)
{
    struct rollup_check check;
    assert_works(rollup_check(bench->store, bench->name, &check, &err));
    assert_int_equal(check.pending, pending);
    assert_int_equal(check.ahead, ahead);
    assert_int_equal(check.difference, difference);
}

static void
apply(struct bench *bench, enum operation_action action, int64_t first, int64_t last)
{
    int64_t no = make_operation(&bench->world, bench->store, action, first, last);
    int64_t applied, left = 1;
    while (left > 0)
        assert_works(work_apply(bench->store, no, 100, &applied, &left, &err));
}

static int64_t
counted(struct bench *bench)
{
    return test_number(bench->world.admin, "SELECT coalesce(sum(n), 0) FROM redrive.rollup_total");
}

// Changes of others are a difference. Arrivals and changes of redrive itself are not.
static void
a_difference_is_noticed(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 500);
    PGconn *admin = bench.world.admin;
    assert_check(&bench, 500, 0, 0);
    test_sql(admin, "UPDATE redrive.rollup_state SET exact_at = '2020-01-01'");
    test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id <= 3");
    assert_check(&bench, 497, 0, -3);
    add_events(admin, 7);
    assert_check(&bench, 504, 7, -3);
    apply(&bench, ACTION_DISCARD, 101, 120);
    assert_check(&bench, 484, 7, -3);
    test_sql(admin, "DELETE FROM public.dlq_events WHERE id = 4");
    assert_check(&bench, 483, 7, -4);
    assert_int_equal(test_number(admin, "SELECT behind FROM redrive.rollup_state"), 11);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.rollup_state WHERE exact_at > "
                                        "'2020-01-02'"),
                     0);

    struct rollup_missing missing;
    assert_works(rollup_compare(bench.store, bench.name, 500, 1000, &missing, &err));
    assert_int_equal(missing.gone, 24); // those of the operation, too
    assert_int_equal(missing.count, 0);
    assert_check(&bench, 483, 7, 0);
    test_sql(admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id = 2");
    assert_check(&bench, 484, 7, 1);
    end(&bench);
}

static int64_t
counted_changes(struct bench *bench)
{
    int64_t changes;
    tell_statistics(bench->world.admin);
    assert_works(store_change_count(bench->store, &changes, &err));
    return changes;
}

static void
assert_written(struct bench *bench, enum rollup_compared wanted, int64_t gone, size_t count)
{
    enum rollup_compared result;
    struct rollup_missing missing;
    assert_works(rollup_compare_written(bench->store, bench->name, 1000, counted_changes(bench), &result,
                                        &missing, &err));
    assert_int_equal(result, wanted);
    assert_int_equal(missing.gone, gone);
    assert_int_equal(missing.count, count);
    const struct rollup_range range = {
        .ids = missing.ids, .versions = missing.versions, .id_count = missing.count};
    if (count > 0) {
        assert_works(rollup_gather(bench->store, bench->name, bench->series, &range, &bench->batch, &err));
        assert_works(rollup_add(bench->store, bench->name, &bench->batch, INT64_MIN, &err));
    }
    rollup_missing_release(&missing);
}

// One look finds what was written, wherever it is and whatever cancels out in the count of pending events.
static void
what_was_written_is_compared_alone(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 500);
    PGconn *admin = bench.world.admin;
    test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id BETWEEN 11 AND 15");
    assert_written(&bench, COMPARED_SOME, 5, 0);
    assert_written(&bench, COMPARED_ALL, 0, 0);
    assert_check(&bench, 495, 0, 0);

    test_sql(admin, "UPDATE redrive.rollup_state SET uncompared = 500");
    test_sql(admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id BETWEEN 11 AND 15;"
                    "UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id BETWEEN 401 AND 405;"
                    "UPDATE public.dlq_events SET retry_count = 7 WHERE id = 300");
    assert_written(&bench, COMPARED_SOME, 5, 6);
    assert_written(&bench, COMPARED_ALL, 0, 0);
    assert_true(test_number(admin, "SELECT uncompared FROM redrive.rollup_state") == ROLLUP_END);
    assert_int_equal(test_number(admin, "SELECT sum(n) FROM redrive.rollup_total WHERE retries = 7"), 1);

    // Deleted events have no row that could be found: the count tells them, which a reopened one does not
    // hide.
    test_sql(admin, "DELETE FROM public.dlq_events WHERE id IN (20, 21);"
                    "UPDATE public.dlq_events SET status = 'PENDING' WHERE id IN (401, 402)");
    assert_check(&bench, 495, 0, 0);
    assert_written(&bench, COMPARED_SOME, 0, 2);
    assert_written(&bench, COMPARED_ALL, 0, 0);
    assert_check(&bench, 495, 0, -2);

    // An open transaction hides what it wrote; the next look begins before it.
    PGconn *other = test_connect(bench.world.conninfo);
    test_sql(other, "BEGIN; UPDATE public.dlq_events SET retry_count = 9 WHERE id = 301");
    test_sql(admin, "UPDATE redrive.rollup_state SET compared_changes = NULL, texts_changes = NULL");
    assert_written(&bench, COMPARED_ALL, 0, 0);
    test_sql(other, "COMMIT");
    tell_statistics(other);
    PQfinish(other);
    assert_written(&bench, COMPARED_SOME, 0, 1);

    test_sql(admin, "UPDATE redrive.rollup_state SET compared_floor = NULL, texts_floor = NULL");
    assert_written(&bench, COMPARED_NOT, 0, 0);
    end(&bench);
}

// A table that nobody wrote to but with arrivals is not read, however long nobody looked. What the statistics
// tell late is found later.
static void
an_untouched_table_is_not_read(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 300);
    PGconn *admin = bench.world.admin;
    if (PQserverVersion(admin) < 150000) {
        end(&bench);
        skip();
    }
    test_sql(admin, "UPDATE redrive.rollup_state SET compared_changes = NULL, texts_changes = NULL");
    assert_written(&bench, COMPARED_ALL, 0, 0);
    test_sql(admin, "UPDATE redrive.rollup_state SET uncompared = 300");
    add_events(admin, 20);
    assert_written(&bench, COMPARED_NOTHING, 0, 0);
    assert_true(test_number(admin, "SELECT uncompared FROM redrive.rollup_state") == ROLLUP_END);
    assert_check(&bench, 320, 20, 0);

    PGconn *other = test_connect(bench.world.conninfo);
    test_sql(other, "UPDATE public.dlq_events SET retry_count = 1 WHERE id = 1");
    test_sql(other, "UPDATE public.dlq_events SET retry_count = 9 WHERE id = 301");
    tell_statistics(other);
    PQfinish(other);
    assert_written(&bench, COMPARED_SOME, 0, 1);
    assert_written(&bench, COMPARED_ALL, 0, 0);
    assert_written(&bench, COMPARED_NOTHING, 0, 0);

    end(&bench);
}

// From here on comparing finds nothing, so that it cannot repair, and hide, a fault.
static void
blind(struct bench *bench)
{
    test_sql(
        bench->world.admin,
        "CREATE OR REPLACE FUNCTION redrive.rollup_compare(p_maintainer text, p_upto bigint, p_rows bigint,"
        " OUT until bigint, OUT gone bigint, OUT missing bigint[], OUT versions xid[]) LANGUAGE sql AS"
        " 'SELECT 0::bigint, 0::bigint, NULL::bigint[], NULL::xid[]';"
        "CREATE OR REPLACE FUNCTION redrive.rollup_compare_written(p_maintainer text, p_rows bigint, "
        "p_changes bigint,"
        " OUT is_done boolean, OUT is_read boolean, OUT gone bigint, OUT missing bigint[], OUT versions "
        "xid[])"
        " LANGUAGE sql AS 'SELECT NULL::boolean, true, 0::bigint, NULL::bigint[], NULL::xid[]'");
}

// A maintainer does not say "exact" on a check that found a difference.
static void
a_maintainer_says_exact_when_it_is(void **state)
{
    (void)state;
    struct bench bench;
    prepare(&bench, 300);
    PGconn *admin = bench.world.admin;
    struct maintainer *maintainer = maintainer_create(&bench.world.settings);
    keep_until_exact(maintainer);
    blind(&bench);
    test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id = 7");
    test_sql(admin, "UPDATE redrive.rollup_state SET checked_at = NULL");
    int64_t until = clock_mono() + PATIENCE;
    while (test_number(admin, "SELECT count(*) FROM redrive.rollup_state WHERE checked_at IS NULL")) {
        assert_true(clock_mono() < until);
        int64_t wait = maintainer_step(maintainer);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
    assert_false(maintainer_is_exact(maintainer));
    test_sql(admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id = 7");
    keep_until_exact(maintainer);
    maintainer_destroy(maintainer);
    end(&bench);
}

// Every call that writes fails without the lease.
static void
assert_refuses(struct bench *bench, const char *name)
{
    struct rollup_range range = {.before_id = 1, .limit = 10};
    struct rollup_missing missing;
    struct rollup_check check;
    int64_t n;
    int32_t cell = 0;
    assert_refused(rollup_check(bench->store, name, &check, &err), ERR_CONFLICT, "somebody else");
    assert_refused(rollup_drain(bench->store, name, &missing, &n, &err), ERR_CONFLICT, "somebody else");
    assert_refused(rollup_compare(bench->store, name, 100, 10, &missing, &err), ERR_CONFLICT,
                   "somebody else");
    assert_refused(rollup_add(bench->store, name, &bench->batch, 1, &err), ERR_CONFLICT, "somebody else");
    assert_refused(rollup_load(bench->store, name, &bench->batch, 0, 0, 0, &err), ERR_CONFLICT,
                   "somebody else");
    assert_refused(rollup_move_batch(bench->store, name, &n, &err), ERR_CONFLICT, "somebody else");
    assert_refused(rollup_recount(bench->store, name, 10, &cell, &n, &err), ERR_CONFLICT, "somebody else");
    assert_refused(rollup_fold(bench->store, name, 0, &err), ERR_CONFLICT, "somebody else");
    assert_refused(
        rollup_prune(bench->store, name, bench->series, &(struct rollup_pruning){.rows = 10}, &err),
        ERR_CONFLICT, "somebody else");
    test_sql(bench->world.admin, "UPDATE public.dlq_events SET event_type = 'of nobody yet' WHERE id = 1");
    assert_refused(rollup_gather(bench->store, name, bench->series, &range, &bench->batch, &err),
                   ERR_CONFLICT, "somebody else");
}

static void
one_maintainer_at_a_time(void **state)
{
    (void)state;
    struct bench bench;
    char other[UUID_SIZE];
    begin(&bench, 50);
    uuid_make(other);
    claim(&bench, other, false);
    claim(&bench, bench.name, true); // its own again and again
    assert_refuses(&bench, other);
    assert_check(&bench, 50, 0, 0);

    // A lease that ran out is the next maintainer's; each call of its holder extends it.
    test_sql(bench.world.admin, "UPDATE redrive.rollup_state SET lease_until = now()");
    assert_check(&bench, 50, 0, 0);
    claim(&bench, other, false);
    test_sql(bench.world.admin, "UPDATE redrive.rollup_state SET lease_until = now()");
    claim(&bench, other, true);
    claim(&bench, bench.name, false);
    assert_refuses(&bench, bench.name);
    end(&bench);
}

static void
gather_these(struct bench *bench, const int64_t *ids, const int32_t *versions, size_t count)
{
    struct rollup_range range = {.ids = ids, .versions = versions, .id_count = count};
    assert_works(rollup_gather(bench->store, bench->name, bench->series, &range, &bench->batch, &err));
}

// A batch that is counted again, by the same maintainer or the next one, changes nothing.
static void
an_event_counted_twice_counts_once(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 100);
    const int64_t ids[] = {99, 100, 101, 102};
    const int32_t versions[] = {7, 7, 7, 7};
    add_events(bench.world.admin, 2);
    for (int i = 0; i < 2; i++) {
        gather_these(&bench, ids, versions, 4);
        assert_int_equal(bench.batch.count, 4);
        assert_works(rollup_add(bench.store, bench.name, &bench.batch, 102, &err));
        assert_int_equal(counted(&bench), 102);
    }
    assert_int_equal(test_number(bench.world.admin, "SELECT sum(n) FROM redrive.rollup_hour"), 102);
    assert_refused(rollup_load(bench.store, bench.name, &bench.batch, 200, 100, 0, &err), ERR_CONFLICT,
                   "loaded down to -9223372036854775808");
    end(&bench);
}

// An event that is set back to pending, by redrive or by others, is missing until it is counted once more.
static void
a_reopened_event_is_counted_again(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 100);
    struct rollup_missing missing;
    int64_t looked_at;
    apply(&bench, ACTION_DISCARD, 11, 20);
    assert_works(rollup_drain(bench.store, bench.name, &missing, &looked_at, &err));
    assert_true(looked_at > 0 && missing.count == 0);
    assert_int_equal(counted(&bench), 90);
    apply(&bench, ACTION_RESTORE, 11, 20);
    assert_check(&bench, 100, 10, 0);
    assert_works(rollup_drain(bench.store, bench.name, &missing, &looked_at, &err));
    assert_int_equal(missing.count, 10);
    gather_these(&bench, missing.ids, missing.versions, missing.count);
    rollup_missing_release(&missing);
    assert_works(rollup_add(bench.store, bench.name, &bench.batch, INT64_MIN, &err));
    assert_int_equal(counted(&bench), 100);
    assert_works(rollup_drain(bench.store, bench.name, &missing, &looked_at, &err));
    assert_int_equal(looked_at, 0);

    test_sql(bench.world.admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id = 50");
    assert_works(rollup_compare(bench.store, bench.name, 100, 1000, &missing, &err));
    assert_true(missing.gone == 1 && missing.count == 0);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id = 50");
    assert_works(rollup_compare(bench.store, bench.name, 100, 1000, &missing, &err));
    assert_true(missing.gone == 0 && missing.count == 1 && missing.ids[0] == 50);
    rollup_missing_release(&missing);
    end(&bench);
}

static void
compare_down_to(struct bench *bench, int64_t upto, size_t rows, int64_t wanted)
{
    struct rollup_missing missing;
    assert_works(rollup_compare(bench->store, bench->name, upto, rows, &missing, &err));
    assert_int_equal(missing.until, wanted);
    assert_int_equal(missing.count, 0);
}

// After a time without a maintainer all events are compared before the rollup is exact. A maintainer that
// takes over in the middle continues.
static void
a_time_without_maintainer_is_compared(void **state)
{
    (void)state;
    struct bench bench;
    char next[UUID_SIZE];
    uuid_make(next);
    begin(&bench, 500);
    PGconn *admin = bench.world.admin;
    assert_int_equal(claim(&bench, bench.name, true).uncompared == ROLLUP_END, 1);
    assert_check(&bench, 500, 0, 0);
    test_sql(admin, "UPDATE redrive.rollup_state SET lease_until = now() - interval '1 h'");
    assert_int_equal(claim(&bench, bench.name, true).uncompared, 500);
    static const char exact[] = "SELECT count(*) FROM redrive.rollup_state WHERE exact_at IS NOT NULL";
    assert_check(&bench, 500, 0, 0);
    assert_int_equal(test_number(admin, exact), 0);

    compare_down_to(&bench, 300, 100, 200); // leaves what lies above
    assert_int_equal(claim(&bench, bench.name, true).uncompared, 500);
    compare_down_to(&bench, 500, 100, 400);
    assert_works(rollup_release(bench.store, bench.name, &err));
    memcpy(bench.name, next, sizeof next);
    assert_int_equal(claim(&bench, next, true).uncompared, 400);
    assert_check(&bench, 500, 0, 0);
    assert_int_equal(test_number(admin, exact), 0);
    compare_down_to(&bench, 450, 1000, ROLLUP_END);
    assert_int_equal(claim(&bench, next, true).uncompared == ROLLUP_END, 1);
    assert_check(&bench, 500, 0, 0);
    assert_int_equal(test_number(admin, exact), 1);
    end(&bench);
}

// One try: is a low id counted that commits after a higher one was counted?
static bool
is_late_one_seen(struct bench *bench, struct maintainer *maintainer)
{
    PGconn *late = test_connect(bench->world.conninfo);
    test_sql(late, "BEGIN; INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message)"
                   " VALUES ('late', 'late', '{}', 'late')");
    int64_t before = counted(bench);
    add_events(bench->world.admin, 1);
    int64_t until = clock_mono() + PATIENCE;
    for (; counted(bench) == before; maintainer_step(maintainer))
        assert_true(clock_mono() < until);
    test_sql(late, "COMMIT");
    PQfinish(late);
    until = clock_mono() + 3 * US_PER_SECOND;
    while (counted(bench) == before + 1 && clock_mono() < until)
        maintainer_step(maintainer);
    return counted(bench) == before + 2;
}

// Looking at arrivals goes back over the last two seconds: that does not take a comparison. A machine that is
// too slow for two seconds has another try.
static void
late_commits_are_seen_by_looking(void **state)
{
    (void)state;
    struct bench bench;
    prepare(&bench, 200);
    struct maintainer *maintainer = maintainer_create(&bench.world.settings);
    keep_until_exact(maintainer);
    blind(&bench);
    bool is_seen = false;
    for (int i = 0; !is_seen && i < 5; i++)
        is_seen = is_late_one_seen(&bench, maintainer);
    assert_true(is_seen);
    maintainer_destroy(maintainer);
    end(&bench);
}

// Without changes a maintainer looks some times a second, and returns how long nothing is due.
static void
an_idle_maintainer_rests(void **state)
{
    (void)state;
    struct bench bench;
    prepare(&bench, 200);
    struct maintainer *maintainer = maintainer_create(&bench.world.settings);
    keep_until_exact(maintainer);
    int64_t rested = 0;
    int steps = 0;
    for (int64_t until = clock_mono() + 2 * US_PER_SECOND; clock_mono() < until; steps++) {
        int64_t wait = maintainer_step(maintainer);
        assert_true(wait <= US_PER_SECOND);
        clock_sleep(wait);
        rested += wait;
    }
    assert_true(steps < 60);
    assert_true(rested > US_PER_SECOND / 5);
    assert_true(maintainer_is_exact(maintainer));
    maintainer_destroy(maintainer);
    end(&bench);
}

// One walk over all series, some at a time; how many were removed.
static int64_t
prune(struct bench *bench, int64_t idle_us)
{
    struct rollup_pruning pruning = {.rows = 3, .idle_us = idle_us};
    int64_t gone = 0;
    do {
        assert_works(rollup_prune(bench->store, bench->name, bench->series, &pruning, &err));
        gone += pruning.gone;
    } while (pruning.above);
    return gone;
}

static void
groups_without_events_are_forgotten(void **state)
{
    (void)state;
    static const int64_t hour = 3600 * US_PER_SECOND;
    struct bench bench;
    prepare(&bench, 50);
    PGconn *admin = bench.world.admin;
    test_sql(admin, "UPDATE public.dlq_events SET error_message = '', stack_trace = 'java.net.' || CASE id "
                    "WHEN 1 THEN 'First' ELSE chr(65 + id::int %% 7) END || 'Exception: x'");
    count_all(&bench);
    struct rollup_series *stale = rollup_series_create();
    const int64_t ids[] = {2, 3};
    const int32_t versions[] = {0, 0};
    const struct rollup_range range = {.ids = ids, .versions = versions, .id_count = 2};
    assert_works(rollup_gather(bench.store, bench.name, stale, &range, &bench.batch, &err));
    test_sql(admin, "UPDATE redrive.rollup_group SET known_at = '2026-01-02 03:04:05Z'");
    assert_int_equal(prune(&bench, 0) + prune(&bench, 0), 0); // all have events

    apply(&bench, ACTION_DISCARD, 2, 50);
    struct rollup_missing missing;
    assert_works(rollup_compare(bench.store, bench.name, 50, 1000, &missing, &err));
    rollup_missing_release(&missing);
    assert_int_equal(prune(&bench, hour) + prune(&bench, hour), 0); // not yet
    test_sql(admin, "UPDATE redrive.rollup_idle SET since = since - interval '2 hours'");
    assert_int_equal(prune(&bench, hour), 7);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.rollup_series"), 1);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.rollup_group"), 1);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.rollup_idle"), 0);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.rollup_outcome o WHERE since > "
                                        "'2026-01-03' AND NOT EXISTS (SELECT FROM "
                                        "redrive.rollup_group g WHERE g.key = o.group_key)"),
                     0);
    assert_int_equal(test_number(admin, "SELECT sum(n) FROM redrive.rollup_outcome"), 49);

    // A maintainer that remembers a removed series counts nothing under it.
    test_sql(admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id IN (2, 3)");
    assert_works(rollup_gather(bench.store, bench.name, stale, &range, &bench.batch, &err));
    assert_refused(rollup_add(bench.store, bench.name, &bench.batch, INT64_MIN, &err), ERR_CONFLICT,
                   "removed meanwhile");
    assert_works(rollup_gather(bench.store, bench.name, bench.series, &range, &bench.batch, &err));
    assert_works(rollup_add(bench.store, bench.name, &bench.batch, INT64_MIN, &err));
    assert_check(&bench, 3, 0, 0);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.rollup_event b JOIN "
                                        "redrive.rollup_series c ON c.no = b.series JOIN "
                                        "redrive.rollup_group g ON g.key = c.group_key"),
                     3);
    rollup_series_destroy(stale);
    end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_is_noticed),
        cmocka_unit_test(what_was_written_is_compared_alone),
        cmocka_unit_test(an_untouched_table_is_not_read),
        cmocka_unit_test(a_maintainer_says_exact_when_it_is),
        cmocka_unit_test(one_maintainer_at_a_time),
        cmocka_unit_test(an_event_counted_twice_counts_once),
        cmocka_unit_test(a_reopened_event_is_counted_again),
        cmocka_unit_test(a_time_without_maintainer_is_compared),
        cmocka_unit_test(late_commits_are_seen_by_looking),
        cmocka_unit_test(groups_without_events_are_forgotten),
        cmocka_unit_test(an_idle_maintainer_rests),
    };
    return cmocka_run_group_tests_name("maintainer", tests, NULL, NULL);
}
