// Alerts: when one fires and when it is over, whatever clocks, restarts and other watchers do; what people do
// about it; and notices that are sent at least once. What is measured comes from rows that the test wrote.
#include "world.h"

#include "store/watch/alerts.h"
#include "store/watch/measure.h"
#include "store/watch/notices.h"

// Events pending above 10, over at 5.
static struct alert_rule
a_rule(int64_t for_us)
{
    return (struct alert_rule){.name = "many",
                               .condition = ALERT_PENDING,
                               .limit = 10,
                               .clear = 5,
                               .for_us = for_us,
                               .severity = "warning",
                               .description = "look"};
}

static const struct alert_destination destinations[] = {
    {.name = "chat", .channel = CHANNEL_SLACK},
    {.name = "am", .channel = CHANNEL_ALERTMANAGER},
};

struct bench {
    struct world world;
    struct alert_rule rule;
    struct alert_plan plan;
};

static void
begin(struct bench *bench, int64_t for_us, size_t destination_count)
{
    *bench = (struct bench){.rule = a_rule(for_us)};
    world_make(&bench->world, 0);
    bench->plan = (struct alert_plan){.rules = &bench->rule,
                                      .rule_count = 1,
                                      .destinations = destinations,
                                      .destination_count = destination_count};
}

static struct watch_sums
sums_of(struct store *store, int64_t pending)
{
    struct watch_sums sums = {.pending.count = pending, .pending.oldest_at = TIME_ABSENT};
    sums.rollup.is_counted = sums.rollup.is_kept = true;
    assert_works(store_now(store, &sums.as_of, &err));
    return sums;
}

static void
evaluate_by(struct bench *bench, struct store *store, int64_t pending)
{
    struct watch_sums sums = sums_of(store, pending);
    assert_works(alerts_evaluate(store, &bench->plan, &sums, 0, &err));
}

static void
evaluate(struct bench *bench, int64_t pending)
{
    evaluate_by(bench, bench->world.store, pending);
}

// Everything that a watcher wrote down happened so much earlier.
static void
pass(struct bench *bench, const char *length)
{
    test_sql(
        bench->world.admin,
        "UPDATE redrive.alert_state SET as_of = as_of - interval '%s', turn_at = turn_at - interval '%s'",
        length, length);
    test_sql(
        bench->world.admin,
        "UPDATE redrive.alert_rule SET seen_at = seen_at - interval '%s', silenced_until = silenced_until - "
        "interval '%s'",
        length, length);
    test_sql(bench->world.admin, "UPDATE redrive.alert SET refreshed_at = refreshed_at - interval '%s'",
             length);
}

// The state of the only rule, as people see it.
static const char *
seen(struct bench *bench)
{
    struct alert_board board;
    assert_works(alerts_read(bench->world.store, &bench->world.arena, &board, &err));
    if (board.count != 1)
        return board.count ? "several" : "none";
    return alert_state_name(board.rows[0].state);
}

static void
test_for(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 90 * US_PER_SECOND, 0);
    assert_string_equal(seen(&bench), "none");
    evaluate(&bench, 10);
    assert_string_equal(seen(&bench), "inactive");
    evaluate(&bench, 11);
    assert_string_equal(seen(&bench), "pending");
    pass(&bench, "50 s");
    evaluate(&bench, 12);
    assert_string_equal(seen(&bench), "pending");

    // A single look below the threshold begins it again, even above the value at which a firing one is over.
    evaluate(&bench, 9);
    assert_string_equal(seen(&bench), "inactive");
    evaluate(&bench, 20);
    pass(&bench, "50 s");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "pending");
    pass(&bench, "50 s");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "firing");
    world_end(&bench.world);
}

static void
test_hysteresis(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 0, 0);
    evaluate(&bench, 11);
    assert_string_equal(seen(&bench), "firing");
    evaluate(&bench, 6);
    assert_string_equal(seen(&bench), "firing");
    evaluate(&bench, 5);
    assert_string_equal(seen(&bench), "inactive");
    evaluate(&bench, 6);
    assert_string_equal(seen(&bench), "inactive");

    bench.rule.is_below = true; // the other way round
    bench.rule.clear = 20;
    evaluate(&bench, 9);
    assert_string_equal(seen(&bench), "firing");
    evaluate(&bench, 19);
    assert_string_equal(seen(&bench), "firing");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "inactive");
    world_end(&bench.world);
}

