#include "publish/publisher_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "publish/broken.h"
#include "base/kill_point.h"

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

enum publisher_status
publisher_go(struct publisher *publisher, enum publisher_place place)
{
    publisher->at = place;
    return PUBLISHER_BUSY;
}

enum publisher_status
publisher_go_read(struct publisher *publisher, enum publisher_place place)
{
    publisher->resolve.read_at = publisher_mono(publisher);
    return publisher_go(publisher, place);
}

bool
publisher_call_is_done(struct publisher *publisher, void (*call)(void *publisher))
{
    const struct publisher_world *world = publisher->settings.world;
    if (!publisher->call.is_running) {
        publisher->call.err = (struct err){0};
        if (!world->start) {
            call(publisher);
            return true;
        }
        world->start(publisher->settings.context, call, publisher);
    }
    publisher->call.is_running = !world->is_done(publisher->settings.context, publisher->step.wait_ms);
    return !publisher->call.is_running;
}

void
publisher_answer(struct publisher *publisher, bool is_good)
{
    publisher->call.answer = is_good ? ANSWER_DONE : ANSWER_FAILED;
}

void
publisher_destroy_producer(struct publisher *publisher)
{
    if (!publisher->epoch.producer)
        return;
    int64_t start = publisher_mono(publisher);
    publisher->settings.broker->destroy(publisher->epoch.producer);
    publisher->epoch.producer = NULL;
    publisher->tally.step_us[PHASE_DESTROY] += publisher_mono(publisher) - start;
}

// BROKEN_SAME_EPOCH keeps the handle and all that it has begun.
void
publisher_drop_producer(struct publisher *publisher)
{
    if (!broken(BROKEN_SAME_EPOCH))
        publisher_destroy_producer(publisher);
}

enum publisher_status
publisher_fence_again(struct publisher *publisher)
{
    publisher_drop_producer(publisher);
    return publisher_go(publisher, AT_OPEN);
}

void
publisher_destroy(struct publisher *publisher)
{
    if (!publisher)
        return;

    while (publisher->call.is_running)
        publisher->call.is_running = !publisher->settings.world->is_done(publisher->settings.context, 1000);
    publisher_destroy_producer(publisher);
    flight_release(&publisher->flight);
    arena_release(&publisher->refusals.arena);
    free(publisher->refusals.rows);
    free(publisher);
}

void
publisher_forget_refusals(struct publisher *publisher)
{
    publisher->refusals.count = 0;
    arena_reset(&publisher->refusals.arena);
}

enum publisher_status
publisher_begin_again(struct publisher *publisher)
{
    publisher_drop_producer(publisher); // before the flight: it borrows its bytes
    flight_give_up(&publisher->flight);
    publisher_forget_refusals(publisher);
    publisher->tenure.is_held = false;
    publisher->tenure.marker = MARKER_NOT_READ;
    publisher->resolve.unfinished = (struct chunk){0};
    publisher->resolve.was_nudged = false;
    publisher_go(publisher, AT_ACQUIRE);
    return PUBLISHER_FAILED;
}

// Other sessions kept the rows for too long: a deadlock, a serialization failure, lock_timeout.
static bool
was_kept_waiting(const struct err *err)
{
    return strncmp(err->sqlstate, "40", 2) == 0 || strcmp(err->sqlstate, "55P03") == 0;
}

enum publisher_status
publisher_ledger_failed(struct publisher *publisher, struct err *err)
{
    publisher_begin_again(publisher);
    if (err->kind != ERR_CONFLICT || was_kept_waiting(err))
        return PUBLISHER_FAILED;

    log_line(LOG_INFO, "slot lost", LOG_INT("slot", publisher->tenure.slot.no), LOG_TEXT("why", err->text));
    publisher->tally.fenced++;
    err_clear(err);
    return PUBLISHER_BUSY;
}

void
publisher_note_verified(struct publisher *publisher, int64_t seq, const char id[UUID_SIZE])
{
    publisher->tenure.marker = MARKER_VERIFIED;
    publisher->tenure.verified_seq = seq;
    memcpy(publisher->tenure.verified_id, id, sizeof publisher->tenure.verified_id);
}

