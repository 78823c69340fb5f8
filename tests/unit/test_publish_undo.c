// Dead letters of every format as events: what goes out is the record that failed, and what is said about it.
#include "publish/undoing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "publish/plan.h"
#include "tests/lib/envelope_case.h"
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

// --- each case of tests/cases/envelope, as an event that was taken in from its topic ---

static struct bytes
expected(const struct envelope_case *one, const char *what)
{
    for (size_t i = 0; i < one->expected_count; i++)
        if (bytes_starts(one->expected[i], what))
            return bytes_slice(one->expected[i], strlen(what), SIZE_MAX);
    return BYTES_ABSENT;
}

// The headers that are expected to be kept, or to be dropped, are those of the plan, in their order.
static void
check_headers(const struct envelope_case *one, const char *what, const struct event_header *headers,
              uint32_t count)
{
    uint32_t at = 0;
    for (size_t i = 0; i < one->expected_count; i++) {
        if (!bytes_starts(one->expected[i], what))
            continue;
        struct bytes name = bytes_slice(one->expected[i], strlen(what), SIZE_MAX);
        if (at >= count || !bytes_equal(headers[at++].name, name))
            fail_msg("%s:%d: %s%.*s", one->file, one->line, what, BYTES_ARGS(name));
    }
}

static void
check_case(const struct envelope_case *one, void *context)
{
    struct bytes send = expected(one, "send "), format = expected(one, "=> ");
    size_t space = bytes_find(send, BYTES(" "), 0);
    struct bytes topic = bytes_slice(send, 0, space);
    struct event_header headers[ENVELOPE_CASE_LINES];
    memcpy(headers, one->headers, sizeof headers);
    struct event event = {.id = 1,
                          .topic = bytes_equal_text(topic, "-") ? BYTES_ABSENT : topic,
                          .created_at = TIME_ABSENT,
                          .payload = one->record.value,
                          .record = {.is_kept = true,
                                     .topic = one->record.topic,
                                     .format = bytes_slice(format, 0, bytes_find(format, BYTES(" "), 0)),
                                     .key = one->record.key,
                                     .headers = headers,
                                     .header_count = (uint32_t)one->record.header_count}};
    ++*(int *)context;
    make(&event, NULL, NULL);
    bool is_there = bytes_present(expected(one, "send-value ")) || bytes_present(one->record.value);
    if (bytes_equal_text(topic, "-") || topic_is_queue(topic) || !is_there) {
        if (!plan.refusal)
            fail_msg("%s:%d: goes to %s", one->file, one->line, plan.topic);
        return;
    }
    if (plan.refusal || !bytes_equal_text(topic, plan.topic))
        fail_msg("%s:%d: to %s, %s", one->file, one->line, plan.topic, plan.refusal ? plan.refusal : "");
    if (!bytes_equal(plan.value, expected(one, "send-value ")))
        fail_msg("%s:%d: value %.*s", one->file, one->line, BYTES_ARGS(plan.value));
    if (bytes_present(expected(one, "send-key ")) && !bytes_equal(plan.key, expected(one, "send-key ")))
        fail_msg("%s:%d: key %.*s", one->file, one->line, BYTES_ARGS(plan.key));
    bool is_known = !bytes_starts(format, "unknown");
    if (is_known && plan.is_exact != bytes_equal_text(expected(one, "exact "), "yes"))
        fail_msg("%s:%d: exact: %s", one->file, one->line, plan.why);
    check_headers(one, "kept ", plan.headers, plan.kept_count);
    check_headers(one, "dropped ", plan.dropped, plan.dropped_count);
}

static void
what_goes_out_is_the_original(void **state)
{
    (void)state;
    int checked = 0;
    envelope_cases("tests/cases/envelope", check_case, &checked);
    assert_in_range(checked, 40, 1000);
}

// --- rows whose payload is an envelope ---

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

#define MESSAGE(error, count)                                                                                \
    "{ \"message_id\":\"m-1\", \"queue\": \"orders\",  \"data\": {\"total\": 299.90}, \"error\": " error     \
    ",\n \"retry_count\":" count " }"

