// A stopped database that is the true one: an administrator asks, the worker counts what Kafka proves; the
// administrator confirms these counts, the worker takes the history over. It does this in a stop too, and
// nothing else.
#include "publish/worker_private.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/log.h"
#include "publish/adopt.h"
#include "store/operations/adoption.h"

// A request is done.
struct adopting_work {
    struct worker_run *run;
    const struct adopting *next;
    int64_t sign_at; // clock_mono of the next sign of life
};

// The topics may be long. Nobody else takes the request, and others see that the worker lives.
static bool
give_sign(void *context)
{
    struct adopting_work *work = context;
    struct worker_run *run = work->run;
    struct adopting again;
    struct err ignored = {0};
    if (clock_mono() < work->sign_at)
        return true;
    work->sign_at = clock_mono() + US_PER_SECOND;
    return !worker_must_stop(run) && worker_give_sign(run, &ignored) &&
           adopting_next(run->endpoints.store, run->endpoints.worker, &again, &ignored) &&
           again.state == work->next->state && again.no == work->next->no;
}

static bool
take_over(struct worker_run *run, const struct adopting *next, const struct adoption *adoption,
          struct err *err)
{
    int64_t closed;
    const struct adopting_proof proof = {.cluster = adoption->cluster,
                                         .kafka = &adoption->kafka,
                                         .slots = adoption->slots,
                                         .slot_count = adoption->slot_count,
                                         .chunks = (int64_t)adoption->chunks,
                                         .sent = adoption->sent,
                                         .sent_count = adoption->sent_count};
    if (!adopting_carry_out(run->endpoints.store, run->endpoints.worker, next->no, &proof, &closed, err))
        return false;
    if (closed < 0)
        log_line(LOG_WARN, "history not taken over",
                 LOG_TEXT("why", "Kafka proves something else by now than what was confirmed"));
    else
        log_line(LOG_INFO, "history taken over", LOG_TEXT("cluster", adoption->cluster),
                 LOG_INT("closed_as_sent", closed));
    return true;
}

// What cannot be found out is an answer too.
static bool
do_next(struct worker_run *run, const struct adopting *next, struct err *err)
{
    struct adoption adoption = {0};
    struct err failure = {0};
    struct adopting_work work = {.run = run, .next = next};
    struct store *store = run->endpoints.store;
    bool is_for_real = next->state == ADOPTING_CONFIRMED;
    worker_note(run, is_for_real ? "takes the history over from Kafka" : "counts what Kafka proves");
    bool ok = adoption_find(store, &run->settings->broker, &run->plan, is_for_real, give_sign, &work,
                            &adoption, &failure);
    if (!ok && store_is_connected(store) && !worker_must_stop(run))
        ok = adopting_answer(store, run->endpoints.worker, next->no, adoption.cluster, 0, 0, NULL, 0,
                             failure.text, err);
    else if (ok && is_for_real)
        ok = take_over(run, next, &adoption, err);
    else if (ok)
        ok = adopting_answer(store, run->endpoints.worker, next->no, adoption.cluster,
                             (int64_t)adoption.chunks, adoption.records, adoption.sent, adoption.sent_count,
                             NULL, err);
    adoption_release(&adoption);
    return ok;
}

bool
worker_adopt(struct worker_run *run, struct err *err)
{
    if (!broker_settings_present(&run->settings->broker) || clock_mono() < run->due.adopt)
        return true;
    run->due.adopt = clock_mono() + US_PER_SECOND / 2;
    struct adopting next;
    struct err failure = {0};
    if (!adopting_next(run->endpoints.store, run->endpoints.worker, &next, &failure))
        return worker_store_failed(run, &failure, err);
    if (next.state != ADOPTING_ASKED && next.state != ADOPTING_CONFIRMED)
        return true;
    if (!do_next(run, &next, &failure) && err_is_set(&failure))
        log_line(LOG_WARN, "request about the stop not answered", LOG_TEXT("why", failure.text));
    return true;
}

bool
worker_adopt_stopped(struct worker_run *run)
{
    struct adopting next = {.state = ADOPTING_ASKED};
    struct stop stop = {0};
    struct err failure = {0};
    bool waits = run->settings->mode == WORKER_SERVICE;
    while (!worker_must_stop(run) && store_is_connected(run->endpoints.store)) {
        if (!adopting_next(run->endpoints.store, run->endpoints.worker, &next, &failure))
            break;
        bool is_work = next.state == ADOPTING_ASKED || next.state == ADOPTING_CONFIRMED;
        if (!is_work && !(next.state == ADOPTING_COUNTED && waits))
            break;
        if (is_work && !do_next(run, &next, &failure))
            break;
        if (!is_work)
            worker_note(run, "stopped: waits for an administrator to confirm what Kafka proves");
        if (!worker_give_sign(run, &failure))
            break;
        clock_sleep(US_PER_SECOND / 2);
    }
    if (err_is_set(&failure))
        log_line(LOG_WARN, "request about the stop not answered", LOG_TEXT("why", failure.text));
    struct err ignored = {0};
    if (!store_is_connected(run->endpoints.store) || !stop_find(run->endpoints.store, &stop, &ignored) ||
        stop.detail[0])
        return false;
    worker_turn_lose(run);
    return true;
}
