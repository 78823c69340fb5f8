// changes: what differs between two JSON texts, by structure: white space aside, and token by token. 1.0 and
// 1.00, or "é" and "\u00e9", are different, because their bytes are.
//
// Members are compared by name, equal names in their order. A member that lost its name and one that is new,
// with the same value at the same place of the object, are one that was renamed. Elements at the start and
// the end of two arrays that are equal belong together, then those in between that occur once in each; the
// rest is compared by position, and what is left over was removed or added. Takes n log n time for texts of n
// tokens.
#ifndef REDRIVE_CORE_JSON_CHANGES_H
#define REDRIVE_CORE_JSON_CHANGES_H

#include "base/arena.h"
#include "core/json/json.h"

enum { JSON_CHANGES = 10000 }; // more are counted, not listed

enum json_change_kind {
    JSON_VALUE_CHANGED,
    JSON_KEY_ADDED,
    JSON_KEY_REMOVED,
    JSON_KEY_RENAMED,
    JSON_ELEMENT_ADDED,
    JSON_ELEMENT_REMOVED,
    JSON_ORDER_CHANGED, // of the keys of an object, which are all there
    JSON_CHANGE_KINDS,
};

struct json_change {
    enum json_change_kind kind;
    // By the names and indexes of the text before; an added element has its index in the text after.
    struct bytes path;
    struct json_token before,
        after;         // the values with all their bytes; added, removed: len 0 in the other text
    struct bytes name; // the new name of a renamed key, its content
};

// In the order of the texts. Lives in the arena.
struct json_changes {
    struct json_change *items;
    size_t count;
    size_t counts[JSON_CHANGE_KINDS]; // of all, listed or not
    bool is_cut;                      // there are more than JSON_CHANGES
    bool is_spaced;                   // no change, but the white space between the tokens differs
};

// false: one of them is not JSON, or does not fit (json_fits); err says which and why.
bool json_compare(struct bytes before, struct bytes after, struct arena *arena, struct json_changes *changes,
                  struct err *err) MUST_CHECK;
// Appends "2 values changed, 1 key removed", "only white space differs" or "no difference".
void json_changes_sentence(const struct json_changes *changes, struct strbuf *out);

#endif
