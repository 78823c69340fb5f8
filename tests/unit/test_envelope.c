// Dead letters of every format: which it is and why, what it says, and what is sent instead of it.
#include "core/envelope/envelope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "core/envelope/dropped_headers.h"
#include "core/envelope/format.h"
#include "core/envelope/members.h"
#include "core/envelope/reading.h"
#include "core/envelope/schema_id.h"
#include "core/envelope/topic_name.h"
#include "core/envelope/undo.h"
#include "tests/lib/envelope_case.h"

struct found {
    struct arena arena;
    struct bytes lines[ENVELOPE_CASE_LINES * 3];
    size_t count;
    const struct envelope_format *seen[64];
    size_t seen_count;
    int failures;
};

static void
say(struct found *found, const char *what, struct bytes a, struct bytes b)
{
    struct strbuf line = {0};
    strbuf_add_text(&line, what);
    strbuf_add(&line, a);
    if (bytes_present(b)) {
        strbuf_add_char(&line, ' ');
        strbuf_add(&line, b);
    }
    found->lines[found->count++] = arena_copy(&found->arena, strbuf_bytes(&line));
    strbuf_release(&line);
}

static void
say_envelope(struct found *found, const struct envelope *envelope)
{
    const char *name = envelope_format_name(envelope->format);
    say(found, "=> ", bytes_of(arena_printf(&found->arena, "%s because %s", name, envelope->why)),
        BYTES_ABSENT);
    for (int i = 1; i < FACT_COUNT; i++) {
        struct bytes text = envelope->facts[i];
        if ((i == FACT_FAILED_AT || i == FACT_TIMESTAMP) && envelope->has_number[i])
            text = bytes_of(arena_printf(&found->arena, "%lld", (long long)envelope->numbers[i] / 1000));
        if (bytes_present(text))
            say(found, "", bytes_of(envelope_fact_name((enum envelope_fact)i)), text);
    }
}

static void
say_undo(struct found *found, const struct envelope_undo *undo)
{
    static const char *const fates[] = {"kept ", "dropped ", "added "};
    say(found, "send ", undo->topic.len > 0 ? undo->topic : BYTES("-"),
        bytes_of(arena_printf(&found->arena, "%d", (int)undo->partition)));
    if (bytes_present(undo->key))
        say(found, "send-key ", undo->key, BYTES_ABSENT);
    if (bytes_present(undo->value))
        say(found, "send-value ", undo->value, BYTES_ABSENT);
    for (size_t i = 0; i < undo->header_count; i++)
        say(found, fates[undo->headers[i].fate], undo->headers[i].name,
            undo->headers[i].fate == FATE_ADDED ? undo->headers[i].value : BYTES_ABSENT);
    say(found, "exact ", undo->is_exact ? BYTES("yes") : BYTES("no"), BYTES_ABSENT);
}

static void
print_lines(const char *title, const struct bytes *lines, size_t count)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < count; i++) {
        text_visible(&text, lines[i], false);
        strbuf_add_text(&text, "\n    ");
    }
    print_error("  %s\n    %s\n", title, strbuf_text(&text));
    strbuf_release(&text);
}

static void
check_case(const struct envelope_case *one, void *context)
{
    struct found *found = context;
    struct envelope envelope;
    struct envelope_undo undo;
    found->count = 0;
    envelope_read(&one->record, &found->arena, &envelope);
    envelope_undo(&one->record, &envelope, &found->arena, &undo);
    say_envelope(found, &envelope);
    say_undo(found, &undo);
    found->seen[found->seen_count++ % 64] = envelope.format;
    bool is_same = found->count == one->expected_count;
    for (size_t i = 0; is_same && i < found->count; i++)
        is_same = bytes_equal(found->lines[i], one->expected[i]);
    if (!is_same) {
        print_error("%s:%d\n", one->file, one->line);
        print_lines("found", found->lines, found->count);
        print_lines("expected", one->expected, one->expected_count);
        found->failures++;
    }
}

