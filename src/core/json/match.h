// match: the values of a text that a path names, where a path may hold [*] for every element of an array. A
// recipe works on them: it asks where the values are, and splices (json_set and its neighbours take such a
// path too).
//
//     $.lines[*].amount      the amount of each line
//     $[*][0]                the first element of each element
#ifndef REDRIVE_CORE_JSON_MATCH_H
#define REDRIVE_CORE_JSON_MATCH_H

#include "core/json/json.h"

// As json_path_parse, and [*] is accepted. What it makes is a json_path: it is printed, destroyed and given
// to the functions that edit like any other.
bool json_pattern_parse(struct json_path **path, struct bytes text, struct err *err) MUST_CHECK;
bool json_path_is_pattern(const struct json_path *path); // has a [*]
size_t json_path_stars(const struct json_path *path);    // how many

// One place that the path leads to. There is a value, or there is the container that could hold it: an object
// without a member of the last name, or an array that ends before the last index.
struct json_match {
    bool is_missing;
    struct json_token value;  // with all its bytes; missing: len 0
    struct json_token name;   // of a member, with its quotes; else len 0
    struct json_token parent; // the container with all its bytes; of the whole text (path $): len 0
};

// Zero-initialised; used again for any number of texts and paths, it keeps its memory.
struct json_matches {
    struct json_match *items; // in the order of the text
    size_t count, capacity;
    size_t found, missing; // of `count`
    // Members on the path that a later member of the same name replaces. Neither they nor what they hold is
    // among the items: of duplicates the last one counts, as in jsonb.
    size_t replaced;
    size_t *indexes; // see json_match_indexes
    size_t index_capacity, stars;
};

// Finds every place in one pass over the text. false: the text is not JSON; then there are no items. A path
// that leads nowhere gives no items and true.
bool json_matches_find(const struct json_path *path, struct bytes text, struct json_matches *matches);
// As json_matches_find for several paths, at most JSON_PATHS, in one pass over the text; matches is an array
// of as many.
enum { JSON_PATHS = 4 };
bool json_matches_find_all(const struct json_path *const *paths, size_t count, struct bytes text,
                           struct json_matches *matches);
// The indexes that the [*] of the path stand for in this item, json_path_stars of them, outermost first.
// `$.a[*].x` and `$.a[*].y` lead to the same element where these are equal.
const size_t *json_match_indexes(const struct json_matches *matches, size_t item);
void json_matches_release(struct json_matches *matches);

// As json_set, with a value of its own for each item of the matches, which are those of this path in this
// text. choose is asked in order, for missing members too; false leaves the item as it is.
bool json_set_each(const struct json_path *path, struct bytes text, const struct json_matches *matches,
                   bool (*choose)(void *context, size_t item, struct bytes *value), void *context,
                   struct strbuf *out);

// A single value, neither object nor array, in the place of another one.
struct json_swap {
    size_t from, end; // of the old one
    ptrdiff_t grown;  // by how many bytes the text has grown up to here
};
// Makes matches of a text those of the text after these swaps, which are in its order: no path leads
// elsewhere. false: one of the matches was swapped itself; then they say nothing any more.
bool json_matches_follow(struct json_matches *matches, const struct json_swap *swaps, size_t count);

// The path as text, so that parsing gives it back. indexes (may be NULL) take the places of [*].
void json_path_print(const struct json_path *path, const size_t *indexes, struct strbuf *out);
// A path of its own with these indexes in the places of [*]; `stars` of them are given, and further [*] stay.
struct json_path *json_path_fill(const struct json_path *path, const size_t *indexes, size_t stars);

#endif
