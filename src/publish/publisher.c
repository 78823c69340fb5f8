#include "publish/publisher_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "publish/broken.h"
#include "publish/kill_point.h"

#define INIT_PATIENCE (15 * US_PER_SECOND)

struct publisher *
publisher_create(const struct publisher_settings *settings)
{
    struct publisher *publisher = alloc_bytes(sizeof *publisher);
    publisher->settings = *settings;
    if (!publisher->settings.lease)
        publisher->settings.lease = 30 * US_PER_SECOND;
    if (!publisher->settings.deadline)
        publisher->settings.deadline = 15 * US_PER_SECOND;
    if (!publisher->settings.chunk_bytes)
        publisher->settings.chunk_bytes = 16u << 20;
    return publisher;
}

int64_t
publisher_mono(const struct publisher *publisher)
{
    return publisher->settings.world->mono(publisher->settings.context);
}

bool
publisher_call_is_done(struct publisher *publisher, void (*call)(void *publisher))
{
    const struct publisher_world *world = publisher->settings.world;
    if (!publisher->is_call_running) {
        publisher->call_err = (struct err){0};
        if (!world->start) {
            call(publisher);
            return true;
        }
        world->start(publisher->settings.context, call, publisher);
    }
    publisher->is_call_running = !world->is_done(publisher->settings.context, publisher->wait_ms);
    return !publisher->is_call_running;
}

static void
destroy_producer(struct publisher *publisher)
{
    if (!publisher->producer)
        return;
    int64_t start = publisher_mono(publisher);
    publisher->settings.broker->destroy(publisher->settings.context, publisher->producer);
    publisher->producer = NULL;
    publisher->tally.step_us[PHASE_DESTROY] += publisher_mono(publisher) - start;
}

void
publisher_drop_producer(struct publisher *publisher)
{
    if (!broken(BROKEN_SAME_EPOCH))
        destroy_producer(publisher);
}

void
publisher_destroy(struct publisher *publisher)
{
    if (!publisher)
        return;

    while (publisher->is_call_running)
        publisher->is_call_running = !publisher->settings.world->is_done(publisher->settings.context, 1000);
    destroy_producer(publisher);
    arena_release(&publisher->arena);
    arena_release(&publisher->poison);
    free(publisher->refusals);
    free(publisher);
}

void
publisher_forget_chunk(struct publisher *publisher)
{
    publisher->claim = (struct claim){0};
    publisher->originals = NULL;
    publisher->plans = NULL;
    publisher->topics = NULL;
    publisher->reported = NULL;
    publisher->topic_count = publisher->sent_count = publisher->report_count = publisher->delivered_count = 0;
    publisher->rejected_at = 0;
    publisher->is_broken = false;
    arena_reset(&publisher->arena);
}

static void
forget_refusals(struct publisher *publisher)
{
    publisher->refusal_count = 0;
    arena_reset(&publisher->poison);
}

enum publisher_status
publisher_begin_again(struct publisher *publisher)
{
    publisher_drop_producer(publisher); // before the chunk: it borrows its bytes
    publisher_forget_chunk(publisher);
    forget_refusals(publisher);
    publisher->has_slot = false;
    publisher->is_verified = publisher->is_refreshed = false;
    publisher->unfinished = (struct chunk){0};
    publisher->was_nudged = false;
    publisher->at = AT_ACQUIRE;
    return PUBLISHER_FAILED;
}

enum publisher_status
publisher_ledger_failed(struct publisher *publisher, struct err *err)
{
    publisher_begin_again(publisher);
    if (err->kind != ERR_CONFLICT)
        return PUBLISHER_FAILED;

    log_line(LOG_INFO, "slot lost", LOG_INT("slot", publisher->slot.no), LOG_TEXT("why", err->text));
    publisher->tally.fenced++;
    err_clear(err);
    return PUBLISHER_BUSY;
}

void
publisher_reject(struct publisher *publisher, size_t item, const char *reason)
{
    publisher->refusals = alloc_grow(publisher->refusals, publisher->refusal_count,
                                     &publisher->refusal_capacity, sizeof *publisher->refusals);
    publisher->refusals[publisher->refusal_count++] = (struct refusal){
        .event_id = publisher->claim.items[item].event_id,
        .reason = arena_text(&publisher->poison, bytes_of(reason)),
    };
    publisher->refusal_operation = publisher->claim.chunk.operation;
}

