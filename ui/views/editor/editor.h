// editor: what the view that corrects one event is opened with.
#ifndef REDRIVE_UI_VIEWS_EDITOR_EDITOR_H
#define REDRIVE_UI_VIEWS_EDITOR_EDITOR_H

#include <stdbool.h>
#include <stdint.h>
#include "ui/app/app.h"

// argument of view_editor.open and of the views with other keys.
struct editor_argument {
    int64_t id;
    bool is_outside; // hand over to the person's own program at once
};
// Opens it with the keys of the setting editor_style. For DO_EDIT and DO_EDIT_OUTSIDE of views that know one
// event.
void editor_open_on(struct app *app, int64_t id, enum action action);

// Removes all drafts of this person, and texts that another program was handed and did not give back. Either
// folder may be NULL. Returns how many files.
size_t editor_purge_drafts(const char *state_home, const char *runtime_dir);

#endif
