#include "rollup/loader.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"

struct filler {
    const struct store_settings *settings;
    const char *keeper;
    struct mailbox *asked, *done; // of the jobs below, which belong to whom they were sent to
    struct thread *thread;
    struct store *store;        // of the thread
    struct rollup_cells *cells; // of the thread
    int under_way;              // of the keeper: jobs that were sent and did not come back
    int reading;                // of the keeper: the job that was, or is to be, read next
    struct fill_job {
        enum { FILL_READ, FILL_WRITE } what;
        struct rollup_range range;
        struct rollup_slice slice;
        int64_t was_low, low;
        int32_t slots_from;
        struct err err;
    } jobs[2]; // one is read while the other is written
};

static bool
connect(struct filler *filler, struct err *err)
{
    if (!filler->store)
        return store_open(&filler->store, filler->settings, err);
    return store_is_connected(filler->store) || store_reconnect(filler->store, err);
}

static void
carry_out(struct filler *filler, struct fill_job *job)
{
    err_clear(&job->err);
    if (!connect(filler, &job->err))
        return;
    if (job->what == FILL_READ)
        (void)!rollup_gather(filler->store, filler->keeper, filler->cells, &job->range, &job->slice,
                             &job->err);
    else
        (void)!rollup_fill(filler->store, filler->keeper, &job->slice, job->was_low, job->low,
                           job->slots_from, &job->err);
}

static void
fill(void *context)
{
    struct filler *filler = context;
    struct fill_job *job;
    while ((job = mailbox_take(filler->asked, -1))) {
        carry_out(filler, job);
        (void)!mailbox_put(filler->done, job, -1);
    }
}

struct filler *
filler_create(const struct store_settings *settings, const char *keeper)
{
    struct filler *filler = alloc_bytes(sizeof *filler);
    filler->settings = settings;
    filler->keeper = keeper;
    filler->cells = rollup_cells_create();
    filler->asked = mailbox_create(2);
    filler->done = mailbox_create(2);
    filler->thread = thread_start(fill, filler, "filler");
    return filler;
}

void
filler_destroy(struct filler *filler)
{
    if (!filler)
        return;
    (void)!filler_wait(filler, NULL);
    mailbox_close(filler->asked);
    thread_join(filler->thread);
    store_close(filler->store);
    rollup_cells_destroy(filler->cells);
    mailbox_destroy(filler->asked, NULL);
    mailbox_destroy(filler->done, NULL);
    for (int i = 0; i < 2; i++)
        rollup_slice_release(&filler->jobs[i].slice);
    free(filler);
}

// Until at most so many are under way; they come back in order. Of what failed the first is told.
static bool
await(struct filler *filler, int left, struct err *err)
{
    bool ok = true;
    while (filler->under_way > left) {
        const struct fill_job *job = mailbox_take(filler->done, -1);
        filler->under_way--;
        if (ok && err_is_set(&job->err) && err)
            *err = job->err;
        ok = ok && !err_is_set(&job->err);
    }
    return ok;
}

bool
filler_wait(struct filler *filler, struct err *err)
{
    return await(filler, 0, err);
}

bool
filler_wait_written(struct filler *filler, struct err *err)
{
    return await(filler, 1, err);
}

static void
ask(struct filler *filler, struct fill_job *job)
{
    filler->under_way += mailbox_put(filler->asked, job, -1);
}

bool
filler_read(struct filler *filler, int64_t upto, size_t rows, struct err *err)
{
    if (!await(filler, 1, err))
        return false;
    struct fill_job *job = &filler->jobs[filler->reading];
    job->what = FILL_READ;
    job->range = (struct rollup_range){.before_id = upto, .limit = rows};
    ask(filler, job);
    return true;
}

bool
filler_write(struct filler *filler, int64_t was_low, int32_t slots_from, int64_t *low, struct err *err)
{
    if (!await(filler, 0, err))
        return false;
    struct fill_job *job = &filler->jobs[filler->reading];
    job->what = FILL_WRITE;
    job->was_low = was_low;
    job->low = *low = rollup_low(&job->slice, job->range.limit);
    job->slots_from = slots_from;
    filler->reading = !filler->reading;
    ask(filler, job);
    return true;
}
