// report: what a team's review or the evidence of one operation holds, as tables of typed cells. One model,
// which is written as text, Markdown, HTML or JSON: so all four say the same. Texts live in the reader's
// arena.
#ifndef REDRIVE_CORE_REPORT_H
#define REDRIVE_CORE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

enum report_kind {
    REPORT_TEXT,
    REPORT_NUMBER, // an id: not grouped by thousands
    REPORT_COUNT,
    REPORT_PERCENT,
    REPORT_TIME,
};

struct report_column {
    const char *name;  // in JSON
    const char *title; // for people
    enum report_kind kind;
};

enum report_shape {
    REPORT_FACTS,  // one row
    REPORT_COUNTS, // a name and its count; further columns are for people only
    REPORT_ROWS,
};

struct report_part {
    const char *name;  // in JSON; NULL: its facts are members of the whole
    const char *title; // for people
    const char *none;  // said where it has no row
    enum report_shape shape;
    const struct report_column *columns;
    size_t column_count;
};

struct report_cell {
    bool is_known; // else the others mean nothing
    int64_t number;
    double real;
    const char *text;
};

struct report_table {
    const struct report_part *part;
    struct report_cell *cells; // row after row
    size_t rows;
};

#define REPORT_TABLES 12
#define REPORT_COLUMNS 22
struct report {
    const char *title;
    struct report_table tables[REPORT_TABLES];
    size_t count;
};

// Another table with room for so many rows, all of whose cells are unknown.
struct report_table *report_add(struct report *report, const struct report_part *part, size_t rows,
                                struct arena *arena);
struct report_cell *report_cell(const struct report_table *table, size_t row, size_t column);
struct report_cell report_text(const char *text); // NULL: unknown
struct report_cell report_number(int64_t number); // and a count, and a time
struct report_cell report_percent(int64_t part, int64_t of);

enum report_form { REPORT_AS_TEXT, REPORT_AS_MARKDOWN, REPORT_AS_HTML, REPORT_AS_JSON };
// "text", "markdown", "html", "json".
bool report_form_parse(const char *name, enum report_form *form, struct err *err) MUST_CHECK;

#endif