// A day more, or a day less, on the server's clock: a minute counts, and nothing gets stuck.
static void
test_clock_jumps(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 90 * US_PER_SECOND, 0);
    evaluate(&bench, 20);
    pass(&bench, "1 day");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "pending");
    pass(&bench, "-1 day");
    test_sql(bench.world.admin, "UPDATE redrive.alert SET since = since + interval '1 day'");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "pending");
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.alert WHERE since > now()"),
                     0);
    pass(&bench, "50 s");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "firing");
    world_end(&bench.world);
}

static void
test_unknown_changes_nothing(void **state)
{
    struct bench bench;
    struct watch_sums sums;
    (void)state;
    begin(&bench, 0, 0);
    evaluate(&bench, 20);
    sums = sums_of(bench.world.store, 0);
    sums.rollup.is_kept = false;
    assert_works(alerts_evaluate(bench.world.store, &bench.plan, &sums, 0, &err));
    assert_string_equal(seen(&bench), "firing");

    // A rule that left the file: its alert ends when no watcher has had it for five minutes.
    bench.plan.rule_count = 0;
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "firing");
    pass(&bench, "6 min");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "none");
    world_end(&bench.world);
}

// --- notices ---

static struct notice_queue
queue_of(const char *holder)
{
    static const char *const names[] = {"chat", "am"};
    return (struct notice_queue){
        .holder = holder, .destinations = names, .count = 2, .lease = 30 * US_PER_SECOND};
}

// The next notice as "firing chat", "" for none.
static const char *
claim(struct bench *bench, struct store *store, const char *holder, struct alert_notice *notice)
{
    struct notice_queue queue = queue_of(holder);
    bool is_found;
    int64_t dropped;
    assert_works(notice_claim(store, &queue, &bench->world.arena, notice, &is_found, &dropped, &err));
    return is_found ? arena_printf(&bench->world.arena, "%s %s", notice->is_firing ? "firing" : "resolved",
                                   notice->destination)
                    : "";
}

static void
sent(struct bench *bench, const char *holder, const struct alert_notice *notice)
{
    struct notice_queue queue = queue_of(holder);
    assert_works(notice_sent(bench->world.store, &queue, notice->no, &err));
}

static int64_t
waiting(struct bench *bench)
{
    return test_number(bench->world.admin, "SELECT count(*) FROM redrive.alert_notice");
}

static void
test_two_watchers_tell_once(void **state)
{
    struct bench bench;
    struct alert_notice notice, other;
    (void)state;
    begin(&bench, 0, 1);
    struct store *second = open_store(bench.world.conninfo);

    // Within a turn only one measures; and what was measured before changes nothing.
    struct watch_sums sums = sums_of(bench.world.store, 20), none = sums_of(second, 0);
    assert_works(alerts_evaluate(bench.world.store, &bench.plan, &sums, 60 * US_PER_SECOND, &err));
    assert_works(alerts_evaluate(second, &bench.plan, &none, 60 * US_PER_SECOND, &err));
    assert_string_equal(seen(&bench), "firing");
    evaluate_by(&bench, second, 20);
    assert_works(alerts_evaluate(second, &bench.plan, &none, 0, &err));
    assert_string_equal(seen(&bench), "firing");
    assert_int_equal(waiting(&bench), 1);

    assert_string_equal(claim(&bench, bench.world.store, "one", &notice), "firing chat");
    assert_string_equal(claim(&bench, second, "two", &other), "");
    assert_string_equal(notice.rule, "many");
    assert_string_equal(notice.summary, "20 events are pending");
    assert_string_equal(notice.description, "look");
    sent(&bench, "one", &notice);
    assert_int_equal(waiting(&bench), 0);

    // Both are restarted: it fires still, and nobody is told twice.
    store_close(second);
    second = open_store(bench.world.conninfo);
    evaluate_by(&bench, second, 30);
    assert_int_equal(waiting(&bench), 0);
    evaluate_by(&bench, second, 0);
    assert_string_equal(claim(&bench, second, "two", &other), "resolved chat");
    assert_string_equal(other.fingerprint, notice.fingerprint);
    store_close(second);
    world_end(&bench.world);
}

