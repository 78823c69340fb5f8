// recipe_state: what the parts of the view of a recipe share.
#ifndef REDRIVE_UI_VIEWS_RECIPE_STATE_H
#define REDRIVE_UI_VIEWS_RECIPE_STATE_H

#include "ui/views/decide/decide.h"
#include "ui/views/recipe/recipe.h"
#include "ui/widgets/pager.h"

// The events: frozen once they are known.
struct recipe_events {
    int64_t *ids; // ascending, each once
    size_t count, capacity;
    bool are_known;
    uint64_t list_number; // they are being collected
    struct strbuf what, filter;
    char group[GROUP_TEXT];
    size_t hidden;
};

enum recipe_run {
    RUN_NONE,
    RUN_ON,
    RUN_OVER,
    RUN_STOPPED,
    RUN_APPLIED, // an operation has the recipe: what a dry run found before is not shown any more
};

// The operation that applies the recipe.
struct recipe_applied {
    int64_t no;
    struct strbuf end; // how it ended, as the message line says it; empty: it is not known to have ended
};

struct recipe_view {
    struct decide decide; // first: see decide.h
    struct recipe_events events;
    struct strbuf text; // the recipe
    struct strbuf name; // under which it is saved, or its file; empty: neither
    bool is_typed;      // some of it by hand, and neither kept nor applied since
    bool opens_another; // once it was asked about
    size_t operations;
    struct err mistake; // in the text
    enum recipe_run run;
    struct recipe_applied applied; // of RUN_APPLIED
    uint64_t try_number;
    struct recipe_trial trial; // of the newest answer; ids of classes are owned
    struct arena arena;        // its texts
    struct err err;            // why the run failed
    size_t sample;
    struct pager *pager;
    struct {
        uint64_t list_number, file_number, save_number;
        struct arena arena;
        struct saved_recipe *list;
        size_t count;
        bool asks;    // a menu of them is wanted
        bool forgets; // the reason that is asked for is that of forgetting one
    } saved;
    size_t line;               // of the text, from 0, that the prompt edits; beyond the last: a new one
    struct strbuf wanted_name; // while a reason is asked for
};

// recipe.c
void recipe_take_text(struct app *app, struct recipe_view *view, struct bytes text, const char *name);
void recipe_build(struct recipe_view *view); // the pager anew

// sample.c: the lines of a sample: what its payload is before and after, as a unified diff.
void sample_lines(struct pager *pager, const struct recipe_sample *sample);

// edit.c: the text of the recipe, line by line; saved recipes and files
bool recipe_ask_line(struct app *app, void *state, enum action action);
bool recipe_ask_name(struct app *app, void *state, enum action action);
bool recipe_ask_saved(struct app *app, void *state, enum action action);
bool recipe_leave(struct app *app, void *state, enum action action); // asks about what was typed
const char *recipe_unsaved(const struct app *app, const void *state);
bool recipe_saved_receive(struct app *app, struct recipe_view *view, struct reply *reply);
void recipe_saved_ask_list(struct app *app, struct recipe_view *view);

// draw.c
void recipe_draw(const struct app *app, const void *state, struct canvas *canvas,
                 const struct view_areas *areas);
// The part of the body below the counts.
struct area recipe_pager_area(const struct app *app, const struct recipe_view *view, struct area body);

#endif
