#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/match.h"
#include "tests/lib/json_tree.h"
#include "tests/lib/place_checks.h"
#include "tests/unit/cases.h"
#include "tests/unit/cpu_time.h"

// How many places a case has; what is told of each is checked on the way.
static void
print_matches(const struct json_path *path, const struct json_matches *matches, struct bytes text,
              struct strbuf *out)
{
    for (size_t i = 0; i < matches->count; i++) {
        const struct json_match *match = &matches->items[i];
        strbuf_add_text(out, i ? ", " : "");
        json_path_print(path, json_match_indexes(matches, i), out);
        strbuf_add_text(out, match->is_missing ? "!" : "=");
        strbuf_add(out, bytes_slice(text, match->value.from, match->value.len));
    }
    if (matches->count == 0)
        strbuf_add_char(out, '-');
    if (matches->replaced)
        strbuf_printf(out, " +%zu", matches->replaced);
}

// The place itself is what its own path leads to, and lies in its parent, behind its name.
static bool
stands_alone(const struct json_path *path, const struct json_matches *matches, size_t item, struct bytes text)
{
    const struct json_match *match = &matches->items[item];
    struct strbuf name = {0};
    struct json_path *own;
    struct json_token value = {0};
    json_path_print(path, json_match_indexes(matches, item), &name);
    bool ok = json_path_parse(&own, strbuf_bytes(&name), NULL);
    if (ok) {
        bool is_found = json_path_find(own, text, &value);
        ok = is_found != match->is_missing && value.from == match->value.from &&
             value.len == match->value.len && value.kind == match->value.kind;
        json_path_destroy(own);
    }
    size_t end = match->parent.from + match->parent.len;
    if (match->parent.len && !match->is_missing)
        ok = ok && match->value.from > match->parent.from && match->value.from + match->value.len < end;
    if (match->name.len)
        ok = ok && match->name.from > match->parent.from && match->name.from < match->value.from &&
             text.data[match->name.from] == '"';
    strbuf_release(&name);
    return ok;
}

static bool
check_pattern(char *line, const char *expected)
{
    char *bar = strstr(line, " |");
    *bar = '\0';
    struct bytes text = bytes_of(bar[2] ? bar + 3 : "");
    struct json_path *path;
    struct err err = {0};
    if (!json_pattern_parse(&path, bytes_of(line), &err)) {
        print_error("%s: %s\n", line, err.text);
        return false;
    }
    struct json_matches matches = {0};
    struct strbuf out = {0};
    bool ok = true;
    if (json_matches_find(path, text, &matches))
        print_matches(path, &matches, text, &out);
    else
        strbuf_add_text(&out, "no");
    for (size_t i = 0; i < matches.count; i++)
        ok = ok && stands_alone(path, &matches, i, text);
    ok = ok && matches.found + matches.missing == matches.count && strcmp(strbuf_text(&out), expected) == 0;
    if (!ok)
        print_error("%s | %s: %s\n  not %s\n", line, text.data, strbuf_text(&out), expected);
    json_matches_release(&matches);
    json_path_destroy(path);
    strbuf_release(&out);
    return ok;
}

static void
every_place_of_a_pattern_is_found(void **state)
{
    (void)state;
    each_case("tests/cases/json/pattern.txt", check_pattern);
}

static void
stars_are_taken_where_asked_for(void **state)
{
    (void)state;
    struct json_path *path;
    struct err err = {0};
    assert_false(json_path_parse(&path, BYTES("$.\xc3\xa9[*]"), &err));
    assert_int_equal(err.column, 5);
    assert_null(strchr(err.text, '*'));
    err_clear(&err);
    assert_false(json_pattern_parse(&path, BYTES("$.a[**]"), &err));
    assert_int_equal(err.column, 6);
    err_clear(&err);
    assert_false(json_pattern_parse(&path, BYTES("$.a[]"), &err));
    assert_non_null(strstr(err.text, "* for all"));
    assert_false(json_pattern_parse(&path, BYTES("$.*"), NULL));
    assert_true(json_pattern_parse(&path, BYTES("$.a[*]"), NULL));
    assert_true(json_path_is_pattern(path));
    json_path_destroy(path);
    assert_true(json_path_parse(&path, BYTES("$['*']"), NULL));
    assert_false(json_path_is_pattern(path));
    json_path_destroy(path);
}

