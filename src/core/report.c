#include "core/report.h"

#include <assert.h>
#include <string.h>
#include "base/text.h"

struct report_table *
report_add(struct report *report, const struct report_part *part, size_t rows, struct arena *arena)
{
    assert(report->count < REPORT_TABLES && part->column_count <= REPORT_COLUMNS);
    struct report_table *table = &report->tables[report->count++];
    *table = (struct report_table){.part = part, .rows = rows};
    table->cells = arena_array(arena, rows * part->column_count, sizeof *table->cells);
    for (size_t i = 0; i < rows * part->column_count; i++)
        table->cells[i] = (struct report_cell){0};
    return table;
}

struct report_cell *
report_cell(const struct report_table *table, size_t row, size_t column)
{
    assert(row < table->rows && column < table->part->column_count);
    return &table->cells[row * table->part->column_count + column];
}

struct report_cell
report_text(const char *text)
{
    return (struct report_cell){.is_known = text != NULL, .text = text};
}

struct report_cell
report_number(int64_t number)
{
    return (struct report_cell){.is_known = true, .number = number};
}

struct report_cell
report_percent(int64_t part, int64_t of)
{
    return (struct report_cell){.is_known = of > 0, .real = of > 0 ? (double)part * 100 / (double)of : 0};
}

bool
report_form_parse(const char *name, enum report_form *form, struct err *err)
{
    static const char *const names[] = {"text", "markdown", "html", "json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *form = (enum report_form)i;
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    const char *nearest = text_suggest(name, names, sizeof names / sizeof *names);
    return err_set(err, ERR_USAGE, "--form of a report is text, markdown, html or json, not \"%s\"%s%s%s",
                   name, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}
