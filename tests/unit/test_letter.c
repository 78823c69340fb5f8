// From a record of a dead letter topic to the row that it gets; its checksum (base/crc32c).
#include "ingest/letter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/crc32c.h"
#include "core/json/json.h"
#include "tests/lib/envelope_case.h"

static struct arena arena;

// As the ingester does: what reading takes is gone before the letter is looked at.
static void
read_and_keep(const struct envelope_record *record, const struct letter_place *place,
              struct ingest_letter *letter)
{
    struct arena moment = {0};
    letter_read(record, place, &moment, letter);
    letter_keep(letter, record, &arena);
    arena_release(&moment);
}

static struct ingest_letter
read_letter(struct envelope_record record, int32_t generation)
{
    struct ingest_letter letter;
    const struct letter_place place = {.cluster = "kafka-1", .topic = "orders-dlq", .generation = generation};
    record.topic = BYTES("orders-dlq");
    read_and_keep(&record, &place, &letter);
    return letter;
}

static void
assert_text(struct bytes b, const char *wanted)
{
    if (!bytes_equal_text(b, wanted))
        fail_msg("%.*s instead of %s", BYTES_ARGS(b), wanted);
}

static struct ingest_letter
read_by(const char *row, struct envelope_record record, const char *topic)
{
    struct ingest_letter letter;
    struct err err = {0};
    const struct topic_rules *rules = topic_rules_read(row, &arena, &err);
    if (!rules)
        fail_msg("%s", err.text);
    const struct letter_place place = {
        .cluster = "kafka-1", .topic = topic, .rule = topic_rule_of(rules, topic)};
    record.topic = bytes_of(topic);
    read_and_keep(&record, &place, &letter);
    return letter;
}

// Two dead letters of one ticket are one event, whatever else differs; those of other topics are others.
static void
a_team_says_where_the_columns_are(void **state)
{
    (void)state;
    static const char rows[] =
        "tickets-dlq: key $.ticket_id, type header:ce_type, source $.meta.table, correlation $.trace\n"
        "tickets.dlq: key $.ticket_id\norders-dlq: key $.ticket_id\nkeys-dlq: key key\n"
        "failures: of tickets, key $.ticket_id";
    const struct event_header header = {BYTES("ce_type"), BYTES("TicketOpened")};
    struct envelope_record record = {
        .key = BYTES("k1"),
        .value =
            BYTES("{\"ticket_id\": 4711, \"meta\": {\"table\": \"tickets\"}, \"trace\": "
                  "\"00000000-0000-0000-0000-000000000007\", \"dlq_metadata\": {\"error_type\": \"E\"}}"),
        .headers = &header,
        .header_count = 1};
    struct ingest_letter first = read_by(rows, record, "tickets-dlq");
    assert_text(first.event_id, "4711");
    assert_text(first.event_type, "TicketOpened");
    assert_text(first.source_table, "tickets");
    assert_true(first.has_correlation);
    assert_int_equal(first.correlation[15], 7);
    record.value = BYTES("{\"ticket_id\": \"4711\"}");
    record.offset = 9;
    assert_true(read_by(rows, record, "tickets.dlq").identity == first.identity);
    assert_true(read_by(rows, record, "failures").identity == first.identity);
    assert_false(read_by(rows, record, "orders-dlq").identity == first.identity);
    assert_text(read_by(rows, record, "keys-dlq").event_id, "k1");
    // Without a key it is what it would be without the rule.
    record.value = BYTES("{\"ticket\": 1}");
    assert_text(read_by(rows, record, "tickets-dlq").event_id, "tickets-dlq/0/9");
}

static void
the_crc_is_castagnolis(void **state)
{
    (void)state;
    assert_int_equal(crc32c(0, BYTES("123456789")), 0xE3069283);
    char zeros[32] = {0}; // RFC 3720, B.4
    assert_int_equal(crc32c(0, (struct bytes){zeros, sizeof zeros}), 0x8A9136AA);
    assert_int_equal(crc32c(crc32c(0, BYTES("1234")), BYTES("56789")), 0xE3069283);
    char text[40];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 37);
    for (size_t from = 0; from < 8; from++)
        for (size_t to = from; to <= sizeof text; to++) {
            struct bytes b = {text + from, to - from};
            assert_int_equal(crc32c(7, b), crc32c_by_tables(7, b));
        }
    assert_int_equal(crc32c(7, BYTES_ABSENT), 7);
}

static void
the_crc_tells_records_apart(void **state)
{
    (void)state;
    const struct event_header header = {BYTES("a"), BYTES("b")};
    const struct envelope_record records[] = {
        {.value = BYTES("v")},
        {.key = BYTES("v")},
        {.key = BYTES(""), .value = BYTES("v")},
        {.value = BYTES("v"), .timestamp = 1000},
        {.value = BYTES("v"), .headers = &header, .header_count = 1},
        {.key = BYTES_ABSENT},
    };
    enum { COUNT = sizeof records / sizeof *records };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(letter_crc(&records[i]) != letter_crc(&records[j]));
}

