// RFC 8259 as files of cases: what is JSON, what is not and where, and what the RFC leaves open.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/json.h"
#include "tests/lib/jansson.h"
#include "tests/unit/cases.h"

static bool
hex_digits(const char *at)
{
    return strspn(at, "0123456789ABCDEF") == 2;
}

// <0A> is that byte, <5B*513> that byte so many times; all else is as it stands.
static void
add_bytes(struct strbuf *text, const char *line)
{
    while (*line) {
        bool is_byte = *line == '<' && hex_digits(line + 1) && (line[3] == '>' || line[3] == '*');
        if (!is_byte) {
            strbuf_add_char(text, *line++);
            continue;
        }
        char *end;
        char c = (char)strtoul(line + 1, &end, 16);
        unsigned long times = *end == '*' ? strtoul(end + 1, &end, 10) : 1;
        while (times--)
            strbuf_add_char(text, c);
        line = end + 1;
    }
}

static bool
is_as_expected(const char *line, const struct strbuf *out, const char *expected)
{
    bool is_same = strcmp(strbuf_text(out), expected) == 0;
    if (!is_same)
        print_error("%s: %s\n  not %s\n", line, strbuf_text(out), expected);
    return is_same;
}

static bool
check_valid(char *line, const char *expected)
{
    struct strbuf text = {0}, out = {0};
    struct err err = {0};
    struct json_fault fault;
    add_bytes(&text, line);
    struct json_scan scan;
    json_begin(&scan, strbuf_bytes(&text));
    size_t count = 0;
    for (struct json_token token = json_next(&scan); token.kind != JSON_END && token.kind != JSON_ERROR;
         token = json_next(&scan))
        count++;
    if (json_check(strbuf_bytes(&text), &err) && !json_find_fault(strbuf_bytes(&text), &fault))
        strbuf_printf(&out, "%zu", count);
    else
        strbuf_add_text(&out, err.text);
    bool ok = is_as_expected(line, &out, expected);
    strbuf_release(&text);
    strbuf_release(&out);
    return ok;
}

// Line, column, byte and path of the fault, and the place told by json_check and by its line and column.
static bool
check_invalid(char *line, const char *expected)
{
    struct strbuf text = {0}, out = {0};
    struct err err = {0};
    struct json_fault fault;
    add_bytes(&text, line);
    struct bytes bytes = strbuf_bytes(&text);
    if (json_check(bytes, &err) || !json_find_fault(bytes, &fault)) {
        strbuf_add_text(&out, "valid");
    } else {
        strbuf_printf(&out, "%d:%d %zu ", fault.line, fault.column, fault.at);
        (void)json_path_at(bytes, fault.at, &out);
        strbuf_printf(&out, " %s", fault.expected);
        // A case says how the sentence begins.
        if (strncmp(strbuf_text(&out), expected, strlen(expected)) == 0)
            out.len = strlen(expected);
        out.data[out.len] = '\0';
        if (err.line != fault.line || err.column != fault.column || !strstr(err.text, fault.expected))
            strbuf_printf(&out, " but json_check: %s", err.text);
        size_t at = json_offset(bytes, fault.line, fault.column);
        if (at != fault.at)
            strbuf_printf(&out, " but json_offset: %zu", at);
        if (jansson_reads(bytes))
            strbuf_add_text(&out, " but jansson takes it");
    }
    bool ok = is_as_expected(line, &out, expected);
    strbuf_release(&text);
    strbuf_release(&out);
    return ok;
}

static bool
check_undefined(char *line, const char *expected)
{
    static const char *const names[JSON_RISK_COUNT] = {"duplicate", "number", "nul", "surrogate"};
    struct strbuf text = {0}, out = {0};
    struct json_fault fault;
    add_bytes(&text, line);
    bool is_valid = !json_find_fault(strbuf_bytes(&text), &fault);
    bool ok;
    if (is_valid) {
        struct json_warning warnings[8];
        size_t count = json_warnings(strbuf_bytes(&text), warnings, 8);
        strbuf_add_text(&out, "yes");
        for (size_t i = 0; i < count; i++)
            strbuf_printf(&out, "%s %d:%d %s", i ? "," : "", warnings[i].line, warnings[i].column,
                          names[warnings[i].risk]);
        ok = is_as_expected(line, &out, expected);
    } else {
        strbuf_printf(&out, "no %d:%d ", fault.line, fault.column);
        ok = strncmp(expected, strbuf_text(&out), out.len) == 0 && strstr(fault.expected, expected + out.len);
        if (!ok)
            print_error("%s: %s%s\n  not %s\n", line, strbuf_text(&out), fault.expected, expected);
    }
    strbuf_release(&text);
    strbuf_release(&out);
    return ok;
}

