// What clusters can promise: the probe on a real Kafka and on librdkafka's mock cluster.
#include <unistd.h>
#include "broker/marker.h"
#include "broker/probe/probe.h"
#include "tests/broker/demo_broker.h"
#include "tests/broker/fixture.h"

static int
start_mock(void **state)
{
    (void)state;
    demo_broker_start((const char *const[]){NULL});
    return 0;
}

static int
stop_mock(void **state)
{
    (void)state;
    demo_broker_stop();
    return 0;
}

static struct probe
probe_of(const char *brokers)
{
    struct broker *broker;
    struct probe probe;
    const struct broker_settings settings = {.brokers = brokers};
    assert_works(broker_open(&broker, &settings, &err));
    assert_works(probe_run(broker, &settings, "0b5e55ed-0000-4000-8000-000000000000", &probe, &err));
    broker_close(broker);
    return probe;
}

static void
a_real_kafka_passes(void **state)
{
    (void)state;
    struct probe probe = probe_of(test_kafka());
    assert_int_equal(probe.cluster.promise, PROMISE_EXACTLY_ONCE);
    assert_string_equal(probe.cluster.words, "exactly once");
    assert_int_equal(probe.count, 5);
    for (size_t i = 0; i < probe.count; i++)
        if (!probe.findings[i].is_ok)
            fail_msg("%s", probe.findings[i].sentence);
}

static void
the_mock_cluster_fails(void **state)
{
    (void)state;
    struct probe probe = probe_of(demo_broker());
    assert_int_equal(probe.cluster.promise, PROMISE_AT_LEAST_ONCE);
    assert_string_equal(probe.cluster.words, "demo broker: at least once");
    assert_false(probe.findings[probe.count - 1].is_ok);
    assert_string_not_equal(probe.findings[probe.count - 1].remedy, "");
}

static struct probe *
judge_queues(void)
{
    struct broker *broker;
    struct probe *probe = calloc(1, sizeof *probe);
    const struct broker_settings settings = {.brokers = test_kafka()};
    assert_works(broker_open(&broker, &settings, &err));
    probe_queues(broker, &settings, 0, probe);
    broker_close(broker);
    return probe;
}

// NULL: nothing is said of this topic.
static const struct finding *
find_said(const struct probe *probe, const char *topic)
{
    for (size_t i = 0; i < probe->count; i++)
        if (strstr(probe->findings[i].sentence, topic))
            return &probe->findings[i];
    return NULL;
}

static void
assert_wrong(const struct probe *probe, const char *topic, const char *sentence)
{
    const struct finding *said = find_said(probe, topic);
    assert_non_null(said);
    assert_false(said->is_ok);
    assert_non_null(strstr(said->sentence, sentence));
}

// More queues that are well than are named stand before and between them.
static void
queues_that_lose_dead_letters_are_found(void **state)
{
    (void)state;
    char brief[64], compacted[64], good[64];
    for (int i = 0; i < 12; i++)
        make_topic(good, "dlq.able", 1, "retention.ms", "1209600000");
    make_topic(brief, "dlq.brief", 1, "retention.ms", "3600000");
    make_topic(compacted, "dlq.compacted", 1, "cleanup.policy", "compact");
    make_topic(good, "dlq.good", 1, "retention.ms", "1209600000");
    struct probe *probe = judge_queues();
    assert_wrong(probe, brief, "keeps records for 1 h");
    assert_wrong(probe, compacted, "cleanup.policy of the dead letter queue");
    assert_null(find_said(probe, good));
    assert_non_null(find_said(probe, "further dead letter queues keep what they get"));
    free(probe);
}

static void
nobody_there_is_no_verdict(void **state)
{
    (void)state;
    struct broker *broker;
    char id[64];
    const struct broker_settings settings = {.brokers = "127.0.0.1:1"};
    assert_works(broker_open(&broker, &settings, &err));
    assert_refused(broker_cluster_id(broker, 700, id, &err), ERR_UNREACHABLE, "127.0.0.1:1");
    broker_close(broker);
}

static void
names_bad_settings_without_their_values(void **state)
{
    (void)state;
    const struct broker_property unknown = {"no.such.property", "hunter2"},
                                 wrong = {"security.protocol", "hunter2"};
    struct broker_settings settings = {.brokers = "127.0.0.1:1", .properties = &unknown, .property_count = 1};
    assert_refused(broker_settings_check(&settings, &err), ERR_USAGE, "no.such.property");
    settings.properties = &wrong;
    struct err err = {0};
    assert_false(broker_settings_check(&settings, &err));
    assert_non_null(strstr(err.text, "security.protocol"));
    assert_null(strstr(err.text, "hunter2"));
}

static void
a_nonce_is_read_beside_the_marker(void **state)
{
    (void)state;
    struct broker *broker;
    struct marker_reading reading;
    char group[80];
    snprintf(group, sizeof group, "redrive.test.%ld.%lld", (long)getpid(), (long long)clock_now());
    const struct broker_settings settings = {.brokers = test_kafka()};
    assert_works(broker_open(&broker, &settings, &err));
    assert_works(marker_topic_ensure(broker, 10000, &err));
    assert_works(marker_read(broker, group, 5000, &reading, &err));
    assert_true(reading.is_stable);
    assert_false(reading.marker.is_present);
    assert_false(reading.has_nonce);
    assert_works(marker_write_nonce(broker, group, INT64_MAX, 5000, &err));
    assert_works(marker_read(broker, group, 5000, &reading, &err));
    assert_false(reading.marker.is_present);
    assert_true(reading.has_nonce);
    assert_true(reading.nonce == INT64_MAX);
    broker_close(broker);
}

