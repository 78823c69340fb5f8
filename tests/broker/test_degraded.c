// The degraded mode, where a cluster cannot promise exactly once: on the demo's broker, and on a Kafka that
// grants nobody a transaction. Only the latter's log is evidence of what was sent; the demo's broker keeps it
// in memory.
#include <unistd.h>
#include "store/operations/doubt.h"
#include "tests/broker/demo_broker.h"
#include "tests/broker/fixture.h"
#include "tests/lib/program.h"

#define TOPIC "degraded"
enum { PARTITIONS = 4 };

static struct stage {
    const char *words; // the verdict on the cluster
    bool is_kafka;
    struct broker_fixture fixture;
} demo = {.words = "demo broker: at least once"}, kafka = {.words = "at least once (%", .is_kafka = true};

static char kafka_dir[100], kafka_brokers[60];

static int
start_clusters(void **state)
{
    (void)state;
    char text[1000];
    demo_broker_start((const char *const[]){TOPIC, NULL});
    program_own_servers();
    snprintf(kafka_dir, sizeof kafka_dir, "/tmp/redrive-degraded.XXXXXX");
    assert_non_null(mkdtemp(kafka_dir));
    if (program_run(text, sizeof text,
                    (const char *[]){"tests/lib/kafka.sh", "start", kafka_dir,
                                     "transaction.max.timeout.ms=1000", NULL}))
        return -1;
    program_value(text, "BROKERS=", kafka_brokers, sizeof kafka_brokers);
    return 0;
}

static int
stop_clusters(void **state)
{
    (void)state;
    char text[100];
    demo_broker_stop();
    return program_run(text, sizeof text, (const char *[]){"tests/lib/kafka.sh", "remove", kafka_dir, NULL});
}

// All of the test speaks to this cluster.
static int
set(void **state)
{
    struct stage *stage = *state;
    struct broker_fixture *fixture = &stage->fixture;
    *fixture = (struct broker_fixture){.stem = TOPIC, .partitions = PARTITIONS};
    setenv("REDRIVE_TEST_KAFKA", stage->is_kafka ? kafka_brokers : demo_broker(), 1);
    world_make(&fixture->world, 0);
    if (stage->is_kafka)
        make_topic(fixture->topic, TOPIC, PARTITIONS, NULL, NULL);
    else
        snprintf(fixture->topic, sizeof fixture->topic, TOPIC);
    return 0;
}

static int
clear(void **state)
{
    struct stage *stage = *state;
    world_end(&stage->fixture.world);
    return 0;
}

static int64_t
ask(struct stage *stage, int events)
{
    broker_fixture_fail(&stage->fixture, events);
    return make_operation(&stage->fixture.world, stage->fixture.world.store, ACTION_REPROCESS, 1, events);
}

static int
work(struct stage *stage, const struct work_how *how)
{
    return work_run(&stage->fixture.world, how);
}

static void
die_at(struct stage *stage, const char *point, size_t chunk)
{
    assert_int_equal(work(stage, &(struct work_how){.chunk = chunk, .kill = point}), -SIGKILL);
    expire_leases(&stage->fixture.world);
}

static int64_t
count_of(struct stage *stage, const char *what)
{
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.%s", what);
    return test_number(stage->fixture.world.admin, sql);
}

static void
assert_sent(struct stage *stage, int64_t operation, int events)
{
    assert_all_done(&stage->fixture.world, operation, events);
    if (stage->is_kafka)
        assert_each_once(stage->fixture.topic, PARTITIONS, 1, events);
}

static void
publishes_and_says_so(void **state)
{
    struct stage *stage = *state;
    char like[200];
    int64_t operation = ask(stage, 200);
    assert_int_equal(work(stage, &(struct work_how){.operation = operation, .chunk = 60}), 0);
    assert_sent(stage, operation, 200);
    snprintf(like, sizeof like, "cluster WHERE words LIKE '%s'", stage->words);
    assert_int_equal(count_of(stage, like), 1);
    assert_int_equal(count_of(stage, "audit WHERE detail LIKE '%exactly once%'"), 0);
}

static void
looks_before_it_sends_again(void **state)
{
    struct stage *stage = *state;
    int64_t operation = ask(stage, 300);
    die_at(stage, "all-reports:1", 50); // published and not known
    die_at(stage, "after-claim:1", 50); // not published and not known
    assert_int_equal(work(stage, &(struct work_how){.operation = operation, .chunk = 50, .doubt_wait = 1}),
                     0);
    assert_sent(stage, operation, 300);
    // Two died, each with one chunk or two in flight.
    assert_in_range(count_of(stage, "chunk WHERE evidence LIKE 'found 50 of 50%'"), 1, 3);
    assert_in_range(count_of(stage, "chunk WHERE evidence LIKE 'found 0 of 50%'"), 1, 3);
}

static void
waits_before_it_looks(void **state)
{
    struct stage *stage = *state;
    int64_t operation = ask(stage, 10);
    die_at(stage, "all-reports:1", 0);
    assert_int_equal(work(stage, &(struct work_how){0}), 0);
    struct operation found = get_operation(&stage->fixture.world, operation);
    assert_int_equal(found.in_doubt, 10);
    assert_string_equal(found.state_note, "10 in doubt");
}

// Killed between two records of one chunk: what is in the topic is done, the rest is sent once more.
static void
distinguishes_the_halves_of_a_chunk(void **state)
{
    struct stage *stage = *state;
    int64_t operation = ask(stage, 400);
    die_at(stage, "half-produced:1", 400);
    assert_int_equal(work(stage, &(struct work_how){.operation = operation, .chunk = 400, .doubt_wait = 1}),
                     0);
    assert_sent(stage, operation, 400);
    assert_int_equal(
        count_of(stage, "chunk WHERE evidence LIKE 'found % of 400 records among %' AND decided_by IS NULL"),
        1);
}

// Where no topic is known the search is not complete, so that a person decides.
static void
asks_a_person_where_it_cannot_look(void **state)
{
    struct stage *stage = *state;
    struct world *world = &stage->fixture.world;
    struct doubt *chunks;
    size_t count;
    int64_t events;
    int64_t operation = ask(stage, 20);
    die_at(stage, "all-reports:1", 0);
    test_sql(world->admin, "UPDATE redrive.chunk SET topics = NULL");
    for (int i = 0; i < 2; i++)
        assert_int_equal(work(stage, &(struct work_how){.doubt_wait = 1}), 0);
    assert_works(doubt_list(world->store, operation, &world->arena, &chunks, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(get_operation(world, operation).in_doubt, 20);
    assert_works(
        doubt_decide(world->store, operation, chunks[0].chunk, true, "seen with kcat", &events, &err));
    assert_sent(stage, operation, 20);
}

#define on_both(test)                                                                                        \
    {#test " on the demo's broker", test, set, clear, &demo},                                                \
    {                                                                                                        \
#test " on a Kafka without transactions", test, set, clear, &kafka                                   \
    }

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_both(publishes_and_says_so),
        on_both(looks_before_it_sends_again),
        on_both(waits_before_it_looks),
        on_both(distinguishes_the_halves_of_a_chunk),
        on_both(asks_a_person_where_it_cannot_look),
    };
    return cmocka_run_group_tests_name("degraded", tests, start_clusters, stop_clusters);
}
