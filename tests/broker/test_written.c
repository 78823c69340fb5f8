// How much is written to the topics that events come from, on a real Kafka: a worker without any work asks,
// once a minute, and what is not there says so.
#include "tests/broker/fixture.h"

#include "rollup/maintainer.h"
#include "store/watch/written.h"

#define PARTITIONS 3
#define HOUR (3600 * US_PER_SECOND)

static struct broker_fixture fixture = {.stem = "written", .partitions = PARTITIONS};

static void
count_in_rollup(void)
{
    struct maintainer *maintainer = maintainer_create(&fixture.world.settings);
    int64_t until = clock_mono() + 30 * US_PER_SECOND;
    while (!maintainer_is_exact(maintainer)) {
        int64_t wait = maintainer_step(maintainer);
        assert_true(clock_mono() < until);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
    maintainer_destroy(maintainer);
}

static void
write_messages(int count)
{
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int i = 0; i < count; i++)
        put_record(producer, fixture.topic, i % PARTITIONS, "k", "{}", "");
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
}

static void
await_number(const char *sql, int64_t wanted)
{
    int64_t deadline = clock_mono() + 40 * US_PER_SECOND, number;
    while ((number = test_number(fixture.world.admin, sql)) != wanted && clock_mono() < deadline)
        clock_sleep(50000);
    if (number != wanted)
        fail_msg(
            "%s: %lld instead of %lld: %s", sql, (long long)number, (long long)wanted,
            test_text(fixture.world.admin,
                      "SELECT coalesce(string_agg(e::text, ' / '), 'no ends') FROM redrive.written_end e"));
}

// The last question was a minute ago.
static void
pass(void)
{
    test_sql(fixture.world.admin, "UPDATE redrive.written_turn SET at = at - interval '61 s'");
    test_sql(fixture.world.admin, "UPDATE redrive.written_end SET at = at - 61");
    test_sql(fixture.world.admin, "UPDATE redrive.written_state SET seen_at = seen_at - interval '61 s'");
}

static const char *
ends_sql(const char *wanted)
{
    return arena_printf(&fixture.world.arena,
                        "SELECT coalesce(sum(%s), -1)::int8 FROM redrive.written_end e WHERE topic = '%s'",
                        wanted, fixture.topic);
}

static void
rates_are_asked_once_a_minute(void **state)
{
    (void)state;
    struct world *world = &fixture.world;
    broker_fixture_fail(&fixture, 4);
    test_sql(world->admin,
             "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, kafka_topic)"
             " VALUES ('gone', 'order.created', '{}', 'x', 'no.such.topic')");
    count_in_rollup();
    const char *sum = ends_sql("(SELECT sum(n) FROM unnest(e.ends) AS n)");
    pid_t worker = work_start(world, &(struct work_how){.lives = 120 * US_PER_SECOND});
    await_number(ends_sql("cardinality(e.ends)"), PARTITIONS);
    int64_t before = test_number(world->admin, sum);
    struct topic_shares shares;
    assert_works(written_read(world->store, HOUR, &world->arena, &shares, &err));
    assert_int_equal(shares.count, 2);
    assert_int_equal(topic_shares_known(&shares), 0);
    assert_string_equal(
        test_text(world->admin, "SELECT note FROM redrive.written_end WHERE topic = 'no.such.topic'"),
        "Kafka does not have it, or hides it");

    write_messages(500);
    pass();
    await_number(sum, before + 500);
    await_number("SELECT coalesce(sum(written), 0)::int8 FROM redrive.written WHERE step = 'minute'", 500);
    // Two workers: still one question a minute.
    pid_t other = work_start(world, &(struct work_how){.lives = 120 * US_PER_SECOND});
    write_messages(100);
    pass();
    await_number(sum, before + 600);
    await_number("SELECT coalesce(sum(written), 0)::int8 FROM redrive.written WHERE step = 'minute'", 600);
    assert_int_equal(test_number(world->admin, "SELECT no FROM redrive.written_turn"), 3);
    kill(worker, SIGTERM);
    kill(other, SIGTERM);
    assert_int_equal(work_wait(worker), 0);
    assert_int_equal(work_wait(other), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(rates_are_asked_once_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
