#include "publish/publisher_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "publish/kill_point.h"

#define GRACE (300 * 1000) // µs after a first failure in which further reports are waited for
#define REPORTS_AT_ONCE 512

static void
call_claim(void *argument)
{
    struct publisher *publisher = argument;
    publisher->call_is_good = publisher->settings.ledger->claim(
        publisher->settings.context, &publisher->slot, publisher->operation, publisher->chunk_id,
        publisher->limit, publisher->settings.chunk_bytes, &publisher->arena, &publisher->claim,
        &publisher->call_err);
}

// Claim.
enum publisher_status
publisher_claim(struct publisher *publisher, struct err *err)
{
    if (!publisher->is_call_running) {
        publisher->settings.world->uuid(publisher->settings.context, publisher->chunk_id);
        KILL_POINT_SOON("claim-commit");
    }
    if (!publisher_call_is_done(publisher, call_claim))
        return PUBLISHER_WAITING;
    publisher->at = AT_READY;
    if (!publisher->call_is_good) {
        *err = publisher->call_err;
        return publisher_ledger_failed(publisher, err);
    }
    KILL_POINT("after-claim");

    publisher->tally.skipped += publisher->claim.skipped;
    publisher->rate = publisher->claim.rate;
    publisher->beat_at = publisher_mono(publisher);
    if (publisher->claim.count == 0) {
        publisher_forget_chunk(publisher);
        return PUBLISHER_EMPTY;
    }
    publisher->has_chunk = true;
    publisher->claimed_at = publisher->begun_at = publisher_mono(publisher);
    publisher->at = AT_ORIGINALS;
    return PUBLISHER_BUSY;
}

// Records that events came from, where no copy is kept.
enum publisher_status
publisher_find_originals(struct publisher *publisher, struct err *err)
{
    size_t count = publisher->claim.count;
    const struct event **events = arena_array(&publisher->arena, count, sizeof(struct event *));
    bool is_needed = false;
    for (size_t i = 0; i < count; i++) {
        events[i] = &publisher->claim.items[i].event;
        is_needed = is_needed || plan_wants_original(events[i]);
    }
    if (is_needed) {
        publisher->originals = arena_array(&publisher->arena, count, sizeof *publisher->originals);
        if (!publisher->settings.ledger->originals(publisher->settings.context, events, count,
                                                   &publisher->arena, publisher->originals, err))
            return publisher_ledger_failed(publisher, err);
    }
    publisher->at = AT_PLAN;
    return PUBLISHER_BUSY;
}

static bool
know_topic(struct publisher *publisher, const char *name, struct topic *topic, struct err *err)
{
    for (size_t i = 0; i < publisher->topic_count; i++)
        if (strcmp(publisher->topics[i], name) == 0)
            return publisher->settings.broker->topic(publisher->settings.context, name, topic, err);
    if (!publisher->settings.broker->topic(publisher->settings.context, name, topic, err))
        return false;
    if (topic->state == TOPIC_KNOWN)
        publisher->topics[publisher->topic_count++] = name;
    return true;
}

static bool
plan_item(struct publisher *publisher, size_t i, struct err *err)
{
    const struct claimed_item *item = &publisher->claim.items[i];
    struct plan_input input = {
        .event = &item->event,
        .from_revision = item->from_revision,
        .original = publisher->originals ? &publisher->originals[i] : NULL,
        .target_topic = publisher->claim.target_topic,
        .chunk_id = publisher->claim.chunk.id,
        .operator_name = publisher->claim.requested_by,
        .operation = publisher->claim.chunk.operation,
        .attempt = item->attempt,
        .reprocess_count = item->reprocess_count,
    };
    const char *name =
        input.target_topic ? input.target_topic : arena_text(&publisher->arena, item->event.topic);
    struct topic topic;
    if (name && name[0]) {
        if (!know_topic(publisher, name, &topic, err))
            return false;
        input.topic = &topic;
    }
    plan_make(publisher->settings.plan, &input, &publisher->arena, &publisher->plans[i]);
    if (publisher->plans[i].refusal)
        publisher_reject(publisher, i, publisher->plans[i].refusal);
    return true;
}

// Nothing of the chunk has been handed to Kafka: without transactions the process that knows it may say so
// itself.
static enum publisher_status
return_unsent(struct publisher *publisher, struct err *err)
{
    if (!publisher->settings.ledger->finish(publisher->settings.context, &publisher->slot,
                                            &publisher->claim.chunk, CHUNK_ABORTED,
                                            "nothing of it was handed to Kafka", err))
        return publisher_ledger_failed(publisher, err);
    publisher_drop_producer(publisher);
    publisher_forget_chunk(publisher);
    publisher->tally.returned++;
    publisher->at = AT_OPEN;
    return PUBLISHER_REQUEUED;
}

