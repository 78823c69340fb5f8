// selection: the events an action is about: a set of event ids that survives refresh, sort and filter, with
// undo.
//
// Sets of a million are merged in one pass; a call that changes nothing adds no undo step.
#ifndef REDRIVE_CORE_SELECTION_H
#define REDRIVE_CORE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selection {
    int64_t *ids; // ascending
    size_t count;
    size_t capacity;
    struct selection_step *undo; // newest first, at most 20
};

bool selection_has(const struct selection *selection, int64_t id);
void selection_toggle(struct selection *selection, int64_t id);
// Adds or removes many at once (any order, doubles allowed): one undo step.
void selection_add(struct selection *selection, const int64_t *ids, size_t count);
void selection_remove(struct selection *selection, const int64_t *ids, size_t count);
// Selects the unselected among ids and deselects the others. One undo step.
void selection_invert(struct selection *selection, const int64_t *ids, size_t count);
void selection_clear(struct selection *selection); // one undo step
void selection_end(struct selection *selection);   // clears it and forgets its steps: it was acted on
bool selection_undo(struct selection *selection);  // false: nothing to undo
// The number of selected ids that are not among `ids` (any order): "10 selected, 7 hidden by the filter".
size_t selection_hidden(const struct selection *selection, const int64_t *ids, size_t count);
void selection_release(struct selection *selection);

// Ascending order, doubles removed; returns the new count.
size_t ids_normalise(int64_t *ids, size_t count);
// Takes these out; both are ascending, each id once. Returns how many are left.
size_t ids_without(int64_t *ids, size_t count, const int64_t *out, size_t out_count);

#endif
