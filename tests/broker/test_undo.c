// Dead letters of four formats, sent by a worker to a real Kafka: a consumer reads the records that failed.
#include "tests/broker/fixture.h"

static struct broker_fixture fixture = {.stem = "undo", .partitions = 3};

// What failed, and its dead letter as the value of a record or of a row; its topic is %1$s.
static const struct {
    const char *name, *key, *original;
    int32_t partition;         // -1: any
    const char *letter;        // value
    const char *names;         // of headers, as an array of PostgreSQL
    const char *header_values; // likewise
} letters[] = {
    {"headers", "c-1", "{ \"a\" :1.0, \"n\":12345678901234567.89 }", 2,
     "{ \"a\" :1.0, \"n\":12345678901234567.89 }",
     "{traceparent,dlq.original.topic,dlq.original.partition,dlq.error.message,dlq.retry.count}",
     "'00-1', '%1$s', '2', 'boom', '3'"},
    {"wrapper", "c-2", "{\"a\": \"\xc3\xa9\",  \"b\":1e2}", 1,
     "{\"originalTopic\":\"%1$s\",\"originalPartition\":1,\"originalKey\":\"c-2\","
     "\"originalValue\":\"{\\\"a\\\": \\\"\xc3\xa9\\\",  \\\"b\\\":1e2}\",\"errorMessage\":\"boom\"}",
     "{traceparent}", "'00-1'"},
    {"message", "c-3",
     "{\"message_id\":\"m\", \"queue\":\"%1$s\",\"data\":{\"t\":299.90}, \"error\":null,\n\"retry_count\": 0 "
     "}",
     -1,
     "{\"message_id\":\"m\", \"queue\":\"%1$s\",\"data\":{\"t\":299.90}, \"error\":{\"message\":\"x\"},\n"
     "\"retry_count\": 5 }",
     "{traceparent}", "'00-1'"},
    {"metadata", "c-4", "{\"ticket_id\" : \"t\",\t\"x\":1.00}", -1,
     "{\"ticket_id\" : \"t\",\t\"x\":1.00, \"dlq_metadata\":{\"error_type\":\"E\",\"retry_count\":3}}",
     "{traceparent}", "'00-1'"},
};
enum { LETTERS = sizeof letters / sizeof *letters };

