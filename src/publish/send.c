// send: the records of a chunk, and their reports; and what follows where Kafka does not take all of them
// (PROTOCOL.md, "Publish", "Refused events" and "Without transactions").
#include "publish/publisher_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/kill_point.h"

#define GRACE (300 * 1000) // µs after a first failure in which further reports are waited for
#define REPORTS_AT_ONCE 512

static bool
send_one(struct publisher *publisher, size_t i, bool *is_full, struct err *err)
{
    const struct plan *plan = &publisher->flight.plans[i];
    const struct producer_record record = {
        .topic = plan->topic,
        .partition = plan->partition,
        .key = plan->key,
        .value = plan->value,
        .headers = plan->headers,
        .header_count = plan->header_count,
    };
    return publisher->settings.broker->send(publisher->epoch.producer, &record, i, is_full, err);
}

// Isolating, a topic joins the transaction alone: when that fails, it is this topic's fault. True: wait for
// reports before this item, or after it.
static bool
must_wait_for_topic(struct publisher *publisher, size_t item, bool is_sent)
{
    struct deliveries *deliveries = &publisher->flight.deliveries;
    if (!publisher->epoch.is_isolating)
        return false;
    for (size_t i = 0; i < item; i++)
        if (strcmp(publisher->flight.plans[i].topic, publisher->flight.plans[item].topic) == 0)
            return false;
    if (is_sent)
        deliveries->introduced = item;
    return is_sent || deliveries->reported < deliveries->sent;
}

// Publish, the records. A full queue is no failure: the step ends, and continues when reports have made room.
enum publisher_status
publisher_send(struct publisher *publisher, struct err *err)
{
    struct flight *flight = &publisher->flight;
    struct deliveries *deliveries = &flight->deliveries;
    const struct publisher_broker *broker = publisher->settings.broker;
    if (flight->state == FLIGHT_CLAIMED) {
        flight->begun_at = publisher_mono(publisher);
        if (!broker->warm(publisher->epoch.producer, flight->topics, flight->topic_count, err) ||
            !broker->begin(publisher->epoch.producer, err))
            return publisher_fail_unsent(publisher);
        flight_send(flight);
    }

    for (bool is_full = false; deliveries->sent < flight->claim.count; deliveries->sent++) {
        struct err failure = {0};
        if (must_wait_for_topic(publisher, deliveries->sent, false))
            break;
        if (!send_one(publisher, deliveries->sent, &is_full, &failure)) {
            if (failure.kind == ERR_CONFLICT) // the transaction has failed already: a report says why
                break;
            if (failure.kind != ERR_DATA) {
                *err = failure;
                return publisher_begin_again(publisher);
            }
            publisher_reject(publisher, deliveries->sent, failure.text);
            deliveries->rejected_at = publisher_mono(publisher);
            break;
        }
        if (is_full)
            break;
        if (deliveries->sent == flight->claim.count / 2)
            KILL_POINT("half-produced");
        if (must_wait_for_topic(publisher, deliveries->sent, true)) {
            deliveries->sent++;
            break;
        }
    }
    return publisher_go(publisher, AT_REPORTS);
}

static const char *
topic_reason(struct publisher *publisher, const char *topic, enum err_kind cause, const char *reason)
{
    if (cause == ERR_DENIED)
        return plan_topic_refusal(TOPIC_DENIED, topic, &publisher->refusals.arena);
    if (cause == ERR_NOT_FOUND)
        return plan_topic_refusal(TOPIC_MISSING, topic, &publisher->refusals.arena);
    return arena_printf(&publisher->refusals.arena, "topic %s: %s", topic, reason);
}

