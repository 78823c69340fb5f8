// With a rollup, searches still need the short columns of each event: they are read in the background, some
// thousand a step, kept by arrivals, and compared with the table when the counts differ.
#include "backend/reader.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/rollup/rollup.h"

enum { ROWS_PAGE = 10000 };
static const int64_t COMPARE_LEAST = 5 * US_PER_SECOND;

const struct backlog *
reader_rows_known(const struct reader *reader)
{
    if (!reader->counts.has_rollup)
        return reader->counts.backlog;
    return reader->rows.is_whole ? reader->rows.backlog : NULL;
}

static void
reader_rows_add_row(void *context, const struct event *event)
{
    backlog_add(((struct reader *)context)->rows.backlog, event, 1);
}

void
reader_rows_forget_names(struct reader *reader)
{
    rollup_names_destroy(reader->rows.names);
    reader->rows.names = NULL;
}

static bool
reader_rows_read_page(struct reader *reader, struct err *err)
{
    struct event_rows *rows = &reader->rows;
    struct rollup_page page;
    if (!rows->names)
        rows->names = rollup_names_create();
    if (!rollup_rows(reader->session.store, rows->names, rows->upto, ROWS_PAGE, reader_rows_add_row, reader,
                     &page, err))
        return false;
    rows->is_whole = page.count < ROWS_PAGE || page.lowest == INT64_MIN;
    if (rows->is_whole)
        reader_rows_forget_names(reader);
    else
        rows->upto = page.lowest - 1;
    return true;
}

static bool
add_missing(struct reader *reader, const int64_t *ids, size_t count, struct err *err)
{
    for (size_t at = 0; at < count; at += ROWS_PAGE) {
        struct event_page page = {0};
        const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP,
                                          .statuses = 1u << EVENT_PENDING,
                                          .ids = ids + at,
                                          .id_count = count - at < ROWS_PAGE ? count - at : ROWS_PAGE};
        if (!store_events(reader->session.store, &query, &page, err))
            return false;
        backlog_add(reader->rows.backlog, page.events, page.count);
        event_page_release(&page);
    }
    return true;
}

// Rows that somebody else closed or deleted, or that became visible late.
static bool
reader_rows_compare(struct reader *reader, struct err *err)
{
    int64_t began = clock_mono();
    int64_t *missing;
    size_t missing_count;
    bool ok = reader_backlog_compare(reader, reader->rows.backlog, &missing, &missing_count, err) &&
              add_missing(reader, missing, missing_count, err);
    free(missing);
    int64_t cost = clock_mono() - began;
    reader->rows.compare_at = clock_mono() + (cost * 20 > COMPARE_LEAST ? cost * 20 : COMPARE_LEAST);
    return ok;
}

bool
reader_rows_step(struct reader *reader, bool *is_over, struct err *err)
{
    *is_over = true;
    if (!reader->counts.has_rollup)
        return true;
    if (!reader->rows.backlog) {
        reader->rows.backlog = backlog_create();
        reader->rows.upto = INT64_MAX;
    }
    if (!reader->rows.is_whole) {
        *is_over = false;
        return reader_rows_read_page(reader, err);
    }
    bool agrees = backlog_count(reader->rows.backlog) == backlog_count(reader->counts.backlog);
    if (agrees || clock_mono() < reader->rows.compare_at)
        return true;
    return reader_rows_compare(reader, err);
}

void
reader_rows_adopt(struct reader *reader, struct backlog *rows)
{
    if (!reader->counts.has_rollup || reader->rows.is_whole) {
        backlog_destroy(rows);
        return;
    }
    backlog_destroy(reader->rows.backlog);
    reader->rows.backlog = rows;
    reader->rows.is_whole = true;
    reader->rows.compare_at = 0;
}

void
reader_rows_arrived(struct reader *reader, const struct event *events, size_t count)
{
    if (reader->counts.has_rollup && reader->rows.backlog)
        backlog_add(reader->rows.backlog, events, count);
}
