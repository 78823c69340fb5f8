// groups: what the list of groups is opened with.
#ifndef REDRIVE_UI_VIEWS_GROUPS_GROUPS_H
#define REDRIVE_UI_VIEWS_GROUPS_GROUPS_H

#include <stdint.h>
#include "core/backlog/backlog.h"

// argument of view_groups.open; NULL: all pending events by error. Copied.
struct groups_argument {
    enum pivot pivot;
    const char *path;       // of PIVOT_PATH
    const uint64_t *within; // only events of this group by error; NULL: of all
    const char *title;      // what that group is called
    const char *term;       // only events that this filter matches; part of the view; NULL: none
};

#endif