static void
ids_fit_and_stay_different(void **state)
{
    (void)state;
    char value[300], longest[51] = "";
    struct ingest_letter letters[3];
    for (int i = 0; i < 2; i++) {
        snprintf(value, sizeof value,
                 "{\"message_id\": \"an-id-that-is-much-longer-than-the-column-of-the-table-%d\", \"queue\": "
                 "\"q\", "
                 "\"data\": {}, \"error\": {\"message\": \"m\"}, \"retry_count\": 1}",
                 i);
        letters[i] = read_letter((struct envelope_record){.value = bytes_of(value)}, 0);
        assert_int_equal(letters[i].event_id.len, 50);
        assert_true(strncmp(longest, letters[i].event_id.data, 50) != 0);
        memcpy(longest, letters[i].event_id.data, 50);
    }
    assert_true(letters[0].identity != letters[1].identity);
    // The same offset of a topic that was made anew is another event.
    letters[0] = read_letter((struct envelope_record){.value = BYTES("{}"), .offset = 7}, 0);
    letters[1] = read_letter((struct envelope_record){.value = BYTES("{}"), .offset = 7}, 1);
    assert_text(letters[0].event_id, "orders-dlq/0/7");
    assert_text(letters[1].event_id, "orders-dlq#1/0/7");
}

static void
texts_are_text_and_bytes_are_kept(void **state)
{
    (void)state;
    const struct event_header headers[] = {
        {BYTES("dlq.error.message"), {"a\0b\xff", 4}},
        {BYTES("redrive-event-id"), BYTES("12")},
    };
    struct ingest_letter letter = read_letter(
        (struct envelope_record){.value = BYTES("{\"n\": 1e99999}"), .headers = headers, .header_count = 2},
        0);
    assert_true(letter.was_sent);
    assert_text(letter.payload, "{\"not_json\":\"a number of too many digits\",\"bytes\":14}");
    assert_text(letter.value, "{\"n\": 1e99999}");
    assert_int_equal(letter.headers[0].value.len, 4);
    assert_true(bytes_find(letter.error_message, (struct bytes){"\0", 1}, 0) == SIZE_MAX);

    letter = read_letter((struct envelope_record){.value = BYTES_ABSENT, .timestamp = INT64_MAX}, 0);
    assert_text(letter.payload, "{\"not_json\":\"no value\",\"bytes\":0}");
    assert_text(letter.error_message, "orders-dlq says no error (format unknown)");
    assert_true(letter.timestamp == TIME_ABSENT);
    assert_text(letter.original.topic, "orders");
    assert_text(letter.event_type, "orders");
}

static const struct schema *
schema_42(void *schema, const char *name)
{
    return strcmp(name, "42") == 0 || strcmp(name, "orders.value") == 0 ? schema : NULL;
}

static struct ingest_letter
read_with_schema(struct bytes value, const struct schema *schema)
{
    struct ingest_letter letter;
    const struct envelope_record record = {.topic = BYTES("orders-dlq"), .value = value, .offset = 7};
    const struct letter_place place = {.cluster = "kafka-1",
                                       .topic = "orders-dlq",
                                       .find_schema = schema_42,
                                       .find_context = (void *)(uintptr_t)schema};
    read_and_keep(&record, &place, &letter);
    assert_true(bytes_equal(letter.value, value));
    assert_text(letter.event_id, "orders-dlq/0/7"); // whether it is decoded or not
    return letter;
}

// A value is decoded where its schema is known, waits where it is not, and says where it is none of it.
static void
a_value_with_a_schema_is_shown_by_it(void **state)
{
    (void)state;
    struct err err = {0};
    const struct bytes text = BYTES("{\"type\":\"array\",\"items\":\"long\"}");
    const struct schema *schema = schema_read(SCHEMA_AVRO, &text, 1, &arena, &err);
    const struct bytes named = {"\0\0\0\0\x2a\x02\x0e\0", 8};

    struct ingest_letter letter = read_with_schema(named, schema);
    assert_text(letter.payload, "[7]");
    assert_string_equal(letter.schema, "42");
    assert_string_equal(letter.decoding, "decoded");

    letter = read_with_schema((struct bytes){"\x02\x0e\0", 3}, schema);
    assert_text(letter.payload, "[7]");
    assert_string_equal(letter.schema, "orders.value");

    letter = read_with_schema(named, NULL);
    assert_text(letter.payload,
                "{\"not_json\":\"schema 42 of a schema registry (Avro or Protobuf)\",\"bytes\":8}");
    assert_string_equal(letter.decoding, "waiting");

    letter = read_with_schema((struct bytes){"\0\0\0\0\x2a\x02", 6}, schema);
    assert_text(letter.payload,
                "{\"not_json\":\"schema 42: byte 1: the value ends within a number\",\"bytes\":6}");
    assert_string_equal(letter.decoding, "failed");

    letter = read_with_schema(BYTES("{\"n\": 1}"), schema);
    assert_text(letter.payload, "{\"n\": 1}");
    assert_null(letter.schema);
}

