#include "watch/watcher.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

enum { KEPT_LOOKS = 2, SPARING = 20 };
static const int64_t LONGEST_WAIT = 30 * US_PER_SECOND;

struct watcher {
    struct lane *lane; // the store is its connection, and watching its only job
    int64_t every;
    const struct alert_plan *alerts; // or NULL
};

void
watch_look_destroy(struct watch_look *look)
{
    if (!look)
        return;
    arena_release(&look->arena);
    free(look);
}

static void
drop_look(void *look)
{
    watch_look_destroy(look);
}

struct watch_look *
watch_look_once(struct store *store, int64_t every)
{
    struct watch_look *look = alloc_bytes(sizeof *look);
    int64_t began = clock_mono();
    look->is_good = store_connect(store, &look->err) && watch_sums_look(store, every, &look->err) &&
                    watch_sums_read(store, &look->arena, &look->sums, &look->err);
    look->ended_at = clock_mono();
    look->took = look->ended_at - began;
    return look;
}

// What is told once when it begins, and once when it is over.
static void
tell(const struct watch_look *look, int failed_before)
{
    if (look->is_good && failed_before > 0)
        log_line(LOG_INFO, "watching again", LOG_INT("failed", failed_before));
    else if (!look->is_good && failed_before == 0)
        log_line(LOG_WARN, "watching paused", LOG_TEXT("why", look->err.text));
}

// Alerts that cannot be evaluated stay as they are; the metrics do not depend on them.
static bool
evaluate(const struct watcher *watcher, struct store *store, const struct watch_look *look,
         bool failed_before)
{
    struct err err = {0};
    if (!watcher->alerts || !look->is_good)
        return !failed_before;
    bool ok = alerts_evaluate(store, watcher->alerts, &look->sums, watcher->every, &err);
    if (!ok && !failed_before)
        log_line(LOG_WARN, "alerts are not evaluated", LOG_TEXT("why", err.text));
    else if (ok && failed_before)
        log_line(LOG_INFO, "alerts are evaluated again", LOG_INT("rules", watcher->alerts->rule_count));
    return ok;
}

static int64_t
wait_after(const struct watcher *watcher, const struct watch_look *look)
{
    int64_t wait = SPARING * look->took < LONGEST_WAIT ? SPARING * look->took : LONGEST_WAIT;
    return wait > watcher->every ? wait : watcher->every;
}

static void
watch(struct lane *lane, void *job)
{
    const struct watcher *watcher = job;
    int failed = 0;
    bool is_evaluated = true;
    int64_t wait;
    do {
        struct watch_look *look = watch_look_once(lane_connection(lane), watcher->every);
        if (lane_is_wanted(lane))
            tell(look, failed);
        is_evaluated = evaluate(watcher, lane_connection(lane), look, !is_evaluated);
        wait = look->is_good ? wait_after(watcher, look) : store_backoff(failed);
        failed = look->is_good ? 0 : failed + 1;
        if (!lane_put(lane, look)) {
            watch_look_destroy(look);
            return;
        }
    } while (lane_sleep(lane, wait));
}

struct watcher *
watcher_start(const struct store_settings *settings, int64_t every, const struct alert_plan *alerts)
{
    struct watcher *watcher = alloc_bytes(sizeof *watcher);
    watcher->every = every;
    watcher->alerts = alerts;
    watcher->lane = lane_create(&(struct lane_settings){.name = "watcher",
                                                        .work = watch,
                                                        .connection = store_create(settings),
                                                        .interrupt = store_lane_interrupt,
                                                        .close = store_lane_close,
                                                        .jobs = 1,
                                                        .results = KEPT_LOOKS,
                                                        .drop_result = drop_look});
    (void)!lane_give(watcher->lane, watcher, 0);
    return watcher;
}

void
watcher_stop(struct watcher *watcher)
{
    if (!watcher)
        return;
    lane_destroy(watcher->lane);
    free(watcher);
}

struct watch_look *
watcher_take(struct watcher *watcher)
{
    return lane_take(watcher->lane, 0);
}
