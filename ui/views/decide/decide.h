// decide: the one road from a view to a change: selection → operation described → dialog → confirmed → asked
// for.
//
// A view that offers reprocess, discard, resolve or restore embeds a struct decide as the FIRST member of its
// state (the dialog's callbacks get that state), passes its replies through decide_receive before its own,
// and calls decide_ids or decide_list on the action. What is confirmed is the ids that were frozen when the
// dialog opened. The scope rule is decide_scope's: the selected events if there are any, else what the view
// says the cursor is on.
#ifndef REDRIVE_UI_VIEWS_DECIDE_DECIDE_H
#define REDRIVE_UI_VIEWS_DECIDE_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"
#include "ui/app/app.h"
#include "ui/views/decide/risks.h"

struct decide {
    bool is_open; // a dialog, or ids for one, are on the way
    enum operation_action action;
    int64_t *ids; // frozen; ascending
    size_t count, capacity;
    size_t hidden;          // of the ids, how many the view does not show
    struct strbuf what;     // "SocketTimeoutException", "event 912,180", "everything that matches"
    struct strbuf filter;   // as typed, or empty
    char group[GROUP_TEXT]; // "" none
    uint64_t list_number, preview_number, confirm_number, undo_number;
    uint64_t stopped_number;   // a preview that is not waited for any more: how it ends is no news
    struct decide_risks risks; // of a reprocess
    struct dialog *dialog;
    char key[37];
    int64_t *left_out; // of a bulk reprocess: in quarantine, not among ids; ascending
    size_t left_out_count;
    int64_t undoes; // of a restore: the discard that it takes back, or 0
    bool is_named;  // they were chosen one by one, or as such
    struct {
        int64_t no; // what was asked for last, while it can be called back; 0: nothing
        int64_t until;
    } undo;
};

// The actions that begin a decision, for a view's table; and the operation that such an action asks for.
bool decide_begins(enum action action);
enum operation_action decide_operation(enum action action);

struct decide_words {
    const char *what;   // what the events are, in words: "SocketTimeoutException"; NULL: "the selection"
    const char *filter; // filter text in force, or NULL
    const char *group;  // group key where all of them are of one group, or NULL
    size_t hidden;      // how many of them the view does not show
    int64_t undoes;     // the discard that this restore takes back, or 0
};

// Freezes these ids (copied, any order) and opens the dialog. Nothing to act on is said on the message line.
void decide_ids(struct app *app, struct decide *decide, enum operation_action action, const int64_t *ids,
                size_t count, const struct decide_words *words);
// The same for what a list query finds: its ids are asked for first; C-c stops that.
void decide_list(struct app *app, struct decide *decide, enum operation_action action,
                 const struct list_query *query, const struct decide_words *words);
// The program's selection, where it is not empty: opens the dialog for it. shown (may be NULL): the ids that
// the view shows, to tell how many are hidden. false: nothing is selected, the view goes on with its cursor
// row.
bool decide_selection(struct app *app, struct decide *decide, enum operation_action action,
                      const int64_t *shown, size_t shown_count, const struct decide_words *words);

// true: the reply was one of these.
bool decide_receive(struct app *app, struct decide *decide, struct reply *reply);
// u: calls back what was asked for last, while nothing of it was sent, or says once that it is too late.
// true: that was done.
bool decide_undo(struct app *app, struct decide *decide);
// C-c while ids are being collected. true: that was stopped.
bool decide_cancel(struct app *app, struct decide *decide);
void decide_release(struct decide *decide);

#endif
