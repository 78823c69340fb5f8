// publisher_commit: the end of Publish, then Verify and Finish.
#include "publish/publisher_private.h"

#include <string.h>
#include "base/clock.h"
#include "publish/broken.h"
#include "base/kill_point.h"

#define COMMIT_MS 1000 // it takes two; each call more resumes what librdkafka does in the background

static bool
is_overdue(struct publisher *publisher, const char *what, struct err *err)
{
    if (publisher_mono(publisher) - publisher->flight.begun_at <= publisher->settings.deadline)
        return false;
    err_set(err, ERR_UNREACHABLE, "Kafka did not %s within %d s", what,
            (int)(publisher->settings.deadline / US_PER_SECOND));
    return true;
}

static void
call_mark(void *argument)
{
    struct publisher *publisher = argument;
    const struct chunk *chunk = &publisher->flight.claim.chunk;
    publisher_answer(publisher,
                     publisher->settings.broker->mark(publisher->epoch.producer, MARKER_PARTITION,
                                                      publisher->tenure.slot.txn_id, chunk->seq,
                                                      publisher->flight.marker_text, &publisher->call.err));
}

enum publisher_status
publisher_mark(struct publisher *publisher, struct err *err)
{
    if (!publisher_call_is_done(publisher, call_mark))
        return PUBLISHER_WAITING;
    if (publisher->call.answer == ANSWER_FAILED) {
        *err = publisher->call.err;
        return publisher_begin_again(publisher);
    }
    if (broken(BROKEN_FINISH_FIRST) &&
        !publisher->settings.ledger->finish(publisher->settings.context, &publisher->tenure.slot,
                                            &publisher->flight.claim.chunk, CHUNK_COMMITTED,
                                            "all reports are in", err))
        return publisher_ledger_failed(publisher, err);
    KILL_POINT("after-mark");
    return publisher_go(publisher, AT_COMMIT);
}

static void
call_commit(void *argument)
{
    struct publisher *publisher = argument;
    bool is_committed = false;
    publisher_answer(publisher, publisher->settings.broker->commit(publisher->epoch.producer, COMMIT_MS,
                                                                   &is_committed, &publisher->call.err));
    if (publisher->call.answer == ANSWER_DONE && !is_committed)
        publisher->call.answer = ANSWER_NOT_YET;
}

// Publish, the end. Any error here means: not known whether it was committed. Resolve finds out.
enum publisher_status
publisher_commit(struct publisher *publisher, struct err *err)
{
    if (!publisher->call.is_running)
        KILL_POINT_SOON("commit-in-flight");
    if (!publisher_call_is_done(publisher, call_commit))
        return PUBLISHER_WAITING;
    if (publisher->call.answer == ANSWER_FAILED) {
        *err = publisher->call.err;
        return publisher_begin_again(publisher);
    }
    if (publisher->call.answer == ANSWER_NOT_YET)
        return is_overdue(publisher, "commit", err) ? publisher_begin_again(publisher) : PUBLISHER_WAITING;
    KILL_POINT("after-commit");
    flight_commit(&publisher->flight);
    return publisher_go(publisher, AT_VERIFY);
}

// Verify: brokers have acknowledged commits and lost them.
enum publisher_status
publisher_verify(struct publisher *publisher, struct err *err)
{
    struct marker_reading reading;
    if (!publisher->settings.broker->read_marker(publisher->settings.context, publisher->tenure.slot.txn_id,
                                                 &reading, err))
        return publisher_begin_again(publisher);
    if (!reading.is_stable) { // the transaction markers are still being written
        if (is_overdue(publisher, "show the committed marker", err))
            return publisher_begin_again(publisher);
        publisher->settings.world->sleep(publisher->settings.context, 500);
        return PUBLISHER_WAITING;
    }
    if (marker_judge(&publisher->tenure.slot, &publisher->flight.claim.chunk, &reading.marker) !=
        VERDICT_COMMITTED) {
        err_set(err, ERR_CONFLICT, "Kafka confirmed the commit of chunk %s, but its marker is not there",
                publisher->flight.claim.chunk.id);
        return publisher_begin_again(publisher);
    }
    flight_verify(&publisher->flight);
    return publisher_go(publisher, AT_AHEAD);
}

static void
call_finish(void *argument)
{
    struct publisher *publisher = argument;
    const char *evidence = publisher->settings.is_transactional ? "committed, and the marker read back"
                                                                : "every record was confirmed (acks=all)";
    publisher_answer(publisher,
                     publisher->settings.ledger->published(
                         publisher->settings.context, &publisher->tenure.slot, &publisher->flight.claim.chunk,
                         &publisher->flight.places, evidence, &publisher->call.err));
}

// The tenure and the tally after a finished chunk.
static void
note_finished(struct publisher *publisher)
{
    const struct flight *flight = &publisher->flight;
    publisher->tenure.beat_at = publisher_mono(publisher);
    if (publisher->settings.is_transactional)
        publisher_note_verified(publisher, flight->claim.chunk.seq, flight->claim.chunk.id);
    publisher->lessons = (struct lessons){0};
    publisher->tally.chunks++;
    publisher->tally.sent += (int64_t)flight->claim.count;
    publisher->tally.bytes += flight->bytes;
    publisher->last.count = flight->claim.count;
    publisher->last.took = publisher_mono(publisher) - flight->claimed_at;
}

enum publisher_status
publisher_finish(struct publisher *publisher, struct err *err)
{
    if (!publisher->call.is_running)
        KILL_POINT_SOON("finish-commit");
    if (!publisher_call_is_done(publisher, call_finish))
        return PUBLISHER_WAITING;
    if (publisher->call.answer == ANSWER_FAILED) {
        *err = publisher->call.err;
        return publisher_ledger_failed(publisher, err);
    }
    KILL_POINT("after-finish");

    note_finished(publisher);
    flight_end(&publisher->flight);
    bool is_opened_ahead = publisher->settings.is_transactional && publisher->epoch.producer;
    if (broken(BROKEN_SAME_EPOCH))
        is_opened_ahead = false;
    if (broken(BROKEN_TURN_EARLY))
        is_opened_ahead = false;
    if (is_opened_ahead) {
        publisher->epoch.init_at = publisher_mono(publisher); // opened ahead
        publisher_go(publisher, AT_INIT);
    } else {
        publisher_fence_again(publisher);
    }
    return PUBLISHER_FINISHED;
}
