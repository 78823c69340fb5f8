// events_state: what the parts of the list of events share.
#ifndef REDRIVE_UI_VIEWS_EVENTS_STATE_H
#define REDRIVE_UI_VIEWS_EVENTS_STATE_H

#include "core/filter/filter.h"
#include "core/selection.h"
#include "ui/views/decide/decide.h"
#include "ui/views/events/row.h"
#include "ui/views/events/events.h"
#include "ui/views/filter_line.h"
#include "ui/views/follow.h"
#include "ui/widgets/preview.h"

// Ids that a filter or a group adds to the selection or takes from it, or the matches of the last filter.
struct events_collecting {
    uint64_t number;
    enum action purpose;    // DO_SELECT_PATTERN, DO_UNSELECT_PATTERN, DO_SELECT_GROUP, DO_SELECT_INVERT or
                            // DO_NEXT_MATCH
    struct selection among; // rows of the list that are matched once more; none: whatever is found
    enum action then;       // was asked for meanwhile and needs the selection, or DO_NONE
    int64_t *ids;
    size_t count, capacity;
};

// For n and N: the filter before the list was whole again, and the events that match it.
struct events_matches {
    struct strbuf filter;
    int64_t *ids; // ascending
    size_t count;
    bool are_known, is_forward;
};

struct events_facets {
    uint64_t number;
    char **terms; // heap, one for each item of the menu
    size_t count;
};

// How far the list is read.
struct events_progress {
    bool is_by_id; // although the order by time was requested
    bool is_complete;
    bool was_stopped;
    bool is_begun;      // the list on the screen is the one that was requested last
    bool goes_to_first; // the cursor, once the list that was asked for comes
    bool has_beginning; // of that list some events are shown, and the cursor may move there
    size_t arrived;
    char trouble[200]; // why it could not be read to its end, or ""
    int64_t scanned, undecided;
    int64_t total;       // without the filter; below 0: nobody counted them
    bool is_unconfirmed; // async/message.h, list_reply
};

// The filter line.
struct events_prompt {
    struct filter_values values;
    struct strbuf before; // the filter in force when it was opened
    bool is_typing;       // it is open
    bool has_anchor;      // while it is open the cursor stays at this event:
    int64_t anchor;
};

// The rows that were requested last.
struct events_window {
    uint64_t rows_number; // of the request
    int64_t rows_at;      // clock_mono of it
    size_t rows_from, rows_to;
    bool are_rows_old;
};

struct events_preview {
    struct preview_pane preview;
    int64_t previewed; // id of the event in it
    uint64_t why_number;
};

struct events {
    struct decide decide;    // first: see decide.h
    char *title;             // NULL: by the query
    char *fixed;             // filter that is part of the list, or NULL
    struct list_query query; // its filter is `filter`
    struct strbuf filter;    // in force
    char *given;             // the filter that it was opened with, a part of the view; NULL: none
    struct events_prompt prompt;
    struct filter *parsed; // of `filter`, for highlighting
    struct table table;
    struct follow follow;
    struct table_column columns[EVENT_COLUMNS];
    char *type; // of all events seen so far: shown once, in line 2, without its column; NULL: several
    char *path; // of the payload, or a name of event_letter_column, shown as a column; NULL: none
    struct row_cache rows;
    struct events_window window;
    struct events_preview shown;
    bool is_selected_only;

    int64_t *ids;
    size_t count, capacity;
    uint64_t list_number;
    struct events_collecting collecting;
    struct events_matches matches;
    struct events_facets facets;
    struct events_progress progress;
};

// The functions that take an action are rows of the table in events.c.

// events.c
const struct event *events_cursor(const struct events *events); // NULL: not fetched yet
void events_send(struct app *app, struct events *events);       // requests the list
// Of a list of pending events: those that were closed since it was read, as far as they were read again.
int64_t events_closed_since(const struct events *events);

// filter.c
// What the list is asked for: its own filter and what was typed; on the heap, NULL: nothing.
char *events_whole_filter(const struct events *events);
// What is marked in the list: the filter in force, else the one before, for n and N. "" none.
const struct strbuf *events_marked(const struct events *events);
void events_parse(const struct app *app, struct events *events); // that, for highlighting
// Lists the events that match this text. Where it is wrong, the last good result stays and err names the
// place.
bool events_filter(struct app *app, struct events *events, struct bytes text, struct err *err) MUST_CHECK;
bool events_ask_filter(struct app *app, void *state, enum action action);
const char *events_filter_here(const void *state); // as of struct view, like the next
void events_take_filter(struct app *app, void *state, struct bytes text);
bool events_ask_narrow(struct app *app, void *state, enum action action);
const char *events_filter_candidate(struct app *app, void *state, struct bytes text, size_t i);

// events.c
bool events_decide(struct app *app, void *state, enum action begun_by);
bool events_recipe(struct app *app, void *state, enum action action);

// select.c: the actions that select, and undo
bool events_selects(enum action action);
bool events_select(struct app *app, void *state, enum action action);
void events_collected(struct app *app, struct events *events, const struct reply *reply);
// Must an action wait for its events? Then it begins when they are collected.
bool events_put_off(struct app *app, struct events *events, enum action action);

void events_collect_matches(struct app *app, struct events *events); // of the last filter

// saved.c
bool events_ask_saved(struct app *app, void *state, enum action action);
bool events_ask_facets(struct app *app, void *state, enum action action);
void events_take_facets(struct app *app, struct events *events, const struct reply *reply);
bool events_step_match(struct app *app, void *state, enum action action);
void events_go_to_match(struct app *app, struct events *events);
void events_take_matches(struct app *app, struct events *events); // from `collecting`
void events_saved_release(struct events *events);

// menus.c
bool events_ask_copy(struct app *app, void *state, enum action action);
bool events_ask_status(struct app *app, void *state, enum action action);
bool events_ask_column(struct app *app, void *state, enum action action);
bool events_ask_order(struct app *app, void *state, enum action action);
void events_order_by(struct app *app, struct events *events, enum event_column column); // again: turned round
void events_mark_order(struct events *events);                                          // in its columns
const char *events_order_words(const struct events *events, struct arena *arena);
const char *events_status_name(const struct events *events); // NULL: the pending ones

// draw.c
// What the table's callbacks need; only drawing needs the app.
struct events_drawing {
    const struct events *events;
    const struct app *app;
};
struct table_model events_model(const struct events_drawing *drawing);
const char *events_title(const struct events *events, struct arena *arena);
// The list's part of the body is left in it, the preview's is returned: without rows where there is no room.
struct area events_split(const struct events *events, struct area *body);
void events_draw_preview(const void *events, struct canvas *canvas, struct area area); // of the cursor row
void events_draw(const struct app *app, const void *state, struct canvas *canvas,
                 const struct view_areas *areas);

#endif
