// Values of Avro as JSON. The bytes are by hand, from the Apache Avro 1.11 specification, "Binary Encoding".
#include "core/schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/json.h"

static struct arena arena;

struct decode_case {
    const char *schema;
    struct bytes value;
    const char *wanted; // JSON, or what the refusal says
};

// The JSON, or the sentence that refuses it.
static const char *
decode(enum schema_language language, struct bytes text, enum schema_framing framing, struct bytes value)
{
    struct err err = {0};
    struct strbuf out = {0};
    strbuf_add_text(&out, "before ");
    const struct schema *schema = schema_read(language, &text, 1, &arena, &err);
    bool ok = schema && schema_decode(schema, framing, value, &out, &err);
    if (!ok)
        assert_string_equal(strbuf_text(&out), "before ");
    if (ok && !json_check(bytes_slice(strbuf_bytes(&out), 7, SIZE_MAX), &err))
        fail_msg("%s: %s", err.text, strbuf_text(&out));
    const char *said =
        arena_text(&arena, ok ? bytes_slice(strbuf_bytes(&out), 7, SIZE_MAX) : bytes_of(err.text));
    strbuf_release(&out);
    return said;
}

static void
assert_cases(const struct decode_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *said = decode(SCHEMA_AVRO, bytes_of(cases[i].schema), SCHEMA_BARE, cases[i].value);
        if (!strstr(said, cases[i].wanted) || (said[0] == '{' && strcmp(said, cases[i].wanted) != 0))
            fail_msg("case %zu, %s: %s instead of %s", i, cases[i].schema, said, cases[i].wanted);
    }
}
#define ASSERT_CASES(cases) assert_cases(cases, sizeof(cases) / sizeof *(cases))

