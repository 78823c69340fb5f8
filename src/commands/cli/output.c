#include "commands/cli/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"

#define GAP 2 // blanks between columns

void
output_field(struct strbuf *out, const char *name, struct bytes value)
{
    if (value.len == 0)
        return;
    strbuf_printf(out, "%-14s", name);
    text_visible(out, value, false);
    strbuf_add_char(out, '\n');
}

bool
output_bytes(struct bytes bytes, struct err *err)
{
    if (bytes.len == 0 || fwrite(bytes.data, 1, bytes.len, stdout) == bytes.len)
        return true;
    return err_set(err, ERR_INTERNAL, "standard output cannot be written: %s", strerror(errno));
}

bool
output_flush(struct err *err)
{
    if (fflush(stdout) == 0)
        return true;
    return err_set(err, ERR_INTERNAL, "standard output cannot be written: %s", strerror(errno));
}

// --- tables ---

static int
cells_of(struct bytes text)
{
    int cells = 0;
    uint32_t point = 0;
    for (size_t at = 0; at < text.len;) {
        at += utf8_decode(text, at, &point);
        cells += point == UTF8_INVALID ? 1 : utf8_width(point);
    }
    return cells;
}

// The largest length that takes no more than `cells` cells.
static size_t
cut_cells(struct bytes text, int cells)
{
    size_t at = 0;
    uint32_t point = 0;
    while (at < text.len) {
        size_t len = utf8_decode(text, at, &point);
        cells -= point == UTF8_INVALID ? 1 : utf8_width(point);
        if (cells < 0)
            break;
        at += len;
    }
    return at;
}

static size_t
terminal_width(int fd)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

void
table_begin(struct output_table *table, const struct call *call, const struct output_column *columns,
            size_t count)
{
    *table = (struct output_table){.columns = columns, .column_count = count};
    table->has_header = call->out_is_terminal;
    table->is_bold = call->has_color;
    table->width = call->out_is_terminal ? terminal_width(STDOUT_FILENO) : 0;
    for (size_t i = 0; i < count; i++) {
        int title = table->has_header ? cells_of(bytes_of(columns[i].title)) : 0;
        table->cells[i] = columns[i].least > title ? columns[i].least : title;
    }
}

void
table_leaves(struct output_table *table, const int *columns)
{
    table->leaves = columns;
}

void
table_add(struct output_table *table, struct bytes cell)
{
    size_t from = table->text.len;
    if (bytes_present(cell))
        text_visible(&table->text, cell, false);
    else
        strbuf_add_char(&table->text, '-');
    const struct output_column *column = &table->columns[table->in_row];
    struct bytes text = bytes_slice(strbuf_bytes(&table->text), from, SIZE_MAX);
    int cells = cells_of(text);
    if (column->most > 0 && cells > column->most) {
        table->text.len = from + cut_cells(text, column->most - 1);
        strbuf_add_text(&table->text, "…");
        cells = column->most;
    }
    if (cells > table->cells[table->in_row])
        table->cells[table->in_row] = cells;
    strbuf_add_char(&table->text, '\0');
    if (++table->in_row == table->column_count) {
        table->in_row = 0;
        table->rows++;
    }
}

void
table_add_text(struct output_table *table, const char *text)
{
    table_add(table, bytes_of(text));
}

void
table_add_count(struct output_table *table, int64_t count)
{
    char text[TEXT_SHORT];
    table_add_text(table, text_count(count, text));
}

void
table_add_number(struct output_table *table, int64_t number)
{
    char text[TEXT_SHORT];
    snprintf(text, sizeof text, "%" PRId64, number);
    table_add_text(table, text);
}

void
table_add_time(struct output_table *table, int64_t instant)
{
    char text[TIME_TEXT];
    table_add_text(table, instant == TIME_ABSENT ? NULL : time_local(instant, text));
}

static void
put_blanks(struct strbuf *line, int count)
{
    for (; count > 0; count--)
        strbuf_add_char(line, ' ');
}

static int
cells_of_row(const struct output_table *table)
{
    int cells = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (!(table->left & 1u << i))
            cells += table->cells[i] + GAP;
    return cells;
}

// A person at a narrow terminal reads the last column first: others make room for it.
static void
leave_out(struct output_table *table)
{
    enum { LAST_WANTS = 24 };
    for (const int *next = table->leaves; next && *next >= 0 && table->width; next++) {
        int last = table->cells[table->column_count - 1];
        if (cells_of_row(table) - last + LAST_WANTS <= (int)table->width)
            return;
        table->left |= 1u << *next;
    }
}

