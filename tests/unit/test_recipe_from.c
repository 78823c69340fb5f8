// Edits that become recipes, and what differs between two versions of an event.
#include "core/recipe/recipe.h"

#include <stdlib.h>
#include "core/json/json.h"
#include "tests/unit/cases.h"
#include "tests/unit/cpu_time.h"

static const char *const FIDELITIES[] = {[RECIPE_EXACT] = "exact",
                                         [RECIPE_ALL_BUT_SPACE] = "all but space",
                                         [RECIPE_ALL_BUT_ORDER] = "all but order",
                                         [RECIPE_NOT_EXPRESSIBLE] = "not expressible"};

static bool
check_from(char *text, const char *expected)
{
    char *bar = strstr(text, " | ");
    assert_non_null(bar);
    struct record_parts before = {.payload = {text, (size_t)(bar - text)}};
    struct record_parts after = {.payload = bytes_of(bar + 3)};
    struct strbuf recipe = {0}, said = {0};
    struct err err = {0};
    enum recipe_fidelity fidelity = recipe_from(&before, &after, &recipe, &err);
    assert_int_equal(err_is_set(&err), fidelity == RECIPE_NOT_EXPRESSIBLE);
    strbuf_add_text(&said, FIDELITIES[fidelity]);
    for (size_t i = 0; i < recipe.len; i++) {
        if (i == 0)
            strbuf_add_text(&said, ": ");
        if (recipe.data[i] != '\n')
            strbuf_add_char(&said, recipe.data[i]);
        else if (i + 1 < recipe.len)
            strbuf_add_text(&said, "; ");
    }
    bool ok = strcmp(strbuf_text(&said), expected) == 0;
    if (!ok)
        print_error("%s: %s\n  not %s\n", text, strbuf_text(&said), expected);
    strbuf_release(&recipe);
    strbuf_release(&said);
    return ok;
}

static void
edits_become_the_recipes_of_the_cases(void **state)
{
    (void)state;
    each_case("tests/cases/recipe/from.txt", check_from);
}

static const struct event_header HEADERS[] = {
    {{"h", 1}, {"1", 1}}, {{"odd name", 8}, {"x", 1}}, {{"h", 1}, {"2", 1}}, {{"gone", 4}, {NULL, 0}}};
static const struct event_header EDITED[] = {
    {{"h", 1}, {"1", 1}}, {{"odd name", 8}, {"\xff", 1}}, {{"h", 1}, {"2", 1}}, {{"new", 3}, {"n", 1}}};
static const struct event_header REORDERED[] = {
    {{"odd name", 8}, {"x", 1}}, {{"h", 1}, {"1", 1}}, {{"h", 1}, {"2", 1}}, {{"gone", 4}, {NULL, 0}}};
static const struct event_header ONE_LESS[] = {
    {{"h", 1}, {"2", 1}}, {{"odd name", 8}, {"x", 1}}, {{"gone", 4}, {NULL, 0}}};

static void
edits_of_the_record_become_operations(void **state)
{
    (void)state;
    struct record_parts before = {.payload = BYTES("{\"a\":1}"),
                                  .key = BYTES("k"),
                                  .topic = BYTES("t"),
                                  .partition = 3,
                                  .headers = HEADERS,
                                  .header_count = 4};
    struct record_parts after = before;
    after.payload = BYTES("{\"a\":\"1\"}");
    after.key = BYTES_ABSENT;
    after.topic = BYTES("u");
    after.partition = PARTITION_NONE;
    after.headers = EDITED;
    struct strbuf text = {0};
    struct arena arena = {0};
    struct parts_changes changes;
    struct err err = {0};
    assert_int_equal(recipe_from(&before, &after, &text, &err), RECIPE_EXACT);
    assert_string_equal(strbuf_text(&text), "to-text $.a\n"
                                            "remove key\n"
                                            "set topic \"u\"\n"
                                            "remove partition\n"
                                            "remove header:gone\n"
                                            "set header:new \"n\"\n"
                                            "set header:\"odd name\" {\"base64\":\"/w==\"}\n");
    parts_compare(&before, &after, &arena, &changes);
    strbuf_reset(&text);
    parts_changes_sentence(&changes, &text);
    assert_string_equal(strbuf_text(&text), "1 value changed; key changed; topic changed; partition changed; "
                                            "header gone removed; header new added; header odd name changed");

    after = before;
    after.headers = REORDERED;
    strbuf_reset(&text);
    assert_int_equal(recipe_from(&before, &after, &text, &err), RECIPE_NOT_EXPRESSIBLE);
    assert_int_equal(text.len, 0);
    parts_compare(&before, &after, &arena, &changes);
    parts_changes_sentence(&changes, &text);
    assert_string_equal(strbuf_text(&text), "headers in another order");

    after.headers = ONE_LESS;
    after.header_count = 3;
    strbuf_reset(&text);
    assert_int_equal(recipe_from(&before, &after, &text, &err), RECIPE_ALL_BUT_ORDER);
    assert_string_equal(strbuf_text(&text), "remove header:h\nset header:h \"2\"\n");

    parts_compare(&before, &before, &arena, &changes);
    strbuf_reset(&text);
    parts_changes_sentence(&changes, &text);
    assert_string_equal(strbuf_text(&text), "no difference");
    strbuf_release(&text);
    arena_release(&arena);
}

