// publishers: the worker's publishers, and the Kafka behind them.
#include "publish/worker_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "base/clock.h"
#include "base/log.h"
#include "publish/doubt.h"
#include "store/operations/ledger.h"
#include "store/operations/operations.h"

#define DEFAULT_CHUNK 5000
#define SLOWEST_CHUNK (5 * US_PER_SECOND)
#define LEAST_CHUNK 50              // that failures lead to
#define RECOVER_EVERY US_PER_SECOND // for what others have left
#define DOUBT_EVERY (10 * US_PER_SECOND)
#define DOUBT_AGAIN (600 * US_PER_SECOND) // for what a scan could not decide
#define DOUBT_WAIT (100 * US_PER_SECOND)  // message timeout 30 s + request timeout 10 s + 60 s
#define TOLD_AFTER (3 * US_PER_SECOND)    // that Kafka does not answer
#define SLOT_IDLE (5 * US_PER_SECOND)     // then a slot is let go
#define PATIENCE                                                                                             \
    (14 * US_PER_SECOND) // of an operator in the foreground; with the tries before and after: within 25 s
#define STOP_WITHIN (10 * US_PER_SECOND)
#define WAIT_MS 20
#define WAIT_SHARED_MS 1 // while another publisher is on its way as well

void
worker_drop_publishers(struct worker_run *run)
{
    for (size_t i = 0; i < WORKER_SLOTS; i++) {
        publisher_destroy(run->publishers[i].machine);
        run->publishers[i].machine = NULL;
        endpoints_close_lane(&run->publishers[i].endpoints);
        run->publishers[i].is_driven = false;
        run->publishers[i].operation = 0;
    }
}

static bool
make_publishers(struct worker_run *run, struct err *err)
{
    struct publisher_settings settings = {
        .ledger = &endpoints_ledger,
        .broker = &endpoints_broker,
        .world = &endpoints_world,
        .plan = &run->plan,
        .turn_group = run->endpoints.turn_group,
        .is_transactional = run->endpoints.cluster.promise == PROMISE_EXACTLY_ONCE,
    };
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        endpoints_open_lane(&run->publishers[i].endpoints, &run->endpoints, &run->settings->store);
    for (size_t i = 0; i < WORKER_SLOTS; i++) {
        if (!endpoints_await_lane(&run->publishers[i].endpoints, err)) {
            worker_drop_publishers(run);
            return false;
        }
        settings.context = &run->publishers[i].endpoints;
        run->publishers[i].machine = publisher_create(&settings);
    }
    return true;
}

// Kafka failed, or PostgreSQL at a chunk in flight. False: an operator waits in the foreground, and has
// waited long enough.
static bool
publish_later(struct worker_run *run, const struct err *said, struct err *err)
{
    int64_t now = clock_mono();
    worker_name_failure(said, &run->trouble);
    const struct err *failure = &run->trouble;
    if (failure->kind == ERR_STOPPED)
        return err_set(err, failure->kind, "%s", failure->text);
    if (!run->kafka.since)
        run->kafka.since = now;
    bool is_lasting =
        failure->kind != ERR_UNREACHABLE && failure->kind != ERR_CONFLICT && run->kafka.attempts > 3;
    if ((worker_is_foreground(run) && is_lasting) || worker_gives_up(run, run->kafka.since, PATIENCE))
        return err_set(err, failure->kind, "%s", failure->text);

    int64_t wait = store_backoff(run->kafka.attempts++);
    run->due.kafka = now + wait;
    worker_note(run, "%.190s", failure->text);
    log_line(LOG_WARN, worker_failure_line(said), LOG_TEXT("why", failure->text),
             LOG_INT("retry_ms", wait / 1000));
    return true;
}

static void
kafka_worked(struct worker_run *run)
{
    run->kafka.since = 0;
    run->kafka.attempts = 0;
    run->due.kafka = 0;
}

// What failed last may have been the clock, and may be still: it is compared before anything is claimed, so
// that no chunk is claimed for nothing.
static bool
try_again(struct worker_run *run, bool *is_there, struct err *err)
{
    struct err failure = {0};
    *is_there = !run->kafka.since || endpoints_check_clock(&run->endpoints, &failure);
    if (*is_there)
        return true;
    return store_is_connected(run->endpoints.store) ? publish_later(run, &failure, err)
                                                    : worker_store_failed(run, &failure, err);
}

