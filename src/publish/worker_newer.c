// Somebody asks whether Kafka has newer records of the keys of some events: the worker reads there, a slice
// in each round, so that what it publishes goes on meanwhile.
#include "publish/worker_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/operations/newer.h"

enum { SLICE_MS = 100, SLICE_BESIDE_MS = 20 }; // beside publishers
#define NEWER_EVERY (US_PER_SECOND / 2)

bool
worker_newer_is_read(const struct worker_run *run)
{
    return run->newer.search != NULL;
}

void
worker_newer_drop(struct worker_run *run)
{
    newer_end(run->newer.search);
    run->newer.search = NULL;
    arena_release(&run->newer.arena);
    run->newer.arena = (struct arena){0};
}

static bool
begin(struct worker_run *run, struct err *err)
{
    struct err failure = {0};
    int64_t *ids;
    size_t count;
    if (clock_mono() < run->due.newer)
        return true;
    run->due.newer = clock_mono() + NEWER_EVERY;
    bool ok = newer_take(run->endpoints.store, run->endpoints.worker, &run->newer.arena, &run->newer.no, &ids,
                         &count, &failure);
    if (ok && run->newer.no) {
        run->newer.search = newer_begin(&(struct newer_question){.store = run->endpoints.store,
                                                                 .broker = &run->settings->broker,
                                                                 .plan = &run->plan,
                                                                 .ids = ids,
                                                                 .count = count});
        return true;
    }
    worker_newer_drop(run);
    return ok || worker_store_failed(run, &failure, err);
}

// Said so that who waits sees it going on; or that it is over.
static bool
tell(struct worker_run *run, bool is_over, struct err *err)
{
    struct arena arena = {0};
    struct newer newer;
    bool is_wanted = true;
    newer_result(run->newer.search, &arena, &newer);
    bool ok = is_over ? newer_answer(run->endpoints.store, run->endpoints.worker, run->newer.no, &newer, err)
                      : newer_sign(run->endpoints.store, run->endpoints.worker, run->newer.no, &newer,
                                   &is_wanted, err);
    arena_release(&arena);
    if (ok && (is_over || !is_wanted))
        worker_newer_drop(run);
    return ok;
}

bool
worker_find_newer(struct worker_run *run, struct err *err)
{
    struct err failure = {0};
    bool is_over = false;
    if (!broker_settings_present(&run->settings->broker))
        return true;
    if (!run->newer.search)
        return begin(run, err);
    run->last.watched_at = clock_mono(); // a service does not end for want of work meanwhile
    bool ok = newer_step(run->newer.search, worker_is_publishing(run) ? SLICE_BESIDE_MS : SLICE_MS, &is_over,
                         &failure);
    if (ok && (is_over || clock_mono() >= run->due.newer)) {
        run->due.newer = clock_mono() + NEWER_EVERY;
        ok = tell(run, is_over, &failure);
    }
    if (ok)
        return true;
    log_line(LOG_WARN, "newer records not looked for", LOG_TEXT("why", failure.text));
    worker_newer_drop(run);
    return worker_store_failed(run, &failure, err);
}
