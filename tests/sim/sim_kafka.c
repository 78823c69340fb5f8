// Kafka's half in memory, with what is true about it (PROTOCOL.md, "What can go wrong"): producer epochs and
// fencing, EndTxn that is late or comes twice, an end of the transaction that reaches the group's coordinator
// later than the producer, pending offsets that are unstable, and a coordinator that was cut off and answers
// from yesterday.
#include "tests/sim/sim_world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"

#define TRANSACTION_TIMEOUT (30 * US_PER_SECOND)

struct producer {
    struct sim_process *owner;
    int slot;      // -1: no transactions
    int64_t epoch; // 0: not initialised
    bool is_begun; // a transaction was begun whose commit was not confirmed
    bool is_isolating;
    bool is_refused; // a topic that may not join the transaction took all others with it
    int64_t batch_bytes;
    size_t count, reported;
    struct {
        size_t index;
        int64_t event;
        enum report_kind kind;
    } records[SIM_EVENTS];
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
decide(struct sim *sim, struct sim_slot *slot, bool is_asked)
{
    bool is_commit = is_asked && !sim->wishes.forgets_commits;
    // A coordinator that is cut off here keeps the present state and learns of nothing later.
    // That of the turns' group stays: a publisher reads it without a nonce (PROTOCOL.md, "What the guarantee
    // assumes").
    if (is_commit && slot->row.no != SIM_TURNS && !slot->is_cut && !sim->is_quiet &&
        sim_happens(sim, sim->cut_rate)) {
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
    uint64_t bit = (uint64_t)1 << request->event;
    if (slot->appended & bit) // its sequence number was seen
        return;
    begin_transaction(sim, slot);
    slot->appended |= bit;
    slot->records[slot->record_count++] = request->event;
    struct sim_event *event = &sim->events[request->event];
    event->record.chunk = event->chunk;
    event->record.at = request->number;
    event->record.offset = sim->log_end++;
    sim_say(sim, "Kafka: event %" PRId64 " is appended for %s, not yet visible", request->event,
            request->sender);
}

static void
deliver_mark(struct sim *sim, struct sim_slot *slot, const struct sim_request *request)
{
    come_through(sim, slot); // an earlier end comes before it in the log
    begin_transaction(sim, slot);
    slot->is_pending = true;
    marker_parse(bytes_of(request->id), request->number, &slot->pending);
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

void
sim_marker_expires(struct sim *sim, struct sim_slot *slot)
{
    if (!slot->chunk.exists || slot->is_cut || slot->is_pending || slot->transaction == SIM_ONGOING)
        return;
    slot->offsets = (struct sim_offsets){0};
    sim->has_expired = true;
    if (sim->sights)
        sim->sights->expired++;
    sim_say(sim, "Kafka: the marker of slot %d expires", (int)slot->row.no);
}

#define SEARCHED_BEFORE (600 * US_PER_SECOND) // the claim, as broker/scan.h has it

static bool
is_found(const struct sim_slot *slot, const struct sim_event *event)
{
    return event->copies && event->record.chunk == event->chunk &&
           (slot->ends >= 0 ? event->record.offset >= slot->ends
                            : event->record.at >= slot->chunk.created_at - SEARCHED_BEFORE);
}

// All or none are found, or a person looks, who sees everything.
static void
decide_doubt(struct sim *sim, struct sim_slot *slot)
{
    int found = 0;
    int64_t no = strtoll(slot->chunk.id + 1, NULL, 10);
    for (int64_t id = 1; id <= sim->event_count; id++)
        found += sim->events[id].fate == SIM_IN_DOUBT && sim->events[id].chunk == no &&
                 is_found(slot, &sim->events[id]);
    bool is_partial = found > 0 && found < slot->chunk.count;
    for (int64_t id = 1; id <= sim->event_count; id++) {
        struct sim_event *event = &sim->events[id];
        if (event->fate == SIM_IN_DOUBT && event->chunk == no)
            event->fate = (is_partial ? event->copies > 0 : found > 0) ? SIM_RESOLVED : SIM_QUEUED;
    }
    if (sim->sights)
        sim->sights->searched++;
    sim_say(sim, "the topics are searched for chunk %s: %d of %d records are found", slot->chunk.id, found,
            (int)slot->chunk.count);
}

void
sim_doubt_search(struct sim *sim)
{
    for (int i = 0; i < sim->slot_count; i++) {
        struct sim_slot *slot = &sim->slots[i];
        if (!slot->is_suspended)
            continue;
        abort_by_fencing(sim, slot);
        come_through(sim, slot);
        if (slot->chunk.exists)
            decide_doubt(sim, slot);
        slot->chunk.exists = slot->is_suspended = false;
        slot->row.fence++;
        slot->holder[0] = '\0';
        int64_t epoch = slot->epoch; // late requests name one that was before
        sim_name_slot(slot, slot->row.generation + 1);
        slot->epoch = epoch + 1;
    }
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
    time_out(sim, &sim->slots[SIM_TURNS]);
    unsigned choice = sim_choose(sim, 256);
    if (choice < 128)
        return;
    if (sim->request_count && choice < 208) {
        arrive(sim, choice % sim->request_count);
        return;
    }
    unsigned which = choice % (unsigned)(sim->slot_count + sim->has_turns);
    struct sim_slot *slot = &sim->slots[which < (unsigned)sim->slot_count ? which : SIM_TURNS];
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
    come_through(sim, &sim->slots[SIM_TURNS]);
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
    struct sim *sim = sim_of(context);
    *producer = NULL;
    if (sim->wishes.failing_opens && sim->wishes.failing_opens--)
        return lost(context, "makes a handle", err);
    *producer = alloc_bytes(sizeof **producer);
    (*producer)->owner = context;
    (*producer)->slot = -1;
    (*producer)->is_isolating = how->is_isolating;
    (*producer)->batch_bytes = how->batch_bytes;
    for (int i = 0; how->txn_id && i < sim->slot_count; i++)
        if (strcmp(sim->slots[i].row.txn_id, how->txn_id) == 0)
            (*producer)->slot = i;
    if (how->txn_id && strcmp(how->txn_id, SIM_TURN_GROUP) == 0)
        (*producer)->slot = SIM_TURNS;
    if (how->txn_id && (*producer)->slot < 0) { // names of a generation that is past
        free(*producer);
        *producer = NULL;
        return lost(context, "makes a handle", err);
    }
    return true;
}

static void
kafka_destroy(struct producer *producer)
{
    free(producer);
}

// Takes longer than one call, once in so many.
static bool
is_dallying(struct sim *sim, unsigned odds)
{
    return sim->wishes.dallies && sim_choose(sim, odds) == odds - 1;
}

static bool
kafka_init(struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    (void)wait_ms;
    struct sim *sim = producer->owner->sim;
    *done = producer->slot < 0;
    if (*done || sim->wishes.stalls_init || is_dallying(sim, 2))
        return true;
    struct sim_slot *slot = &sim->slots[producer->slot];
    enum sim_luck luck = sim_luck(sim, false);
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
    return producer->slot < 0 || producer->epoch == producer->owner->sim->slots[producer->slot].epoch;
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
    if (!producer || (!producer->epoch && producer->slot >= 0))
        return err_set(err, ERR_INTERNAL, "begun without a handle");
    struct sim_wishes *wishes = &producer->owner->sim->wishes;
    if (wishes->failing_begins && wishes->failing_begins--)
        return lost(producer->owner, "begins", err);
    if (producer->is_begun && !abort_own(producer, err))
        return false;
    producer->is_begun = true;
    return true;
}

static int64_t
event_of(const struct producer_record *record)
{
    for (size_t i = 0; i < record->header_count; i++)
        if (bytes_equal_text(record->headers[i].name, "redrive-event-id"))
            return strtoll(record->headers[i].value.data, NULL, 10);
    die("a record without its event");
}

// Hands one record to its broker, and knows what its report will say.
static enum report_kind
append(struct producer *producer, int64_t event)
{
    struct sim *sim = producer->owner->sim;
    struct sim_request request = request_of(producer, SIM_PRODUCE);
    request.event = event;
    request.number = sim->now + sim->wishes.skew + producer->owner->skew;
    bool was_current = is_current(producer), is_answered = true;
    if (event == sim->wishes.late)
        return REPORT_LATE;
    if (producer->slot >= 0 && !sim->wishes.takes_records)
        is_answered = request_send(sim, &request);
    else if (producer->slot >= 0)
        sim_deliver(sim, &request);
    if (!was_current)
        return REPORT_BROKEN;
    return is_answered ? REPORT_DELIVERED : REPORT_LATE;
}

static bool
kafka_send(struct producer *producer, const struct producer_record *record, size_t index, bool *is_full,
           struct err *err)
{
    (void)err;
    struct sim *sim = producer->owner->sim;
    *is_full = is_dallying(sim, 50);
    if (*is_full)
        return true;
    if (producer->count == SIM_EVENTS)
        die("more records than there are events");
    if (sim->is_limit_known && producer->batch_bytes > sim->wishes.limit)
        sim_fail(sim, "a record is sent by a handle whose batches are larger than its topic takes");
    if (sim->wishes.has_no_forbidden && strcmp(record->topic, "forbidden") == 0)
        sim_fail(sim, "a record is sent to a topic that is missing");
    int64_t event = event_of(record);
    producer->records[producer->count].index = index;
    producer->records[producer->count].event = event;
    producer->records[producer->count++].kind = append(producer, event);
    return true;
}

// Refusals among the records that were not yet reported: a record with its batch, a topic that may not join
// with its whole transaction.
static void
judge(struct producer *producer)
{
    const struct sim_wishes *wishes = &producer->owner->sim->wishes;
    bool has_rejected = false;
    for (size_t i = producer->reported; i < producer->count; i++) {
        int64_t event = producer->records[i].event;
        bool is_forbidden = wishes->forbidden && event > wishes->forbidden;
        has_rejected = has_rejected || event == wishes->rejected;
        producer->is_refused = producer->is_refused || (is_forbidden && producer->slot >= 0);
        if (is_forbidden)
            producer->records[i].kind = REPORT_TOPIC;
    }
    for (size_t i = producer->reported; i < producer->count; i++)
        if (producer->is_refused)
            producer->records[i].kind = REPORT_BROKEN;
        else if (has_rejected && (!producer->is_isolating || producer->records[i].event == wishes->rejected))
            producer->records[i].kind = REPORT_BATCH;
}

static bool
kafka_serve(struct producer *producer, int wait_ms, struct report *reports, size_t room, size_t *count,
            struct err *err)
{
    (void)wait_ms;
    struct sim *sim = producer->owner->sim;
    *count = 0;
    if (sim->wishes.takes_records && producer->slot >= 0 && sim_luck(sim, false) != SIM_ANSWERED)
        return lost(producer->owner, "waits for reports", err);
    judge(producer);
    for (; producer->reported < producer->count && *count < room; producer->reported++, ++*count) {
        size_t i = producer->reported;
        enum report_kind kind = producer->records[i].kind;
        reports[*count] = (struct report){
            .index = producer->records[i].index, .kind = kind, .cause = ERR_DENIED, .reason = "a reason"};
        if (producer->slot < 0)
            sim->events[producer->records[i].event].copies += kind == REPORT_DELIVERED || kind == REPORT_LATE;
    }
    return true;
}

static bool
kafka_why(struct producer *producer, struct err *err)
{
    enum err_kind kind = producer->is_refused ? ERR_DENIED : ERR_UNREACHABLE;
    return err_set(err, is_current(producer) ? kind : ERR_CONFLICT, "the transaction has failed");
}

static bool
kafka_mark(struct producer *producer, enum marker_partition partition, const char *group, int64_t seq,
           const char *id, struct err *err)
{
    producer->owner->sim->nudges += partition == NONCE_PARTITION;
    // In the simulator a handle that is kept by BROKEN_SAME_EPOCH may do so: it shows by what follows.
    if (!producer->owner->sim->is_strict &&
        strcmp(group, producer->owner->sim->slots[producer->slot].row.txn_id) != 0)
        sim_fail(producer->owner->sim, "%s marks the group of another slot", producer->owner->name);
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
    if (producer->owner->sim->wishes.stalls_commits || is_dallying(producer->owner->sim, 4))
        return true;
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
    if (strcmp(group, SIM_TURN_GROUP) == 0)
        return &sim->slots[SIM_TURNS];
    return NULL; // names of another generation
}

static bool
kafka_read_marker(void *context, const char *group, struct marker_reading *reading, struct err *err)
{
    struct sim *sim = sim_of(context);
    const struct sim_slot *slot = slot_named(sim, group);
    *reading = (struct marker_reading){.is_stable = true};
    if (sim_luck(sim, false) != SIM_ANSWERED)
        return lost(context, "reads the marker", err);
    if (!slot)
        return true;
    bool is_old = slot->is_cut && sim_choose(sim, 2);
    const struct sim_offsets *offsets = is_old ? &slot->yesterday : &slot->offsets;
    bool is_stopped = sim->wishes.stops_reads && slot != &sim->slots[SIM_TURNS];
    reading->is_stable = (is_old || !slot->is_pending) && !is_stopped;
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
    if (!slot)
        return lost(context, "writes a nonce", err);
    const struct sim_request request = {
        .kind = SIM_NONCE, .slot = slot->row.no, .number = nonce, .sender = sim_who(context)};
    if (!request_send(sim, &request))
        return lost(context, "writes a nonce", err);
    sim_say(sim, "%s writes a nonce beside the marker of slot %d", sim_who(context), (int)slot->row.no);
    return true;
}

static bool
kafka_read_markers(void *context, const char *const *groups, size_t count, struct marker_reading *readings,
                   struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!kafka_read_marker(context, groups[i], &readings[i], err))
            return false;
    return true;
}

static bool
kafka_write_nonces(void *context, struct producer *const *producers, const char *const *groups, size_t count,
                   int64_t nonce, struct err *err)
{
    (void)producers;
    for (size_t i = 0; i < count; i++)
        if (!kafka_write_nonce(context, groups[i], nonce, err))
            return false;
    return true;
}

static bool
kafka_topic(void *context, const char *name, struct topic *topic, struct err *err)
{
    (void)err;
    struct sim *sim = sim_of(context);
    sim->is_limit_known = sim->wishes.limit > 0;
    *topic = (struct topic){.state = TOPIC_KNOWN, .partitions = 4, .max_bytes = -1};
    if (sim->wishes.has_no_forbidden && strcmp(name, "forbidden") == 0)
        topic->state = TOPIC_MISSING;
    return true;
}

static bool
kafka_ends(void *context, const char *topic, struct strbuf *text, struct err *err)
{
    struct sim *sim = sim_of(context);
    if (sim->wishes.tells_no_ends || sim_luck(sim, false) != SIM_ANSWERED)
        return lost(context, "asks where the topics end", err);
    strbuf_printf(text, "%s %" PRId64, topic, sim->log_end);
    return true;
}

static int64_t
kafka_smallest_limit(void *context, int64_t otherwise)
{
    const struct sim *sim = sim_of(context);
    return sim->is_limit_known ? sim->wishes.limit : otherwise;
}

static void
kafka_deny_topic(void *context, const char *name)
{
    if (!sim_of(context)->wishes.forbidden || strcmp(name, "forbidden") != 0)
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
    .read_markers = kafka_read_markers,
    .write_nonces = kafka_write_nonces,
    .topic = kafka_topic,
    .ends = kafka_ends,
    .smallest_limit = kafka_smallest_limit,
    .deny_topic = kafka_deny_topic,
    .forget_topics = kafka_forget_topics,
};
