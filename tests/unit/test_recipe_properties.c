// What holds for any recipe and any payload, tried on random ones: bytes beside the named paths stay,
// operations do together what they do one by one, a printed recipe is read again, and the recipe of an edit
// repeats it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/lib/recipe_checks.h"

static uint64_t seed = UINT64_C(88172645463325252);

static unsigned
below(unsigned limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

static const char *const NAMES[] = {"a", "b", "c", "l", "\\u0061", "\xc3\xa9"};
static const char *const VALUES[] = {"1",
                                     "2.50",
                                     "\"10,00\"",
                                     "\"7\"",
                                     "true",
                                     "null",
                                     "\"no\"",
                                     "\"x-y\"",
                                     "\"\\u00e9 o\"",
                                     "\"1,234\"",
                                     "-0",
                                     "\"\"",
                                     "1e2",
                                     "false",
                                     "\"a\\/b\\n\"",
                                     "\"long text of some length\""};
static const char *const SPACES[] = {"", "", "", " ", "\n  ", "\t"};
#define ONE_OF(list) (list)[below(sizeof(list) / sizeof(list)[0])]

static void
write_value(struct strbuf *out, int depth)
{
    unsigned kind = below(depth > 0 ? 4 : 1);
    if (kind < 2) {
        strbuf_add_text(out, ONE_OF(VALUES));
        return;
    }
    unsigned count = below(4);
    strbuf_add_char(out, kind == 2 ? '{' : '[');
    for (unsigned i = 0; i < count; i++) {
        strbuf_printf(out, "%s%s", i ? "," : "", ONE_OF(SPACES));
        if (kind == 2)
            strbuf_printf(out, "\"%s\"%s:%s", ONE_OF(NAMES), ONE_OF(SPACES), ONE_OF(SPACES));
        write_value(out, depth - 1);
        strbuf_add_text(out, ONE_OF(SPACES));
    }
    strbuf_add_char(out, kind == 2 ? '}' : ']');
}

// Mostly a table of lines, which paths with [*] lead to; else anything.
static void
write_document(struct strbuf *out)
{
    if (below(3) == 0) {
        write_value(out, 4);
        return;
    }
    strbuf_printf(out, "{\"a\":%s%s,\"l\":[", ONE_OF(SPACES), ONE_OF(VALUES));
    for (unsigned i = below(4); i > 0; i--) {
        strbuf_printf(out, "{\"%s\": %s, \"b\": ", ONE_OF(NAMES), ONE_OF(VALUES));
        write_value(out, 1);
        strbuf_printf(out, "}%s", i > 1 ? ", " : "");
    }
    strbuf_add_text(out, "], \"c\": ");
    write_value(out, 2);
    strbuf_add_text(out, "}");
}

static const char *const PATHS[] = {"$.a",    "$.b",      "$.l[*].a", "$.l[*].b",      "$.l[*]",     "$[0]",
                                    "$[*].a", "$.c.a",    "$.c[*]",   "$.l[*].b[*]",   "$.l[*].b.a", "$.c",
                                    "$.l[1]", "$.l[0].a", "$.l",      "$['\xc3\xa9']", "$[*][*]",    "$.new",
                                    "key",    "header:a", "header:n"};

static void
write_operation(struct strbuf *out)
{
    static const char *const plain[] = {"remove", "to-number", "to-text", "to-boolean"};
    static const char *const with_json[] = {"set", "default", "add"};
    static const char *const with_path[] = {"copy", "move"};
    static const char *const conditions[] = {"present", "absent", "text", "number", "= 1", "~ /o/"};
    static const char *const replacements[] = {"/o/0/", "/(.)(.)/$2$1/", "/^/\"/", "/\\d+/\\\\/",
                                               "/e|\xc3\xa9/\xc3\xa9/"};
    const char *path = ONE_OF(PATHS);
    switch (below(6)) {
    case 0:
        strbuf_printf(out, "%s %s\n", ONE_OF(plain), path);
        break;
    case 1:
        strbuf_printf(out, "%s %s %s\n", ONE_OF(with_json), path, ONE_OF(VALUES));
        break;
    case 2:
        strbuf_printf(out, "%s %s %s\n", ONE_OF(with_path), path, ONE_OF(PATHS));
        break;
    case 3:
        strbuf_printf(out, "rename %s \"%s\"\n", path, ONE_OF(NAMES));
        break;
    case 4:
        strbuf_printf(out, "replace %s %s\n", path, ONE_OF(replacements));
        break;
    default:
        strbuf_printf(out, "expect %s %s\nset %s 5\n", path, ONE_OF(conditions), ONE_OF(PATHS));
        break;
    }
}

static void
random_recipes_change_what_they_name(void **state)
{
    (void)state;
    enum { ROUNDS = 40000 };
    struct recipe_counts counts = {0};
    struct strbuf text = {0}, payload = {0};
    for (int i = 0; i < ROUNDS; i++) {
        strbuf_reset(&text);
        strbuf_reset(&payload);
        for (unsigned lines = below(3) ? 1 : 3; lines > 0; lines--)
            write_operation(&text);
        write_document(&payload);
        check_recipe(strbuf_bytes(&text), strbuf_bytes(&payload), &counts);
    }
    // Every check had much to look at.
    assert_true(counts.applied[RECIPE_CHANGED] > ROUNDS / 20);
    assert_true(counts.applied[RECIPE_UNCHANGED] > ROUNDS / 100);
    assert_true(counts.applied[RECIPE_NOT_APPLICABLE] > ROUNDS / 10);
    assert_int_equal(counts.applied[RECIPE_INVALID] + counts.applied[RECIPE_FAILED], 0);
    assert_true(counts.values > ROUNDS / 200 && counts.additions > ROUNDS / 200);
    assert_true(counts.removals > ROUNDS / 400 && counts.renames > ROUNDS / 400);
    print_message("recipes of edits: %d exact, %d all but space, %d all but order, %d not expressible\n",
                  counts.made[0], counts.made[1], counts.made[2], counts.made[3]);
    strbuf_release(&text);
    strbuf_release(&payload);
}

// Operations that put single values in the place of others, so that those behind them find theirs elsewhere.
static void
operations_find_what_others_moved(void **state)
{
    (void)state;
    enum { ROUNDS = 5000 };
    static const char *const values[] = {"1", "-2.50", "\"seven\"", "\"\"", "true", "\"caf\\u00e9\""};
    static const char *const paths[] = {"$.a", "$.l[*].a", "$.l[*].b", "$.c.d", "$.l[1].b"};
    static const char *const lines[] = {
        "to-text %s\n",           "to-text %s\nreplace %s /^/--/\n",
        "replace %s /.*/\\\\/\n", "expect %s text\n",
        "default %s \"none\"\n",  "to-text %s\nreplace %s /\\D/1/\nto-number %s\n"};
    struct recipe_counts counts = {0};
    struct strbuf text = {0}, payload = {0};
    for (int i = 0; i < ROUNDS; i++) {
        strbuf_reset(&text);
        strbuf_reset(&payload);
        for (unsigned left = 1 + below(4); left > 0; left--) {
            const char *path = ONE_OF(paths);
            for (const char *c = ONE_OF(lines); *c; c++) {
                bool is_path = *c == '%';
                strbuf_add_text(&text, is_path ? path : (const char[]){*c, '\0'});
                c += is_path;
            }
        }
        strbuf_printf(&payload, "{\"a\":%s,\"l\":[", ONE_OF(values));
        for (unsigned n = 2 + below(3); n > 0; n--)
            strbuf_printf(&payload, "{\"a\": %s, \"b\": %s}%s", ONE_OF(values), ONE_OF(values),
                          n > 1 ? "," : "");
        strbuf_printf(&payload, "], \"c\": {\"d\": %s}}", ONE_OF(values));
        check_recipe(strbuf_bytes(&text), strbuf_bytes(&payload), &counts);
    }
    assert_true(counts.applied[RECIPE_CHANGED] > ROUNDS / 4);
    strbuf_release(&text);
    strbuf_release(&payload);
}

// One pass for several paths finds what a pass for each finds.
static void
check_matches_of_all(const struct json_path *const paths[JSON_PATHS], struct bytes text)
{
    struct json_matches all[JSON_PATHS] = {0};
    struct json_matches one = {0};
    bool is_json = json_matches_find_all(paths, JSON_PATHS, text, all);
    for (size_t i = 0; i < JSON_PATHS; i++) {
        REQUIRE(json_matches_find(paths[i], text, &one) == is_json);
        REQUIRE(one.count == all[i].count && one.found == all[i].found && one.missing == all[i].missing &&
                one.replaced == all[i].replaced && one.stars == all[i].stars);
        for (size_t j = 0; j < one.count; j++) {
            const struct json_match *a = &one.items[j];
            const struct json_match *b = &all[i].items[j];
            REQUIRE(a->is_missing == b->is_missing && a->value.from == b->value.from &&
                    a->value.len == b->value.len && a->name.from == b->name.from &&
                    a->parent.from == b->parent.from && a->parent.len == b->parent.len);
            for (size_t k = 0; k < one.stars; k++)
                REQUIRE(json_match_indexes(&one, j)[k] == json_match_indexes(&all[i], j)[k]);
        }
        json_matches_release(&all[i]);
    }
    json_matches_release(&one);
}

static void
several_paths_are_found_in_one_pass(void **state)
{
    (void)state;
    struct strbuf payload = {0};
    for (int i = 0; i < 5000; i++) {
        struct json_path *paths[JSON_PATHS];
        for (int j = 0; j < JSON_PATHS; j++)
            // The last three of the list are not of the payload.
            assert_true(json_pattern_parse(&paths[j],
                                           bytes_of(PATHS[below(sizeof PATHS / sizeof PATHS[0] - 3)]), NULL));
        strbuf_reset(&payload);
        write_document(&payload);
        if (i % 10 == 0)
            strbuf_add_text(&payload, "}");
        check_matches_of_all((const struct json_path *const *)paths, strbuf_bytes(&payload));
        for (int j = 0; j < JSON_PATHS; j++)
            json_path_destroy(paths[j]);
    }
    strbuf_release(&payload);
}

// Two documents that have nothing to do with each other: the recipe of the edit is exact, or says that it is
// not.
static void
random_edits_are_repeated_or_refused(void **state)
{
    (void)state;
    enum { ROUNDS = 20000 };
    struct recipe_counts counts = {0};
    struct strbuf before = {0}, after = {0};
    for (int i = 0; i < ROUNDS; i++) {
        strbuf_reset(&before);
        strbuf_reset(&after);
        write_document(&before);
        write_document(&after);
        struct record_parts old = {.payload = strbuf_bytes(&before), .topic = BYTES("t")};
        struct record_parts new = {.payload = strbuf_bytes(&after), .topic = BYTES("t")};
        check_recipe_of_edit(&old, &new, &counts);
    }
    assert_true(counts.made[RECIPE_EXACT] > ROUNDS / 20);
    print_message("recipes of edits: %d exact, %d all but space, %d all but order, %d not expressible\n",
                  counts.made[0], counts.made[1], counts.made[2], counts.made[3]);
    strbuf_release(&before);
    strbuf_release(&after);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_recipes_change_what_they_name),
        cmocka_unit_test(operations_find_what_others_moved),
        cmocka_unit_test(several_paths_are_found_in_one_pass),
        cmocka_unit_test(random_edits_are_repeated_or_refused),
    };
    return cmocka_run_group_tests_name("recipe properties", tests, NULL, NULL);
}
