// Kafka's half in memory, with what is true about it (PROTOCOL.md, "What can go wrong"): producer epochs and
// fencing, EndTxn that is late or comes twice, an end of the transaction that reaches the group's coordinator
// later than the producer, pending offsets that are unstable, and a coordinator that was cut off and answers
// from yesterday.
#include "tests/sim/sim_inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"

#define TRANSACTION_TIMEOUT (30 * US_PER_SECOND)

struct producer {
    struct sim_process *owner;
    int slot;
    int64_t epoch; // 0: not initialised
    bool is_begun; // a transaction was begun whose commit was not confirmed
    size_t count, reported;
    size_t index[SIM_EVENTS];
    enum report_kind kinds[SIM_EVENTS];
};

static bool
lost(void *context, const char *what, struct err *err)
{
    struct sim *sim = sim_of(context);
    if (sim->sights)
        sim->sights->lost_answers++;
    sim_say(sim, "%s: %s: no answer; it cannot know", sim_who(context), what);
    return err_set(err, ERR_UNREACHABLE, "no answer");
}

static bool
fenced(void *context, const char *what, struct err *err)
{
    sim_say(sim_of(context), "%s: %s: refused, another one has fenced it", sim_who(context), what);
    return err_set(err, ERR_CONFLICT, "fenced");
}

// --- the brokers ---

// The end of the transaction comes through to the coordinator of the group.
static void
come_through(struct sim *sim, struct sim_slot *slot)
{
    if (!slot->is_pending || !slot->is_ended)
        return;
    if (slot->is_committed && slot->pending.is_present) {
        slot->offsets.marker = slot->pending;
        sim_say(sim, "Kafka: the marker of slot %d is %s", (int)slot->row.no, slot->pending.id);
    }
    slot->is_pending = slot->is_ended = false;
    slot->pending = (struct marker){0};
}

static void
decide(struct sim *sim, struct sim_slot *slot, bool is_commit)
{
    // Whoever is cut off here keeps what is true now and hears of nothing after it.
    if (is_commit && !slot->is_cut && !sim->is_quiet && sim_happens(sim, sim->cut_rate)) {
        slot->is_cut = true;
        slot->yesterday = slot->offsets;
        if (sim->sights)
            sim->sights->cuts++;
        sim_say(sim, "Kafka: the coordinator of slot %d's group is cut off, another one takes its place",
                (int)slot->row.no);
    }
    for (size_t i = 0; is_commit && i < slot->record_count; i++)
        sim->events[slot->records[i]].copies++;
    sim_say(sim, "Kafka: the transaction of epoch %" PRId64 " of slot %d is %s (%zu records)", slot->epoch,
            (int)slot->row.no, is_commit ? "committed" : "aborted", slot->record_count);
    slot->record_count = 0;
    slot->is_ended = slot->is_pending;
    slot->is_committed = is_commit;
    if (!sim_happens(sim, sim->lag_rate))
        come_through(sim, slot);
}

static void
begin_transaction(struct sim *sim, struct sim_slot *slot)
{
    if (slot->transaction == SIM_EMPTY)
        slot->open_since = sim->now;
    slot->transaction = SIM_ONGOING;
}

static void
abort_by_fencing(struct sim *sim, struct sim_slot *slot)
{
    if (slot->transaction == SIM_ONGOING && sim->sights)
        sim->sights->fencings++;
    slot->epoch++; // an abort by fencing carries the new one
    if (slot->transaction == SIM_ONGOING)
        decide(sim, slot, false);
    slot->transaction = SIM_EMPTY;
    slot->appended = 0;
}

static void
time_out(struct sim *sim, struct sim_slot *slot)
{
    if (slot->transaction == SIM_EMPTY || sim->now - slot->open_since < TRANSACTION_TIMEOUT)
        return;
    sim_say(sim, "Kafka: the transaction of slot %d has been open for 30 s", (int)slot->row.no);
    abort_by_fencing(sim, slot);
    if (sim->is_quiet)
        come_through(sim, slot);
}

static void
deliver_produce(struct sim *sim, struct sim_slot *slot, const struct sim_request *request)
{
    uint32_t bit = 1u << request->event;
    if (slot->appended & bit) // its sequence number was seen
        return;
    begin_transaction(sim, slot);
    slot->appended |= bit;
    slot->records[slot->record_count++] = request->event;
    sim_say(sim, "Kafka: event %" PRId64 " is appended for %s, not yet visible", request->event,
            request->sender);
}

