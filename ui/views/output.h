// output: events that leave the screen: into a file (:export), or to a shell command whose words are shown
// here.
//
// The events are those of the view (view.h, events): in lists the selected ones if any are, else all of a
// list of events, and those of the cursor row of groups. The page of an event gives that event.
#ifndef REDRIVE_UI_VIEWS_OUTPUT_H
#define REDRIVE_UI_VIEWS_OUTPUT_H

#include "async/message.h"
#include "ui/keymap/action.h"

struct app;

// argument of view_output.open: const struct output_argument *. Everything is copied. The events of the list
// are collected first, unless it is LIST_IDS without a filter.
struct output_argument {
    const struct list_query *list;
    const char *what; // the events are called: "SocketTimeoutException"
    struct export_asked asked;
};

// For a view's `events`: the program's selection, borrowed. false: nothing is selected.
bool output_selection(struct app *app, struct list_query *query, const char **what);
// For a view's table: asks for the command, and opens the view.
bool output_ask_command(struct app *app, void *state, enum action action);
// Into the file of this name.
bool output_export(struct app *app, struct bytes file, bool replaces, struct err *err) MUST_CHECK;

#endif
