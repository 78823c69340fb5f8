// copy_menu: the menu of what can be copied of a row or an event.
#ifndef REDRIVE_UI_VIEWS_COPY_MENU_H
#define REDRIVE_UI_VIEWS_COPY_MENU_H

#include "ui/app/app.h"

// The i-th thing that can be copied of what the view's cursor is on: its menu text and bytes, both in the
// frame's arena or longer; false: no more.
typedef bool copy_choice_fn(struct app *app, const void *state, size_t i, const char **text,
                            struct bytes *value);

// Opens the menu where there is something to copy; chosen hands its index to copy_menu_take.
void copy_menu_ask(struct app *app, const void *state, copy_choice_fn *choice,
                   void (*chosen)(struct app *app, void *state, size_t index));
void copy_menu_take(struct app *app, const void *state, copy_choice_fn *choice, size_t index);

#endif
