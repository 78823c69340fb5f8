#include "ui/widgets/table.h"

#include <stdio.h>
#include "base/text.h"

#define GUTTER 3 // cursor mark, selection mark, blank
#define GAP 2
#define SIDE_STEP 8
#define FAR 2048
#define MARK_COLS 2    // the scroll mark and a blank before it
#define COLUMNS 24     // most in a table
#define HEADING_FROM 4 // rows: with fewer there is no heading

static void
take_cursor(struct table *table, const struct table_model *model, size_t index)
{
    table->cursor = index;
    table->cursor_id = model->id(model->rows, index);
    table->has_cursor_id = true;
}

// The index that has this id, looking first where it was.
static bool
find_id(const struct table_model *model, size_t near, int64_t id, size_t *index)
{
    if (near < model->count && model->id(model->rows, near) == id) {
        *index = near;
        return true;
    }
    for (size_t i = 0; i < model->count; i++) {
        if (model->id(model->rows, i) == id) {
            *index = i;
            return true;
        }
    }
    return false;
}

void
table_sync(struct table *table, const struct table_model *model)
{
    table->count = model->count;
    if (model->count == 0) {
        table->cursor = table->top = 0;
        table->is_visual = false;
        return;
    }
    size_t line = table->cursor >= table->top ? table->cursor - table->top : 0;
    size_t index;
    if (table->has_cursor_id && find_id(model, table->cursor, table->cursor_id, &index))
        table->cursor = index;
    else
        take_cursor(table, model, table->cursor < model->count ? table->cursor : model->count - 1);
    table->top = table->cursor > line ? table->cursor - line : 0;
    if (table->visual_from >= model->count)
        table->visual_from = model->count - 1;
}

// Scroll so that the cursor is on the screen and no room is wasted below the last row.
static void
fit_top(struct table *table)
{
    size_t height = table->height > 0 ? (size_t)table->height : 1;
    if (table->top + height > table->count)
        table->top = table->count > height ? table->count - height : 0;
    if (table->cursor < table->top)
        table->top = table->cursor;
    if (table->cursor >= table->top + height)
        table->top = table->cursor - height + 1;
}

// The column that takes what is left; -1: none does.
static int
rest_column(const struct table_model *model)
{
    for (int i = 0; i < model->column_count && i < COLUMNS; i++)
        if (model->columns[i].widest == TABLE_REST)
            return i;
    return -1;
}

// A list that does not fit gives its last column to the scroll mark.
static bool
has_scroll_mark(const struct table *table, const struct table_model *model)
{
    return model->count > (size_t)table->height && table->height > 1 && table->area.cols > 4 * MARK_COLS;
}

static int
columns_width(const struct table *table, const struct table_model *model)
{
    return table->area.cols - (has_scroll_mark(table, model) ? MARK_COLS : 0);
}

// No further sideways than to the end of the longest text on the screen.
static void
fit_skip(struct table *table, const struct table_model *model)
{
    int widths[COLUMNS];
    int rest = rest_column(model);
    if (table->skip == 0 || rest < 0)
        return;
    int count = model->column_count < COLUMNS ? model->column_count : COLUMNS;
    table_widths(model->columns, count, columns_width(table, model), widths);
    struct canvas whole;
    canvas_init(&whole, 1, table->skip + widths[rest] + 1, false);
    int longest = 0;
    size_t from, to;
    for (table_window(table, &from, &to); from < to; from++) {
        canvas_clear(&whole);
        model->cell(model->rows, from, rest, &whole, canvas_area(&whole));
        int used = canvas_used(&whole, 0);
        longest = used > longest ? used : longest;
    }
    canvas_release(&whole);
    int most = longest > widths[rest] ? longest - widths[rest] : 0;
    table->skip = table->skip < most ? table->skip : most;
}

void
table_layout(struct table *table, const struct table_model *model, struct area area)
{
    table->height = area.rows >= HEADING_FROM ? area.rows - 1 : area.rows;
    table->area = area;
    if (table->count != model->count || (model->count && !table->has_cursor_id))
        table_sync(table, model);
    fit_top(table);
    fit_skip(table, model);
}

