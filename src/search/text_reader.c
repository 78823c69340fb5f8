#include "search/text_reader.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"

enum {
    LANES = 2,
    AHEAD = 2, // ranges that a lane is given ahead, and pages that wait in it
    FIRST_ROWS = 1000,
    MOST_ROWS = 20000,
    PAGE_BYTES = 1 << 20,
    THINNEST = 1 << 30, // ids a row
};

// A range of ids, both ends excluded.
struct text_range {
    enum event_text text;
    int64_t after_id, before_id;
    int64_t ids; // between them
    size_t rows; // of a page
    bool is_bottom;
    bool is_cut; // a part of it was read: the rest comes page by page, downwards
};

struct text_reader {
    const struct store_settings *settings;
    struct lane *lanes[LANES]; // NULL: at rest
    bool is_reading, is_all_given;
    enum event_text text;
    int64_t before;          // of the next range
    int64_t lowest, highest; // ids of the table
    size_t rows;             // of a page, so that it has about PAGE_BYTES
    int64_t ids_a_row;       // how thin pending events are
    int64_t rows_of_range;   // of the range that is being taken
    size_t given, taken;     // ranges; the n-th belongs to lane n % LANES
};

// --- the lanes' threads ---

static bool
read_range(struct store *store, const struct text_range *range, bool is_up, size_t most,
           struct texts_page *page)
{
    const struct event_texts_query query = {.text = range->text,
                                            .after_id = range->after_id,
                                            .before_id = range->before_id,
                                            .ascending = is_up,
                                            .limit = most};
    return store_event_texts(store, &query, texts_page_add, page, &page->err);
}

// Upwards, since neither disk nor kernel reads ahead for a server that walks a table backwards. *is_whole:
// the page has the range; otherwise that is much more than a page, and its lower end of no use yet.
static bool
read_whole(struct store *store, const struct text_range *range, struct texts_page *page, bool *is_whole)
{
    size_t most = 2 * range->rows;
    bool ok = read_range(store, range, true, most, page);
    *is_whole = ok && page->count < most && !texts_page_is_full(page);
    if (*is_whole)
        texts_page_reverse(page);
    else
        texts_page_clear(page);
    return ok;
}

// The next page of the range, which becomes shorter by it.
static struct texts_page *
text_reader_read_page(struct store *store, struct text_range *range)
{
    struct texts_page *page = texts_page_create(range->text);
    page->range_ids = range->ids;
    bool is_whole = false;
    bool ok = store_connect(store, &page->err) &&
              (range->is_bottom || range->is_cut || read_whole(store, range, page, &is_whole)) &&
              (is_whole || read_range(store, range, false, range->rows, page));
    bool is_full = ok && texts_page_is_full(page);
    range->is_cut = true;
    page->is_range_over = !ok || is_whole || (page->count < range->rows && !is_full);
    page->is_bottom = ok && page->is_range_over && range->is_bottom;
    page->low = page->is_range_over ? range->after_id + 1 : page->rows[page->count - 1].id;
    range->before_id = page->low;
    range->rows = is_full ? page->count : range->rows;
    return page;
}

static void
text_reader_work(struct lane *lane, void *given)
{
    struct text_range *range = given;
    for (bool is_over = false; !is_over && lane_is_wanted(lane);) {
        struct texts_page *page = text_reader_read_page(lane_connection(lane), range);
        is_over = page->is_range_over;
        if (!lane_put(lane, page)) {
            texts_page_destroy(page);
            break;
        }
    }
    free(range);
}

// --- the caller's thread ---

struct text_reader *
text_reader_create(const struct store_settings *settings)
{
    struct text_reader *reader = alloc_bytes(sizeof *reader);
    reader->settings = settings;
    return reader;
}

void
text_reader_destroy(struct text_reader *reader)
{
    if (!reader)
        return;
    text_reader_rest(reader);
    free(reader);
}