static void
each_format_is_read_and_undone(void **state)
{
    (void)state;
    struct found found = {0};
    envelope_cases("tests/cases/envelope", check_case, &found);
    assert_int_equal(found.failures, 0);
    for (size_t f = 0; envelope_format_at(f); f++) {
        bool is_seen = false;
        for (size_t i = 0; i < found.seen_count && i < 64; i++)
            is_seen = is_seen || found.seen[i] == envelope_format_at(f);
        if (!is_seen)
            fail_msg("no case has the format %s", envelope_format_name(envelope_format_at(f)));
    }
    arena_release(&found.arena);
}

// A second dead letter of what was sent again must not be taken for the first one.
static void
nothing_of_a_failure_is_left(void **state)
{
    (void)state;
    for (size_t f = 0; envelope_format_at(f); f++)
        for (const struct envelope_header_row *row = envelope_format_at(f)->headers; row && row->name; row++)
            if (row->flags & PROVES && row->flags & KEPT)
                fail_msg("%s is kept and proves %s", row->name, envelope_format_at(f)->name);
}

// The sentence that says why has room for so many.
static void
shapes_are_short(void **state)
{
    (void)state;
    for (size_t f = 0; envelope_format_at(f); f++) {
        size_t count = 0;
        while (envelope_format_at(f)->shape && envelope_format_at(f)->shape[count])
            count++;
        assert_in_range(count, 0, SHAPE_MOST);
    }
}

static struct bytes
read_as(const char *raw, size_t len, enum envelope_as as, struct arena *arena)
{
    const char *note;
    return envelope_text((struct bytes){raw, len}, as, arena, &note);
}

static void
numbers_are_read_whatever_their_length(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_true(bytes_equal_text(read_as("\xff\xff\xff\xff", 4, AS_INTEGER, &arena), "-1"));
    assert_true(bytes_equal_text(read_as("\xff", 1, AS_COUNT, &arena), "255"));
    assert_true(bytes_equal_text(read_as("1234", 4, AS_INTEGER, &arena), "1234"));
    assert_true(bytes_equal_text(read_as("7", 1, AS_INTEGER, &arena), "7"));
    assert_true(bytes_equal_text(read_as("\x00\xff", 2, AS_SHORTEST, &arena), "255"));
    assert_true(bytes_equal_text(read_as("\x80", 1, AS_SHORTEST, &arena), "-128"));
    assert_false(bytes_present(read_as("\x01\x02\x03", 3, AS_INTEGER, &arena)));
    assert_false(bytes_present(read_as("", 0, AS_INTEGER, &arena)));
    assert_false(bytes_present(read_as("123456789", 9, AS_OPAQUE, &arena)));
    assert_false(bytes_present(read_as("\xAC\xED\x00\x05t", 5, AS_TEXT, &arena)));
    assert_false(bytes_present(read_as("a\0b", 3, AS_TEXT, &arena)));
    arena_release(&arena);
}

static void
check_time(const char *text, int64_t milliseconds)
{
    int64_t instant = 0;
    if (!envelope_time(bytes_of(text), &instant) || instant / 1000 != milliseconds)
        fail_msg("%s is read as %lld", text, (long long)instant / 1000);
}

static void
times_are_read_in_all_their_forms(void **state)
{
    (void)state;
    int64_t instant;
    check_time("1700000000000", 1700000000000);
    check_time("1700000000", 1700000000000);
    check_time("1700000000.25", 1700000000000);
    check_time("2023-11-14T22:13:20Z", 1700000000000);
    check_time("2023-11-14T23:13:20.5+01:00", 1700000000500);
    check_time("2023-11-14T18:43:20-0330", 1700000000000);
    check_time("2023-11-14 22:13:20:500000 Z", 1700000000500);
    check_time("2023-11-14", 1699920000000);
    static const char *const wrong[] = {
        "", "soon", "2023-13-01", "9223372036854775807", "2023-11-14T22:13:20+", "."};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (envelope_time(bytes_of(wrong[i]), &instant))
            fail_msg("\"%s\" is read as a time", wrong[i]);
}

