// Where the backlog is read in sums, searches still need the short columns of each event: they are read in
// the background, some thousand a step, kept by arrivals, and compared with the table when the counts differ.
#include "backend/session.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/rollup/rollup.h"

enum { ROWS_PAGE = 5000 };
static const int64_t COMPARE_LEAST = 5 * US_PER_SECOND;

const struct backlog *
session_rows_known(const struct session *session)
{
    if (!session->has_rollup)
        return session->backlog;
    return session->are_rows_whole ? session->rows : NULL;
}

struct reading {
    struct session *session;
    size_t count;
};

static void
session_rows_add_row(void *context, const struct event *event)
{
    struct reading *reading = context;
    backlog_add(reading->session->rows, event, 1);
    reading->session->rows_before = event->id;
    reading->count++;
}

static bool
session_rows_read_page(struct session *session, struct err *err)
{
    struct reading reading = {.session = session};
    if (!rollup_rows(session->store, session->rows_before, ROWS_PAGE, session_rows_add_row, &reading, err))
        return false;
    session->are_rows_whole = reading.count < ROWS_PAGE;
    return true;
}

static bool
add_missing(struct session *session, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count; at += ROWS_PAGE) {
        struct event_page page = {0};
        const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP,
                                          .statuses = 1u << EVENT_PENDING,
                                          .ids = ids + at,
                                          .id_count = count - at < ROWS_PAGE ? count - at : ROWS_PAGE};
        if (!store_events(session->store, &query, &page, err))
            return false;
        backlog_add(session->rows, page.events, page.count);
        event_page_release(&page);
    }
    return true;
}

// What was closed, deleted or came late behind our back.
static bool
session_rows_compare(struct session *session, struct err *err)
{
    int64_t began = clock_mono();
    int64_t *missing;
    size_t missing_count;
    bool ok = session_backlog_compare(session, session->rows, &missing, &missing_count, err) &&
              add_missing(session, missing, missing_count, err);
    free(missing);
    int64_t cost = clock_mono() - began;
    session->rows_at = clock_mono() + (cost * 20 > COMPARE_LEAST ? cost * 20 : COMPARE_LEAST);
    return ok;
}

bool
session_rows_step(struct session *session, bool *is_over, struct err *err)
{
    *is_over = true;
    if (!session->has_rollup)
        return true;
    if (!session->rows)
        session->rows = backlog_create();
    if (!session->are_rows_whole) {
        *is_over = false;
        return session_rows_read_page(session, err);
    }
    bool agrees = backlog_count(session->rows) == backlog_count(session->backlog);
    if (agrees || clock_mono() < session->rows_at)
        return true;
    return session_rows_compare(session, err);
}

void
session_rows_arrived(struct session *session, const struct event *events, size_t count)
{
    if (session->has_rollup && session->rows)
        backlog_add(session->rows, events, count);
}
