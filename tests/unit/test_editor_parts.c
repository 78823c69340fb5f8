// What the view of the editor decides by itself: sections of a record as texts, and lines that differ.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "core/event.h"
#include "ui/views/difference.h"
#include "ui/views/editor/sections.h"

static struct event_detail
detail_of(struct bytes key, struct event_header *headers, uint32_t count)
{
    struct event_detail detail = {
        .would_send = {
            .topic = "orders.events", .partition = 3, .key = key, .headers = headers, .header_count = count}};
    detail.event.record.headers = headers;
    detail.event.record.header_count = count;
    return detail;
}

// What was printed gives the same bytes back.
static void
keys_come_back(void **state)
{
    static const struct {
        struct bytes key;
        const char *text;
    } rows[] = {
        {{"c-1", 3}, "\"c-1\""},
        {{NULL, 0}, "null"},
        {{"", 0}, "\"\""},
        {{"a\"b\\c\n", 6}, "\"a\\\"b\\\\c\\n\""},
        {{"\0\xff", 2}, "{\"base64\": \"AP8=\"}"},
        {{"\xc3\xbc", 2}, "\"\xc3\xbc\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event_detail detail = detail_of(rows[i].key, NULL, 0);
        struct strbuf text = {0};
        struct arena arena = {0};
        struct correction correction = {0};
        struct err err = {0};
        section_print(SECTION_KEY, &detail, &text);
        assert_string_equal(strbuf_text(&text), rows[i].text);
        if (!section_parse(SECTION_KEY, strbuf_bytes(&text), &arena, &correction, &err))
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_true(correction.has_key);
        assert_int_equal(bytes_present(correction.key), bytes_present(rows[i].key));
        assert_int_equal(bytes_compare(correction.key, rows[i].key), 0);
        strbuf_release(&text);
        arena_release(&arena);
    }
}

static void
headers_come_back(void **state)
{
    (void)state;
    struct event_header headers[] = {
        {BYTES("trace"), BYTES("t\"1")},
        {BYTES("trace"), BYTES("")},
        {BYTES("none"), BYTES_ABSENT},
        {BYTES("bin"), {"\0\xff", 2}},
    };
    struct event_detail detail = detail_of(BYTES("k"), headers, 4);
    struct strbuf text = {0};
    struct arena arena = {0};
    struct correction correction = {0}, given = {.has_headers = true, .headers = headers, .header_count = 4};
    struct err err = {0};
    section_print(SECTION_HEADERS, &detail, &text);
    if (!section_parse(SECTION_HEADERS, strbuf_bytes(&text), &arena, &correction, &err))
        fail_msg("%s", err.text);
    assert_true(correction_equals(&correction, &given));
    strbuf_release(&text);
    arena_release(&arena);
}

static void
the_target_comes_back(void **state)
{
    (void)state;
    struct event_detail detail = detail_of(BYTES("k"), NULL, 0);
    struct strbuf text = {0};
    struct arena arena = {0};
    struct correction correction = {0};
    section_print(SECTION_TARGET, &detail, &text);
    assert_string_equal(strbuf_text(&text), "{\"topic\": \"orders.events\", \"partition\": 3}");
    assert_true(section_parse(SECTION_TARGET, strbuf_bytes(&text), &arena, &correction, NULL));
    assert_true(correction.has_topic && bytes_equal_text(correction.topic, "orders.events"));
    assert_true(correction.has_partition);
    assert_int_equal(correction.partition, 3);
    assert_true(section_parse(SECTION_TARGET, BYTES("{\"topic\": \"a\", \"partition\": null}"), &arena,
                              &correction, NULL));
    assert_false(correction.has_partition);
    strbuf_release(&text);
    arena_release(&arena);
}

static void
what_is_no_section_is_refused(void **state)
{
    static const struct {
        enum section section;
        const char *text;
    } rows[] = {
        {SECTION_KEY, ""},
        {SECTION_KEY, "c-1"},
        {SECTION_KEY, "1"},
        {SECTION_KEY, "\"a\" \"b\""},
        {SECTION_KEY, "{\"base64\": \"?\"}"},
        {SECTION_KEY, "{\"base64\": \"AA==\", \"value\": \"x\"}"},
        {SECTION_KEY, "{\"base64\": \"AA==\", \"base64\": \"AA==\"}"},
        {SECTION_HEADERS, "null"},
        {SECTION_HEADERS, "{}"},
        {SECTION_HEADERS, "[1]"},
        {SECTION_HEADERS, "[{\"name\": \"a\"}]"},
        {SECTION_HEADERS, "[{\"value\": \"a\"}]"},
        {SECTION_HEADERS, "[{\"name\": null, \"value\": \"a\"}]"},
        {SECTION_HEADERS, "[{\"name\": \"a\", \"value\": 1}]"},
        {SECTION_HEADERS, "[{\"name\": \"a\", \"value\": \"b\", \"base64\": \"AA==\"}]"},
        {SECTION_HEADERS, "[{\"name\": \"a\", \"vlaue\": \"b\"}]"},
        {SECTION_HEADERS, "[{\"name\": \"a\", \"value\": \"b\"},]"},
        {SECTION_HEADERS, "[{\"name\": \"a\\u0000b\", \"value\": \"b\"}]"},
        {SECTION_TARGET, "{\"topic\": \"a\\u0000b\"}"},
        {SECTION_TARGET, "{}"},
        {SECTION_TARGET, "{\"topic\": \"\"}"},
        {SECTION_TARGET, "{\"topic\": null}"},
        {SECTION_TARGET, "{\"topic\": \"a\", \"partition\": -1}"},
        {SECTION_TARGET, "{\"topic\": \"a\", \"partition\": 2147483648}"},
        {SECTION_TARGET, "{\"topic\": \"a\", \"partition\": 1.5}"},
        {SECTION_TARGET, "{\"topic\": \"a\", \"partition\": \"1\"}"},
        {SECTION_TARGET, "{\"topic\": \"a\", \"key\": \"b\"}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct correction correction = {0};
        struct err err = {0};
        if (section_parse(rows[i].section, bytes_of(rows[i].text), &arena, &correction, &err))
            fail_msg("taken: %s", rows[i].text);
        assert_true(err_is_set(&err));
        arena_release(&arena);
    }
}

static void
check_difference(const char *before, const char *after, const char *expected)
{
    static const char signs[] = {' ', '-', '+', '@'};
    struct arena arena = {0};
    struct strbuf text = {0};
    struct difference difference = difference_of(bytes_of(before), bytes_of(after), 3, &arena);
    for (size_t i = 0; i < difference.count; i++) {
        strbuf_add_char(&text, signs[difference.lines[i].kind]);
        strbuf_add(&text, difference.lines[i].text);
        strbuf_add_char(&text, '|');
    }
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_release(&text);
    arena_release(&arena);
}

static void
lines_that_differ_are_found(void **state)
{
    (void)state;
    check_difference("a\nb\nc", "a\nB\nc", " a|-b|+B| c|");
    check_difference("a", "a\n", " a|+|");
    check_difference("", "x", "-|+x|");
    check_difference("a\nb", "b\na", "-a| b|+a|");
    check_difference("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nX\n6\n7\n8\n9",
                     "@| 2| 3| 4|-5|+X| 6| 7| 8|@|");
    check_difference("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11", "0\n2\n3\n4\n5\n6\n7\n8\n9\n10\n12",
                     "-1|+0| 2| 3| 4|@| 8| 9| 10|-11|+12|");
}

// Two long texts that share nothing cost no table.
static void
long_texts_are_compared(void **state)
{
    (void)state;
    struct strbuf before = {0}, after = {0};
    struct arena arena = {0};
    for (int i = 0; i < 20000; i++) {
        strbuf_printf(&before, "a%d\n", i);
        strbuf_printf(&after, "b%d\n", i);
    }
    struct difference difference = difference_of(strbuf_bytes(&before), strbuf_bytes(&after), 3, &arena);
    assert_int_equal(difference.removed, 20000);
    assert_int_equal(difference.added, 20000);
    assert_true(arena.used < (16u << 20));
    arena_release(&arena);
    strbuf_release(&before);
    strbuf_release(&after);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_back),
        cmocka_unit_test(headers_come_back),
        cmocka_unit_test(the_target_comes_back),
        cmocka_unit_test(what_is_no_section_is_refused),
        cmocka_unit_test(lines_that_differ_are_found),
        cmocka_unit_test(long_texts_are_compared),
    };
    return cmocka_run_group_tests_name("editor_parts", tests, NULL, NULL);
}
