// What the probe makes of brokers that answer from yesterday, or whose clock is off. Two functions of
// librdkafka are replaced here: a program's own go before those of a library.
#include <dlfcn.h>
#include "broker/probe/probe.h"
#include "tests/broker/kafka_world.h"

static struct {
    int old_answers; // how many more come from a coordinator of the past
    rd_kafka_topic_partition_list_t *yesterday;
    int64_t skew_ms; // of the broker's clock
    bool is_mute;    // its topics leave the time to the sender
} oddity;

typedef const rd_kafka_topic_partition_list_t *partitions_fn(const rd_kafka_group_result_t *result);
typedef int64_t timestamp_fn(const rd_kafka_message_t *message, rd_kafka_timestamp_type_t *type);

// Not by librdkafka's own copy, which holds on to the client.
static rd_kafka_topic_partition_list_t *
remember(const rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_topic_partition_list_t *copy = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *from = &list->elems[i];
        rd_kafka_topic_partition_t *to =
            rd_kafka_topic_partition_list_add(copy, from->topic, from->partition);
        to->offset = from->offset;
        to->metadata = from->metadata ? strndup(from->metadata, from->metadata_size) : NULL;
        to->metadata_size = from->metadata ? from->metadata_size : 0;
    }
    return copy;
}

// Markers are asked for with both partitions. The one of the third transaction is the first that is
// committed: who answers from the past then still says what was so before.
const rd_kafka_topic_partition_list_t *
rd_kafka_group_result_partitions(const rd_kafka_group_result_t *result)
{
    static union {
        void *symbol;
        partitions_fn *call;
    } theirs;
    if (!theirs.symbol)
        theirs.symbol = dlsym(RTLD_NEXT, "rd_kafka_group_result_partitions");
    const rd_kafka_topic_partition_list_t *list = theirs.call(result);
    bool is_reading = list && list->cnt == 2 && !list->elems[0].err && !list->elems[1].err;
    if (!is_reading)
        return list;
    if (list->elems[0].offset >= 0 && oddity.yesterday && oddity.old_answers > 0) {
        oddity.old_answers--;
        return oddity.yesterday;
    }
    if (oddity.yesterday)
        rd_kafka_topic_partition_list_destroy(oddity.yesterday);
    oddity.yesterday = remember(list);
    return list;
}

int64_t
rd_kafka_message_timestamp(const rd_kafka_message_t *message, rd_kafka_timestamp_type_t *type)
{
    static union {
        void *symbol;
        timestamp_fn *call;
    } theirs;
    if (!theirs.symbol)
        theirs.symbol = dlsym(RTLD_NEXT, "rd_kafka_message_timestamp");
    int64_t stamp = theirs.call(message, type);
    if (type && oddity.is_mute)
        *type = RD_KAFKA_TIMESTAMP_CREATE_TIME;
    return stamp + oddity.skew_ms;
}

static const struct broker_settings *
settings(void)
{
    static struct broker_settings to;
    to.brokers = test_kafka();
    return &to;
}

// A broker on a machine that is busy may not answer in the time that a person would wait: it is asked again.
static struct probe
probe_now(void)
{
    struct broker *broker;
    struct probe probe;
    assert_works(broker_open(&broker, settings(), &err));
    for (int tries = 1;; tries++) {
        struct err err = {0};
        if (probe_run(broker, settings(), "0b5e55ed-0000-4000-8000-000000000000", &probe, &err))
            break;
        if (err.kind != ERR_UNREACHABLE || tries == 5)
            fail_msg("%s", err.text);
    }
    broker_close(broker);
    assert_string_equal(probe.cluster.words, "exactly once"); // or why not
    return probe;
}

static int
be_sane(void **state)
{
    (void)state;
    if (oddity.yesterday)
        rd_kafka_topic_partition_list_destroy(oddity.yesterday);
    memset(&oddity, 0, sizeof oddity);
    return 0;
}

static void
an_answer_of_yesterday_decides_nothing(void **state)
{
    (void)state;
    oddity.old_answers = 3;
    (void)probe_now();
    assert_int_equal(oddity.old_answers, 0);
}

// The finding about clocks, where PostgreSQL's is so many seconds ahead of this host's.
static struct finding
clocks(int64_t postgresql_ahead)
{
    struct probe probe = probe_now();
    size_t known = probe.count;
    probe_clocks(settings(), postgresql_ahead == TIME_ABSENT ? TIME_ABSENT : postgresql_ahead * US_PER_SECOND,
                 &probe);
    assert_int_equal(probe.count, known + 1);
    return probe.findings[known];
}

static void
assert_finding(struct finding finding, bool is_ok, const char *words, const char *remedy)
{
    if (finding.is_ok != is_ok || !strstr(finding.sentence, words) || !strstr(finding.remedy, remedy) ||
        (!*remedy && *finding.remedy))
        fail_msg("%s: %s -> %s", finding.is_ok ? "ok" : "wrong", finding.sentence, finding.remedy);
}

static void
clocks_are_compared(void **state)
{
    (void)state;
    assert_finding(clocks(0), true, "of this host's and ", "");
    assert_finding(clocks(TIME_ABSENT), true, "this host's", "");
    assert_finding(clocks(60), true, "s behind PostgreSQL's", "chronyc makestep");
    assert_finding(clocks(-400), false,
                   "s ahead of PostgreSQL's: a chunk in doubt would be searched for at the wrong place",
                   "chronyc makestep");
    oddity.skew_ms = -400000;
    assert_finding(clocks(0), false, "s behind this host's and ", "chronyc makestep");
    oddity.skew_ms = 60000;
    assert_finding(clocks(60), true, "s ahead of this host's and ", "chronyc makestep");
}

static void
a_broker_that_does_not_tell_the_time_is_said_so(void **state)
{
    (void)state;
    oddity.is_mute = true;
    assert_finding(clocks(0), true, "the brokers' clock is not known",
                   "--entity-name redrive.probe --add-config message.timestamp.type=LogAppendTime");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_answer_of_yesterday_decides_nothing, be_sane),
        cmocka_unit_test_teardown(clocks_are_compared, be_sane),
        cmocka_unit_test_teardown(a_broker_that_does_not_tell_the_time_is_said_so, be_sane),
    };
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
