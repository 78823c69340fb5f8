// A day of arrivals, replayed in steps of five minutes by moving the past: when each alert waits, fires and
// is over, and on how many events a policy acts, beside a second calculation in SQL that knows the arrivals
// only.
#include "world.h"

#include "store/watch/alerts.h"
#include "store/watch/policies.h"
#include "watch/policies.h"

enum { STEPS = 288, RESTS = 6, LIMIT = 9500 };
#define MINUTES(n) ((n)*60 * US_PER_SECOND)

static const struct alert_rule rules[] = {
    {.name = "rate",
     .condition = ALERT_RATE,
     .limit = 10,
     .clear = 8,
     .for_us = MINUTES(10),
     .window = MINUTES(5),
     .severity = "warning"},
    {.name = "surge",
     .condition = ALERT_RATE,
     .limit = 20,
     .clear = 20,
     .window = MINUTES(15),
     .severity = "critical"},
    {.name = "backlog",
     .condition = ALERT_PENDING,
     .limit = 400,
     .clear = 250,
     .for_us = MINUTES(15),
     .severity = "warning"},
};
enum { RULES = sizeof rules / sizeof *rules };

// Old events are discarded every quarter of an hour.
static const struct policy expiry = {.name = "expiry",
                                     .action = POLICY_DISCARD,
                                     .filter = "age:>30m",
                                     .words = "discard age:>30m",
                                     .schedule_text = "every 15m",
                                     .schedule = {.every = MINUTES(15)},
                                     .attempts = 3,
                                     .backoff = {.first = 1, .most = US_PER_SECOND, .factor = 2},
                                     .rate = RATE_UNLIMITED,
                                     .limit = LIMIT,
                                     .is_enabled = true};

struct replay {
    struct world world;
    int step;
};

// Calm, a surge that lasts, a short one, and one at the end of the day.
static const char day_sql[] =
    "CREATE TABLE public.day AS SELECT s AS step, CASE WHEN s BETWEEN 90 AND 125 THEN 120 WHEN s = 180 THEN "
    "300"
    " WHEN s IN (200, 201, 230) OR s > 280 THEN 120 ELSE 20 + s * 7919 %% 3 * 5 END AS arrived"
    " FROM generate_series(1, 288) AS s;"
    "CREATE TABLE public.seen_alert (step integer, rule text, state text);"
    "CREATE TABLE public.seen_run (step integer, acted bigint)";

// Everything that was written down happened five minutes earlier.
static void
pass(struct replay *replay)
{
    PGconn *admin = replay->world.admin;
    test_sql(admin, "UPDATE redrive.trend SET at = -at");
    test_sql(admin, "UPDATE redrive.trend SET at = -at - 300");
    test_sql(admin, "UPDATE redrive.alert_state SET as_of = as_of - interval '5 min', turn_at = turn_at - "
                    "interval '5 min'");
    test_sql(admin, "UPDATE redrive.alert_rule SET seen_at = seen_at - interval '5 min'");
    test_sql(admin, "UPDATE redrive.policy SET next_at = next_at - interval '5 min'");
    test_sql(admin, "UPDATE redrive.policy_run SET at = at - interval '5 min'");
}

// The arrivals of a step, and what a maintainer of the rollup writes down of them.
static void
arrive(struct replay *replay)
{
    test_sql(replay->world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at)"
             " SELECT 'e', 't', '{}', 'x', timestamp '2026-11-01' + %d * interval '5 min' FROM public.day, "
             "generate_series(1, arrived)"
             " WHERE step = %d",
             replay->step, replay->step);
    test_sql(replay->world.admin,
             "INSERT INTO redrive.trend (step, at, arrived, pending) SELECT 'minute', redrive._trend_now() / "
             "60 * 60 - 60 * m,"
             " d.arrived / 5, 0 FROM public.day d, generate_series(1, 5) AS m WHERE d.step = %d"
             " ON CONFLICT (step, at) DO UPDATE SET arrived = excluded.arrived",
             replay->step);
}

static void
evaluate(struct replay *replay)
{
    struct world *world = &replay->world;
    const struct alert_plan plan = {.rules = rules, .rule_count = RULES};
    struct watch_sums sums = {.pending.count = events_in(world, "PENDING"), .pending.oldest_at = TIME_ABSENT};
    sums.rollup.is_counted = sums.rollup.is_kept = true;
    assert_works(store_now(world->store, &sums.as_of, &err));
    assert_works(alerts_evaluate(world->store, &plan, &sums, MINUTES(5) - US_PER_SECOND, &err));
    test_sql(world->admin, "INSERT INTO public.seen_alert SELECT %d, rule, state FROM redrive.alert",
             replay->step);
}

