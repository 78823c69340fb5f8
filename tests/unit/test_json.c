#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/json.h"
#include "tests/unit/cases.h"
#include "tests/unit/cpu_time.h"

// RFC 8259, and where exactly a text stops being JSON.
static void
the_grammar_is_held_to(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column; // 0: valid
    } rows[] = {
        {"{}", 0},
        {" [ ] ", 0},
        {"{\"a\":[1,-0,0.10,1E400,1e-2]}", 0},
        {"\"\\u00e9\\ud800\"", 0},
        {"null", 0},
        {"12345678901234567890123", 0},
        {"{\"a\":1,\"a\":2}", 0},
        {"", 1},
        {"{", 2},
        {"{\"a\"}", 5},
        {"{\"a\":}", 6},
        {"[1,]", 4},
        {"[1 2]", 4},
        {"{\"a\":1,}", 8},
        {"01", 2},
        {"1.", 3},
        {"-", 2},
        {"tru", 1},
        {"\"a", 3},
        {"\"\x01\"", 2},
        {"\"\\x\"", 2},
        {"{} {}", 4},
        {"'a'", 1},
        {"{\"amount\": 10,00}", 15},
        {"\"\xff\"", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        bool ok = json_check(bytes_of(rows[i].text), &err);
        if (ok != (rows[i].column == 0) || err.column != rows[i].column)
            fail_msg("%s: column %d, not %d (%s)", rows[i].text, err.column, rows[i].column, err.text);
    }
}

static void
lines_and_columns_are_characters(void **state)
{
    (void)state;
    struct err err = {0};
    assert_false(json_check(BYTES("{\n  \"\xc3\xa9\": x\n}"), &err));
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 8);
}

// Numbers, escapes, order and duplicates survive both ways of writing white space.
static void
formatting_keeps_every_token(void **state)
{
    (void)state;
    static const char compact[] =
        "{\"b\":0.10,\"a\":[9007199254740993,1E400,-0,{}],\"a\":\"\\u00e9\\/\",\"c\":[],\"d\":null}";
    struct strbuf pretty = {0};
    struct strbuf again = {0};
    assert_true(json_format(bytes_of(compact), &pretty));
    assert_string_equal(
        strbuf_text(&pretty),
        "{\n  \"b\": 0.10,\n  \"a\": [\n    9007199254740993,\n    1E400,\n    -0,\n    {}\n  ],\n"
        "  \"a\": \"\\u00e9\\/\",\n  \"c\": [],\n  \"d\": null\n}");
    assert_true(json_minify(strbuf_bytes(&pretty), &again));
    assert_string_equal(strbuf_text(&again), compact);
    strbuf_release(&pretty);
    strbuf_release(&again);
}

static void
what_is_no_json_is_passed_on_whole(void **state)
{
    (void)state;
    struct strbuf out = {0};
    assert_false(json_minify(BYTES("{\"a\": 1, oops \xff}"), &out));
    assert_string_equal(strbuf_text(&out), "{\"a\":1,oops \xff}");
    strbuf_release(&out);
}

static void
nesting_has_an_end(void **state)
{
    (void)state;
    char deep[4000];
    memset(deep, '[', sizeof deep);
    struct err err = {0};
    assert_false(json_check((struct bytes){deep, sizeof deep}, &err));
    assert_int_equal(err.column, JSON_DEPTH + 1);
}