static void
a_message_is_reset_and_goes_to_its_queue(void **state)
{
    (void)state;
    struct event event =
        row("orders_dlq", MESSAGE("{\"message\":\"refused\",\"code\":\"500\",\"trace\":\"t\"}", "5"));
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_string_equal(plan.topic, "orders");
    assert_says(plan.topic_why, "as its dead letter says");
    assert_bytes(plan.value, MESSAGE("null", "0"));
    assert_string_equal(plan.format, "queue-message");
    assert_says(plan.undone, "every other byte as it was");
    assert_bytes(header("reprocess.count"), "1");

    event.topic = BYTES_ABSENT; // a queue that is no topic of Kafka
    make(&event, NULL, NULL);
    assert_string_equal(plan.topic, "orders");
    event.topic = BYTES("orders.v2"); // where it was read
    make(&event, NULL, NULL);
    assert_string_equal(plan.topic, "orders.v2");
    assert_null(plan.topic_why);
    make(&event, NULL, "elsewhere");
    assert_string_equal(plan.topic, "elsewhere");
    assert_bytes(plan.value, MESSAGE("null", "0"));
}

static void
a_member_that_was_added_goes(void **state)
{
    (void)state;
    struct event event = row("execution.tickets.dlq", "{\"ticket_id\": \"t\", \"b\" : 1.00,\n"
                                                      " \"dlq_metadata\": {\"retry_count\": 3}}");
    make(&event, NULL, NULL);
    assert_string_equal(plan.topic, "execution.tickets");
    assert_says(plan.topic_why, "by the name");
    assert_bytes(plan.value, "{\"ticket_id\": \"t\", \"b\" : 1.00}");
    assert_int_equal(plan.partition, -1);
}

#define WRAPPED                                                                                              \
    "{\"originalTopic\":\"orders\",\"originalPartition\":2,\"originalKey\":\"c-1\","                         \
    "\"originalValue\":\"{\\\"a\\\": 1.0}\",\"errorMessage\":\"boom\",\"reprocessCount\":2}"

static void
a_wrapped_value_comes_out_with_its_key_and_count(void **state)
{
    (void)state;
    struct event event = row("orders-dlq", WRAPPED);
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_string_equal(plan.topic, "orders");
    assert_int_equal(plan.partition, 2);
    assert_bytes(plan.key, "c-1");
    assert_bytes(plan.value, "{\"a\": 1.0}");
    assert_bytes(header("reprocess.count"), "3");

    event.topic = BYTES("failures"); // a wrapper of another topic than the row says: who is right?
    make(&event, NULL, NULL);
    assert_says(plan.unsure, "nothing is undone");
    assert_bytes(plan.value, WRAPPED);
    assert_false(plan.is_exact);
    make(&event, "failures: of orders", NULL);
    assert_string_equal(plan.topic, "orders");
    assert_says(plan.topic_why, "setting consumers");
}

// --- what a person says wins ---

static void
a_correction_wins_for_what_it_changed(void **state)
{
    (void)state;
    struct event event = row("orders_dlq", MESSAGE("{\"message\":\"refused\"}", "5"));
    event.record = (struct event_record){.is_kept = true, .topic = BYTES("orders_dlq"), .key = BYTES("k")};
    event.known.correction.has_payload = true; // data was corrected, and the envelope is as it was
    make(&event, NULL, NULL);
    assert_int_equal(plan.source, PAYLOAD_REVISION);
    assert_bytes(plan.value, MESSAGE("null", "0"));
    assert_bytes(plan.key, "k");
    event.payload = BYTES("{\"total\": 1}"); // it took the message out itself
    event.known.correction.replaced = bytes_of(MESSAGE("{\"message\":\"refused\"}", "5"));
    make(&event, NULL, NULL);
    assert_bytes(plan.value, "{\"total\": 1}");
    assert_null(plan.unsure);
    assert_string_equal(plan.topic, "orders");
    event.known.correction.has_topic = true;
    event.known.correction.topic = BYTES("audit");
    make(&event, NULL, NULL);
    assert_string_equal(plan.topic, "audit");
    assert_null(plan.topic_why);
}

