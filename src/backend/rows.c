// Where the backlog is read in sums, searches still need the short columns of each event: they are read in
// the background, some thousand a step, kept by arrivals, and compared with the table when the counts differ.
#include "backend/session.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/rollup/rollup.h"

enum { ROWS_PAGE = 5000 };
static const int64_t COMPARE_LEAST = 5 * US_PER_SECOND;

const struct backlog *
desk_rows_known(const struct desk *desk)
{
    if (!desk->is_summed)
        return desk->backlog;
    return desk->are_rows_whole ? desk->rows : NULL;
}

struct reading {
    struct desk *desk;
    size_t count;
};

static void
add_row(void *context, const struct event *event)
{
    struct reading *reading = context;
    backlog_add(reading->desk->rows, event, 1);
    reading->desk->rows_before = event->id;
    reading->count++;
}

static bool
read_page(struct desk *desk, struct err *err)
{
    struct reading reading = {.desk = desk};
    if (!rollup_rows(desk->store, desk->rows_before, ROWS_PAGE, add_row, &reading, err))
        return false;
    desk->are_rows_whole = reading.count < ROWS_PAGE;
    return true;
}

static bool
add_missing(struct desk *desk, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count; at += ROWS_PAGE) {
        struct event_page page = {0};
        const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP,
                                          .statuses = 1u << EVENT_PENDING,
                                          .ids = ids + at,
                                          .id_count = count - at < ROWS_PAGE ? count - at : ROWS_PAGE};
        if (!store_events(desk->store, &query, &page, err))
            return false;
        backlog_add(desk->rows, page.events, page.count);
        event_page_release(&page);
    }
    return true;
}

// What was closed, deleted or came late behind our back.
static bool
compare(struct desk *desk, struct err *err)
{
    int64_t began = clock_mono();
    int64_t *missing;
    size_t missing_count;
    bool ok = desk_backlog_compare(desk, desk->rows, &missing, &missing_count, err) &&
              add_missing(desk, missing, missing_count, err);
    free(missing);
    int64_t cost = clock_mono() - began;
    desk->rows_at = clock_mono() + (cost * 20 > COMPARE_LEAST ? cost * 20 : COMPARE_LEAST);
    return ok;
}

bool
desk_rows_step(struct desk *desk, bool *is_over, struct err *err)
{
    *is_over = true;
    if (!desk->is_summed)
        return true;
    if (!desk->rows)
        desk->rows = backlog_create();
    if (!desk->are_rows_whole) {
        *is_over = false;
        return read_page(desk, err);
    }
    bool agrees = backlog_count(desk->rows) == backlog_count(desk->backlog);
    if (agrees || clock_mono() < desk->rows_at)
        return true;
    return compare(desk, err);
}

void
desk_rows_arrived(struct desk *desk, const struct event *events, size_t count)
{
    if (desk->is_summed && desk->rows)
        backlog_add(desk->rows, events, count);
}
