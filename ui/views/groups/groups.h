// groups: what the list of groups is opened with.
#ifndef REDRIVE_UI_VIEWS_GROUPS_GROUPS_H
#define REDRIVE_UI_VIEWS_GROUPS_GROUPS_H

#include <stdint.h>
#include "core/backlog/backlog.h"

// argument of view_groups.open; NULL: all pending events by error. Copied.
struct groups_argument {
    enum pivot pivot;
    uint64_t within;   // only events of this group by error
    const char *title; // what that group is called
};

#endif