void
table_move_to(struct table *table, const struct table_model *model, size_t index)
{
    if (model->count == 0)
        return;
    take_cursor(table, model, index < model->count ? index : model->count - 1);
    fit_top(table);
}

void
table_to_first(struct table *table)
{
    table->cursor = table->top = 0;
    table->has_cursor_id = false;
}

bool
table_move_to_id(struct table *table, const struct table_model *model, int64_t id)
{
    size_t index;
    if (!find_id(model, table->cursor, id, &index))
        return false;
    table_move_to(table, model, index);
    return true;
}

static void
move_by(struct table *table, const struct table_model *model, int rows)
{
    int64_t target = (int64_t)table->cursor + rows;
    table_move_to(table, model, target < 0 ? 0 : (size_t)target);
}

// Pages move the window with the cursor, which keeps its line.
static void
page_by(struct table *table, const struct table_model *model, int rows)
{
    int64_t top = (int64_t)table->top + rows;
    table->top = top < 0 ? 0 : (size_t)top;
    move_by(table, model, rows);
}

// Scrolls the window; the cursor stays on its row as long as that is on the screen.
static void
scroll_by(struct table *table, const struct table_model *model, int rows)
{
    size_t height = table->height > 0 ? (size_t)table->height : 1;
    if (rows > 0 && table->top + height < table->count)
        table->top++;
    if (rows < 0 && table->top > 0)
        table->top--;
    if (table->cursor < table->top)
        table_move_to(table, model, table->top);
    else if (table->cursor >= table->top + height)
        table_move_to(table, model, table->top + height - 1);
}

static void
move_by_half(struct table *table, const struct table_model *model, int step)
{
    page_by(table, model, step * (table->height > 1 ? table->height / 2 : 1));
}

static void
move_by_page(struct table *table, const struct table_model *model, int step)
{
    page_by(table, model, step * (table->height > 2 ? table->height - 1 : 1));
}

// step: below 0 the first row of the list, else the last.
static void
move_to_end(struct table *table, const struct table_model *model, int step)
{
    table_move_to(table, model, step < 0 ? 0 : model->count - 1);
}

// step: -1 the first row on the screen, 0 the middle one, 1 the last.
static void
move_in_window(struct table *table, const struct table_model *model, int step)
{
    size_t shown = table->count - table->top;
    if (shown > (size_t)(table->height > 0 ? table->height : 1))
        shown = (size_t)(table->height > 0 ? table->height : 1);
    size_t line = step < 0 ? 0 : step == 0 ? (shown - 1) / 2 : shown - 1;
    table_move_to(table, model, table->top + line);
}

static void
centre(struct table *table, const struct table_model *model, int step)
{
    (void)model;
    (void)step;
    size_t half = table->height > 1 ? (size_t)table->height / 2 : 1;
    table->top = table->cursor > half ? table->cursor - half : 0;
    fit_top(table);
}

static void
move_sideways(struct table *table, const struct table_model *model, int cells)
{
    (void)model;
    int skip = table->skip + cells;
    table->skip = skip < 0 ? 0 : skip > FAR ? FAR : skip;
}

static void
begin_range(struct table *table)
{
    if (!table->is_visual)
        table->visual_from = table->cursor;
    table->is_visual = true;
}

static void
toggle_range(struct table *table, const struct table_model *model, int step)
{
    (void)model;
    (void)step;
    if (table->is_visual)
        table->is_visual = false;
    else
        begin_range(table);
}

static void
extend_range(struct table *table, const struct table_model *model, int step)
{
    begin_range(table);
    move_by(table, model, step);
}

// Applies an action to a list that has rows.
struct move {
    enum action action;
    void (*run)(struct table *table, const struct table_model *model, int step);
    int step;
};