// BROKEN_SAME_EPOCH: a handle that was kept has the names of the slot before.
static void
drop_other_names(struct publisher *publisher, int32_t before)
{
    if (broken(BROKEN_SAME_EPOCH) && publisher->slot.no != before)
        destroy_producer(publisher);
}

// Acquire.
static enum publisher_status
acquire(struct publisher *publisher, struct err *err)
{
    struct err failure = {0};
    int32_t before = publisher->slot.no;
    if (!publisher->settings.ledger->acquire(publisher->settings.context, publisher->others,
                                             publisher->other_count, &publisher->slot, &failure)) {
        if (failure.kind == ERR_NOT_FOUND)
            return PUBLISHER_NO_SLOT;
        *err = failure;
        return publisher_begin_again(publisher);
    }
    drop_other_names(publisher, before);
    publisher->has_slot = true;
    publisher->slot_no = publisher->slot.no;
    publisher->beat_at = publisher_mono(publisher);
    publisher->at = broken(BROKEN_READ_EARLY) ? AT_CHECK : AT_OPEN;
    KILL_POINT("after-acquire");
    return PUBLISHER_BUSY;
}

// BROKEN_SAME_EPOCH: what the handle has begun is ended by a request of its own, and its epoch goes on.
static bool
keeps_epoch(struct publisher *publisher)
{
    if (!broken(BROKEN_SAME_EPOCH) || !publisher->producer)
        return false;
    if (publisher->settings.broker->begin(publisher->settings.context, publisher->producer, NULL)) {
        publisher->at = AT_CHECK;
        return true;
    }
    destroy_producer(publisher);
    return false;
}

static bool
open_producer(struct publisher *publisher, struct err *err)
{
    publisher->batch_bytes = publisher->settings.broker->smallest_limit(publisher->settings.context, 1000000);
    publisher->is_isolating = publisher->isolates_next;
    const struct producer_settings how = {
        .txn_id = publisher->settings.is_transactional ? publisher->slot.txn_id : NULL,
        .message_ms = (int32_t)(publisher->settings.deadline / 1000),
        .batch_bytes = publisher->batch_bytes,
        .is_isolating = publisher->is_isolating,
        .records = 20000,
        .bytes = 128u << 20, // a limit, not a reservation: one record may be larger than a chunk
    };
    return publisher->settings.broker->open(publisher->settings.context, &how, &publisher->producer, err);
}

// Fence, first half: a new handle.
static enum publisher_status
open_handle(struct publisher *publisher, struct err *err)
{
    if (keeps_epoch(publisher))
        return PUBLISHER_BUSY;
    if (!open_producer(publisher, err))
        return publisher_begin_again(publisher);
    publisher->init_at = publisher_mono(publisher);
    publisher->at = AT_INIT;
    return PUBLISHER_BUSY;
}

// Fence for the next chunk, begun while PostgreSQL writes down what became of this one: that is proved, so
// its handle has done its work. Nothing uses the new epoch before Check, which comes after both. A failure
// here is ignored: Fence is tried again after Finish, and reports it then.
enum publisher_status
publisher_open_ahead(struct publisher *publisher, struct err *err)
{
    (void)err;
    struct err failure = {0};
    bool is_done = false;
    publisher->at = AT_FINISH;
    publisher->isolates_next = false;
    publisher_drop_producer(publisher);
    if (!publisher->producer && open_producer(publisher, &failure) &&
        !publisher->settings.broker->init(publisher->settings.context, publisher->producer, 0, &is_done,
                                          &failure))
        destroy_producer(publisher);
    return PUBLISHER_BUSY;
}