static void
deliver_mark(struct sim *sim, struct sim_slot *slot, const struct sim_request *request)
{
    come_through(sim, slot); // what ended before it stands before it in the log
    begin_transaction(sim, slot);
    slot->is_pending = true;
    slot->pending = (struct marker){.is_present = true, .seq = request->number};
    snprintf(slot->pending.id, sizeof slot->pending.id, "%s", request->id);
    sim_say(sim, "Kafka: marker %s of %s is pending", request->id, request->sender);
}

static void
deliver_end(struct sim *sim, struct sim_slot *slot, const struct sim_request *request)
{
    if (slot->transaction != SIM_ONGOING)
        return;
    decide(sim, slot, request->is_commit);
    slot->transaction = SIM_EMPTY;
    if (!request->is_commit) // the client's abort: the epoch stays, what it appends next is new
        slot->appended = 0;
}

void
sim_deliver(struct sim *sim, const struct sim_request *request)
{
    struct sim_slot *slot = &sim->slots[request->slot];
    if (request->kind == SIM_NONCE) {
        slot->offsets.has_nonce = true;
        slot->offsets.nonce = request->number;
        return;
    }
    if (request->epoch != slot->epoch) {
        sim_say(sim, "Kafka: a request of %s's epoch %" PRId64 " is refused: slot %d is at %" PRId64,
                request->sender, request->epoch, request->slot, slot->epoch);
        return;
    }
    static void (*const deliver[])(struct sim *, struct sim_slot *, const struct sim_request *) = {
        [SIM_PRODUCE] = deliver_produce, [SIM_MARK] = deliver_mark, [SIM_END] = deliver_end};
    deliver[request->kind](sim, slot, request);
}

static void
travel(struct sim *sim, const struct sim_request *request)
{
    if (sim->request_count < SIM_REQUESTS)
        sim->requests[sim->request_count++] = *request;
}

static const char *
request_words(enum sim_request_kind kind)
{
    static const char *const words[] = {"a record", "a marker", "the end of a transaction", "a nonce"};
    return words[kind];
}

static void
arrive(struct sim *sim, size_t which)
{
    struct sim_request request = sim->requests[which];
    sim->requests[which] = sim->requests[--sim->request_count];
    if (sim->sights) {
        sim->sights->late_requests++;
        sim->sights->late_hits += request.epoch == sim->slots[request.slot].epoch;
    }
    sim_say(sim, "Kafka: %s arrives late, sent by %s", request_words(request.kind), request.sender);
    sim_deliver(sim, &request);
}

void
sim_kafka_moves(struct sim *sim)
{
    for (int i = 0; i < sim->slot_count; i++)
        time_out(sim, &sim->slots[i]);
    unsigned choice = sim_choose(sim, 256);
    if (choice < 128)
        return;
    if (sim->request_count && choice < 208) {
        arrive(sim, choice % sim->request_count);
        return;
    }
    struct sim_slot *slot = &sim->slots[choice % (unsigned)sim->slot_count];
    come_through(sim, slot);
    if (slot->is_cut && choice >= 244) {
        slot->is_cut = false;
        sim_say(sim, "Kafka: the old coordinator of slot %d's group has learnt that it is none",
                (int)slot->row.no);
    }
}

void
sim_kafka_calms(struct sim *sim)
{
    while (sim->request_count)
        arrive(sim, 0);
    for (int i = 0; i < sim->slot_count; i++) {
        come_through(sim, &sim->slots[i]);
        sim->slots[i].is_cut = false;
    }
}

// Sends a request. False: no answer comes back, whether it arrived or not.
static bool
request_send(struct sim *sim, const struct sim_request *request)
{
    enum sim_luck luck = sim_luck(sim, true);
    if (luck == SIM_LATE || luck == SIM_TWICE)
        travel(sim, request);
    if (luck == SIM_TWICE && sim->sights)
        sim->sights->repeated_requests++;
    if (luck == SIM_LATE)
        sim_say(sim, "%s's request (%s) is held up in the network", request->sender,
                request_words(request->kind));
    if (luck == SIM_ANSWERED || luck == SIM_UNANSWERED || luck == SIM_TWICE)
        sim_deliver(sim, request);
    return luck == SIM_ANSWERED || luck == SIM_TWICE;
}

