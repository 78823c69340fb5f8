// A partition without a leader: the operation that needs it says so and waits, others pass it, and it goes on
// by itself when the broker is back. On a Kafka of two brokers of its own.
#include <unistd.h>
#include "tests/broker/fixture.h"
#include "tests/lib/program.h"

enum { PARTITIONS = 2, EVENTS = 40 };

static char dir[100], said[2000];
static struct broker_fixture fixture = {.stem = "leaderless", .partitions = PARTITIONS};

static void
kafka(const char *action)
{
    if (program_run(said, sizeof said, (const char *[]){"tests/lib/kafka.sh", action, dir, NULL}))
        fail_msg("kafka.sh %s: %s", action, said);
}

static int
start_kafka(void **state)
{
    (void)state;
    static char brokers[60];
    program_own_servers();
    snprintf(dir, sizeof dir, "/tmp/redrive-leaderless.XXXXXX");
    assert_non_null(mkdtemp(dir));
    kafka("start");
    program_value(said, "BROKERS=", brokers, sizeof brokers);
    setenv("REDRIVE_TEST_KAFKA", brokers, 1);
    return 0;
}

static int
remove_kafka(void **state)
{
    (void)state;
    kafka("remove");
    return 0;
}

// Partition 0 is led by broker 1, partition 1 by broker 2 alone.
static void
make_split_topic(rd_kafka_t *client, const char *name)
{
    char text[200];
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, PARTITIONS, -1, text, sizeof text);
    for (int32_t p = 0; p < PARTITIONS; p++)
        if (rd_kafka_NewTopic_set_replica_assignment(topic, p, &(int32_t){p + 1}, 1, text, sizeof text))
            fail_msg("%s", text);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 30000);
    assert_non_null(event);
    size_t count = 0;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    assert_int_equal(count, 1);
    assert_int_equal(rd_kafka_topic_result_error(results[0]), 0);
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
}

// Until the cluster itself says that partition 1 has no leader, or has one.
static void
await_leader(rd_kafka_t *client, const char *name, bool is_there)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    bool is_so = false;
    for (int64_t end = clock_mono() + 60 * US_PER_SECOND; !is_so && clock_mono() < end; clock_sleep(200000)) {
        const struct rd_kafka_metadata *metadata;
        if (rd_kafka_metadata(client, 0, topic, &metadata, 5000))
            continue;
        const struct rd_kafka_metadata_topic *told = &metadata->topics[0];
        for (int i = 0; i < told->partition_cnt; i++)
            if (told->partitions[i].id == 1)
                is_so = (told->partitions[i].leader >= 0) == is_there;
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(topic);
    assert_true(is_so);
}

static bool
await_state(int64_t no, const char *condition)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.operation WHERE no = %lld AND %s", (long long)no,
             condition);
    for (int64_t end = clock_mono() + 90 * US_PER_SECOND; clock_mono() < end; clock_sleep(100000))
        if (test_number(fixture.world.admin, sql))
            return true;
    return false;
}

static void
one_without_a_leader_says_so_and_others_pass(void **state)
{
    (void)state;
    char split[80];
    struct world *world = &fixture.world;
    // Kafka's own topics come into being while there is one broker.
    broker_fixture_fail(&fixture, EVENTS);
    int64_t before = make_operation(world, world->store, ACTION_REPROCESS, 1, EVENTS);
    assert_int_equal(work_run(world, &(struct work_how){.operation = before}), 0);
    kafka("join");
    rd_kafka_t *client = kafka_client(RD_KAFKA_PRODUCER, NULL);
    snprintf(split, sizeof split, "%s.split", fixture.topic);
    make_split_topic(client, split);
    await_leader(client, split, true);
    kafka("leave");
    await_leader(client, split, false);

    broker_fixture_fail(&fixture, 2 * EVENTS);
    test_sql(world->admin, "UPDATE dlq_events SET kafka_topic = '%s' WHERE id BETWEEN %d AND %d", split,
             EVENTS + 1, 2 * EVENTS);
    int64_t held = make_operation(world, world->store, ACTION_REPROCESS, EVENTS + 1, 2 * EVENTS);
    int64_t other = make_operation(world, world->store, ACTION_REPROCESS, 2 * EVENTS + 1, 3 * EVENTS);
    pid_t worker = work_start(world, &(struct work_how){.lives = 120 * US_PER_SECOND});
    if (!await_state(other, "state = 'done'"))
        fail_msg("the other operation did not pass: %s",
                 test_text(world->admin, "SELECT string_agg(format('%%s %%s', state, state_note), '; ') FROM"
                                         " redrive.operation"));
    if (!await_state(held, "state_note LIKE 'Kafka has no leader for partition 1 of %next try within %'"))
        fail_msg("%s", test_text(world->admin,
                                 "SELECT coalesce(max(state_note), 'no note') FROM redrive.operation"));
    assert_int_equal(get_operation(world, held).done, 0);
    assert_int_equal(get_operation(world, held).refused, 0);

    kafka("join");
    await_leader(client, split, true);
    assert_true(await_state(held, "state = 'done'"));
    kill(worker, SIGTERM);
    assert_int_equal(work_wait(worker), 0);
    rd_kafka_destroy(client);
    assert_all_done(world, held, EVENTS);
    assert_each_once(split, PARTITIONS, EVENTS + 1, 2 * EVENTS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(one_without_a_leader_says_so_and_others_pass),
    };
    return cmocka_run_group_tests_name("leaderless", tests, start_kafka, remove_kafka);
}
