// acquire: Acquire, Fence, the look at the turn, and Check; and the refusal of events, with which a fenced
// slot becomes ready.
#include "publish/publisher_private.h"

#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "publish/broken.h"
#include "base/kill_point.h"
#include "publish/turn.h"

#define INIT_PATIENCE (15 * US_PER_SECOND)
#define TURN_PATIENCE (10 * US_PER_SECOND)
#define TURN_PAUSE 1000 // µs between two readings of a turn that is being written

// BROKEN_SAME_EPOCH: a handle that was kept has the names of the slot before.
static void
drop_other_names(struct publisher *publisher, int32_t before)
{
    if (broken(BROKEN_SAME_EPOCH) && publisher->tenure.slot.no != before)
        publisher_destroy_producer(publisher);
}

// Acquire.
enum publisher_status
publisher_acquire(struct publisher *publisher, struct err *err)
{
    struct err failure = {0};
    int32_t before = publisher->tenure.slot.no;
    if (!publisher->settings.ledger->acquire(publisher->settings.context, publisher->step.others,
                                             publisher->step.other_count, &publisher->tenure.slot,
                                             &failure)) {
        if (failure.kind == ERR_NOT_FOUND)
            return PUBLISHER_NO_SLOT;
        *err = failure;
        return publisher_begin_again(publisher);
    }
    drop_other_names(publisher, before);
    publisher->tenure.is_held = true;
    publisher->tenure.no = publisher->tenure.slot.no;
    publisher->tenure.beat_at = publisher_mono(publisher);
    KILL_POINT("after-acquire");
    return publisher_go(publisher, broken(BROKEN_READ_EARLY) ? AT_CHECK : AT_OPEN);
}

// BROKEN_SAME_EPOCH: the handle aborts its transaction by a request of its own and keeps its epoch.
static bool
keeps_epoch(struct publisher *publisher)
{
    if (!broken(BROKEN_SAME_EPOCH) || !publisher->epoch.producer)
        return false;
    if (publisher->settings.broker->begin(publisher->epoch.producer, NULL)) {
        publisher_go(publisher, AT_CHECK);
        return true;
    }
    publisher_destroy_producer(publisher);
    return false;
}

static bool
open_producer(struct publisher *publisher, struct err *err)
{
    publisher->epoch.batch_bytes =
        publisher->settings.broker->smallest_limit(publisher->settings.context, 1000000);
    publisher->epoch.is_isolating = publisher->lessons.isolates;
    const struct producer_settings how = {
        .txn_id = publisher->settings.is_transactional ? publisher->tenure.slot.txn_id : NULL,
        .message_ms = (int32_t)(publisher->settings.deadline / 1000),
        .batch_bytes = publisher->epoch.batch_bytes,
        .is_isolating = publisher->epoch.is_isolating,
        .records = 20000,
        .bytes = 128u << 20, // a limit, not a reservation: one record may be larger than a chunk
    };
    return publisher->settings.broker->open(publisher->settings.context, &how, &publisher->epoch.producer,
                                            err);
}

// Brokers without transactions keep no turn.
static enum publisher_status
go_turn(struct publisher *publisher)
{
    if (!publisher->settings.is_transactional || broken(BROKEN_TURN_UNREAD))
        return publisher_go(publisher, AT_CHECK);
    publisher->turn.read_at = publisher_mono(publisher);
    return publisher_go(publisher, AT_TURN);
}

// Fence, first half: a new handle.
enum publisher_status
publisher_open(struct publisher *publisher, struct err *err)
{
    if (keeps_epoch(publisher))
        return PUBLISHER_BUSY;
    if (!open_producer(publisher, err))
        return publisher_begin_again(publisher);
    publisher->epoch.init_at = publisher_mono(publisher);
    if (broken(BROKEN_TURN_EARLY))
        return go_turn(publisher);
    return publisher_go(publisher, AT_INIT);
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
    publisher->lessons.isolates = false;
    publisher_drop_producer(publisher);
    if (!publisher->epoch.producer && open_producer(publisher, &failure) &&
        !publisher->settings.broker->init(publisher->epoch.producer, 0, &is_done, &failure))
        publisher_destroy_producer(publisher);
    return publisher_go(publisher, AT_FINISH);
}

// Fence, second half. After it returns, what an earlier holder did is decided and final.
enum publisher_status
publisher_init(struct publisher *publisher, struct err *err)
{
    bool is_done = false;
    if (!publisher->settings.broker->init(publisher->epoch.producer, publisher->step.wait_ms, &is_done, err))
        return publisher_begin_again(publisher);
    if (!is_done && publisher_mono(publisher) - publisher->epoch.init_at > INIT_PATIENCE) {
        err_set(err, ERR_UNREACHABLE, "Kafka did not give the transactional id %s within 15 s",
                publisher->tenure.slot.txn_id);
        return publisher_begin_again(publisher);
    }
    if (!is_done)
        return PUBLISHER_WAITING;
    KILL_POINT("after-fence");
    return broken(BROKEN_TURN_EARLY) ? publisher_go(publisher, AT_CHECK) : go_turn(publisher);
}

