#include "store/report/ask.h"

static struct report_cell
read_cell(const PGresult *r, int row, int column, enum report_kind kind, struct arena *arena)
{
    if (value_is_null(r, row, column))
        return (struct report_cell){0};
    switch (kind) {
    case REPORT_TEXT:
        return report_text(value_text(r, row, column, arena));
    case REPORT_TIME:
        return report_number(value_time(r, row, column));
    case REPORT_PERCENT:
        return (struct report_cell){.is_known = true, .real = value_double(r, row, column)};
    case REPORT_NUMBER:
    case REPORT_COUNT:
        break;
    }
    return report_number(value_int8(r, row, column));
}

bool
report_ask(struct store *store, const struct report_question *question, struct params *params,
           struct arena *arena, struct report *report, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_SCANNING, question->sql, params, &r, err))
        return false;
    struct report_table *table = report_add(report, &question->part, (size_t)PQntuples(r), arena);
    for (size_t row = 0; row < table->rows; row++)
        for (size_t i = 0; i < question->part.column_count; i++)
            *report_cell(table, row, i) =
                read_cell(r, (int)row, (int)i, question->part.columns[i].kind, arena);
    PQclear(r);
    return true;
}