static struct ingest_letter
read_pointer(const struct kept_original *original, const char *rows)
{
    const struct event_header headers[] = {{BYTES("__dlq.errors.topic"), BYTES("orders")},
                                           {BYTES("__dlq.errors.partition"), BYTES("3")},
                                           {BYTES("__dlq.errors.offset"), BYTES("12")}};
    struct ingest_letter letter;
    struct err err = {0};
    const struct topic_rules *rules = topic_rules_read(rows, &arena, &err);
    const struct envelope_record record = {
        .topic = BYTES("dlq.orders"), .offset = 7, .headers = headers, .header_count = 3};
    const struct letter_place place = {.cluster = "kafka-1",
                                       .topic = "dlq.orders",
                                       .rule = topic_rule_of(rules, "dlq.orders"),
                                       .original = original};
    read_and_keep(&record, &place, &letter);
    assert_false(bytes_present(letter.value)); // the dead letter's bytes stay its own
    assert_int_equal(letter.header_count, 3);
    assert_int_equal(letter.crc, letter_crc(&record));
    return letter;
}

// A dead letter without a copy has what its original says, once that was read.
static void
a_pointer_is_read_with_its_original(void **state)
{
    (void)state;
    static const char rows[] = "dlq.orders: key $.id, type header:ce_type, correlation $.trace";
    struct ingest_letter letter = read_pointer(NULL, rows);
    assert_true(letter.is_pointer);
    assert_text(letter.event_id, "orders/3/12");
    assert_text(letter.event_type, "orders");
    assert_text(letter.payload,
                "{\"not_json\":\"it is at orders/3/12 and has to be read from there\",\"bytes\":0}");

    const struct event_header own = {BYTES("ce_type"), BYTES("OrderPlaced")};
    struct kept_original original = {
        .state = EVENT_ORIGINAL_FETCHED,
        .record = {.key = BYTES("c-1"),
                   .value = BYTES("{ \"id\" : 9, \"trace\": \"00000000-0000-0000-0000-000000000007\" }"),
                   .headers = &own,
                   .header_count = 1}};
    letter = read_pointer(&original, rows);
    assert_false(letter.is_pointer);
    assert_text(letter.payload, "{ \"id\" : 9, \"trace\": \"00000000-0000-0000-0000-000000000007\" }");
    assert_text(letter.source_id, "c-1");
    assert_text(letter.event_type, "OrderPlaced");
    assert_text(letter.event_id, "9");
    assert_int_equal(letter.correlation[15], 7);
    assert_int_equal(letter.original.offset, 12);

    original = (struct kept_original){.state = EVENT_ORIGINAL_GONE, .why = "retention has removed it"};
    letter = read_pointer(&original, rows);
    assert_text(letter.payload,
                "{\"not_json\":\"the original is gone: retention has removed it\",\"bytes\":0}");
    assert_text(letter.event_id, "orders/3/12");
}

static void
check_case(const struct envelope_case *one, void *context)
{
    (void)context;
    struct ingest_letter letter = read_letter(one->record, 0);
    struct err err = {0};
    if (!json_check(letter.payload, &err))
        fail_msg("%s:%d: the payload is no JSON: %s", one->file, one->line, err.text);
    assert_true(letter.event_id.len > 0 && letter.event_id.len <= 50);
    assert_true(letter.event_type.len > 0 && letter.error_message.len > 0);
    assert_true(letter.header_count == one->record.header_count);
}

static void
every_format_becomes_a_row(void **state)
{
    (void)state;
    assert_true(envelope_cases("tests/cases/envelope", check_case, NULL) > 29);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_team_says_where_the_columns_are),
        cmocka_unit_test(the_crc_is_castagnolis),
        cmocka_unit_test(the_crc_tells_records_apart),
        cmocka_unit_test(ids_fit_and_stay_different),
        cmocka_unit_test(a_value_with_a_schema_is_shown_by_it),
        cmocka_unit_test(texts_are_text_and_bytes_are_kept),
        cmocka_unit_test(a_pointer_is_read_with_its_original),
        cmocka_unit_test(every_format_becomes_a_row),
    };
    int failed = cmocka_run_group_tests_name("letter", tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
