// Originals are put into dead letters as each format does it, and come out byte for byte where that is said.
#include "core/envelope/undo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/json/json.h"

enum { TIMES = 3000, OWN = 3, MOST = 40 };

static uint64_t seed = 1;

static size_t
below(size_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % bound;
}

static struct bytes
random_bytes(struct arena *arena)
{
    size_t len = below(40);
    char *data = arena_alloc(arena, len + 1);
    for (size_t i = 0; i < len; i++)
        data[i] = (char)below(256);
    return (struct bytes){data, len};
}

// An object as people write it: duplicates, number forms, escapes, white space.
static struct bytes
random_object(struct arena *arena)
{
    static const char *const members[] = {
        "\"a\": 1.00", "\"a\":1e2",  "\n  \"b\" : \"Zo\\u00eb\\/\"", "\"c\":[1 , 2]",
        "\"d\":{ }",   "\"e\":null", "\"n\":12345678901234567890",   "\"q\": \"\\\"\\\\\""};
    struct strbuf text = {0};
    strbuf_add_text(&text, below(2) ? "{" : "{ ");
    for (size_t i = 0, count = 1 + below(6); i < count; i++) {
        if (i > 0)
            strbuf_add_text(&text, below(2) ? "," : " ,\n");
        strbuf_add_text(&text, members[below(sizeof members / sizeof *members)]);
    }
    strbuf_add_text(&text, below(2) ? "}" : "\n}\n");
    struct bytes copy = arena_copy(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return copy;
}

struct original {
    struct bytes key, value;
    struct event_header headers[MOST];
    size_t count;
};

static void
make_original(struct original *original, struct arena *arena, bool is_object)
{
    static const char *const names[] = {"traceparent", "h", "__TypeId__", "correlation"};
    *original = (struct original){.key = below(4) ? random_bytes(arena) : BYTES_ABSENT,
                                  .value = is_object ? random_object(arena) : random_bytes(arena)};
    for (size_t i = below(OWN + 1); i > 0; i--)
        original->headers[original->count++] =
            (struct event_header){.name = bytes_of(names[below(4)]), .value = random_bytes(arena)};
}

// Undoes it, and compares with the original; the headers that are added are not of it.
static void
check(const struct original *original, const struct envelope_record *record, const char *format,
      struct arena *arena)
{
    struct envelope envelope;
    struct envelope_undo undo;
    envelope_read(record, arena, &envelope);
    assert_string_equal(envelope_format_name(envelope.format), format);
    envelope_undo(record, &envelope, arena, &undo);
    assert_true(undo.is_exact);
    assert_true(bytes_equal(undo.key, original->key));
    assert_true(bytes_equal(undo.value, original->value));
    assert_true(bytes_equal_text(undo.topic, "orders"));
    size_t kept = 0;
    for (size_t i = 0; i < undo.header_count; i++) {
        if (undo.headers[i].fate != FATE_KEPT)
            continue;
        assert_true(kept < original->count);
        assert_true(bytes_equal(undo.headers[i].name, original->headers[kept].name));
        assert_true(bytes_equal(undo.headers[i].value, original->headers[kept++].value));
    }
    assert_int_equal(kept, original->count);
}

// What is added to headers does not touch key and value, whatever their bytes are.
static void
headers_come_off(void **state)
{
    (void)state;
    static const struct {
        const char *format, *names[3];
    } forms[] = {
        {"spring-dlt", {"kafka_dlt-original-topic", "kafka_dlt-exception-fqcn", "kafka_dlt-original-offset"}},
        {"spring-retry", {"kafka_original-topic", "kafka_exception-message", "retry_topic-attempts"}},
        {"spring-cloud-stream", {"x-original-topic", "x-exception-fqcn", "x-original-partition"}},
        {"connect", {"__connect.errors.topic", "__connect.errors.stage", "__connect.errors.offset"}},
        {"streams", {"__streams.errors.topic", "__streams.errors.exception", "__streams.errors.offset"}},
        {"smallrye", {"dead-letter-topic", "dead-letter-reason", "dead-letter-offset"}},
        {"dlq-headers", {"dlq.original.topic", "dlq.error.message", "dlq.retry.count"}},
        {"watermill", {"topic_poisoned", "reason_poisoned", "handler_poisoned"}},
        {"karafka", {"source_topic", "source_offset", "source_attempts"}},
    };
    for (int i = 0; i < TIMES; i++) {
        struct arena arena = {0};
        struct original original;
        make_original(&original, &arena, below(2));
        size_t f = below(sizeof forms / sizeof *forms);
        struct event_header headers[MOST];
        memcpy(headers, original.headers, sizeof headers);
        headers[original.count] = (struct event_header){bytes_of(forms[f].names[0]), BYTES("orders")};
        headers[original.count + 1] =
            (struct event_header){bytes_of(forms[f].names[1]), random_bytes(&arena)};
        headers[original.count + 2] =
            (struct event_header){bytes_of(forms[f].names[2]), random_bytes(&arena)};
        const struct envelope_record record = {.topic = BYTES("t"),
                                               .timestamp = TIME_ABSENT,
                                               .key = original.key,
                                               .value = original.value,
                                               .headers = headers,
                                               .header_count = original.count + 3};
        check(&original, &record, forms[f].format, &arena);
        arena_release(&arena);
    }
}

static struct bytes
wrap(const char *before, struct bytes value, const char *after, struct arena *arena)
{
    struct strbuf text = {0};
    strbuf_add_text(&text, before);
    json_quote(value, &text);
    strbuf_add_text(&text, after);
    struct bytes copy = arena_copy(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return copy;
}

static void
a_string_gives_back_what_was_put_in(void **state)
{
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        struct arena arena = {0};
        struct original original;
        make_original(&original, &arena, true);
        struct envelope_record record = {.topic = BYTES("orders-dlq"),
                                         .timestamp = TIME_ABSENT,
                                         .key = original.key,
                                         .headers = original.headers,
                                         .header_count = original.count};
        record.value =
            wrap("{\"errorMessage\":\"no\",\"originalTopic\":\"orders\",\"originalValue\":", original.value,
                 ",\"retryCount\":3}", &arena);
        check(&original, &record, "dlq-wrapper", &arena);
        record.value = wrap("{\"mensagem\":{\"id\":\"1\",\"payload\":", original.value,
                            "},\"motivoFalha\":\"no\",\"stackTraces\":[]}", &arena);
        check(&original, &record, "dlq-entry", &arena);
        arena_release(&arena);
    }
}

// A member that was added behind the others, with or without white space.
static void
a_member_that_was_added_goes(void **state)
{
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        struct arena arena = {0};
        struct original original;
        struct strbuf out = {0};
        struct json_path *path;
        make_original(&original, &arena, true);
        assert_true(json_path_parse(&path, BYTES("$.dlq_metadata"), NULL));
        assert_true(
            json_set(path, original.value, BYTES("{\"error_type\": \"X\", \"retry_count\": 3}"), &out));
        json_path_destroy(path);
        const struct envelope_record record = {.topic = BYTES("orders.dlq"),
                                               .timestamp = TIME_ABSENT,
                                               .key = original.key,
                                               .value = strbuf_bytes(&out),
                                               .headers = original.headers,
                                               .header_count = original.count};
        check(&original, &record, "dlq-metadata", &arena);
        strbuf_release(&out);
        arena_release(&arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_come_off),
        cmocka_unit_test(a_string_gives_back_what_was_put_in),
        cmocka_unit_test(a_member_that_was_added_goes),
    };
    return cmocka_run_group_tests_name("envelope undo", tests, NULL, NULL);
}
