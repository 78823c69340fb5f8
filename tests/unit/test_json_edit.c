#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/match.h"
#include "tests/unit/cases.h"

// Cuts the next word off *rest; a path may hold blanks between quotes.
static char *
next_word(char **rest)
{
    char *word = *rest;
    char quote = '\0';
    char *at = word;
    for (; *at && (quote || *at != ' '); at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*word == '$' && (*at == '\'' || *at == '"'))
            quote = *at;
    }
    *rest = *at ? at + 1 : at;
    *at = '\0';
    return word;
}

static bool
do_edit(const char *verb, const struct json_path *path, char *rest, struct bytes text, struct strbuf *out)
{
    if (strcmp(verb, "set") == 0)
        return json_set(path, text, bytes_of(rest), out);
    if (strcmp(verb, "remove") == 0)
        return json_remove(path, text, out);
    if (strcmp(verb, "rename") == 0)
        return json_rename(path, text, bytes_of(rest), out);
    assert_string_equal(verb, "insert");
    const char *index = next_word(&rest);
    size_t at = strcmp(index, "last") == 0 ? JSON_LAST : strtoul(index, NULL, 10);
    return json_insert(path, text, at, bytes_of(rest), out);
}

static bool
check_edit(char *line, const char *expected)
{
    char *bar = strstr(line, " | ");
    *bar = '\0';
    struct bytes text = bytes_of(bar + 3);
    const char *verb = next_word(&line);
    const char *name = next_word(&line);
    struct json_path *path;
    struct err err = {0};
    if (!json_pattern_parse(&path, bytes_of(name), &err)) {
        print_error("%s: %s\n", name, err.text);
        return false;
    }
    // What was there before stays, whatever comes of the edit.
    struct strbuf out = {0};
    strbuf_add_text(&out, "before:");
    if (!do_edit(verb, path, line, text, &out))
        strbuf_add_text(&out, "-");
    bool ok = bytes_starts(strbuf_bytes(&out), "before:") && strcmp(strbuf_text(&out) + 7, expected) == 0;
    if (!ok)
        print_error("%s %s %s | %s\n  %s\n  not %s\n", verb, name, line, text.data, strbuf_text(&out),
                    expected);
    json_path_destroy(path);
    strbuf_release(&out);
    return ok;
}

static void
edits_leave_the_rest_byte_for_byte(void **state)
{
    (void)state;
    each_case("tests/cases/json/edit.txt", check_edit);
}

// What a person's editor does to white space, with nothing edited.
static void
pretty_space_is_kept_by_edits(void **state)
{
    (void)state;
    struct bytes text = BYTES("{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n}\n");
    struct json_path *path;
    struct strbuf out = {0};
    struct strbuf back = {0};
    assert_true(json_path_parse(&path, BYTES("$.b.d"), NULL));
    assert_true(json_set(path, text, BYTES("[3]"), &out));
    assert_string_equal(strbuf_text(&out),
                        "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2,\n    \"d\": [3]\n  }\n}\n");
    assert_true(json_remove(path, strbuf_bytes(&out), &back));
    assert_true(bytes_equal(strbuf_bytes(&back), text));
    json_path_destroy(path);
    strbuf_release(&out);
    strbuf_release(&back);
}

static bool
check_requote(char *line, const char *expected)
{
    char *bar = strstr(line, " | ");
    *bar = '\0';
    struct strbuf content = {0}, out = {0}, back = {0};
    bool ok = json_decode(bytes_of(bar + 3), &content);
    bool is_kept = json_requote(bytes_of(line), strbuf_bytes(&content), &out);
    // Whatever the spelling, the content is the new one.
    ok = ok && json_decode(strbuf_bytes(&out), &back) &&
         bytes_equal(strbuf_bytes(&back), strbuf_bytes(&content));
    if (!is_kept)
        strbuf_add_char(&out, '!');
    ok = ok && strcmp(strbuf_text(&out), expected) == 0;
    if (!ok)
        print_error("%s | %s: %s\n  not %s\n", line, bar + 3, strbuf_text(&out), expected);
    strbuf_release(&content);
    strbuf_release(&out);
    strbuf_release(&back);
    return ok;
}

