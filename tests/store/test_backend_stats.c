// The five analyses on the screen: those of the command, and in nobody's way.
#include "backend_world.h"

#include <math.h>

#include "rollup/analyses.h"
#include "rollup/reader.h"

static void
assert_same_errors(const struct stats *told, const struct stats *read)
{
    assert_int_equal(told->error_count, read->error_count);
    for (size_t i = 0; i < read->error_count; i++) {
        assert_string_equal(told->errors[i].message, read->errors[i].message);
        assert_int_equal(told->errors[i].group, read->errors[i].group);
        assert_int_equal(told->errors[i].count, read->errors[i].count);
        assert_int_equal(told->errors[i].first_at, read->errors[i].first_at);
        assert_int_equal(told->errors[i].last_at, read->errors[i].last_at);
    }
}

static void
assert_same_types(const struct stats *told, const struct stats *read)
{
    assert_int_equal(told->type_count, read->type_count);
    for (size_t i = 0; i < read->type_count; i++) {
        assert_string_equal(told->types[i].event_type, read->types[i].event_type);
        assert_int_equal(told->types[i].total, read->types[i].total);
        assert_int_equal(told->types[i].pending, read->types[i].pending);
        assert_int_equal(told->types[i].resolved, read->types[i].resolved);
    }
    assert_int_equal(told->resolution_count, read->resolution_count);
    for (size_t i = 0; i < read->resolution_count; i++) {
        assert_string_equal(told->resolutions[i].event_type, read->resolutions[i].event_type);
        assert_int_equal(told->resolutions[i].resolved, read->resolutions[i].resolved);
        assert_true(fabs(told->resolutions[i].mean_seconds - read->resolutions[i].mean_seconds) < 1e-6);
    }
}

// What the screen is told is what `redrive stats` reads by itself at that moment.
static void
assert_same_stats(struct bench *bench, const struct stats *told)
{
    struct rollup_state state;
    struct stats read;
    bool has_rollup = rollup_catch_up(&bench->settings.store, bench->world.store, &state);
    assert_int_equal(told->errors[0].group != 0, has_rollup);
    assert_works(analyses_read(bench->world.store, has_rollup, NULL, &bench->world.arena, &read, &err));
    assert_memory_equal(&told->pending, &read.pending, sizeof read.pending);
    assert_same_errors(told, &read);
    assert_int_equal(told->hour_count, read.hour_count);
    int64_t told_hours = 0;
    int64_t read_hours = 0;
    for (size_t i = 0; i < read.hour_count; i++) {
        told_hours += told->hours[i].count;
        read_hours += read.hours[i].count;
    }
    assert_int_equal(told_hours, read_hours);
    assert_same_types(told, &read);
}

static void
stats_are_those_of_the_command(void **state)
{
    (void)state;
    struct bench bench;
    for (int keeps = 0; keeps < 2; keeps++) {
        bench_prepare(&bench, 60);
        test_sql(bench.world.admin,
                 "UPDATE dlq_events SET error_message = 'no account ' || id %% 7, "
                 "event_type = CASE WHEN id %% 3 = 0 THEN 'order.updated' ELSE event_type END");
        test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = created_at + "
                                    "interval '90 seconds' WHERE id <= 10");
        test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'DISCARDED' WHERE id = 11");
        bench.settings.store.is_read_only = !keeps;
        bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
        bench_watch_groups(&bench);
        reply_destroy(bench_await_count(&bench, 49));
        struct reply *reply = bench_answer(&bench, request_create(REQUEST_STATS));
        assert_int_equal(reply->kind, REPLY_STATS);
        assert_int_equal(reply->figures.stats.pending.pending, 49);
        assert_int_equal(reply->figures.stats.pending.resolved, 10);
        assert_int_equal(reply->figures.stats.pending.discarded, 1);
        assert_int_equal(reply->figures.stats.errors[0].group != 0,
                         keeps); // by group out of the sums, else by message
        assert_same_stats(&bench, &reply->figures.stats);
        reply_destroy(reply);
        bench_end(&bench);
    }
}

// The same where closed events are read ahead, and where that fails.
static void
assert_same_ahead(struct bench *bench, const struct stats *read)
{
    struct store_settings settings = bench->settings.store;
    for (int fails = 0; fails < 2; fails++) {
        struct stats told;
        settings.conninfo = fails ? "host=/nowhere" : settings.conninfo;
        struct closed_ahead *ahead = closed_ahead_start(&settings);
        assert_works(analyses_read(bench->world.store, true, ahead, &bench->world.arena, &told, &err));
        assert_memory_equal(&told.pending, &read->pending, sizeof read->pending);
        for (size_t i = 0; i < read->hour_count; i++)
            assert_int_equal(told.hours[i].count, read->hours[i].count);
        assert_same_types(&told, read);
        closed_ahead_stop(ahead);
    }
    closed_ahead_stop(closed_ahead_start(&bench->settings.store)); // nobody takes it
}

