#include "core/selection.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { UNDO_STEPS = 20 };

// What was selected before a step. A step that changes one id keeps only that id.
struct selection_step {
    struct selection_step *next;
    bool is_toggle;
    int64_t toggled;
    int64_t *ids;
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

// Where id stands among ascending ids, or where it would be put.
static size_t
position(const int64_t *ids, size_t count, int64_t id)
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
    size_t at = position(ids, count, id);
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

static void
flip(struct selection *selection, int64_t id)
{
    size_t at = position(selection->ids, selection->count, id);
    if (at < selection->count && selection->ids[at] == id) {
        memmove(selection->ids + at, selection->ids + at + 1, (--selection->count - at) * sizeof id);
        return;
    }
    selection->ids = alloc_grow(selection->ids, selection->count, &selection->capacity, sizeof id);
    memmove(selection->ids + at + 1, selection->ids + at, (selection->count++ - at) * sizeof id);
    selection->ids[at] = id;
}

void
selection_toggle(struct selection *selection, int64_t id)
{
    struct selection_step *step = alloc_bytes(sizeof *step);
    step->is_toggle = true;
    step->toggled = id;
    step_push(selection, step);
    flip(selection, id);
}

// Puts `ids` (heap, ascending, taken over) in place of what is selected: one undo step.
static void
replace(struct selection *selection, int64_t *ids, size_t count)
{
    struct selection_step *step = alloc_bytes(sizeof *step);
    step->ids = selection->ids;
    step->count = selection->count;
    step_push(selection, step);
    selection->ids = ids;
    selection->count = count;
    selection->capacity = count;
}

enum merge { MERGE_ADD, MERGE_REMOVE, MERGE_INVERT };

// One pass over both ascending sets.
static void
merge(struct selection *selection, const int64_t *given, size_t given_count, enum merge how)
{
    if (given_count == 0)
        return;
    int64_t *ids = alloc_array(given_count, sizeof *ids);
    memcpy(ids, given, given_count * sizeof *ids);
    size_t count = ids_normalise(ids, given_count);

    int64_t *merged = alloc_array(size_add(selection->count, count), sizeof *merged);
    size_t n = 0;
    size_t a = 0;
    size_t b = 0;
    while (a < selection->count || b < count) {
        bool has_a = a < selection->count && (b == count || selection->ids[a] <= ids[b]);
        bool has_b = b < count && (a == selection->count || ids[b] <= selection->ids[a]);
        int64_t id = has_a ? selection->ids[a] : ids[b];
        bool stays = how == MERGE_ADD ? true : how == MERGE_REMOVE ? !has_b : has_a != has_b;
        if (stays)
            merged[n++] = id;
        a += has_a;
        b += has_b;
    }
    free(ids);
    replace(selection, merged, n);
}

void
selection_add(struct selection *selection, const int64_t *ids, size_t count)
{
    merge(selection, ids, count, MERGE_ADD);
}

void
selection_remove(struct selection *selection, const int64_t *ids, size_t count)
{
    merge(selection, ids, count, MERGE_REMOVE);
}

void
selection_invert(struct selection *selection, const int64_t *ids, size_t count)
{
    merge(selection, ids, count, MERGE_INVERT);
}

void
selection_clear(struct selection *selection)
{
    if (selection->count)
        replace(selection, NULL, 0);
}

bool
selection_undo(struct selection *selection)
{
    struct selection_step *step = selection->undo;
    if (!step)
        return false;
    selection->undo = step->next;
    if (step->is_toggle) {
        flip(selection, step->toggled);
    } else {
        free(selection->ids);
        selection->ids = step->ids;
        selection->count = step->count;
        selection->capacity = step->count;
        step->ids = NULL;
    }
    step_free(step);
    return true;
}

size_t
selection_hidden(const struct selection *selection, const int64_t *ids, size_t count)
{
    if (selection->count == 0)
        return 0;
    // The smaller side decides how: few selected are looked up in a list that is not sorted by marking what
    // was met.
    bool *met = alloc_array(selection->count, sizeof *met);
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = position(selection->ids, selection->count, ids[i]);
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
