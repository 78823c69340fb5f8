// Dead-letter envelopes are taken off by splices: every other byte stays as it was.
#include "core/envelope/undo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/recipe/recipe.h"

// What the recipe of its envelope makes of a payload, in the arena; absent: it has none.
static struct bytes
taken_off(struct bytes payload, struct strbuf *text, struct arena *arena)
{
    struct recipe *recipe;
    struct record_parts in = {.payload = payload, .partition = PARTITION_NONE};
    struct record_parts out = {0};
    struct err err = {0};
    strbuf_reset(text);
    if (!envelope_recipe(payload, text))
        return BYTES_ABSENT;
    assert_true(recipe_parse(&recipe, "envelope", strbuf_bytes(text), &err));
    assert_int_equal(recipe_apply(recipe, &in, NULL, arena, &out, NULL), RECIPE_CHANGED);
    struct bytes copy = arena_copy(arena, out.payload);
    recipe_destroy(recipe);
    return copy;
}

static void
check(const char *payload, const char *recipe, const char *expected)
{
    struct arena arena = {0};
    struct strbuf text = {0};
    struct bytes out = taken_off(bytes_of(payload), &text, &arena);
    assert_string_equal(strbuf_text(&text), recipe);
    assert_true(bytes_equal(out, bytes_of(expected)));
    // Nothing is left on it.
    assert_false(envelope_recipe(out, &text));
    strbuf_release(&text);
    arena_release(&arena);
}

// A message that a queue handler retried carries its own error and count.
#define MESSAGE_HEAD                                                                                         \
    "{\n"                                                                                                    \
    "    \"message_id\": \"79a50895-f251-455f-9a5c-a3abbf83d707\",\n"                                        \
    "    \"timestamp\": \"2026-01-30T14:30:00+00:00\",\n"                                                    \
    "    \"version\": \"1.0\",\n"                                                                            \
    "    \"source\": \"checkout-service\",\n"                                                                \
    "    \"queue\": \"orders\",\n"                                                                           \
    "    \"data\": {\n"                                                                                      \
    "        \"order_id\": 123,\n"                                                                           \
    "        \"customer_id\": 456,\n"                                                                        \
    "        \"total\": 299.90\n"                                                                            \
    "    },\n"                                                                                               \
    "    \"metadata\": {\n"                                                                                  \
    "        \"priority\": \"high\",\n"                                                                      \
    "        \"correlation_id\": \"abc-123\"\n"                                                              \
    "    },\n"                                                                                               \
    "    \"error\": "

static void
a_retried_message_begins_again(void **state)
{
    (void)state;
    check(MESSAGE_HEAD "{\n"
                       "        \"message\": \"Connection refused\",\n"
                       "        \"code\": \"500\",\n"
                       "        \"trace\": \"PDOException: SQLSTATE[HY000] [2002]...\"\n"
                       "    },\n"
                       "    \"retry_count\": 1\n"
                       "}\n",
          "set $.error null\nset $.retry_count 0\n", MESSAGE_HEAD "null,\n    \"retry_count\": 0\n}\n");
    check(MESSAGE_HEAD "null,\n    \"retry_count\": 3\n}", "set $.retry_count 0\n",
          MESSAGE_HEAD "null,\n    \"retry_count\": 0\n}");
}

static void
a_ticket_loses_what_the_queue_added(void **state)
{
    (void)state;
    check("{\n  \"ticket_id\": \"T-1\",\n  \"price\": 0.10,\n  \"price\": 1e2,\n"
          "  \"dlq_metadata\": {\n    \"original_error\": \"string\",\n    \"error_type\": \"string\",\n"
          "    \"retry_count\": 3,\n    \"last_failure_timestamp\": 1234567890000,\n"
          "    \"dlq_published_at\": 1234567890000\n  }\n}\n",
          "remove $.dlq_metadata\n",
          "{\n  \"ticket_id\": \"T-1\",\n  \"price\": 0.10,\n  \"price\": 1e2\n}\n");
}

static void
a_wrapper_gives_its_message(void **state)
{
    (void)state;
    check("{\"originalTopic\":\"orders\",\"originalPartition\":2,\"originalOffset\":77,"
          "\"originalTimestamp\":1700000000000,\"originalKey\":\"c-1\",\"originalValue\":"
          "\"{\\\"id\\\": 12345678901234567890,\\n \\\"name\\\":\\\"Zo\\\\u00eb\\\\/\\\"}\","
          "\"errorMessage\":\"no\",\"errorClass\":\"X\",\"retryCount\":3}",
          "unwrap $.originalValue\n", "{\"id\": 12345678901234567890,\n \"name\":\"Zo\\u00eb\\/\"}");
}

static void
other_payloads_have_no_envelope(void **state)
{
    (void)state;
    static const char *const payloads[] = {
        "",
        "[]",
        "{}",
        "7",
        "{\"error\": {\"a\": 1}, \"retry_count\": 3}", // of the order, not of a queue
        "{\"originalTopic\":\"t\",\"originalValue\":null}",
        MESSAGE_HEAD "null,\n    \"retry_count\": 0\n}",
        MESSAGE_HEAD "{}", // not JSON
    };
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++)
        assert_false(envelope_recipe(bytes_of(payloads[i]), &text));
    assert_false(envelope_recipe(BYTES_ABSENT, &text));
    assert_int_equal(text.len, 0);
    strbuf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retried_message_begins_again),
        cmocka_unit_test(a_ticket_loses_what_the_queue_added),
        cmocka_unit_test(a_wrapper_gives_its_message),
        cmocka_unit_test(other_payloads_have_no_envelope),
    };
    return cmocka_run_group_tests_name("envelope", tests, NULL, NULL);
}
