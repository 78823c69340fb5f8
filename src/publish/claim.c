// The step claim: takes the next events of an operation into a chunk and plans each record (PROTOCOL.md,
// "Claim").
#include "publish/publisher_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "publish/broken.h"
#include "base/kill_point.h"

static void
call_claim(void *argument)
{
    struct publisher *publisher = argument;
    publisher_answer(publisher,
                     publisher->settings.ledger->claim(
                         publisher->settings.context, &publisher->tenure.slot, publisher->assigned.operation,
                         publisher->assigned.chunk_id, publisher->assigned.limit,
                         publisher->settings.chunk_bytes, &publisher->flight.arena, &publisher->flight.claim,
                         &publisher->call.err));
}

#define CLOCK_MOST (300 * US_PER_SECOND)

bool
publisher_check_clock(int64_t postgresql, int64_t here, struct err *err)
{
    int64_t apart = postgresql - here;
    if (apart > -CLOCK_MOST && apart < CLOCK_MOST)
        return true;
    return err_set(
        err, ERR_DATA,
        "this host's clock is %lld s %s PostgreSQL's: nothing is published from here until both are "
        "set by NTP",
        (long long)((apart < 0 ? -apart : apart) / US_PER_SECOND), apart < 0 ? "ahead of" : "behind");
}

// Claim.
enum publisher_status
publisher_claim(struct publisher *publisher, struct err *err)
{
    if (!publisher->call.is_running) {
        publisher->settings.world->uuid(publisher->settings.context, publisher->assigned.chunk_id);
        KILL_POINT_SOON("claim-commit");
    }
    if (!publisher_call_is_done(publisher, call_claim))
        return PUBLISHER_WAITING;
    if (publisher->call.answer == ANSWER_FAILED) {
        *err = publisher->call.err;
        return publisher_ledger_failed(publisher, err);
    }
    KILL_POINT("after-claim");

    publisher->tally.skipped += publisher->flight.claim.skipped;
    publisher->tenure.beat_at = publisher_mono(publisher);
    if (publisher->flight.claim.count == 0) {
        flight_end(&publisher->flight);
        publisher_go(publisher, AT_READY);
        return PUBLISHER_EMPTY;
    }
    flight_claim(&publisher->flight, publisher_mono(publisher));
    // A clock may be set while a worker runs.
    if (!publisher_check_clock(publisher->flight.claim.chunk.created_at,
                               publisher->settings.world->now(publisher->settings.context), err))
        return publisher_fail_unsent(publisher);
    return publisher_go(publisher, AT_ORIGINALS);
}

// One that may still exist is waited for: to refuse its event, or to send PostgreSQL's text of it, would be
// wrong only because Kafka was slow for a moment.
static bool
check_originals(const struct flight *flight, struct err *err)
{
    for (size_t i = 0; i < flight->claim.count; i++) {
        const struct event *event = &flight->claim.items[i].event;
        const struct original *original = &flight->originals[i];
        if (original->state == ORIGINAL_FAILED && !event->known.correction.has_payload)
            return err_set(
                err, ERR_UNREACHABLE, "Kafka did not give the original record at %.*s/%d@%" PRId64 ": %s",
                BYTES_ARGS(event->topic), (int)event->origin.partition, event->origin.offset, original->why);
    }
    return true;
}

// Records that events came from, where no copy is kept.
enum publisher_status
publisher_find_originals(struct publisher *publisher, struct err *err)
{
    struct flight *flight = &publisher->flight;
    size_t count = flight->claim.count;
    const struct event **events = arena_array(&flight->arena, count, sizeof(struct event *));
    bool is_needed = false;
    for (size_t i = 0; i < count; i++) {
        events[i] = &flight->claim.items[i].event;
        is_needed = is_needed || plan_wants_original(events[i]);
    }
    if (is_needed) {
        flight->originals = arena_array(&flight->arena, count, sizeof *flight->originals);
        if (!publisher->settings.ledger->originals(publisher->settings.context, events, count, &flight->arena,
                                                   flight->originals, err)) {
            // So many that the time was not enough: fewer will be.
            publisher->step.is_alone = err->kind == ERR_UNREACHABLE && !err->sqlstate[0];
            return publisher->step.is_alone ? publisher_fail_unsent(publisher)
                                            : publisher_ledger_failed(publisher, err);
        }
        publisher->step.is_alone = !check_originals(flight, err);
        if (publisher->step.is_alone)
            return publisher_fail_unsent(publisher);
    }
    return publisher_go(publisher, AT_PLAN);
}

static bool
know_topic(struct publisher *publisher, const char *name, struct topic *topic, struct err *err)
{
    struct flight *flight = &publisher->flight;
    for (size_t i = 0; i < flight->topic_count; i++)
        if (strcmp(flight->topics[i], name) == 0)
            return publisher->settings.broker->topic(publisher->settings.context, name, topic, err);
    if (!publisher->settings.broker->topic(publisher->settings.context, name, topic, err))
        return false;
    if (topic->state == TOPIC_KNOWN)
        flight->topics[flight->topic_count++] = name;
    return true;
}