static void
payloads_that_are_not_json_have_no_recipe(void **state)
{
    (void)state;
    struct record_parts before = {.payload = BYTES("\x00\x01")}, after = {.payload = BYTES("\x00\x02")};
    struct strbuf text = {0};
    struct arena arena = {0};
    struct parts_changes changes;
    struct err err = {0};
    assert_int_equal(recipe_from(&before, &after, &text, &err), RECIPE_NOT_EXPRESSIBLE);
    assert_non_null(strstr(err.text, "not JSON"));
    parts_compare(&before, &after, &arena, &changes);
    parts_changes_sentence(&changes, &text);
    assert_string_equal(strbuf_text(&text), "payload changed, not compared as JSON");
    strbuf_reset(&text);

    // Where the payload stays, the rest is edited all the same.
    after = before;
    after.key = BYTES("");
    assert_int_equal(recipe_from(&before, &after, &text, NULL), RECIPE_EXACT);
    assert_string_equal(strbuf_text(&text), "set key \"\"\n");
    strbuf_release(&text);
    arena_release(&arena);
}

// Thousands of changes: one operation where they are alike, refused where they are not, and neither takes
// long.
static void
large_edits_take_little_time(void **state)
{
    (void)state;
    enum { LINES = 5000 };
    struct strbuf texts[4] = {0}, recipe = {0};
    for (int i = 0; i < LINES; i++) {
        strbuf_printf(&texts[0], "%s{\"a\":\"%d\",\"b\":%d}", i ? "," : "[", i, i);
        strbuf_printf(&texts[1], "%s{\"a\":%d,\"b\":%d}", i ? "," : "[", i, i);
        strbuf_printf(&texts[2], "%s{\"a\":\"%d\",\"c%d\":%d}", i ? "," : "[", i, i, i + 1);
        strbuf_printf(&texts[3], "%s{\"a\":\"%d\",\"c%d\":%d}", i ? "," : "[", i, i, i);
    }
    for (int i = 0; i < 4; i++)
        strbuf_add_text(&texts[i], "]");
    struct record_parts before = {.payload = strbuf_bytes(&texts[0])};
    struct record_parts alike = {.payload = strbuf_bytes(&texts[1])};
    struct record_parts different = {.payload = strbuf_bytes(&texts[2])};
    int64_t began = cpu_time();
    struct err err = {0};
    assert_int_equal(recipe_from(&before, &alike, &recipe, &err), RECIPE_EXACT);
    assert_string_equal(strbuf_text(&recipe), "to-number $[*].a\n");
    strbuf_reset(&recipe);
    assert_int_equal(recipe_from(&before, &different, &recipe, &err), RECIPE_NOT_EXPRESSIBLE);
    assert_non_null(strstr(err.text, "no recipe repeats this edit"));
    // 5,000 keys that were each given another name.
    different.payload = strbuf_bytes(&texts[3]);
    err_clear(&err);
    assert_int_equal(recipe_from(&before, &different, &recipe, &err), RECIPE_NOT_EXPRESSIBLE);
    assert_true(cpu_time() - began < 10 * SECOND_SPENT);
    for (int i = 0; i < 4; i++)
        strbuf_release(&texts[i]);
    strbuf_release(&recipe);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_become_the_recipes_of_the_cases),
        cmocka_unit_test(edits_of_the_record_become_operations),
        cmocka_unit_test(large_edits_take_little_time),
        cmocka_unit_test(payloads_that_are_not_json_have_no_recipe),
    };
    return cmocka_run_group_tests_name("recipe from", tests, NULL, NULL);
}
