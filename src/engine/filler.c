#include "engine/filler.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"

struct filler {
    const struct store_settings *settings;
    const char *keeper;
    struct mailbox *given, *written; // of the one job below, which belongs to whom it was sent to
    struct thread *thread;
    struct store *store; // of the thread
    bool is_busy;        // of the keeper: the job is on its way
    struct fill_job {
        struct rollup_slice slice;
        int64_t was_low, low;
        int32_t slots_from;
        struct err err;
    } job;
};

static void
carry_out(struct filler *filler, struct fill_job *job)
{
    err_clear(&job->err);
    if (!filler->store && !store_open(&filler->store, filler->settings, &job->err))
        return;
    if (!store_is_connected(filler->store) && !store_reconnect(filler->store, &job->err))
        return;
    (void)!rollup_fill(filler->store, filler->keeper, &job->slice, job->was_low, job->low, job->slots_from,
                       &job->err);
}

static void
fill(void *context)
{
    struct filler *filler = context;
    struct fill_job *job;
    while ((job = mailbox_take(filler->given, -1))) {
        carry_out(filler, job);
        (void)!mailbox_put(filler->written, job, -1);
    }
}

struct filler *
filler_create(const struct store_settings *settings, const char *keeper)
{
    struct filler *filler = alloc_bytes(sizeof *filler);
    filler->settings = settings;
    filler->keeper = keeper;
    filler->given = mailbox_create(1);
    filler->written = mailbox_create(1);
    filler->thread = thread_start(fill, filler, "filler");
    return filler;
}

void
filler_destroy(struct filler *filler)
{
    if (!filler)
        return;
    (void)!filler_wait(filler, NULL);
    mailbox_close(filler->given);
    thread_join(filler->thread);
    store_close(filler->store);
    mailbox_destroy(filler->given, NULL);
    mailbox_destroy(filler->written, NULL);
    rollup_slice_release(&filler->job.slice);
    free(filler);
}

bool
filler_wait(struct filler *filler, struct err *err)
{
    if (!filler->is_busy)
        return true;
    (void)!mailbox_take(filler->written, -1);
    filler->is_busy = false;
    if (!err_is_set(&filler->job.err))
        return true;
    if (err)
        *err = filler->job.err;
    return false;
}

bool
filler_give(struct filler *filler, struct rollup_slice *slice, int64_t was_low, int64_t low,
            int32_t slots_from, struct err *err)
{
    if (!filler_wait(filler, err))
        return false;
    struct rollup_slice room = filler->job.slice;
    filler->job.slice = *slice;
    *slice = room;
    filler->job.was_low = was_low;
    filler->job.low = low;
    filler->job.slots_from = slots_from;
    filler->is_busy = mailbox_put(filler->given, &filler->job, -1);
    return true;
}
