// Payloads that somebody corrected inside of their dead letter: sent as the original would be, but for the
// payload.
#include "publish/undoing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "publish/plan.h"
#include "tests/unit/plan_fixture.h"

static const struct topic_rules *
rules_of(const char *rows)
{
    struct err err = {0};
    const struct topic_rules *rules = topic_rules_read(rows, &arena, &err);
    if (!rules)
        fail_msg("%s", err.text);
    return rules;
}

static void
make(const struct event *event, const char *rows, const char *to)
{
    const struct plan_settings settings = {.rules = rows ? rules_of(rows) : NULL};
    const struct plan_input input = {.event = event, .target_topic = to, .reprocess_count = 1};
    plan_make(&settings, &input, &arena, &plan);
}

static struct event
row(const char *topic, const char *payload)
{
    return (struct event){.id = 7,
                          .event_id = BYTES("e-7"),
                          .source_id = BYTES("s-7"),
                          .topic = topic ? bytes_of(topic) : BYTES_ABSENT,
                          .created_at = 1700000000000000,
                          .payload = bytes_of(payload)};
}

#define WRAPPED                                                                                              \
    "{\"originalTopic\":\"orders\",\"originalPartition\":2,\"originalKey\":\"c-1\","                         \
    "\"originalValue\":\"{\\\"a\\\": 1.0}\",\"errorMessage\":\"boom\",\"reprocessCount\":2}"

static void
check_same_headers(const struct event_header *a, uint32_t a_count, const struct event_header *b,
                   uint32_t b_count)
{
    assert_int_equal(a_count, b_count);
    for (uint32_t i = 0; i < a_count; i++) {
        assert_true(bytes_equal(a[i].name, b[i].name));
        assert_true(bytes_equal(a[i].value, b[i].value));
    }
}

// The dead letter as it is, then with `inside` as the corrected payload.
static void
check_inside(struct event event, const char *rows, const char *inside)
{
    event.known.correction.has_payload = false;
    make(&event, rows, NULL);
    const struct plan before = plan;
    assert_null(before.refusal);
    event.known.correction.has_payload = true;
    event.known.correction.replaced = event.payload;
    event.payload = bytes_of(inside);
    make(&event, rows, NULL);
    assert_null(plan.refusal);
    assert_null(plan.unsure);
    assert_bytes(plan.value, inside);
    assert_int_equal(plan.source, PAYLOAD_REVISION);
    assert_false(plan.is_exact);
    assert_says(plan.undone, "the corrected payload as it is");
    assert_string_equal(plan.topic, before.topic);
    assert_string_equal(plan.topic_why ? plan.topic_why : "", before.topic_why ? before.topic_why : "");
    assert_int_equal(plan.partition, before.partition);
    assert_true(bytes_equal(plan.key, before.key));
    check_same_headers(plan.headers, plan.header_count, before.headers, before.header_count);
    check_same_headers(plan.dropped, plan.dropped_count, before.dropped, before.dropped_count);
}

#define ENTRY(payload)                                                                                       \
    "{\"mensagem\":{\"id\":\"m-3\",\"payload\":" payload ",\"headers\":{\"tenant\":\"acme\","                \
    "\"reprocess.count\":\"4\"},\"timestamp\":\"2024-03-01T10:00:00Z\"},\"motivoFalha\":\"boom\"}"

