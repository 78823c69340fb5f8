// What would be sent for one event: topic, partition, key, headers, value, and what is said about it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "broker/marker.h"
#include "broker/probe/probe.h"
#include "core/envelope/dropped_headers.h"
#include "publish/plan.h"
#include "tests/unit/plan_fixture.h"

static struct event
an_event(void)
{
    return (struct event){
        .id = 4711,
        .event_id = BYTES("evt-1"),
        .source_id = BYTES("src-9"),
        .topic = BYTES("orders"),
        .origin.partition = 3,
        .origin.offset = 17,
        .origin.has_partition = true,
        .origin.has_offset = true,
        .created_at = 1700000000123456,
        .payload = BYTES("{\"order\": {\"no\": 18446744073709551615, \"id\": \"a\\u00e9\", \"none\": null, "
                         "\"lines\": [1, 2]}}"),
    };
}

static void
make(const struct plan_settings *settings, const struct plan_input *input)
{
    plan_make(settings, input, &arena, &plan);
}

static uint32_t
times(const char *name)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < plan.header_count; i++)
        times += bytes_equal_text(plan.headers[i].name, name);
    return times;
}

static void
sends_the_jsonb_when_nothing_better_is_known(void **state)
{
    (void)state;
    const struct event event = an_event();
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event});

    assert_null(plan.refusal);
    assert_string_equal(plan.topic, "orders");
    assert_int_equal(plan.partition, 3);
    assert_bytes(plan.key, "src-9");
    assert_int_equal(plan.source, PAYLOAD_JSONB);
    assert_false(plan.is_exact);
    assert_says(plan.why, "the worker sends the original record instead if it still is at orders/3@17");
    assert_true(bytes_equal(plan.value, event.payload));
    assert_bytes(header("redrive-event-id"), "4711");
    assert_bytes(header("redrive-source"), "orders/3/17");
    assert_bytes(header("redrive-original-timestamp"), "1700000000123");
    assert_false(bytes_present(header("redrive-chunk-id")));
    assert_false(bytes_present(header("reprocess.count")));
}

static void
sends_the_original_with_its_key_and_headers(void **state)
{
    (void)state;
    const struct event event = an_event();
    struct event_header headers[] = {
        {BYTES("traceparent"), BYTES("00-1")},   {BYTES("dlq.error.message"), BYTES("boom")},
        {BYTES("traceparent"), BYTES("00-2")},   {BYTES("empty"), BYTES("")},
        {BYTES("null"), BYTES_ABSENT},           {BYTES("reprocess.count"), BYTES("4")},
        {BYTES("redrive-event-id"), BYTES("1")},
    };
    const struct original original = {
        .state = ORIGINAL_FOUND,
        .record = {.value = BYTES("{ \"a\" :1.0 }"),
                   .headers = headers,
                   .header_count = 7,
                   .timestamp = 1600000000000000},
    };
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event,
                                                          .original = &original,
                                                          .chunk_id = "c0ffee",
                                                          .attempt = 2,
                                                          .operator_name = "ana",
                                                          .operation = 41,
                                                          .reprocess_count = 1});

    assert_int_equal(plan.source, PAYLOAD_ORIGINAL);
    assert_true(plan.is_exact);
    assert_bytes(plan.value, "{ \"a\" :1.0 }");
    assert_false(bytes_present(plan.key)); // the record's null key stays one
    const struct event_header want[] = {
        {BYTES("traceparent"), BYTES("00-1")},
        {BYTES("traceparent"), BYTES("00-2")},
        {BYTES("empty"), BYTES("")},
        {BYTES("null"), BYTES_ABSENT},
        {BYTES("redrive-event-id"), BYTES("4711")},
        {BYTES("redrive-chunk-id"), BYTES("c0ffee")},
        {BYTES("redrive-attempt"), BYTES("2")},
        {BYTES("redrive-source"), BYTES("orders/3/17")},
        {BYTES("redrive-original-timestamp"), BYTES("1600000000000")},
        {BYTES("redrive-operator"), BYTES("ana")},
        {BYTES("redrive-operation"), BYTES("41")},
        {BYTES("reprocess.count"), BYTES("5")},
    };
    assert_int_equal(plan.header_count, sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_true(bytes_equal(plan.headers[i].name, want[i].name));
        assert_true(bytes_equal(plan.headers[i].value, want[i].value));
        assert_int_equal(bytes_present(plan.headers[i].value), bytes_present(want[i].value));
    }
}

