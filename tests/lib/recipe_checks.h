// recipe_checks: what holds for any recipe and any payload. The fuzz target and the unit test share it; a
// breach ends the program.
#ifndef REDRIVE_TESTS_RECIPE_CHECKS_H
#define REDRIVE_TESTS_RECIPE_CHECKS_H

#include <stdio.h>
#include <stdlib.h>
#include "core/json/match.h"
#include "core/recipe/recipe.h"

// How often each check had something to look at.
struct recipe_counts {
    int applied[RECIPE_OUTCOMES];
    int made[RECIPE_NOT_EXPRESSIBLE + 1]; // recipes of edits
    int values, additions, removals, renames;
};

#define REQUIRE(holds) recipe_require((holds), #holds, __LINE__)

static void
recipe_require(bool holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, what);
    abort();
}

// Appends the text without the values that a path leads to. Returns their number.
static size_t
cut_values(const struct json_path *path, struct bytes text, struct strbuf *out)
{
    struct json_matches matches = {0};
    size_t at = 0;
    REQUIRE(json_matches_find(path, text, &matches));
    for (size_t i = 0; i < matches.count; i++) {
        struct json_token value = matches.items[i].value;
        if (matches.items[i].is_missing)
            continue;
        strbuf_add(out, bytes_slice(text, at, value.from - at));
        strbuf_add_char(out, '\1');
        at = value.from + value.len;
    }
    strbuf_add(out, bytes_slice(text, at, SIZE_MAX));
    size_t found = matches.found;
    json_matches_release(&matches);
    return found;
}

static void
check_beside_values(const struct json_path *path, struct bytes in, struct bytes out,
                    struct recipe_counts *counts)
{
    struct strbuf a = {0}, b = {0};
    size_t before = cut_values(path, in, &a);
    size_t after = cut_values(path, out, &b);
    if (before == after) {
        REQUIRE(bytes_equal(strbuf_bytes(&a), strbuf_bytes(&b)));
        counts->values++;
    } else if (before == 0) {
        strbuf_reset(&a);
        REQUIRE(json_remove(path, out, &a) && bytes_equal(strbuf_bytes(&a), in));
        counts->additions++;
    }
    strbuf_release(&a);
    strbuf_release(&b);
}

// What was removed leaves the rest in its order.
static void
check_beside_removed(struct bytes in, struct bytes out, struct recipe_counts *counts)
{
    size_t at = 0;
    for (size_t i = 0; i < in.len && at < out.len; i++)
        at += in.data[i] == out.data[at];
    REQUIRE(at == out.len && out.len < in.len);
    counts->removals++;
}

// Only names differ.
static void
check_beside_names(struct bytes in, struct bytes out, struct recipe_counts *counts)
{
    struct json_scan a, b;
    struct json_token x, y;
    size_t x_end = 0, y_end = 0;
    json_begin(&a, in);
    json_begin(&b, out);
    do {
        x = json_next(&a);
        y = json_next(&b);
        REQUIRE(x.kind == y.kind && x.kind != JSON_ERROR);
        REQUIRE(bytes_equal(bytes_slice(in, x_end, x.from - x_end), bytes_slice(out, y_end, y.from - y_end)));
        REQUIRE(x.kind == JSON_NAME || bytes_equal(json_bytes(&a, x), json_bytes(&b, y)));
        x_end = x.from + x.len;
        y_end = y.from + y.len;
    } while (x.kind != JSON_END);
    counts->renames++;
}