// Is there a Kafka to publish to now? Connects where that is due. False only when the worker ends with err.
bool
worker_need_kafka(struct worker_run *run, bool *is_there, struct err *err)
{
    *is_there = false;
    if (clock_mono() < run->due.kafka || !broker_settings_present(&run->settings->broker))
        return true;
    if (run->publishers[0].machine)
        return try_again(run, is_there, err);

    struct err failure = {0};
    if (!run->kafka.since) // until it has worked
        run->kafka.since = clock_mono();
    if (run->kafka.attempts)
        worker_note(run, "connects to Kafka again: %.160s", run->trouble.text);
    else
        worker_note(run, "connects to Kafka, which can take half a minute");
    if (!worker_give_sign(run, err))
        return false;
    if (!endpoints_connect(&run->endpoints, &failure))
        return store_is_connected(run->endpoints.store) ? publish_later(run, &failure, err)
                                                        : worker_store_failed(run, &failure, err);
    bool has_turn = false;
    if (!worker_turn_take(run, &has_turn, &failure))
        return store_is_connected(run->endpoints.store) ? publish_later(run, &failure, err)
                                                        : worker_store_failed(run, &failure, err);
    if (!has_turn)
        return true;
    if (!make_publishers(run, &failure))
        return worker_store_failed(run, &failure, err);
    kafka_worked(run);
    *is_there = true;
    return true;
}

// The slots that these hold; `but`: without this one, WORKER_SLOTS: all.
static size_t
slots_held(const struct worker_run *run, size_t but, int32_t slots[WORKER_SLOTS])
{
    size_t count = 0;
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        if (i != but && run->publishers[i].machine && publisher_slot(run->publishers[i].machine) >= 0)
            slots[count++] = publisher_slot(run->publishers[i].machine);
    return count;
}

static enum publisher_status
worker_step_publisher(struct worker_run *run, size_t i, int wait_ms, struct err *failure)
{
    int32_t others[WORKER_SLOTS];
    size_t count = slots_held(run, i, others);
    return publisher_step(run->publishers[i].machine, others, count, wait_ms, failure);
}

static void
lay_down(struct worker_run *run, size_t i)
{
    run->publishers[i].is_driven = false;
    run->publishers[i].operation = 0;
}

// A chunk in flight failed: its size may be why, on a slow network. By as much that the third one is small,
// whose late records are refused (PROTOCOL.md, "Refused events").
static void
shrink(struct worker_run *run)
{
    size_t limit = run->limit / 4 > LEAST_CHUNK ? run->limit / 4 : LEAST_CHUNK;
    run->limit = limit < run->limit ? limit : run->limit;
}

// A publisher failed and has begun again: was it PostgreSQL or Kafka? A failed claim concerns its operation
// only, and so do an original record that cannot be read and a target without a leader.
static bool
publisher_failed(struct worker_run *run, size_t i, const struct err *failure, struct err *err)
{
    if (failure->kind == ERR_STOPPED)
        return err_set(err, failure->kind, "%s", failure->text);
    int64_t operation = run->publishers[i].operation;
    bool is_claim = operation && !publisher_is_busy(run->publishers[i].machine);
    if (is_claim) // nothing is in flight, so the operation must not count as in flight
        lay_down(run, i);
    if (!endpoints_is_connected(&run->publishers[i].endpoints)) {
        run->trouble = *failure;
        return true;
    }
    if (is_claim || (operation && publisher_failed_alone(run->publishers[i].machine))) {
        int64_t queued = run->publishers[i].queued;
        size_t most = queued > 0 && (size_t)queued < run->limit ? (size_t)queued : run->limit;
        return worker_set_back(run, operation, most, failure, err);
    }
    if (!publish_later(run, failure, err))
        return false;
    if (operation)
        setback_pass(&run->setbacks, operation, clock_mono(), run->due.kafka + LOOK_EVERY / 10,
                     run->trouble.text);
    if (operation && !failure->sqlstate[0])
        shrink(run);
    return true;
}

