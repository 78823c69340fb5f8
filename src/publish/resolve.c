// publisher_resolve: what became of the chunk that the slot's last holder left, and whether Kafka and
// PostgreSQL still agree about the slot at all (PROTOCOL.md, "Resolve").
#include "publish/publisher_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "publish/broken.h"
#include "publish/kill_point.h"

#define NUDGE_AFTER (10 * US_PER_SECOND)
#define READ_PATIENCE (40 * US_PER_SECOND)
#define READ_PAUSE 1000 // µs between two readings of a marker that is not stable

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

// Without transactions there is no proof: a chunk whose end nobody saw is put in doubt, for the scan to
// decide.
enum publisher_status
publisher_put_in_doubt(struct publisher *publisher, const char *evidence, struct err *err)
{
    log_line(LOG_WARN, "chunk in doubt", LOG_INT("slot", publisher->slot.no),
             LOG_TEXT("chunk", publisher->unfinished.id), LOG_TEXT("why", evidence));
    if (!publisher->settings.ledger->finish(publisher->settings.context, &publisher->slot,
                                            &publisher->unfinished, CHUNK_IN_DOUBT, evidence, err))
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
    if (!publisher->settings.broker->read_marker(publisher->settings.context, publisher->slot.txn_id, reading,
                                                 err)) {
        *status = publisher_begin_again(publisher);
        return false;
    }
    if (reading->is_stable || broken(BROKEN_UNSTABLE))
        return true;

    int64_t waited = publisher_mono(publisher) - publisher->read_at;
    *status = PUBLISHER_WAITING;
    if (waited > READ_PATIENCE) {
        err_set(err, ERR_UNREACHABLE,
                "the marker of %s stays unstable: a transaction of its group does not end",
                publisher->slot.txn_id);
        *status = publisher_begin_again(publisher);
    } else if (waited > NUDGE_AFTER && !publisher->was_nudged) {
        publisher->at = AT_NUDGE;
        *status = PUBLISHER_BUSY;
    } else {
        publisher->settings.world->sleep(publisher->settings.context, READ_PAUSE);
    }
    return false;
}

static void
note_verified(struct publisher *publisher)
{
    publisher->is_verified = true;
    publisher->verified_seq = publisher->slot.finished_seq;
    memcpy(publisher->verified_id, publisher->slot.finished_id, sizeof publisher->verified_id);
}

// The end for an unfinished chunk whose fate is proved. Then Fence: a fresh epoch for the next transaction.
static enum publisher_status
finish_unfinished(struct publisher *publisher, enum chunk_state outcome, const char *evidence,
                  struct err *err)
{
    KILL_POINT("recovery");
    if (!publisher->settings.ledger->finish(publisher->settings.context, &publisher->slot,
                                            &publisher->unfinished, outcome, evidence, err))
        return publisher_ledger_failed(publisher, err);
    log_line(LOG_INFO, "chunk decided", LOG_INT("slot", publisher->slot.no),
             LOG_TEXT("chunk", publisher->unfinished.id),
             LOG_TEXT("outcome", outcome == CHUNK_COMMITTED ? "published" : "not published"),
             LOG_TEXT("evidence", evidence));

    if (outcome == CHUNK_ABORTED)
        publisher->tally.returned++;
    publisher->tally.recovered++;
    publisher->unfinished = (struct chunk){0};
    note_verified(publisher);
    publisher_drop_producer(publisher);
    publisher->at = AT_OPEN;
    return PUBLISHER_REQUEUED;
}

// The marker stays unstable: a pending offset that nobody ends. A transaction of ours on the same offsets
// partition, aborted by fencing, clears it.
enum publisher_status
publisher_nudge(struct publisher *publisher, struct err *err)
{
    publisher->was_nudged = true;
    const struct publisher_broker *broker = publisher->settings.broker;
    if (!broker->begin(publisher->settings.context, publisher->producer, err) ||
        !broker->mark(publisher->settings.context, publisher->producer, NONCE_PARTITION,
                      publisher->slot.txn_id, 0, "nudge", err))
        return publisher_begin_again(publisher);
    publisher_drop_producer(publisher);
    publisher->at = AT_OPEN;
    return PUBLISHER_BUSY;
}

enum publisher_status
publisher_write_nonce(struct publisher *publisher, struct err *err)
{
    publisher->nonce = publisher->settings.world->random(publisher->settings.context);
    if (!publisher->settings.broker->write_nonce(publisher->settings.context, publisher->slot.txn_id,
                                                 publisher->nonce, err))
        return publisher_begin_again(publisher);
    publisher->read_at = publisher_mono(publisher);
    publisher->at = AT_READ_NONCE;
    return PUBLISHER_BUSY;
}