// A watcher that died after its claim.
static void
test_lease_lapses(void **state)
{
    struct bench bench;
    struct alert_notice notice, again;
    (void)state;
    begin(&bench, 0, 1);
    evaluate(&bench, 20);
    evaluate(&bench, 0);
    assert_int_equal(waiting(&bench), 2); // that it fired is told, too, though it is over
    assert_string_equal(claim(&bench, bench.world.store, "dead", &notice), "firing chat");
    assert_string_equal(claim(&bench, bench.world.store, "two", &again),
                        ""); // not the second before the first
    test_sql(bench.world.admin,
             "UPDATE redrive.alert_notice SET lease_until = lease_until - interval '31 s'");
    assert_string_equal(claim(&bench, bench.world.store, "two", &again), "firing chat");
    assert_int_equal(again.no, notice.no);
    assert_string_equal(again.fingerprint, notice.fingerprint);
    sent(&bench, "dead", &notice); // too late: it is the other's
    assert_int_equal(waiting(&bench), 2);
    sent(&bench, "two", &again);
    assert_string_equal(claim(&bench, bench.world.store, "two", &again), "resolved chat");
    sent(&bench, "two", &again);
    assert_int_equal(waiting(&bench), 0);
    world_end(&bench.world);
}

static void
fail_once(struct bench *bench, const struct alert_notice *notice)
{
    struct notice_queue queue = queue_of("one");
    assert_works(notice_failed(bench->world.store, &queue, notice->no, "nobody listens", &err));
}

static void
test_failures_wait_longer(void **state)
{
    struct bench bench;
    struct alert_notice notice;
    struct alert_board board;
    (void)state;
    begin(&bench, 0, 1);
    evaluate(&bench, 20);
    for (int i = 0; i < 12; i++) {
        assert_string_equal(claim(&bench, bench.world.store, "one", &notice), "firing chat");
        fail_once(&bench, &notice);
        assert_string_equal(claim(&bench, bench.world.store, "one", &notice), "");
        double wait =
            strtod(test_text(bench.world.admin,
                             "SELECT extract(epoch FROM next_at - failed_at) FROM redrive.alert_destination"),
                   NULL);
        double most = i < 8 ? 1 << i : i == 8 ? 256 : 300;
        assert_true(wait <= most * 1.01 && wait >= most * 0.74);
        test_sql(bench.world.admin, "UPDATE redrive.alert_destination SET next_at = now()");
    }
    assert_works(alerts_read(bench.world.store, &bench.world.arena, &board, &err));
    assert_int_equal(board.delivery_count, 1);
    assert_string_equal(board.deliveries[0].error, "nobody listens");
    assert_int_equal(board.deliveries[0].waiting, 1);
    assert_string_equal(claim(&bench, bench.world.store, "one", &notice), "firing chat");
    sent(&bench, "one", &notice);
    assert_works(alerts_read(bench.world.store, &bench.world.arena, &board, &err));
    assert_null(board.deliveries[0].error);
    world_end(&bench.world);
}

static void
test_queue_is_bounded(void **state)
{
    struct bench bench;
    struct alert_board board;
    (void)state;
    begin(&bench, 0, 1);
    for (int i = 0; i < 502; i++) {
        evaluate(&bench, 20);
        evaluate(&bench, 0);
    }
    assert_int_equal(waiting(&bench), 1000);
    assert_works(alerts_read(bench.world.store, &bench.world.arena, &board, &err));
    assert_int_equal(board.deliveries[0].dropped, 4);
    world_end(&bench.world);
}