// A publisher that has nothing to do: its next handle gets ready meanwhile, and its lease is kept.
static bool
attend_idle(struct worker_run *run, size_t i, struct err *err)
{
    struct err failure = {0};
    switch (worker_step_publisher(run, i, 0, &failure)) {
    case PUBLISHER_FAILED:
        return publisher_failed(run, i, &failure, err);
    case PUBLISHER_TURN:
        worker_turn_lose(run);
        return true;
    case PUBLISHER_STOPPED:
        return err_set(err, failure.kind, "%s", failure.text);
    case PUBLISHER_BUSY:
    case PUBLISHER_WAITING:
    case PUBLISHER_READY:
    case PUBLISHER_FINISHED:
    case PUBLISHER_EMPTY:
    case PUBLISHER_REQUEUED:
    case PUBLISHER_NO_SLOT:
        break;
    }
    return true;
}

size_t
worker_most(const struct worker_run *run)
{
    return run->settings->chunk ? run->settings->chunk : DEFAULT_CHUNK;
}

// How large the next chunk may be, so that one takes less than five seconds.
static void
adapt(struct worker_run *run, const struct publisher *publisher)
{
    size_t most = worker_most(run);
    if (publisher_last_took(publisher) > SLOWEST_CHUNK)
        run->limit = publisher_last_count(publisher) > 1 ? publisher_last_count(publisher) / 2 : 1;
    else if (run->limit < most)
        run->limit = run->limit * 2 < most ? run->limit * 2 : most;
}

static void
note_finished(struct worker_run *run, size_t i)
{
    const struct publisher *publisher = run->publishers[i].machine;
    int64_t now = clock_mono();
    size_t count = publisher_last_count(publisher);
    meter_add(&run->meter, now, (int64_t)count);
    pace_spend(&run->paces, run->publishers[i].operation, count);
    adapt(run, publisher);
    setback_end(&run->setbacks, run->publishers[i].operation, worker_most(run));
    kafka_worked(run);
    run->last.work_at = now;
    run->due.show = run->due.show < now ? run->due.show : now;
    log_line(LOG_DEBUG, "chunk finished", LOG_INT("operation", run->publishers[i].operation),
             LOG_INT("events", count), LOG_INT("ms", publisher_last_took(publisher) / 1000));
}

// Events that were refused since it was ready last.
static void
note_refused(struct worker_run *run, size_t i)
{
    int64_t refused = publisher_tally(run->publishers[i].machine)->refused;
    if (refused > run->publishers[i].refused)
        kafka_worked(run);
    run->publishers[i].refused = refused;
}

// It can be given something again, and there may be something: the sources of its chunk are free.
static void
set_free(struct worker_run *run, size_t i)
{
    lay_down(run, i);
    run->due.look = 0;
}

// No slot is free for this publisher. One that rests and holds a slot is given the work instead.
static bool
pass_on(struct worker_run *run, size_t i)
{
    for (size_t n = 1; n < WORKER_SLOTS; n++) {
        size_t other = (i + n) % WORKER_SLOTS;
        if (!run->publishers[other].is_driven && publisher_slot(run->publishers[other].machine) >= 0) {
            run->turn = other;
            return true;
        }
    }
    return false;
}

// A step may wait for Kafka for a quarter of a minute before it fails: the worker's note and the row of the
// operation say so before.
static void
note_waiting(struct worker_run *run, size_t i, bool is_waiting)
{
    struct worker_publisher *own = &run->publishers[i];
    int64_t now = clock_mono();
    if (!is_waiting || publisher_is_calling(own->machine)) {
        own->kafka_at = 0;
        return;
    }
    if (!own->kafka_at)
        own->kafka_at = now;
    int64_t operation = own->operation ? own->operation : run->operation;
    if (now - own->kafka_at < TOLD_AFTER || run->kafka.since)
        return;
    static const char why[] = "Kafka has not answered for some seconds";
    worker_note(run, "%s, slot %d", why, (int)publisher_slot(own->machine));
    log_line(LOG_WARN, "Kafka has not answered yet", LOG_INT("slot", publisher_slot(own->machine)));
    if (operation)
        setback_pass(&run->setbacks, operation, now, now, why);
    own->kafka_at = now;
}

