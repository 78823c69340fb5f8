// The share of dead letters of all messages (store/watch/written): what Kafka tells of topics is laid over
// minutes, each event is counted once, and what nobody knows is a gap. Time passes by moving the past.
#include "world.h"

#include "rollup/maintainer.h"
#include "store/watch/measure.h"
#include "store/watch/written.h"

#define HOUR (3600 * US_PER_SECOND)

static void
count_in_rollup(struct world *world)
{
    struct maintainer *maintainer = maintainer_create(&world->settings);
    int64_t until = clock_mono() + 30 * US_PER_SECOND;
    while (!maintainer_is_exact(maintainer)) {
        int64_t wait = maintainer_step(maintainer);
        assert_true(clock_mono() < until);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
    maintainer_destroy(maintainer);
}

static void
begin(struct world *world, int events)
{
    world_make(world, events);
    test_sql(world->admin,
             "UPDATE public.dlq_events SET kafka_topic = 'orders', created_at = created_at - interval '2 h'");
    count_in_rollup(world);
}

// Everything happened so many seconds earlier. By way of negative times, since a key is unique at every row.
static void
pass(struct world *world, int seconds)
{
    test_sql(world->admin, "UPDATE redrive.written SET at = -at WHERE step = 'minute'");
    test_sql(world->admin, "UPDATE redrive.written SET at = -at - %d WHERE step = 'minute'", seconds);
    test_sql(world->admin, "UPDATE redrive.written_end SET at = at - %d", seconds);
    test_sql(world->admin, "UPDATE redrive.written_turn SET at = at - interval '%d s'", seconds);
    test_sql(
        world->admin,
        "UPDATE redrive.written_state SET seen_at = seen_at - interval '%d s', counted_to = counted_to - %d",
        seconds, seconds);
    test_sql(world->admin, "UPDATE public.dlq_events SET created_at = created_at - interval '%d s'", seconds);
}

static int64_t
turn_of(struct world *world, size_t topics)
{
    const char **names;
    size_t count;
    int64_t turn = 0;
    assert_works(written_wanted(world->store, "cluster", &world->arena, &turn, &names, &count, &err));
    assert_int_equal(count, topics);
    return turn;
}

static void
keep(struct world *world, int64_t turn, const char *topic, const int64_t *ends, size_t count)
{
    const struct written_ends told = {
        .topic = topic, .ends = ends, .count = count, .note = count ? NULL : "hidden"};
    assert_works(written_keep(world->store, "cluster", turn, &told, 1, &err));
}

// A minute passes, and then Kafka tells where the one partition of orders ends.
static void
minute_with_end(struct world *world, int64_t end)
{
    pass(world, 60);
    keep(world, turn_of(world, 1), "orders", &end, 1);
}

static void
fail_events(struct world *world, int count)
{
    test_sql(world->admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, kafka_topic)"
             " SELECT 'failed', 'order.created', '{}', 'x', 'orders' FROM generate_series(1, %d)",
             count);
}

static struct topic_shares
read_shares(struct world *world, int64_t window)
{
    struct topic_shares shares;
    assert_works(written_read(world->store, window, &world->arena, &shares, &err));
    return shares;
}

static int64_t
sum_of(struct world *world, const char *what)
{
    return test_number(
        world->admin,
        arena_printf(&world->arena,
                     "SELECT coalesce(sum(%s), 0)::int8 FROM redrive.written WHERE step = 'minute'", what));
}

static void
test_share(void **state)
{
    struct world world;
    (void)state;
    begin(&world, 3);
    assert_int_equal(read_shares(&world, HOUR).count, 0);
    const int64_t first[] = {100, 50};
    keep(&world, turn_of(&world, 1), "orders", first, 2);
    struct topic_shares shares = read_shares(&world, HOUR);
    assert_int_equal(shares.count, 1);
    assert_int_equal(shares.topics[0].covered, 0); // how much that grew by is not known yet
    assert_true(topic_share_percent(&shares.topics[0]) < 0);
    assert_int_equal(topic_shares_known(&shares), 0);

    // A partition that is new begins at 0.
    const int64_t second[] = {400, 150, 200};
    pass(&world, 60);
    keep(&world, turn_of(&world, 1), "orders", second, 3);
    assert_int_equal(sum_of(&world, "written"), 600);
    for (int i = 1; i <= 5; i++) {
        fail_events(&world, i == 1 ? 6 : 0); // in a minute that is known from its beginning to its end
        const int64_t more[] = {400 + 500 * i, 150, 200 + 100 * i};
        pass(&world, 60);
        keep(&world, turn_of(&world, 1), "orders", more, 3);
    }
    assert_int_equal(sum_of(&world, "written"), 3600);
    assert_int_equal(sum_of(&world, "arrived"), 6);
    shares = read_shares(&world, HOUR);
    assert_int_equal(shares.topics[0].arrived, 6);
    assert_int_equal(shares.topics[0].covered % 60, 0);
    assert_in_range(shares.topics[0].covered, 180, 300);
    int64_t rate = shares.topics[0].written * 60 / shares.topics[0].covered;
    assert_in_range(rate, 500, 600);
    assert_true(topic_share_percent(&shares.topics[0]) > 0.1 && topic_share_percent(&shares.topics[0]) < 0.4);
    world_end(&world);
}