static struct lane *
start_lane(const struct text_reader *reader)
{
    return lane_create(&(struct lane_settings){.name = "texts",
                                               .work = text_reader_work,
                                               .connection = store_create(reader->settings),
                                               .interrupt = store_lane_interrupt,
                                               .close = store_lane_close,
                                               .jobs = AHEAD,
                                               .results = AHEAD,
                                               .drop_job = free,
                                               .drop_result = texts_page_drop});
}

void
text_reader_rest(struct text_reader *reader)
{
    reader->is_reading = false;
    for (int i = 0; i < LANES; i++)
        lane_stop(reader->lanes[i]); // all, before the first is waited for
    for (int i = 0; i < LANES; i++) {
        lane_destroy(reader->lanes[i]);
        reader->lanes[i] = NULL;
    }
}

void
text_reader_begin(struct text_reader *reader, enum event_text text, int64_t before_id, int64_t lowest,
                  int64_t highest)
{
    reader->is_reading = true;
    reader->text = text;
    reader->before = before_id;
    reader->lowest = lowest;
    reader->highest = highest;
    reader->rows = FIRST_ROWS;
    reader->ids_a_row = 1;
    reader->rows_of_range = 0;
    reader->is_all_given = false;
    reader->given = reader->taken = 0;
    for (int i = 0; i < LANES; i++) {
        if (reader->lanes[i])
            lane_abandon(reader->lanes[i]);
        else
            reader->lanes[i] = start_lane(reader);
    }
}

bool
text_reader_is_reading(const struct text_reader *reader, enum event_text text)
{
    return reader->is_reading && reader->text == text;
}

// The next range, as long as one page of rows needs.
static struct text_range *
next_range(struct text_reader *reader)
{
    int64_t top = reader->highest < INT64_MAX ? reader->highest + 1 : INT64_MAX;
    int64_t from = reader->before == INT64_MAX ? top : reader->before;
    int64_t ids = (int64_t)reader->rows * reader->ids_a_row;
    struct text_range *range = alloc_bytes(sizeof *range);
    *range = (struct text_range){
        .text = reader->text, .before_id = reader->before, .ids = ids, .rows = reader->rows};
    range->is_bottom = from <= reader->lowest || (uint64_t)from - (uint64_t)reader->lowest <= (uint64_t)ids;
    range->after_id = range->is_bottom ? INT64_MIN : from - ids - 1;
    return range;
}

static void
give_ranges(struct text_reader *reader)
{
    while (!reader->is_all_given && reader->given < reader->taken + (size_t)LANES * AHEAD) {
        struct text_range *range = next_range(reader);
        int64_t before = range->is_bottom ? INT64_MIN : range->after_id + 1;
        if (!lane_give(reader->lanes[reader->given % LANES], range, 0)) {
            free(range);
            return;
        }
        reader->given++;
        reader->before = before;
        reader->is_all_given = before == INT64_MIN;
    }
}

// Adapts ranges and pages to come to this page.
static void
reader_adapt(struct text_reader *reader, const struct texts_page *page)
{
    if (page->count) {
        size_t wanted = PAGE_BYTES / (page->bytes.len / page->count + 1);
        size_t most = reader->rows * 4 < MOST_ROWS ? reader->rows * 4 : MOST_ROWS;
        reader->rows = wanted < 1 ? 1 : wanted < most ? wanted : most;
    }
    reader->rows_of_range += (int64_t)page->count;
    if (!page->is_range_over)
        return;
    int64_t thin = reader->rows_of_range ? page->range_ids / reader->rows_of_range : reader->ids_a_row * 8;
    reader->ids_a_row = thin < 1 ? 1 : thin > THINNEST ? THINNEST : thin;
    reader->rows_of_range = 0;
    reader->taken++;
}

struct texts_page *
text_reader_take(struct text_reader *reader, int64_t wait_us)
{
    if (reader->is_reading)
        give_ranges(reader);
    if (!reader->is_reading || reader->taken == reader->given)
        return NULL;
    struct texts_page *page = lane_take(reader->lanes[reader->taken % LANES], wait_us);
    if (page)
        reader_adapt(reader, page);
    return page;
}
