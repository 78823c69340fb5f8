// group_rows: the groups of the newest answer, in an order that does not change by itself.
//
// Numbers change in place. The order is frozen by the first whole answer or by the first key, until the
// person asks for another; until then it follows the answers. A group that is gone stays as an empty row;
// those that appeared are only counted, until group_rows_order. Where there are more groups than an answer
// carries, one that is missing may have events: then rows are ordered anew. Where near-equal groups are
// merged, the single ones are rows below theirs when that one is unfolded.
#ifndef REDRIVE_UI_VIEWS_GROUPS_ROWS_H
#define REDRIVE_UI_VIEWS_GROUPS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include "async/message.h"
#include "base/intern.h"
#include "ui/views/groups/picks.h"
#include "ui/views/groups/row.h"
#include "ui/views/row_filter.h"

// Zero-initialise.
struct group_rows {
    enum group_order order;
    bool is_reversed;
    // Groups that may wait come last in every order. NULL: none may.
    bool (*waits)(const void *context, const struct event_group *group);
    const void *context;
    bool is_frozen;
    struct arena arena;       // of the newest answer
    struct group_list latest; // it
    struct group_list parts;  // of it: single groups of those that are merged
    struct keys unfolded;     // keys of merged groups
    struct arena kept;        // texts of rows that are gone from it
    struct event_group *rows; // in order, with the newest numbers
    size_t count;
    size_t *shown; // indexes of rows
    size_t shown_count, shown_capacity;
    size_t arrived; // groups of the newest answer that are no row yet
};

// The next answer is about other events: its rows are ordered anew.
void group_rows_renew(struct group_rows *rows);
// Takes an answer over. true: the rows were ordered anew.
bool group_rows_take(struct group_rows *rows, struct reply *reply);
// Rows anew from the newest answer, in the order that is set.
void group_rows_order(struct group_rows *rows);
// Numbers have changed so that another order is the true one.
bool group_rows_are_out_of_order(const struct group_rows *rows);
// Which rows are shown: all, or those that are picked where picks is given. After rows or picks changed.
void group_rows_show(struct group_rows *rows, const struct group_picks *picks);
// Unfolds a merged group or folds it again. Of a single one: the merged one it is shown below. false:
// neither.
bool group_rows_fold(struct group_rows *rows, size_t shown);
// Is this row shown below that of a merged group?
bool group_rows_is_part(const struct group_rows *rows, const struct event_group *group);
const struct event_group *group_rows_at(const struct group_rows *rows, size_t shown);
size_t group_rows_single(const struct group_rows *rows); // groups that there are, merged ones one by one
bool group_rows_are_cut(const struct group_rows *rows);  // there are more groups than the newest answer has
// How many events and single groups the rows that are shown stand for.
int64_t group_rows_shown(const struct group_rows *rows, size_t *groups);
int64_t group_rows_largest(const struct group_rows *rows);     // count of the largest
bool group_rows_are_overridden(const struct group_rows *rows); // one of them at least
void group_rows_forget(struct group_rows *rows);               // all but the order
void group_rows_release(struct group_rows *rows);

#endif
