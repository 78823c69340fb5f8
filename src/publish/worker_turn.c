// worker_turn: when the worker takes a turn, and what it does without one.
#include "publish/worker_private.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/log.h"

#define WAIT_MS 20
#define AT_A_TIME (2 * US_PER_SECOND) // at least; then the worker asks for what else there is
#define TURN_LIFE (24 * 3600 * US_PER_SECOND)

static bool
has_to_stop(const struct worker_run *run)
{
    return run->settings->stop && *run->settings->stop;
}

static void
turn_taken(struct worker_run *run)
{
    int64_t took = turner_took(run->turner);
    run->has_turn = true;
    run->due.turn = clock_mono() + TURN_LIFE;
    turner_destroy(run->turner);
    run->turner = NULL;
    log_line(LOG_INFO, "turn taken", LOG_TEXT("cluster", run->endpoints.cluster.name),
             LOG_INT("ms", took / 1000));
}

bool
worker_turn_take(struct worker_run *run, bool *is_there, struct err *err)
{
    *is_there = run->has_turn || run->endpoints.cluster.promise != PROMISE_EXACTLY_ONCE;
    if (*is_there)
        return true;
    snprintf(run->endpoints.turn_group, sizeof run->endpoints.turn_group, "redrive.%s.lease",
             store_info(run->endpoints.store)->install);
    if (!run->turner) {
        const struct publisher_settings settings = {.ledger = &endpoints_ledger,
                                                    .broker = &endpoints_broker,
                                                    .world = &endpoints_world,
                                                    .context = &run->endpoints};
        run->turner = turner_create(&settings);
    }
    int64_t share = worker_share(run);
    int64_t end = clock_mono() + (share > AT_A_TIME ? share : AT_A_TIME);
    if (run->kafka.attempts)
        worker_note(run, "takes its turn at Kafka again: %.150s", run->trouble.text);
    else
        worker_note(run, "takes its turn at Kafka");
    while (!has_to_stop(run) && clock_mono() < end) {
        (void)worker_sign_meanwhile(run);
        switch (turner_step(run->turner, WAIT_MS, err)) {
        case TURNER_BUSY:
        case TURNER_WAITING:
            continue;
        case TURNER_DONE:
            turn_taken(run);
            *is_there = true;
            return true;
        case TURNER_FAILED:
        case TURNER_STOPPED:
            return false;
        }
    }
    run->last.stepped_at = clock_mono();
    return true;
}

void
worker_turn_lose(struct worker_run *run)
{
    worker_log_tally(run);
    worker_drop_publishers(run);
    turner_destroy(run->turner);
    run->turner = NULL;
    run->has_turn = false;
}

bool
worker_turn_keep(struct worker_run *run, struct err *err)
{
    if (!run->has_turn || clock_mono() < run->due.turn)
        return true;
    struct turn turn;
    int64_t now;
    struct err failure = {0};
    if (!turn_read(run->endpoints.store, run->endpoints.cluster.name, &turn, &failure) ||
        !store_now(run->endpoints.store, &now, &failure))
        return worker_store_failed(run, &failure, err);
    if (now - turn.at < TURN_LIFE) // another worker's
        run->due.turn = clock_mono() + TURN_LIFE - (now - turn.at);
    else
        worker_turn_lose(run);
    return true;
}