static const char *
with_topic(const char *text)
{
    struct strbuf out = {0};
    for (const char *at; (at = strstr(text, "%1$s")); text = at + 4) {
        strbuf_add(&out, (struct bytes){text, (size_t)(at - text)});
        strbuf_add_text(&out, fixture.topic);
    }
    strbuf_add_text(&out, text);
    const char *copy = arena_text(&fixture.world.arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return copy;
}

static int seen[LETTERS];

static void
take(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    long id = strtol(header_text(message, "redrive-event-id"), NULL, 10);
    assert_in_range(id, 1, LETTERS);
    const char *name = letters[id - 1].name, *original = with_topic(letters[id - 1].original);
    seen[id - 1]++;
    if (message->len != strlen(original) || memcmp(message->payload, original, message->len) != 0)
        fail_msg("%s: %.*s", name, (int)message->len, (const char *)message->payload);
    assert_int_equal(message->key_len, strlen(letters[id - 1].key));
    assert_memory_equal(message->key, letters[id - 1].key, message->key_len);
    if (letters[id - 1].partition >= 0)
        assert_int_equal(message->partition, letters[id - 1].partition);
    assert_string_equal(header_text(message, "traceparent"), "00-1");
    assert_string_equal(header_text(message, "dlq.error.message"), "");
    assert_string_equal(header_text(message, "dlq.original.topic"), "");
    assert_string_equal(header_text(message, "reprocess.count"), "1");
}

// They lie in a queue whose name does not say where they are from.
static void
what_arrives_is_the_original(void **state)
{
    (void)state;
    struct world *world = &fixture.world;
    for (int i = 0; i < LETTERS; i++)
        test_sql(
            world->admin,
            "INSERT INTO dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic)"
            " VALUES (%d, 'e%d', 't', '{}', 'x', 'central-dlq');"
            "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names,"
            " header_values) VALUES (%d, 'central-dlq', 0, %d, '%s', convert_to($x$%s$x$, 'UTF8'), '%s',"
            " ARRAY[%s]::bytea[])",
            i + 1, i + 1, i + 1, i, i == 1 ? "other" : letters[i].key, with_topic(letters[i].letter),
            letters[i].names, with_topic(letters[i].header_values));
    // By its name the queue is of `central`; only two of the formats name the topic themselves.
    char rules[200];
    snprintf(rules, sizeof rules, "central-dlq: of %s", fixture.topic);
    int64_t no = make_operation(world, world->store, ACTION_REPROCESS, 1, LETTERS);
    const struct work_how how = {.operation = no, .consumers = rules};
    assert_works(work_here(world, &how, &err));
    assert_int_equal(get_operation(world, no).done, LETTERS);
    assert_int_equal(read_topic(fixture.topic, fixture.partitions, "read_committed", take, NULL), LETTERS);
    for (int i = 0; i < LETTERS; i++)
        assert_int_equal(seen[i], 1);
    // Where a chunk in doubt would be searched for: where the letters went, which is no row's topic.
    char expected[200];
    snprintf(expected, sizeof expected, "{%s}", fixture.topic);
    assert_string_equal(test_text(world->admin, "SELECT topics::text FROM redrive.chunk"), expected);
}

// What was inside of two dead letters, and what somebody corrected it to; each lies there twice, and only the
// second one is corrected.
static const struct {
    const char *name, *letter, *original, *corrected, *key;
} corrected[] = {
    {"wrapper",
     "{\"originalTopic\":\"%1$s\",\"originalPartition\":2,\"originalKey\":\"c-2\",\"reprocessCount\":4,"
     "\"originalTimestamp\":1700000000000,\"originalValue\":\"{\\\"a\\\": 1.0}\",\"errorMessage\":\"boom\"}",
     "{\"a\": 1.0}", "{\"a\":  2.00}", "c-2"},
    {"entry",
     "{\"mensagem\":{\"id\":\"m-3\",\"payload\":{ \"a\" :1.0 },\"headers\":{\"tenant\":\"acme\"},"
     "\"timestamp\":\"2024-03-01T10:00:00Z\"},\"motivoFalha\":\"boom\",\"tentativasRealizadas\":2}",
     "{ \"a\" :1.0 }", "{ \"a\" :2.00 }", "k"},
};
enum { PAIRS = sizeof corrected / sizeof *corrected };

static const char *sent[2 * PAIRS]; // partition, key and headers of each

// Two records of a pair differ in these.
static bool
is_of_event(const char *name)
{
    return strcmp(name, "redrive-event-id") == 0;
}

static void
take_corrected(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    size_t at = strtoul(header_text(message, "redrive-event-id"), NULL, 10) - 1;
    assert_in_range(at, 0, 2 * PAIRS - 1);
    const char *value = at % 2 ? corrected[at / 2].corrected : corrected[at / 2].original;
    if (message->len != strlen(value) || memcmp(message->payload, value, message->len) != 0)
        fail_msg("%s: %.*s", corrected[at / 2].name, (int)message->len, (const char *)message->payload);
    assert_int_equal(message->key_len, strlen(corrected[at / 2].key));
    assert_memory_equal(message->key, corrected[at / 2].key, message->key_len);

    struct strbuf text = {0};
    rd_kafka_headers_t *headers;
    const char *name;
    const void *bytes;
    size_t size;
    strbuf_printf(&text, "partition %d", message->partition);
    assert_int_equal(rd_kafka_message_headers(message, &headers), 0);
    for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &bytes, &size) == 0; i++)
        if (!is_of_event(name))
            strbuf_printf(&text, "\n%s=%.*s", name, (int)size, (const char *)bytes);
    sent[at] = arena_text(&fixture.world.arena, strbuf_bytes(&text));
    strbuf_release(&text);
}

static void
a_corrected_inside_goes_as_the_original_would(void **state)
{
    (void)state;
    struct world *world = &fixture.world;
    for (int i = 0; i < 2 * PAIRS; i++) {
        test_sql(
            world->admin,
            "INSERT INTO dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic)"
            " VALUES (%d, 'e%d', 't', '{}', 'x', 'central-dlq');"
            "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names,"
            " header_values) VALUES (%d, 'central-dlq', 0, %d, 'k', convert_to($x$%s$x$, 'UTF8'),"
            " '{traceparent}', ARRAY['00-1']::bytea[])",
            i + 1, i + 1, i + 1, i, with_topic(corrected[i / 2].letter));
        if (i % 2)
            test_sql(world->admin,
                     "SELECT redrive.event_correct(%d, 0, '%s', false, NULL, NULL, NULL, NULL, NULL, 'x')",
                     i + 1, corrected[i / 2].corrected);
    }
    char rules[200];
    snprintf(rules, sizeof rules, "central-dlq: of %s", fixture.topic);
    int64_t no = make_operation(world, world->store, ACTION_REPROCESS, 1, 2 * PAIRS);
    const struct work_how how = {.operation = no, .consumers = rules};
    assert_works(work_here(world, &how, &err));
    assert_int_equal(read_topic(fixture.topic, fixture.partitions, "read_committed", take_corrected, NULL),
                     2 * PAIRS);
    for (size_t i = 0; i < PAIRS; i++)
        assert_string_equal(sent[2 * i], sent[2 * i + 1]);
    assert_non_null(strstr(sent[0], "partition 2"));
    assert_non_null(strstr(sent[0], "\nreprocess.count=5"));
    assert_non_null(strstr(sent[2], "\ntenant=acme"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(what_arrives_is_the_original),
        on_fixture(a_corrected_inside_goes_as_the_original_would),
    };
    return cmocka_run_group_tests_name("undo", tests, NULL, NULL);
}