static void
nothing_is_undone_where_two_formats_send_different_values(void **state)
{
    (void)state;
    struct event_header headers[] = {{BYTES("dlq.error.message"), BYTES("boom")},
                                     {BYTES("dlq.original.topic"), BYTES("orders")},
                                     {BYTES("traceparent"), BYTES("00-1")}};
    struct event event = row("orders-dlq", "{\"a\":1,\"dlq_metadata\":{}}");
    event.record = (struct event_record){
        .is_kept = true, .topic = BYTES("orders-dlq"), .headers = headers, .header_count = 3};
    make(&event, NULL, NULL);
    assert_says(plan.unsure, "dlq-headers and like dlq-metadata");
    assert_bytes(plan.value, "{\"a\":1,\"dlq_metadata\":{}}");
    assert_false(plan.is_exact);
    assert_int_equal(plan.dropped_count, 2); // headers of a failure are not sent on in any case
    make(&event, "orders-dlq: format dlq-metadata", NULL);
    assert_null(plan.unsure);
    assert_bytes(plan.value, "{\"a\":1}");
    make(&event, "orders-dlq: format dlq-headers", NULL);
    assert_bytes(plan.value, "{\"a\":1,\"dlq_metadata\":{}}");
    assert_true(plan.is_exact);
    make(&event, "orders-dlq: format unknown", NULL);
    assert_bytes(plan.value, "{\"a\":1,\"dlq_metadata\":{}}");
    assert_null(plan.format);
    event.record.format = BYTES("dlq-metadata"); // as it was taken in, and as people have seen it
    make(&event, NULL, NULL);
    assert_bytes(plan.value, "{\"a\":1}");
}

static void
a_topic_that_moved_is_the_new_one(void **state)
{
    (void)state;
    struct event event = row("orders.v1", "{}");
    event.origin =
        (struct event_origin){.partition = 4, .offset = 9, .has_partition = true, .has_offset = true};
    make(&event, "orders.v1: moved orders.v2", NULL);
    assert_string_equal(plan.topic, "orders.v2");
    assert_int_equal(plan.partition, -1);
    assert_says(plan.topic_why, "orders.v1 moved there");
    make(&event, "orders.v1: moved orders.v2", "orders.v1"); // a person says so now
    assert_string_equal(plan.topic, "orders.v1");
    event.topic = BYTES("orders.v1-dlt");
    make(&event, "orders.v1: moved orders.v2", NULL);
    assert_string_equal(plan.topic, "orders.v2");
}

// --- what cannot be had ---

static void
a_pointer_is_no_tombstone(void **state)
{
    (void)state;
    struct event_header headers[] = {{BYTES("__dlq.errors.topic"), BYTES("orders")},
                                     {BYTES("__dlq.errors.partition"), BYTES("1")},
                                     {BYTES("__dlq.errors.offset"), BYTES("12")}};
    struct event event = row("orders", "");
    event.payload = BYTES_ABSENT;
    event.origin =
        (struct event_origin){.partition = 1, .offset = 12, .has_partition = true, .has_offset = true};
    event.record = (struct event_record){
        .is_kept = true, .topic = BYTES("dlq.orders"), .headers = headers, .header_count = 3};
    assert_true(undoing_is_pointer(&event));
    assert_true(plan_wants_original(&event));
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_says(plan.why, "the worker reads the original at orders/1@12");
    const struct plan_settings settings = {0};
    struct original original = {.state = ORIGINAL_GONE, .why = "retention has removed it"};
    const struct plan_input input = {.event = &event, .original = &original};
    plan_make(&settings, &input, &arena, &plan);
    assert_says(plan.refusal, "retention has removed it");
    struct event_header own = {BYTES("traceparent"), BYTES("00-1")};
    original = (struct original){.state = ORIGINAL_FOUND,
                                 .record = {.key = BYTES("k"),
                                            .value = BYTES("v"),
                                            .headers = &own,
                                            .header_count = 1,
                                            .timestamp = 1600000000000000}};
    plan_make(&settings, &input, &arena, &plan);
    assert_null(plan.refusal);
    assert_true(plan.is_exact);
    assert_bytes(plan.value, "v");
    assert_bytes(plan.key, "k");
    assert_bytes(header("traceparent"), "00-1");

    event.record.header_count = 0; // a null that no format explains is a tombstone
    assert_false(undoing_is_pointer(&event));
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_false(bytes_present(plan.value));
}

