// pager_private: how the pager keeps its text, for its two files only.
#ifndef REDRIVE_UI_PAGER_PRIVATE_H
#define REDRIVE_UI_PAGER_PRIVATE_H

#include "core/filter/pattern.h"
#include "ui/widgets/pager.h"

#define PAGER_GUTTER 2
#define NO_SECTION SIZE_MAX

struct pager_line {
    struct bytes text;
    enum role role;
    struct canvas_span *spans;
    size_t span_count;
    struct canvas_span *marks;
    size_t mark_count;
    size_t section;
    int hang;    // as in pager_hang
    size_t link; // byte at which an address begins; 0: it has none
    bool is_heading;
};

struct pager_section {
    char *title;
    const char *note; // NULL: none
    bool is_folded;
};

// A row as it is shown: a piece of a line.
struct pager_row {
    size_t line;
    size_t from, len;
    int indent;
};

struct pager {
    struct arena arena;
    struct pager_line *lines;
    size_t line_count, line_capacity;
    struct pager_section *sections;
    size_t section_count, section_capacity;
    struct pager_section *before; // while building: the sections of the last time, for their folds
    size_t before_count;

    struct pager_row *rows; // of lines that are not folded away, for `width`
    size_t row_count, row_capacity;
    int width;
    bool is_ascii;
    bool is_aside; // another pager has the keys
    bool is_stale; // rows are to be made anew
    bool is_cut;   // long lines are cut instead of wrapped
    int hang;      // of lines that are added
    int skip;
    int height;
    size_t top;    // row
    size_t cursor; // row

    struct pattern *pattern;
    size_t match_count; // lines with a match
    size_t match_at;    // that the cursor is on: 1 for the first; 0: none
};

// The line that a row shows; 0 when there is none.
size_t pager_line_of_row(const struct pager *pager, size_t row);

#endif
