#include "ui/view.h"

#include <stddef.h>

const struct view_action *
view_action(const struct view *view, enum action action, const struct view_action *after)
{
    const struct view_action *row = after ? after + 1 : view->actions;
    for (; row && (row->action || row->part); row++)
        if (row->part ? row->part(action) : row->action == action)
            return row;
    return NULL;
}

bool
view_handles(const struct view *view, enum action action)
{
    const struct view_action *row = NULL;
    while ((row = view_action(view, action, row)))
        if (row->run)
            return true;
    return false;
}
