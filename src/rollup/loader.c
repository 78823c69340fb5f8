#include "rollup/loader.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"

struct load_job {
    enum { LOAD_READ, LOAD_WRITE } what;
    struct loader *loader;
    struct rollup_range range;
    struct rollup_batch batch;
    int64_t was_low, low;
    int32_t buckets_from;
    struct err err;
};

struct loader {
    const char *maintainer;
    struct lane *lane;
    struct rollup_series *series; // of the lane's thread
    struct load_job jobs[2];      // one is read while the other is written; a job under way is the lane's
    int under_way;                // jobs that were given and not taken
    int reading;                  // the job that was, or will be, read next
};

static void
loader_work(struct lane *lane, void *given)
{
    struct load_job *job = given;
    struct loader *loader = job->loader;
    struct store *store = lane_connection(lane);
    err_clear(&job->err);
    bool is_connected = store_connect(store, &job->err);
    if (is_connected && job->what == LOAD_READ)
        (void)!rollup_gather(store, loader->maintainer, loader->series, &job->range, &job->batch, &job->err);
    else if (is_connected)
        (void)!rollup_load(store, loader->maintainer, &job->batch, job->was_low, job->low, job->buckets_from,
                           &job->err);
    (void)!lane_put(lane, job);
}

struct loader *
loader_create(const struct store_settings *settings, const char *maintainer)
{
    struct loader *loader = alloc_bytes(sizeof *loader);
    loader->maintainer = maintainer;
    loader->series = rollup_series_create();
    loader->jobs[0].loader = loader->jobs[1].loader = loader;
    loader->lane = lane_create(&(struct lane_settings){.name = "loader",
                                                       .work = loader_work,
                                                       .connection = store_create(settings),
                                                       .close = store_lane_close,
                                                       .jobs = 2,
                                                       .results = 2});
    return loader;
}

void
loader_destroy(struct loader *loader)
{
    if (!loader)
        return;
    (void)!loader_wait(loader, NULL);
    lane_destroy(loader->lane);
    rollup_series_destroy(loader->series);
    for (int i = 0; i < 2; i++)
        rollup_batch_release(&loader->jobs[i].batch);
    free(loader);
}

// Waits until at most `left` jobs are under way; they come back in order. Reports the first failure.
static bool
await(struct loader *loader, int left, struct err *err)
{
    bool ok = true;
    while (loader->under_way > left) {
        const struct load_job *job = lane_take(loader->lane, -1);
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
loader_give(struct loader *loader, struct load_job *job)
{
    loader->under_way += lane_give(loader->lane, job, -1);
}

bool
loader_read(struct loader *loader, int64_t upto, size_t rows, struct err *err)
{
    if (!await(loader, 1, err))
        return false;
    struct load_job *job = &loader->jobs[loader->reading];
    job->what = LOAD_READ;
    job->range = (struct rollup_range){.after_id = ROLLUP_END, .before_id = upto, .limit = rows};
    loader_give(loader, job);
    return true;
}

bool
loader_write(struct loader *loader, int64_t was_low, int32_t buckets_from, int64_t *low, struct err *err)
{
    if (!await(loader, 0, err))
        return false;
    struct load_job *job = &loader->jobs[loader->reading];
    job->what = LOAD_WRITE;
    job->was_low = was_low;
    job->low = *low = rollup_low(&job->batch, job->range.limit);
    job->buckets_from = buckets_from;
    loader->reading = !loader->reading;
    loader_give(loader, job);
    return true;
}
