// group_row: one group as a row of the list of groups: columns, cells, order, and its texts.
#ifndef REDRIVE_UI_VIEWS_GROUPS_ROW_H
#define REDRIVE_UI_VIEWS_GROUPS_ROW_H

#include "base/arena.h"
#include "base/text.h"
#include "core/backlog/backlog.h"
#include "core/people.h"
#include "ui/app/app.h"
#include "ui/widgets/table.h"

enum group_order {
    GROUPS_BY_COUNT,
    GROUPS_BY_NEWEST,
    GROUPS_BY_RATE,
    GROUPS_BY_FIRST,
    GROUPS_BY_KIND,
    GROUPS_BY_NAME,
    GROUP_ORDERS
};
const char *group_order_name(enum group_order order); // for the menu: "number of events"
// The nearest order in which the backend can tell which groups come first. By kind and name: the largest.
enum group_rank group_order_rank(enum group_order order);
// Below 0: a stands before b. Never 0 for two different groups of one list.
int group_compare(const struct event_group *a, const struct event_group *b, enum group_order order);

enum group_column {
    GROUP_COLUMN_COUNT,
    GROUP_COLUMN_SPARK,
    GROUP_COLUMN_RATE,
    GROUP_COLUMN_NEWEST,
    GROUP_COLUMN_FIRST,
    GROUP_COLUMN_KIND,
    GROUP_COLUMN_TYPES,
    GROUP_COLUMN_NAME,
    GROUP_COLUMNS
};
// The order that a click on the heading asks for; false: none goes by this column.
bool group_column_order(enum group_column column, enum group_order *order);
// largest: the greatest count in the list, for the width of its column.
void group_columns(enum pivot pivot, enum group_order order, bool is_reversed, int64_t largest,
                   struct table_column columns[GROUP_COLUMNS]);
// care: what people say about the group; NULL: nothing.
void group_cell(const struct event_group *group, enum pivot pivot, enum group_column column,
                const struct group_care *care, struct moments moments, struct canvas *canvas,
                struct area area);
// How people call it: "SocketTimeoutException: connect to <host>:<n> timed out", "order.created", "(none)".
const char *group_title(const struct event_group *group, enum pivot pivot, struct arena *arena);
// Shorter, for the breadcrumb and the words of a dialog.
const char *group_short_title(const struct event_group *group, enum pivot pivot, struct arena *arena);
// "6 groups", of a merged one. One row holds MERGE_MOST at most, and says so where it does: those that differ
// in the same word beside it are rows of their own.
const char *group_parts_text(const struct event_group *group, struct arena *arena);
// What can be copied of a group, the i-th: its menu text and bytes, which live as app_frame; false: no more.
bool group_copy_choice(struct app *app, const struct event_group *group, enum pivot pivot, size_t i,
                       const char **text, struct bytes *value);

// The class without its package: "java.net.SocketTimeoutException" → "SocketTimeoutException".
const char *group_simple_class(const char *error_class);
// "88/m", "1.2k/m": a rate never looks like nothing when there is something.
// 1: twice as many came in the newer half of the last hour as in the older, at least; -1: half as many at
// most; 0: neither, or too few to tell.
int group_trend(const struct event_group *group);
const char *group_rate_text(double per_minute, char out[TEXT_SHORT]);

#define GROUP_SPANS 48
// Where the placeholders of a masked text stand, in ROLE_DIM: "<host>", "<n>".
size_t group_placeholders(struct bytes text, struct canvas_span *spans, size_t room);
// One line of such a text: the placeholders dim, so that the eye reads the words that matter.
void group_draw_masked(struct canvas *canvas, struct area area, struct bytes text, enum role role);

// What a category means for the next step: "transient: passes by itself, send again".
const char *category_advice(enum category category);
enum role category_role(enum category category);

#endif
