// undo: the steps that can be taken back. A change keeps only the text that is not in the document: what it
// took away, or, once it was undone, what it had put in.
#ifndef REDRIVE_UI_EDITOR_UNDO_H
#define REDRIVE_UI_EDITOR_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"

// Where the cursor and the selection are.
struct undo_place {
    size_t cursor;
    size_t anchor; // SIZE_MAX: nothing is selected
};

struct undo_change {
    size_t at;
    size_t len;          // bytes in the document there
    struct strbuf other; // what stands there on the other side of the step
};

enum undo_kind { UNDO_ALONE, UNDO_TYPED, UNDO_DELETED_LEFT, UNDO_DELETED_RIGHT };

struct undo_step {
    size_t first, count; // of changes
    struct undo_place before, after;
    enum undo_kind kind;
    int64_t last; // time of its newest change
};

// Zero-initialise.
struct undo {
    struct undo_change *changes;
    size_t change_count, change_capacity;
    struct undo_step *steps;
    size_t step_count, step_capacity;
    size_t at;      // steps [0, at) are done, the others undone
    size_t saved;   // value of `at` at which the document is the saved one; SIZE_MAX: none
    int nested;     // edits go into one step
    bool is_closed; // the next change begins a step
};

// Begins a step for a change, or goes on with the last one where kind, time and place allow it. Forgets what
// could be redone.
void undo_begin(struct undo *undo, enum undo_kind kind, struct undo_place before, bool begins_word,
                int64_t now);
// Adds a change to that step: at `at` `removed` was replaced by `len` bytes.
void undo_add(struct undo *undo, size_t at, struct bytes removed, size_t len);
// A copy without room to grow: steps may hold as much as the document.
struct strbuf undo_copy(struct bytes b);
void undo_release(struct undo *undo);

#endif