// One step of a publisher that is on its way. False: the worker ends with err.
static bool
drive(struct worker_run *run, size_t i, int wait_ms, struct err *err)
{
    struct err failure = {0};
    enum publisher_status status = worker_step_publisher(run, i, wait_ms, &failure);
    note_waiting(run, i, status == PUBLISHER_WAITING);
    switch (status) {
    case PUBLISHER_BUSY:
    case PUBLISHER_WAITING:
        return true;
    case PUBLISHER_FINISHED:
        note_finished(run, i);
        set_free(run, i);
        return attend_idle(run, i, err); // its next epoch begins
    case PUBLISHER_REQUEUED:
        run->last.work_at = clock_mono();
        return true;
    case PUBLISHER_READY: // no proof yet that Kafka takes records: only what is finished or refused ends a
                          // row of failures
        note_refused(run, i);
        set_free(run, i);
        return true;
    case PUBLISHER_EMPTY: {
        int64_t operation = run->publishers[i].operation;
        kafka_worked(run);
        set_free(run, i);
        if (operation && !worker_set_back_empty(run, operation, run->publishers[i].queued, err))
            return false;
        if (worker_is_publishing(run)) // the rest may hang on what the other has in flight
            run->due.look = clock_mono() + LOOK_EVERY / 10;
        return true;
    }
    case PUBLISHER_NO_SLOT:
        set_free(run, i);
        if (pass_on(run, i))
            return true;
        run->due.look = clock_mono() + LOOK_EVERY;
        worker_note(run, "waits for a free slot: other workers have them all, or they are suspended");
        return true;
    case PUBLISHER_FAILED:
        run->publishers[i].is_driven = publisher_is_busy(run->publishers[i].machine);
        return publisher_failed(run, i, &failure, err);
    case PUBLISHER_TURN:
        worker_turn_lose(run);
        return true;
    case PUBLISHER_STOPPED:
        break;
    }
    return err_set(err, failure.kind, "%s", failure.text);
}

bool
worker_is_publishing(const struct worker_run *run)
{
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        if (run->publishers[i].is_driven)
            return true;
    return false;
}

// Events in memory are what a worker's size is made of: while two have some, the others commit and finish.
static bool
may_claim(const struct worker_run *run)
{
    size_t holders = 0;
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        holders += run->publishers[i].machine && publisher_has_events(run->publishers[i].machine);
    return holders < WORKER_HOLDERS;
}

bool
worker_has_free_publisher(struct worker_run *run)
{
    if (!may_claim(run))
        return false;
    for (size_t n = 0; n < WORKER_SLOTS; n++) {
        size_t i = (run->turn + n) % WORKER_SLOTS;
        if (!run->publishers[i].is_driven) {
            run->turn = i;
            return clock_mono() >= run->due.look;
        }
    }
    return false;
}

bool
worker_publish_step(struct worker_run *run, struct err *err)
{
    size_t driven = 0;
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        driven += run->publishers[i].is_driven;
    int wait_ms = driven > 1 ? WAIT_SHARED_MS : WAIT_MS;
    for (size_t i = 0; i < WORKER_SLOTS && run->publishers[i].machine && clock_mono() >= run->due.kafka; i++)
        if (!(run->publishers[i].is_driven ? drive(run, i, wait_ms, err) : attend_idle(run, i, err)))
            return false;
    return true;
}

// Of an operation with a rate one chunk at a time: what it may send is known when that is finished.
static bool
is_in_flight(const struct worker_run *run, int64_t operation)
{
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        if (run->publishers[i].operation == operation)
            return true;
    return false;
}

