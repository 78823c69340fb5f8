// decide: the one road from a view to a change: selection → operation described → dialog → confirmed →
// requested.
//
// A view that offers reprocess, discard, resolve, restore or a recipe embeds a struct decide as the FIRST
// member of its state (the dialog's callbacks get that state), passes its replies through decide_receive
// before its own, and calls decide_ids or decide_list on the action. The ids are frozen when the dialog
// opens, and exactly these are confirmed. The scope: the selected events if any are, else the events under
// the cursor (decide_selection).
#ifndef REDRIVE_UI_VIEWS_DECIDE_DECIDE_H
#define REDRIVE_UI_VIEWS_DECIDE_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"
#include "base/uuid.h"
#include "ui/app/app.h"
#include "ui/views/decide/newer.h"
#include "ui/views/decide/risks.h"

// Of ACTION_CORRECT.
struct decide_correct {
    struct strbuf recipe, would;
    int64_t refused_by_check;
};

struct decide {
    bool is_open; // the dialog, or ids for it, are awaited or shown
    enum operation_action action;
    int64_t *ids; // frozen; ascending
    size_t count, capacity;
    size_t hidden;             // of the ids, how many the view does not show
    bool hides_by_filter;      // because of its filter
    struct strbuf what;        // "SocketTimeoutException", "id 912180"; empty: the selection
    struct strbuf filter;      // as typed, or empty
    char group[GROUP_TEXT];    // "" none
    char of_group[GROUP_TEXT]; // "" none
    struct strbuf advice;      // of the runbook, or empty
    uint64_t list_number, preview_number, confirm_number, undo_number;
    uint64_t stopped_number;   // a preview that was cancelled: its end is ignored
    struct decide_risks risks; // of a reprocess
    struct decide_newer newer; // likewise
    struct dialog *dialog;
    char key[UUID_SIZE];
    size_t left_out_count; // of a bulk reprocess: in quarantine, not among ids
    int64_t undoes;        // the operation that this one undoes, or 0
    bool is_named;         // chosen one by one, or by is:quarantined
    struct decide_correct correct;
    bool is_routed;         // `to` was filled in once, by the setting consumers
    bool is_target_routed;  // and nobody has edited it since
    bool restores_resolved; // of ACTION_RESTORE: resolved events; else discarded ones
};

// The actions that begin a decision, for a view's table; and the operation that such an action asks for.
bool decide_begins(enum action action);
enum operation_action decide_operation(enum action action);

struct decide_words {
    const char *what;         // names the events: "SocketTimeoutException"; NULL: the selection
    const char *filter;       // filter text in force, or NULL
    const char *shown_by;     // the filter under which the events were picked from a list, or NULL
    const char *group;        // the key of the group that all events are of, or NULL
    const char *of_group;     // the key of the group that they are some of, or NULL
    const char *advice;       // what the runbook says of them, or NULL
    size_t hidden;            // how many events the view does not show
    int64_t undoes;           // the discard or resolve that this restore undoes, the recipe that this correct
                              // does, or 0
    bool restores_resolved;   // of ACTION_RESTORE: the events are resolved ones
    const char *recipe;       // of ACTION_CORRECT: its text
    const char *would;        // and what its dry run found on these events, "2,009 would change"
    int64_t refused_by_check; // by it: how many a check refuses
};

// Freezes these ids (copied, any order) and opens the dialog; without any it says so on the message line.
void decide_ids(struct app *app, struct decide *decide, enum operation_action action, const int64_t *ids,
                size_t count, const struct decide_words *words);
// The same for the events of a list query: their ids are requested first; C-c stops that.
void decide_list(struct app *app, struct decide *decide, enum operation_action action,
                 const struct list_query *query, const struct decide_words *words);
// Opens the dialog for the program's selection. shown (may be NULL): the ids that the view shows, to count
// the hidden ones. false: nothing is selected; the view takes its cursor row.
bool decide_selection(struct app *app, struct decide *decide, enum operation_action action,
                      const int64_t *shown, size_t shown_count, const struct decide_words *words);

// true: the reply was to one of these requests.
bool decide_receive(struct app *app, struct decide *decide, struct reply *reply);
// u: undoes what the person did last, whatever it was: a step of the selection, a reprocess of which nothing
// was sent, a discard, resolve or recipe (by a dialog, as it changes events). Says when there is nothing.
void decide_undo(struct app *app, struct decide *decide);
// Undoes this operation of events that were closed or corrected; the dialog asks first.
void decide_undo_operation(struct app *app, struct decide *decide, int64_t no, enum operation_action action);
// C-c while ids are being collected. true: stopped.
bool decide_cancel(struct app *app, struct decide *decide);
void decide_release(struct decide *decide);

#endif
