#include "publish/worker_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/topic_rules.h"
#include "store/operations/operations.h"
#include "store/schema.h"
#include "store/operations/workers.h"

#define APPLY_CHUNK 5000
#define BEAT_EVERY (3 * US_PER_SECOND)
#define SHOW_EVERY (US_PER_SECOND / 5)
#define INDEX_EVERY (5 * US_PER_SECOND)
#define SHARE_MOST (20 * US_PER_SECOND)
#define SLOW_ANSWER (US_PER_SECOND / 2)
#define SLOW_AGAIN (300 * US_PER_SECOND)
#define PATIENCE (20 * US_PER_SECOND) // of an operator in the foreground

void
worker_note(struct worker_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(run->note.text, sizeof run->note.text, format, args);
    va_end(args);
}

bool
worker_must_stop(const struct worker_run *run)
{
    return run->settings->stop && *run->settings->stop;
}

bool
worker_gives_up(const struct worker_run *run, int64_t since, int64_t patience)
{
    int64_t most = run->settings->patience ? run->settings->patience : patience;
    return worker_is_foreground(run) && clock_mono() - since > most;
}

bool
worker_is_foreground(const struct worker_run *run)
{
    return run->settings->mode != WORKER_SERVICE;
}

// Sleeps in slices that a signal ends.
static void
rest(struct worker_run *run, int64_t us)
{
    for (int64_t end = clock_mono() + us; !worker_must_stop(run) && clock_mono() < end;)
        clock_sleep(end - clock_mono() < 50000 ? 1000 + (end - clock_mono()) / 2 : 50000);
}

static bool
is_connected(const struct worker_run *run)
{
    bool is_good = store_is_connected(run->endpoints.store);
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        is_good = is_good && endpoints_is_connected(&run->publishers[i].endpoints);
    return is_good;
}

static bool
reconnect_all(struct worker_run *run, struct err *err)
{
    if (!store_is_connected(run->endpoints.store) && !store_reconnect(run->endpoints.store, err))
        return false;
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        if (!endpoints_is_connected(&run->publishers[i].endpoints) &&
            !store_reconnect(run->publishers[i].endpoints.store, err))
            return false;
    return true;
}

// For a person in the foreground, while the operation itself cannot be read.
static void
show_note(const struct worker_run *run)
{
    if (run->settings->progress)
        run->settings->progress(run->settings->progress_context,
                                &(struct worker_progress){.note = run->note.text});
}

// PostgreSQL is away: publishers hold nothing that can be trusted (they have begun again by themselves).
// True: it is back.
static bool
reconnect_store(struct worker_run *run, struct err *err)
{
    if (!run->store.since)
        run->store.since = clock_mono();
    if (worker_gives_up(run, run->store.since, PATIENCE))
        return err_set(err, ERR_UNREACHABLE, "%s", run->trouble.text);

    int64_t wait = store_backoff(run->store.attempts++);
    worker_note(run, "PostgreSQL cannot be reached: %.150s", run->trouble.text);
    show_note(run);
    log_line(LOG_WARN, "PostgreSQL unreachable", LOG_TEXT("why", run->trouble.text),
             LOG_INT("retry_ms", wait / 1000));
    rest(run, wait);
    struct err failure = {0};
    if (worker_must_stop(run))
        return true;
    if (!reconnect_all(run, &failure)) {
        run->trouble = failure;
        return true;
    }
    log_line(LOG_INFO, "PostgreSQL reachable again",
             LOG_INT("after_ms", (clock_mono() - run->store.since) / 1000));
    run->store.since = 0;
    run->store.attempts = 0;
    worker_turn_lose(run); // it may have come back in an older state
    return true;
}

// A failed call to PostgreSQL outside of the publishers. False: the worker ends with err.
bool
worker_store_failed(struct worker_run *run, const struct err *failure, struct err *err)
{
    run->trouble = *failure;
    if (!is_connected(run))
        return true; // the loop reconnects
    if (!run->refusals.since)
        run->refusals.since = clock_mono();
    if (failure->kind == ERR_STOPPED || (worker_is_foreground(run) && failure->kind != ERR_UNREACHABLE) ||
        worker_gives_up(run, run->refusals.since, PATIENCE))
        return err_set(err, failure->kind, "%s", failure->text);
    worker_note(run, "%.190s", failure->text);
    log_line(LOG_WARN, "PostgreSQL refused", LOG_TEXT("why", failure->text));
    rest(run, US_PER_SECOND);
    return true;
}