static void
makes_no_topic_by_asking_for_it(void **state)
{
    (void)state;
    struct broker *broker;
    struct topic topic;
    const struct broker_settings settings = {.brokers = test_kafka()};
    assert_works(broker_open(&broker, &settings, &err));
    for (int i = 0; i < 2; i++) {
        assert_works(broker_topic(broker, "redrive-no-such-topic", 5000, &topic, &err));
        assert_int_equal(topic.state, TOPIC_MISSING);
        broker_forget_topics(broker);
    }
    broker_close(broker);
}

// The sentences of doctor on a cluster, one a line, without what differs from run to run.
static void
findings_of(const struct probe *probe, const char *topic, char *out, size_t room)
{
    size_t len = 0;
    for (size_t i = 0; i < probe->count; i++) {
        const struct finding *row = &probe->findings[i];
        const char *at = strstr(row->sentence, topic);
        len += (size_t)snprintf(out + len, room - len, "%s %.*s%s%s\n",
                                !row->is_ok      ? "WRONG"
                                : row->remedy[0] ? "note"
                                                 : "ok",
                                at ? (int)(at - row->sentence) : (int)strlen(row->sentence), row->sentence,
                                at ? "TOPIC" : "", at ? at + strlen(topic) : "");
    }
    snprintf(out + len, room - len, "%s\n", probe->cluster.words);
}

static void
assert_says(const char *brokers, const char *topic, const char *golden)
{
    static char wanted[20000];
    static struct probe probe;
    static char said[20000];
    struct broker *broker;
    const struct broker_settings settings = {.brokers = brokers};
    assert_works(broker_open(&broker, &settings, &err));
    assert_works(probe_run(broker, &settings, "0b5e55ed-0000-4000-8000-000000000000", &probe, &err));
    if (probe.cluster.promise == PROMISE_EXACTLY_ONCE)
        assert_works(probe_targets(broker, &settings, "0b5e55ed-0000-4000-8000-000000000000", &topic, 1,
                                   &probe, &err));
    probe_cluster_settings(broker, &settings, &topic, 1, &probe);
    broker_close(broker);
    findings_of(&probe, topic, said, sizeof said);
    if (getenv("UPDATE")) { // read them in the diff
        FILE *out = fopen(golden, "w");
        assert_non_null(out);
        fputs(said, out);
        fclose(out);
    }
    FILE *in = fopen(golden, "r");
    assert_non_null(in);
    wanted[fread(wanted, 1, sizeof wanted - 1, in)] = '\0';
    fclose(in);
    if (strcmp(said, wanted) != 0)
        fail_msg("not what %s has:\n%s", golden, said);
}

// What a cluster can promise was found out by trying, and is tried again when a day has passed.
static void
a_verdict_holds_for_a_day(void **state)
{
    (void)state;
    static const struct {
        int hours;
        bool is_tried_again;
    } rows[] = {{23, false}, {25, true}};
    struct broker_fixture fixture = {.stem = "verdict", .partitions = 1};
    void *context = &fixture;
    broker_fixture_set_up(&context);
    broker_fixture_fail(&fixture, 3);
    for (int64_t id = 1; id <= 3; id++) {
        if (id > 1)
            test_sql(fixture.world.admin, "UPDATE redrive.cluster SET checked_at = now() - interval '%d h'",
                     rows[id - 2].hours);
        int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, id, id);
        assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), 0);
        int64_t fresh = test_number(fixture.world.admin, "SELECT count(*) FROM redrive.cluster WHERE "
                                                         "checked_at > now() - interval '1 h'");
        assert_int_equal(fresh, id == 1 || rows[id - 2].is_tried_again);
    }
    broker_fixture_tear_down(&context);
}

static void
the_words_on_a_real_kafka(void **state)
{
    (void)state;
    char topic[64];
    make_topic(topic, "words", 2, NULL, NULL);
    assert_says(test_kafka(), topic, "tests/broker/golden/doctor-real.txt");
}

static void
the_words_on_the_mock_cluster(void **state)
{
    (void)state;
    assert_says(demo_broker(), "words", "tests/broker/golden/doctor-mock.txt");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_words_on_a_real_kafka),
        cmocka_unit_test(the_words_on_the_mock_cluster),
        cmocka_unit_test(a_verdict_holds_for_a_day),
        cmocka_unit_test(a_real_kafka_passes),
        cmocka_unit_test(queues_that_lose_dead_letters_are_found),
        cmocka_unit_test(the_mock_cluster_fails),
        cmocka_unit_test(nobody_there_is_no_verdict),
        cmocka_unit_test(names_bad_settings_without_their_values),
        cmocka_unit_test(a_nonce_is_read_beside_the_marker),
        cmocka_unit_test(makes_no_topic_by_asking_for_it),
    };
    return cmocka_run_group_tests_name("promise", tests, start_mock, stop_mock);
}
