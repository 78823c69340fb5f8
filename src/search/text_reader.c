#include "search/text_reader.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"

enum {
    THREADS = 2,
    AHEAD = 2, // ranges a thread is given, and pages of it that wait
    FIRST_ROWS = 1000,
    MOST_ROWS = 20000,
    PAGE_BYTES = 1 << 20,
    FULL_BYTES = 2 * PAGE_BYTES,
    THINNEST = 1 << 30, // ids a row
};

// A range of ids, both ends excluded.
struct range {
    enum event_text text;
    int64_t after_id, before_id;
    int64_t ids; // between them
    size_t rows; // of a page
    bool is_bottom;
    uint64_t run;
};

struct text_reader {
    const struct store_settings *settings;
    _Atomic uint64_t run; // what is of another one is thrown away
    atomic_bool is_stopping;
    struct worker {
        struct text_reader *reader;
        struct mailbox *given, *read;
        struct thread *thread;
        struct store *_Atomic store; // of the thread; from outside only to interrupt it
    } workers[THREADS];

    // Of the thread that uses it.
    bool is_reading, is_all_given;
    enum event_text text;
    int64_t before;          // of the next range
    int64_t lowest, highest; // ids of the table
    size_t rows;             // of a page, so that it has about PAGE_BYTES
    int64_t ids_a_row;       // how thin pending events are
    int64_t rows_of_range;   // of the one that is being taken
    size_t given, taken;     // ranges; the n-th is worker n % THREADS's
};

bool
text_page_is_full(const struct text_page *page)
{
    return page->bytes.len >= FULL_BYTES;
}

bool
text_page_add(void *context, int64_t id, struct bytes text)
{
    struct text_page *page = context;
    page->places = alloc_grow(page->places, page->count, &page->capacity, sizeof *page->places);
    page->places[page->count++] = (struct text_place){
        .id = id, .from = page->bytes.len, .len = bytes_present(text) ? text.len : SIZE_MAX};
    if (bytes_present(text))
        strbuf_add(&page->bytes, text);
    return !text_page_is_full(page);
}

bool
text_page_add_row(struct text_page *page, const struct scanned_row *row)
{
    bool goes_on = text_page_add(page, row->id, row->text);
    page->places[page->count - 1].fits = row->fits;
    return goes_on;
}

void
text_page_destroy(struct text_page *page)
{
    if (!page)
        return;
    free(page->places);
    strbuf_release(&page->bytes);
    free(page);
}

struct bytes
text_page_at(const struct text_page *page, size_t i)
{
    const struct text_place *place = &page->places[i];
    if (place->len == SIZE_MAX)
        return BYTES_ABSENT;
    return (struct bytes){page->bytes.data ? page->bytes.data + place->from : "", place->len};
}

static void
text_reader_drop_page(void *page)
{
    text_page_destroy(page);
}

// --- the threads ---

static bool
text_reader_connect(struct worker *worker, struct err *err)
{
    struct store *opened = NULL;
    if (worker->store)
        return store_is_connected(worker->store) || store_reconnect(worker->store, err);
    if (!store_open(&opened, worker->reader->settings, err))
        return false;
    atomic_store(&worker->store, opened);
    return true;
}

// The next page of the range, which is then so much shorter.
static struct text_page *
text_reader_read_page(struct worker *worker, struct range *range)
{
    struct text_page *page = alloc_bytes(sizeof *page);
    page->text = range->text;
    page->run = range->run;
    page->range_ids = range->ids;
    const struct event_texts_query query = {.text = range->text,
                                            .after_id = range->after_id,
                                            .before_id = range->before_id,
                                            .limit = range->rows};
    bool ok = text_reader_connect(worker, &page->err) &&
              store_event_texts(worker->store, &query, text_page_add, page, &page->err);
    bool is_cut = ok && text_page_is_full(page);
    page->is_range_over = !ok || (page->count < range->rows && !is_cut);
    page->is_bottom = ok && page->is_range_over && range->is_bottom;
    page->low = page->is_range_over ? range->after_id + 1 : page->places[page->count - 1].id;
    range->before_id = page->low;
    range->rows = is_cut ? page->count : range->rows;
    return page;
}

