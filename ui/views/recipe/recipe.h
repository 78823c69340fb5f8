// recipe: the view of a recipe: a dry run over a frozen set of events while it runs, what it would change,
// and the way to apply it.
#ifndef REDRIVE_UI_VIEWS_RECIPE_RECIPE_H
#define REDRIVE_UI_VIEWS_RECIPE_RECIPE_H

#include "async/message.h"
#include "ui/app/app.h"
#include "ui/views/decide/decide.h"

// argument of view_recipe.open: const struct recipe_argument *. Everything is copied. The events are `ids`
// (any order, doubles allowed), or with `list` the events of that list, which are collected first.
struct recipe_argument {
    const char *text; // of the recipe; NULL: a saved one or a file is asked for
    const char *name; // under which it is saved, or its file; NULL: neither
    const int64_t *ids;
    size_t count;
    const struct list_query *list;    // NULL: ids
    const struct decide_words *words; // what, filter, group and hidden of the events; NULL: none
};

// Opens the view on the program's selection. `shown` (may be NULL): the ids that the view below shows, to
// count the hidden ones. false: nothing is selected.
bool recipe_open_selection(struct app *app, const char *text, const int64_t *shown, size_t shown_count);

#endif
