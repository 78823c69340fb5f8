// The five analyses. They read the whole table, which takes seconds at a million events: so they are counted
// on a thread and a connection that are there for that count only, and nothing else waits for them.
#include "backend/reader.h"

#include <stdlib.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "rollup/analyses.h"
#include "rollup/reader.h"

static const int64_t ROLLUP_FOR = 5 * US_PER_SECOND; // how long they are waited for
static const int64_t LOOK_EVERY = US_PER_SECOND / 20;
static const int64_t INTERRUPT_EVERY = US_PER_SECOND / 50;

struct stats_job {
    struct reader *reader; // of it: the settings and the mailbox of replies
    uint64_t number;
    struct thread *thread;
    struct mailbox *stop;        // closed: it is to end
    struct mailbox *over;        // closed: it has ended
    struct store *_Atomic store; // of the thread; from outside only to interrupt it
};

static bool
stopped(struct err *err)
{
    err_clear(err);
    return err_set(err, ERR_CANCELLED, "stopped; r counts again");
}

// A maintained rollup, or one that this screen is about to maintain, is worth a wait. The first count is not.
static bool
is_rollup_near(const struct rollup_state *state)
{
    return (state->is_kept || state->may_keep) && !(state->exists && state->is_counting);
}

static bool
await_rollup(const struct stats_job *job, struct store *store)
{
    struct rollup_state state = {0};
    int64_t until = clock_mono() + ROLLUP_FOR;
    bool is_exact;
    while (!(is_exact = rollup_is_exact(store, &state)) && is_rollup_near(&state) && clock_mono() < until &&
           !mailbox_is_closed(job->stop))
        (void)!mailbox_take(job->stop, LOOK_EVERY);
    return is_exact;
}

static bool
count(struct stats_job *job, struct reply *reply)
{
    struct store *store;
    if (!store_open(&store, &job->reader->session.settings->store, &reply->err))
        return false;
    atomic_store(&job->store, store);
    bool has_rollup = await_rollup(job, store);
    if (mailbox_is_closed(job->stop))
        return stopped(&reply->err);
    bool ok = analyses_read(store, has_rollup, &reply->arena, &reply->stats, &reply->err);
    return ok || !mailbox_is_closed(job->stop) ? ok : stopped(&reply->err);
}

static void
count_beside(void *context)
{
    struct stats_job *job = context;
    struct reply *reply = reply_create(REPLY_STATS, job->number);
    if (!count(job, reply))
        reply->kind = REPLY_ERROR;
    reply->is_last = true;
    session_reply(&job->reader->session, reply);
    mailbox_close(job->over);
}

static void
interrupt(struct stats_job *job)
{
    mailbox_close(job->stop);
    struct store *store = atomic_load(&job->store);
    if (store && !mailbox_is_closed(job->over))
        store_interrupt(store);
}

// An interrupt that comes between two statements stops none of them: it is said again until it is heard.
void
reader_stats_release(struct reader *reader)
{
    struct stats_job *job = reader->stats;
    if (!job)
        return;
    for (interrupt(job); !mailbox_is_closed(job->over); interrupt(job))
        (void)!mailbox_take(job->over, INTERRUPT_EVERY);
    thread_join(job->thread);
    store_close(job->store);
    mailbox_destroy(job->stop, NULL);
    mailbox_destroy(job->over, NULL);
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
    job->stop = mailbox_create(1);
    job->over = mailbox_create(1);
    reader->stats = job;
    job->thread = thread_start(count_beside, job, "stats");
}

void
reader_stats_cancel(struct reader *reader, uint64_t number)
{
    if (reader->stats && reader->stats->number == number)
        interrupt(reader->stats);
}
