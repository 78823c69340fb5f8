// events_state: what the parts of the list of events share.
#ifndef REDRIVE_UI_VIEWS_EVENTS_STATE_H
#define REDRIVE_UI_VIEWS_EVENTS_STATE_H

#include "core/filter.h"
#include "ui/views/decide.h"
#include "ui/views/event_row.h"
#include "ui/views/events.h"

struct events {
    struct decide decide;    // first: see decide.h
    char *title;             // NULL: by the query
    struct list_query query; // its filter is `filter`
    struct strbuf filter;    // in force
    struct strbuf before;    // in force when the prompt was opened
    struct filter *parsed;   // of `filter`, for highlighting
    struct table table;
    struct row_cache rows;
    bool has_preview;
    bool is_selected_only;

    int64_t *ids;
    size_t count, capacity;
    uint64_t list_number, rows_number, collect_number, why_number;
    enum action collect_for; // DO_SELECT_PATTERN, DO_UNSELECT_PATTERN or DO_SELECT_GROUP
    int64_t *collected;
    size_t collected_count, collected_capacity;
    bool is_complete;
    bool was_stopped;
    int64_t scanned, total, undecided;
    size_t arrived;
    size_t rows_from, rows_to; // window that was asked for last
    int64_t rows_at;           // clock_mono of that
    bool are_rows_old;
};

// events.c
int64_t events_id(const void *rows, size_t index);
struct table_model events_model(const struct events *events);
const struct event *events_cursor(const struct events *events); // NULL: not fetched yet
void events_send(struct app *app, struct events *events);       // asks for the list anew

// events_filter.c
struct filter_context events_filter_context(const struct app *app);
void events_parse(const struct app *app, struct events *events); // the filter in force, for highlighting
// Lists what matches this text, if it can be read; otherwise the last good result stays and err says where it
// is wrong.
bool events_filter(struct app *app, struct events *events, struct bytes text, struct err *err) MUST_CHECK;
void events_ask_filter(struct app *app, struct events *events);
void events_ask_narrow(struct app *app, const struct events *events);
const char *events_filter_candidate(struct app *app, void *state, struct bytes text, size_t i);

// events_select.c
bool events_select(struct app *app, struct events *events, enum action action); // false: not one that selects
void events_collected(struct app *app, struct events *events, const struct reply *reply);

// events_menus.c
void events_ask_copy(struct app *app, const struct events *events);
void events_ask_status(struct app *app, const struct events *events);
void events_ask_order(struct app *app, const struct events *events);
const char *events_status_name(const struct events *events); // NULL: the pending ones

// events_draw.c
const char *events_title(const struct events *events, struct arena *arena);
// The list's part of the body is left in it, the preview's is returned: without rows where there is no room.
struct area events_split(const struct events *events, struct area *body, bool *is_beside);
void events_draw(const struct app *app, const void *state, struct canvas *canvas,
                 const struct view_areas *areas);

#endif