bool
worker_publish(struct worker_run *run, const struct work *work, int64_t *wait, struct err *err)
{
    if (work->rate >= 0 && is_in_flight(run, work->no)) {
        *wait = LOOK_EVERY; // or as soon as it is finished
        return true;
    }
    size_t most = setback_limit(&run->setbacks, work->no, run->limit);
    size_t limit = pace_allow(&run->paces, work->no, work->rate, most, clock_mono(), wait);
    if (limit == 0)
        return true;

    size_t i = run->turn;
    struct err failure = {0};
    enum publisher_status status =
        worker_step_publisher(run, i, worker_is_publishing(run) ? 0 : WAIT_MS, &failure);
    run->publishers[i].is_driven = true;
    if (status == PUBLISHER_FAILED)
        return publisher_failed(run, i, &failure, err);
    if (status == PUBLISHER_STOPPED)
        return err_set(err, failure.kind, "%s", failure.text);
    if (status == PUBLISHER_TURN) {
        worker_turn_lose(run);
        *wait = LOOK_EVERY / 10;
        return true;
    }
    if (status != PUBLISHER_READY) { // on its way; what it shall publish is asked for again then
        worker_note(run, "operation %" PRId64 ": gets its slots ready", work->no);
        return true;
    }

    publisher_assign(run->publishers[i].machine, work->no, limit);
    run->operation = run->publishers[i].operation = work->no;
    run->publishers[i].queued = work->queued;
    run->turn = (i + 1) % WORKER_SLOTS;
    worker_note(run, "operation %" PRId64 ", slot %d", work->no,
                (int)publisher_slot(run->publishers[i].machine));
    return true;
}

static bool
decide_doubt(struct worker_run *run, bool *is_wanted, struct err *err)
{
    enum doubt_outcome outcome;
    struct err failure = {0};
    int64_t wait = run->settings->doubt_wait ? run->settings->doubt_wait : DOUBT_WAIT;
    if (!doubt_look(&run->endpoints, wait, &outcome, &failure))
        return store_is_connected(run->endpoints.store) ? publish_later(run, &failure, err)
                                                        : worker_store_failed(run, &failure, err);
    int64_t again = outcome == DOUBT_STAYS ? DOUBT_AGAIN : DOUBT_EVERY;
    if (outcome == DOUBT_EARLY && wait < again)
        again = wait;
    *is_wanted = outcome == DOUBT_DECIDED;
    run->due.doubt = *is_wanted ? 0 : clock_mono() + again;
    return true;
}

bool
worker_recover(struct worker_run *run, bool *is_wanted, struct err *err)
{
    *is_wanted = false;
    if (clock_mono() < run->due.recover)
        return true;
    run->due.recover = clock_mono() + RECOVER_EVERY;
    if (!broker_settings_present(&run->settings->broker)) {
        run->recovered.at = clock_mono(); // not ours to do
        return true;
    }

    struct err failure = {0};
    struct recovery_wanted wanted;
    int32_t mine[WORKER_SLOTS];
    size_t mine_count = slots_held(run, WORKER_SLOTS, mine);
    if (!recovery_wanted(run->endpoints.store, run->endpoints.cluster.name, run->endpoints.worker, mine,
                         mine_count, &wanted, &failure))
        return worker_store_failed(run, &failure, err);
    if (!wanted.unfinished)
        run->recovered.at = clock_mono();
    bool is_there = false;
    if ((wanted.unfinished || wanted.in_doubt) && !worker_need_kafka(run, &is_there, err))
        return false;
    run->recovered.has_old_markers = wanted.old_markers > 0;
    if (!is_there)
        return true;

    if (wanted.unfinished) {
        // A publisher that holds no slot takes the one with the chunk.
        if (!publisher_release(run->publishers[run->turn].machine, &failure) && failure.kind != ERR_CONFLICT)
            return worker_store_failed(run, &failure, err);
        worker_note(run, "looks into what another worker left");
        run->publishers[run->turn].is_driven = *is_wanted = true;
        return true;
    }
    return !wanted.in_doubt || clock_mono() < run->due.doubt || decide_doubt(run, is_wanted, err);
}

// Idle slots keep their marker fresh: a publisher that holds no slot takes one whose marker is old, and
// writes it again on its way to being ready.
bool
worker_refresh(struct worker_run *run, bool *is_wanted, struct err *err)
{
    *is_wanted = false;
    bool is_there = false;
    if (!run->recovered.has_old_markers)
        return true;
    run->recovered.has_old_markers = false; // until the next look
    if (!worker_need_kafka(run, &is_there, err))
        return false;
    struct err failure = {0};
    if (!is_there || run->endpoints.cluster.promise != PROMISE_EXACTLY_ONCE)
        return true;
    if (!publisher_release(run->publishers[run->turn].machine, &failure) && failure.kind != ERR_CONFLICT)
        return worker_store_failed(run, &failure, err);
    worker_note(run, "keeps the marker of an idle slot fresh");
    run->due.recover = 0;
    run->publishers[run->turn].is_driven = *is_wanted = true;
    return true;
}

