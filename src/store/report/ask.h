// ask: one part of a report from one statement, whose columns are those of the part.
#ifndef REDRIVE_STORE_REPORT_ASK_H
#define REDRIVE_STORE_REPORT_ASK_H

#include "store/pg.h"
#include "store/report/report.h"

struct report_question {
    struct report_part part;
    const char *sql;
};
#define REPORT_PART(...)                                                                                     \
    .columns = (const struct report_column[]){__VA_ARGS__},                                                  \
    .column_count = sizeof((const struct report_column[]){__VA_ARGS__}) / sizeof(struct report_column)

bool report_ask(struct store *store, const struct report_question *question, struct params *params,
                struct arena *arena, struct report *report, struct err *err) MUST_CHECK;

#endif