static void
what_the_rfc_allows_is_taken(void **state)
{
    (void)state;
    each_case("tests/cases/json/valid.txt", check_valid);
}

static void
what_the_rfc_forbids_is_refused_at_its_place(void **state)
{
    (void)state;
    each_case("tests/cases/json/invalid.txt", check_invalid);
}

static void
what_the_rfc_leaves_open_has_an_answer(void **state)
{
    (void)state;
    each_case("tests/cases/json/undefined.txt", check_undefined);
}

// A text that is cut off anywhere is not JSON, and the fault stands at its end or at the token that is cut.
static void
cut_texts_are_refused(void **state)
{
    (void)state;
    struct bytes text = BYTES("{\"a\":[1.5e-3,\"\\u00e9\xc3\xa9\",{\"b\":null,\"c\":true}],\"d\":{}}");
    struct json_fault fault;
    assert_false(json_find_fault(text, &fault));
    for (size_t len = 0; len < text.len; len++) {
        assert_true(json_find_fault(bytes_slice(text, 0, len), &fault));
        assert_true(fault.at <= len && fault.at + 6 > len);
    }
}

// Strings are read eight bytes at once: what ends them or must not stand in them is found at every place,
// beside any other byte.
static void
each_byte_of_a_string_is_looked_at(void **state)
{
    (void)state;
    for (size_t before = 0; before < 20; before++) {
        for (int pair = 0; pair < 0x80 * 0x80; pair++) {
            char bytes[2] = {(char)(pair >> 7), (char)(pair & 0x7f)};
            if (memchr(bytes, '\\', 2) || bytes[0] == '"')
                continue;
            char text[48];
            memset(text, 'x', sizeof text);
            text[0] = '"';
            memcpy(text + 1 + before, bytes, 2);
            size_t end = bytes[1] == '"' ? before + 3 : before + 3 + 17;
            text[end - 1] = '"';
            struct json_fault fault;
            bool is_wrong = json_find_fault((struct bytes){text, end}, &fault);
            size_t at = bytes[0] < 0x20 ? before + 1 : before + 2;
            bool has_control = bytes[0] < 0x20 || bytes[1] < 0x20;
            if (is_wrong != has_control || (is_wrong && fault.at != at))
                fail_msg("%02x %02x behind %zu bytes", bytes[0], bytes[1], before);
        }
    }
}

static void
places_and_offsets_are_each_others_reverse(void **state)
{
    (void)state;
    struct bytes text = BYTES("a\xc3\xa9\xf0\x9f\x98\x80z\r\n\n\xff\r");
    static const struct {
        size_t at;
        int line, column;
    } rows[] = {{0, 1, 1},  {1, 1, 2},  {3, 1, 3},  {7, 1, 4}, {8, 1, 5},
                {10, 2, 1}, {11, 3, 1}, {12, 3, 2}, {13, 3, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int line;
        int column;
        json_position(text, rows[i].at, &line, &column);
        assert_int_equal(line, rows[i].line);
        assert_int_equal(column, rows[i].column);
        assert_int_equal(json_offset(text, rows[i].line, rows[i].column), rows[i].at);
    }
    // Within a character; behind the line, the text, and before them.
    int line;
    int column;
    json_position(text, 5, &line, &column);
    assert_int_equal(column, 3);
    assert_int_equal(json_offset(text, 1, 99), 8);
    assert_int_equal(json_offset(text, 2, 99), 10);
    assert_int_equal(json_offset(text, 99, 1), 13);
    assert_int_equal(json_offset(text, 0, -3), 0);
    assert_int_equal(json_offset(BYTES(""), 1, 1), 0);
    assert_int_equal(json_offset(BYTES_ABSENT, 2, 2), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_rfc_allows_is_taken),
        cmocka_unit_test(what_the_rfc_forbids_is_refused_at_its_place),
        cmocka_unit_test(what_the_rfc_leaves_open_has_an_answer),
        cmocka_unit_test(cut_texts_are_refused),
        cmocka_unit_test(each_byte_of_a_string_is_looked_at),
        cmocka_unit_test(places_and_offsets_are_each_others_reverse),
    };
    return cmocka_run_group_tests_name("json_grammar", tests, NULL, NULL);
}
