// The value at a path of a payload: its kind and name, and the term that chooses it. core/json/path_value,
// core/json/jsonpath, core/filter/path_term.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/filter/filter.h"
#include "core/filter/path_term.h"
#include "core/json/jsonpath.h"

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

// Payloads in classes: the values at $.a of neighbours with the same name are the same.
static const struct {
    const char *payload;
    const char *shown; // by path_value_print
} payloads[] = {
    {NULL, "(missing)"},
    {"", "(missing)"},
    {"{\"a\":", "(missing)"},
    {"not JSON", "(missing)"},
    {"{\"b\":1}", "(missing)"},
    {"[{\"a\":1}]", "(missing)"},
    {"{\"a\":null}", "(null)"},
    {"{\"a\":\"null\"}", "\"null\""},
    {"{\"a\":true}", "true"},
    {"{\"a\":\"true\"}", "\"true\""},
    {"{\"a\":false}", "false"},
    {"{\"a\":5}", "5"},
    {"{\"a\":5.0}", "5"},
    {"{\"a\":0.5e1}", "5"},
    {"{\"a\":\"5\"}", "\"5\""},
    {"{\"a\":\"5.0\"}", "\"5.0\""},
    {"{\"a\":\" 5\"}", "\" 5\""},
    {"{\"a\":0}", "0"},
    {"{\"a\":-0.0}", "0"},
    {"{\"a\":-12.5}", "-12.5"},
    {"{\"a\":0.00001}", "0.00001"},
    {"{\"a\":1e-7}", "1e-7"},
    {"{\"a\":12345678901234567890123}", "1.2345678901234567890123e22"},
    {"{\"a\":12345678901234567890124}", "1.2345678901234567890124e22"},
    {"{\"a\":1e1002}", "(long)"},
    {"{\"a\":"
     "1" HUNDRED HUNDRED "}",
     "(long)"},
    {"{\"a\":\"\"}", "\"\""},
    {"{\"a\":\"pay\"}", "pay"},
    {"{\"a\":\"p\\u0061y\"}", "pay"},
    {"{\"a\":\"Pay\"}", "Pay"},
    {"{\"a\":\"pay \"}", "\"pay \""},
    {"{\"a\":\"(null)\"}", "\"(null)\""},
    {"{\"a\":\"say \\\"hi\\\" \\\\ or\"}", "say \"hi\" \\ or"},
    {"{\"a\":\"\\\"pay\\\"\"}", "\"\\\"pay\\\"\""},
    {"{\"a\":\"\\u001b[31mred\\n\"}", "\x1b[31mred\n"},
    {"{\"a\":\"ação\"}", "ação"},
    {"{\"a\":\"@late or topic:x !y\"}", "@late or topic:x !y"},
    {"{\"a\":\"nul \\u0000 here\"}", "(long)"},
    {"{\"a\":\"" HUNDRED HUNDRED "\"}", HUNDRED HUNDRED},
    {"{\"a\":\"" HUNDRED HUNDRED "x\"}", "(long)"},
    {"{\"a\":{\"b\":1}}", "(object)"},
    {"{\"a\":\"{\\\"b\\\":1}\"}", "\"{\\\"b\\\":1}\""},
    {"{\"a\":{}}", "(object)"},
    {"{\"a\":[1]}", "(array)"},
    {"{\"a\":\"[1]\"}", "\"[1]\""},
};
enum { PAYLOADS = sizeof payloads / sizeof *payloads };

static struct json_path *
path_of(const char *text)
{
    struct json_path *path;
    assert_true(json_path_parse(&path, bytes_of(text), NULL));
    return path;
}

static enum path_kind
value_of(const struct json_path *path, const char *payload, struct strbuf *name)
{
    struct json_token token;
    if (!payload || !json_path_find(path, bytes_of(payload), &token))
        return path_value_of(BYTES_ABSENT, name);
    return path_value_of(bytes_slice(bytes_of(payload), token.from, token.len), name);
}

static void
test_each_value_is_named(void **state)
{
    (void)state;
    struct json_path *path = path_of("$.a");
    struct strbuf name = {0}, shown = {0};
    for (size_t i = 0; i < PAYLOADS; i++) {
        enum path_kind kind = value_of(path, payloads[i].payload, &name);
        strbuf_reset(&shown);
        path_value_print(kind, strbuf_bytes(&name), &shown);
        assert_string_equal(strbuf_text(&shown), payloads[i].shown);
    }
    strbuf_release(&name);
    strbuf_release(&shown);
    json_path_destroy(path);
}

static bool
matches(struct filter *filter, const char *payload)
{
    const struct event event = {
        .id = 1, .created_at = TIME_ABSENT, .payload = payload ? bytes_of(payload) : BYTES_ABSENT};
    return filter_match(filter, &event) == FILTER_YES;
}

