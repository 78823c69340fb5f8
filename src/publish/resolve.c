// publisher_resolve: what became of the chunk that the slot's last holder left, and whether Kafka and
// PostgreSQL still agree about the slot at all (PROTOCOL.md, "Resolve").
#include "publish/publisher_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "publish/broken.h"
#include "base/kill_point.h"

#define NUDGE_AFTER (10 * US_PER_SECOND)
#define READ_PATIENCE (40 * US_PER_SECOND)
#define NONCE_AGAIN 50000 // µs after which a nonce that is not shown is written again
#define READ_PAUSE 1000   // µs between two readings of a marker that is not stable

enum marker_verdict
marker_judge(const struct slot *slot, const struct chunk *unfinished, const struct marker *marker)
{
    if (!marker->is_present)
        return VERDICT_ABSENT;
    if (unfinished->exists && marker->seq == unfinished->seq && strcmp(marker->id, unfinished->id) == 0)
        return VERDICT_COMMITTED;
    if (marker->seq == slot->finished_seq && strcmp(marker->id, slot->finished_id) == 0)
        return VERDICT_FINISHED;
    if (marker->seq > slot->finished_seq && (!unfinished->exists || marker->seq > unfinished->seq))
        return VERDICT_AHEAD;
    return VERDICT_FOREIGN;
}

// Without transactions there is no proof: a chunk whose end was not seen is put in doubt, and the scan
// decides.
enum publisher_status
publisher_put_in_doubt(struct publisher *publisher, const char *evidence, struct err *err)
{
    log_line(LOG_WARN, "chunk in doubt", LOG_INT("slot", publisher->tenure.slot.no),
             LOG_TEXT("chunk", publisher->resolve.unfinished.id), LOG_TEXT("why", evidence));
    if (!publisher->settings.ledger->finish(publisher->settings.context, &publisher->tenure.slot,
                                            &publisher->resolve.unfinished, CHUNK_IN_DOUBT, evidence, err))
        return publisher_ledger_failed(publisher, err);
    publisher->tally.in_doubt++;
    publisher_begin_again(publisher); // the slot is suspended: another one
    return PUBLISHER_BUSY;
}

// Reads the marker; true with a stable answer in *reading, else *status is what the step returns.
static bool
read_marker(struct publisher *publisher, struct marker_reading *reading, enum publisher_status *status,
            struct err *err)
{
    if (!publisher->settings.broker->read_marker(publisher->settings.context, publisher->tenure.slot.txn_id,
                                                 reading, err)) {
        *status = publisher_begin_again(publisher);
        return false;
    }
    if (reading->is_stable || broken(BROKEN_UNSTABLE))
        return true;

    int64_t waited = publisher_mono(publisher) - publisher->resolve.read_at;
    *status = PUBLISHER_WAITING;
    if (waited > READ_PATIENCE) {
        err_set(err, ERR_UNREACHABLE,
                "the marker of %s stays unstable: a transaction of its group does not end",
                publisher->tenure.slot.txn_id);
        *status = publisher_begin_again(publisher);
    } else if (waited > NUDGE_AFTER && !publisher->resolve.was_nudged) {
        *status = publisher_go(publisher, AT_NUDGE);
    } else {
        publisher->settings.world->sleep(publisher->settings.context, READ_PAUSE);
    }
    return false;
}

static void
note_verified(struct publisher *publisher)
{
    const struct slot *slot = &publisher->tenure.slot;
    publisher_note_verified(publisher, slot->finished_seq, slot->finished_id);
}

// The end for an unfinished chunk whose fate is proved. Then Fence: a fresh epoch for the next transaction.
static enum publisher_status
finish_unfinished(struct publisher *publisher, enum chunk_state outcome, const char *evidence,
                  struct err *err)
{
    KILL_POINT("recovery");
    if (!publisher->settings.ledger->finish(publisher->settings.context, &publisher->tenure.slot,
                                            &publisher->resolve.unfinished, outcome, evidence, err))
        return publisher_ledger_failed(publisher, err);
    log_line(LOG_INFO, "chunk decided", LOG_INT("slot", publisher->tenure.slot.no),
             LOG_TEXT("chunk", publisher->resolve.unfinished.id),
             LOG_TEXT("outcome", outcome == CHUNK_COMMITTED ? "published" : "not published"),
             LOG_TEXT("evidence", evidence));

    if (outcome == CHUNK_ABORTED)
        publisher->tally.requeued++;
    publisher->tally.recovered++;
    publisher->resolve.unfinished = (struct chunk){0};
    note_verified(publisher);
    publisher_fence_again(publisher);
    return PUBLISHER_REQUEUED;
}

// The marker stays unstable: a pending offset whose transaction does not end. A transaction of ours on the
// same offsets partition, aborted by fencing, clears it.
enum publisher_status
publisher_nudge(struct publisher *publisher, struct err *err)
{
    publisher->resolve.was_nudged = true;
    const struct publisher_broker *broker = publisher->settings.broker;
    if (!broker->begin(publisher->epoch.producer, err) ||
        !broker->mark(publisher->epoch.producer, NONCE_PARTITION, publisher->tenure.slot.txn_id, 0, "nudge",
                      err))
        return publisher_begin_again(publisher);
    return publisher_fence_again(publisher);
}