// Printed and parsed again, a path is the same; each form has one spelling.
static void
paths_are_printed(void **state)
{
    (void)state;
    static const struct {
        const char *path, *printed;
    } rows[] = {
        {"$", "$"},
        {"$.a[0]['b']", "$.a[0].b"},
        {"$[*].x[*]", "$[*].x[*]"},
        {"$[\"a b\"]", "$['a b']"},
        {"$['it\\'s']", "$['it\\'s']"},
        {"$['\\\\']", "$['\\\\']"},
        {"$['']", "$['']"},
        {"$['a\\nb\\u0000\\u00e9']", "$['a\\u000ab\\u0000\xc3\xa9']"},
        {"$['\\ud83d\\ude00']", "$.\xf0\x9f\x98\x80"},
        {"$['\\uzz']", "$.uzz"},
        {"$['*'][\"[*]\"]", "$['*']['[*]']"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_path *path;
        struct strbuf once = {0}, twice = {0};
        assert_true(json_pattern_parse(&path, bytes_of(rows[i].path), NULL));
        json_path_print(path, NULL, &once);
        json_path_destroy(path);
        assert_string_equal(strbuf_text(&once), rows[i].printed);
        assert_true(json_pattern_parse(&path, strbuf_bytes(&once), NULL));
        json_path_print(path, NULL, &twice);
        json_path_destroy(path);
        assert_string_equal(strbuf_text(&twice), strbuf_text(&once));
        strbuf_release(&once);
        strbuf_release(&twice);
    }
}

static void
stars_are_filled_from_the_outside(void **state)
{
    (void)state;
    struct json_path *path;
    assert_true(json_pattern_parse(&path, BYTES("$.a[*].b[*]['c d'][3]"), NULL));
    assert_int_equal(json_path_stars(path), 2);
    size_t indexes[] = {7, 0};
    struct strbuf out = {0};
    for (size_t stars = 0; stars <= 2; stars++) {
        struct json_path *filled = json_path_fill(path, indexes, stars);
        assert_int_equal(json_path_stars(filled), 2 - stars);
        json_path_print(filled, NULL, &out);
        strbuf_add_char(&out, ' ');
        json_path_destroy(filled);
    }
    assert_string_equal(strbuf_text(&out),
                        "$.a[*].b[*]['c d'][3] $.a[7].b[*]['c d'][3] $.a[7].b[0]['c d'][3] ");
    strbuf_release(&out);
    json_path_destroy(path);
}

// One list serves any number of texts and paths.
static void
lists_are_used_again(void **state)
{
    (void)state;
    struct json_path *many, *one;
    struct json_matches matches = {0};
    assert_true(json_pattern_parse(&many, BYTES("$[*][*]"), NULL));
    assert_true(json_path_parse(&one, BYTES("$[1]"), NULL));
    assert_true(json_matches_find(many, BYTES("[[1,2],[3,4,5]]"), &matches));
    assert_int_equal(matches.found, 5);
    assert_int_equal(json_match_indexes(&matches, 4)[0], 1);
    assert_int_equal(json_match_indexes(&matches, 4)[1], 2);
    assert_true(json_matches_find(one, BYTES("[[1,2],[3,4,5]]"), &matches));
    assert_int_equal(matches.found, 1);
    assert_null(json_match_indexes(&matches, 0));
    assert_false(json_matches_find(many, BYTES("[[1,2],[3,4,5]"), &matches));
    assert_int_equal(matches.count, 0);
    assert_int_equal(matches.found, 0);
    json_matches_release(&matches);
    json_path_destroy(many);
    json_path_destroy(one);
}

// Where no path leads, values are read over; what is not JSON there is found all the same.
static void
nothing_is_read_over_unseen(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_json;
    } cases[] = {
        {"{\"b\": [1, {\"a\": [2]}, \"\\u00e9\"] , \"a\": 1}", true},
        {"{\"b\" : {} , \"\\u0061\": 1}", true},
        {"{\"b\": [1, {\"a\": [2}], \"a\": 1}", false},
        {"{\"b\" 1, \"a\": 1}", false},
        {"{\"b\": , \"a\": 1}", false},
        {"{\"b\": 01, \"a\": 1}", false},
        {"{\"b\": \"\\x\", \"a\": 1}", false},
        {"{\"a\": 1, \"b\": [", false},
        {"{\"a\": 1, \"b\":", false},
        {"{\"a\": 1, \"b\"", false},
        {"{\"a\": 1, \"b\": nul}", false},
        {"{\"bb\": \"x\", \"bb\" : -1.5e+3 ,\"bb\":true,\"bb\":[1,\"x\", null] , \"a\": 1}", true},
        {"{\"bb\": \"x\", \"a\": 1,}", false},
        {"{\"a\": 1, \"bb\": 2,}", false},
        {"{\"a\": 1, \"bb\": 2,, \"bb\": 3}", false},
        {"{\"a\": 1, \"bb\": 2 \"bb\": 3}", false},
        {"{\"a\": 1, \"bb\": 2]", false},
        {"{\"a\": 1, \"bb\": 01}", false},
        {"{\"a\": 1, \"bb\": 1.}", false},
        {"{\"a\": 1, \"bb\": 1.e5}", false},
        {"{\"a\": 1, \"bb\": 1e}", false},
        {"{\"a\": 1, \"bb\": -}", false},
        {"{\"a\": 1, \"bb\": tru}", false},
        {"{\"a\": 1, \"bb\": truex}", false},
        {"{\"a\": 1, \"bb\": \"\t\"}", false},
        {"{\"a\": 1, \"b\tb\": 2}", false},
        {"{\"a\": 1, \"bb\": \"\xff\"}", false},
        {"{\"a\": 1, \"bb\": \"x}", false},
        {"{\"a\": 1, \"bb", false},
        {"{\"a\": 1, \"bb\":", false},
        {"{\"a\": 1, bb: 2}", false},
        {"{\"a\": 1, \"b\": [1, 2,]}", false},
        {"{\"a\": 1, \"b\": [1 2]}", false},
        {"{\"a\": 1, \"b\": [1, 2}", false},
        {"{\"a\": 1, \"b\": [1, \"x\": 2]}", false},
    };
    struct json_path *path;
    struct json_matches matches = {0};
    assert_true(json_pattern_parse(&path, BYTES("$.a"), NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s\n", cases[i].text);
        assert_int_equal(json_matches_find(path, bytes_of(cases[i].text), &matches), cases[i].is_json);
        assert_int_equal(json_check(bytes_of(cases[i].text), NULL), cases[i].is_json);
        assert_int_equal(matches.found, cases[i].is_json);
    }
    json_matches_release(&matches);
    json_path_destroy(path);
}

// Lengths are told apart up to some; longer names are all looked at.
static void
long_names_are_told_apart(void **state)
{
    (void)state;
    struct bytes name = bytes_of(place_paths[PLACE_PATHS - 1].steps[0].name);
    struct strbuf text = {0};
    assert_int_equal(name.len, 64);
    for (size_t len = 60; len < 70; len++)
        strbuf_printf(&text, "%s\"%.*s%.*s\":%zu", text.len ? "," : "{", (int)len, name.data,
                      (int)(len > 64 ? len - 64 : 0), "xxxxxxxx", len);
    strbuf_add_text(&text, "}");
    check_places(strbuf_bytes(&text));
    struct json_path *path;
    struct json_token value = {0};
    assert_true(json_path_parse(&path, bytes_of(place_paths[PLACE_PATHS - 1].text), NULL));
    assert_true(json_path_find(path, strbuf_bytes(&text), &value));
    assert_memory_equal(text.data + value.from, "64", 2);
    json_path_destroy(path);
    strbuf_release(&text);
}

static void
random_texts_lead_where_their_members_say(void **state)
{
    (void)state;
    static const char bytes[] = "\"\\{}[],:019-.eE+ntf \n\t\x01\xff\xc3\xa9\0x";
    int valid = 0, broken = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct chance chance = {.seed = seed};
        struct tree tree = {0};
        tree_grow(&tree, &chance);
        // What passes members decides by single bytes, so single bytes are what is changed.
        for (unsigned changes = chance_below(&chance, 3); changes > 0; changes--) {
            size_t at = chance_below(&chance, (unsigned)tree.text.len + 1);
            char c = bytes[chance_below(&chance, sizeof bytes - 1)];
            strbuf_splice(&tree.text, at, chance_below(&chance, 2),
                          (struct bytes){&c, chance_below(&chance, 2)});
        }
        check_places(strbuf_bytes(&tree.text));
        if (json_check(strbuf_bytes(&tree.text), NULL))
            valid++;
        else
            broken++;
        tree_release(&tree);
    }
    assert_true(valid > 5000 && broken > 5000);
}

