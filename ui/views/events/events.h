// events: what the list of events is opened with.
#ifndef REDRIVE_UI_VIEWS_EVENTS_EVENTS_H
#define REDRIVE_UI_VIEWS_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "async/message.h"
#include "core/filter/filter.h"

struct app;

// argument of view_events.open; NULL: all pending events. Copied.
struct events_argument {
    struct list_query query; // its filter may be set; borrowed
    const char *title; // breadcrumb: "SocketTimeoutException", "refused of operation 41"; NULL: by the query
    const char *fixed; // filter that is part of the list: what is typed narrows it further; NULL: none
    const char *type;  // all of them are known to be of this event type; NULL: of several
};

// argument of view_event.open: const struct event_argument *.
struct event_argument {
    int64_t id;
    const char *filter; // what it found is marked; borrowed, NULL: none
};
// For n and N of the event view: the id before or after `id` in the list below, moving its cursor there;
// false: none.
bool events_step(struct app *app, void *events_state, int64_t id, bool forward, int64_t *next);

#endif
