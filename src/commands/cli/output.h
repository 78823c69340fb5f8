// output: text for people on standard output, aligned; remarks and progress on standard error.
//
// Everything that came from outside goes through text_visible, into pipes as well: one event stays one line.
#ifndef REDRIVE_COMMANDS_CLI_OUTPUT_H
#define REDRIVE_COMMANDS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "commands/cli/command.h"

enum align {
    ALIGN_LEFT,
    ALIGN_RIGHT,
    ALIGN_LAST
}; // the last column is not padded, and cut at the terminal's width

struct output_column {
    const char *title;
    enum align align;
    int least; // cells it takes at least
    int most;  // cells it takes at most, 0: no bound
};

#define TABLE_COLUMNS 16

// Rows are kept until table_flush, which aligns them; widths only grow from one flush to the next, so that
// long results can be written page by page.
struct output_table {
    const struct output_column *columns;
    size_t column_count;
    size_t width;      // cells of the terminal; 0: not cut
    bool has_header;   // on a terminal
    bool is_bold;      // header in bold
    bool is_started;   // the header was written, and columns that do not fit have left
    const int *leaves; // columns that a narrow terminal goes without, the first first; -1 ends
    unsigned left;     // set of 1 << column
    int cells[TABLE_COLUMNS];
    struct strbuf text; // cells of the kept rows, each NUL-terminated
    size_t rows;
    size_t in_row;
};

void table_begin(struct output_table *table, const struct call *call, const struct output_column *columns,
                 size_t count);
// On a terminal where the last column has no room, these leave one after another; a constant that -1 ends.
void table_leaves(struct output_table *table, const int *columns);
void table_add(struct output_table *table,
               struct bytes cell); // cells of a row in their order; absent is drawn as "-"
void table_add_text(struct output_table *table, const char *text);
void table_add_count(struct output_table *table, int64_t count); // grouped by thousands
void table_add_number(struct output_table *table, int64_t number);
void table_add_time(struct output_table *table,
                    int64_t instant); // local time of the process, "-" where it is absent
bool table_flush(struct output_table *table, struct err *err) MUST_CHECK;
bool table_end(struct output_table *table, struct err *err) MUST_CHECK; // flushes, releases

// A line "NAME          VALUE"; nothing where the value is absent or empty.
void output_field(struct strbuf *out, const char *name, struct bytes value);

// Writes to standard output. A reader that went away is not an error of ours: the program ends quietly, as
// others in a pipe do.
bool output_bytes(struct bytes bytes, struct err *err) MUST_CHECK;
bool output_flush(struct err *err) MUST_CHECK;

// A sentence on standard error; not with --quiet.
void remark(const struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Progress on standard error, only on a terminal, at most ten times a second, and not for what is over at
// once; progress_end wipes the line.
struct progress_line {
    const char *what; // "reprocess", "looking at events"
    bool is_on;
    int64_t due_at; // clock_mono: not shown before
    bool is_shown;
};
void progress_begin(struct progress_line *progress, const struct call *call, const char *what);
void progress_show(struct progress_line *progress, int64_t done, int64_t of,
                   const char *tail); // of 0: not known; tail may be NULL
void progress_end(struct progress_line *progress);

#endif