// Alertmanager forgets: it is told again every minute, not while an earlier notice waits, and when it is
// over.
static void
test_refreshing(void **state)
{
    struct bench bench;
    struct alert_notice notice;
    (void)state;
    begin(&bench, 0, 2);
    evaluate(&bench, 20);
    assert_int_equal(waiting(&bench), 2);
    pass(&bench, "61 s");
    evaluate(&bench, 20);
    assert_int_equal(waiting(&bench), 2);
    while (claim(&bench, bench.world.store, "one", &notice)[0])
        sent(&bench, "one", &notice);
    for (int i = 0; i < 2; i++) {
        evaluate(&bench, 20);
        assert_string_equal(claim(&bench, bench.world.store, "one", &notice), "firing am");
        sent(&bench, "one", &notice);
        evaluate(&bench, 20);
        assert_int_equal(waiting(&bench), 0);
        pass(&bench, "61 s");
    }
    test_sql(bench.world.admin, "UPDATE redrive.alert SET refreshed_at = now()");
    evaluate(&bench, 0);
    assert_int_equal(waiting(&bench), 2);
    world_end(&bench.world);
}

// --- people ---

static void
test_silence(void **state)
{
    struct bench bench;
    struct alert_notice notice;
    (void)state;
    begin(&bench, 0, 1);
    assert_refused(alert_silence(bench.world.store, "many", US_PER_SECOND, NULL, &err), ERR_NOT_FOUND,
                   "no alert");
    evaluate(&bench, 0);
    assert_works(alert_silence(bench.world.store, "many", 3600 * US_PER_SECOND, "deploy", &err));
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "silenced");
    assert_int_equal(waiting(&bench), 0);
    pass(&bench, "2 h");
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "firing");
    assert_string_equal(claim(&bench, bench.world.store, "one", &notice), "firing chat");
    sent(&bench, "one", &notice);

    // Silenced after it was told: that it is over is told all the same.
    assert_works(alert_silence(bench.world.store, "many", 3600 * US_PER_SECOND, NULL, &err));
    evaluate(&bench, 0);
    assert_string_equal(claim(&bench, bench.world.store, "one", &notice), "resolved chat");
    sent(&bench, "one", &notice);

    // One that nobody was told of leaves no trace.
    evaluate(&bench, 20);
    evaluate(&bench, 0);
    assert_int_equal(waiting(&bench), 0);
    assert_works(alert_silence(bench.world.store, "many", 0, NULL, &err));
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "firing");
    assert_string_equal(test_text(bench.world.admin,
                                  "SELECT string_agg(action, ' ' ORDER BY no) FROM redrive.audit "
                                  "WHERE action ~ 'silence'"),
                        "silence silence unsilence");
    world_end(&bench.world);
}

static void
test_acknowledge(void **state)
{
    struct bench bench;
    struct alert_board board;
    (void)state;
    begin(&bench, 0, 0);
    evaluate(&bench, 0);
    assert_refused(alert_acknowledge(bench.world.store, "many", NULL, &err), ERR_NOT_FOUND, "does not fire");
    evaluate(&bench, 20);
    assert_works(alerts_read(bench.world.store, &bench.world.arena, &board, &err));
    assert_int_equal(alert_board_firing(&board), 1);
    assert_works(alert_acknowledge(bench.world.store, "many", "rollback at 14:30", &err));
    assert_works(alerts_read(bench.world.store, &bench.world.arena, &board, &err));
    assert_int_equal(board.rows[0].state, ALERT_ACKNOWLEDGED);
    assert_string_equal(board.rows[0].acknowledgement.reason, "rollback at 14:30");
    assert_int_equal(alert_board_firing(&board), 0);
    evaluate(&bench, 0); // the next time is another matter
    evaluate(&bench, 20);
    assert_string_equal(seen(&bench), "firing");
    world_end(&bench.world);
}

// --- measuring ---

static struct measured
measure(struct bench *bench, const struct watch_sums *sums)
{
    struct measured measured;
    assert_works(measure_rule(bench->world.store, &bench->rule, sums, &bench->world.arena, &measured, &err));
    return measured;
}

#define NOW_2000 "(floor(extract(epoch FROM clock_timestamp()) - 946684800)::integer)"

