// The five analyses. They read the whole table, which takes seconds at a million events. So they have a lane
// (async/lane) that lives for one count, and nothing else waits for them.
#include "backend/reader.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "rollup/analyses.h"
#include "rollup/reader.h"

static const int64_t ROLLUP_FOR = 5 * US_PER_SECOND; // how long to wait for it
static const int64_t LOOK_EVERY = US_PER_SECOND / 20;

struct stats_job {
    struct reader *reader; // of it: the settings and the mailbox of replies
    uint64_t number;
    struct lane *lane;
};

static bool
stopped(struct err *err)
{
    err_clear(err);
    return err_set(err, ERR_CANCELLED, "stopped · r count again");
}

// A rollup that somebody maintains, or this screen is about to, is worth a wait; the first count is not.
static bool
is_rollup_near(const struct rollup_state *state)
{
    return (state->is_kept || state->may_keep) && !(state->exists && state->is_counting);
}

static bool
await_rollup(struct lane *lane, struct store *store)
{
    struct rollup_state state = {0};
    int64_t until = clock_mono() + ROLLUP_FOR;
    bool is_exact;
    while (!(is_exact = rollup_is_exact(store, &state)) && is_rollup_near(&state) && clock_mono() < until &&
           lane_is_wanted(lane))
        (void)lane_sleep(lane, LOOK_EVERY);
    return is_exact;
}

static bool
count(struct lane *lane, struct reply *reply)
{
    struct store *store = lane_connection(lane);
    if (!store_connect(store, &reply->err))
        return false;
    bool has_rollup = await_rollup(lane, store);
    if (!lane_is_wanted(lane))
        return stopped(&reply->err);
    bool ok = analyses_read(store, has_rollup, NULL, &reply->arena, &reply->figures.stats, &reply->err);
    return ok || lane_is_wanted(lane) ? ok : stopped(&reply->err);
}

static void
count_beside(struct lane *lane, void *given)
{
    const struct stats_job *job = given;
    struct reply *reply = reply_create(REPLY_STATS, job->number);
    if (!count(lane, reply))
        reply->kind = REPLY_ERROR;
    reply->is_last = true;
    session_reply(&job->reader->session, reply);
}

// A count that was cancelled before it began is answered too.
static void
drop_count(void *given)
{
    const struct stats_job *job = given;
    struct err err = {0};
    (void)!stopped(&err);
    session_error(&job->reader->session, job->number, &err);
}

void
reader_stats_release(struct reader *reader)
{
    struct stats_job *job = reader->stats;
    if (!job)
        return;
    lane_destroy(job->lane);
    free(job);
    reader->stats = NULL;
}

void
reader_stats_request(struct reader *reader, const struct request *request)
{
    reader_stats_release(reader);
    struct stats_job *job = alloc_bytes(sizeof *job);
    job->reader = reader;
    job->number = request->number;
    reader->stats = job;
    job->lane =
        lane_create(&(struct lane_settings){.name = "stats",
                                            .work = count_beside,
                                            .connection = store_create(&reader->session.settings->store),
                                            .interrupt = store_lane_interrupt,
                                            .close = store_lane_close,
                                            .jobs = 1,
                                            .drop_job = drop_count});
    (void)!lane_give(job->lane, job, 0);
}

void
reader_stats_cancel(struct reader *reader, uint64_t number)
{
    if (reader->stats && reader->stats->number == number)
        lane_stop(reader->stats->lane);
}