static const struct move moves[] = {
    {DO_DOWN, move_by, 1},
    {DO_UP, move_by, -1},
    {DO_HALF_DOWN, move_by_half, 1},
    {DO_HALF_UP, move_by_half, -1},
    {DO_PAGE_DOWN, move_by_page, 1},
    {DO_PAGE_UP, move_by_page, -1},
    {DO_TOP, move_to_end, -1},
    {DO_BOTTOM, move_to_end, 1},
    {DO_SCREEN_TOP, move_in_window, -1},
    {DO_SCREEN_MIDDLE, move_in_window, 0},
    {DO_SCREEN_BOTTOM, move_in_window, 1},
    {DO_CENTRE, centre, 0},
    {DO_LINE_DOWN, scroll_by, 1},
    {DO_LINE_UP, scroll_by, -1},
    {DO_LEFT, move_sideways, -SIDE_STEP},
    {DO_RIGHT, move_sideways, SIDE_STEP},
    {DO_FIRST_COLUMN, move_sideways, -FAR},
    {DO_LAST_COLUMN, move_sideways, FAR},
};

static const struct move ranges[] = {
    {DO_VISUAL, toggle_range, 0},
    {DO_EXTEND_DOWN, extend_range, 1},
    {DO_EXTEND_UP, extend_range, -1},
};

static const struct move *
find_move(const struct move *rows, size_t count, enum action action)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].action == action)
            return &rows[i];
    return NULL;
}

bool
table_moves(enum action action)
{
    return find_move(moves, sizeof moves / sizeof *moves, action);
}

bool
table_ranges(enum action action)
{
    return action == DO_BACK || find_move(ranges, sizeof ranges / sizeof *ranges, action);
}

bool
table_handle(struct table *table, const struct table_model *model, enum action action)
{
    if (action == DO_BACK) {
        bool was_visual = table->is_visual;
        table->is_visual = false;
        return was_visual;
    }
    const struct move *move = find_move(moves, sizeof moves / sizeof *moves, action);
    if (!move)
        move = find_move(ranges, sizeof ranges / sizeof *ranges, action);
    if (model->count != table->count)
        table_sync(table, model);
    if (move && model->count > 0)
        move->run(table, model, move->step);
    return model->count > 0 ? move != NULL : table_moves(action);
}

bool
table_range(const struct table *table, size_t *from, size_t *to)
{
    *from = *to = table->cursor;
    if (table->count == 0)
        return false;
    if (table->is_visual && table->visual_from < table->cursor)
        *from = table->visual_from;
    else if (table->is_visual)
        *to = table->visual_from;
    ++*to;
    return true;
}

void
table_window(const struct table *table, size_t *from, size_t *to)
{
    size_t height = table->height > 0 ? (size_t)table->height : 0;
    *from = table->top < table->count ? table->top : table->count;
    *to = table->count - *from > height ? *from + height : table->count;
}

static int
total_width(const struct table_column *columns, int count, const int *widths)
{
    int total = 0;
    for (int i = 0; i < count; i++)
        if (widths[i] > 0 || columns[i].priority == 0)
            total += widths[i] + (total ? GAP : 0);
    return total;
}

// The column that leaves first: the highest priority number, the last of them.
static int
least_important(const struct table_column *columns, int count, const int *widths)
{
    int least = -1;
    for (int i = 0; i < count; i++)
        if (widths[i] > 0 && columns[i].priority > 0 &&
            (least < 0 || columns[i].priority >= columns[least].priority))
            least = i;
    return least;
}

// Takes the columns out that a width has no room for; returns the cells left over.
static int
drop_columns(const struct table_column *columns, int count, int room, int *widths)
{
    int rest = 0;
    for (int i = 0; i < count; i++)
        rest = columns[i].widest == TABLE_REST ? columns[i].width : rest;
    for (;;) {
        int spare = room - total_width(columns, count, widths);
        int least = least_important(columns, count, widths);
        if (least < 0 || (spare >= 0 && rest + spare >= columns[least].yields_below))
            return spare;
        widths[least] = 0;
    }
}