// Fence, second half. After it returns, what an earlier holder did is decided and final.
static enum publisher_status
init_handle(struct publisher *publisher, struct err *err)
{
    bool is_done = false;
    if (!publisher->settings.broker->init(publisher->settings.context, publisher->producer,
                                          publisher->wait_ms, &is_done, err))
        return publisher_begin_again(publisher);
    if (!is_done && publisher_mono(publisher) - publisher->init_at > INIT_PATIENCE) {
        err_set(err, ERR_UNREACHABLE, "Kafka did not give the transactional id %s within 15 s",
                publisher->slot.txn_id);
        return publisher_begin_again(publisher);
    }
    if (!is_done)
        return PUBLISHER_WAITING;
    publisher->at = AT_CHECK;
    KILL_POINT("after-fence");
    return PUBLISHER_BUSY;
}

static enum publisher_status
go_read(struct publisher *publisher, enum publisher_place place)
{
    publisher->read_at = publisher_mono(publisher);
    publisher->at = place;
    return PUBLISHER_BUSY;
}

// Check. The fence is looked at after init: a holder that was superseded between Acquire and Fence stops
// here.
static enum publisher_status
publisher_check(struct publisher *publisher, struct err *err)
{
    if (broken(BROKEN_NO_FENCE))
        publisher->slot.fence = -1; // whoever's it is: the fake ledger's word, PostgreSQL knows no such fence
    if (!publisher->settings.ledger->check(publisher->settings.context, &publisher->slot,
                                           &publisher->unfinished, err))
        return publisher_ledger_failed(publisher, err);

    if (!publisher->settings.is_transactional) {
        if (publisher->unfinished.exists)
            return publisher_put_in_doubt(publisher,
                                          "its end was not seen, and these brokers keep no proof of it", err);
        publisher->at = AT_REFUSE;
        return PUBLISHER_BUSY;
    }
    if (broken(BROKEN_READ_EARLY) && !publisher->producer && !publisher->unfinished.exists) {
        publisher->at = AT_OPEN;
        return PUBLISHER_BUSY;
    }
    // In this tenure the marker was read back as what PostgreSQL says: nothing can have moved it since.
    bool is_known = publisher->is_verified && publisher->slot.is_provisioned &&
                    !publisher->unfinished.exists &&
                    publisher->slot.finished_seq == publisher->verified_seq &&
                    strcmp(publisher->slot.finished_id, publisher->verified_id) == 0;
    if (is_known) {
        publisher->at = AT_REFUSE;
        return PUBLISHER_BUSY;
    }
    return go_read(publisher, AT_READ);
}

// The end of "Refused events": the abort is written down, so the offenders are queued and can be refused.
static enum publisher_status
publisher_refuse(struct publisher *publisher, struct err *err)
{
    if (publisher->refusal_count) {
        if (!publisher->settings.ledger->refuse(publisher->settings.context, &publisher->slot,
                                                publisher->refusal_operation, publisher->refusals,
                                                publisher->refusal_count, err))
            return publisher_ledger_failed(publisher, err);
        publisher->tally.refused += (int64_t)publisher->refusal_count;
        forget_refusals(publisher);
    }
    publisher->has_chunk = false;
    publisher->at = AT_READY;
    return PUBLISHER_READY;
}

static enum publisher_status
stay_ready(struct publisher *publisher, struct err *err)
{
    (void)publisher;
    (void)err;
    return PUBLISHER_READY;
}

static enum publisher_status
stay_stopped(struct publisher *publisher, struct err *err)
{
    (void)publisher;
    err_set(err, ERR_CONFLICT,
            "Kafka and PostgreSQL contradict each other; redrive audit says how; nothing is published until "
            "then");
    return PUBLISHER_STOPPED;
}