static void
names_lead_to_the_topic(void **state)
{
    (void)state;
    static const struct {
        const char *name, *group, *topic;
    } cases[] = {{"orders-dlq", NULL, "orders"},
                 {"orders.DLT", NULL, "orders"},
                 {"orders_dlq", NULL, "orders"},
                 {"orders-dead-letter", NULL, "orders"},
                 {"dlq.orders", NULL, "orders"},
                 {"error.orders.v2.billing", NULL, "orders.v2"},
                 {"error.orders.eu.billing", "eu.billing", "orders"},
                 {"orders", NULL, NULL},
                 {"-dlq", NULL, NULL},
                 {"dlq.", NULL, NULL},
                 {"error.orders", NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!bytes_equal(topic_name_original(bytes_of(cases[i].name), bytes_of(cases[i].group)),
                         bytes_of(cases[i].topic)))
            fail_msg("%s", cases[i].name);
}

// Few members are read in another way than many.
static void
an_envelope_of_any_number_of_members_is_known(void **state)
{
    (void)state;
    for (int more = 0; more < 70; more++) {
        struct arena arena = {0};
        struct strbuf text = {0};
        struct envelope envelope;
        strbuf_add_text(&text, "{\"originalTopic\":\"orders\"");
        for (int i = 0; i < more; i++)
            strbuf_printf(&text, ",\"m%d\":[%d]", i, i);
        strbuf_add_text(&text, ",\"originalValue\":\"{}\"}");
        const struct envelope_record record = {.value = strbuf_bytes(&text)};
        envelope_read(&record, &arena, &envelope);
        assert_string_equal(envelope_format_name(envelope.format), "dlq-wrapper");
        assert_true(bytes_equal_text(envelope.facts[FACT_TOPIC], "orders"));
        strbuf_release(&text);
        arena_release(&arena);
    }
}

static void
schemas_are_named_and_not_opened(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct schema_id schema;
    const struct event_header guid = {
        .name = BYTES("__value_schema_id"),
        .value = BYTES("\x01\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f")};
    struct envelope_record record = {.value = BYTES("\0\0\0\1\0{\"a\":1}")};
    assert_true(schema_id_of(&record, &schema));
    assert_string_equal(schema_id_text(&schema, &arena), "schema 256 of a schema registry (JSON Schema)");
    record = (struct envelope_record){.value = BYTES("ab"), .headers = &guid, .header_count = 1};
    assert_true(schema_id_of(&record, &schema));
    assert_string_equal(
        schema_id_text(&schema, &arena),
        "schema 00010203-0405-0607-0809-0a0b0c0d0e0f of a schema registry (Avro or Protobuf)");
    record = (struct envelope_record){.value = BYTES("{}")};
    assert_false(schema_id_of(&record, &schema));
    arena_release(&arena);
}

static void
a_guess_can_be_corrected(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct envelope envelope;
    const struct envelope_record record = {.value =
                                               BYTES("{\"dlq_metadata\":{\"error_type\":\"X\"},\"a\":1}")};
    const struct envelope_format *format = envelope_format_find(BYTES("unknown"));
    assert_non_null(format);
    envelope_read_as(format, &record, &arena, &envelope);
    assert_string_equal(envelope_format_name(envelope.format), "unknown");
    assert_false(bytes_present(envelope.facts[FACT_ERROR_CLASS]));
    assert_null(envelope_format_find(BYTES("none")));
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_is_read_and_undone),
        cmocka_unit_test(nothing_of_a_failure_is_left),
        cmocka_unit_test(shapes_are_short),
        cmocka_unit_test(an_envelope_of_any_number_of_members_is_known),
        cmocka_unit_test(numbers_are_read_whatever_their_length),
        cmocka_unit_test(times_are_read_in_all_their_forms),
        cmocka_unit_test(names_lead_to_the_topic),
        cmocka_unit_test(schemas_are_named_and_not_opened),
        cmocka_unit_test(a_guess_can_be_corrected),
    };
    return cmocka_run_group_tests_name("envelope", tests, NULL, NULL);
}
