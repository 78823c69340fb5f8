#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/json.h"

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

static void
a_splice_leaves_the_rest_byte_for_byte(void **state)
{
    (void)state;
    struct bytes text = BYTES("{ \"a\" : 1.0,\t\"b\":2 }");
    struct json_path *path;
    struct json_token value;
    assert_true(json_path_parse(&path, BYTES("$.a"), NULL));
    assert_true(json_path_find(path, text, &value));
    struct strbuf out = {0};
    json_splice(text, value.from, value.len, BYTES("17.90"), &out);
    assert_string_equal(strbuf_text(&out), "{ \"a\" : 17.90,\t\"b\":2 }");
    strbuf_release(&out);
    json_path_destroy(path);
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
        cmocka_unit_test(a_splice_leaves_the_rest_byte_for_byte),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
