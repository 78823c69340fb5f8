// action: what a key can do. Keys → named actions → behaviour; the rows of actions.def are the only list.
//
// A context is a section of a keymap. The first ones are general; each view has one of its own, which
// inherits the parent that its row in views.def names. Lists and texts inherit "global"; a text being edited,
// prompts and dialogs inherit nothing.
#ifndef REDRIVE_UI_KEYMAP_ACTION_H
#define REDRIVE_UI_KEYMAP_ACTION_H

#include <stdbool.h>
#include "base/bytes.h"

enum action {
    DO_NONE, // ends lists of actions
#define ACTION(id, word, contexts, label, effect, command, help) DO_##id,
#include "ui/keymap/actions.def"
#undef ACTION
    DO_COUNT
};

enum context {
    CONTEXT_GLOBAL,
    CONTEXT_LIST,
    CONTEXT_TEXT,
    CONTEXT_STEER, // inherits list: views in which an operation can be steered
    CONTEXT_EDIT,  // a text being edited: letters are typed, so it inherits nothing
    CONTEXT_PROMPT,
    CONTEXT_DIALOG,
#define VIEW(name, place, parent) CONTEXT_VIEW_##name,
#include "ui/views.def"
#undef VIEW
    CONTEXT_COUNT
};
#define CONTEXT_FIRST_VIEW (CONTEXT_DIALOG + 1)

// For the rows of actions.def.
enum context_set {
    IN_GLOBAL = 1 << CONTEXT_GLOBAL,
    IN_LIST = 1 << CONTEXT_LIST,
    IN_TEXT = 1 << CONTEXT_TEXT,
    IN_STEER = 1 << CONTEXT_STEER,
    IN_EDIT = 1 << CONTEXT_EDIT,
    IN_PROMPT = 1 << CONTEXT_PROMPT,
    IN_DIALOG = 1 << CONTEXT_DIALOG,
};

enum action_effect {
    EFFECT_SAFE,
    EFFECT_MOVES,   // the cursor, or what is seen of a list or text
    EFFECT_CHANGES, // leads to a change of data
};

struct action_row {
    const char *word;    // in keymaps and the palette: "half-down"
    const char *label;   // in the footer: "reprocess"
    const char *command; // the headless twin, or NULL
    const char *help;    // one sentence
    unsigned
        contexts; // 1 << enum context of the sections that may bind it, with everything that inherits them
    enum action_effect effect;
};

const struct action_row *action_row(enum action action); // DO_NONE has an empty one
bool action_by_word(struct bytes word, enum action *action);

const char *context_name(enum context context); // "list", "groups"
// The context whose bindings also count, CONTEXT_COUNT for none.
enum context context_parent(enum context context);
// May this action be bound in that section?
bool action_allowed(enum action action, enum context context);

#endif