static void
text_reader_read_range(struct worker *worker, struct range *range)
{
    for (bool is_over = false; !is_over;) {
        if (worker->reader->is_stopping || range->run != worker->reader->run)
            return;
        struct text_page *page = text_reader_read_page(worker, range);
        is_over = page->is_range_over;
        if (!mailbox_put(worker->read, page, -1)) {
            text_page_destroy(page);
            return;
        }
    }
}

static void
text_reader_run(void *context)
{
    struct worker *worker = context;
    for (struct range *range; (range = mailbox_take(worker->given, -1));) {
        text_reader_read_range(worker, range);
        free(range);
    }
}

// --- who uses it ---

struct text_reader *
text_reader_create(const struct store_settings *settings)
{
    struct text_reader *reader = alloc_bytes(sizeof *reader);
    reader->settings = settings;
    for (int i = 0; i < THREADS; i++)
        reader->workers[i].reader = reader;
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

static void
hand_start(struct worker *worker)
{
    if (worker->thread)
        return;
    worker->given = mailbox_create(AHEAD);
    worker->read = mailbox_create(AHEAD);
    worker->thread = thread_start(text_reader_run, worker, "texts");
}

static void
hand_stop(struct worker *worker)
{
    if (!worker->thread)
        return;
    struct store *store = atomic_load(&worker->store);
    mailbox_close(worker->given);
    mailbox_close(worker->read);
    if (store)
        store_interrupt(store);
    thread_join(worker->thread);
    store_close(store ? store : worker->store);
    mailbox_destroy(worker->given, free);
    mailbox_destroy(worker->read, text_reader_drop_page);
    *worker = (struct worker){.reader = worker->reader};
}

void
text_reader_rest(struct text_reader *reader)
{
    reader->run++; // ranges that wait are not read
    reader->is_reading = false;
    for (int i = 0; i < THREADS; i++)
        hand_stop(&reader->workers[i]);
}

void
text_reader_begin(struct text_reader *reader, enum event_text text, int64_t before_id, int64_t lowest,
                  int64_t highest)
{
    reader->run++;
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
    for (int i = 0; i < THREADS; i++) {
        hand_start(&reader->workers[i]);
        for (struct text_page *page; (page = mailbox_take(reader->workers[i].read, 0));)
            text_page_destroy(page);
    }
}

bool
text_reader_is_reading(const struct text_reader *reader, enum event_text text)
{
    return reader->is_reading && reader->text == text;
}

// The next range, as long as has about one page of rows in it.
static struct range *
next_range(struct text_reader *reader)
{
    int64_t from = reader->before == INT64_MAX ? reader->highest + 1 : reader->before;
    int64_t ids = (int64_t)reader->rows * reader->ids_a_row;
    struct range *range = alloc_bytes(sizeof *range);
    *range = (struct range){.text = reader->text,
                            .before_id = reader->before,
                            .ids = ids,
                            .rows = reader->rows,
                            .run = reader->run};
    range->is_bottom = from - reader->lowest <= ids;
    range->after_id = range->is_bottom ? INT64_MIN : from - ids - 1;
    return range;
}

static void
give_ranges(struct text_reader *reader)
{
    while (!reader->is_all_given && reader->given < reader->taken + (size_t)THREADS * AHEAD) {
        struct range *range = next_range(reader);
        int64_t before = range->is_bottom ? INT64_MIN : range->after_id + 1;
        if (!mailbox_put(reader->workers[reader->given % THREADS].given, range, 0)) {
            free(range);
            return;
        }
        reader->given++;
        reader->before = before;
        reader->is_all_given = before == INT64_MIN;
    }
}

// What ranges and pages should be like, after this one.
static void
learn(struct text_reader *reader, const struct text_page *page)
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

struct text_page *
text_reader_take(struct text_reader *reader, int64_t wait_us)
{
    for (;;) {
        give_ranges(reader);
        if (reader->taken == reader->given)
            return NULL;
        struct text_page *page = mailbox_take(reader->workers[reader->taken % THREADS].read, wait_us);
        if (page && page->run != reader->run) {
            text_page_destroy(page);
            continue;
        }
        if (page)
            learn(reader, page);
        return page;
    }
}