// The term of a value matches exactly the payloads with that value.
static void
test_a_term_chooses_its_value_alone(void **state)
{
    (void)state;
    struct json_path *path = path_of("$.a");
    struct strbuf name = {0}, other = {0}, term = {0};
    for (size_t i = 0; i < PAYLOADS; i++) {
        enum path_kind kind = value_of(path, payloads[i].payload, &name);
        strbuf_reset(&term);
        path_term_print(path, kind, strbuf_bytes(&name), &term);
        const struct filter_context context = {.new_after = TIME_ABSENT};
        struct filter *filter;
        struct err err = {0};
        if (!filter_parse(&filter, strbuf_bytes(&term), &context, &err))
            fail_msg("%s: %s", strbuf_text(&term), err.text);
        for (size_t j = 0; j < PAYLOADS; j++) {
            bool is_same = value_of(path, payloads[j].payload, &other) == kind &&
                           bytes_equal(strbuf_bytes(&name), strbuf_bytes(&other));
            if (matches(filter, payloads[j].payload) != is_same)
                fail_msg("%s on %s", strbuf_text(&term), payloads[j].payload);
        }
        filter_destroy(filter);
    }
    strbuf_release(&name);
    strbuf_release(&other);
    strbuf_release(&term);
    json_path_destroy(path);
}

static void
test_terms_are_short(void **state)
{
    (void)state;
    const struct {
        const char *path;
        enum path_kind kind;
        const char *name, *term;
    } cases[] = {
        {"$.a", PATH_TEXT, "pay", "$.a=\"pay\""},
        {"$.a", PATH_TEXT, "5", "$.a?text $.a=\"5\""},
        {"$.a", PATH_NUMBER, "5", "$.a?number $.a=5"},
        {"$.a", PATH_BOOLEAN, "true", "$.a?boolean $.a=true"},
        {"$.a", PATH_NULL, "", "$.a?null"},
        {"$.a", PATH_MISSING, "", "!$.a?"},
        {"$.lines[0]['odd key']", PATH_OBJECT, "", "$.lines[0]['odd key']?object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_path *path = path_of(cases[i].path);
        struct strbuf term = {0};
        path_term_print(path, cases[i].kind, bytes_of(cases[i].name), &term);
        assert_string_equal(strbuf_text(&term), cases[i].term);
        strbuf_release(&term);
        json_path_destroy(path);
    }
}

// jsonb cuts nothing of a value with a name.
static void
test_a_cut_token_is_long(void **state)
{
    (void)state;
    struct strbuf name = {0};
    char token[PATH_TOKEN_CHARACTERS + 1];
    memset(token, '7', PATH_TOKEN_CHARACTERS);
    token[PATH_TOKEN_CHARACTERS] = '\0';
    assert_int_equal(path_value_of(bytes_of(token), &name), PATH_LONG);
    token[0] = '"';
    assert_int_equal(path_value_of(bytes_of(token), &name), PATH_LONG);
    token[0] = '{';
    assert_int_equal(path_value_of(bytes_of(token), &name), PATH_OBJECT);
    strbuf_release(&name);
}

static void
test_paths_of_postgresql(void **state)
{
    (void)state;
    const struct {
        const char *path, *printed; // NULL: jsonb has no such value
    } cases[] = {
        {"$", "strict $"},
        {"$.task_type", "strict $.\"task_type\""},
        {"$.lines[2].sku", "strict $.\"lines\"[2].\"sku\""},
        {"$['say \"hi\" \\\\ \\u0001']", "strict $.\"say \\u0022hi\\u0022 \\u005c \\u0001\""},
        {"$['a\\u0000']", NULL},
        {"$['\xff']", NULL},
        {"$[99999999999]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_path *path = path_of(cases[i].path);
        struct strbuf out = {0};
        assert_int_equal(jsonpath_print(path, &out), cases[i].printed != NULL);
        if (cases[i].printed)
            assert_string_equal(strbuf_text(&out), cases[i].printed);
        strbuf_release(&out);
        json_path_destroy(path);
    }
}

static void
test_names_alone_lead_to_some_values(void **state)
{
    (void)state;
    const struct {
        const char *path;
        size_t count;
    } cases[] = {
        {"$", 0},      {"$.a", 1},      {"$['0'].b", 2},  {"$.a.b.c", 3},
        {"$.a[0]", 0}, {"$[0].a.b", 0}, {"$.a.b.c.d", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_path *path = path_of(cases[i].path);
        const char *names[3];
        assert_int_equal(jsonpath_names(path, names, 3), cases[i].count);
        if (cases[i].count == 2) {
            assert_string_equal(names[0], "0");
            assert_string_equal(names[1], "b");
        }
        json_path_destroy(path);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_value_is_named), cmocka_unit_test(test_a_term_chooses_its_value_alone),
        cmocka_unit_test(test_terms_are_short),     cmocka_unit_test(test_a_cut_token_is_long),
        cmocka_unit_test(test_paths_of_postgresql), cmocka_unit_test(test_names_alone_lead_to_some_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
