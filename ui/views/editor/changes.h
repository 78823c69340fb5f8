// changes: the differences between two versions of a record, section by section.
#ifndef REDRIVE_UI_VIEWS_EDITOR_CHANGES_H
#define REDRIVE_UI_VIEWS_EDITOR_CHANGES_H

#include <stddef.h>
#include "base/bytes.h"
#include "ui/views/editor/sections.h"

struct app;

enum { CHANGES_WARNINGS = 3 };

// argument of view_changes.open. Copied, except for `state`.
struct changes_argument {
    const char *before_name, *after_name; // "revision 2", "yours"
    struct {
        enum section section;
        struct bytes before, after;
    } parts[SECTION_COUNT];
    size_t count;                           // of parts
    const char *warnings[CHANGES_WARNINGS]; // about `after`: untrusted; NULL: no more
    // What Enter goes on with, when this view is closed again: `state` is of the view below. NULL: nothing.
    void (*accepted)(struct app *app, void *state);
    void *state;
};

#endif
