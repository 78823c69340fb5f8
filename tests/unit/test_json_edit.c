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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_leave_the_rest_byte_for_byte),
        cmocka_unit_test(pretty_space_is_kept_by_edits),
    };
    return cmocka_run_group_tests_name("json_edit", tests, NULL, NULL);
}