static void
each_type_of_avro_is_shown_by_its_plain_value(void **state)
{
    (void)state;
    static const struct decode_case cases[] = {
        {"\"null\"", {"", 0}, "null"},
        {"\"boolean\"", {"\x01", 1}, "true"},
        {"\"int\"", {"\x01", 1}, "-1"},
        {"\"int\"", {"\x80\x01", 2}, "64"},
        {"\"long\"", {"\x7F", 1}, "-64"},
        {"\"long\"", {"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10}, "9223372036854775807"},
        {"\"long\"", {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10}, "-9223372036854775808"},
        {"\"long\"", {"\x82\x80\x80\x80\x80\x80\x80\x20", 8}, "9007199254740993"}, // 2^53 + 1
        {"\"float\"", {"\xCD\xCC\xCC\x3D", 4}, "0.1"},
        {"\"double\"", {"\x9A\x99\x99\x99\x99\x99\xB9\x3F", 8}, "0.1"},
        {"\"double\"", {"\0\0\0\0\0\0\xF8\x7F", 8}, "\"NaN\""},
        {"\"float\"", {"\0\0\x80\xFF", 4}, "\"-Infinity\""},
        {"\"bytes\"", {"\x04\x00\xFF", 3}, "{\"base64\":\"AP8=\"}"},
        {"\"string\"", {"\x06\x66\x6F\x6F", 4}, "\"foo\""},
        {"\"string\"",
         {"\x08"
          "a\0\xFF\"",
          5},
         "\"a\xEF\xBF\xBD\xEF\xBF\xBD\\\"\""},
        {"{\"type\":\"record\",\"name\":\"test\",\"fields\":[{\"name\":\"a\",\"type\":\"long\"},"
         "{\"name\":\"b\",\"type\":\"string\"}]}",
         {"\x36\x06\x66\x6F\x6F", 5},
         "{\"a\":27,\"b\":\"foo\"}"},
        {"{\"type\":\"enum\",\"name\":\"Foo\",\"symbols\":[\"A\",\"B\",\"C\",\"D\"]}", {"\x06", 1}, "\"D\""},
        {"{\"type\":\"array\",\"items\":\"long\"}", {"\x04\x06\x36\x00", 4}, "[3,27]"},
        {"{\"type\":\"array\",\"items\":\"long\"}", {"\x03\x04\x06\x36\x00", 5}, "[3,27]"}, // with its bytes
        {"{\"type\":\"array\",\"items\":\"long\"}", {"\x02\x06\x02\x36\x00", 5}, "[3,27]"}, // two blocks
        {"{\"type\":\"map\",\"values\":\"int\"}", {"\x04\x02x\x02\x02y\x04\x00", 8}, "{\"x\":1,\"y\":2}"},
        {"{\"type\":\"map\",\"values\":\"int\"}", {"\x00", 1}, "{}"},
        {"[\"null\",\"string\"]", {"\x02\x02\x61", 3}, "\"a\""},
        {"[\"null\",\"string\"]", {"\x00", 1}, "null"},
        {"{\"type\":\"fixed\",\"size\":2,\"name\":\"md5\"}", {"\x01\x02", 2}, "{\"base64\":\"AQI=\"}"},
        {"{\"type\":\"int\",\"logicalType\":\"date\"}", {"\x02", 1}, "1"},
        {"{\"type\":{\"type\":\"string\",\"avro.java.string\":\"String\"}}", {"\x02z", 2}, "\"z\""},
    };
    ASSERT_CASES(cases);
}

static void
names_have_spaces_and_types_may_contain_themselves(void **state)
{
    (void)state;
    static const char list[] =
        "{\"type\":\"record\",\"name\":\"LongList\",\"namespace\":\"org.a\",\"fields\":["
        "{\"name\":\"value\",\"type\":\"long\"},{\"name\":\"next\",\"type\":[\"null\",\"LongList\"]},"
        "{\"name\":\"id\",\"type\":{\"type\":\"fixed\",\"name\":\"b.Id\",\"size\":1}},"
        "{\"name\":\"again\",\"type\":\"b.Id\"}]}";
    static const struct decode_case cases[] = {
        {list,
         {"\x02\x02\x04\x00"
          "abcd",
          8},
         "{\"value\":1,\"next\":{\"value\":2,\"next\":null,\"id\":{\"base64\":\"YQ==\"},\"again\":{"
         "\"base64\":\"Yg==\"}},\"id\":{\"base64\":\"Yw==\"},\"again\":{\"base64\":\"ZA==\"}}"},
    };
    ASSERT_CASES(cases);
}

static void
a_schema_refers_to_others(void **state)
{
    (void)state;
    const struct bytes texts[] = {
        BYTES("{\"type\":\"enum\",\"name\":\"shop.State\",\"symbols\":[\"OPEN\",\"PAID\"]}"),
        BYTES(
            "{\"type\":\"record\",\"name\":\"shop.Order\",\"fields\":[{\"name\":\"state\",\"type\":\"State\"}"
            "]}")};
    struct err err = {0};
    struct strbuf out = {0};
    const struct schema *schema = schema_read(SCHEMA_AVRO, texts, 2, &arena, &err);
    assert_non_null(schema);
    assert_true(schema_decode(schema, SCHEMA_FRAMED, BYTES("\x02"), &out, &err));
    assert_string_equal(strbuf_text(&out), "{\"state\":\"PAID\"}");
    strbuf_release(&out);
}

static void
hostile_values_are_refused(void **state)
{
    (void)state;
    static const char endless[] =
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"R\"}"
        "]}";
    static const char chain[] =
        "{\"type\":\"record\",\"name\":\"N\",\"fields\":[{\"name\":\"next\",\"type\":["
        "\"null\",\"N\"]}]}";
    static char twos[1000];
    memset(twos, 2, sizeof twos);
    const struct decode_case cases[] = {
        {"\"string\"", {"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 9}, "bytes, and 0 are left"},
        {"\"string\"", {"\x01", 1}, "negative length"},
        {"\"string\"", {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10}, "negative length"},
        {"\"long\"", {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10}, "more than 64 bits"},
        {"\"int\"", {"\xFE\xFF\xFF\xFF\x7F", 5}, "more than 32 bits"},
        {"\"long\"", {"\xFF", 1}, "ends within a number"},
        {"\"long\"", {"", 0}, "ends within a number"},
        {"\"boolean\"", {"\x02", 1}, "neither 0 nor 1"},
        {"\"null\"", {"\x02", 1}, "1 bytes are left behind"},
        {"\"null\"", {NULL, 0}, "no value"},
        {"{\"type\":\"array\",\"items\":\"null\"}",
         {"\xFE\xFF\xFF\xFF\xFF\xFF\x7F\0", 8},
         "longer than 66048"},
        {"{\"type\":\"array\",\"items\":\"null\"}",
         {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\0\0", 12},
         "longer than"},
        {endless, {"", 0}, "64 levels"},
        {chain, {twos, sizeof twos}, "64 levels"},
        {"[\"null\"]", {"\x02", 1}, "branch 1 of 1"},
        {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[]}", {"\x00", 1}, "symbol 0 of 0"},
        {"{\"type\":\"fixed\",\"size\":999999999,\"name\":\"F\"}",
         {"a", 1},
         "a fixed value of 999999999 bytes"},
    };
    ASSERT_CASES(cases);
}

static void
hostile_schemas_are_refused(void **state)
{
    (void)state;
    static char deep[2001];
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    const struct decode_case cases[] = {
        {"", {"", 0}, "no JSON"},
        {"{}", {"", 0}, "a type that says nothing"},
        {"{\"type\":\"record\"}", {"", 0}, "a type without a name"},
        {"{\"type\":\"record\",\"name\":\"R\"}", {"", 0}, "no list"},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[1]}", {"", 0}, "a field without a name"},
        {"{\"type\":\"array\"}", {"", 0}, "something else than a type"},
        {"\"Order\"", {"", 0}, "a type that is not there: Order"},
        {"[{\"type\":\"fixed\",\"name\":\"a\",\"size\":1},{\"type\":\"fixed\",\"name\":\"a\",\"size\":1}]",
         {"", 0},
         "two types of one name"},
        {"{\"type\":\"fixed\",\"name\":\"a\",\"size\":-1}", {"", 0}, "no size"},
        {"{\"type\":\"fixed\",\"name\":\"a\",\"size\":1e9}", {"", 0}, "no size"},
        {deep, {"", 0}, "deep"},
    };
    ASSERT_CASES(cases);
}

static void
json_schema_is_the_json_behind_the_number(void **state)
{
    (void)state;
    assert_string_equal(decode(SCHEMA_JSON, BYTES("{}"), SCHEMA_FRAMED, BYTES("{\"a\": 1.00}")),
                        "{\"a\": 1.00}");
    assert_non_null(strstr(decode(SCHEMA_JSON, BYTES("{}"), SCHEMA_FRAMED, BYTES("{\"a\"")), "no JSON"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_of_avro_is_shown_by_its_plain_value),
        cmocka_unit_test(names_have_spaces_and_types_may_contain_themselves),
        cmocka_unit_test(a_schema_refers_to_others),
        cmocka_unit_test(hostile_values_are_refused),
        cmocka_unit_test(hostile_schemas_are_refused),
        cmocka_unit_test(json_schema_is_the_json_behind_the_number),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