// --- telling others ---

// Everything that a worker does takes so many round trips more.
static void
tell_slow_answer(struct worker_run *run, int64_t now, int64_t took)
{
    if (took < SLOW_ANSWER || now < run->due.slow)
        return;
    run->due.slow = now + SLOW_AGAIN;
    log_line(LOG_WARN, "PostgreSQL answers slowly", LOG_INT("ms", took / 1000));
}

// A beat asks for more than that this worker lives.
#define BEAT_TRIPS 3
static bool
give_sign(struct worker_run *run, bool is_beat, struct err *failure)
{
    int64_t before = clock_mono();
    bool publishes = broker_settings_present(&run->settings->broker);
    if (!(is_beat ? worker_beat : worker_sign)(run->endpoints.store, run->endpoints.worker, publishes,
                                               run->note.text, meter_rate(&run->meter, before), failure))
        return false;
    run->refusals.since = 0; // PostgreSQL takes writes
    int64_t after = clock_mono(), took = after - before;
    run->due.sign = after + pace_sign(took, is_beat ? BEAT_TRIPS : 1);
    if (is_beat)
        run->due.beat = after + BEAT_EVERY;
    else
        tell_slow_answer(run, after, took);
    memcpy(run->note.reported, run->note.text, sizeof run->note.reported);
    return true;
}

bool
worker_give_sign(struct worker_run *run, struct err *err)
{
    struct err failure = {0};
    return give_sign(run, clock_mono() >= run->due.beat, &failure) || worker_store_failed(run, &failure, err);
}

bool
worker_sign_meanwhile(void *context)
{
    struct worker_run *run = context;
    struct err failure = {0};
    if (clock_mono() >= run->due.sign && !give_sign(run, false, &failure)) {
        run->due.sign = clock_mono() + PACE_SIGN_EVERY;
        log_line(LOG_WARN, "no sign meanwhile", LOG_TEXT("why", failure.text));
    }
    return true;
}

static bool
beat(struct worker_run *run, struct err *err)
{
    bool is_due = clock_mono() >= run->due.sign || strcmp(run->note.text, run->note.reported) != 0;
    return !is_due || worker_give_sign(run, err);
}

// Reads the operation that the caller waits for, or the one in flight, for progress and to know when it has
// ended.
static bool
worker_show(struct worker_run *run, struct err *err)
{
    int64_t no = run->settings->mode == WORKER_OPERATION ? run->settings->operation : run->operation;
    bool is_wanted = run->settings->progress || run->settings->mode == WORKER_OPERATION;
    if (!is_wanted || clock_mono() < run->due.show)
        return true;
    run->due.show = clock_mono() + SHOW_EVERY;

    struct err failure = {0};
    run->shown.is_read = false;
    arena_reset(&run->shown.arena);
    if (no && !operation_get(run->endpoints.store, no, &run->shown.arena, &run->shown.operation, &failure))
        return worker_store_failed(run, &failure, err);
    run->shown.is_read = no != 0;
    const struct worker_progress progress = {.operation = no ? &run->shown.operation : NULL,
                                             .note = run->note.text};
    if (run->settings->progress)
        run->settings->progress(run->settings->progress_context, &progress);
    return true;
}

// --- plain SQL ---

