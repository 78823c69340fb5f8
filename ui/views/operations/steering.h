// steering: the keys that change an operation, the same in the list and in its own view: pause, cancel,
// approve, rate, undo, and the lists of its events.
//
// A view that offers it has a struct steering as the FIRST member of its state: dialogs and prompts give
// their callbacks that state. It begins with a struct decide, so decide.h's rule is kept.
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_STEERING_H
#define REDRIVE_UI_VIEWS_OPERATIONS_STEERING_H

#include <stdbool.h>
#include "core/doubt.h"
#include "core/operation.h"
#include "core/stop.h"
#include "ui/views/decide/decide.h"

struct stop_question {
    struct dialog *dialog; // NULL: closed
    uint64_t number;       // of the request for what is known
    struct stop_seen seen;
    bool is_true;   // the dialog is about the true database, not about a copy
    bool has_asked; // a worker to count what Kafka proves
};

struct rate_change {
    int64_t no; // the operation
    int32_t from, to;
};

struct steering {
    struct decide decide;         // first
    int64_t no;                   // the operation that the open dialog or prompt is about
    struct dialog *cancelling;    // the dialog that asks about cancelling it; NULL: closed
    int64_t asked;                // the number that it wants typed, of those that were left when it opened; 0
    int64_t undone;               // the recipe that is cancelled to be undone, or 0
    struct doubt_verdict verdict; // likewise, of a dialog about what is in doubt (doubt.h)
    struct stop_question stop;    // likewise, of the dialog about a stopped database (stop.h)
    int64_t rated;                // the operation whose new rate has not arrived yet, or 0
    int32_t rate;                 // that rate: the next step begins there
    struct rate_change change;    // that the open dialog or prompt is about
};

// The actions of steering, for a view's table; does one of them to this operation, or says that none is here
// (NULL).
bool steering_handles(enum action action);
void steering_handle(struct app *app, struct steering *steering, const struct operation *operation,
                     enum action action);
// Decisions about events, and why an operation does not take them.
bool steering_refuses(enum action action);
extern const char steering_why_not[];
// CANCEL of a view's table: stops collecting the events of an undo.
bool steering_stop(struct app *app, void *state, enum action action);
// Does it do something now, to this operation (NULL: there is none), by this person? Then it is worth a word
// in the footer.
bool steering_offers(const struct app *app, const struct operation *operation, enum action action);
// What the footer calls the action for it; NULL: by its label.
const char *steering_word(const struct operation *operation, enum action action);
// Opens the list of its events in these states (0: all); `what` names them in the breadcrumb.
void steering_open_events(struct app *app, const struct operation *operation, unsigned item_states,
                          const char *what);
// The same for the events, of any status, that match this filter: it is part of the list.
void steering_open_filter(struct app *app, const struct operation *operation, const char *filter,
                          const char *what);
// The same for its events in one state with one reason; the filter says so too, but for the reason.
void steering_open_reason(struct app *app, const struct operation *operation, enum item_state state,
                          const char *reason, const char *filter, const char *what);
// true: the reply was one of these.
bool steering_receive(struct app *app, struct steering *steering, struct reply *reply);
// A newer state of the operation arrived.
void steering_seen(struct app *app, struct steering *steering, const struct operation *operation);
void steering_release(struct steering *steering);

// The next rate up or down from this one. measured: events per second, where there is no limit yet.
int32_t steering_step_rate(int32_t rate, double measured, bool is_up);

#endif