static void
test_measures_windows(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 0, 0);
    struct watch_sums sums = sums_of(bench.world.store, 700);

    // 600 arrivals in the last five minutes; others are older.
    test_sql(bench.world.admin, "INSERT INTO redrive.trend_state (began, counted_from) SELECT 0, 0");
    test_sql(bench.world.admin,
             "INSERT INTO redrive.trend (step, at, arrived, pending) SELECT 'minute', " NOW_2000
             " / 60 * 60 - i * 60, CASE WHEN i IN (1, 2) THEN 300 WHEN i > 6 THEN 5000 ELSE 0 END,"
             " CASE WHEN i = 60 THEN 400 END FROM generate_series(0, 100) AS i");
    bench.rule.condition = ALERT_RATE;
    bench.rule.window = 300 * US_PER_SECOND;
    struct measured measured = measure(&bench, &sums);
    assert_int_equal(measured.count, 1);
    assert_true(measured.values[0].value >= 100 && measured.values[0].value <= 120);

    bench.rule.condition = ALERT_GROWTH;
    bench.rule.window = 3600 * US_PER_SECOND;
    measured = measure(&bench, &sums);
    assert_true(measured.values[0].value == 300);
    bench.rule.window = 2 * 3600 * US_PER_SECOND; // nobody looked then
    assert_false(measure(&bench, &sums).is_known);

    // Of two groups one had twelve arrivals within ten minutes.
    test_sql(bench.world.admin, "INSERT INTO redrive.rollup_group (key, error_class, pattern, sample) VALUES "
                                "(255, 'Timeout', '', '')");
    test_sql(bench.world.admin,
             "INSERT INTO redrive.rollup_series (group_key, event_type, source_table, topic)"
             " VALUES (255, 't', '', ''), (256, 't', '', '')");
    test_sql(bench.world.admin,
             "INSERT INTO redrive.rollup_bucket (series, bucket, n) SELECT no, " NOW_2000
             " / 10 - 3, CASE group_key WHEN 255 THEN 12 ELSE 2 END FROM redrive.rollup_series"
             " UNION ALL SELECT no, " NOW_2000 " / 10 - 100, 50 FROM redrive.rollup_series");
    bench.rule.condition = ALERT_GROUP;
    bench.rule.window = 600 * US_PER_SECOND;
    measured = measure(&bench, &sums);
    assert_int_equal(measured.count, 1);
    assert_true(measured.values[0].value == 12);
    assert_string_equal(measured.values[0].instance, "00000000000000ff");
    assert_string_equal(measured.values[0].of, "Timeout (00000000000000ff)");
    world_end(&bench.world);
}

