// operation_row: one operation as a row of a list, and the words that its own view shares with the list.
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_ROW_H
#define REDRIVE_UI_VIEWS_OPERATIONS_ROW_H

#include "base/arena.h"
#include "core/operation.h"
#include "ui/app/app.h"
#include "ui/app/operation_words.h"
#include "ui/widgets/sparkline.h"
#include "ui/widgets/table.h"

enum operation_column {
    OPERATION_COLUMN_NO,
    OPERATION_COLUMN_WHAT,
    OPERATION_COLUMN_WHO,
    OPERATION_COLUMN_STATE,
    OPERATION_COLUMN_SENT,
    OPERATION_COLUMN_RETURNED,
    OPERATION_COLUMN_RATE,
    OPERATION_COLUMN_STARTED,
    OPERATION_COLUMN_NOTE,
    OPERATION_COLUMNS
};
// Of the column `started` while it tells times of day.
enum { OPERATION_STARTED_CELLS = 8 };
// As wide as these operations need.
void operation_columns(const struct operation *operations, size_t count, int64_t now,
                       struct table_column columns[OPERATION_COLUMNS]);

void operation_cell(const struct operation *operation, enum operation_column column, struct moments moments,
                    struct canvas *canvas, struct area area);
// Under a list.
void operation_draw_preview(const struct operation *operation, struct canvas *canvas, struct area area);

enum role item_role(enum item_state state);
// How a part of the outcomes is drawn: in a bar, and as the mark before its count.
struct bar_part outcome_bar_part(enum outcome_part part, int64_t count);
// "sent 8,420", then a count for each part that has events, with its mark, on as many of these lines as it
// takes.
void operation_draw_counts(const struct operation *operation, struct canvas *canvas, struct area area);
int operation_count_rows(const struct operation *operation, int cols);
// "reprocess: 12,000 events of SocketTimeoutException"
const char *operation_title(const struct operation *operation, struct arena *arena);
// "sent 8,420   returned 0   watching 310   refused 2": what is not zero, and always the first.
const char *operation_counts(const struct operation *operation, struct arena *arena);
// The key that helps now, "u undo", or what happened already, "undone by 43"; or "".
const char *operation_hint(const struct operation *operation, struct arena *arena);
// "begins at 02:00"; "" where its time has come, or it never waited for one.
const char *operation_begin_text(const struct operation *operation, int64_t now, struct arena *arena);
// "step 1 of 3 (10)"; "" where it is sent all at once.
const char *operation_step_text(const struct operation *operation, struct arena *arena);
// Which event it waits for, and how long yet: "step 1 of 3 · watching 10 for returns · next step in 4s"; ""
// where it does not wait.
const char *operation_wait_text(const struct operation *operation, int64_t now, const char *separator,
                                struct arena *arena);
// "950/s", "no limit", "0/s"
const char *operation_rate_text(int32_t rate, struct arena *arena);
// The time of day, with its date where that is not within the last day; "" where it is absent.
const char *operation_moment(int64_t at, int64_t now, struct arena *arena);
// All that a regular expression over the rows looks at.
void operation_row_text(const struct operation *operation, struct strbuf *out);

#endif