static void
sends_the_bytes_that_are_kept(void **state)
{
    (void)state;
    struct event event = an_event();
    event.record.is_kept = true;
    event.record.key = BYTES("");
    event.payload = BYTES("\xff\x00not json");
    make(&(struct plan_settings){.key = "$.order.no"}, &(struct plan_input){.event = &event});

    assert_null(plan.refusal);
    assert_int_equal(plan.source, PAYLOAD_RAW);
    assert_true(plan.is_exact);
    assert_true(bytes_present(plan.key));
    assert_int_equal(plan.key.len, 0);
}

static void
sends_the_correction_with_the_key_that_was_kept(void **state)
{
    (void)state;
    struct event event = an_event();
    event.record.is_kept = true;
    event.record.key = BYTES("k");
    event.known.correction.has_payload = true;
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event});

    assert_int_equal(plan.source, PAYLOAD_REVISION);
    assert_false(plan.is_exact);
    assert_bytes(plan.key, "k");
}

static void
sends_every_part_that_was_corrected(void **state)
{
    (void)state;
    struct event event = an_event();
    struct event_header kept = {BYTES("trace"), BYTES("old")};
    struct event_header corrected[] = {{BYTES("trace"), BYTES("new")},
                                       {BYTES("redrive-chunk-id"), BYTES("forged")}};
    event.record =
        (struct event_record){.is_kept = true, .key = BYTES("k"), .headers = &kept, .header_count = 1};
    event.known.correction = (struct correction){
        .has_key = true, // to a null key
        .has_headers = true,
        .headers = corrected,
        .header_count = 2,
        .has_topic = true,
        .topic = BYTES("orders.fixed"),
        .has_partition = true,
        .partition = 2,
    };
    struct topic topic = {.state = TOPIC_KNOWN, .partitions = 3};
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &topic});
    assert_null(plan.refusal);
    assert_int_equal(plan.source, PAYLOAD_RAW); // the payload was not corrected
    assert_true(plan.is_exact);
    assert_false(bytes_present(plan.key));
    assert_string_equal(plan.topic, "orders.fixed");
    assert_int_equal(plan.partition, 2);
    assert_bytes(plan.headers[0].value, "new");
    assert_false(bytes_equal_text(plan.headers[1].name, "redrive-chunk-id")); // only an attempt has one

    topic.partitions = 2;
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &topic});
    assert_non_null(plan.refusal);
    assert_non_null(strstr(plan.refusal, "partition 2 of orders.fixed does not exist"));

    // Another target wins over both: its partitions are others.
    topic.partitions = 3;
    make(&(struct plan_settings){0},
         &(struct plan_input){.event = &event, .topic = &topic, .target_topic = "elsewhere"});
    assert_null(plan.refusal);
    assert_string_equal(plan.topic, "elsewhere");
    assert_int_equal(plan.partition, -1);

    event.known.correction.topic = BYTES("orders-dlq");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event});
    assert_non_null(plan.refusal);
}

static void
takes_keys_by_rule(void **state)
{
    (void)state;
    const struct {
        const char *rule, *key; // key NULL: a null key
        const char *refusal;
    } cases[] = {
        {NULL, "src-9", NULL},
        {"source_id", "src-9", NULL},
        {"event_id", "evt-1", NULL},
        {"none", NULL, NULL},
        {"$.order.no", "18446744073709551615", NULL},
        {"$.order.id", "a\xc3\xa9", NULL},
        {"$.order.lines[1]", "2", NULL},
        {"$.order.missing", NULL, "no text or number at $.order.missing"},
        {"$.order.none", NULL, "no text or number at $.order.none"},
        {"$.order.lines", NULL, "no text or number at $.order.lines"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct event event = an_event();
        make(&(struct plan_settings){.key = cases[i].rule}, &(struct plan_input){.event = &event});
        assert_true(bytes_equal(plan.key, bytes_of(cases[i].key)));
        if (cases[i].refusal)
            assert_says(plan.refusal, cases[i].refusal);
        else
            assert_null(plan.refusal);
    }

    struct event event = an_event();
    event.source_id = BYTES_ABSENT;
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event});
    assert_null(plan.refusal);
    assert_false(bytes_present(plan.key));
}

