// Walks a text once and keeps the values that a path leads to.
#include "core/json/match.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/json/path.h"

// An open container that the first steps of the path lead to.
struct match_level {
    size_t from; // its opening bracket
    bool is_object;
    bool fits;              // the step leads to the child that is being read
    bool has_fit;           // or did lead to an earlier one
    size_t index;           // of that child in an array
    struct json_token name; // of that child in an object
    size_t mark;            // items when the container was opened
    uint64_t lengths;       // of the names that the step leads to: json_length_bit
};

struct match_walk {
    struct match_walk *next; // of the walks that go over the text together
    const struct json_path *path;
    size_t count; // steps to take
    struct bytes text;
    struct json_matches *matches;
    size_t open;                // levels in use: the containers around the token that are on the path
    bool is_open;               // the last item is a container whose end is still to come
    struct match_level *levels; // one a step
};

static void
match_cut(struct match_walk *walk, size_t count)
{
    struct json_matches *matches = walk->matches;
    while (matches->count > count) {
        bool is_missing = matches->items[--matches->count].is_missing;
        matches->missing -= is_missing;
        matches->found -= !is_missing;
    }
}

// One more item, of which nothing is known yet.
static struct json_match *
match_add(struct match_walk *walk, bool is_missing)
{
    struct json_matches *matches = walk->matches;
    matches->items = alloc_grow(matches->items, matches->count, &matches->capacity, sizeof *matches->items);
    size_t at = matches->count * matches->stars;
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->path->steps[i].kind != JSON_STEP_EVERY)
            continue;
        matches->indexes =
            alloc_grow(matches->indexes, at, &matches->index_capacity, sizeof *matches->indexes);
        matches->indexes[at++] = walk->levels[i].index;
    }
    matches->missing += is_missing;
    matches->found += !is_missing;
    struct json_match *item = &matches->items[matches->count++];
    *item = (struct json_match){.is_missing = is_missing};
    return item;
}

// A name stands in the innermost container on the path. Does the path go on in its value? A second one that
// fits replaces the first.
static bool
match_name(struct match_walk *walk, const struct json_token *token)
{
    struct match_level *level = &walk->levels[walk->open - 1];
    const struct json_step *step = &walk->path->steps[walk->open - 1];
    level->fits = step->kind == JSON_STEP_NAME &&
                  json_name_is(bytes_slice(walk->text, token->from, token->len), &step->name);
    if (!level->fits)
        return false;
    level->name = *token;
    walk->matches->replaced += level->has_fit;
    match_cut(walk, level->mark);
    level->has_fit = true;
    return true;
}

static void
match_element(struct match_level *level, const struct json_step *step)
{
    bool fits =
        step->kind == JSON_STEP_EVERY || (step->kind == JSON_STEP_INDEX && step->index == level->index);
    level->fits = fits;
    if (fits)
        level->has_fit = true;
}

// Member by member, because a whole level is copied by way of the stack. A name is set before it is read.
static void
match_enter(struct match_walk *walk, const struct json_token *token)
{
    const struct json_step *step = &walk->path->steps[walk->open];
    struct match_level *level = &walk->levels[walk->open++];
    level->from = token->from;
    level->lengths = step->kind == JSON_STEP_NAME ? json_length_bit(step->name.len) : 0;
    level->is_object = token->kind == JSON_OBJECT_BEGIN;
    level->fits = level->has_fit = false;
    level->index = 0;
    level->mark = walk->matches->count;
}

static void
match_value(struct match_walk *walk, const struct json_token *token)
{
    bool is_container = token->kind == JSON_OBJECT_BEGIN || token->kind == JSON_ARRAY_BEGIN;
    struct match_level *parent = walk->open ? &walk->levels[walk->open - 1] : NULL;
    if (parent && !parent->is_object)
        match_element(parent, &walk->path->steps[walk->open - 1]);
    if (parent && !parent->fits)
        return;
    if (walk->open == walk->count) {
        struct json_match *item = match_add(walk, false);
        item->value = *token;
        if (parent && parent->is_object)
            item->name = parent->name;
        walk->is_open = is_container;
    } else if (is_container) {
        match_enter(walk, token);
    }
}

// The innermost container on the path ends.
static void
match_leave(struct match_walk *walk, const struct json_token *token)
{
    const struct match_level *level = &walk->levels[walk->open - 1];
    if (walk->open == walk->count) {
        enum json_step_kind step = walk->path->steps[walk->open - 1].kind;
        bool could_hold = step == (level->is_object ? JSON_STEP_NAME : JSON_STEP_INDEX);
        if (could_hold && !level->has_fit)
            (void)match_add(walk, true);
        struct json_token parent = {.kind = level->is_object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN,
                                    .from = level->from,
                                    .len = token->from + token->len - level->from,
                                    .depth = token->depth};
        for (size_t i = level->mark; i < walk->matches->count; i++)
            walk->matches->items[i].parent = parent;
    }
    walk->open--;
}

static void
match_token(struct match_walk *walk, const struct json_token *token)
{
    size_t depth = (size_t)token->depth;
    switch (token->kind) {
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
        if (depth + 1 == walk->open) {
            match_leave(walk, token);
        } else if (walk->is_open && depth == walk->count) {
            struct json_token *value = &walk->matches->items[walk->matches->count - 1].value;
            value->len = token->from + token->len - value->from;
            walk->is_open = false;
        }
        break;
    case JSON_COMMA:
        if (depth == walk->open && depth > 0)
            walk->levels[depth - 1].index++;
        break;
    case JSON_OBJECT_BEGIN:
    case JSON_ARRAY_BEGIN:
    case JSON_STRING:
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        if (depth == walk->open)
            match_value(walk, token);
        break;
    case JSON_NAME:
    case JSON_COLON:
    case JSON_END:
    case JSON_ERROR:
        break;
    }
}

