// The configuration syntax: each value comes with its line, in the order of the text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "settings/config_text.h"

static const struct config_form free_form = {.free_names = ""};
static const struct config_option inner_options[] = {
    {.name = "a_value", .kind = CONFIG_VALUE},
    {.name = "list", .kind = CONFIG_LIST},
    {.name = "free", .kind = CONFIG_SECTION, .inside = &free_form},
};
static const struct config_form inner_form = {.options = inner_options, .count = 3, .takes_dashes = true};
static const struct config_option top_options[] = {
    {.name = "list", .kind = CONFIG_LIST},
    {.name = "once", .kind = CONFIG_TITLED, .inside = &inner_form},
    {.name = "often", .kind = CONFIG_RETITLED, .inside = &inner_form},
    {.name = "plain", .kind = CONFIG_SECTION, .inside = &inner_form},
};
static const struct config_form top_form = {.options = top_options, .count = 4};

static void
say_unknown(const char *section, const char *name, struct err *err)
{
    err_set(err, ERR_USAGE, "%s has no %s", section == NULL ? "the text" : section, name);
}

static const struct config_language language = {
    .what = "a test", .form = &top_form, .include_example = "other", .say_unknown = say_unknown};

static struct config_text
read_text(const char *source)
{
    struct config_text text;
    struct err err = {0};
    if (!config_text_read(&text, &language, "file", source, &err))
        fail_msg("%s", err.text);
    return text;
}

static void
assert_value(const struct config_entry *entry, size_t at, const char *text, int line)
{
    assert_non_null(entry);
    assert_true(at < entry->count);
    assert_string_equal(entry->values[at].text, text);
    assert_int_equal(entry->values[at].line, line);
}

static void
values_have_their_lines(void **state)
{
    (void)state;
    struct config_text text = read_text("include(\"first\")\n"
                                        "list = {\"gone\"}\n"
                                        "list = {\"one\",\n"
                                        "  \"one\"}\n"
                                        "plain { a-value = x\n"
                                        "  list += \"two\" }\n"
                                        "include(\"second\")\n");
    assert_int_equal(text.include_count, 2);
    assert_string_equal(text.includes[1].text, "second");
    assert_int_equal(text.includes[1].line, 7);
    const struct config_entry *list = config_section_entry(&text.sections[0], "list");
    assert_value(list, 0, "one", 3);
    assert_value(list, 1, "one", 4);
    assert_int_equal(list->count, 2);
    assert_false(list->is_added);
    assert_int_equal(text.section_count, 2);
    assert_int_equal(text.sections[1].line, 6);
    assert_string_equal(config_section_value(&text.sections[1], "a_value"), "x");
    list = config_section_entry(&text.sections[1], "list");
    assert_value(list, 0, "two", 6);
    assert_true(list->is_added);
    config_text_release(&text);
}

static void
an_emptied_list_is_named(void **state)
{
    (void)state;
    struct config_text text = read_text("list = {}\nplain { a_value = x }\n");
    const struct config_entry *list = config_section_entry(&text.sections[0], "list");
    assert_non_null(list);
    assert_int_equal(list->count, 0);
    assert_null(config_section_entry(&text.sections[1], "list"));
    config_text_release(&text);
}

// libconfuse drops a section when another of its title follows.
static void
no_section_is_lost(void **state)
{
    (void)state;
    struct config_text text = read_text("often \"x\" { a_value = one free { f.g = 1 } }\n"
                                        "often \"x\" { list = {\"two\"}\n free {\n h-i = 2\n} }\n");
    assert_int_equal(text.section_count, 5);
    for (size_t i = 1; i < 5; i++)
        assert_string_equal(text.sections[i].title, "x");
    assert_string_equal(text.sections[1].name, "free");
    assert_string_equal(config_section_value(&text.sections[1], "f.g"), "1");
    assert_string_equal(config_section_value(&text.sections[2], "a_value"), "one");
    assert_string_equal(config_section_value(&text.sections[3], "h-i"), "2");
    assert_non_null(config_section_entry(&text.sections[4], "list"));
    config_text_release(&text);
}

static void
faults_have_their_lines(void **state)
{
    (void)state;
    static const struct {
        const char *source, *said;
    } rows[] = {
        {"\nmore = 1\n", "file:2: the text has no more"},
        {"\n\nplain { more = 1 }\n", "file:3: plain has no more"},
        {"once \"x\" { }\nonce \"x\" { }\n", "file:2: found duplicate title 'x'"},
        {"list = {\"one\n", "file:2: the file ends too early: a value, a closing quote or a } is missing"},
        {"include()\n", "file:1: include takes one name: include(\"other\")"},
        {"\n\002 = x\n", "file:2: missing parenthesis for function '\002'"},
        {"\002(x)\n", "file: it cannot be read as a test"},
        {"plain = 1\n", "file:1: missing opening brace for section 'plain'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config_text text;
        struct err err = {0};
        assert_false(config_text_read(&text, &language, "file", rows[i].source, &err));
        if (strncmp(err.text, rows[i].said, strlen(rows[i].said)) != 0)
            fail_msg("row %zu: %s", i, err.text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_lines),
        cmocka_unit_test(an_emptied_list_is_named),
        cmocka_unit_test(no_section_is_lost),
        cmocka_unit_test(faults_have_their_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