static void
knows_key_rules(void **state)
{
    (void)state;
    struct err err = {0};
    assert_true(plan_key_check(NULL, &err));
    assert_true(plan_key_check("none", &err));
    assert_true(plan_key_check("$.a['b c'][2]", &err));
    assert_false(plan_key_check("id", &err));
    assert_int_equal(err.kind, ERR_USAGE);
    err_clear(&err);
    assert_false(plan_key_check("$.a[", &err));
    assert_int_equal(err.kind, ERR_USAGE);
}

static void
keeps_the_partition_only_where_it_means_something(void **state)
{
    (void)state;
    struct event event = an_event();
    const struct topic four = {.state = TOPIC_KNOWN, .partitions = 4, .max_bytes = -1};
    const struct topic two = {.state = TOPIC_KNOWN, .partitions = 2, .max_bytes = -1};

    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &four});
    assert_int_equal(plan.partition, 3);
    make(&(struct plan_settings){.is_key_only = true}, &(struct plan_input){.event = &event, .topic = &two});
    assert_int_equal(plan.partition, -1);
    assert_null(plan.refusal);
    make(&(struct plan_settings){0},
         &(struct plan_input){.event = &event, .topic = &two, .target_topic = "elsewhere"});
    assert_int_equal(plan.partition, -1);
    assert_null(plan.refusal);
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &two});
    assert_says(plan.refusal, "partition 3 of orders no longer exists, the topic has 2");
    event.origin.has_partition = false;
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &two});
    assert_int_equal(plan.partition, -1);
    assert_null(plan.refusal);
}

static void
refuses_what_cannot_go_there(void **state)
{
    (void)state;
    const struct topic missing = {.state = TOPIC_MISSING}, denied = {.state = TOPIC_DENIED};
    const struct topic small = {.state = TOPIC_KNOWN, .partitions = 9, .max_bytes = 100};
    struct event event = an_event();

    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &missing});
    assert_says(plan.refusal, "orders does not exist");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &denied});
    assert_says(plan.refusal, "grant Describe and Write");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .topic = &small});
    assert_says(plan.refusal, "topic orders allows 100 (max.message.bytes)");
    make(&(struct plan_settings){.is_compressing = true},
         &(struct plan_input){.event = &event, .topic = &small});
    assert_null(plan.refusal);

    event.topic = BYTES("orders-dlq");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .target_topic = "orders-dlq"});
    assert_says(plan.refusal, "is itself a dead letter queue");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .target_topic = "redrive.marker"});
    assert_says(plan.refusal, "a topic of the publish protocol");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .target_topic = "orders"});
    assert_null(plan.refusal);
    static const char *const reserved[] = {MARKER_TOPIC, PROBE_TOPIC, "__consumer_offsets",
                                           "__transaction_state"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        event.topic = bytes_of(reserved[i]);
        make(&(struct plan_settings){0}, &(struct plan_input){.event = &event});
        assert_says(plan.refusal, "is a topic of the publish protocol, or of Kafka's own");
        event.topic = BYTES("orders");
        make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .target_topic = reserved[i]});
        assert_says(plan.refusal, "is a topic of the publish protocol, or of Kafka's own");
    }
    event.topic = BYTES_ABSENT;
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event});
    assert_says(plan.refusal, "names no topic");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .target_topic = "orders"});
    assert_null(plan.refusal);
}

static void
never_sends_less_than_the_original_for_want_of_time(void **state)
{
    (void)state;
    const struct event event = an_event();
    const struct original failed = {.state = ORIGINAL_FAILED, .why = "no leader"};
    const struct original other = {.state = ORIGINAL_OTHER},
                          gone = {.state = ORIGINAL_GONE, .why = "retention has removed it"};

    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .original = &failed});
    assert_says(plan.refusal, "no leader");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .original = &other});
    assert_null(plan.refusal);
    assert_says(plan.why, "the record at orders/3@17 is not this event's");
    make(&(struct plan_settings){0}, &(struct plan_input){.event = &event, .original = &gone});
    assert_null(plan.refusal);
    assert_says(plan.why, "retention has removed it");
}

static void
drops_the_headers_of_frameworks(void **state)
{
    (void)state;
    static const char *const dropped[] = {"dlq.retry.count",
                                          "kafka_dlt-exception-message",
                                          "kafka_original-topic",
                                          "retry_topic-attempts",
                                          "__connect.errors.topic",
                                          "dead-letter-reason",
                                          "delayed-retry-count",
                                          "rabbitmq.x-death",
                                          "NServiceBus.MessagingBridge.ExceptionInfo.Message",
                                          "x-death",
                                          "redrive-operator",
                                          "MT-Fault-Message",
                                          "x-original-topic"};
    static const char *const kept[] = {"traceparent", "__TypeId__",     "MT-MessageType",       "x-original",
                                       "dlq",         "correlation-id", "NServiceBus.MessageId"};
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (!dropped_header(bytes_of(dropped[i])))
            fail_msg("%s is kept", dropped[i]);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (dropped_header(bytes_of(kept[i])))
            fail_msg("%s is dropped", kept[i]);
}