// Kafka failed before anything was handed to it.
static enum publisher_status
fail_unsent(struct publisher *publisher)
{
    struct err failure = {0};
    if (!publisher->settings.is_transactional && return_unsent(publisher, &failure) != PUBLISHER_REQUEUED)
        log_line(LOG_WARN, "chunk not requeued", LOG_TEXT("why", failure.text));
    return publisher_begin_again(publisher);
}

// Refused events: the handle is thrown away, never aborted by a request of its own. Fence ends its
// transaction, Resolve proves the abort, and then the offenders are refused.
static enum publisher_status
poison(struct publisher *publisher)
{
    publisher_drop_producer(publisher);
    publisher_forget_chunk(publisher);
    publisher->at = AT_OPEN;
    return PUBLISHER_BUSY;
}

enum publisher_status
publisher_plan(struct publisher *publisher, struct err *err)
{
    size_t count = publisher->claim.count;
    publisher->plans = arena_array(&publisher->arena, count, sizeof *publisher->plans);
    publisher->topics = arena_array(&publisher->arena, count, sizeof *publisher->topics);
    publisher->topic_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!plan_item(publisher, i, err))
            return fail_unsent(publisher);

    // A batch may hold no more than the smallest topic takes; a limit learnt just now needs another handle.
    bool is_wide = publisher->settings.broker->smallest_limit(publisher->settings.context, 1000000) <
                   publisher->batch_bytes;
    if (publisher->refusal_count || is_wide)
        return publisher->settings.is_transactional ? poison(publisher) : return_unsent(publisher, err);
    publisher->at = AT_SEND;
    return PUBLISHER_BUSY;
}

static bool
send_one(struct publisher *publisher, size_t i, bool *is_full, struct err *err)
{
    const struct plan *plan = &publisher->plans[i];
    const struct producer_record record = {
        .topic = plan->topic,
        .partition = plan->partition,
        .key = plan->key,
        .value = plan->value,
        .headers = plan->headers,
        .header_count = plan->header_count,
    };
    return publisher->settings.broker->send(publisher->settings.context, publisher->producer, &record, i,
                                            is_full, err);
}

// Isolating, a topic joins the transaction alone: when that fails, it is this topic's fault. True: wait for
// reports before this item, or after it.
static bool
must_wait_for_topic(struct publisher *publisher, size_t item, bool is_sent)
{
    if (!publisher->is_isolating)
        return false;
    for (size_t i = 0; i < item; i++)
        if (strcmp(publisher->plans[i].topic, publisher->plans[item].topic) == 0)
            return false;
    if (is_sent)
        publisher->introduced = item;
    return is_sent || publisher->report_count < publisher->sent_count;
}

// Publish, the records. A full queue is no failure: the step ends, and continues when reports have made room.
enum publisher_status
publisher_send(struct publisher *publisher, struct err *err)
{
    const struct publisher_broker *broker = publisher->settings.broker;
    if (!publisher->reported) {
        publisher->reported = arena_array(&publisher->arena, publisher->claim.count, 1);
        publisher->begun_at = publisher_mono(publisher);
        if (!broker->warm(publisher->settings.context, publisher->producer, publisher->topics,
                          publisher->topic_count, err) ||
            !broker->begin(publisher->settings.context, publisher->producer, err))
            return fail_unsent(publisher);
    }

    for (bool is_full = false; publisher->sent_count < publisher->claim.count; publisher->sent_count++) {
        struct err failure = {0};
        if (must_wait_for_topic(publisher, publisher->sent_count, false))
            break;
        if (!send_one(publisher, publisher->sent_count, &is_full, &failure)) {
            if (failure.kind == ERR_CONFLICT) // the transaction has failed already: a report says why
                break;
            if (failure.kind != ERR_DATA) {
                *err = failure;
                return publisher_begin_again(publisher);
            }
            publisher_reject(publisher, publisher->sent_count, failure.text);
            publisher->rejected_at = publisher_mono(publisher);
            break;
        }
        if (is_full)
            break;
        if (publisher->sent_count == publisher->claim.count / 2)
            KILL_POINT("half-produced");
        if (must_wait_for_topic(publisher, publisher->sent_count, true)) {
            publisher->sent_count++;
            break;
        }
    }
    publisher->at = AT_REPORTS;
    return PUBLISHER_BUSY;
}

