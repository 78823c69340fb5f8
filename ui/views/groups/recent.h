// group_recent: what happened in the previewed group last: its newest events, and the last decision about it.
#ifndef REDRIVE_UI_VIEWS_GROUPS_RECENT_H
#define REDRIVE_UI_VIEWS_GROUPS_RECENT_H

#include "async/message.h"
#include "ui/app/app.h"

// Zero-initialise. What is there is of the group `key`.
struct group_recent {
    uint64_t number; // of the request
    uint64_t key;
    int64_t count, last_at; // of the group when it was asked about
    bool is_there;
    bool is_filtered; // then no events are told
    int64_t asked_at; // clock_mono
    int64_t rests_at; // until then the cursor may only pass over the group; 0: it was asked about
    int tries;        // of those in which not all newest events were known yet
    struct arena arena;
    struct recent_reply told;
};

// Asks about this group, where it is another one or has changed since. query: its events.
void group_recent_want(struct app *app, struct group_recent *recent, const struct event_group *group,
                       const struct list_query *query);
// clock_mono of the next attempt, where not all newest events could be told yet; negative: none is due. Then
// forget what was asked, and want it.
int64_t group_recent_due(const struct group_recent *recent);
bool group_recent_receive(struct group_recent *recent, struct reply *reply);
void group_recent_forget(struct group_recent *recent); // asks again next time
void group_recent_release(struct group_recent *recent);
// What was told of that group; NULL: nothing yet.
const struct recent_reply *group_recent_of(const struct group_recent *recent,
                                           const struct event_group *group);

#endif