static void
test_gaps(void **state)
{
    struct world world;
    (void)state;
    begin(&world, 3);
    keep(&world, turn_of(&world, 1), "orders", (int64_t[]){1000}, 1);
    for (int i = 1; i <= 4; i++)
        minute_with_end(&world, 1000 + 600 * i);
    assert_int_equal(sum_of(&world, "written"), 2400);

    // Nobody asked for long; then the topic was made anew; then Kafka does not tell. Each is only where the
    // next begins.
    fail_events(&world, 50);
    pass(&world, 151);
    keep(&world, turn_of(&world, 1), "orders", (int64_t[]){90000}, 1);
    assert_int_equal(sum_of(&world, "written"), 2400);
    minute_with_end(&world, 10);
    assert_int_equal(sum_of(&world, "written"), 2400);
    pass(&world, 60);
    keep(&world, turn_of(&world, 1), "orders", NULL, 0);
    assert_string_equal(read_shares(&world, HOUR).topics[0].note, "hidden");
    minute_with_end(&world, 5000);
    assert_int_equal(sum_of(&world, "written"), 2400);

    // What arrived in a gap is no part of a share.
    minute_with_end(&world, 5600);
    minute_with_end(&world, 6200);
    minute_with_end(&world, 6800);
    struct topic_shares shares = read_shares(&world, HOUR);
    assert_null(shares.topics[0].note);
    assert_int_equal(sum_of(&world, "arrived"), 50);
    assert_int_equal(shares.topics[0].arrived, 0);
    assert_true(shares.topics[0].covered >= 180);
    world_end(&world);
}

// Rows that are committed late are counted in their minute, and what is deleted stays counted.
static void
test_late_and_deleted(void **state)
{
    struct world world;
    (void)state;
    begin(&world, 3);
    keep(&world, turn_of(&world, 1), "orders", (int64_t[]){0}, 1);
    for (int i = 1; i <= 6; i++)
        minute_with_end(&world, 1000 * i);
    int64_t before = read_shares(&world, HOUR).topics[0].arrived;
    test_sql(world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, "
             "kafka_topic, created_at)"
             " SELECT 'late', 'order.created', '{}', 'x', 'orders', (SELECT timestamp '2000-01-01' + min(at) "
             "* interval '1 s'"
             " FROM redrive.written WHERE step = 'minute' AND covered >= 60) FROM generate_series(1, 7)");
    minute_with_end(&world, 7000);
    minute_with_end(&world, 8000);
    minute_with_end(&world, 9000);
    assert_int_equal(read_shares(&world, HOUR).topics[0].arrived, before + 7);
    test_sql(world.admin, "DELETE FROM public.dlq_events WHERE event_id = 'late'");
    minute_with_end(&world, 10000);
    assert_int_equal(read_shares(&world, HOUR).topics[0].arrived, before + 7);
    world_end(&world);
}

// Several workers: one has the turn, and one that was away for long writes nothing.
static void
test_turns(void **state)
{
    struct world world;
    (void)state;
    begin(&world, 3);
    struct store *other = open_store(world.conninfo);
    int64_t first = turn_of(&world, 1);
    const char **names;
    size_t count;
    int64_t turn;
    assert_works(written_wanted(other, "cluster", &world.arena, &turn, &names, &count, &err));
    assert_int_equal(count, 0);
    keep(&world, first, "orders", (int64_t[]){100}, 1);
    pass(&world, 60);
    int64_t late = turn_of(&world, 1);
    pass(&world, 60);
    assert_works(written_wanted(other, "cluster", &world.arena, &turn, &names, &count, &err));
    assert_int_equal(count, 1);
    const struct written_ends told = {.topic = "orders", .ends = (int64_t[]){700}, .count = 1};
    assert_works(written_keep(other, "cluster", turn, &told, 1, &err));
    assert_int_equal(sum_of(&world, "written"), 600);
    keep(&world, late, "orders", (int64_t[]){650}, 1);
    assert_int_equal(sum_of(&world, "written"), 600);
    assert_int_equal(test_number(world.admin, "SELECT ends[1] FROM redrive.written_end"), 700);
    store_close(other);
    world_end(&world);
}

// How many hours or days differ from what their minutes add up to.
static int64_t
not_summed_up(struct world *world, const char *step, int length)
{
    return test_number(
        world->admin,
        arena_printf(
            &world->arena,
            "SELECT count(*) FROM (SELECT '%s'::text, at / %d * %d AS at, sum(covered), sum(written), "
            "sum(arrived) FROM"
            " redrive.written WHERE step = 'minute' AND covered >= 60 AND at < (SELECT counted_to FROM"
            " redrive.written_state) GROUP BY 2"
            " EXCEPT ALL SELECT step, at, covered, written, arrived FROM redrive.written WHERE step = '%s') "
            "x",
            step, length, length, step));
}