// Gives columns what they want up to their limit, in order.
static int
grow(const struct table_column *columns, int count, int spare, bool is_rest, int *widths)
{
    for (int i = 0; i < count && spare > 0; i++) {
        bool is_other = (columns[i].widest == TABLE_REST) != is_rest;
        int wanted = widths[i] == 0 || is_other ? 0 : columns[i].widest - widths[i];
        int grown = wanted <= 0 ? 0 : wanted < spare ? wanted : spare;
        widths[i] += grown;
        spare -= grown;
    }
    return spare;
}

void
table_widths(const struct table_column *columns, int count, int width, int *widths)
{
    int wish = 0;
    for (int i = 0; i < count; i++) {
        widths[i] = columns[i].width;
        wish = columns[i].wish > columns[i].width ? columns[i].wish - columns[i].width : wish;
    }
    int spare = drop_columns(columns, count, width - GUTTER, widths);
    int kept = wish < spare ? wish : spare;
    kept = kept > 0 ? kept : 0;
    spare = grow(columns, count, spare - kept, false, widths);
    (void)grow(columns, count, spare + kept, true, widths);
}

static void
draw_heading(const struct table_model *model, struct canvas *canvas, struct area area, const int *widths)
{
    int col = area.col + GUTTER;
    for (int i = 0; i < model->column_count; i++) {
        const struct table_column *column = &model->columns[i];
        if (widths[i] == 0)
            continue;
        struct canvas_style style = {.role = column->is_order ? ROLE_HEADER_SORT : ROLE_HEADER,
                                     .at_right = column->at_right};
        char title[192];
        int len = snprintf(title, sizeof title, "%s%s", column->title,
                           !column->is_order       ? ""
                           : column->is_descending ? glyph_text(canvas, GLYPH_DOWN)
                                                   : glyph_text(canvas, GLYPH_UP));
        struct bytes text = {title, len < 0 ? 0 : (size_t)len};
        int arrow = 0; // a long title gives way to it
        if (text_cells(text, canvas->is_ascii) > widths[i]) {
            text = bytes_of(column->title);
            arrow = column->is_order && column->widest == TABLE_REST;
        }
        (void)canvas_styled(canvas, area.row, col, widths[i] - arrow, text, &style);
        if (arrow)
            (void)canvas_glyph(canvas, area.row, col + widths[i] - 1,
                               column->is_descending ? GLYPH_DOWN : GLYPH_UP, ROLE_HEADER_SORT);
        col += widths[i] + GAP;
    }
}

// A cell that is scrolled sideways: drawn whole elsewhere, then what is seen of it.
static void
draw_shifted(const struct table *table, const struct table_model *model, size_t index, int column,
             struct canvas *canvas, struct area area)
{
    struct canvas whole;
    canvas_init(&whole, 1, table->skip + area.cols, canvas->is_ascii);
    model->cell(model->rows, index, column, &whole, canvas_area(&whole));
    canvas_copy(canvas, area, &whole, 0, table->skip);
    (void)canvas_glyph(canvas, area.row, area.col, GLYPH_ELLIPSIS, ROLE_DIM);
    canvas_release(&whole);
}

static void
draw_cell(const struct table *table, const struct table_model *model, size_t index, int column,
          struct canvas *canvas, struct area area)
{
    if (table->skip > 0 && model->columns[column].widest == TABLE_REST && area.cols > 1)
        draw_shifted(table, model, index, column, canvas, area);
    else
        model->cell(model->rows, index, column, canvas, area);
}

// Which part of the list is on the screen: as long as that part is of the whole, at least one row.
static void
draw_scroll_mark(const struct table *table, const struct table_model *model, struct canvas *canvas,
                 struct area area)
{
    size_t rows = (size_t)area.rows;
    size_t length = rows * rows / model->count;
    length = length ? length : 1;
    size_t hidden = model->count - rows;
    size_t top = table->top < hidden ? table->top : hidden;
    size_t from = (top * (rows - length) + hidden / 2) / hidden;
    // Only at the very beginning and end does it touch them.
    if (top > 0 && from == 0 && rows > length)
        from = 1;
    if (top < hidden && from == rows - length && from > 0)
        from--;
    for (size_t i = 0; i < length; i++)
        (void)canvas_glyph(canvas, area.row + (int)(from + i), area.col, GLYPH_SCROLL, ROLE_DIM);
}