void
publisher_reject(struct publisher *publisher, size_t item, const char *reason)
{
    publisher->refusals.rows = alloc_grow(publisher->refusals.rows, publisher->refusals.count,
                                          &publisher->refusals.capacity, sizeof *publisher->refusals.rows);
    publisher->refusals.rows[publisher->refusals.count++] = (struct refusal){
        .event_id = publisher->flight.claim.items[item].event_id,
        .reason = arena_text(&publisher->refusals.arena, bytes_of(reason)),
    };
    publisher->refusals.operation = publisher->flight.claim.chunk.operation;
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
    *err = publisher->stop;
    return PUBLISHER_STOPPED;
}

static const struct {
    publisher_step_fn *run;
    enum publisher_phase phase;
} steps[AT_COUNT] = {
    [AT_ACQUIRE] = {publisher_acquire, PHASE_CLAIM},
    [AT_OPEN] = {publisher_open, PHASE_FENCE},
    [AT_INIT] = {publisher_init, PHASE_FENCE},
    [AT_TURN] = {publisher_read_turn, PHASE_FENCE},
    [AT_KNOWN] = {publisher_know_turn, PHASE_FENCE},
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
    [AT_ENDS] = {publisher_ask_ends, PHASE_PLAN},
    [AT_NOTE_ENDS] = {publisher_note_ends, PHASE_PLAN},
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
    if (!publisher->tenure.is_held ||
        publisher->call.is_running || // PostgreSQL's extend it, Kafka's are short
        publisher_mono(publisher) - publisher->tenure.beat_at < publisher->settings.lease / 3)
        return true;
    if (!publisher->settings.ledger->heartbeat(publisher->settings.context, &publisher->tenure.slot, err))
        return false;
    publisher->tenure.beat_at = publisher_mono(publisher);
    return true;
}

enum publisher_status
publisher_step(struct publisher *publisher, const int32_t *others, size_t other_count, int wait_ms,
               struct err *err)
{
    publisher->step.others = others;
    publisher->step.other_count = other_count;
    publisher->step.wait_ms = wait_ms;
    publisher->step.is_alone = false;
    if (!beat(publisher, err))
        return publisher_ledger_failed(publisher, err);

    enum publisher_phase phase = steps[publisher->at].phase;
    int64_t start = publisher->step.waiting_at ? publisher->step.waiting_at : publisher_mono(publisher);
    enum publisher_status status = steps[publisher->at].run(publisher, err);
    int64_t now = publisher_mono(publisher);
    publisher->tally.step_us[phase] += now - start;
    publisher->step.waiting_at = status == PUBLISHER_WAITING ? now : 0;
    return status;
}

void
publisher_assign(struct publisher *publisher, int64_t operation, size_t limit)
{
    if (publisher->at != AT_READY)
        die("work was given to a publisher that is not ready");
    publisher->assigned.operation = operation;
    publisher->assigned.limit = limit;
    publisher_go(publisher, AT_CLAIM);
}

size_t
publisher_last_count(const struct publisher *publisher)
{
    return publisher->last.count;
}

int64_t
publisher_last_took(const struct publisher *publisher)
{
    return publisher->last.took;
}

bool
publisher_is_busy(const struct publisher *publisher)
{
    return publisher->call.is_running ||
           (publisher->flight.state != FLIGHT_NONE && publisher->at != AT_STOPPED);
}

bool
publisher_failed_alone(const struct publisher *publisher)
{
    return publisher->step.is_alone;
}

bool
publisher_is_calling(const struct publisher *publisher)
{
    return publisher->call.is_running;
}

bool
publisher_has_events(const struct publisher *publisher)
{
    return publisher->at == AT_CLAIM || flight_has_events(&publisher->flight);
}

int32_t
publisher_slot(const struct publisher *publisher)
{
    return publisher->tenure.is_held ? publisher->tenure.no : -1;
}

bool
publisher_release(struct publisher *publisher, struct err *err)
{
    if (!publisher->tenure.is_held)
        return true;
    publisher_drop_producer(publisher);
    struct slot slot = publisher->tenure.slot;
    publisher_begin_again(publisher);
    return publisher->settings.ledger->release(publisher->settings.context, &slot, err);
}

const struct publisher_tally *
publisher_tally(const struct publisher *publisher)
{
    return &publisher->tally;
}
