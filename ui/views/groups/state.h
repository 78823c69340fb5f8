// groups_state: the state of the list of groups, for the files of this folder only.
#ifndef REDRIVE_UI_VIEWS_GROUPS_STATE_H
#define REDRIVE_UI_VIEWS_GROUPS_STATE_H

#include "ui/views/decide/decide.h"
#include "ui/views/filter_line.h"
#include "ui/views/follow.h"
#include "ui/views/groups/recent.h"
#include "ui/views/groups/rows.h"
#include "ui/widgets/preview.h"
#include "ui/widgets/table.h"

// A category that is being set by hand, or cleared.
struct category_choice {
    uint64_t *keys; // of the groups; heap
    size_t count;
    char *what;      // they are called; heap
    bool is_cleared; // else set to:
    enum category category;
    uint64_t number;
    size_t left; // answers that are still to come
};

// What is said about a group in a dialog.
struct group_saying {
    uint64_t group;
    int64_t events;
    enum care_verb verb;
    bool is_end;     // of a snooze
    uint64_t number; // of the request; 0: none is on its way
};

// filter.c
struct groups_filter {
    char *given;                   // a term that is part of the view; NULL: none
    struct strbuf whole;           // that and the text: what events have to match
    struct strbuf text;            // in force
    struct strbuf before;          // in force when the prompt was opened
    bool is_awaited;               // no answer to it came yet: the rows are of the one before
    struct groups_matched matched; // of the newest answer
    struct filter_values values;
    bool is_typing;  // the prompt is open
    bool has_anchor; // while the prompt is open the cursor stays at this group:
    uint64_t anchor; // its key
};

// What the preview shows: behind the cursor's group while a key is held down.
struct groups_shown {
    uint64_t previewed; // its key
    struct group_recent recent;
    uint64_t why_number;
};

// A decision that was requested while the selection was still being collected.
struct groups_awaited {
    bool is_asked;
    enum operation_action asked;
};

struct groups {
    struct decide decide; // first: see decide.h
    enum pivot pivot;
    char *path; // of PIVOT_PATH
    bool has_within;
    uint64_t within;
    char *title; // of that group
    struct preview_pane preview;
    struct groups_shown shown;
    bool is_selected_only;
    bool is_merged; // near-equal groups are one row
    bool has_heat;  // a cell an hour of the last 24 in place of the last hour
    struct groups_filter filter;
    struct group_picks picks;
    struct groups_awaited awaited;
    struct table table;
    struct follow follow;
    bool is_out_of_order; // numbers have changed so that the rows would stand in another order
    struct table_column columns[GROUP_COLUMNS];

    uint64_t number;
    bool has_answer, is_counting;
    struct err err; // why there is no answer
    struct group_rows rows;
    size_t selected; // size of the selection when picks were checked last
    struct category_choice category;
    struct group_saying saying;
};

// What the table's callbacks need.
struct groups_drawing {
    const struct groups *groups;
    const struct people *people;
    struct moments moments;
    int64_t largest; // count of the largest group
};
struct table_model groups_model(const struct groups_drawing *drawing);
// NULL: the list is empty.
const struct event_group *groups_cursor(const struct groups *groups);

void groups_order_rows(struct groups *groups);
// After another order was set: of more groups than an answer carries, those that come first in it are asked
// for.
void groups_reorder(struct app *app, struct groups *groups);
void groups_show_rows(void *groups); // after rows, filter or picks changed
void groups_ask(struct app *app, struct groups *groups);
// path: of PIVOT_PATH; copied.
void groups_set_pivot(struct app *app, struct groups *groups, enum pivot pivot, const char *path);

// care.c: what people say about a group. NULL: nothing, or it is no single group by error.
const struct group_care *groups_care(const struct groups *groups, const struct people *people,
                                     const struct event_group *group);
// What the runbook says of it; NULL: nothing, or it is no group by error (group may be NULL).
const struct advice *groups_advice(const struct app *app, const struct groups *groups,
                                   const struct event_group *group);
bool groups_waits(const void *app, const struct event_group *group);
bool groups_ask_take(struct app *app, void *state, enum action action);
bool groups_ask_snooze(struct app *app, void *state, enum action action);
bool groups_care_receive(struct app *app, struct groups *groups, const struct reply *reply);

// filter.c
// Counts the events that match this text. Where it is wrong, the last good one stays and err names the place.
bool groups_filter(struct app *app, struct groups *groups, struct bytes text, struct err *err) MUST_CHECK;
const char *groups_filter_text(const struct groups *groups); // with the given term; NULL: none
void groups_filter_give(struct app *app, struct groups *groups, const char *term); // at the beginning
bool groups_ask_filter(struct app *app, void *state, enum action action);
const char *groups_filter_candidate(struct app *app, void *state, struct bytes text, size_t i);
const char *groups_filter_here(const void *state); // as of struct view, like the next
void groups_take_filter(struct app *app, void *state, struct bytes text);
void groups_filter_release(struct groups *groups);

// menus.c; rows of the table in groups.c
bool groups_ask_order(struct app *app, void *state, enum action action);
bool groups_ask_pivot(struct app *app, void *state, enum action action);
bool groups_ask_links(struct app *app, void *state, enum action action);
bool groups_ask_copy(struct app *app, void *state, enum action action);
bool groups_ask_narrow(struct app *app, void *state, enum action action);

// category.c: the category of a group, set by hand.
bool groups_ask_category(struct app *app, void *state, enum action action);
bool groups_category_receive(struct app *app, struct groups *groups, const struct reply *reply);

void groups_layout(struct app *app, void *state, const struct view_areas *areas);
void groups_draw(const struct app *app, const void *state, struct canvas *canvas,
                 const struct view_areas *areas);

#endif