enum publisher_status
publisher_write_nonce(struct publisher *publisher, struct err *err)
{
    publisher->resolve.nonce = publisher->settings.world->random(publisher->settings.context);
    publisher->resolve.nonce_at = publisher_mono(publisher);
    if (!publisher->settings.broker->write_nonce(publisher->settings.context, publisher->tenure.slot.txn_id,
                                                 publisher->resolve.nonce, err))
        return publisher_begin_again(publisher);
    return publisher_go(publisher, AT_READ_NONCE);
}

// Kafka contradicts PostgreSQL: the slot is not used until a person has looked. A publisher that has lost the
// slot meanwhile has only seen the work of the next holder, and begins again.
static enum publisher_status
suspend(struct publisher *publisher, const char *evidence, struct err *err)
{
    if (!publisher->settings.ledger->suspend(publisher->settings.context, &publisher->tenure.slot, evidence,
                                             err))
        return publisher_ledger_failed(publisher, err);
    log_line(LOG_ERROR, "slot suspended", LOG_INT("slot", publisher->tenure.slot.no),
             LOG_TEXT("why", evidence));
    publisher_begin_again(publisher);
    return publisher_go(publisher, AT_ACQUIRE);
}

// The marker is ahead of all that PostgreSQL knows: other slots can be as well, so nothing may be published.
// The fence is looked at once more, since the next holder of a lost slot may be the one that is ahead.
static enum publisher_status
stop_ahead(struct publisher *publisher, const char *seen, struct err *err)
{
    char evidence[420];
    struct chunk unfinished;
    struct slot *slot = &publisher->tenure.slot;
    if (!publisher->settings.ledger->check(publisher->settings.context, slot, &unfinished, err))
        return publisher_ledger_failed(publisher, err);
    snprintf(evidence, sizeof evidence,
             "Kafka holds chunks that this database does not know: it was put back to an older state, or it "
             "is a copy; ahead in Kafka: slot %d (%.150s), whose marker is %s, after %" PRId64,
             (int)slot->no, slot->txn_id, seen, slot->finished_seq);
    if (!publisher->settings.ledger->turns->stop(publisher->settings.context, STOP_AHEAD, evidence, err))
        return publisher_ledger_failed(publisher, err);
    log_line(LOG_ERROR, "publishing stopped", LOG_TEXT("reason", stop_reason_name(STOP_AHEAD)),
             LOG_TEXT("why", evidence));
    err_set(&publisher->stop, ERR_STOPPED, "nothing is published from this database: %s", evidence);
    publisher_begin_again(publisher);
    return publisher_go(publisher, AT_STOPPED);
}

static enum publisher_status
decide_unfinished(struct publisher *publisher, enum marker_verdict verdict, const char *seen, struct err *err)
{
    char evidence[420];
    switch (verdict) {
    case VERDICT_COMMITTED:
        return finish_unfinished(publisher, CHUNK_COMMITTED,
                                 "the marker names it, read after fencing and a nonce", err);
    case VERDICT_FINISHED:
        snprintf(evidence, sizeof evidence,
                 "after fencing and nonce %" PRId64 " the marker is still that of the chunk before: %s",
                 publisher->resolve.nonce, seen);
        return finish_unfinished(publisher, CHUNK_ABORTED, evidence, err);
    case VERDICT_AHEAD:
        return stop_ahead(publisher, seen, err);
    case VERDICT_ABSENT:
    case VERDICT_FOREIGN:
        break;
    }
    snprintf(evidence, sizeof evidence,
             "the marker of %.150s is %s; it should name this chunk or (%" PRId64 ", %s)",
             publisher->tenure.slot.txn_id, seen, publisher->tenure.slot.finished_seq,
             publisher->tenure.slot.finished_id);
    return publisher_put_in_doubt(publisher, evidence, err);
}

// The same comparison without an unfinished chunk.
static enum publisher_status
decide_idle(struct publisher *publisher, enum marker_verdict verdict, const char *seen, struct err *err)
{
    char evidence[600];
    switch (verdict) {
    case VERDICT_FINISHED:
        // An old marker is written again, the same; what is read after that is proof that it was.
        if (publisher->tenure.slot.is_marker_old && publisher->tenure.marker != MARKER_REWRITTEN) {
            return publisher_go(publisher, AT_PROVISION);
        }
        if ((!publisher->tenure.slot.is_provisioned || publisher->tenure.marker == MARKER_REWRITTEN) &&
            !publisher->settings.ledger->provisioned(publisher->settings.context, &publisher->tenure.slot,
                                                     err))
            return publisher_ledger_failed(publisher, err);
        note_verified(publisher);
        return publisher_go(publisher, AT_REFUSE);
    case VERDICT_ABSENT:
        if (!publisher->tenure.slot.is_provisioned) {
            return publisher_go(publisher, AT_PROVISION);
        }
        // Expired, or its group was deleted. Nothing is in flight, so nothing hangs on it: new names.
        if (!publisher->settings.ledger->retire(publisher->settings.context, &publisher->tenure.slot,
                                                "its marker is gone from Kafka", err))
            return publisher_ledger_failed(publisher, err);
        return publisher_fence_again(publisher);
    case VERDICT_AHEAD:
        return stop_ahead(publisher, seen, err);
    case VERDICT_COMMITTED:
    case VERDICT_FOREIGN:
        break;
    }
    snprintf(evidence, sizeof evidence, "the marker of %.150s is %s, it should be (%" PRId64 ", %s)",
             publisher->tenure.slot.txn_id, seen, publisher->tenure.slot.finished_seq,
             publisher->tenure.slot.finished_id);
    return suspend(publisher, evidence, err);
}