static double
seconds_to_find(size_t elements)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < elements; i++)
        strbuf_printf(&text, "%s{\"sku\":\"A-%zu\",\"amount\":1.50,\"a\":{\"amount\":[{}]}}",
                      i ? "," : "{\"lines\":[", i);
    strbuf_add_text(&text, "]}");
    struct json_path *path;
    struct json_matches matches = {0};
    assert_true(json_pattern_parse(&path, BYTES("$.lines[*].amount"), NULL));
    int64_t began = cpu_time();
    assert_true(json_matches_find(path, strbuf_bytes(&text), &matches));
    double spent = (double)(cpu_time() - began);
    assert_int_equal(matches.found, elements);
    json_matches_release(&matches);
    json_path_destroy(path);
    strbuf_release(&text);
    return spent;
}

// Ten times the text takes about ten times as long; of a square it would be a hundred.
static void
a_walk_is_linear(void **state)
{
    (void)state;
    double small = seconds_to_find(4000);
    double large = seconds_to_find(40000);
    assert_true(large < 40 * small + (double)SECOND_SPENT / 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_of_a_pattern_is_found),
        cmocka_unit_test(stars_are_taken_where_asked_for),
        cmocka_unit_test(paths_are_printed),
        cmocka_unit_test(stars_are_filled_from_the_outside),
        cmocka_unit_test(lists_are_used_again),
        cmocka_unit_test(nothing_is_read_over_unseen),
        cmocka_unit_test(long_names_are_told_apart),
        cmocka_unit_test(random_texts_lead_where_their_members_say),
        cmocka_unit_test(a_walk_is_linear),
    };
    return cmocka_run_group_tests_name("json_path", tests, NULL, NULL);
}
