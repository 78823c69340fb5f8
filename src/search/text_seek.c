#include "search/text_seek.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"
#include "base/clock.h"

enum { AHEAD = 4, PAGE_BYTES = 1 << 20, PAGE_ROWS = 20000 };
static const int64_t REST_US = 10 * US_PER_SECOND;
static const int64_t AGAIN_US = 10000; // between two attempts to interrupt what is to end

struct text_seek {
    const struct store_settings *settings;
    _Atomic uint64_t run; // what is of another one is thrown away
    atomic_bool has_ended;
    struct store *_Atomic store; // of the thread; from outside only to interrupt it
    struct mailbox *given, *found;

    // Of the thread that uses it.
    struct thread *thread;
    bool is_busy;
    int64_t used_at; // clock_mono
};

// One pass, and what it found since the page before.
struct job {
    struct text_seek *seek;
    bool is_only_connection;
    uint64_t run;
    struct event_scan scan;
    struct strbuf required;
    struct text_page *page;
};

static void
text_seek_drop_page(void *page)
{
    text_page_destroy(page);
}

static void
drop_job(void *given)
{
    struct job *job = given;
    if (!job)
        return;
    strbuf_release(&job->required);
    text_page_destroy(job->page);
    free(job);
}

// --- the thread ---

static struct text_page *
new_page(const struct job *job)
{
    struct text_page *page = alloc_bytes(sizeof *page);
    page->text = job->scan.text;
    page->run = job->run;
    return page;
}

static bool
hand_over(struct job *job)
{
    if (!mailbox_put(job->seek->found, job->page, -1))
        return false;
    job->page = new_page(job);
    return true;
}

static bool
text_seek_add_row(void *context, const struct scanned_row *row)
{
    struct job *job = context;
    if (job->run != job->seek->run)
        return false;
    text_page_add_row(job->page, row);
    bool is_full = job->page->bytes.len >= PAGE_BYTES || job->page->count >= PAGE_ROWS;
    return !is_full || hand_over(job);
}

static bool
text_seek_connect(struct text_seek *seek, struct err *err)
{
    struct store *opened = NULL;
    if (seek->store)
        return store_is_connected(seek->store) || store_reconnect(seek->store, err);
    if (!store_open(&opened, seek->settings, err))
        return false;
    atomic_store(&seek->store, opened);
    return true;
}

static void
serve(struct job *job)
{
    struct text_seek *seek = job->seek;
    struct err err = {0};
    if (job->is_only_connection) {
        (void)!text_seek_connect(seek, &err); // the pass says what is wrong
        return;
    }
    job->page = new_page(job);
    if (text_seek_connect(seek, &err) && job->run == seek->run)
        (void)!store_scan_texts(seek->store, &job->scan, text_seek_add_row, job, &err);
    job->page->is_bottom = true;
    job->page->err = err;
    if (job->run == seek->run)
        (void)!hand_over(job);
}

static void
text_seek_run(void *context)
{
    struct text_seek *seek = context;
    for (struct job *job; (job = mailbox_take(seek->given, -1));) {
        serve(job);
        drop_job(job);
    }
    atomic_store(&seek->has_ended, true);
}

// --- who uses it ---

struct text_seek *
text_seek_create(const struct store_settings *settings)
{
    struct text_seek *seek = alloc_bytes(sizeof *seek);
    seek->settings = settings;
    return seek;
}

static void
start(struct text_seek *seek)
{
    if (seek->thread)
        return;
    seek->has_ended = false;
    seek->given = mailbox_create(1);
    seek->found = mailbox_create(AHEAD);
    seek->thread = thread_start(text_seek_run, seek, "seek");
}

static void
interrupt(struct text_seek *seek)
{
    struct store *store = atomic_load(&seek->store);
    if (store)
        store_interrupt(store);
}

// Ends thread and connection.
static void
text_seek_finish(struct text_seek *seek)
{
    if (!seek->thread)
        return;
    seek->run++;
    mailbox_close(seek->given);
    mailbox_close(seek->found);
    // An interrupt that comes just before its statement begins is lost.
    for (; !seek->has_ended; clock_sleep(AGAIN_US))
        interrupt(seek);
    thread_join(seek->thread);
    store_close(atomic_exchange(&seek->store, NULL));
    mailbox_destroy(seek->given, drop_job);
    mailbox_destroy(seek->found, text_seek_drop_page);
    seek->thread = NULL;
    seek->is_busy = false;
}

void
text_seek_destroy(struct text_seek *seek)
{
    if (!seek)
        return;
    text_seek_finish(seek);
    free(seek);
}

void
text_seek_prepare(struct text_seek *seek)
{
    start(seek);
    struct job *job = alloc_bytes(sizeof *job);
    job->seek = seek;
    job->is_only_connection = true;
    seek->used_at = clock_mono();
    if (!mailbox_put(seek->given, job, 0))
        drop_job(job);
}

void
text_seek_begin(struct text_seek *seek, const struct event_scan *scan)
{
    start(seek);
    struct job *job = alloc_bytes(sizeof *job);
    job->seek = seek;
    job->run = ++seek->run;
    job->scan = *scan;
    strbuf_add(&job->required, scan->required);
    job->scan.required = strbuf_bytes(&job->required);
    drop_job(mailbox_take(seek->given, 0)); // not yet begun
    (void)!mailbox_put(seek->given, job, -1);
    seek->is_busy = true;
}

struct text_page *
text_seek_take(struct text_seek *seek, int64_t wait_us)
{
    struct text_page *page = NULL;
    while (seek->is_busy && (page = mailbox_take(seek->found, wait_us)) && page->run != seek->run)
        text_page_destroy(page);
    if (page && page->is_bottom) {
        seek->is_busy = false;
        seek->used_at = clock_mono();
    }
    return page;
}

void
text_seek_stop(struct text_seek *seek)
{
    if (!seek->is_busy)
        return;
    seek->run++;
    seek->is_busy = false;
    seek->used_at = clock_mono();
    interrupt(seek);
    for (struct text_page *page; (page = mailbox_take(seek->found, 0));)
        text_page_destroy(page); // so that nobody waits for room
}

bool
text_seek_is_busy(const struct text_seek *seek)
{
    return seek->is_busy;
}

void
text_seek_rest(struct text_seek *seek)
{
    if (seek->thread && !seek->is_busy && clock_mono() - seek->used_at > REST_US)
        text_seek_finish(seek);
}
