#include "search/text_seek.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"

enum { PAGES_AHEAD = 4, PAGE_BYTES = 1 << 20, PAGE_ROWS = 20000 };
static const int64_t REST_US = 10 * US_PER_SECOND;

struct text_seek {
    const struct store_settings *settings;
    struct lane *lane; // NULL: it rests
    bool is_busy;
    int64_t used_at; // clock_mono
};

struct seek_job {
    enum { SEEK_CONNECT, SEEK_PASS } what;
    struct event_scan scan;
    struct strbuf required;
    struct texts_page *page; // rows since the page before
};

static void
seek_job_destroy(void *given)
{
    struct seek_job *job = given;
    strbuf_release(&job->required);
    texts_page_destroy(job->page);
    free(job);
}

// --- the lane's thread ---

struct seek_pass {
    struct lane *lane;
    struct seek_job *job;
};

static bool
hand_over(struct seek_pass *pass)
{
    if (!lane_put(pass->lane, pass->job->page))
        return false;
    pass->job->page = texts_page_create(pass->job->scan.text);
    return true;
}

static bool
text_seek_add_row(void *context, const struct scanned_row *row)
{
    struct seek_pass *pass = context;
    struct texts_page *page = pass->job->page;
    if (!lane_is_wanted(pass->lane))
        return false;
    texts_page_add_row(page, row);
    bool is_full = page->bytes.len >= PAGE_BYTES || page->count >= PAGE_ROWS;
    return !is_full || hand_over(pass);
}

static void
run_pass(struct lane *lane, struct seek_job *job)
{
    struct store *store = lane_connection(lane);
    struct seek_pass pass = {.lane = lane, .job = job};
    struct err err = {0};
    job->page = texts_page_create(job->scan.text);
    if (store_connect(store, &err) && lane_is_wanted(lane))
        (void)!store_scan_texts(store, &job->scan, text_seek_add_row, &pass, &err);
    job->page->is_bottom = true;
    job->page->err = err;
    (void)!hand_over(&pass);
}

static void
text_seek_work(struct lane *lane, void *given)
{
    struct seek_job *job = given;
    struct err ignored = {0}; // the pass says it
    if (job->what == SEEK_CONNECT)
        (void)!store_connect(lane_connection(lane), &ignored);
    else
        run_pass(lane, job);
    seek_job_destroy(job);
}

// --- the caller's thread ---

struct text_seek *
text_seek_create(const struct store_settings *settings)
{
    struct text_seek *seek = alloc_bytes(sizeof *seek);
    seek->settings = settings;
    return seek;
}

static void
seek_start(struct text_seek *seek)
{
    if (!seek->lane)
        seek->lane = lane_create(&(struct lane_settings){.name = "seek",
                                                         .work = text_seek_work,
                                                         .connection = store_create(seek->settings),
                                                         .interrupt = store_lane_interrupt,
                                                         .close = store_lane_close,
                                                         .jobs = 1,
                                                         .results = PAGES_AHEAD,
                                                         .drop_job = seek_job_destroy,
                                                         .drop_result = texts_page_drop});
}

static void
seek_finish(struct text_seek *seek)
{
    lane_destroy(seek->lane);
    seek->lane = NULL;
    seek->is_busy = false;
}

void
text_seek_destroy(struct text_seek *seek)
{
    if (!seek)
        return;
    seek_finish(seek);
    free(seek);
}

void
text_seek_prepare(struct text_seek *seek)
{
    seek_start(seek);
    struct seek_job *job = alloc_bytes(sizeof *job);
    job->what = SEEK_CONNECT;
    seek->used_at = clock_mono();
    if (!lane_give(seek->lane, job, 0))
        seek_job_destroy(job);
}

void
text_seek_begin(struct text_seek *seek, const struct event_scan *scan)
{
    seek_start(seek);
    struct seek_job *job = alloc_bytes(sizeof *job);
    job->what = SEEK_PASS;
    job->scan = *scan;
    strbuf_add(&job->required, scan->required);
    job->scan.required = strbuf_bytes(&job->required);
    lane_abandon(seek->lane);
    (void)!lane_give(seek->lane, job, -1);
    seek->is_busy = true;
}

struct texts_page *
text_seek_take(struct text_seek *seek, int64_t wait_us)
{
    struct texts_page *page = seek->is_busy ? lane_take(seek->lane, wait_us) : NULL;
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
    lane_abandon(seek->lane);
    lane_interrupt(seek->lane);
    seek->is_busy = false;
    seek->used_at = clock_mono();
}

bool
text_seek_is_busy(const struct text_seek *seek)
{
    return seek->is_busy;
}

void
text_seek_rest(struct text_seek *seek)
{
    if (seek->lane && !seek->is_busy && clock_mono() - seek->used_at > REST_US)
        seek_finish(seek);
}
