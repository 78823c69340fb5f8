// group_picks: the groups that were selected as a whole, and the collecting of their ids for that.
//
// The program's selection is a set of event ids; which groups are wholly in it is remembered here, so that
// the list of groups can mark them. Ids are collected group by group; the selection changes once, at the end
// (one step to undo), and not at all when the collecting is stopped.
#ifndef REDRIVE_UI_VIEWS_GROUPS_PICKS_H
#define REDRIVE_UI_VIEWS_GROUPS_PICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "async/message.h"

struct app;

enum pick_verb { PICK_ADD, PICK_REMOVE, PICK_INVERT };

struct group_pick {
    uint64_t key;
    bool has_key;            // false: not of one group (a filter's ids)
    bool is_queued;          // not yet applied to the selection
    bool is_done;            // its ids are here
    bool is_whole;           // all of them are selected
    struct list_query query; // until it is asked; owned
    int64_t *ids;
    size_t count, capacity;
};

// Zero-initialise.
struct group_picks {
    struct group_pick *picks;
    size_t count, capacity;
    enum pick_verb verb; // of those not done
    uint64_t number;     // the request that is being answered, or 0
};

// Queues the events of a query (copied); key: the group they are, NULL: none. All that is queued together has
// one verb.
void group_picks_want(struct group_picks *picks, enum pick_verb verb, const uint64_t *key,
                      const struct list_query *query);
void group_picks_start(struct app *app, struct group_picks *picks);
bool group_picks_is_busy(const struct group_picks *picks);
// C-c. true: there was something to stop.
bool group_picks_cancel(struct app *app, struct group_picks *picks);
// true: the reply was one of these.
bool group_picks_receive(struct app *app, struct group_picks *picks, const struct reply *reply);

// After anything else may have changed the selection.
void group_picks_check(struct app *app, struct group_picks *picks);
// Are all events selected that the group had when it was picked?
bool group_picks_has(const struct group_picks *picks, uint64_t key);
// Forgets the picks; the selection stays as it is.
void group_picks_release(struct group_picks *picks);

#endif