static bool
choose_old(void *context, struct store *store, const struct policy *policy, int64_t **ids, size_t *count,
           struct err *err)
{
    struct replay *replay = context;
    (void)store;
    (void)policy;
    (void)err;
    PGresult *r =
        PQexec(replay->world.admin,
               arena_printf(&replay->world.arena,
                            "SELECT id FROM public.dlq_events WHERE status = 'PENDING' AND created_at <="
                            " timestamp '2026-11-01' + %d * interval '5 min' ORDER BY id",
                            replay->step - RESTS));
    assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    *count = (size_t)PQntuples(r);
    *ids = malloc((*count + 1) * sizeof **ids);
    for (size_t i = 0; i < *count; i++)
        (*ids)[i] = strtoll(PQgetvalue(r, (int)i, 0), NULL, 10);
    PQclear(r);
    return true;
}

static void
run(struct replay *replay)
{
    const struct policy_plan plan = {
        .policies = &expiry, .count = 1, .choose = choose_old, .context = replay};
    struct policy_run run;
    assert_works(policy_run_next(replay->world.store, &plan, "one", NULL, &run, &err));
    if (!run.policy)
        return;
    assert_false(run.halts);
    if (run.operation)
        apply_to_end(replay->world.store, run.operation, 1000);
    test_sql(replay->world.admin, "INSERT INTO public.seen_run VALUES (%d, %lld)", replay->step,
             (long long)run.acted);
}

// --- the second calculation ---

// Each run takes what had arrived six steps before and nobody took, up to the limit of the day.
static const char runs_that_differ[] =
    "SELECT count(*) FROM (SELECT r.step, r.acted, coalesce(sum(r.acted) OVER (ORDER BY r.step ROWS BETWEEN "
    "UNBOUNDED"
    " PRECEDING AND 1 PRECEDING), 0) AS before FROM public.seen_run r) r WHERE r.acted <> least(9500 - "
    "r.before,"
    " (SELECT coalesce(sum(d.arrived), 0) FROM public.day d WHERE d.step <= r.step - 6) - r.before)";

// $1 to $4: rule, limit, clear, and for how many steps more it has to be broken. A rule's values: of the
// rates in the middle of what a minute that has just begun makes of them.
#define ALERTS_THAT_DIFFER(rule, value, limit, clear, more)                                                  \
    "WITH RECURSIVE v AS (SELECT d.step, (" value ")::float8 AS value FROM public.day d),"                   \
    " r AS (SELECT 0 AS step, 'none' AS state, 0 AS held UNION ALL SELECT v.step,"                           \
    " CASE WHEN r.state = 'firing' AND v.value > " clear                                                     \
    " THEN 'firing' WHEN r.state = 'firing' OR v.value <= " limit " THEN 'none' WHEN r.held >= " more        \
    " THEN 'firing' ELSE 'pending' END,"                                                                     \
    " CASE WHEN v.value > " limit " THEN r.held + 1 ELSE 0 END FROM r JOIN v ON v.step = r.step + 1)"        \
    " SELECT count(*) FROM (SELECT r.step, r.state FROM r WHERE r.state <> 'none') r FULL JOIN (SELECT "     \
    "step, state FROM"                                                                                       \
    " public.seen_alert WHERE rule = '" rule "') s ON s.step = r.step AND s.state = r.state"                 \
    " WHERE r.step IS NULL OR s.step IS NULL"

static void
a_day_of_alerts_and_policies(void **state)
{
    struct replay replay = {0};
    PGconn *admin;
    (void)state;
    world_make(&replay.world, 0);
    admin = replay.world.admin;
    test_sql(admin, day_sql);
    test_sql(admin, "INSERT INTO redrive.trend_state (began, counted_from) SELECT 0, 0");
    for (replay.step = 1; replay.step <= STEPS; replay.step++) {
        pass(&replay);
        arrive(&replay);
        evaluate(&replay);
        run(&replay);
    }
    assert_true(test_number(admin, "SELECT count(*) FROM public.seen_run WHERE acted > 0") > 60);
    assert_int_equal(test_number(admin, "SELECT max(acted) FROM public.seen_run WHERE step > 280"),
                     0); // the limit of the day
    assert_int_equal(test_number(admin, runs_that_differ), 0);
    assert_int_equal(events_in(&replay.world, "DISCARDED"), LIMIT);
    assert_int_equal(
        test_number(admin, "SELECT count(DISTINCT rule) FROM public.seen_alert WHERE state = 'firing'"),
        RULES);
    assert_int_equal(test_number(admin, ALERTS_THAT_DIFFER("rate", "d.arrived / 5.5", "10", "8", "2")), 0);
    assert_int_equal(
        test_number(admin,
                    ALERTS_THAT_DIFFER("surge",
                                       "(SELECT sum(x.arrived) FROM public.day x WHERE x.step > d.step - 3"
                                       " AND x.step <= d.step) / 15.5",
                                       "20", "20", "0")),
        0);
    assert_int_equal(
        test_number(admin,
                    ALERTS_THAT_DIFFER(
                        "backlog",
                        "(SELECT sum(x.arrived) FROM public.day x WHERE x.step <= d.step)"
                        " - (SELECT coalesce(sum(r.acted), 0) FROM public.seen_run r WHERE r.step < d.step)",
                        "400", "250", "3")),
        0);
    world_end(&replay.world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_day_of_alerts_and_policies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