static void
paths_find_values_as_jsonb_would(void **state)
{
    (void)state;
    static const char text[] =
        "{\"order\": {\"lines\": [{\"sku\": \"A\"}, {\"sku\": \"B\\u0037\"}], \"id\": 1}, \"odd key\": true,"
        " \"order\": {\"lines\": [10, 20 , [30]], \"x.y\": {\"z\": 1.50}}}";
    static const struct {
        const char *path;
        const char *value; // NULL: nothing there
    } rows[] = {
        {"$['odd key']", "true"},      {"$[\"odd key\"]", "true"},   {"$.order.lines[1]", "20"},
        {"$.order.lines[2][0]", "30"}, {"$.order['x.y'].z", "1.50"}, {"$.order['x.y']", "{\"z\": 1.50}"},
        {"$.order.id", NULL},          {"$.order.lines[3]", NULL},   {"$.nothing", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_path *path;
        struct json_token value;
        assert_true(json_path_parse(&path, bytes_of(rows[i].path), NULL));
        bool is_found = json_path_find(path, bytes_of(text), &value);
        assert_int_equal(is_found, rows[i].value != NULL);
        if (is_found)
            assert_true(bytes_equal_text(bytes_slice(bytes_of(text), value.from, value.len), rows[i].value));
        json_path_destroy(path);
    }
    struct json_path *path;
    struct err err = {0};
    assert_false(json_path_parse(&path, BYTES("$.a[x]"), &err));
    assert_int_equal(err.column, 5);
}

static void
numbers_are_compared_by_value_at_any_length(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {
        {"1", "1.0", 0},
        {"1e2", "100", 0},
        {"0.10", "0.1", 0},
        {"-0", "0", 0},
        {"0e5", "0.0", 0},
        {"9007199254740993", "9007199254740992", 1},
        {"1E400", "1E399", 1},
        {"-1", "0", -1},
        {"-2", "-10", 1},
        {"0.001", "0.01", -1},
        {"12.5", "12.49", 1},
        {"1.5e-3", "0.0015", 0},
        {"123456789012345678901234567890", "123456789012345678901234567891", -1},
        {"10", "9", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int order = json_number_compare(bytes_of(rows[i].a), bytes_of(rows[i].b));
        int turned = json_number_compare(bytes_of(rows[i].b), bytes_of(rows[i].a));
        if ((order > 0) - (order < 0) != rows[i].order || (turned > 0) - (turned < 0) != -rows[i].order)
            fail_msg("%s against %s: %d", rows[i].a, rows[i].b, order);
    }
}

static void
strings_are_decoded_once(void **state)
{
    (void)state;
    struct strbuf out = {0};
    assert_true(json_decode(BYTES("\"a\\n\\u00e9\\ud83d\\ude00\\/\\\\\""), &out));
    assert_string_equal(strbuf_text(&out), "a\n\xc3\xa9\xf0\x9f\x98\x80/\\");
    strbuf_reset(&out);
    assert_true(json_decode(BYTES("\"\\ud800x\""), &out));
    assert_string_equal(strbuf_text(&out), "\xef\xbf\xbdx");
    assert_false(json_decode(BYTES("12"), &out));
    strbuf_release(&out);
}

static bool
is_as_expected(const char *text, const struct strbuf *out, const char *expected)
{
    bool is_same = strcmp(strbuf_text(out), expected) == 0;
    if (!is_same)
        print_error("%s: %s\n  not %s\n", text, strbuf_text(out), expected);
    return is_same;
}

static bool
check_warnings(char *text, const char *expected)
{
    static const char *const names[JSON_RISK_COUNT] = {"duplicate", "number", "nul", "surrogate"};
    for (char *escape; (escape = strstr(text, "\\n")) != NULL;) {
        escape[0] = ' ';
        escape[1] = '\n';
    }
    struct json_warning warnings[8];
    size_t count = json_warnings(bytes_of(text), warnings, 8);
    struct strbuf out = {0};
    for (size_t i = 0; i < count; i++)
        strbuf_printf(&out, "%s%d:%d %s", i ? ", " : "", warnings[i].line, warnings[i].column,
                      names[warnings[i].risk]);
    if (count == 0)
        strbuf_add_text(&out, "-");
    bool ok = is_as_expected(text, &out, expected);
    strbuf_release(&out);
    return ok;
}

static void
dangers_of_valid_json_are_named(void **state)
{
    (void)state;
    each_case("tests/cases/json/warnings.txt", check_warnings);
    for (int i = 0; i < JSON_RISK_COUNT; i++)
        assert_non_null(json_risk_sentence((enum json_risk)i));
    struct json_warning one;
    assert_int_equal(json_warnings(BYTES("[1e400,1e401,1e402]"), &one, 1), 3);
    assert_int_equal(one.from, 1);
    assert_int_equal(one.len, 5);
}

static bool
check_at(char *text, const char *expected)
{
    char *cursor = strchr(text, '^');
    size_t at = (size_t)(cursor - text);
    memmove(cursor, cursor + 1, strlen(cursor));
    struct strbuf out = {0};
    if (!json_path_at(bytes_of(text), at, &out))
        strbuf_add_char(&out, '!');
    bool ok = is_as_expected(text, &out, expected);
    strbuf_release(&out);
    return ok;
}

static void
a_cursor_knows_its_path(void **state)
{
    (void)state;
    each_case("tests/cases/json/at.txt", check_at);
}

static void
too_large_a_text_is_an_error(void **state)
{
    (void)state;
    struct err err = {0};
    struct strbuf text = {0};
    strbuf_add_char(&text, '[');
    for (int i = 0; i < JSON_TOKENS / 2 - 1; i++)
        strbuf_add_text(&text, "0,");
    assert_true(json_fits(strbuf_bytes(&text), NULL));
    strbuf_add_text(&text, "0,0]");
    assert_false(json_fits(strbuf_bytes(&text), &err));
    assert_non_null(strstr(err.text, "500,000"));

    strbuf_reset(&text);
    strbuf_add_char(&text, '"');
    while (text.len < JSON_BYTES - 1)
        strbuf_add_char(&text, 'x');
    strbuf_add_char(&text, '"');
    assert_true(json_fits(strbuf_bytes(&text), NULL));
    strbuf_add_char(&text, ' ');
    err_clear(&err);
    assert_false(json_fits(strbuf_bytes(&text), &err));
    assert_non_null(strstr(err.text, "4.2 MB"));
    strbuf_release(&text);
}

// The largest that is taken apart, shaped to hurt: many equal names, many duplicates, deep and wide.
static void
hostile_shapes_cost_little(void **state)
{
    (void)state;
    struct strbuf text = {0};
    strbuf_add_char(&text, '{');
    for (int i = 0; i < 100000; i++)
        strbuf_printf(&text, "%s\"name%d\":1e999", i ? "," : "", i % 50000);
    strbuf_add_char(&text, '}');
    struct json_warning warnings[4];
    struct strbuf out = {0};
    int64_t began = cpu_time();
    assert_int_equal(json_warnings(strbuf_bytes(&text), warnings, 4), 150000);
    struct json_path *path;
    assert_true(json_path_parse(&path, BYTES("$.name7"), NULL));
    assert_true(json_remove(path, strbuf_bytes(&text), &out));
    json_path_destroy(path);

    strbuf_reset(&text);
    for (int i = 0; i < JSON_DEPTH; i++)
        strbuf_add_char(&text, '[');
    for (int i = 0; i < 200000; i++)
        strbuf_add_text(&text, "0,");
    strbuf_reset(&out);
    assert_false(json_format(strbuf_bytes(&text), &out));
    assert_true(out.len < 200 * text.len);
    assert_true(cpu_time() - began < 5 * SECOND_SPENT);
    strbuf_release(&text);
    strbuf_release(&out);
}

static void
contents_are_quoted_and_come_back(void **state)
{
    (void)state;
    struct bytes content = BYTES("a\"b\\c\n\t\x01\0\xc3\xa9/\xf0\x9f\x98\x80");
    struct strbuf token = {0};
    struct strbuf back = {0};
    json_quote(content, &token);
    assert_string_equal(strbuf_text(&token), "\"a\\\"b\\\\c\\n\\t\\u0001\\u0000\xc3\xa9/\xf0\x9f\x98\x80\"");
    assert_true(json_decode(strbuf_bytes(&token), &back));
    assert_true(bytes_equal(strbuf_bytes(&back), content));
    strbuf_reset(&token);
    json_quote(BYTES("\xff"), &token);
    assert_string_equal(strbuf_text(&token), "\"\xef\xbf\xbd\"");
    strbuf_release(&token);
    strbuf_release(&back);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grammar_is_held_to),
        cmocka_unit_test(lines_and_columns_are_characters),
        cmocka_unit_test(formatting_keeps_every_token),
        cmocka_unit_test(what_is_no_json_is_passed_on_whole),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(paths_find_values_as_jsonb_would),
        cmocka_unit_test(numbers_are_compared_by_value_at_any_length),
        cmocka_unit_test(strings_are_decoded_once),
        cmocka_unit_test(dangers_of_valid_json_are_named),
        cmocka_unit_test(a_cursor_knows_its_path),
        cmocka_unit_test(too_large_a_text_is_an_error),
        cmocka_unit_test(hostile_shapes_cost_little),
        cmocka_unit_test(contents_are_quoted_and_come_back),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