static bool
puts_values(const char *word)
{
    static const char *const words[] = {"set", "default", "to-number", "to-text", "to-boolean", "replace"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

// A recipe of one operation on the payload changes nothing beside its path.
static void
check_beside(const struct recipe *recipe, struct bytes in, struct bytes out, struct recipe_counts *counts)
{
    const char *word;
    struct strbuf text = {0};
    struct json_path *path = NULL;
    recipe_print_operation(recipe, 0, &word, NULL, &text);
    struct bytes rest = bytes_slice(strbuf_bytes(&text), strlen(word) + 1, SIZE_MAX);
    // Paths of the tests have no blanks.
    for (size_t i = 0; i < rest.len; i++)
        if (rest.data[i] == ' ')
            rest.len = i;
    bool has_path = recipe_count(recipe) == 1 && json_pattern_parse(&path, rest, NULL);
    if (has_path && puts_values(word))
        check_beside_values(path, in, out, counts);
    else if (has_path && strcmp(word, "remove") == 0)
        check_beside_removed(in, out, counts);
    else if (has_path && strcmp(word, "rename") == 0)
        check_beside_names(in, out, counts);
    json_path_destroy(path);
    strbuf_release(&text);
}

// The recipe of an edit does what its fidelity says.
static void
check_recipe_of_edit(const struct record_parts *before, const struct record_parts *after,
                     struct recipe_counts *counts)
{
    struct strbuf text = {0};
    struct err err = {0};
    enum recipe_fidelity fidelity = recipe_from(before, after, &text, &err);
    counts->made[fidelity]++;
    REQUIRE((fidelity == RECIPE_NOT_EXPRESSIBLE) == err_is_set(&err));
    REQUIRE((fidelity == RECIPE_NOT_EXPRESSIBLE) == (text.len == 0));
    if (fidelity != RECIPE_NOT_EXPRESSIBLE) {
        struct recipe *recipe = NULL;
        struct arena arena = {0};
        struct record_parts out;
        struct parts_changes left;
        REQUIRE(recipe_parse(&recipe, "edit", strbuf_bytes(&text), NULL));
        REQUIRE(recipe_apply(recipe, before, NULL, &arena, &out, NULL) == RECIPE_CHANGED);
        REQUIRE((fidelity == RECIPE_EXACT) == parts_equal(&out, after));
        parts_compare(&out, after, &arena, &left);
        REQUIRE(fidelity != RECIPE_ALL_BUT_SPACE || left.payload_changes.is_spaced);
        REQUIRE(!left.key && !left.topic && left.header_count == 0);
        REQUIRE(left.payload_changes.counts[JSON_VALUE_CHANGED] == 0);
        recipe_destroy(recipe);
        arena_release(&arena);
    }
    strbuf_release(&text);
}

static void
check_printed(const struct recipe *recipe)
{
    struct strbuf once = {0}, twice = {0};
    struct recipe *again = NULL;
    recipe_print(recipe, &once);
    REQUIRE(recipe_parse(&again, "printed", strbuf_bytes(&once), NULL));
    recipe_print(again, &twice);
    REQUIRE(bytes_equal(strbuf_bytes(&once), strbuf_bytes(&twice)));
    REQUIRE(recipe_count(again) == recipe_count(recipe));
    recipe_destroy(again);
    strbuf_release(&once);
    strbuf_release(&twice);
}

// One operation after the other, each a recipe of its own. Returns the outcome of the last one.
static enum recipe_outcome
apply_one_by_one(struct bytes text, const struct record_parts *in, struct arena *arena,
                 struct record_parts *out)
{
    enum recipe_outcome outcome = RECIPE_UNCHANGED;
    *out = *in;
    for (size_t from = 0, end; from < text.len; from = end + 1) {
        struct recipe *recipe = NULL;
        struct record_parts made;
        end = bytes_find(text, BYTES("\n"), from);
        end = end == SIZE_MAX ? text.len : end;
        if (!recipe_parse(&recipe, "line", bytes_slice(text, from, end - from), NULL))
            continue; // a comment
        outcome = recipe_apply(recipe, out, NULL, arena, &made, NULL);
        *out = made;
        recipe_destroy(recipe);
        if (outcome != RECIPE_CHANGED && outcome != RECIPE_UNCHANGED)
            break;
    }
    return outcome;
}

// What an operation finds does not depend on whether those before it are in the same recipe.
static void
check_one_by_one(const struct recipe *recipe, const struct record_parts *in, const struct record_parts *out,
                 enum recipe_outcome outcome)
{
    struct strbuf text = {0};
    struct arena arena = {0};
    struct record_parts made;
    recipe_print(recipe, &text);
    enum recipe_outcome last = apply_one_by_one(strbuf_bytes(&text), in, &arena, &made);
    bool is_decided = outcome == RECIPE_CHANGED || outcome == RECIPE_UNCHANGED;
    // Limits of time and size may be met by one of the two.
    if (last != RECIPE_FAILED && last != RECIPE_INVALID)
        REQUIRE(is_decided ? last != RECIPE_NOT_APPLICABLE && parts_equal(&made, out) : last == outcome);
    strbuf_release(&text);
    arena_release(&arena);
}

static void
check_applied(struct recipe *recipe, const struct record_parts *in, struct recipe_counts *counts)
{
    struct arena arena = {0};
    struct record_parts out, again;
    struct recipe_note note;
    enum recipe_outcome outcome = recipe_apply(recipe, in, NULL, &arena, &out, &note);
    counts->applied[outcome]++;
    REQUIRE((outcome == RECIPE_CHANGED) == !parts_equal(in, &out));
    bool is_decided = outcome == RECIPE_CHANGED || outcome == RECIPE_UNCHANGED;
    REQUIRE(is_decided == (note.line == 0) && is_decided == (note.reason[0] == '\0'));
    if (outcome != RECIPE_FAILED && outcome != RECIPE_INVALID)
        check_one_by_one(recipe, in, &out, outcome);
    bool was_json = bytes_present(in->payload) && json_check(in->payload, NULL);
    if (outcome == RECIPE_CHANGED && was_json) {
        REQUIRE(json_check(out.payload, NULL));
        check_beside(recipe, in->payload, out.payload, counts);
    }
    if (!was_json)
        REQUIRE(out.payload.data == in->payload.data);
    bool is_stable = recipe_is_stable_on(recipe, &out, NULL, &arena, &note);
    bool at_limit = strstr(note.reason, "ran into its limits") != NULL;
    outcome = recipe_apply(recipe, &out, NULL, &arena, &again, NULL);
    // A regular expression has a limit of time, which one of the two may meet.
    REQUIRE(is_stable == (outcome != RECIPE_CHANGED) || at_limit || outcome == RECIPE_FAILED);
    if (!parts_equal(in, &out))
        check_recipe_of_edit(in, &out, counts);
    arena_release(&arena);
}

// Any text as a recipe, any bytes as a payload.
static void
check_recipe(struct bytes text, struct bytes payload, struct recipe_counts *counts)
{
    static const struct event_header headers[] = {{{"a", 1}, {"1", 1}}, {{"a", 1}, {"{\"a\":1}", 7}}};
    struct err err = {0};
    struct recipe *recipe = NULL;
    if (!recipe_parse(&recipe, "r", text, &err)) {
        REQUIRE(err_is_set(&err) && err.kind == ERR_USAGE);
        REQUIRE((err.line >= 1 && err.column >= 1) || strstr(err.text, "r holds no operation"));
        return;
    }
    check_printed(recipe);
    struct record_parts in = {.payload = payload,
                              .key = BYTES("k\xff"),
                              .topic = BYTES("t"),
                              .partition = PARTITION_NONE,
                              .headers = headers,
                              .header_count = 2};
    check_applied(recipe, &in, counts);
    recipe_destroy(recipe);
}

#endif