static void
unchanged_content_keeps_its_escapes(void **state)
{
    (void)state;
    each_case("tests/cases/json/requote.txt", check_requote);
    assert_int_equal(json_lone_surrogates(BYTES("\"\\ud800\\ud83d\\ude00\\udc00\\ufffd\"")), 2);
    assert_int_equal(json_lone_surrogates(BYTES("\"\"")), 0);
}

static void
json_within_strings_is_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *token, *text; // NULL: none
    } rows[] = {
        {"\"{\\\"a\\\":[1]}\"", "{\"a\":[1]}"},
        {"\" [\\n] \"", " [\n] "},
        {"\"{}\"", "{}"},
        {"\"12\"", NULL},
        {"\"true\"", NULL},
        {"\"\\\"a\\\"\"", NULL},
        {"\"\"", NULL},
        {"\"{a}\"", NULL},
        {"\"{} {}\"", NULL},
        {"{}", NULL},
        {"12", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf text = {0};
        strbuf_add_text(&text, "before ");
        bool is_json = json_embedded(bytes_of(rows[i].token), &text);
        assert_int_equal(is_json, rows[i].text != NULL);
        assert_string_equal(strbuf_text(&text) + 7, rows[i].text ? rows[i].text : "");
        strbuf_release(&text);
    }
}

// A path, what to do there (NULL: remove), on a text that is replaced by the result.
static void
edit_in_place(struct strbuf *text, const char *name, const char *value)
{
    struct json_path *path;
    struct strbuf out = {0};
    assert_true(json_path_parse(&path, bytes_of(name), NULL));
    if (value)
        assert_true(json_set(path, strbuf_bytes(text), bytes_of(value), &out));
    else
        assert_true(json_remove(path, strbuf_bytes(text), &out));
    json_path_destroy(path);
    strbuf_release(text);
    *text = out;
}

// What consumers wrap around a message before they give it up is taken off, and no other byte changes.
static void
envelopes_are_undone(void **state)
{
    (void)state;
    // A message that carries its own error and count.
    struct strbuf text = {0};
    strbuf_add_text(
        &text, "{\n    \"message_id\": \"m-1\",\n    \"data\": {\n        \"total\": 299.90,\n"
               "        \"note\": \"caf\\u00e9 \\/ 1e2\"\n    },\n    \"error\": {\n"
               "        \"message\": \"refused: {\\\"error\\\": 1}\",\n        \"code\": \"500\"\n    },\n"
               "    \"retry_count\": 3\n}\n");
    edit_in_place(&text, "$.error", "null");
    edit_in_place(&text, "$.retry_count", "0");
    assert_string_equal(strbuf_text(&text),
                        "{\n    \"message_id\": \"m-1\",\n    \"data\": {\n        \"total\": 299.90,\n"
                        "        \"note\": \"caf\\u00e9 \\/ 1e2\"\n    },\n    \"error\": null,\n"
                        "    \"retry_count\": 0\n}\n");
    strbuf_release(&text);

    // A ticket with a member of its own for the failure: at the end, at the begin, between.
    static const char *const tickets[][2] = {
        {"{\"ticket_id\":\"T-1\",\"price\":0.10,\"dlq_metadata\":{\"original_error\":\"x\",\"retry_count\":3}"
         "}",
         "{\"ticket_id\":\"T-1\",\"price\":0.10}"},
        {"{ \"dlq_metadata\" : { \"retry_count\" : 3 } , \"ticket_id\" : 12345678901234567890 }",
         "{ \"ticket_id\" : 12345678901234567890 }"},
        {"{\n  \"a\": 1,\n  \"dlq_metadata\": {},\n  \"a\": 2\n}", "{\n  \"a\": 1,\n  \"a\": 2\n}"},
    };
    for (size_t i = 0; i < sizeof tickets / sizeof *tickets; i++) {
        strbuf_add_text(&text, tickets[i][0]);
        edit_in_place(&text, "$.dlq_metadata", NULL);
        assert_string_equal(strbuf_text(&text), tickets[i][1]);
        strbuf_release(&text);
    }
}