static void
a_correction_of_what_was_inside_keeps_key_topic_and_headers(void **state)
{
    (void)state;
    struct event_header headers[] = {{BYTES("traceparent"), BYTES("00-1")}};
    struct event event = row(NULL, WRAPPED);
    event.record = (struct event_record){.is_kept = true,
                                         .topic = BYTES("central-dlq"),
                                         .format = BYTES("dlq-wrapper"),
                                         .key = BYTES("other"),
                                         .headers = headers,
                                         .header_count = 1};
    check_inside(event, NULL, "{\"a\": 2.0}");
    assert_string_equal(plan.topic, "orders");
    assert_int_equal(plan.partition, 2);
    assert_bytes(plan.key, "c-1");
    assert_bytes(header("reprocess.count"), "3");
    assert_bytes(header("traceparent"), "00-1");
    check_inside(event, "central-dlq: format dlq-wrapper", "not even JSON");

    event.payload = BYTES(ENTRY("{ \"a\" :1.0 }"));
    event.record.format = BYTES("dlq-entry");
    event.record.topic = BYTES("orders.dlq");
    check_inside(event, NULL, "{ \"a\" :2.0 }");
    assert_bytes(header("tenant"), "acme");
    assert_bytes(header("redrive-original-timestamp"), "1709287200000");
    assert_bytes(plan.key, "other");
    assert_string_equal(plan.topic, "orders");

    event = row("orders-dlq", WRAPPED); // a row whose payload is the wrapper; no record is kept
    check_inside(event, NULL, "{\"a\": 2.0}");
    assert_bytes(plan.key, "c-1");
}

static void
a_correction_that_took_the_failure_out_keeps_the_rest(void **state)
{
    (void)state;
    struct event event =
        row("execution.tickets.dlq", "{\"b\" : 1.00, \"dlq_metadata\": {\"retry_count\": 3}}");
    event.record = (struct event_record){
        .is_kept = true, .topic = BYTES("execution.tickets.dlq"), .format = BYTES("dlq-metadata")};
    check_inside(event, NULL, "{\"b\" : 2.00}");
}

// The format is remembered from the dead letter; what was inside of it may have a member of that name, too.
static void
a_correction_that_was_inside_is_not_undone_again(void **state)
{
    (void)state;
    const char *wrapped = "{\"cause\":\"c\",\"contextMessage\":\"m\",\"stack\":\"s\",\"value\":"
                          "\"{\\\"id\\\":1,\\\"value\\\":21}\"}";
    const char *inside = "{\"id\":1,\"value\":21}";
    struct event event = row("orders", wrapped);
    event.record = (struct event_record){
        .is_kept = true, .topic = BYTES("orders-dlq"), .format = BYTES("kstreamplify"), .key = BYTES("k")};
    check_inside(event, NULL, inside);
    check_inside(event, "orders-dlq: format kstreamplify", inside);
    event.known.correction.has_payload = true; // the wrapper was corrected, and is one still
    event.known.correction.replaced = bytes_of(wrapped);
    make(&event, NULL, NULL);
    assert_bytes(plan.value, inside);
    assert_null(plan.unsure);
    event.payload = bytes_of(inside);
    event.known.correction.replaced = BYTES_ABSENT; // PostgreSQL cannot return it
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_bytes(plan.value, inside);
    assert_bytes(plan.key, "k");
    assert_null(plan.undone);
    assert_says(plan.unsure, "does not look like kstreamplify");
}

// A wrapper in a wrapper: the one that was corrected may be either.
static void
a_correction_of_one_of_two_wrappers_is_not_guessed(void **state)
{
    (void)state;
    const char *inner = "{\"originalTopic\":\"orders\",\"originalValue\":\"x\"}";
    struct event event = row("orders-dlq", inner);
    event.known.correction.has_payload = true;
    event.known.correction.replaced =
        BYTES("{\"originalTopic\":\"orders\",\"originalValue\":"
              "\"{\\\"originalTopic\\\":\\\"orders\\\",\\\"originalValue\\\":\\\"x\\\"}\"}");
    make(&event, NULL, NULL);
    assert_bytes(plan.value, inner);
    assert_says(plan.unsure, "both look like dlq-wrapper");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correction_of_what_was_inside_keeps_key_topic_and_headers),
        cmocka_unit_test(a_correction_that_took_the_failure_out_keeps_the_rest),
        cmocka_unit_test(a_correction_of_one_of_two_wrappers_is_not_guessed),
        cmocka_unit_test(a_correction_that_was_inside_is_not_undone_again),
    };
    return cmocka_run_group_tests_name("publish corrected", tests, NULL, forget);
}