// Acts on a marker that can be believed.
static enum publisher_status
publisher_resolve_decide(struct publisher *publisher, const struct marker *marker, struct err *err)
{
    char seen[120] = "absent";
    if (marker->is_present)
        snprintf(seen, sizeof seen, "(%" PRId64 ", %s)", marker->seq, marker->id);
    enum marker_verdict verdict =
        marker_judge(&publisher->tenure.slot, &publisher->resolve.unfinished, marker);
    return publisher->resolve.unfinished.exists ? decide_unfinished(publisher, verdict, seen, err)
                                                : decide_idle(publisher, verdict, seen, err);
}

// The first reading: only the marker of the unfinished chunk itself is proof without a write before it.
enum publisher_status
publisher_read(struct publisher *publisher, struct err *err)
{
    if (broken(BROKEN_LEASE_ALONE) && publisher->resolve.unfinished.exists)
        return finish_unfinished(publisher, CHUNK_ABORTED, "its lease has passed", err);
    struct marker_reading reading;
    enum publisher_status status;
    if (!read_marker(publisher, &reading, &status, err))
        return status;
    if (marker_judge(&publisher->tenure.slot, &publisher->resolve.unfinished, &reading.marker) ==
        VERDICT_COMMITTED)
        return finish_unfinished(publisher, CHUNK_COMMITTED, "the marker names it, read after fencing", err);
    if (broken(BROKEN_NO_NONCE))
        return publisher_resolve_decide(publisher, &reading.marker, err);
    return publisher_go(publisher, AT_NONCE);
}

// The second reading: only an answer that shows the nonce counts (PROTOCOL.md, "The nonce").
enum publisher_status
publisher_read_with_nonce(struct publisher *publisher, struct err *err)
{
    struct marker_reading reading;
    enum publisher_status status;
    if (!read_marker(publisher, &reading, &status, err))
        return status;
    if (!reading.has_nonce || reading.nonce != publisher->resolve.nonce) {
        if (publisher_mono(publisher) - publisher->resolve.read_at > READ_PATIENCE) {
            err_set(
                err, ERR_UNREACHABLE,
                "Kafka confirmed a nonce and does not show it: its group coordinator answers from the past");
            return publisher_begin_again(publisher);
        }
        publisher->settings.world->sleep(publisher->settings.context, READ_PAUSE);
        if (publisher_mono(publisher) - publisher->resolve.nonce_at > NONCE_AGAIN)
            publisher_go(publisher, AT_NONCE); // a turn of another worker has written over it
        return PUBLISHER_WAITING;
    }

    return publisher_resolve_decide(publisher, &reading.marker, err);
}

// A marker without a chunk, by a real transaction: the first of a slot, (0, install id), or the one it has,
// again. A fresh epoch then reads it like any other.
enum publisher_status
publisher_provision(struct publisher *publisher, struct err *err)
{
    bool is_done = false;
    const struct publisher_broker *broker = publisher->settings.broker;
    if (publisher->at == AT_PROVISION) {
        if (!broker->begin(publisher->epoch.producer, err) ||
            !broker->mark(publisher->epoch.producer, MARKER_PARTITION, publisher->tenure.slot.txn_id,
                          publisher->tenure.slot.finished_seq, publisher->tenure.slot.finished_id, err))
            return publisher_begin_again(publisher);
        publisher->resolve.provision_at = publisher_mono(publisher);
        return publisher_go(publisher, AT_PROVISION_COMMIT);
    }

    if (!broker->commit(publisher->epoch.producer, publisher->step.wait_ms, &is_done, err))
        return publisher_begin_again(publisher);
    if (!is_done &&
        publisher_mono(publisher) - publisher->resolve.provision_at > publisher->settings.deadline) {
        err_set(err, ERR_UNREACHABLE, "Kafka did not commit the first marker of %s in time",
                publisher->tenure.slot.txn_id);
        return publisher_begin_again(publisher);
    }
    if (!is_done)
        return PUBLISHER_WAITING;
    publisher->tenure.marker = MARKER_REWRITTEN;
    return publisher_fence_again(publisher);
}