// A wrapper holds the message as text: its bytes come back as they were, and a correction within is written
// back so that nothing else of the wrapper changes.
static void
wrapped_values_are_unwrapped_and_corrected(void **state)
{
    (void)state;
    struct bytes message =
        BYTES("{\"id\": 7, \"name\":\"Zo\\u00eb\xc3\xa9\\/\\ud800\", \"amount\": 1.50,\t\"id\": 8}\n");
    struct strbuf wrapper = {0}, text = {0}, corrected = {0}, token = {0}, out = {0};
    strbuf_add_text(&wrapper, "{\"originalTopic\":\"orders\",\"originalValue\":");
    json_quote(message, &wrapper);
    strbuf_add_text(&wrapper, ",\"retryCount\":3}");

    struct json_path *value_path, *amount;
    struct json_token value;
    assert_true(json_path_parse(&value_path, BYTES("$.originalValue"), NULL));
    assert_true(json_path_parse(&amount, BYTES("$.amount"), NULL));
    assert_true(json_path_find(value_path, strbuf_bytes(&wrapper), &value));
    struct bytes whole = strbuf_bytes(&wrapper);
    struct bytes old = bytes_slice(whole, value.from, value.len);
    assert_true(json_embedded(old, &text));
    assert_true(bytes_equal(strbuf_bytes(&text), message));
    assert_int_equal(json_lone_surrogates(old), 0);

    // Untouched: the same wrapper. Corrected: the same but for one token within the string.
    assert_true(json_requote(old, strbuf_bytes(&text), &token));
    assert_true(bytes_equal(strbuf_bytes(&token), old));
    strbuf_reset(&token);
    assert_true(json_set(amount, strbuf_bytes(&text), BYTES("2.75"), &corrected));
    assert_true(json_requote(old, strbuf_bytes(&corrected), &token));
    assert_true(json_set(value_path, whole, strbuf_bytes(&token), &out));
    assert_int_equal(out.len, wrapper.len);
    size_t from = bytes_find(whole, BYTES("1.50"), 0);
    assert_memory_equal(out.data, wrapper.data, from);
    assert_memory_equal(out.data + from, "2.75", 4);
    assert_memory_equal(out.data + from + 4, wrapper.data + from + 4, wrapper.len - from - 4);
    json_path_destroy(value_path);
    json_path_destroy(amount);
    strbuf_release(&wrapper);
    strbuf_release(&text);
    strbuf_release(&corrected);
    strbuf_release(&token);
    strbuf_release(&out);
}

// A document that was formatted to be edited goes back with the white space that it had (json/respace.c).
static void
white_space_comes_back(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *expected;
    } rows[] = {
        {"{\"a\":1,\"b\":[1,2]}", "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}",
         "{\"a\":1,\"b\":[1,2]}"},
        {"{\"a\": 1, \"b\": 2}", "{\n  \"a\": 10,\n  \"b\": 2\n}", "{\"a\": 10, \"b\": 2}"},
        {" {\"a\" :1 ,\t\"b\": 2 } ", "{\"a\":1,\"b\":3}", " {\"a\" :1 ,\t\"b\": 3 } "},
        // New tokens are spaced as the first of their kind.
        {"{\"a\": 1, \"b\": 2}", "{\n\"a\": 1,\n\"c\": [1,\n2],\n\"b\": 2}",
         "{\"a\": 1, \"c\": [1, 2], \"b\": 2}"},
        {"{\"a\":1,\"b\":2}", "{\n  \"b\": 2\n}", "{\"b\":2}"},
        {"[]", "[\n  1, 2\n]", "[1,2]"},
        {"[1, 2]", "7", "7"},
        {"[1, 2", "[1, 2]", NULL},
        {"[1, 2]", "[1, 2", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf out = {0};
        bool ok = json_respace(bytes_of(rows[i].before), bytes_of(rows[i].after), &out);
        assert_int_equal(ok, rows[i].expected != NULL);
        assert_string_equal(strbuf_text(&out), rows[i].expected ? rows[i].expected : "");
        strbuf_release(&out);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_leave_the_rest_byte_for_byte),
        cmocka_unit_test(pretty_space_is_kept_by_edits),
        cmocka_unit_test(unchanged_content_keeps_its_escapes),
        cmocka_unit_test(json_within_strings_is_recognised),
        cmocka_unit_test(envelopes_are_undone),
        cmocka_unit_test(white_space_comes_back),
        cmocka_unit_test(wrapped_values_are_unwrapped_and_corrected),
    };
    return cmocka_run_group_tests_name("json_edit", tests, NULL, NULL);
}
