#include "core/selection.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { UNDO_STEPS = 20 };

// A step is the ids that it turned, from selected to not or back: turning them again undoes it. So a small
// change to a million costs little.
struct selection_step {
    struct selection_step *next;
    int64_t *ids; // ascending
    size_t count;
};

static int
by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool
is_ascending(const int64_t *ids, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (ids[i - 1] > ids[i])
            return false;
    return true;
}

size_t
ids_normalise(int64_t *ids, size_t count)
{
    if (count == 0)
        return 0;
    if (!is_ascending(ids, count))
        qsort(ids, count, sizeof *ids, by_value);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++)
        if (ids[i] != ids[kept - 1])
            ids[kept++] = ids[i];
    return kept;
}

size_t
ids_without(int64_t *ids, size_t count, const int64_t *out, size_t out_count)
{
    size_t kept = 0;
    for (size_t i = 0, o = 0; i < count; i++) {
        while (o < out_count && out[o] < ids[i])
            o++;
        if (o == out_count || out[o] != ids[i])
            ids[kept++] = ids[i];
    }
    return kept;
}

// Where id stands among ascending ids, or where it would be put.
static size_t
selection_position(const int64_t *ids, size_t count, int64_t id)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
contains(const int64_t *ids, size_t count, int64_t id)
{
    size_t at = selection_position(ids, count, id);
    return at < count && ids[at] == id;
}

bool
selection_has(const struct selection *selection, int64_t id)
{
    return contains(selection->ids, selection->count, id);
}

static void
step_free(struct selection_step *step)
{
    free(step->ids);
    free(step);
}

static void
step_push(struct selection *selection, struct selection_step *step)
{
    step->next = selection->undo;
    selection->undo = step;
    size_t depth = 1;
    for (struct selection_step *at = step; at; at = at->next, depth++) {
        if (depth < UNDO_STEPS || !at->next)
            continue;
        for (struct selection_step *old = at->next, *next; old; old = next) {
            next = old->next;
            step_free(old);
        }
        at->next = NULL;
    }
}

// One id in place, without a copy of the others.
static void
turn_one(struct selection *selection, int64_t id)
{
    size_t at = selection_position(selection->ids, selection->count, id);
    if (at < selection->count && selection->ids[at] == id) {
        memmove(selection->ids + at, selection->ids + at + 1, (--selection->count - at) * sizeof id);
        return;
    }
    selection->ids = alloc_grow(selection->ids, selection->count, &selection->capacity, sizeof id);
    memmove(selection->ids + at + 1, selection->ids + at, (selection->count++ - at) * sizeof id);
    selection->ids[at] = id;
}

// The ids that are in only one of the two sets: one pass over ascending ids.
static void
selection_turn(struct selection *selection, const int64_t *ids, size_t count)
{
    if (count == 1) {
        turn_one(selection, ids[0]);
        return;
    }
    size_t capacity = size_add(selection->count, count);
    int64_t *merged = alloc_array(capacity, sizeof *merged);
    size_t n = 0;
    size_t a = 0;
    size_t b = 0;
    while (a < selection->count || b < count) {
        bool has_a = a < selection->count && (b == count || selection->ids[a] <= ids[b]);
        bool has_b = b < count && (a == selection->count || ids[b] <= selection->ids[a]);
        if (has_a != has_b)
            merged[n++] = has_a ? selection->ids[a] : ids[b];
        a += has_a;
        b += has_b;
    }
    free(selection->ids);
    selection->ids = merged;
    selection->count = n;
    selection->capacity = capacity;
}

// Turns ids (heap, ascending, taken over): one undo step. Nothing to turn is no step.
static void
selection_step(struct selection *selection, int64_t *ids, size_t count)
{
    if (count == 0) {
        free(ids);
        return;
    }
    struct selection_step *made = alloc_bytes(sizeof *made);
    made->ids = alloc_resize(ids, count, sizeof *ids);
    made->count = count;
    step_push(selection, made);
    selection_turn(selection, made->ids, count);
}

void
selection_toggle(struct selection *selection, int64_t id)
{
    int64_t *ids = alloc_array(1, sizeof *ids);
    ids[0] = id;
    selection_step(selection, ids, 1);
}

enum which { WHICH_ALL, WHICH_SELECTED, WHICH_OTHERS };

// A step with those of the given ids.
static void
change(struct selection *selection, const int64_t *given, size_t given_count, enum which which)
{
    if (given_count == 0)
        return;
    int64_t *ids = alloc_array(given_count, sizeof *ids);
    memcpy(ids, given, given_count * sizeof *ids);
    size_t count = ids_normalise(ids, given_count);
    size_t kept = 0;
    size_t at = 0; // in the selection, which ascends too
    for (size_t i = 0; i < count; i++) {
        while (at < selection->count && selection->ids[at] < ids[i])
            at++;
        bool is_selected = at < selection->count && selection->ids[at] == ids[i];
        if (which == WHICH_ALL || is_selected == (which == WHICH_SELECTED))
            ids[kept++] = ids[i];
    }
    selection_step(selection, ids, kept);
}

void
selection_add(struct selection *selection, const int64_t *ids, size_t count)
{
    change(selection, ids, count, WHICH_OTHERS);
}

void
selection_remove(struct selection *selection, const int64_t *ids, size_t count)
{
    change(selection, ids, count, WHICH_SELECTED);
}

void
selection_invert(struct selection *selection, const int64_t *ids, size_t count)
{
    change(selection, ids, count, WHICH_ALL);
}

void
selection_clear(struct selection *selection)
{
    change(selection, selection->ids, selection->count, WHICH_ALL);
}

void
selection_end(struct selection *selection)
{
    selection_release(selection);
    *selection = (struct selection){0};
}

bool
selection_undo(struct selection *selection)
{
    struct selection_step *last = selection->undo;
    if (!last)
        return false;
    selection->undo = last->next;
    selection_turn(selection, last->ids, last->count);
    step_free(last);
    return true;
}

size_t
selection_hidden(const struct selection *selection, const int64_t *ids, size_t count)
{
    if (selection->count == 0)
        return 0;
    // The list is not sorted, and may name an id twice.
    bool *met = alloc_array(selection->count, sizeof *met);
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = selection_position(selection->ids, selection->count, ids[i]);
        if (at < selection->count && selection->ids[at] == ids[i] && !met[at]) {
            met[at] = true;
            shown++;
        }
    }
    free(met);
    return selection->count - shown;
}

void
selection_release(struct selection *selection)
{
    for (struct selection_step *step = selection->undo, *next; step; step = next) {
        next = step->next;
        step_free(step);
    }
    free(selection->ids);
    *selection = (struct selection){0};
}
