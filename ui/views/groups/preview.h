// group_preview: what there is to know of one group, under the list of groups or beside it.
#ifndef REDRIVE_UI_VIEWS_GROUPS_PREVIEW_H
#define REDRIVE_UI_VIEWS_GROUPS_PREVIEW_H

#include "async/message.h"
#include "core/backlog/backlog.h"
#include "ui/canvas/canvas.h"
#include "ui/views/groups/row.h"

// In a few rows a set of facts each; where it is tall the message whole, what the category recommends, a
// chart.
struct group_previewed {
    const struct event_group *group;
    enum pivot pivot;
    struct moments moments;
    const struct recent_reply *recent; // NULL: not told yet
    const struct group_care *care;     // NULL: nobody says anything about it
    const struct advice *advice;       // of the runbook; NULL: none
};
void group_preview(const struct group_previewed *previewed, struct canvas *canvas, struct area area);

#define GROUP_VARYING (GROUP_SPANS + 1)
// Where a message differs from its masked pattern: what stands in the place of each placeholder, and a little
// before and behind it all; in ROLE_DIM. False: the pattern is not seen in it.
bool group_varying(struct bytes pattern, struct bytes message, struct canvas_span spans[GROUP_VARYING],
                   size_t *count);

#endif
