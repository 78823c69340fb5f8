// event_row: one event as a row of a list: columns, marks, preview; and the cache of rows that a window
// shows.
#ifndef REDRIVE_UI_VIEWS_EVENTS_ROW_H
#define REDRIVE_UI_VIEWS_EVENTS_ROW_H

#include "base/arena.h"
#include "core/event.h"
#include "core/filter/filter.h"
#include "ui/app/app.h"
#include "ui/widgets/table.h"

enum event_column {
    COLUMN_ID,
    COLUMN_MARKS,
    COLUMN_WHEN,
    COLUMN_TYPE,
    COLUMN_KEY,
    COLUMN_TRY,
    COLUMN_STATUS,
    COLUMN_PATH, // at_path; without width where no path is asked for
    COLUMN_ERROR,
    EVENT_COLUMNS
};
extern const struct table_column event_columns[EVENT_COLUMNS];

// Rows that were fetched, by id.
struct row_cache {
    struct arena arena;
    struct event *rows; // ascending by id
    size_t count;
    size_t shared;             // bytes of the first headline that all begin with, see row_cache_shared
    char heading[160];         // of their errors: "error", or "error: SocketTimeoutException: connect to …"
    int widest[EVENT_COLUMNS]; // cells of what was fetched so far, of the columns that grow; 0: nothing yet
};
// Takes the rows over from a REPLY_ROWS.
void row_cache_take(struct row_cache *cache, struct reply *reply);
// What all messages begin with, which the heading says, so that no row needs to: their class, and the words
// behind it where that is a good part of a row. Empty: nothing.
struct bytes row_cache_shared(const struct row_cache *cache);
const struct event *row_cache_find(const struct row_cache *cache, int64_t id); // NULL: not fetched, or gone
void row_cache_release(struct row_cache *cache);

// The first line of the error, without the package of its class.
struct bytes event_headline(const struct event *event);
// How the rows of a list show their events.
struct event_look {
    struct moments moments;
    struct filter *filter; // its matches are highlighted; NULL: none
    struct bytes shared;   // left out where a headline begins with it; empty: nothing
};
void event_cell(const struct event *event, enum event_column column, const struct event_look *look,
                struct canvas *canvas, struct area area);
// How many bytes of a message are the package of the class that it begins with: "java.net." of
// "java.net.SocketTimeoutException: connect"; 0: it does not.
size_t event_package_len(struct bytes message);
// The class that a message without its package begins with: "TypeError" of "TypeError: x"; empty: none.
struct bytes event_class_of(struct bytes headline);
// What the preview under or beside a list shows of an event.
void event_preview(const struct event *event, struct filter *filter, struct canvas *canvas, struct area area);

// A term that narrows to the event's value in a column, the i-th: "type:=order.created" with its menu text;
// false: no more. Columns that are absent in the event are left out.
bool event_narrow_term(const struct event *event, size_t i, struct arena *arena, const char **text,
                       const char **term);
// The term that narrows to a value of a field ("type", "category"); NULL: to those that have none. In the
// arena.
const char *event_facet_term(const char *field, const char *value, struct arena *arena);
// What can be copied of an event, the i-th: its menu text and bytes, which live as app_frame; false: no more.
bool event_copy_choice(struct app *app, const struct event *event, size_t i, const char **text,
                       struct bytes *value);

#endif
