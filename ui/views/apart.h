// apart: the view of what sets some events apart from others.
#ifndef REDRIVE_UI_VIEWS_APART_H
#define REDRIVE_UI_VIEWS_APART_H

#include "async/message.h"

struct app;

// argument of view_apart.open: const struct apart_argument *. Everything is copied. The events of the list
// are collected first, unless it is LIST_IDS without a filter.
struct apart_argument {
    const struct list_query *list;
    const char *what;   // the events are called: "SocketTimeoutException"
    const char *filter; // that defines them; NULL: none. What it asks about is no answer
};

// Opens the view on the program's selection. false: nothing is selected.
bool apart_open_selection(struct app *app);

#endif
