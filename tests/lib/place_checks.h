// place_checks: where paths lead in any text, found member by member (json_children) and compared with what a
// walk over the text finds (json_matches), which passes what no path asks for. The fuzz target and the unit
// test share it; a difference ends the program.
#ifndef REDRIVE_TESTS_PLACE_CHECKS_H
#define REDRIVE_TESTS_PLACE_CHECKS_H

#include <stdio.h>
#include <stdlib.h>
#include "core/json/match.h"

struct place_step {
    enum { PLACE_END, PLACE_NAME, PLACE_INDEX, PLACE_EVERY } kind;
    const char *name;
    size_t index;
};
enum { PLACE_STEPS = 4, PLACES_MOST = 4096 };

// The third and last name has the length of many values and the longest of which lengths are told apart.
static const struct {
    const char *text;
    struct place_step steps[PLACE_STEPS];
} place_paths[] = {
    {"$.a", {{PLACE_NAME, "a", 0}}},
    {"$.b.a", {{PLACE_NAME, "b", 0}, {PLACE_NAME, "a", 0}}},
    {"$.a[*].id", {{PLACE_NAME, "a", 0}, {PLACE_EVERY, NULL, 0}, {PLACE_NAME, "id", 0}}},
    {"$[*]['']", {{PLACE_EVERY, NULL, 0}, {PLACE_NAME, "", 0}}},
    {"$[1].b[0]", {{PLACE_INDEX, NULL, 1}, {PLACE_NAME, "b", 0}, {PLACE_INDEX, NULL, 0}}},
    {"$['a b']", {{PLACE_NAME, "a b", 0}}},
    {"$['\xc3\xa9'][*]", {{PLACE_NAME, "\xc3\xa9", 0}, {PLACE_EVERY, NULL, 0}}},
    {"$.n123456789012345678901234567890123456789012345678901234567890123",
     {{PLACE_NAME, "n123456789012345678901234567890123456789012345678901234567890123", 0}}},
};
enum { PLACE_PATHS = sizeof place_paths / sizeof *place_paths };

struct places {
    size_t count, replaced;
    struct place {
        bool is_missing;
        size_t from, len, parent; // places in the text
    } places[PLACES_MOST];
};

static void
place_require(bool holds, const char *what, struct bytes text)
{
    if (holds)
        return;
    fprintf(stderr, "not so: %s, of: %.*s\n", what, BYTES_ARGS(text));
    abort();
}

static void
place_add(struct places *places, const struct place *place)
{
    if (places->count < PLACES_MOST)
        places->places[places->count++] = *place;
}

static bool
place_fits(const struct place_step *step, const struct json_children *children, struct json_token name)
{
    if (step->kind != PLACE_NAME)
        return !children->is_object && (step->kind == PLACE_EVERY || step->index == children->count - 1);
    struct strbuf content = {0};
    bool fits = children->is_object && json_decode(json_bytes(&children->scan, name), &content) &&
                bytes_equal(strbuf_bytes(&content), bytes_of(step->name));
    strbuf_release(&content);
    return fits;
}

// The places in the value at `from`, which the steps before led to.
static void
places_look(struct bytes text, const struct place *at, const struct place_step *step, struct places *places)
{
    struct json_children children;
    struct json_token name = {0}, value;
    if (step->kind == PLACE_END) {
        place_add(places, at);
        return;
    }
    if (!json_children(&children, bytes_slice(text, at->from, at->len)))
        return;
    size_t before = places->count;
    bool has_fit = false;
    while (json_child(&children, &name, &value)) {
        if (!place_fits(step, &children, name))
            continue;
        if (step->kind == PLACE_NAME) {
            places->replaced += has_fit;
            places->count = before;
        }
        has_fit = true;
        const struct place child = {.from = at->from + value.from, .len = value.len, .parent = at->from};
        places_look(text, &child, step + 1, places);
    }
    bool could_hold = step->kind == PLACE_NAME ? children.is_object : !children.is_object;
    if (!has_fit && could_hold && step->kind != PLACE_EVERY && step[1].kind == PLACE_END)
        place_add(places, &(struct place){.is_missing = true, .parent = at->from});
}

static void
check_places_of(size_t number, struct bytes text, const struct json_matches *matches)
{
    static struct places places;
    struct json_scan scan;
    places.count = places.replaced = 0;
    json_begin(&scan, text);
    size_t from = json_next(&scan).from;
    places_look(text, &(struct place){.from = from, .len = text.len - from}, place_paths[number].steps,
                &places);
    if (places.count == PLACES_MOST)
        return;
    place_require(matches->replaced == places.replaced, "as many are replaced", text);
    place_require(matches->count == places.count, "as many are found", text);
    for (size_t i = 0; i < places.count; i++) {
        const struct json_match *match = &matches->items[i];
        const struct place *place = &places.places[i];
        place_require(match->is_missing == place->is_missing, "they are missing alike", text);
        place_require(match->parent.len == 0 || match->parent.from == place->parent, "in one parent", text);
        place_require(match->is_missing ||
                          (match->value.from == place->from && match->value.len == place->len),
                      "their values are the same", text);
    }
}

// All paths, JSON_PATHS of them in one pass.
static inline void
check_places(struct bytes text)
{
    struct json_path *paths[PLACE_PATHS];
    struct json_matches matches[PLACE_PATHS] = {{0}};
    bool is_json = json_check(text, NULL);
    for (size_t i = 0; i < PLACE_PATHS; i++)
        place_require(json_pattern_parse(&paths[i], bytes_of(place_paths[i].text), NULL), "a path", text);
    for (size_t i = 0; i < PLACE_PATHS; i += JSON_PATHS)
        place_require(json_matches_find_all((const struct json_path *const *)paths + i, JSON_PATHS, text,
                                            matches + i) == is_json,
                      "it is JSON where it is read", text);
    for (size_t i = 0; i < PLACE_PATHS; i++) {
        if (is_json)
            check_places_of(i, text, &matches[i]);
        else
            place_require(matches[i].count == 0, "no places of what is not JSON", text);
        json_matches_release(&matches[i]);
        json_path_destroy(paths[i]);
    }
}

#endif
