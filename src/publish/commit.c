// publisher_commit: the end of Publish, then Verify and Finish.
#include "publish/publisher_private.h"

#include <string.h>
#include "base/clock.h"
#include "publish/broken.h"
#include "publish/kill_point.h"

#define COMMIT_MS 1000 // it takes two; each call more resumes what librdkafka does in the background

static bool
is_overdue(struct publisher *publisher, const char *what, struct err *err)
{
    if (publisher_mono(publisher) - publisher->begun_at <= publisher->settings.deadline)
        return false;
    err_set(err, ERR_UNREACHABLE, "Kafka did not %s within %d s", what,
            (int)(publisher->settings.deadline / US_PER_SECOND));
    return true;
}

static void
call_mark(void *argument)
{
    struct publisher *publisher = argument;
    const struct chunk *chunk = &publisher->claim.chunk;
    publisher->call_is_good =
        publisher->settings.broker->mark(publisher->settings.context, publisher->producer, MARKER_PARTITION,
                                         publisher->slot.txn_id, chunk->seq, chunk->id, &publisher->call_err);
}

enum publisher_status
publisher_mark(struct publisher *publisher, struct err *err)
{
    if (!publisher_call_is_done(publisher, call_mark))
        return PUBLISHER_WAITING;
    if (!publisher->call_is_good) {
        *err = publisher->call_err;
        return publisher_begin_again(publisher);
    }
    publisher->at = AT_COMMIT;
    if (broken(BROKEN_FINISH_FIRST) &&
        !publisher->settings.ledger->finish(publisher->settings.context, &publisher->slot,
                                            &publisher->claim.chunk, CHUNK_COMMITTED, "all reports are in",
                                            err))
        return publisher_ledger_failed(publisher, err);
    KILL_POINT("after-mark");
    return PUBLISHER_BUSY;
}

static void
call_commit(void *argument)
{
    struct publisher *publisher = argument;
    publisher->call_is_good =
        publisher->settings.broker->commit(publisher->settings.context, publisher->producer, COMMIT_MS,
                                           &publisher->is_committed, &publisher->call_err);
}

// Publish, the end. Any error here means: not known whether it was committed. Resolve finds out.
enum publisher_status
publisher_commit(struct publisher *publisher, struct err *err)
{
    if (!publisher->is_call_running)
        KILL_POINT_SOON("commit-in-flight");
    if (!publisher_call_is_done(publisher, call_commit))
        return PUBLISHER_WAITING;
    if (!publisher->call_is_good) {
        *err = publisher->call_err;
        return publisher_begin_again(publisher);
    }
    if (!publisher->is_committed)
        return is_overdue(publisher, "commit", err) ? publisher_begin_again(publisher) : PUBLISHER_WAITING;
    KILL_POINT("after-commit");
    publisher->read_at = publisher_mono(publisher);
    publisher->at = AT_VERIFY;
    return PUBLISHER_BUSY;
}

// Verify: brokers have acknowledged commits and lost them.
enum publisher_status
publisher_verify(struct publisher *publisher, struct err *err)
{
    struct marker_reading reading;
    if (!publisher->settings.broker->read_marker(publisher->settings.context, publisher->slot.txn_id,
                                                 &reading, err))
        return publisher_begin_again(publisher);
    if (!reading.is_stable) { // the transaction markers are still being written
        if (is_overdue(publisher, "show the committed marker", err))
            return publisher_begin_again(publisher);
        publisher->settings.world->sleep(publisher->settings.context, 500);
        return PUBLISHER_WAITING;
    }
    if (marker_judge(&publisher->slot, &publisher->claim.chunk, &reading.marker) != VERDICT_COMMITTED) {
        err_set(err, ERR_CONFLICT, "Kafka confirmed the commit of chunk %s, but its marker is not there",
                publisher->claim.chunk.id);
        return publisher_begin_again(publisher);
    }
    publisher->at = AT_AHEAD;
    return PUBLISHER_BUSY;
}

static void
count_sent(struct publisher *publisher)
{
    publisher->tally.chunks++;
    publisher->tally.sent += (int64_t)publisher->claim.count;
    publisher->tally.bytes += publisher->sent_bytes;
}

static void
call_finish(void *argument)
{
    struct publisher *publisher = argument;
    const char *evidence = publisher->settings.is_transactional ? "committed, and the marker read back"
                                                                : "every record was confirmed (acks=all)";
    publisher->call_is_good = publisher->settings.ledger->finish(
        publisher->settings.context, &publisher->slot, &publisher->claim.chunk, CHUNK_COMMITTED, evidence,
        &publisher->call_err);
}

enum publisher_status
publisher_finish(struct publisher *publisher, struct err *err)
{
    if (!publisher->is_call_running)
        KILL_POINT_SOON("finish-commit");
    if (!publisher_call_is_done(publisher, call_finish))
        return PUBLISHER_WAITING;
    if (!publisher->call_is_good) {
        *err = publisher->call_err;
        return publisher_ledger_failed(publisher, err);
    }
    KILL_POINT("after-finish");

    publisher->beat_at = publisher_mono(publisher);
    publisher->is_verified = publisher->settings.is_transactional;
    publisher->verified_seq = publisher->claim.chunk.seq;
    memcpy(publisher->verified_id, publisher->claim.chunk.id, sizeof publisher->verified_id);
    publisher->isolates_next = false;
    publisher->late_rounds = 0;
    count_sent(publisher);
    publisher->last_count = publisher->claim.count;
    publisher->last_took = publisher_mono(publisher) - publisher->claimed_at;
    publisher->has_chunk = false;
    publisher_forget_chunk(publisher);
    publisher->at = AT_OPEN;
    if (publisher->settings.is_transactional && publisher->producer && !broken(BROKEN_SAME_EPOCH)) {
        publisher->init_at = publisher_mono(publisher);
        publisher->at = AT_INIT;
    } else {
        publisher_drop_producer(publisher);
    }
    return PUBLISHER_FINISHED;
}
