#include "async/lane.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "async/mailbox.h"
#include "async/thread.h"
#include "base/alloc.h"

static const int64_t INTERRUPT_EVERY_US = 20000;

// A job or result on its way. What was given before the last lane_abandon is of an earlier run.
struct carried {
    uint64_t run;
    void *thing;
};

struct lane {
    struct lane_settings settings;  // never changes
    struct mailbox *jobs, *results; // of struct carried
    struct mailbox *stop;           // closed by lane_stop
    struct mailbox *end;            // closed by the thread, last
    struct thread *thread;          // of the owner
    _Atomic uint64_t run;           // raised by lane_abandon and lane_stop, read by the thread
    atomic_bool is_working;         // written by the thread
    uint64_t job_run;               // of the thread: the run of its job
};

static void
carried_drop(struct carried *carried, void (*drop)(void *thing))
{
    if (drop)
        drop(carried->thing);
    free(carried);
}

static void
drop_all(struct mailbox *mailbox, void (*drop)(void *thing))
{
    for (struct carried *carried; (carried = mailbox_take(mailbox, 0));)
        carried_drop(carried, drop);
}

static bool
carry(struct mailbox *mailbox, uint64_t run, void *thing, int64_t wait_us)
{
    struct carried *carried = alloc_bytes(sizeof *carried);
    *carried = (struct carried){.run = run, .thing = thing};
    bool ok = mailbox_put(mailbox, carried, wait_us);
    if (!ok)
        free(carried);
    return ok;
}

// --- the lane's thread ---

static void
lane_run(void *context)
{
    struct lane *lane = context;
    for (struct carried *carried; (carried = mailbox_take(lane->jobs, -1));) {
        lane->job_run = carried->run;
        if (!lane_is_wanted(lane)) {
            carried_drop(carried, lane->settings.drop_job);
            continue;
        }
        void *job = carried->thing;
        free(carried);
        atomic_store(&lane->is_working, true);
        lane->settings.work(lane, job);
        atomic_store(&lane->is_working, false);
    }
    mailbox_close(lane->end);
}

void *
lane_connection(const struct lane *lane)
{
    return lane->settings.connection;
}

bool
lane_is_wanted(const struct lane *lane)
{
    return atomic_load_explicit(&lane->run, memory_order_relaxed) == lane->job_run;
}

bool
lane_put(struct lane *lane, void *result)
{
    return lane_is_wanted(lane) && carry(lane->results, lane->job_run, result, -1);
}

bool
lane_sleep(struct lane *lane, int64_t us)
{
    (void)!mailbox_take(lane->stop, us < 0 ? 0 : us);
    return !mailbox_is_closed(lane->stop);
}

// --- the owner ---

struct lane *
lane_create(const struct lane_settings *settings)
{
    struct lane *lane = alloc_bytes(sizeof *lane);
    lane->settings = *settings;
    lane->jobs = mailbox_create(settings->jobs);
    lane->results = mailbox_create(settings->results ? settings->results : 1);
    lane->stop = mailbox_create(1);
    lane->end = mailbox_create(1);
    lane->thread = thread_start(lane_run, lane, settings->name);
    return lane;
}

void
lane_interrupt(struct lane *lane)
{
    if (lane->settings.interrupt && atomic_load(&lane->is_working))
        lane->settings.interrupt(lane->settings.connection);
}

void
lane_stop(struct lane *lane)
{
    if (!lane)
        return;
    atomic_fetch_add(&lane->run, 1);
    mailbox_close(lane->stop);
    mailbox_close(lane->jobs);
    mailbox_close(lane->results);
    lane_interrupt(lane);
}

void
lane_destroy(struct lane *lane)
{
    if (!lane)
        return;
    for (lane_stop(lane); !mailbox_is_closed(lane->end); lane_interrupt(lane))
        (void)!mailbox_take(lane->end, INTERRUPT_EVERY_US);
    thread_join(lane->thread);
    if (lane->settings.close)
        lane->settings.close(lane->settings.connection);
    drop_all(lane->jobs, lane->settings.drop_job);
    drop_all(lane->results, lane->settings.drop_result);
    mailbox_destroy(lane->jobs, NULL);
    mailbox_destroy(lane->results, NULL);
    mailbox_destroy(lane->stop, NULL);
    mailbox_destroy(lane->end, NULL);
    free(lane);
}

bool
lane_give(struct lane *lane, void *job, int64_t wait_us)
{
    return carry(lane->jobs, atomic_load(&lane->run), job, wait_us);
}

void *
lane_take(struct lane *lane, int64_t wait_us)
{
    for (struct carried *carried; (carried = mailbox_take(lane->results, wait_us));) {
        if (carried->run != atomic_load(&lane->run)) {
            carried_drop(carried, lane->settings.drop_result);
            continue;
        }
        void *result = carried->thing;
        free(carried);
        return result;
    }
    return NULL;
}

void
lane_abandon(struct lane *lane)
{
    atomic_fetch_add(&lane->run, 1);
    drop_all(lane->jobs, lane->settings.drop_job);
    drop_all(lane->results, lane->settings.drop_result); // so that the thread does not wait for room
}