static void
test_measures_operations(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, 0, 0);
    struct watch_sums sums = sums_of(bench.world.store, 0);
    struct watch_operations operations = {.action = "reprocess", .done = 150, .refused = 20, .returned = 40};
    struct watch_state_count waiting_state = {.state = "frozen", .count = 3, .due = 2};
    sums.operations = &operations;
    sums.operation_count = 1;
    sums.states = &waiting_state;
    sums.state_count = 1;
    bench.rule =
        (struct alert_rule){.condition = ALERT_SUCCESS, .window = 3600 * US_PER_SECOND, .at_least = 20};
    assert_false(measure(&bench, &sums).is_known); // no sample yet
    // Nobody has looked for a day: what happened since is not of the last hour.
    test_sql(bench.world.admin,
             "INSERT INTO redrive.alert_sample VALUES (" NOW_2000 " - 86400, 0, 0, 0, 0, 0)");
    assert_false(measure(&bench, &sums).is_known);
    test_sql(bench.world.admin,
             "INSERT INTO redrive.alert_sample VALUES (" NOW_2000 " - 7200, 0, 0, 0, 0, 0), (" NOW_2000
             " - 3700, 50, 10, 10, 0, 0), (" NOW_2000 " - 60, 140, 20, 40, 0, 0)");
    struct measured measured = measure(&bench, &sums); // 100 sent, 10 refused, 30 of them returned
    assert_true(measured.values[0].value > 63.6 && measured.values[0].value < 63.7);
    bench.rule.at_least = 200;
    assert_int_equal(measure(&bench, &sums).count, 0);
    bench.rule.condition = ALERT_REPROCESS_FAILURES;
    assert_true(measure(&bench, &sums).values[0].value == 40);
    bench.rule.condition = ALERT_PUBLISH_FAILURES;
    assert_true(measure(&bench, &sums).values[0].value == 10);
    bench.rule.condition = ALERT_NO_WORKER;
    assert_true(measure(&bench, &sums).values[0].value == 2);
    sums.publishing_workers = 1;
    assert_true(measure(&bench, &sums).values[0].value == 0);
    bench.rule.condition = ALERT_HALTED;
    assert_int_equal(measure(&bench, &sums).count, 0);
    add_events(bench.world.admin, 1);
    int64_t no = make_operation(&bench.world, bench.world.store, ACTION_REPROCESS, 1, 1);
    test_sql(bench.world.admin,
             "UPDATE redrive.operation SET state = 'halted', state_note = 'too many returned'");
    measured = measure(&bench, &sums);
    assert_int_equal(measured.count, 1);
    char words[100];
    (void)snprintf(words, sizeof words, "operation %d (reprocess) halted: too many returned", (int)no);
    assert_string_equal(measured.values[0].of, words);

    // Policies that halted, unless they are switched off; and those that leave what matches to people.
    test_sql(
        bench.world.admin,
        "INSERT INTO redrive.policy (name, action, definition, words, schedule, probe_after, is_enabled, "
        "seen_at, "
        "next_at, halted_at, halted_why, matched) SELECT n, a, '{}', '', '', '0', e, now(), now(), h, why, "
        "12 "
        "FROM (VALUES ('again', 'reprocess', true, now(), '30%% returned'), ('off', 'discard', false, "
        "now(), 'x'), ('look', 'manual_review', true, NULL, NULL), ('rest', 'alert', false, NULL, NULL)) v "
        "(n, a, e, h, why)");
    measured = measure(&bench, &sums);
    assert_int_equal(measured.count, 2);
    assert_string_equal(measured.values[1].of, "policy again halted: 30% returned");
    bench.rule.condition = ALERT_POLICY;
    measured = measure(&bench, &sums);
    assert_int_equal(measured.count, 1);
    assert_string_equal(measured.values[0].instance, "look");
    assert_true(measured.values[0].value == 12);
    world_end(&bench.world);
}

static void
test_measures_shares(void **state)
{
    struct bench bench;
    struct watch_group groups[] = {{.key = 1, .error_class = "A", .pending = 60}, {.key = 2, .pending = 40}};
    (void)state;
    begin(&bench, 0, 0);
    struct watch_sums sums = sums_of(bench.world.store, 100);
    sums.pending.groups = groups;
    sums.pending.group_count = 2;
    sums.pending.by_category[CATEGORY_DATA] = 70;
    bench.rule = (struct alert_rule){
        .condition = ALERT_SHARE, .part = PART_GROUP, .limit = 50, .clear = 45, .at_least = 100};
    struct measured measured = measure(&bench, &sums);
    assert_int_equal(measured.count, 1);
    assert_true(measured.values[0].value == 60);
    assert_string_equal(measured.values[0].of, "A (0000000000000001)");
    bench.rule.part = PART_CATEGORY;
    bench.rule.part_name = "data";
    assert_true(measure(&bench, &sums).values[0].value == 70);
    bench.rule.at_least = 101; // too few to say anything: not broken
    measured = measure(&bench, &sums);
    assert_true(measured.is_known && measured.count == 0);
    world_end(&bench.world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_for),
        cmocka_unit_test(test_hysteresis),
        cmocka_unit_test(test_clock_jumps),
        cmocka_unit_test(test_unknown_changes_nothing),
        cmocka_unit_test(test_two_watchers_tell_once),
        cmocka_unit_test(test_lease_lapses),
        cmocka_unit_test(test_failures_wait_longer),
        cmocka_unit_test(test_queue_is_bounded),
        cmocka_unit_test(test_refreshing),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_acknowledge),
        cmocka_unit_test(test_measures_windows),
        cmocka_unit_test(test_measures_operations),
        cmocka_unit_test(test_measures_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
