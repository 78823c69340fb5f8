// panel: one picture of the monitor. A panel is one file and one row of panels.def; the layout, the cursor,
// help and tests know it from there.
//
// A panel answers with rows: bars of a list, hours, columns of a chart. The cursor is on one of them, and
// Enter opens exactly the events behind it.
#ifndef REDRIVE_UI_VIEWS_MONITOR_PANEL_H
#define REDRIVE_UI_VIEWS_MONITOR_PANEL_H

#include "ui/app/app.h"

// What panels are drawn from, as it was told last.
struct monitor_facts {
    bool has_monitor;
    struct monitor monitor; // trend.span: as it was asked for
    struct arena arena;     // of it
    bool has_stats;         // counted from the whole table:
    struct stats stats;
    struct arena stats_arena;
    struct err stats_err; // why they are not there
    int chart_cols;       // room of a wide panel, as of the last layout
};

struct panel_row {
    const char *name;    // untrusted; NULL: none, drawn as a dash
    const char *figures; // "2,114  61%"
    int64_t count;       // how long its bar is, beside the longest; below 0: not known
    enum role role;      // of the bar; 0: ROLE_GRAPH
    int64_t key;         // the cursor stays with it: where it is about time, the instant at which it begins
};

struct panel_rows {
    struct panel_row *list; // as app_frame
    size_t count;
    int64_t whole;       // the count of a bar that fills its room; 0: the greatest of them
    const char *summary; // beside the title; NULL: none
    const char *empty;   // the sentence in place of rows; NULL: none is needed
};

#define NO_CURSOR SIZE_MAX

struct panel {
    const char *name;
    bool is_wide; // over all columns of the monitor, above the others
    bool
        is_time; // rows are about time, oldest first: there need not be a cursor, and it keeps to its instant
    int least, most; // rows of the screen, the title with them
    size_t step;     // of `down` and `up` through the rows; 0: these leave the panel
    void (*rows)(const struct app *app, const struct monitor_facts *facts, struct panel_rows *rows);
    // What the title says with the cursor on a row, or NO_CURSOR. NULL: rows.summary.
    const char *(*summary)(const struct app *app, const struct monitor_facts *facts,
                           const struct panel_rows *rows, size_t cursor);
    // Below the title. NULL: a bar a row.
    void (*draw)(const struct app *app, const struct monitor_facts *facts, const struct panel_rows *rows,
                 size_t cursor, struct canvas *canvas, struct area area);
    // Opens what is behind a row.
    void (*open)(struct app *app, const struct monitor_facts *facts, const struct panel_row *row);
};

#define PANEL(name) extern const struct panel panel_##name;
#include "ui/views/monitor/panels.def"
#undef PANEL

extern const struct panel *const monitor_panels[];
extern const int monitor_panel_count;

// Title and body in the area. The cursor is drawn where the panel is in focus.
void panel_draw(const struct app *app, const struct panel *panel, const struct monitor_facts *facts,
                bool is_focus, size_t cursor, struct canvas *canvas, struct area area);

// Rows of this many members, all 0, for `rows`.
void panel_rows_begin(const struct app *app, struct panel_rows *rows, size_t most);
// Adds one with its count and its share of `whole`.
struct panel_row *panel_rows_add(const struct app *app, struct panel_rows *rows, const char *name,
                                 int64_t count, int64_t whole);
// "61%", "<1%"
const char *panel_share(const struct app *app, int64_t count, int64_t whole);
const char *panel_count(const struct app *app, int64_t count);
// How long the points of the trend are together, in words: "last 6 h".
const char *panel_span(const struct app *app, const struct monitor_facts *facts);

// Opens the events of a filter, of all statuses or pending ones alone.
void panel_open_events(struct app *app, const char *filter, bool is_pending);
// The filter for events created in [from, to), both at whole minutes; from INT64_MIN, to INT64_MAX: open.
const char *panel_created(struct app *app, int64_t from, int64_t to);

#endif