// Slots that have nothing to do are let go, so that more workers than slots can be alive.
bool
worker_let_go(struct worker_run *run, struct err *err)
{
    struct err failure = {0};
    for (size_t i = 0; i < WORKER_SLOTS; i++)
        if (run->publishers[i].machine && !publisher_is_busy(run->publishers[i].machine) &&
            !publisher_release(run->publishers[i].machine, &failure)) {
            if (failure.kind ==
                ERR_CONFLICT) { // it was taken over, or it holds a chunk that recovery will see
                err_clear(&failure);
                continue;
            }
            return worker_store_failed(run, &failure, err);
        }
    return true;
}

// Keeps leases while nothing is published.
bool
worker_keep_slots(struct worker_run *run, struct err *err)
{
    if (clock_mono() - run->last.work_at > SLOT_IDLE)
        return worker_let_go(run, err);
    for (size_t i = 0; i < WORKER_SLOTS; i++) {
        struct err failure = {0};
        if (run->publishers[i].machine && publisher_slot(run->publishers[i].machine) >= 0 &&
            worker_step_publisher(run, i, 0, &failure) == PUBLISHER_FAILED)
            return publisher_failed(run, i, &failure, err);
    }
    return true;
}

// KiB of this process at its largest.
static long
peak_memory(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

void
worker_log_tally(const struct worker_run *run)
{
    struct publisher_tally sum = {0};
    for (size_t i = 0; i < WORKER_SLOTS; i++) {
        if (!run->publishers[i].machine)
            continue;
        const struct publisher_tally *tally = publisher_tally(run->publishers[i].machine);
        sum.chunks += tally->chunks;
        sum.sent += tally->sent;
        sum.refused += tally->refused;
        sum.requeued += tally->requeued;
        sum.recovered += tally->recovered;
        sum.fenced += tally->fenced;
        for (size_t p = 0; p < PHASE_COUNT; p++)
            sum.step_us[p] += tally->step_us[p];
    }
    if (!sum.chunks && !sum.requeued && !sum.recovered && !sum.fenced)
        return;
    log_line(LOG_INFO, "published", LOG_INT("events", sum.sent), LOG_INT("chunks", sum.chunks),
             LOG_INT("refused", sum.refused), LOG_INT("requeued", sum.requeued),
             LOG_INT("recovered", sum.recovered), LOG_INT("fenced", sum.fenced),
             LOG_INT("fence_ms", sum.step_us[PHASE_FENCE] / 1000),
             LOG_INT("claim_ms", sum.step_us[PHASE_CLAIM] / 1000),
             LOG_INT("plan_ms", sum.step_us[PHASE_PLAN] / 1000),
             LOG_INT("send_ms", sum.step_us[PHASE_SEND] / 1000),
             LOG_INT("reports_ms", sum.step_us[PHASE_REPORTS] / 1000),
             LOG_INT("commit_ms", sum.step_us[PHASE_COMMIT] / 1000),
             LOG_INT("verify_ms", sum.step_us[PHASE_VERIFY] / 1000),
             LOG_INT("finish_ms", sum.step_us[PHASE_FINISH] / 1000),
             LOG_INT("destroy_ms", sum.step_us[PHASE_DESTROY] / 1000), LOG_INT("peak_kib", peak_memory()));
}

// A chunk that is not finished in time is left to recovery.
void
worker_finish_all(struct worker_run *run)
{
    int64_t deadline = clock_mono() + STOP_WITHIN;
    for (size_t i = 0; i < WORKER_SLOTS; i++) {
        enum publisher_status status = PUBLISHER_BUSY;
        while (run->publishers[i].machine && publisher_is_busy(run->publishers[i].machine) &&
               store_is_connected(run->endpoints.store) && clock_mono() < deadline &&
               status != PUBLISHER_FAILED && status != PUBLISHER_NO_SLOT && status != PUBLISHER_TURN &&
               status != PUBLISHER_STOPPED) {
            struct err failure = {0};
            status = worker_step_publisher(run, i, WAIT_MS, &failure);
        }
    }
}