// All records to a topic share its fate. The one that was reported has been noted as such already.
static void
reject_topic(struct publisher *publisher, size_t reported, enum err_kind cause, const char *reason)
{
    struct flight *flight = &publisher->flight;
    const char *topic = flight->plans[reported].topic;
    const char *text = topic_reason(publisher, topic, cause, reason);
    for (size_t i = 0; i < flight->claim.count; i++)
        if (i == reported ||
            (flight->deliveries.of_item[i] == 0 && strcmp(flight->plans[i].topic, topic) == 0)) {
            flight->deliveries.of_item[i] = 1 + REPORT_TOPIC;
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
take_rejection(struct publisher *publisher, const struct report *report)
{
    char text[300];
    const struct plan *plan = &publisher->flight.plans[report->index];
    switch (report->kind) {
    case REPORT_TOPIC:
        reject_topic(publisher, report->index, report->cause, report->reason);
        return;
    case REPORT_BATCH:
        if (!publisher->epoch.is_isolating) {
            publisher->lessons.isolates = true;
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
    struct deliveries *deliveries = &publisher->flight.deliveries;
    deliveries->reported++;
    if (report->kind == REPORT_DELIVERED) {
        deliveries->delivered++;
        deliveries->of_item[report->index] = 1 + REPORT_DELIVERED;
        deliveries->places[report->index] = (struct delivery_place){report->partition, report->offset};
        return;
    }
    deliveries->is_broken = deliveries->is_broken || report->kind == REPORT_BROKEN;
    if (!deliveries->rejected_at) {
        deliveries->rejected_at = publisher_mono(publisher);
        log_line(LOG_INFO, "record refused",
                 LOG_INT("event", publisher->flight.claim.items[report->index].event_id),
                 LOG_TEXT("why", report->reason));
    }
    if (deliveries->of_item[report->index] == 0) {
        deliveries->of_item[report->index] = (unsigned char)(1 + report->kind);
        take_rejection(publisher, report);
    }
}

// Records that some partition did not take in time, while others took theirs: that partition's fault, not an
// outage.
static void
reject_late(struct publisher *publisher)
{
    struct flight *flight = &publisher->flight;
    for (size_t i = 0; i < flight->deliveries.sent; i++) // Kafka was never handed the others
        if (flight->deliveries.of_item[i] == 0 || flight->deliveries.of_item[i] == 1 + REPORT_LATE) {
            char text[300];
            snprintf(text, sizeof text, "topic %.120s took no record within %d s; is a leader missing?",
                     flight->plans[i].topic, (int)(publisher->settings.deadline / US_PER_SECOND));
            publisher_reject(publisher, i, text);
        }
}

// Without transactions: what was delivered is published, what was refused is not; anything less sure is for
// the scan.
static enum publisher_status
finish_partly(struct publisher *publisher, struct err *err)
{
    struct flight *flight = &publisher->flight;
    int64_t *published = arena_array(&flight->arena, flight->claim.count, sizeof *published);
    size_t count = 0;
    bool is_sure = true;
    for (size_t i = 0; i < flight->claim.count; i++) {
        unsigned char reported = flight->deliveries.of_item[i];
        if (reported == 1 + REPORT_DELIVERED)
            published[count++] = flight->claim.items[i].event_id;
        is_sure = is_sure && (i >= flight->deliveries.sent ||
                              (reported && reported != 1 + REPORT_LATE && reported != 1 + REPORT_BROKEN));
    }
    bool is_progress = count || publisher->refusals.count || publisher->lessons.isolates;
    publisher_drop_producer(publisher);
    const struct publisher_ledger *ledger = publisher->settings.ledger;
    if (!is_sure) {
        bool is_good = ledger->finish(publisher->settings.context, &publisher->tenure.slot,
                                      &flight->claim.chunk, CHUNK_IN_DOUBT,
                                      "not every record was confirmed, and these brokers keep no proof", err);
        publisher->tally.in_doubt += is_good;
        if (!is_good)
            return publisher_ledger_failed(publisher, err);
        publisher_begin_again(publisher);
        return PUBLISHER_BUSY;
    }
    if (!ledger->finish_scanned(publisher->settings.context, &publisher->tenure.slot, &flight->claim.chunk,
                                published, count, "every record was confirmed or refused", err))
        return publisher_ledger_failed(publisher, err);
    publisher->tally.sent += (int64_t)count;
    if (!is_progress) {
        err_set(err, ERR_UNREACHABLE, "Kafka took none of %zu records", flight->claim.count);
        return publisher_begin_again(publisher);
    }
    flight_give_up(flight);
    publisher_go(publisher, AT_OPEN);
    return PUBLISHER_REQUEUED;
}

// The transaction failed and the reports do not say why. A topic that may not join it takes all others with
// it: found by letting them join one by one.
static void
explain_break(struct publisher *publisher, struct err *why)
{
    publisher->settings.broker->why(publisher->epoch.producer, why);
    if (why->kind != ERR_DENIED && why->kind != ERR_NOT_FOUND)
        return;
    if (!publisher->epoch.is_isolating && publisher->flight.topic_count > 1)
        publisher->lessons.isolates = true;
    else
        reject_topic(publisher, publisher->epoch.is_isolating ? publisher->flight.deliveries.introduced : 0,
                     why->kind, why->text);
}

static enum publisher_status
give_up(struct publisher *publisher, struct err *err)
{
    struct deliveries *deliveries = &publisher->flight.deliveries;
    bool is_rejected = publisher->refusals.count || publisher->lessons.isolates;
    // Once or twice may be an outage that began in the middle; three times in a row it is a destination.
    bool is_late = !is_rejected && !deliveries->is_broken && deliveries->delivered > 0;
    publisher->lessons.late_rounds = is_late ? publisher->lessons.late_rounds + 1 : 0;
    if (!publisher->settings.is_transactional)
        return finish_partly(publisher, err);

    struct err why = {0};
    if (deliveries->is_broken && !publisher->refusals.count)
        explain_break(publisher, &why);
    if (publisher->lessons.late_rounds > 2)
        reject_late(publisher);
    if (publisher->refusals.count || (publisher->lessons.isolates && !publisher->epoch.is_isolating))
        return publisher_drop_transaction(publisher);
    err_set(&why, ERR_UNREACHABLE, "Kafka did not take %zu of %zu records",
            publisher->flight.claim.count - deliveries->delivered, publisher->flight.claim.count);
    *err = why;
    return publisher_begin_again(publisher);
}

// Publish, the reports: commit may only be asked for when every one has arrived, for it would wait for them
// without fetching them.
enum publisher_status
publisher_take_reports(struct publisher *publisher, struct err *err)
{
    struct flight *flight = &publisher->flight;
    struct deliveries *deliveries = &flight->deliveries;
    struct report reports[REPORTS_AT_ONCE];
    size_t count = 0;
    if (!publisher->settings.broker->serve(publisher->epoch.producer, publisher->step.wait_ms, reports,
                                           REPORTS_AT_ONCE, &count, err)) {
        if (!publisher->settings.is_transactional) {
            err_clear(err);
            return finish_partly(publisher, err);
        }
        return publisher_begin_again(publisher);
    }
    for (size_t i = 0; i < count; i++)
        take_report(publisher, &reports[i]);

    int64_t now = publisher_mono(publisher);
    if (deliveries->delivered == flight->claim.count) {
        KILL_POINT("all-reports");
        flight_deliver(flight);
        return publisher_go(publisher, publisher->settings.is_transactional ? AT_MARK : AT_FINISH);
    }
    // A transaction that has failed takes no more records, so the rest may never be reported. Without one,
    // every report counts.
    bool is_all = deliveries->reported == deliveries->sent;
    bool is_enough =
        is_all || (publisher->settings.is_transactional && now - deliveries->rejected_at > GRACE);
    if (deliveries->rejected_at && is_enough)
        return give_up(publisher, err);
    if (now - flight->begun_at > publisher->settings.deadline + 2 * US_PER_SECOND)
        return give_up(publisher, err);
    if (!deliveries->rejected_at && deliveries->sent < flight->claim.count)
        publisher_go(publisher, AT_SEND);
    return count ? PUBLISHER_BUSY : PUBLISHER_WAITING;
}
