#include "rollup/loader.h"

#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"

struct loader {
    const struct store_settings *settings;
    const char *maintainer;
    struct mailbox *asked, *done; // of the jobs below, which belong to whom they were sent to
    struct thread *thread;
    struct store *store;        // of the thread
    struct rollup_cells *cells; // of the thread
    int under_way;              // of the maintainer: jobs that were sent and did not come back
    int reading;                // of the maintainer: the job that was, or is to be, read next
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
loader_connect(struct loader *loader, struct err *err)
{
    if (!loader->store)
        return store_open(&loader->store, loader->settings, err);
    return store_is_connected(loader->store) || store_reconnect(loader->store, err);
}

static void
carry_out(struct loader *loader, struct fill_job *job)
{
    err_clear(&job->err);
    if (!loader_connect(loader, &job->err))
        return;
    if (job->what == FILL_READ)
        (void)!rollup_gather(loader->store, loader->maintainer, loader->cells, &job->range, &job->slice,
                             &job->err);
    else
        (void)!rollup_fill(loader->store, loader->maintainer, &job->slice, job->was_low, job->low,
                           job->slots_from, &job->err);
}

static void
loader_fill(void *context)
{
    struct loader *loader = context;
    struct fill_job *job;
    while ((job = mailbox_take(loader->asked, -1))) {
        carry_out(loader, job);
        (void)!mailbox_put(loader->done, job, -1);
    }
}

struct loader *
loader_create(const struct store_settings *settings, const char *maintainer)
{
    struct loader *loader = alloc_bytes(sizeof *loader);
    loader->settings = settings;
    loader->maintainer = maintainer;
    loader->cells = rollup_cells_create();
    loader->asked = mailbox_create(2);
    loader->done = mailbox_create(2);
    loader->thread = thread_start(loader_fill, loader, "filler");
    return loader;
}

void
loader_destroy(struct loader *loader)
{
    if (!loader)
        return;
    (void)!loader_wait(loader, NULL);
    mailbox_close(loader->asked);
    thread_join(loader->thread);
    store_close(loader->store);
    rollup_cells_destroy(loader->cells);
    mailbox_destroy(loader->asked, NULL);
    mailbox_destroy(loader->done, NULL);
    for (int i = 0; i < 2; i++)
        rollup_slice_release(&loader->jobs[i].slice);
    free(loader);
}

// Until at most so many are under way; they come back in order. Of what failed the first is told.
static bool
await(struct loader *loader, int left, struct err *err)
{
    bool ok = true;
    while (loader->under_way > left) {
        const struct fill_job *job = mailbox_take(loader->done, -1);
        loader->under_way--;
        if (ok && err_is_set(&job->err) && err)
            *err = job->err;
        ok = ok && !err_is_set(&job->err);
    }
    return ok;
}

bool
loader_wait(struct loader *loader, struct err *err)
{
    return await(loader, 0, err);
}

bool
loader_wait_written(struct loader *loader, struct err *err)
{
    return await(loader, 1, err);
}

static void
loader_ask(struct loader *loader, struct fill_job *job)
{
    loader->under_way += mailbox_put(loader->asked, job, -1);
}

bool
loader_read(struct loader *loader, int64_t upto, size_t rows, struct err *err)
{
    if (!await(loader, 1, err))
        return false;
    struct fill_job *job = &loader->jobs[loader->reading];
    job->what = FILL_READ;
    job->range = (struct rollup_range){.before_id = upto, .limit = rows};
    loader_ask(loader, job);
    return true;
}

bool
loader_write(struct loader *loader, int64_t was_low, int32_t slots_from, int64_t *low, struct err *err)
{
    if (!await(loader, 0, err))
        return false;
    struct fill_job *job = &loader->jobs[loader->reading];
    job->what = FILL_WRITE;
    job->was_low = was_low;
    job->low = *low = rollup_low(&job->slice, job->range.limit);
    job->slots_from = slots_from;
    loader->reading = !loader->reading;
    loader_ask(loader, job);
    return true;
}