static bool
worker_apply(struct worker_run *run, const struct work *work, struct err *err)
{
    int64_t applied = 0, left = 0;
    struct err failure = {0};
    run->operation = work->no;
    worker_note(run, "operation %" PRId64, work->no);
    size_t most = work->queued > 0 && work->queued < APPLY_CHUNK ? (size_t)work->queued : APPLY_CHUNK;
    size_t limit = setback_limit(&run->setbacks, work->no, most);
    bool ok = work->action == ACTION_CORRECT && work->recipe
                  ? run->settings->correct(run->settings->correct_context, run->endpoints.store,
                                           run->endpoints.broker, work, &applied, &left, &failure)
                  : work_apply(run->endpoints.store, work->no, limit, &applied, &left, &failure);
    if (!ok && worker_must_stop(run)) // what was not kept waits for the next one
        return true;
    if (!ok)
        return is_connected(run) ? worker_set_back(run, work->no, limit, &failure, err)
                                 : worker_store_failed(run, &failure, err);
    int64_t now = clock_mono();
    if (applied == 0 && left > 0)
        return worker_set_back_empty(run, work->no, left, err);
    setback_end(&run->setbacks, work->no, most);
    meter_add(&run->meter, now, applied);
    run->last.work_at = now;
    if (left == 0 && !work_finish(run->endpoints.store, work->no, &failure))
        return worker_store_failed(run, &failure, err);
    return true;
}

// --- what to do next ---

// One operation that was found. *wait > 0: it must wait that many µs.
static bool
carry_out(struct worker_run *run, const struct work *work, int64_t *wait, struct err *err)
{
    *wait = work->wait;
    if (work->wait > 0)
        return true;
    bool wants_kafka = work->action == ACTION_REPROCESS ||
                       // A recipe wants the original bytes, where the row alone does not have them.
                       (work->recipe && broker_settings_present(&run->settings->broker));
    bool is_there = !wants_kafka;
    if (wants_kafka && !worker_need_kafka(run, &is_there, err))
        return false;
    bool is_ours = !work->recipe || run->settings->correct;
    if (is_there && is_ours)
        return work->action == ACTION_REPROCESS ? worker_publish(run, work, wait, err)
                                                : worker_apply(run, work, err);
    *wait = LOOK_EVERY;
    if (wants_kafka && run->kafka.since)
        setback_pass(&run->setbacks, work->no, clock_mono(), run->due.kafka, run->trouble.text);
    return true;
}

// Nothing can be carried out before `soonest` µs have passed.
static void
rest_until(struct worker_run *run, int64_t soonest)
{
    const struct setback *setback = NULL;
    int64_t again = setback_soonest(&run->setbacks, clock_mono(), &setback);
    if (again > 0 && run->idle != IDLE_WAITING) {
        run->idle = IDLE_WAITING;
        worker_note(run, "operation %" PRId64 " waits: %.150s", setback->operation, setback->why);
    }
    run->due.look = clock_mono() + (again > 0 && again < soonest ? again : soonest);
}

// Carries on the oldest operation that can proceed, and passes over those that wait for their rate or for
// Kafka. *is_idle: none can proceed before due.look.
static bool
take_work(struct worker_run *run, bool *is_idle, struct err *err)
{
    int64_t soonest = LOOK_EVERY;
    run->idle = IDLE_NO_WORK;
    *is_idle = false;
    if (!worker_keep_records(run, err) || !worker_ask_topics(run, err) || !worker_ask_written(run, err) ||
        !worker_adopt(run, err))
        return false;
    int64_t skip[SETBACKS + PACES];
    size_t set_back = worker_set_back_list(run, skip);
    for (size_t skipped = set_back; skipped < set_back + PACES; skipped++) {
        struct arena arena = {0};
        struct work work = {0};
        struct err failure = {0};
        int64_t wait = 0;
        bool is_found = work_next(run->endpoints.store, run->endpoints.worker,
                                  broker_settings_present(&run->settings->broker), skip, skipped, &arena,
                                  &work, &failure);
        bool is_good = !is_found || carry_out(run, &work, &wait, err);
        arena_release(&arena);
        if (!is_found && failure.kind != ERR_NOT_FOUND)
            return worker_store_failed(run, &failure, err);
        if (!is_good || (is_found && wait == 0))
            return is_good;
        if (!is_found)
            break;
        enum idle_reason reason = work.is_observing ? IDLE_OBSERVING
                                  : work.is_later   ? IDLE_LATER
                                  : work.wait > 0   ? IDLE_HELD
                                                    : IDLE_WAITING;
        run->idle = reason > run->idle ? reason : run->idle;
        soonest = wait < soonest ? wait : soonest;
        skip[skipped] = work.no;
    }
    *is_idle = true;
    rest_until(run, soonest);
    return true;
}

