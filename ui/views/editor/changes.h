// changes: the differences between two versions of a record, section by section.
#ifndef REDRIVE_UI_VIEWS_EDITOR_CHANGES_H
#define REDRIVE_UI_VIEWS_EDITOR_CHANGES_H

#include <stddef.h>
#include "base/bytes.h"
#include "ui/views/editor/sections.h"

struct app;
struct shape;

// argument of view_changes.open. Copied, except for `state`.
struct changes_argument {
    const char *before_name, *after_name; // "revision 2", "yours"
    struct {
        enum section section;
        struct bytes before, after;
    } parts[SECTION_COUNT];
    size_t count; // of parts
    // Of other events of the type: where the payload of `after` departs from it is told. NULL: not known.
    // Only read by open.
    const struct shape *shape;
    // What Enter goes on with, when this view is closed again: `state` is of the view below. NULL: nothing.
    void (*accepted)(struct app *app, void *state);
    void *state;
};

#endif