static void
match_begin(struct match_walk *walk, const struct json_path *path, size_t count, struct bytes text,
            struct match_level *levels, struct json_matches *matches)
{
    walk->levels = levels;
    walk->path = path;
    walk->count = count;
    walk->text = text;
    walk->matches = matches;
    walk->open = 0;
    walk->is_open = false;
    walk->next = NULL;
    matches->count = matches->found = matches->missing = matches->replaced = matches->stars = 0;
    for (size_t i = 0; i < count; i++)
        matches->stars += path->steps[i].kind == JSON_STEP_EVERY;
}

// Does a walk go on in the value of the name that was read?
static bool
match_names(struct match_walk *first, const struct json_token *token)
{
    bool is_on_a_path = false;
    for (struct match_walk *walk = first; walk; walk = walk->next)
        if (walk->open > 0 && (size_t)token->depth == walk->open)
            is_on_a_path = match_name(walk, token) || is_on_a_path;
    return is_on_a_path;
}

// The lengths of the names that some walk goes on in, of members of the container that is open at this depth.
static uint64_t
match_lengths(const struct match_walk *first, size_t depth)
{
    uint64_t lengths = 0;
    for (const struct match_walk *walk = first; walk; walk = walk->next)
        if (walk->open > 0 && walk->open == depth)
            lengths |= walk->levels[depth - 1].lengths;
    return lengths;
}

// All walks in one pass over their text.
static bool
match_walks(struct match_walk *first, struct bytes text)
{
    struct json_scan scan;
    uint64_t lengths = 0;
    json_begin(&scan, text);
    for (;;) {
        struct json_token token;
        if (!json_pass_members(&scan, lengths, &token))
            json_read(&scan, &token);
        if (token.kind == JSON_NAME) {
            if (!match_names(first, &token))
                json_pass(&scan);
            continue;
        }
        if (token.kind == JSON_END)
            return true;
        if (token.kind == JSON_ERROR)
            break;
        if (token.kind == JSON_COLON)
            continue;
        for (struct match_walk *walk = first; walk; walk = walk->next)
            if ((size_t)token.depth <= walk->open)
                match_token(walk, &token);
        if (token.kind <= JSON_ARRAY_END) // a bracket: another container is open
            lengths = match_lengths(first, (size_t)scan.depth);
    }
    for (struct match_walk *walk = first; walk; walk = walk->next)
        match_cut(walk, 0);
    return false;
}

// Paths of more steps than this together have their levels on the heap.
enum { MATCH_LEVELS = 32 };

bool
json_steps_find(const struct json_path *path, size_t count, struct bytes text, struct json_matches *matches)
{
    struct match_level few[MATCH_LEVELS], *levels = few;
    struct match_walk walk;
    if (count > MATCH_LEVELS)
        levels = alloc_array(count, sizeof *levels);
    match_begin(&walk, path, count, text, levels, matches);
    bool is_read = match_walks(&walk, text);
    if (levels != few)
        free(levels);
    return is_read;
}

bool
json_matches_find_all(const struct json_path *const *paths, size_t count, struct bytes text,
                      struct json_matches *matches)
{
    struct match_level few[MATCH_LEVELS], *levels = few;
    struct match_walk walks[JSON_PATHS], *first = NULL;
    size_t steps = 0;
    for (size_t i = 0; i < count; i++)
        steps += paths[i]->count;
    if (steps > MATCH_LEVELS)
        levels = alloc_array(steps, sizeof *levels);
    steps = 0;
    for (size_t i = 0; i < count; i++) {
        match_begin(&walks[i], paths[i], paths[i]->count, text, levels + steps, &matches[i]);
        walks[i].next = first;
        first = &walks[i];
        steps += paths[i]->count;
    }
    bool is_read = match_walks(first, text);
    if (levels != few)
        free(levels);
    return is_read;
}

bool
json_matches_find(const struct json_path *path, struct bytes text, struct json_matches *matches)
{
    return json_steps_find(path, path->count, text, matches);
}

// How many of the swaps end at or before an offset.
static size_t
swaps_before(const struct json_swap *swaps, size_t count, size_t at)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (swaps[middle].end <= at)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static size_t
place_after(const struct json_swap *swaps, size_t count, size_t at)
{
    size_t before = swaps_before(swaps, count, at);
    return before ? at + (size_t)swaps[before - 1].grown : at;
}

static void
token_follow(struct json_token *token, const struct json_swap *swaps, size_t count)
{
    size_t end = place_after(swaps, count, token->from + token->len);
    token->from = place_after(swaps, count, token->from);
    token->len = end - token->from;
}

bool
json_matches_follow(struct json_matches *matches, const struct json_swap *swaps, size_t count)
{
    for (size_t i = 0; i < matches->count; i++) {
        struct json_match *match = &matches->items[i];
        size_t before = swaps_before(swaps, count, match->value.from);
        if (!match->is_missing && before < count && swaps[before].from == match->value.from &&
            swaps[before].end == match->value.from + match->value.len)
            return false;
        token_follow(&match->value, swaps, count);
        token_follow(&match->name, swaps, count);
        token_follow(&match->parent, swaps, count);
    }
    return true;
}

const size_t *
json_match_indexes(const struct json_matches *matches, size_t item)
{
    return matches->stars ? matches->indexes + item * matches->stars : NULL;
}

void
json_matches_release(struct json_matches *matches)
{
    free(matches->items);
    free(matches->indexes);
    *matches = (struct json_matches){0};
}