static const struct {
    enum publisher_status (*run)(struct publisher *publisher, struct err *err);
    enum publisher_phase phase;
} steps[AT_COUNT] = {
    [AT_ACQUIRE] = {acquire, PHASE_CLAIM},
    [AT_OPEN] = {open_handle, PHASE_FENCE},
    [AT_INIT] = {init_handle, PHASE_FENCE},
    [AT_CHECK] = {publisher_check, PHASE_CLAIM},
    [AT_READ] = {publisher_read, PHASE_VERIFY},
    [AT_NUDGE] = {publisher_nudge, PHASE_VERIFY},
    [AT_NONCE] = {publisher_write_nonce, PHASE_VERIFY},
    [AT_READ_NONCE] = {publisher_read_with_nonce, PHASE_VERIFY},
    [AT_PROVISION] = {publisher_provision, PHASE_FENCE},
    [AT_PROVISION_COMMIT] = {publisher_provision, PHASE_FENCE},
    [AT_REFUSE] = {publisher_refuse, PHASE_FINISH},
    [AT_READY] = {stay_ready, PHASE_CLAIM},
    [AT_CLAIM] = {publisher_claim, PHASE_CLAIM},
    [AT_ORIGINALS] = {publisher_find_originals, PHASE_PLAN},
    [AT_PLAN] = {publisher_plan, PHASE_PLAN},
    [AT_SEND] = {publisher_send, PHASE_SEND},
    [AT_REPORTS] = {publisher_take_reports, PHASE_REPORTS},
    [AT_MARK] = {publisher_mark, PHASE_COMMIT},
    [AT_COMMIT] = {publisher_commit, PHASE_COMMIT},
    [AT_VERIFY] = {publisher_verify, PHASE_VERIFY},
    [AT_AHEAD] = {publisher_open_ahead, PHASE_FENCE},
    [AT_FINISH] = {publisher_finish, PHASE_FINISH},
    [AT_STOPPED] = {stay_stopped, PHASE_FINISH},
};

// The lease is only for liveness, but a holder that has lost the slot stops at once.
static bool
beat(struct publisher *publisher, struct err *err)
{
    if (!publisher->has_slot || publisher->is_call_running || // PostgreSQL's extend it, Kafka's are short
        publisher_mono(publisher) - publisher->beat_at < publisher->settings.lease / 3)
        return true;
    if (!publisher->settings.ledger->heartbeat(publisher->settings.context, &publisher->slot, err))
        return false;
    publisher->beat_at = publisher_mono(publisher);
    return true;
}

enum publisher_status
publisher_step(struct publisher *publisher, const int32_t *others, size_t other_count, int wait_ms,
               struct err *err)
{
    publisher->others = others;
    publisher->other_count = other_count;
    publisher->wait_ms = wait_ms;
    if (!beat(publisher, err))
        return publisher_ledger_failed(publisher, err);

    enum publisher_phase phase = steps[publisher->at].phase;
    int64_t start = publisher->waiting_at ? publisher->waiting_at : publisher_mono(publisher);
    enum publisher_status status = steps[publisher->at].run(publisher, err);
    int64_t now = publisher_mono(publisher);
    publisher->tally.step_us[phase] += now - start;
    publisher->waiting_at = status == PUBLISHER_WAITING ? now : 0;
    return status;
}

void
publisher_assign(struct publisher *publisher, int64_t operation, size_t limit)
{
    if (publisher->at != AT_READY)
        die("work was given to a publisher that is not ready");
    publisher->operation = operation;
    publisher->limit = limit;
    publisher->at = AT_CLAIM;
}

int32_t
publisher_rate(const struct publisher *publisher)
{
    return publisher->rate;
}

size_t
publisher_last_count(const struct publisher *publisher)
{
    return publisher->last_count;
}

int64_t
publisher_last_took(const struct publisher *publisher)
{
    return publisher->last_took;
}

bool
publisher_is_busy(const struct publisher *publisher)
{
    return publisher->is_call_running ||
           (publisher->has_chunk && publisher->at != AT_READY && publisher->at != AT_STOPPED);
}

bool
publisher_has_events(const struct publisher *publisher)
{
    return publisher->at >= AT_CLAIM && publisher->at <= AT_REPORTS;
}

int32_t
publisher_slot(const struct publisher *publisher)
{
    return publisher->has_slot ? publisher->slot_no : -1;
}

bool
publisher_release(struct publisher *publisher, struct err *err)
{
    if (!publisher->has_slot)
        return true;
    publisher_drop_producer(publisher);
    struct slot slot = publisher->slot;
    publisher_begin_again(publisher);
    return publisher->settings.ledger->release(publisher->settings.context, &slot, err);
}

const struct publisher_tally *
publisher_tally(const struct publisher *publisher)
{
    return &publisher->tally;
}