static void
put_cell(const struct output_table *table, struct strbuf *line, size_t column, struct bytes cell, int *used)
{
    if (table->left & 1u << column)
        return;
    enum align align = table->columns[column].align;
    int cells = cells_of(cell), room = table->cells[column] - cells;
    if (align == ALIGN_RIGHT)
        put_blanks(line, room);
    if (align == ALIGN_LAST && table->width > 0 && *used + cells > (int)table->width) {
        int left = (int)table->width - *used - 1;
        cell.len = left > 0 ? cut_cells(cell, left) : 0;
        strbuf_add(line, cell);
        strbuf_add_text(line, "…");
        return;
    }
    strbuf_add(line, cell);
    if (align == ALIGN_LEFT && column + 1 < table->column_count)
        put_blanks(line, room);
    *used += table->cells[column] + GAP;
    if (column + 1 < table->column_count)
        put_blanks(line, GAP);
}

static void
put_header(struct output_table *table, struct strbuf *line)
{
    int used = 0;
    if (table->is_bold)
        strbuf_add_text(line, "\033[1m");
    for (size_t i = 0; i < table->column_count; i++)
        put_cell(table, line, i, bytes_of(table->columns[i].title), &used);
    strbuf_add_text(line, table->is_bold ? "\033[0m\n" : "\n");
}

bool
table_flush(struct output_table *table, struct err *err)
{
    struct strbuf lines = {0};
    if (!table->is_started)
        leave_out(table);
    if (table->has_header && !table->is_started)
        put_header(table, &lines);
    table->is_started = true;
    const char *cell = table->text.data;
    for (size_t row = 0; row < table->rows; row++) {
        int used = 0;
        for (size_t i = 0; i < table->column_count; i++) {
            put_cell(table, &lines, i, bytes_of(cell), &used);
            cell += strlen(cell) + 1;
        }
        strbuf_add_char(&lines, '\n');
    }
    strbuf_reset(&table->text);
    table->rows = 0;
    bool ok = output_bytes(strbuf_bytes(&lines), err);
    strbuf_release(&lines);
    return ok;
}

bool
table_end(struct output_table *table, struct err *err)
{
    bool ok = table_flush(table, err);
    strbuf_release(&table->text);
    return ok;
}

// --- standard error ---

void
remark(const struct call *call, const char *format, ...)
{
    if (call->options.general.quiet)
        return;
    struct strbuf raw = {0}, line = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&raw, format, args);
    va_end(args);
    text_visible(&line, strbuf_bytes(&raw), false);
    (void)fflush(stdout); // where both go to one place, this stands behind what it is about
    fprintf(stderr, "redrive: %s\n", strbuf_text(&line));
    strbuf_release(&raw);
    strbuf_release(&line);
}

void
progress_begin(struct progress_line *progress, const struct call *call, const char *what)
{
    *progress = (struct progress_line){.what = what,
                                       .is_on = call->err_is_terminal && !call->options.general.quiet,
                                       .due_at = clock_mono() + US_PER_SECOND / 3};
}

#define BAR 24

static void
add_bar(struct strbuf *line, int64_t done, int64_t of)
{
    int filled = (int)((double)done / (double)of * BAR);
    strbuf_add_char(line, '[');
    for (int i = 0; i < BAR; i++)
        strbuf_add_char(line, i < filled ? '#' : '.');
    strbuf_add_text(line, "] ");
}

void
progress_show(struct progress_line *progress, int64_t done, int64_t of, const char *tail)
{
    int64_t now = clock_mono();
    if (!progress->is_on || now < progress->due_at)
        return;
    progress->due_at = now + US_PER_SECOND / 10;
    progress->is_shown = true;
    char count[TEXT_SHORT];
    struct strbuf line = {0};
    strbuf_printf(&line, "%s ", progress->what);
    if (of > 0)
        add_bar(&line, done, of);
    strbuf_add_text(&line, text_count(done, count));
    if (of > 0)
        strbuf_printf(&line, " / %s", text_count(of, count));
    if (tail != NULL) {
        strbuf_add_text(&line, "  ");
        text_visible(&line, bytes_of(tail), false);
    }
    // A line that wraps could not be written over.
    int len = (int)cut_cells(strbuf_bytes(&line), (int)terminal_width(STDERR_FILENO) - 1);
    fprintf(stderr, "\r%.*s\033[K", len, strbuf_text(&line));
    strbuf_release(&line);
}

void
progress_end(struct progress_line *progress)
{
    if (progress->is_on && progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}