static void
draw_row(const struct table *table, const struct table_model *model, size_t index, struct canvas *canvas,
         struct area area, const int *widths)
{
    int col = area.col + GUTTER;
    int end = area.col + area.cols;
    for (int i = 0; i < model->column_count && col < end; i++) {
        if (widths[i] == 0)
            continue;
        int width = col + widths[i] > end ? end - col : widths[i];
        draw_cell(table, model, index, i, canvas, (struct area){area.row, col, 1, width});
        col += widths[i] + GAP;
    }
    if (model->is_selected && model->is_selected(model->rows, index))
        (void)canvas_glyph(canvas, area.row, area.col + 1, GLYPH_SELECTED, ROLE_MARK);

    size_t from, to;
    bool is_in_range = table->is_visual && table_range(table, &from, &to) && index >= from && index < to;
    struct area text = {area.row, area.col + 1, 1, area.cols - 1};
    if (is_in_range)
        canvas_restyle(canvas, text, ROLE_RANGE);
    if (index == table->cursor) {
        canvas_cursor_row(canvas, text);
        (void)canvas_glyph(canvas, area.row, area.col, GLYPH_CURSOR, ROLE_CURSOR_MARK);
    }
}

void
table_draw(const struct table *table, const struct table_model *model, struct canvas *canvas,
           struct area area)
{
    int widths[COLUMNS];
    struct table_model shown = *model;
    if (shown.column_count > COLUMNS)
        shown.column_count = COLUMNS;
    struct area mark = {0};
    if (has_scroll_mark(table, model)) {
        mark = area_take_right(&area, MARK_COLS);
        area_take_left(&mark, MARK_COLS - 1);
    }
    table_widths(shown.columns, shown.column_count, area.cols, widths);
    if (area.rows >= HEADING_FROM) {
        area_take_top(&mark, 1);
        struct area heading = area_take_top(&area, 1);
        draw_heading(&shown, canvas, heading, widths);
    }
    for (int i = 0; i < area.rows && table->top + (size_t)i < model->count; i++)
        draw_row(table, &shown, table->top + (size_t)i, canvas,
                 (struct area){area.row + i, area.col, 1, area.cols}, widths);
    if (mark.rows > 0)
        draw_scroll_mark(table, model, canvas, mark);
}

// The column at this many cells from the left edge of the table, or -1.
static int
column_at(const struct table_model *model, int width, int cell)
{
    int widths[COLUMNS];
    int count = model->column_count < COLUMNS ? model->column_count : COLUMNS;
    table_widths(model->columns, count, width, widths);
    int col = GUTTER;
    for (int i = 0; i < count; i++) {
        if (widths[i] > 0 && cell >= col && cell < col + widths[i])
            return i;
        col += widths[i] > 0 ? widths[i] + GAP : 0;
    }
    return -1;
}

enum table_spot
table_click(struct table *table, const struct table_model *model, int row, int col, int *column)
{
    struct area rows = table->area;
    if (row < rows.row || row >= rows.row + rows.rows || col < rows.col || col >= rows.col + rows.cols)
        return TABLE_NOTHING;
    if (rows.rows > table->height && row == rows.row) {
        *column = column_at(model, columns_width(table, model), col - rows.col);
        return *column < 0 ? TABLE_NOTHING : TABLE_HEADING;
    }
    size_t index = table->top + (size_t)(row - rows.row - (rows.rows - table->height));
    if (index >= model->count)
        return TABLE_NOTHING;
    table_move_to(table, model, index);
    return TABLE_ROW;
}

const char *
table_position(const struct table *table, char out[48])
{
    char at[TEXT_SHORT], of[TEXT_SHORT];
    size_t cursor = table->count ? table->cursor + 1 : 0;
    snprintf(out, 48, "%s/%s", text_count((int64_t)cursor, at), text_count((int64_t)table->count, of));
    return out;
}