// --- the client ---

static bool
kafka_open(void *context, const struct producer_settings *how, struct producer **producer, struct err *err)
{
    (void)err;
    struct sim *sim = sim_of(context);
    *producer = alloc_bytes(sizeof **producer);
    (*producer)->owner = context;
    for (int i = 0; i < sim->slot_count; i++)
        if (strcmp(sim->slots[i].row.txn_id, how->txn_id) == 0)
            (*producer)->slot = i;
    return true;
}

static void
kafka_destroy(struct producer *producer)
{
    free(producer);
}

static bool
kafka_init(struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    (void)wait_ms;
    struct sim *sim = producer->owner->sim;
    struct sim_slot *slot = &sim->slots[producer->slot];
    enum sim_luck luck = sim_luck(sim, false);
    *done = false;
    if (luck == SIM_LOST)
        return lost(producer->owner, "initialises", err);
    sim_say(sim, "%s initialises: slot %d is at epoch %" PRId64 "%s", producer->owner->name, producer->slot,
            slot->epoch + 1, slot->transaction == SIM_ONGOING ? ", what was open is aborted" : "");
    abort_by_fencing(sim, slot);
    producer->epoch = slot->epoch;
    *done = true;
    return luck == SIM_ANSWERED || lost(producer->owner, "initialises", err);
}

static bool
kafka_warm(struct producer *producer, const char *const *topics, size_t count, struct err *err)
{
    (void)producer, (void)topics, (void)count, (void)err;
    return true;
}

static struct sim_request
request_of(const struct producer *producer, enum sim_request_kind kind)
{
    return (struct sim_request){
        .kind = kind, .slot = producer->slot, .epoch = producer->epoch, .sender = producer->owner->name};
}

static bool
is_current(const struct producer *producer)
{
    return producer->epoch == producer->owner->sim->slots[producer->slot].epoch;
}

// A handle that has a transaction in flight ends it by a request of its own, as abort_transaction would. The
// protocol never comes here: it is what "the same epoch again" means.
static bool
abort_own(struct producer *producer, struct err *err)
{
    struct sim *sim = producer->owner->sim;
    struct sim_request request = request_of(producer, SIM_END);
    if (!is_current(producer))
        return fenced(producer->owner, "aborts", err);
    sim_say(sim, "%s aborts by a request of its own and keeps its epoch", producer->owner->name);
    if (producer->is_begun)
        sim_deliver(sim, &request);
    sim->slots[producer->slot].appended = 0;
    producer->count = producer->reported = 0;
    return true;
}

static bool
kafka_begin(struct producer *producer, struct err *err)
{
    if (!producer || !producer->epoch)
        return err_set(err, ERR_INTERNAL, "begun without a handle");
    if (producer->is_begun && !abort_own(producer, err))
        return false;
    producer->is_begun = true;
    return true;
}

static bool
kafka_send(struct producer *producer, const struct producer_record *record, size_t index, bool *is_full,
           struct err *err)
{
    (void)err;
    *is_full = false;
    struct sim_request request = request_of(producer, SIM_PRODUCE);
    for (size_t i = 0; i < record->header_count; i++)
        if (bytes_equal_text(record->headers[i].name, "redrive-event-id"))
            request.event = strtoll(record->headers[i].value.data, NULL, 10);
    if (producer->count == SIM_EVENTS)
        die("more records than there are events");
    enum report_kind kind = is_current(producer) ? REPORT_DELIVERED : REPORT_BROKEN;
    if (!request_send(producer->owner->sim, &request) && kind == REPORT_DELIVERED)
        kind = REPORT_LATE;
    producer->index[producer->count] = index;
    producer->kinds[producer->count++] = kind;
    return true;
}

static bool
kafka_serve(struct producer *producer, int wait_ms, struct report *reports, size_t room, size_t *count,
            struct err *err)
{
    (void)wait_ms, (void)err;
    for (*count = 0; producer->reported < producer->count && *count < room; producer->reported++, ++*count)
        reports[*count] = (struct report){.index = producer->index[producer->reported],
                                          .kind = producer->kinds[producer->reported]};
    return true;
}

static bool
kafka_why(struct producer *producer, struct err *err)
{
    return err_set(err, is_current(producer) ? ERR_UNREACHABLE : ERR_CONFLICT, "the transaction has failed");
}