// Hours and days are what minutes add up to; what is older than it is kept for goes.
static void
test_rollups(void **state)
{
    struct world world;
    (void)state;
    begin(&world, 3);
    keep(&world, turn_of(&world, 1), "orders", (int64_t[]){0}, 1);
    for (int i = 1; i <= 8; i++) {
        fail_events(&world, i);
        minute_with_end(&world, 700 * i);
    }
    test_sql(world.admin, "DELETE FROM redrive.written WHERE step <> 'minute'");
    test_sql(world.admin,
             "SELECT redrive._written_fold(ARRAY(SELECT at FROM redrive.written WHERE step = 'minute'))");
    assert_int_equal(not_summed_up(&world, "hour", 3600), 0);
    assert_int_equal(not_summed_up(&world, "day", 86400), 0);
    struct topic_shares minutes = read_shares(&world, HOUR), hours = read_shares(&world, 24 * HOUR),
                        days = read_shares(&world, 30 * 24 * HOUR);
    assert_true(minutes.topics[0].arrived >= 15);
    assert_int_equal(hours.topics[0].arrived, minutes.topics[0].arrived);
    assert_int_equal(days.topics[0].written, minutes.topics[0].written);

    test_sql(
        world.admin,
        "INSERT INTO redrive.written (step, topic, at, covered, written)"
        " SELECT s.step, 'orders', redrive._trend_now() / s.length * s.length - s.kept - 2 * s.length, 60, 1"
        " FROM redrive._trend_steps() s");
    minute_with_end(&world, 7000);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM redrive.written x JOIN redrive._trend_steps() s"
                                 " ON s.step = x.step WHERE x.at < redrive._trend_now() - s.kept - s.length"),
                     0);
    world_end(&world);
}

// The rule of alerts: an instance a topic, none for few messages, and nothing where nothing is known.
static void
test_alert(void **state)
{
    struct world world;
    (void)state;
    begin(&world, 3);
    const struct alert_rule rule = {.name = "share",
                                    .condition = ALERT_DEAD_LETTERS,
                                    .limit = 1,
                                    .clear = 1,
                                    .window = HOUR,
                                    .at_least = 1000};
    const struct watch_sums sums = {0};
    struct measured measured;
    assert_works(measure_rule(world.store, &rule, &sums, &world.arena, &measured, &err));
    assert_false(measured.is_known);
    test_sql(world.admin, "UPDATE redrive.written_state SET counted_to = redrive._trend_now()");
    test_sql(
        world.admin,
        "INSERT INTO redrive.written (step, topic, at, covered, written, arrived) SELECT 'minute', t.topic,"
        " redrive._trend_now() / 60 * 60 - 60 * m, 60, t.written, t.arrived FROM generate_series(2, 11) AS m,"
        " (VALUES ('orders', 1000, 25), ('payments', 5000, 5), ('rare', 2, 2)) AS t (topic, written, "
        "arrived)");
    assert_works(measure_rule(world.store, &rule, &sums, &world.arena, &measured, &err));
    assert_true(measured.is_known);
    assert_int_equal(measured.count, 2);
    assert_string_equal(measured.values[0].instance, "orders");
    assert_true(measured.values[0].value > 2.49 && measured.values[0].value < 2.51);
    assert_string_equal(measured.values[1].instance, "payments");
    assert_true(measured.values[1].value > 0.09 && measured.values[1].value < 0.11);
    struct strbuf text = {0};
    alert_summary(&rule, measured.values[0].value, measured.values[0].of, &text);
    assert_string_equal(strbuf_text(&text), "2.5% of the messages became dead letters within 1h: orders");
    strbuf_release(&text);
    world_end(&world);
}

// However many topics there were, a list of them is short, and complete.
static void
test_many_topics(void **state)
{
    struct world world;
    (void)state;
    begin(&world, 3);
    test_sql(world.admin, "UPDATE redrive.written_state SET counted_to = redrive._trend_now()");
    test_sql(world.admin, "INSERT INTO redrive.written (step, topic, at, covered, written, arrived)"
                          " SELECT 'minute', CASE t WHEN 30 THEN 'other' ELSE 'topic-' || t END, "
                          "redrive._trend_now() / 60 * 60 - 120, 60, 100, t"
                          " FROM generate_series(1, 80) AS t");
    struct topic_shares shares = read_shares(&world, HOUR);
    assert_int_equal(shares.count, WRITTEN_TOPICS);
    assert_string_equal(shares.topics[0].topic, "topic-80");
    assert_string_equal(shares.topics[49].topic, "other");
    assert_int_equal(shares.topics[49].written, 31 * 100);
    struct topic_share sum = topic_shares_sum(&shares);
    assert_int_equal(sum.written, 80 * 100);
    assert_int_equal(sum.arrived, 80 * 81 / 2);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_late_and_deleted),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_rollups),
        cmocka_unit_test(test_alert),
        cmocka_unit_test(test_many_topics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