// Pending events are counted out of the rollup and closed ones in the table: together they are what the table
// alone says.
static void
the_rollup_tells_what_the_table_does(void **state)
{
    (void)state;
    struct bench bench;
    struct rollup_state rollup;
    struct stats told, read;
    bench_prepare(&bench, 400);
    test_sql(bench.world.admin,
             "UPDATE dlq_events SET created_at = localtimestamp - id * interval '37.123 minutes',"
             " event_type = CASE id %% 4 WHEN 0 THEN 'order.updated' WHEN 1 THEN 'a' ELSE event_type END");
    test_sql(bench.world.admin, "UPDATE dlq_events SET created_at = NULL WHERE id IN (7, 8)");
    test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = created_at + "
                                "id * interval '1.5 seconds' WHERE id %% 5 = 0 OR id > 390 OR id < 3");
    test_sql(bench.world.admin, "UPDATE dlq_events SET resolved_at = NULL WHERE id = 10");
    test_sql(bench.world.admin, "UPDATE dlq_events SET event_type = 'closed only' WHERE id IN (15, 20)");
    test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'DISCARDED' WHERE id IN (30, 35, 8)");
    test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'ARCHIVED' WHERE id IN (31, 36)");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(
        &bench, test_number(bench.world.admin, "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'")));
    // The backend keeps the sums: what changed last may still be on its way into them.
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND;
         !rollup_catch_up(&bench.settings.store, bench.world.store, &rollup);) {
        if (clock_mono() > until)
            fail_msg("the sums were not exact within 30 s");
        clock_sleep(20000);
    }
    assert_works(analyses_read(bench.world.store, true, NULL, &bench.world.arena, &told, &err));
    assert_works(stats_read(bench.world.store, true, &bench.world.arena, &read, &err));
    assert_memory_equal(&told.pending, &read.pending, sizeof read.pending);
    assert_int_equal(told.hour_count, 168);
    assert_int_equal(read.hour_count, 168);
    for (size_t i = 0; i < 168; i++) {
        assert_int_equal(told.hours[i].hour, read.hours[i].hour);
        assert_int_equal(told.hours[i].count, read.hours[i].count);
    }
    assert_same_types(&told, &read);
    assert_int_equal(told.type_count, 4);
    assert_same_ahead(&bench, &read);
    bench_end(&bench);
}

// Sums that somebody keeps are right in a moment, and worth it: messages alone would tell less.
static void
sums_that_are_near_are_waited_for(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 40);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 40));
    test_sql(bench.world.admin, "UPDATE redrive.rollup_state SET exact_at = exact_at - interval '1 hour'");
    struct reply *reply = bench_answer(&bench, request_create(REQUEST_STATS));
    assert_int_equal(reply->kind, REPLY_STATS);
    assert_int_not_equal(reply->figures.stats.errors[0].group, 0);
    reply_destroy(reply);
    bench_end(&bench);
}

static void
await_blocked_count(struct bench *bench)
{
    int64_t until = clock_mono() + PATIENCE;
    while (test_number(bench->world.admin, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = "
                                           "'Lock' AND query LIKE 'WITH %'") == 0) {
        assert_true(clock_mono() < until);
        clock_sleep(10000);
    }
}

// The count waits for a lock that nobody gives; meanwhile the reader is_answer, and the count can be stopped.
static void
a_count_of_stats_is_in_nobodys_way(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 20);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 20));
    struct request *request = request_create(REQUEST_STATS);
    PGconn *locker = test_connect(bench.world.conninfo);
    test_sql(locker, "BEGIN; LOCK TABLE dlq_events IN ACCESS EXCLUSIVE MODE");
    uint64_t number = bench_ask(&bench, request);
    await_blocked_count(&bench);
    struct reply *reply = bench_answer(&bench, request_create(REQUEST_AUDIT));
    assert_int_equal(reply->kind, REPLY_AUDIT);
    reply_destroy(reply);

    request = request_create(REQUEST_CANCEL);
    request->target = number;
    int64_t asked_at = clock_mono();
    bench_ask(&bench, request);
    reply = bench_await(&bench, is_answer, &number);
    assert_true(clock_mono() - asked_at < 2 * US_PER_SECOND); // not by lock_timeout, after 3 s
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.kind, ERR_CANCELLED);
    assert_non_null(strstr(reply->err.text, "r count again"));
    reply_destroy(reply);
    PQfinish(locker);
    reply = bench_answer(&bench, request_create(REQUEST_STATS));
    assert_int_equal(reply->figures.stats.pending.pending, 20);
    reply_destroy(reply);
    bench_end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_are_those_of_the_command),
        cmocka_unit_test(the_rollup_tells_what_the_table_does),
        cmocka_unit_test(sums_that_are_near_are_waited_for),
        cmocka_unit_test(a_count_of_stats_is_in_nobodys_way),
    };
    return cmocka_run_group_tests_name("backend stats", tests, NULL, NULL);
}