static const char *
topic_offence(struct publisher *publisher, const char *topic, enum err_kind cause, const char *reason)
{
    if (cause == ERR_DENIED)
        return plan_topic_refusal(TOPIC_DENIED, topic, &publisher->poison);
    if (cause == ERR_NOT_FOUND)
        return plan_topic_refusal(TOPIC_MISSING, topic, &publisher->poison);
    return arena_printf(&publisher->poison, "topic %s: %s", topic, reason);
}

// All records to a topic share its fate. The one that was reported has been noted as such already.
static void
reject_topic(struct publisher *publisher, size_t reported, enum err_kind cause, const char *reason)
{
    const char *topic = publisher->plans[reported].topic;
    const char *text = topic_offence(publisher, topic, cause, reason);
    for (size_t i = 0; i < publisher->claim.count; i++)
        if (i == reported || (publisher->reported[i] == 0 && strcmp(publisher->plans[i].topic, topic) == 0)) {
            publisher->reported[i] = 1 + REPORT_TOPIC;
            publisher_reject(publisher, i, text);
        }

    // It was thought to be usable.
    const struct publisher_broker *broker = publisher->settings.broker;
    if (cause == ERR_DENIED)
        broker->deny_topic(publisher->settings.context, topic);
    else
        broker->forget_topics(publisher->settings.context);
}

static void
take_offence(struct publisher *publisher, const struct report *report)
{
    char text[300];
    const struct plan *plan = &publisher->plans[report->index];
    switch (report->kind) {
    case REPORT_TOPIC:
        reject_topic(publisher, report->index, report->cause, report->reason);
        return;
    case REPORT_BATCH:
        if (!publisher->is_isolating) {
            publisher->isolates_next = true;
            return;
        }
        break;
    case REPORT_REFUSED:
        break;
    case REPORT_DELIVERED:
    case REPORT_LATE:
    case REPORT_BROKEN:
        return;
    }
    snprintf(text, sizeof text, "Kafka refused this record of %" PRIu64 " bytes for %.100s: %.120s",
             plan_size(plan), plan->topic, report->reason);
    publisher_reject(publisher, report->index, text);
}

static void
take_report(struct publisher *publisher, const struct report *report)
{
    publisher->report_count++;
    if (report->kind == REPORT_DELIVERED) {
        publisher->delivered_count++;
        publisher->reported[report->index] = 1 + REPORT_DELIVERED;
        return;
    }
    publisher->is_broken = publisher->is_broken || report->kind == REPORT_BROKEN;
    if (!publisher->rejected_at) {
        publisher->rejected_at = publisher_mono(publisher);
        log_line(LOG_INFO, "record refused", LOG_INT("event", publisher->claim.items[report->index].event_id),
                 LOG_TEXT("why", report->reason));
    }
    if (publisher->reported[report->index] == 0) {
        publisher->reported[report->index] = (unsigned char)(1 + report->kind);
        take_offence(publisher, report);
    }
}

// Records that some partition did not take in time, while others took theirs: that partition's fault, not an
// outage.
static void
reject_late(struct publisher *publisher)
{
    for (size_t i = 0; i < publisher->claim.count; i++)
        if (publisher->reported[i] == 0 || publisher->reported[i] == 1 + REPORT_LATE) {
            char text[300];
            snprintf(text, sizeof text, "topic %.120s took no record within %d s; is a leader missing?",
                     publisher->plans[i].topic, (int)(publisher->settings.deadline / US_PER_SECOND));
            publisher_reject(publisher, i, text);
        }
}

// Without transactions: what was delivered is published, what was refused is not; anything less sure is for
// the scan.
static enum publisher_status
finish_partly(struct publisher *publisher, struct err *err)
{
    int64_t *published = arena_array(&publisher->arena, publisher->claim.count, sizeof *published);
    size_t count = 0;
    bool is_sure = true;
    for (size_t i = 0; i < publisher->claim.count; i++) {
        unsigned char reported = publisher->reported[i];
        if (reported == 1 + REPORT_DELIVERED)
            published[count++] = publisher->claim.items[i].event_id;
        is_sure = is_sure && (i >= publisher->sent_count ||
                              (reported && reported != 1 + REPORT_LATE && reported != 1 + REPORT_BROKEN));
    }
    bool is_progress = count || publisher->refusal_count || publisher->isolates_next;
    publisher_drop_producer(publisher);
    const struct publisher_ledger *ledger = publisher->settings.ledger;
    if (!is_sure) {
        bool is_good = ledger->finish(publisher->settings.context, &publisher->slot, &publisher->claim.chunk,
                                      CHUNK_IN_DOUBT,
                                      "not every record was confirmed, and these brokers keep no proof", err);
        publisher->tally.in_doubt += is_good;
        if (!is_good)
            return publisher_ledger_failed(publisher, err);
        publisher_begin_again(publisher);
        return PUBLISHER_BUSY;
    }
    if (!ledger->finish_scanned(publisher->settings.context, &publisher->slot, &publisher->claim.chunk,
                                published, count, "every record was confirmed or refused", err))
        return publisher_ledger_failed(publisher, err);
    publisher->tally.sent += (int64_t)count;
    if (!is_progress) {
        err_set(err, ERR_UNREACHABLE, "Kafka took none of %zu records", publisher->claim.count);
        return publisher_begin_again(publisher);
    }
    publisher_forget_chunk(publisher);
    publisher->at = AT_OPEN;
    return PUBLISHER_REQUEUED;
}