static bool
kafka_mark(struct producer *producer, enum marker_partition partition, const char *group, int64_t seq,
           const char *id, struct err *err)
{
    (void)partition, (void)group;
    struct sim_request request = request_of(producer, SIM_MARK);
    request.number = seq;
    snprintf(request.id, sizeof request.id, "%s", id);
    bool was_current = is_current(producer);
    if (!request_send(producer->owner->sim, &request))
        return lost(producer->owner, "sends its marker", err);
    return was_current || fenced(producer->owner, "sends its marker", err);
}

static bool
kafka_commit(struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    (void)wait_ms;
    struct sim_request request = request_of(producer, SIM_END);
    request.is_commit = true;
    *done = false;
    bool was_current = is_current(producer);
    if (!request_send(producer->owner->sim, &request))
        return lost(producer->owner, "commits", err);
    if (!was_current)
        return fenced(producer->owner, "commits", err);
    producer->is_begun = false;
    *done = true;
    return true;
}

static struct sim_slot *
slot_named(struct sim *sim, const char *group)
{
    for (int i = 0; i < sim->slot_count; i++)
        if (strcmp(sim->slots[i].row.txn_id, group) == 0)
            return &sim->slots[i];
    die("nobody has heard of the group %s", group);
}

static bool
kafka_read_marker(void *context, const char *group, struct marker_reading *reading, struct err *err)
{
    struct sim *sim = sim_of(context);
    struct sim_slot *slot = slot_named(sim, group);
    *reading = (struct marker_reading){.is_stable = true};
    if (sim_luck(sim, false) != SIM_ANSWERED)
        return lost(context, "reads the marker", err);
    bool is_old = slot->is_cut && sim_choose(sim, 2);
    const struct sim_offsets *offsets = is_old ? &slot->yesterday : &slot->offsets;
    reading->is_stable = is_old || !slot->is_pending;
    reading->marker = offsets->marker; // what a read without require-stable would say
    reading->has_nonce = offsets->has_nonce;
    reading->nonce = offsets->nonce;
    if (sim->sights) {
        sim->sights->old_answers += is_old;
        sim->sights->unstable_reads += !reading->is_stable;
    }
    sim_say(sim, "%s reads the marker of slot %d%s: %s%s", sim_who(context), (int)slot->row.no,
            is_old ? " from the coordinator that was cut off" : "",
            reading->marker.is_present ? reading->marker.id : "none", reading->is_stable ? "" : ", unstable");
    return true;
}

static bool
kafka_write_nonce(void *context, const char *group, int64_t nonce, struct err *err)
{
    struct sim *sim = sim_of(context);
    const struct sim_slot *slot = slot_named(sim, group);
    const struct sim_request request = {
        .kind = SIM_NONCE, .slot = slot->row.no, .number = nonce, .sender = sim_who(context)};
    if (!request_send(sim, &request))
        return lost(context, "writes a nonce", err);
    sim_say(sim, "%s writes a nonce beside the marker of slot %d", sim_who(context), (int)slot->row.no);
    return true;
}

static bool
kafka_topic(void *context, const char *name, struct topic *topic, struct err *err)
{
    (void)context, (void)name, (void)err;
    *topic = (struct topic){.state = TOPIC_KNOWN, .partitions = 4, .max_bytes = -1};
    return true;
}

static int64_t
kafka_smallest_limit(void *context, int64_t otherwise)
{
    (void)context;
    return otherwise;
}

static void
kafka_deny_topic(void *context, const char *name)
{
    sim_fail(sim_of(context), "topic %s is denied", name);
}

static void
kafka_forget_topics(void *context)
{
    (void)context;
}

const struct publisher_broker sim_broker = {
    .open = kafka_open,
    .destroy = kafka_destroy,
    .init = kafka_init,
    .warm = kafka_warm,
    .begin = kafka_begin,
    .send = kafka_send,
    .serve = kafka_serve,
    .why = kafka_why,
    .mark = kafka_mark,
    .commit = kafka_commit,
    .read_marker = kafka_read_marker,
    .write_nonce = kafka_write_nonce,
    .topic = kafka_topic,
    .smallest_limit = kafka_smallest_limit,
    .deny_topic = kafka_deny_topic,
    .forget_topics = kafka_forget_topics,
};
