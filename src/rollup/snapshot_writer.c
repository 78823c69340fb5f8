#include "rollup/snapshot_writer.h"

#include <sys/random.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/events/texts.h"

enum {
    FIRST_PAGE = 200, // rows read at once at first; later as many as make PAGE_BYTES
    PAGE_BYTES = 256 << 10,
    EVENTS = 8000,   // of a snapshot,
    BYTES = 4 << 20, // and of their texts
    SMALL = 2000,    // events below which a snapshot is merged with its neighbours
    SHARE = 5,       // writing may take one part in so many of the time
};
static const int64_t LOOK_EVERY = 5 * US_PER_SECOND;

void
snapshot_writer_init(struct snapshot_writer *writer)
{
    *writer = (struct snapshot_writer){.small = SMALL};
    if (getrandom(writer->key, sizeof writer->key, 0) != (ssize_t)sizeof writer->key)
        die("the system gave no random bytes");
}

// A role whose rights were granted by hand lacks those on functions that came later.
static bool
is_denied(struct snapshot_writer *writer, struct err *err)
{
    if (err->kind != ERR_DENIED)
        return false;
    log_line(LOG_WARN, "error messages are not kept for searches", LOG_TEXT("why", err->text));
    err_clear(err);
    writer->at = INT64_MAX;
    return true;
}

bool
snapshot_writer_sweep_began(struct snapshot_writer *writer, struct store *store, struct err *err)
{
    // The count first: a row that is written in between is counted later.
    return store_change_count(store, &writer->changes, err) &&
           store_xmin_floor(store, &writer->xmin_floor, err);
}

bool
snapshot_writer_sweep_ended(struct snapshot_writer *writer, struct store *store, const char *maintainer,
                            struct err *err)
{
    int64_t xmin_floor = writer->xmin_floor;
    writer->xmin_floor = 0;
    return xmin_floor == 0 || writer->at == INT64_MAX ||
           text_snapshot_compared(store, maintainer, xmin_floor, writer->changes, writer->small, err) ||
           is_denied(writer, err);
}

struct gathered {
    struct column column;
    int64_t lowest;
    size_t page, page_bytes, bytes;
};

static bool
is_enough(const struct gathered *gathered)
{
    return column_count(&gathered->column) >= EVENTS || gathered->bytes >= BYTES;
}

// Asks after every row: the next texts may be a hundred times as long.
static bool
gathered_add(void *context, int64_t id, struct bytes text)
{
    struct gathered *gathered = context;
    column_add(&gathered->column, id, text);
    gathered->lowest = id;
    gathered->page_bytes += text.len;
    gathered->bytes += text.len;
    gathered->page++;
    return !is_enough(gathered);
}

static size_t
next_page(const struct gathered *gathered)
{
    size_t each = gathered->page_bytes / (gathered->page ? gathered->page : 1) + 1;
    size_t rows = PAGE_BYTES / each;
    size_t left = EVENTS - column_count(&gathered->column);
    return rows > left ? left : rows ? rows : 1;
}

// Reads events of the gap, highest first, until they are enough. *low: all from there up were read.
static bool
read_gap(struct snapshot_writer *writer, struct store *store, const struct text_gap *gap,
         struct gathered *gathered, int64_t *low, struct err *err)
{
    struct event_texts_query query = {.text = EVENT_TEXT_ERROR,
                                      .after_id = gap->after,
                                      .before_id = gap->before,
                                      .limit = writer->page ? writer->page : FIRST_PAGE};
    for (bool is_end = false; !is_end && !is_enough(gathered);) {
        gathered->page = gathered->page_bytes = 0;
        if (!store_event_texts(store, &query, gathered_add, gathered, err))
            return false;
        is_end = gathered->page < query.limit && !is_enough(gathered);
        *low = is_end ? gap->after + 1 : gathered->lowest;
        query.before_id = gathered->lowest;
        query.limit = writer->page = next_page(gathered);
    }
    return true;
}

// A snapshot of few but long texts cannot grow: merging it would write it again each time.
static void
learn_small(struct snapshot_writer *writer, const struct gathered *gathered)
{
    size_t events = column_count(&gathered->column);
    if (gathered->bytes >= BYTES && writer->small > events / 2)
        writer->small = events / 2;
}

static bool
write_snapshot(struct snapshot_writer *writer, struct store *store, const char *maintainer,
               const struct text_gap *gap, struct err *err)
{
    struct gathered gathered = {0};
    struct strbuf content = {0};
    int64_t low = gap->before;
    column_init(&gathered.column, writer->key);
    bool ok = read_gap(writer, store, gap, &gathered, &low, err);
    if (ok) {
        learn_small(writer, &gathered);
        column_pack(&gathered.column, &content);
        ok = text_snapshot_put(store, maintainer, low, gap->before - 1, column_count(&gathered.column),
                               strbuf_bytes(&content), err);
    }
    strbuf_release(&content);
    column_release(&gathered.column);
    return ok;
}

bool
snapshot_writer_step(struct snapshot_writer *writer, struct store *store, const char *maintainer,
                     int64_t upto, struct err *err)
{
    struct text_gap gap;
    int64_t began = clock_mono();
    if (!text_snapshot_gap(store, maintainer, upto, &gap, err))
        return is_denied(writer, err);
    if (gap.before == 0) {
        writer->at = clock_mono() + LOOK_EVERY;
        return true;
    }
    if (!write_snapshot(writer, store, maintainer, &gap, err))
        return is_denied(writer, err);
    int64_t now = clock_mono();
    writer->at = now + (now - began) * (SHARE - 1);
    return true;
}