// The same reading again, after a moment.
static enum publisher_status
read_turn_again(struct publisher *publisher, struct err *err)
{
    if (publisher_mono(publisher) - publisher->turn.read_at > TURN_PATIENCE) {
        err_set(err, ERR_UNREACHABLE, "Kafka does not show the last turn of this install");
        return publisher_begin_again(publisher);
    }
    publisher->settings.world->sleep(publisher->settings.context, TURN_PAUSE);
    publisher_go(publisher, AT_TURN);
    return PUBLISHER_WAITING;
}

// Turn, first half: what Kafka holds. After Fence, since a database that takes its turn fences this slot
// first or is seen here.
enum publisher_status
publisher_read_turn(struct publisher *publisher, struct err *err)
{
    struct marker_reading reading;
    if (!publisher->settings.broker->read_marker(publisher->settings.context, publisher->settings.turn_group,
                                                 &reading, err))
        return publisher_begin_again(publisher);
    if (!reading.is_stable) // another worker of this install takes a turn
        return read_turn_again(publisher, err);
    publisher->turn.kafka = reading.marker;
    return publisher_go(publisher, AT_KNOWN);
}

// Turn, second half: PostgreSQL, asked after Kafka, must know it.
enum publisher_status
publisher_know_turn(struct publisher *publisher, struct err *err)
{
    struct turn turn;
    if (!publisher->settings.ledger->turns->read(publisher->settings.context, &turn, err))
        return publisher_ledger_failed(publisher, err);
    if (turn.stop != STOP_NONE) {
        err_set(&publisher->stop, ERR_STOPPED, "nothing is published from this database: %.500s",
                turn.stop_detail);
        publisher_begin_again(publisher);
        return publisher_go(publisher, AT_STOPPED);
    }
    switch (turn_judge(&turn, &publisher->turn.kafka)) {
    case TURN_AGREES:
    case TURN_CONTINUES:
        return publisher_go(publisher, broken(BROKEN_TURN_EARLY) ? AT_INIT : AT_CHECK);
    case TURN_PASSED:
        return read_turn_again(publisher, err);
    case TURN_ELSEWHERE:
    case TURN_GONE:
        break;
    }
    log_line(LOG_WARN, "turn not known", LOG_INT("slot", publisher->tenure.slot.no),
             LOG_INT("kafka", publisher->turn.kafka.seq), LOG_INT("postgresql", turn.last.no));
    publisher_begin_again(publisher);
    return PUBLISHER_TURN;
}

// Check. The fence is looked at after init: a holder that was superseded between Acquire and Fence stops
// here.
enum publisher_status
publisher_check(struct publisher *publisher, struct err *err)
{
    if (broken(BROKEN_NO_FENCE))
        publisher->tenure.slot.fence = -1; // "any": only the ledger of tests/sim knows this fence
    if (!publisher->settings.ledger->check(publisher->settings.context, &publisher->tenure.slot,
                                           &publisher->resolve.unfinished, err))
        return publisher_ledger_failed(publisher, err);

    if (!publisher->settings.is_transactional) {
        if (publisher->resolve.unfinished.exists)
            return publisher_put_in_doubt(publisher,
                                          "its end was not seen, and these brokers keep no proof of it", err);
        return publisher_go(publisher, AT_REFUSE);
    }
    if (broken(BROKEN_READ_EARLY) && !publisher->epoch.producer && !publisher->resolve.unfinished.exists) {
        return publisher_go(publisher, AT_OPEN);
    }
    // In this tenure the marker was read back as what PostgreSQL says: nothing can have moved it since.
    bool is_known = publisher->tenure.marker == MARKER_VERIFIED && publisher->tenure.slot.is_provisioned &&
                    !publisher->resolve.unfinished.exists &&
                    publisher->tenure.slot.finished_seq == publisher->tenure.verified_seq &&
                    strcmp(publisher->tenure.slot.finished_id, publisher->tenure.verified_id) == 0;
    if (is_known) {
        return publisher_go(publisher, AT_REFUSE);
    }
    return publisher_go_read(publisher, AT_READ);
}

// The end of "Refused events": the abort is written down, so the rejected events are queued and can be
// refused.
enum publisher_status
publisher_refuse(struct publisher *publisher, struct err *err)
{
    if (publisher->refusals.count) {
        if (!publisher->settings.ledger->refuse(publisher->settings.context, &publisher->tenure.slot,
                                                publisher->refusals.operation, publisher->refusals.rows,
                                                publisher->refusals.count, err))
            return publisher_ledger_failed(publisher, err);
        publisher->tally.refused += (int64_t)publisher->refusals.count;
        publisher_forget_refusals(publisher);
    }
    flight_end(&publisher->flight);
    publisher_go(publisher, AT_READY);
    return PUBLISHER_READY;
}