static void
keeps_them_on_request(void **state)
{
    (void)state;
    struct event event = an_event();
    struct event_header headers[] = {{BYTES("x-death"), BYTES("1")},
                                     {BYTES("redrive-attempt"), BYTES("9")},
                                     {BYTES("reprocess.count"), BYTES("2")}};
    event.record.is_kept = true;
    event.record.headers = headers;
    event.record.header_count = 3;
    make(&(struct plan_settings){.keeps_headers = true},
         &(struct plan_input){.event = &event, .chunk_id = "c", .attempt = 1});
    assert_bytes(header("x-death"), "1");
    // Ours of an earlier time would contradict those of today.
    assert_bytes(header("redrive-attempt"), "1");
    assert_int_equal(times("redrive-attempt"), 1);
    assert_bytes(header("reprocess.count"), "3");
    assert_int_equal(times("reprocess.count"), 1);
}

// The record's own count and redrive's: one more than the larger.
static void
raises_the_count(void **state)
{
    (void)state;
    static const struct {
        const char *of_record;
        int32_t ours;
        const char *sent;
    } rows[] = {{"4", 1, "5"}, {"4", 4, "5"}, {"4", 5, "5"}, {"1", 7, "7"}, {"many", 2, "2"}, {"-3", 1, "1"}};
    struct event event = an_event();
    event.record.is_kept = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event_header header_of = {BYTES("reprocess.count"), bytes_of(rows[i].of_record)};
        event.record.headers = &header_of;
        event.record.header_count = 1;
        make(&(struct plan_settings){0},
             &(struct plan_input){.event = &event, .reprocess_count = rows[i].ours});
        assert_bytes(header("reprocess.count"), rows[i].sent);
        assert_int_equal(times("reprocess.count"), 1);
    }
}

// What just fits is sent, what does not by one byte, or by one partition, is refused.
static void
knows_the_edges(void **state)
{
    (void)state;
    struct event event = an_event();
    struct topic topic = {.state = TOPIC_KNOWN, .partitions = 4, .max_bytes = -1};
    const struct plan_input input = {.event = &event, .topic = &topic};
    make(&(struct plan_settings){0}, &input);
    topic.max_bytes = (int64_t)plan_size(&plan);
    make(&(struct plan_settings){0}, &input);
    assert_null(plan.refusal);
    topic.max_bytes--;
    make(&(struct plan_settings){0}, &input);
    assert_says(plan.refusal, "max.message.bytes");
    topic = (struct topic){.state = TOPIC_KNOWN, .partitions = 3, .max_bytes = -1};
    make(&(struct plan_settings){0}, &input);
    assert_says(plan.refusal, "partition 3 of orders no longer exists, the topic has 3");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sends_the_jsonb_when_nothing_better_is_known, forget),
        cmocka_unit_test_teardown(sends_the_original_with_its_key_and_headers, forget),
        cmocka_unit_test_teardown(sends_the_bytes_that_are_kept, forget),
        cmocka_unit_test_teardown(sends_the_correction_with_the_key_that_was_kept, forget),
        cmocka_unit_test_teardown(sends_every_part_that_was_corrected, forget),
        cmocka_unit_test_teardown(takes_keys_by_rule, forget),
        cmocka_unit_test_teardown(knows_key_rules, forget),
        cmocka_unit_test_teardown(keeps_the_partition_only_where_it_means_something, forget),
        cmocka_unit_test_teardown(refuses_what_cannot_go_there, forget),
        cmocka_unit_test_teardown(never_sends_less_than_the_original_for_want_of_time, forget),
        cmocka_unit_test_teardown(drops_the_headers_of_frameworks, forget),
        cmocka_unit_test_teardown(keeps_them_on_request, forget),
        cmocka_unit_test_teardown(raises_the_count, forget),
        cmocka_unit_test_teardown(knows_the_edges, forget),
    };
    return cmocka_run_group_tests_name("publish plan", tests, NULL, NULL);
}