static bool
plan_item(struct publisher *publisher, size_t i, struct err *err)
{
    struct flight *flight = &publisher->flight;
    const struct claimed_item *item = &flight->claim.items[i];
    struct plan_input input = {
        .event = &item->event,
        .original = flight->originals ? &flight->originals[i] : NULL,
        .target_topic = flight->claim.target_topic,
        .chunk_id = flight->claim.chunk.id,
        .operator_name = flight->claim.requested_by,
        .operation = flight->claim.chunk.operation,
        .attempt = item->attempt,
        .reprocess_count = item->reprocess_count,
    };
    struct plan place;
    struct topic topic;
    plan_place(publisher->settings.plan, &input, &flight->arena, &place);
    if (place.topic[0]) {
        if (!know_topic(publisher, place.topic, &topic, err))
            return false;
        input.topic = &topic;
    }
    plan_make(publisher->settings.plan, &input, &flight->arena, &flight->plans[i]);
    if (flight->plans[i].refusal)
        publisher_reject(publisher, i, flight->plans[i].refusal);
    return true;
}

// The handle before the flight: it borrows its bytes.
enum publisher_status
publisher_drop_transaction(struct publisher *publisher)
{
    publisher_drop_producer(publisher);
    flight_give_up(&publisher->flight);
    return publisher_go(publisher, AT_OPEN);
}

// Without transactions only the process that has handed nothing of the chunk to Kafka can say so.
static enum publisher_status
requeue_unsent(struct publisher *publisher, struct err *err)
{
    if (!publisher->settings.ledger->finish(publisher->settings.context, &publisher->tenure.slot,
                                            &publisher->flight.claim.chunk, CHUNK_ABORTED,
                                            "nothing of it was handed to Kafka", err))
        return publisher_ledger_failed(publisher, err);
    publisher_drop_transaction(publisher);
    publisher->tally.requeued++;
    return PUBLISHER_REQUEUED;
}

enum publisher_status
publisher_fail_unsent(struct publisher *publisher)
{
    struct err failure = {0};
    if (!publisher->settings.is_transactional && requeue_unsent(publisher, &failure) != PUBLISHER_REQUEUED)
        log_line(LOG_WARN, "chunk not requeued", LOG_TEXT("why", failure.text));
    return publisher_begin_again(publisher);
}

enum publisher_status
publisher_plan(struct publisher *publisher, struct err *err)
{
    struct flight *flight = &publisher->flight;
    size_t count = flight->claim.count;
    flight->plans = arena_array(&flight->arena, count, sizeof *flight->plans);
    flight->topics = arena_array(&flight->arena, count, sizeof *flight->topics);
    flight->topic_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!plan_item(publisher, i, err))
            return publisher_fail_unsent(publisher);

    // A batch may hold no more than the smallest topic takes; a limit learnt just now needs another handle.
    bool is_wide = publisher->settings.broker->smallest_limit(publisher->settings.context, 1000000) <
                   publisher->epoch.batch_bytes;
    if (publisher->refusals.count || is_wide)
        return publisher->settings.is_transactional ? publisher_drop_transaction(publisher)
                                                    : requeue_unsent(publisher, err);
    return publisher_go(publisher, AT_ENDS);
}

// Where the search would begin, should the chunk's marker be lost. Nothing is sent without it: a search that
// begins by time passes over records of a clock that was set back, and takes them for not sent.
enum publisher_status
publisher_ask_ends(struct publisher *publisher, struct err *err)
{
    if (broken(BROKEN_NO_ENDS))
        return publisher_go(publisher, AT_SEND);
    struct flight *flight = &publisher->flight;
    struct strbuf text = {0};
    bool is_good = true;
    flight->ends = arena_array(&flight->arena, flight->topic_count, sizeof *flight->ends);
    for (size_t i = 0; is_good && i < flight->topic_count; i++) {
        strbuf_reset(&text);
        is_good =
            publisher->settings.broker->ends(publisher->settings.context, flight->topics[i], &text, err);
        flight->ends[i] = arena_text(&flight->arena, strbuf_bytes(&text));
    }
    strbuf_release(&text);
    publisher->step.is_alone = !is_good && err->kind == ERR_NOT_FOUND;
    return is_good ? publisher_go(publisher, AT_NOTE_ENDS) : publisher_fail_unsent(publisher);
}

static void
call_note_ends(void *argument)
{
    struct publisher *publisher = argument;
    const struct flight *flight = &publisher->flight;
    publisher_answer(publisher,
                     publisher->settings.ledger->ends(publisher->settings.context, &publisher->tenure.slot,
                                                      flight->claim.chunk.id, flight->ends,
                                                      flight->topic_count, &publisher->call.err));
}

enum publisher_status
publisher_note_ends(struct publisher *publisher, struct err *err)
{
    if (!publisher_call_is_done(publisher, call_note_ends))
        return PUBLISHER_WAITING;
    if (publisher->call.answer == ANSWER_FAILED) {
        *err = publisher->call.err;
        return publisher_ledger_failed(publisher, err);
    }
    return publisher_go(publisher, AT_SEND);
}