// The transaction failed and the reports do not say why. A topic that may not join it takes all others with
// it: found by letting them join one by one.
static void
explain_break(struct publisher *publisher, struct err *why)
{
    publisher->settings.broker->why(publisher->settings.context, publisher->producer, why);
    if (why->kind != ERR_DENIED && why->kind != ERR_NOT_FOUND)
        return;
    if (!publisher->is_isolating && publisher->topic_count > 1)
        publisher->isolates_next = true;
    else
        reject_topic(publisher, publisher->is_isolating ? publisher->introduced : 0, why->kind, why->text);
}

static enum publisher_status
give_up(struct publisher *publisher, struct err *err)
{
    bool is_rejected = publisher->refusal_count || publisher->isolates_next;
    // Once or twice may be an outage that began in the middle; three times in a row it is a destination.
    bool is_late = !is_rejected && !publisher->is_broken && publisher->delivered_count > 0;
    publisher->late_rounds = is_late ? publisher->late_rounds + 1 : 0;
    if (!publisher->settings.is_transactional)
        return finish_partly(publisher, err);

    struct err why = {0};
    if (publisher->is_broken && !publisher->refusal_count)
        explain_break(publisher, &why);
    if (publisher->late_rounds > 2)
        reject_late(publisher);
    if (publisher->refusal_count || (publisher->isolates_next && !publisher->is_isolating))
        return poison(publisher);
    err_set(&why, ERR_UNREACHABLE, "Kafka did not take %zu of %zu records",
            publisher->claim.count - publisher->delivered_count, publisher->claim.count);
    *err = why;
    return publisher_begin_again(publisher);
}

// All is with Kafka: from here on the chunk is its number, and its events are read anew by whoever needs
// them.
static void
forget_events(struct publisher *publisher)
{
    publisher->sent_bytes = 0;
    for (size_t i = 0; i < publisher->claim.count; i++)
        publisher->sent_bytes += (int64_t)publisher->plans[i].value.len;
    struct claim claim = {.chunk = publisher->claim.chunk, .count = publisher->claim.count};
    publisher_forget_chunk(publisher);
    publisher->claim = claim;
}

// Publish, the reports: commit may only be asked for when every one has arrived, for it would wait for them
// without fetching them.
enum publisher_status
publisher_take_reports(struct publisher *publisher, struct err *err)
{
    struct report reports[REPORTS_AT_ONCE];
    size_t count = 0;
    if (!publisher->settings.broker->serve(publisher->settings.context, publisher->producer,
                                           publisher->wait_ms, reports, REPORTS_AT_ONCE, &count, err)) {
        if (!publisher->settings.is_transactional) {
            err_clear(err);
            return finish_partly(publisher, err);
        }
        return publisher_begin_again(publisher);
    }
    for (size_t i = 0; i < count; i++)
        take_report(publisher, &reports[i]);

    int64_t now = publisher_mono(publisher);
    if (publisher->delivered_count == publisher->claim.count) {
        KILL_POINT("all-reports");
        forget_events(publisher);
        publisher->at = publisher->settings.is_transactional ? AT_MARK : AT_FINISH;
        return PUBLISHER_BUSY;
    }
    // A transaction that has failed takes no more records, so the rest may never be reported. Without one,
    // every report counts.
    bool is_all = publisher->report_count == publisher->sent_count;
    bool is_enough = is_all || (publisher->settings.is_transactional && now - publisher->rejected_at > GRACE);
    if (publisher->rejected_at && is_enough)
        return give_up(publisher, err);
    if (now - publisher->begun_at > publisher->settings.deadline + 2 * US_PER_SECOND)
        return give_up(publisher, err);
    if (!publisher->rejected_at && publisher->sent_count < publisher->claim.count)
        publisher->at = AT_SEND;
    return count ? PUBLISHER_BUSY : PUBLISHER_WAITING;
}