// Work that busy workers left for later. No operator waits for it, so it is done in small steps, operations
// come first, and a failure is only logged.
static void
index_keys(struct worker_run *run)
{
    int64_t now = clock_mono();
    if (now < run->due.index)
        return;
    bool is_all = true;
    struct err failure = {0};
    if (!worker_index_keys(run->endpoints.store, &is_all, &failure))
        log_line(LOG_WARN, "keys not indexed", LOG_TEXT("why", failure.text));
    if (is_all)
        run->due.index = now + INDEX_EVERY;
    else if (run->due.look > now + LOOK_EVERY / 10)
        run->due.look = now + LOOK_EVERY / 10;
}

// No operation can proceed now. *is_over: the worker ends.
static bool
idle(struct worker_run *run, bool *is_over, struct err *err)
{
    run->operation = 0;
    // A service finds out what the cluster promises before the first operation.
    bool is_there = false;
    if (run->settings->mode == WORKER_SERVICE && !run->publishers[0].machine &&
        !worker_need_kafka(run, &is_there, err))
        return false;
    bool is_refreshing = false;
    if (!worker_refresh(run, &is_refreshing, err))
        return false;
    if (is_refreshing)
        return true;
    if (run->idle == IDLE_OBSERVING && run->settings->mode != WORKER_ONCE) {
        worker_note(run, "watching for returned events");
    } else if (run->idle < IDLE_HELD) {
        // Chunks that other workers left are work as well: they are looked for after the last operation.
        int64_t busy_at = run->last.watched_at > run->last.work_at ? run->last.watched_at : run->last.work_at;
        bool is_tired = run->settings->idle_exit && run->idle != IDLE_LATER &&
                        clock_mono() - busy_at > run->settings->idle_exit;
        *is_over = (run->settings->mode == WORKER_ONCE && run->recovered.at >= run->last.work_at) ||
                   (run->settings->mode == WORKER_SERVICE && is_tired);
        if (run->recovered.at < run->last.work_at) {
            run->due.recover = 0;
            if (run->settings->mode == WORKER_ONCE && !run->kafka.since) // the caller waits for that alone
                run->due.look = 0;
        }
        if (!run->kafka.since)
            worker_note(run, "idle");
    } else if (run->idle == IDLE_HELD && !run->kafka.since &&
               setback_soonest(&run->setbacks, clock_mono(), NULL) == 0) {
        worker_note(run, "waiting: operation begins soon"); // one that keeps its rate is still being sent
    }
    if (run->settings->mode != WORKER_ONCE) // that one is waited for until it ends
        index_keys(run);
    return worker_keep_slots(run, err);
}

static bool
has_ended(const struct worker_run *run)
{
    return run->settings->mode == WORKER_OPERATION && run->shown.is_read &&
           operation_state_is_final(run->shown.operation.state);
}

int64_t
worker_share(const struct worker_run *run)
{
    int64_t spent = clock_mono() - run->last.stepped_at;
    return spent < SHARE_MOST ? spent : SHARE_MOST;
}

static bool
give_share(struct worker_run *run, struct err *err)
{
    int64_t end = clock_mono() + worker_share(run);
    bool is_good = true;
    do
        is_good = worker_publish_step(run, err);
    while (is_good && clock_mono() < end && clock_mono() >= run->due.kafka && worker_is_publishing(run) &&
           !worker_must_stop(run) && worker_sign_meanwhile(run));
    run->last.stepped_at = clock_mono();
    return is_good;
}