// What Kafka holds is not what PostgreSQL knows: no more of this slot until somebody has looked. Who has lost
// the slot meanwhile has seen nothing but the work of its next holder: he begins again like any other.
static enum publisher_status
suspend(struct publisher *publisher, enum publisher_place next, const char *evidence, struct err *err)
{
    if (!publisher->settings.ledger->suspend(publisher->settings.context, &publisher->slot, evidence, err))
        return publisher_ledger_failed(publisher, err);
    log_line(LOG_ERROR, "slot suspended", LOG_INT("slot", publisher->slot.no), LOG_TEXT("why", evidence));
    publisher_begin_again(publisher);
    publisher->at = next;
    return PUBLISHER_BUSY;
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
                 publisher->nonce, seen);
        return finish_unfinished(publisher, CHUNK_ABORTED, evidence, err);
    case VERDICT_ABSENT:
    case VERDICT_AHEAD:
    case VERDICT_FOREIGN:
        break;
    }
    snprintf(evidence, sizeof evidence,
             "the marker of %.150s is %s; it should name this chunk or (%" PRId64 ", %s)",
             publisher->slot.txn_id, seen, publisher->slot.finished_seq, publisher->slot.finished_id);
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
        if (publisher->slot.is_marker_old && !publisher->is_refreshed) {
            publisher->at = AT_PROVISION;
            return PUBLISHER_BUSY;
        }
        if ((!publisher->slot.is_provisioned || publisher->is_refreshed) &&
            !publisher->settings.ledger->provisioned(publisher->settings.context, &publisher->slot, err))
            return publisher_ledger_failed(publisher, err);
        publisher->is_refreshed = false;
        note_verified(publisher);
        publisher->at = AT_REFUSE;
        return PUBLISHER_BUSY;
    case VERDICT_ABSENT:
        if (!publisher->slot.is_provisioned) {
            publisher->at = AT_PROVISION;
            return PUBLISHER_BUSY;
        }
        // Expired, or its group was deleted. Nothing is in flight, so nothing hangs on it: new names.
        if (!publisher->settings.ledger->retire(publisher->settings.context, &publisher->slot,
                                                "its marker is gone from Kafka", err))
            return publisher_ledger_failed(publisher, err);
        publisher_drop_producer(publisher);
        publisher->at = AT_OPEN;
        return PUBLISHER_BUSY;
    case VERDICT_AHEAD:
        snprintf(evidence, sizeof evidence,
                 "Kafka's marker of %.150s is %s, PostgreSQL knows of nothing after %" PRId64
                 ": the database has lost work that it had confirmed (restored, or failed over?); publishing "
                 "again would send "
                 "events twice. Compare the topics with the events resolved since, then run redrive migrate "
                 "--adopt",
                 publisher->slot.txn_id, seen, publisher->slot.finished_seq);
        return suspend(publisher, AT_STOPPED, evidence, err);
    case VERDICT_COMMITTED:
    case VERDICT_FOREIGN:
        break;
    }
    snprintf(evidence, sizeof evidence, "the marker of %.150s is %s, it should be (%" PRId64 ", %s)",
             publisher->slot.txn_id, seen, publisher->slot.finished_seq, publisher->slot.finished_id);
    return suspend(publisher, AT_ACQUIRE, evidence, err);
}

// What a marker says that can be believed.
static enum publisher_status
publisher_resolve_decide(struct publisher *publisher, const struct marker *marker, struct err *err)
{
    char seen[120] = "absent";
    if (marker->is_present)
        snprintf(seen, sizeof seen, "(%" PRId64 ", %s)", marker->seq, marker->id);
    enum marker_verdict verdict = marker_judge(&publisher->slot, &publisher->unfinished, marker);
    return publisher->unfinished.exists ? decide_unfinished(publisher, verdict, seen, err)
                                        : decide_idle(publisher, verdict, seen, err);
}

// The first reading: only the marker of the unfinished chunk itself is proof without a write before it.
enum publisher_status
publisher_read(struct publisher *publisher, struct err *err)
{
    if (broken(BROKEN_LEASE_ALONE) && publisher->unfinished.exists)
        return finish_unfinished(publisher, CHUNK_ABORTED, "its lease has passed", err);
    struct marker_reading reading;
    enum publisher_status status;
    if (!read_marker(publisher, &reading, &status, err))
        return status;
    if (marker_judge(&publisher->slot, &publisher->unfinished, &reading.marker) == VERDICT_COMMITTED)
        return finish_unfinished(publisher, CHUNK_COMMITTED, "the marker names it, read after fencing", err);
    if (broken(BROKEN_NO_NONCE))
        return publisher_resolve_decide(publisher, &reading.marker, err);
    publisher->at = AT_NONCE;
    return PUBLISHER_BUSY;
}

// The second reading: only an answer that shows the nonce counts (PROTOCOL.md, "The nonce").
enum publisher_status
publisher_read_with_nonce(struct publisher *publisher, struct err *err)
{
    struct marker_reading reading;
    enum publisher_status status;
    if (!read_marker(publisher, &reading, &status, err))
        return status;
    if (!reading.has_nonce || reading.nonce != publisher->nonce) {
        if (publisher_mono(publisher) - publisher->read_at > READ_PATIENCE) {
            err_set(
                err, ERR_UNREACHABLE,
                "Kafka confirmed a nonce and does not show it: its group coordinator answers from the past");
            return publisher_begin_again(publisher);
        }
        publisher->settings.world->sleep(publisher->settings.context, READ_PAUSE);
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
        if (!broker->begin(publisher->settings.context, publisher->producer, err) ||
            !broker->mark(publisher->settings.context, publisher->producer, MARKER_PARTITION,
                          publisher->slot.txn_id, publisher->slot.finished_seq, publisher->slot.finished_id,
                          err))
            return publisher_begin_again(publisher);
        publisher->begun_at = publisher_mono(publisher);
        publisher->at = AT_PROVISION_COMMIT;
        return PUBLISHER_BUSY;
    }

    if (!broker->commit(publisher->settings.context, publisher->producer, publisher->wait_ms, &is_done, err))
        return publisher_begin_again(publisher);
    if (!is_done && publisher_mono(publisher) - publisher->begun_at > publisher->settings.deadline) {
        err_set(err, ERR_UNREACHABLE, "Kafka did not commit the first marker of %s in time",
                publisher->slot.txn_id);
        return publisher_begin_again(publisher);
    }
    if (!is_done)
        return PUBLISHER_WAITING;
    publisher->is_refreshed = true;
    publisher_drop_producer(publisher);
    publisher->at = AT_OPEN;
    return PUBLISHER_BUSY;
}
