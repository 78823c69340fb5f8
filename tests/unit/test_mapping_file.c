// Mappings: what a file says as JSON, and what is refused with its line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "settings/mapping_file.h"

static char path[] = "/tmp/redrive-mapping-XXXXXX";

static bool
read_text(const char *text, struct strbuf *json, struct err *err)
{
    FILE *stream = fopen(path, "we");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
    return mapping_file_read(path, json, err);
}

static void
expect_json(const char *text, const char *wanted)
{
    struct strbuf json = {0};
    struct err err = {0};
    if (!read_text(text, &json, &err))
        fail_msg("%s", err.text);
    assert_string_equal(strbuf_text(&json), wanted);
    strbuf_release(&json);
}

static void
expect_refused(const char *text, const char *words)
{
    struct strbuf json = {0};
    struct err err = {0};
    if (read_text(text, &json, &err))
        fail_msg("read: %s", strbuf_text(&json));
    assert_int_equal(err.kind, ERR_USAGE);
    if (!strstr(err.text, words))
        fail_msg("%s: without \"%s\"", err.text, words);
    strbuf_release(&json);
}

static void
names_paths_and_words_are_told_apart(void **state)
{
    (void)state;
    expect_json("# a comment\nmapping \"t\" { id = \"a\" error = {\"b.c.d\", \"e\"} pending = {\"x.y\"} "
                "topic = \"o.rders\" }",
                "{\"name\":\"t\",\"id\":[{\"column\":\"a\",\"path\":[]}],"
                "\"error\":[{\"column\":\"b\",\"path\":[\"c\",\"d\"]},{\"column\":\"e\",\"path\":[]}],"
                "\"pending\":[\"x.y\"],\"topic\":\"o.rders\"}");
}

static void
a_name_in_quotes_may_have_a_dot(void **state)
{
    (void)state;
    expect_json("mapping \"t\" { id = '\"my.col\".x.\"y z\"' }",
                "{\"name\":\"t\",\"id\":[{\"column\":\"my.col\",\"path\":[\"x\",\"y z\"]}]}");
}

// What is no SQL yet stays what it is.
static void
quotes_and_semicolons_are_part_of_a_name(void **state)
{
    (void)state;
    expect_json("mapping \"t\" { id = \"a'); DROP TABLE x; --\" }",
                "{\"name\":\"t\",\"id\":[{\"column\":\"a'); DROP TABLE x; --\",\"path\":[]}]}");
}

static void
mistakes_are_told_with_their_line(void **state)
{
    (void)state;
    expect_refused("mapping \"t\" {\n  idd = \"a\"\n}", ":2: ");
    expect_refused("mapping \"t\" {\n  id = \"a..b\"\n}", ":2: id names a column");
    expect_refused("mapping \"t\" {\n  id = \"a.\"\n}", ":2: id names a column");
    expect_refused("mapping \"t\" {\n  id = '\"a'\n}", ":2: id names a column");
    expect_refused("mapping \"t\" {\n  id = \"\"\n}", ":2: id names a column");
    expect_refused("mapping \"t\" { topic = \"a\" topic_from = \"b\" }", "topic or topic_from, not both");
    expect_refused("mapping \"t\" { }\nmapping \"u\" { }", "the file has one mapping");
    expect_refused("", "the file has one mapping");
}

static void
each_built_in_mapping_is_read(void **state)
{
    (void)state;
    size_t count = 0;
    for (const char *name; (name = mapping_file_builtin(count)); count++) {
        struct strbuf json = {0};
        struct err err = {0};
        if (!mapping_file_read(name, &json, &err))
            fail_msg("%s: %s", name, err.text);
        assert_non_null(strstr(strbuf_text(&json), "\"retry\":\""));
        assert_non_null(strstr(strbuf_text(&json), "\"failed\":[{"));
        strbuf_release(&json);
    }
    assert_int_equal(count, 3);
}

static void
an_unknown_name_tells_the_known_ones(void **state)
{
    (void)state;
    struct strbuf json = {0};
    struct err err = {0};
    assert_false(mapping_file_read("rivers", &json, &err));
    assert_non_null(strstr(err.text, "river, pg-boss, oban"));
    assert_non_null(strstr(err.text, "./rivers would be a file"));
    err_clear(&err);
    assert_false(mapping_file_read("./not-there", &json, &err));
    assert_non_null(strstr(err.text, "cannot be read"));
    strbuf_release(&json);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_paths_and_words_are_told_apart),
        cmocka_unit_test(a_name_in_quotes_may_have_a_dot),
        cmocka_unit_test(quotes_and_semicolons_are_part_of_a_name),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(each_built_in_mapping_is_read),
        cmocka_unit_test(an_unknown_name_tells_the_known_ones),
    };
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