// redrive ingest has read it already, or knows that it is gone.
static void
what_a_pointer_points_at_is_sent(void **state)
{
    (void)state;
    struct event_header headers[] = {{BYTES("__dlq.errors.topic"), BYTES("orders")},
                                     {BYTES("__dlq.errors.partition"), BYTES("1")},
                                     {BYTES("__dlq.errors.offset"), BYTES("12")}};
    struct event_header own[] = {{BYTES("traceparent"), BYTES("00-1")},
                                 {BYTES("reprocess.count"), BYTES("2")}};
    struct event event = row("orders", "{ \"a\" : 1.0 }");
    event.origin =
        (struct event_origin){.partition = 1, .offset = 12, .has_partition = true, .has_offset = true};
    event.record = (struct event_record){
        .is_kept = true, .topic = BYTES("dlq.orders"), .headers = headers, .header_count = 3};
    event.record.original = (struct event_original){.state = EVENT_ORIGINAL_FETCHED,
                                                    .topic = BYTES("orders"),
                                                    .partition = 1,
                                                    .offset = 12,
                                                    .timestamp = 1600000000000000,
                                                    .key = BYTES("k"),
                                                    .headers = own,
                                                    .header_count = 2};
    assert_false(plan_wants_original(&event));
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_true(plan.is_exact);
    assert_true(plan.received.is_exact);
    assert_says(plan.why, "as redrive ingest read it at orders/1@12");
    assert_bytes(plan.value, "{ \"a\" : 1.0 }");
    assert_bytes(plan.key, "k");
    assert_int_equal(plan.partition, 1);
    assert_bytes(header("traceparent"), "00-1");
    assert_bytes(header("reprocess.count"), "3");
    assert_bytes(header("redrive-original-timestamp"), "1600000000000");
    assert_false(bytes_present(header("__dlq.errors.topic")));
    assert_bytes(event_original_text(&event, &arena), "fetched from orders, partition 1, offset 12");

    // A correction of it takes the place of the value alone.
    event.payload = event.known.correction.payload = BYTES("{\"a\":2}");
    event.known.correction.has_payload = true;
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_bytes(plan.value, "{\"a\":2}");
    assert_bytes(plan.key, "k");
    assert_bytes(header("traceparent"), "00-1");

    event.known.correction = (struct correction){0};
    event.payload = BYTES_ABSENT;
    event.record.original = (struct event_original){.state = EVENT_ORIGINAL_GONE,
                                                    .topic = BYTES("orders"),
                                                    .partition = 1,
                                                    .offset = 12,
                                                    .why = BYTES("retention has removed it")};
    assert_false(plan_wants_original(&event));
    make(&event, NULL, NULL);
    assert_says(plan.refusal, "which cannot be read: retention has removed it; correct the payload");
    assert_bytes(event_original_text(&event, &arena),
                 "gone from orders, partition 1, offset 12: retention has removed it");

    event.record.original.state = EVENT_ORIGINAL_WAITING;
    assert_true(plan_wants_original(&event));
    make(&event, NULL, NULL);
    assert_null(plan.refusal);
    assert_says(plan.why, "the worker reads the original at orders/1@12");
}

static void
a_record_that_was_not_seen_does_not_change_the_topic(void **state)
{
    (void)state;
    struct event_header said = {BYTES("dlq.original.topic"), BYTES("payments")};
    struct event event = row("orders-dlq", "{}");
    event.origin =
        (struct event_origin){.partition = 0, .offset = 3, .has_partition = true, .has_offset = true};
    const struct original original = {.state = ORIGINAL_FOUND,
                                      .record = {.value = BYTES("{}"), .headers = &said, .header_count = 1}};
    const struct plan_settings settings = {0};
    plan_make(&settings, &(struct plan_input){.event = &event, .original = &original}, &arena, &plan);
    assert_says(plan.refusal, "the dead letter in Kafka is of payments");
    said.value = BYTES("orders");
    plan_make(&settings, &(struct plan_input){.event = &event, .original = &original}, &arena, &plan);
    assert_null(plan.refusal);
    assert_string_equal(plan.topic, "orders");
    said.value = BYTES("pay ments");
    event.record = (struct event_record){
        .is_kept = true, .topic = BYTES("orders-dlq"), .headers = &said, .header_count = 1};
    make(&event, NULL, NULL);
    assert_says(plan.refusal, "cannot be one");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_out_is_the_original),
        cmocka_unit_test(a_message_is_reset_and_goes_to_its_queue),
        cmocka_unit_test(a_member_that_was_added_goes),
        cmocka_unit_test(a_wrapped_value_comes_out_with_its_key_and_count),
        cmocka_unit_test(a_correction_wins_for_what_it_changed),
        cmocka_unit_test(nothing_is_undone_where_two_formats_send_different_values),
        cmocka_unit_test(a_topic_that_moved_is_the_new_one),
        cmocka_unit_test(a_pointer_is_no_tombstone),
        cmocka_unit_test(what_a_pointer_points_at_is_sent),
        cmocka_unit_test(a_record_that_was_not_seen_does_not_change_the_topic),
    };
    return cmocka_run_group_tests_name("publish undo", tests, NULL, forget);
}
