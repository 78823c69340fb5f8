// table: the one list of rows. Keeps a cursor bound to the identity of its row, scroll positions and a visual
// range; the rows stay with their owner, who answers for any of them by index (a model), so that a list may
// have a million.
//
// A list that does not fit draws a mark at its right edge: where in the whole the rows on the screen are.
//
// Nothing moves under the cursor: after rows changed, table_sync finds the cursor's row by its id; if it is
// gone, the cursor takes the row that stands where it was. The row keeps its line on the screen.
#ifndef REDRIVE_UI_TABLE_H
#define REDRIVE_UI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ui/keymap/action.h"
#include "ui/canvas/canvas.h"

// A column. Narrow terminals lose columns from the highest priority number up; priority 0 never leaves. A
// column grows from `width` to `widest` (0: no growth) as there is room; TABLE_REST takes what is left, and
// up to `wish` before others grow. A column whose turn it is also leaves where that one would get less than
// `yields_below`.
#define TABLE_REST 10000
struct table_column {
    const char *title;
    int width;
    int widest;
    int wish;
    int priority;
    int yields_below;
    bool at_right; // title flush right; the cell function aligns its own content
    bool is_order; // the list is ordered by it: the heading says so
    bool is_descending;
};

struct table_model {
    size_t count;
    int64_t (*id)(const void *rows, size_t index);       // distinct, never INT64_MIN
    bool (*is_selected)(const void *rows, size_t index); // NULL: nothing is ever
    // Draws one cell in `area` (one row high). Rows whose data is not there yet draw nothing or "…".
    void (*cell)(const void *rows, size_t index, int column, struct canvas *canvas, struct area area);
    const struct table_column *columns;
    int column_count;
    const void *rows;
};

// Zero-initialise.
struct table {
    size_t cursor;     // index; below count unless the list is empty
    int64_t cursor_id; // its identity, once the table was synced with rows
    size_t top;        // index of the first row shown
    int skip;          // cells scrolled sideways in the TABLE_REST column; what is hidden so shows as "…"
    int height;        // rows shown, as of the last layout
    struct area area;  // and where, the heading with them
    size_t count;      // as of the last sync
    bool is_visual;
    size_t visual_from; // where the range began
    bool has_cursor_id;
};

// After rows were added, removed or reordered, and before the first draw.
void table_sync(struct table *table, const struct table_model *model);
// With the room it will get (headings take one of them): call from the view's layout.
void table_layout(struct table *table, const struct table_model *model, struct area area);
// The actions of a list: its movement, and those of a visual range. A view of which only single rows can be
// acted on leaves the second out.
bool table_moves(enum action action);
bool table_ranges(enum action action); // VISUAL, EXTEND_…, and BACK, which ends the range
// Does one of these. false: another one, or nothing to do it on.
bool table_handle(struct table *table, const struct table_model *model, enum action action);
void table_move_to(struct table *table, const struct table_model *model, size_t index);
// What a click at this cell of the screen met. On a row the cursor goes there; of a heading, *column says
// which.
enum table_spot { TABLE_NOTHING, TABLE_ROW, TABLE_HEADING };
enum table_spot table_click(struct table *table, const struct table_model *model, int row, int col,
                            int *column);
// The cursor on the first row, whichever it will be.
void table_to_first(struct table *table);
bool table_move_to_id(struct table *table, const struct table_model *model, int64_t id);
// The visual range, or the cursor row alone: [*from, *to). false: the list is empty.
bool table_range(const struct table *table, size_t *from, size_t *to);
// Rows that the last layout shows, for asking for their data: [*from, *to).
void table_window(const struct table *table, size_t *from, size_t *to);

// Columns that fit a width, in their places: for tests, and for views that draw something above a column.
// Widths of those left out are 0.
void table_widths(const struct table_column *columns, int count, int width, int *widths);
void table_draw(const struct table *table, const struct table_model *model, struct canvas *canvas,
                struct area area);
// "37/12,431" for line 2.
const char *table_position(const struct table *table, char out[48]);

#endif