// One round of the loop. False: the worker ends with err.
static bool
round_once(struct worker_run *run, bool *is_over, struct err *err)
{
    if (run->endpoints.broker)
        broker_tend(run->endpoints.broker);
    if (!is_connected(run))
        return reconnect_store(run, err);
    if (!worker_tell_setbacks(run, err) || !beat(run, err) || !worker_look_at_consumers(run, err) ||
        !worker_find_newer(run, err) || !worker_show(run, err))
        return false;
    if (has_ended(run)) {
        *is_over = true;
        return worker_look_last(run, err);
    }
    if (worker_is_publishing(run) && clock_mono() >= run->due.kafka) {
        if (!give_share(run, err))
            return false;
        if (worker_is_publishing(run) && !worker_has_free_publisher(run))
            return true;
    }

    bool is_recovering = false, is_idle = false;
    if (!worker_turn_keep(run, err) || !worker_recover(run, &is_recovering, err))
        return false;
    if (is_recovering)
        return true;
    if (clock_mono() < run->due.look && worker_newer_is_read(run)) // which takes the time
        return worker_keep_slots(run, err);
    if (clock_mono() < run->due.look) {
        rest(run, run->due.look - clock_mono() < 50000 ? run->due.look - clock_mono() : 50000);
        return worker_keep_slots(run, err);
    }
    if (!take_work(run, &is_idle, err))
        return false;
    return !is_idle || worker_is_publishing(run) || idle(run, is_over, err);
}

// Finishes what is in flight, lets slots go, says goodbye.
static void
worker_finish(struct worker_run *run)
{
    struct err failure = {0};
    worker_finish_all(run);
    worker_newer_drop(run);
    if (store_is_connected(run->endpoints.store) &&
        (!worker_let_go(run, &failure) ||
         !worker_gone(run->endpoints.store, run->endpoints.worker, &failure)))
        log_line(LOG_WARN, "worker not signed off", LOG_TEXT("why", failure.text));
}

static bool
loop(struct worker_run *run, struct err *err)
{
    bool is_over = false, is_good = true;
    while (is_good && !is_over && !worker_must_stop(run)) {
        is_good = round_once(run, &is_over, err);
        if (!is_good && err->kind == ERR_STOPPED && worker_adopt_stopped(run)) {
            err_clear(err);
            is_good = true;
        }
    }
    worker_finish(run);
    if (is_good && !is_over && run->settings->mode == WORKER_OPERATION)
        return err_set(err, ERR_CANCELLED, "stopped before operation %" PRId64 " ended",
                       run->settings->operation);
    return is_good;
}

static bool
check_settings(const struct worker_settings *settings, struct err *err)
{
    if (!plan_key_check(settings->plan.key, err))
        return false;
    return !broker_settings_present(&settings->broker) || broker_settings_check(&settings->broker, err);
}

bool
worker_run(const struct worker_settings *settings, struct err *err)
{
    if (!check_settings(settings, err)) {
        store_close(settings->opened);
        return false;
    }

    alloc_share_heap(); // chunks move between its threads: by a seventh less memory, and as fast
    struct worker_run run = {
        .settings = settings, .plan = settings->plan, .note.text = "starts", .last.work_at = clock_mono()};
    run.plan.is_compressing = broker_settings_compress(&settings->broker);
    run.limit = worker_most(&run);
    run.endpoints.broker_settings = &settings->broker;
    run.endpoints.tick = worker_sign_meanwhile;
    run.endpoints.tick_context = &run;
    char host[64] = "?";
    gethostname(host, sizeof host - 1);
    snprintf(run.endpoints.worker, sizeof run.endpoints.worker, "%s/%d/%lld", host, (int)getpid(),
             (long long)(clock_now() / US_PER_SECOND));
    run.plan.rules = topic_rules_read(settings->consumers, &run.rules, err);
    run.endpoints.store = settings->opened;
    if (!run.plan.rules ||
        (!run.endpoints.store && !store_open(&run.endpoints.store, &settings->store, err))) {
        store_close(run.endpoints.store);
        arena_release(&run.rules);
        return false;
    }

    bool is_good = schema_check(run.endpoints.store, err) && loop(&run, err);
    worker_turn_lose(&run);
    worker_written_close(&run);
    endpoints_close(&run.endpoints);
    store_close(run.endpoints.store);
    arena_release(&run.shown.arena);
    arena_release(&run.rules);
    return is_good;
}
