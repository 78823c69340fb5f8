// The publisher's state machine between two fake ends with true semantics: fences and transactions in memory
// on one side; producer epochs, open transactions, pending markers and lost answers on the other. Random
// schedules of several publishers with crashes; the invariants are checked after every step, and a failure
// names its seed. REDRIVE_SEEDS=first,count runs others.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "engine/publisher.h"

enum { SLOTS = 3, ITEMS = 40, WORKERS = 3 };

enum fate { QUEUED, CLAIMED, DONE, REFUSED, HELD };
struct item {
    enum fate fate;
    char chunk[UUID_TEXT];
    int copies; // that a read_committed consumer sees
};

struct pending {
    int64_t ids[ITEMS];
    size_t count;
    struct marker marker;
    bool is_nudge;
};

struct fake_slot {
    struct slot pg;
    char holder[32];
    int64_t next_seq;
    bool is_quarantined;
    struct chunk chunk;
    // Kafka
    int64_t epoch;
    bool is_open; // a transaction holds offsets or records
    struct pending pending;
    struct marker marker;
    bool has_nonce;
    int64_t nonce;
    // A coordinator that was cut off answers reads from here until somebody writes.
    bool is_stale;
    struct marker stale;
    // An EndTxn that is still on its way.
    bool is_commit_late;
    int64_t late_epoch;
};

struct fake {
    struct fake_slot slots[SLOTS];
    struct item items[ITEMS + 1]; // by event id, from 1
    uint64_t seed, state;
    int64_t now;
    int fault_percent, expiry_percent;
    bool is_transactional;
    int64_t poison;    // this event is refused by the broker, with its batch; 0: none
    int64_t forbidden; // events above go to a topic that may not be written to; 0: none
    int64_t chunks;
    bool stops_reads; // not stable for ever
};

struct process {
    struct fake *fake;
    char name[32];
    struct publisher *publisher;
    void (*call)(void *argument); // made aside
    void *argument;
};

struct producer {
    struct fake *fake;
    struct fake_slot *slot; // NULL: no transactions
    int64_t epoch;          // 0: not initialised
    int waits;
    bool is_isolating;
    int64_t ids[ITEMS];
    size_t index[ITEMS];
    size_t count, reported;
    bool is_broken; // a topic that may not join the transaction took all others with it
};

static uint64_t
chance(struct fake *fake, uint64_t below)
{
    fake->state ^= fake->state << 13;
    fake->state ^= fake->state >> 7;
    fake->state ^= fake->state << 17;
    return fake->state % below;
}

enum fault { NO_FAULT, FAULT_BEFORE, FAULT_AFTER };

static enum fault
fault(struct fake *fake)
{
    if ((int)chance(fake, 100) >= fake->fault_percent)
        return NO_FAULT;
    return chance(fake, 2) ? FAULT_BEFORE : FAULT_AFTER;
}

static bool
lost(struct err *err)
{
    return err_set(err, ERR_UNREACHABLE, "no answer");
}

static struct fake *
of(void *context)
{
    return ((struct process *)context)->fake;
}

static void
check_invariants(struct fake *fake)
{
    for (int64_t id = 1; id <= ITEMS; id++) {
        const struct item *item = &fake->items[id];
        if (item->copies > 1)
            fail_msg("seed %llu: event %lld was published %d times", (unsigned long long)fake->seed,
                     (long long)id, item->copies);
        if (item->fate == DONE && item->copies != 1)
            fail_msg("seed %llu: event %lld is done and was not published", (unsigned long long)fake->seed,
                     (long long)id);
        if ((item->fate == QUEUED || item->fate == REFUSED) && item->copies)
            fail_msg("seed %llu: event %lld is open again and was published", (unsigned long long)fake->seed,
                     (long long)id);
    }
}

// --- PostgreSQL ---

static struct fake_slot *
fenced(struct fake *fake, const struct slot *slot, struct err *err)
{
    struct fake_slot *mine = &fake->slots[slot->no];
    if (mine->pg.fence == slot->fence)
        return mine;
    err_set(err, ERR_CONFLICT, "slot %d was taken over", (int)slot->no);
    return NULL;
}

static bool
is_among(const int32_t *mine, size_t count, int32_t no)
{
    for (size_t i = 0; i < count; i++)
        if (mine[i] == no)
            return true;
    return false;
}

static bool
fake_acquire(void *context, const int32_t *mine, size_t count, struct slot *slot, struct err *err)
{
    struct process *process = context;
    struct fake *fake = process->fake;
    enum fault lose = fault(fake);
    if (lose == FAULT_BEFORE)
        return lost(err);
    struct fake_slot *best = NULL;
    for (int i = 0; i < SLOTS; i++) {
        struct fake_slot *candidate = &fake->slots[i];
        bool is_free = !candidate->holder[0] || strcmp(candidate->holder, process->name) == 0 ||
                       (int)chance(fake, 100) < fake->expiry_percent;
        if (candidate->is_quarantined || !is_free || is_among(mine, count, i))
            continue;
        if (!best || (candidate->chunk.exists && !best->chunk.exists))
            best = candidate;
    }
    if (!best)
        return err_set(err, ERR_NOT_FOUND, "no slot is free");
    best->pg.fence++;
    snprintf(best->holder, sizeof best->holder, "%s", process->name);
    *slot = best->pg;
    return lose == NO_FAULT || lost(err);
}

static bool
fake_check(void *context, struct slot *slot, struct chunk *unfinished, struct err *err)
{
    struct fake_slot *mine = fenced(of(context), slot, err);
    if (!mine)
        return false;
    if (fault(of(context)))
        return lost(err);
    *slot = mine->pg;
    slot->is_marker_old = slot->is_provisioned && chance(of(context), 8) == 0;
    *unfinished = mine->chunk;
    return true;
}

static bool
fake_heartbeat(void *context, const struct slot *slot, struct err *err)
{
    return fenced(of(context), slot, err) != NULL;
}

static bool
fake_provisioned(void *context, struct slot *slot, struct err *err)
{
    enum fault lose = fault(of(context));
    struct fake_slot *mine = lose == FAULT_BEFORE ? (lost(err), NULL) : fenced(of(context), slot, err);
    if (!mine)
        return false;
    mine->pg.is_provisioned = slot->is_provisioned = true;
    return lose == NO_FAULT || lost(err);
}

static bool
fake_release(void *context, const struct slot *slot, struct err *err)
{
    struct fake_slot *mine = fenced(of(context), slot, err);
    if (mine)
        mine->holder[0] = '\0';
    return mine != NULL;
}

static bool
fake_quarantine(void *context, const struct slot *slot, const char *evidence, struct err *err)
{
    struct fake_slot *mine = fenced(of(context), slot, err);
    assert_non_null(evidence);
    if (mine)
        mine->is_quarantined = true;
    return mine != NULL;
}

static void
rename_slot(struct fake_slot *slot)
{
    slot->pg.generation++;
    slot->pg.settled_seq = 0;
    snprintf(slot->pg.settled_id, sizeof slot->pg.settled_id, "install");
    snprintf(slot->pg.txn_id, sizeof slot->pg.txn_id, "slot.%d.%d", (int)slot->pg.no,
             (int)slot->pg.generation);
    slot->pg.is_provisioned = false;
    slot->epoch = 0;
    slot->is_open = slot->has_nonce = slot->is_stale = slot->is_commit_late = false;
    slot->marker = (struct marker){0};
}

static bool
fake_retire(void *context, struct slot *slot, const char *why, struct err *err)
{
    struct fake_slot *mine = fenced(of(context), slot, err);
    assert_non_null(why);
    if (!mine)
        return false;
    assert_false(mine->chunk.exists);
    rename_slot(mine);
    *slot = mine->pg;
    return true;
}

static bool
fake_claim(void *context, struct slot *slot, int64_t operation, const char *chunk_id, size_t limit,
           uint64_t max_bytes, struct arena *arena, struct claim *claim, struct err *err)
{
    struct fake *fake = of(context);
    enum fault lose = fault(fake);
    struct fake_slot *mine = lose == FAULT_BEFORE ? (lost(err), NULL) : fenced(fake, slot, err);
    *claim = (struct claim){.rate = -1, .requested_by = "ana"};
    if (!mine)
        return false;
    assert_false(mine->chunk.exists);
    assert_true(max_bytes > 0);
    claim->items = arena_array(arena, ITEMS, sizeof *claim->items);
    for (int64_t id = 1; id <= ITEMS && claim->count < limit; id++) {
        if (fake->items[id].fate != QUEUED)
            continue;
        fake->items[id].fate = CLAIMED;
        snprintf(fake->items[id].chunk, UUID_TEXT, "%s", chunk_id);
        claim->items[claim->count++] = (struct claimed_item){
            .event_id = id,
            .attempt = 1,
            .event = {.id = id,
                      .topic = fake->forbidden && id > fake->forbidden ? BYTES("forbidden") : BYTES("t"),
                      .payload = BYTES("{}")},
        };
    }
    if (claim->count == 0)
        return true;
    claim->chunk = (struct chunk){
        .exists = true, .seq = ++mine->next_seq, .operation = operation, .count = (int32_t)claim->count};
    snprintf(claim->chunk.id, UUID_TEXT, "%s", chunk_id);
    mine->chunk = claim->chunk;
    return lose == NO_FAULT || lost(err);
}

static bool
fake_settle(void *context, struct slot *slot, const struct chunk *chunk, enum chunk_state outcome,
            const char *evidence, struct err *err)
{
    struct fake *fake = of(context);
    enum fault lose = fault(fake);
    struct fake_slot *mine = lose == FAULT_BEFORE ? (lost(err), NULL) : fenced(fake, slot, err);
    if (!mine)
        return false;
    assert_non_null(evidence);
    if (!mine->chunk.exists || strcmp(mine->chunk.id, chunk->id) != 0)
        return err_set(err, ERR_CONFLICT, "chunk %s is settled", chunk->id);
    int32_t count = 0;
    for (int64_t id = 1; id <= ITEMS; id++)
        if (fake->items[id].fate == CLAIMED && strcmp(fake->items[id].chunk, chunk->id) == 0) {
            fake->items[id].fate = outcome == CHUNK_COMMITTED ? DONE
                                   : outcome == CHUNK_ABORTED ? QUEUED
                                                              : HELD;
            count++;
        }
    assert_int_equal(count, chunk->count);
    if (outcome == CHUNK_COMMITTED) {
        mine->pg.settled_seq = chunk->seq;
        snprintf(mine->pg.settled_id, UUID_TEXT, "%s", chunk->id);
    }
    mine->is_quarantined = outcome == CHUNK_IN_DOUBT;
    mine->chunk.exists = outcome == CHUNK_IN_DOUBT;
    *slot = mine->pg;
    return lose == NO_FAULT || lost(err);
}

static bool
fake_settle_scanned(void *context, struct slot *slot, const struct chunk *chunk, const int64_t *published,
                    size_t count, const char *evidence, struct err *err)
{
    struct fake *fake = of(context);
    struct fake_slot *mine = fenced(fake, slot, err);
    if (!mine)
        return false;
    assert_non_null(evidence);
    for (int64_t id = 1; id <= ITEMS; id++) {
        if (fake->items[id].fate != CLAIMED || strcmp(fake->items[id].chunk, chunk->id) != 0)
            continue;
        fake->items[id].fate = QUEUED;
        for (size_t i = 0; i < count; i++)
            if (published[i] == id)
                fake->items[id].fate = DONE;
    }
    mine->chunk.exists = false;
    rename_slot(mine);
    *slot = mine->pg;
    return true;
}

static bool
fake_refuse(void *context, const struct slot *slot, int64_t operation, const struct refusal *refusals,
            size_t count, struct err *err)
{
    (void)operation;
    struct fake *fake = of(context);
    enum fault lose = fault(fake);
    struct fake_slot *mine = lose == FAULT_BEFORE ? (lost(err), NULL) : fenced(fake, slot, err);
    if (!mine)
        return false;
    for (size_t i = 0; i < count; i++) {
        assert_non_null(refusals[i].reason);
        if (fake->items[refusals[i].event_id].fate == QUEUED)
            fake->items[refusals[i].event_id].fate = REFUSED;
    }
    return lose == NO_FAULT || lost(err);
}

static bool
fake_originals(void *context, const struct event *const *events, size_t count, struct arena *arena,
               struct original *originals, struct err *err)
{
    (void)context, (void)events, (void)count, (void)arena, (void)originals;
    return err_set(err, ERR_INTERNAL, "nothing here has an original");
}

static const struct publisher_ledger ledger = {
    .acquire = fake_acquire,
    .check = fake_check,
    .heartbeat = fake_heartbeat,
    .provisioned = fake_provisioned,
    .release = fake_release,
    .quarantine = fake_quarantine,
    .retire = fake_retire,
    .claim = fake_claim,
    .settle = fake_settle,
    .settle_scanned = fake_settle_scanned,
    .refuse = fake_refuse,
    .originals = fake_originals,
};

// --- Kafka ---

static bool
fake_open(void *context, const struct producer_settings *how, struct producer **producer, struct err *err)
{
    (void)err;
    struct fake *fake = of(context);
    *producer = alloc_bytes(sizeof **producer);
    (*producer)->fake = fake;
    (*producer)->is_isolating = how->is_isolating;
    (*producer)->waits = (int)chance(fake, 3);
    for (int i = 0; how->txn_id && i < SLOTS; i++)
        if (strcmp(fake->slots[i].pg.txn_id, how->txn_id) == 0)
            (*producer)->slot = &fake->slots[i];
    return true;
}

static void
fake_destroy(void *context, struct producer *producer)
{
    (void)context;
    free(producer);
}

static bool
fake_init(void *context, struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    (void)wait_ms;
    *done = producer->waits-- <= 0;
    if (!*done || !producer->slot)
        return true;
    if (fault(of(context)) == FAULT_BEFORE)
        return lost(err);
    struct fake_slot *slot = producer->slot;
    slot->is_open = false; // fencing aborts
    slot->pending = (struct pending){0};
    producer->epoch = ++slot->epoch;
    return fault(of(context)) != FAULT_AFTER || lost(err);
}

static bool
fake_warm(void *context, struct producer *producer, const char *const *topics, size_t count, struct err *err)
{
    (void)context, (void)producer, (void)topics, (void)count, (void)err;
    return true;
}

static bool
fake_begin(void *context, struct producer *producer, struct err *err)
{
    (void)context, (void)err;
    assert_true(!producer->slot || producer->epoch);
    return true;
}

static bool
is_current(const struct producer *producer, struct err *err)
{
    return !producer->slot || producer->epoch == producer->slot->epoch ||
           err_set(err, ERR_CONFLICT, "fenced");
}

static bool
fake_send(void *context, struct producer *producer, const struct producer_record *record, size_t index,
          bool *is_full, struct err *err)
{
    (void)err;
    *is_full = chance(of(context), 50) == 0;
    if (*is_full)
        return true;
    int64_t id = 0;
    for (size_t i = 0; i < record->header_count; i++)
        if (bytes_equal_text(record->headers[i].name, "redrive-event-id"))
            id = strtoll(record->headers[i].value.data, NULL, 10);
    assert_true(id >= 1 && id <= ITEMS);
    producer->ids[producer->count] = id;
    producer->index[producer->count++] = index;
    return true;
}

static bool
fake_serve(void *context, struct producer *producer, int wait_ms, struct report *reports, size_t room,
           size_t *count, struct err *err)
{
    (void)wait_ms;
    *count = 0;
    struct fake *fake = of(context);
    if (fault(fake) == FAULT_BEFORE && fake->is_transactional)
        return lost(err);
    bool has_poison = false;
    for (size_t i = producer->reported; fake->forbidden && producer->slot && i < producer->count; i++)
        producer->is_broken = producer->is_broken || producer->ids[i] > fake->forbidden;
    for (size_t i = producer->reported; i < producer->count; i++)
        has_poison = has_poison || producer->ids[i] == fake->poison;
    for (; producer->reported < producer->count && *count < room; producer->reported++, ++*count) {
        int64_t id = producer->ids[producer->reported];
        struct report *report = &reports[*count];
        *report = (struct report){.index = producer->index[producer->reported], .kind = REPORT_DELIVERED};
        report->cause = ERR_DENIED;
        if (!is_current(producer, NULL) || producer->is_broken)
            report->kind = REPORT_BROKEN;
        else if (has_poison && (!producer->is_isolating || id == fake->poison))
            report->kind = REPORT_BATCH;
        else if (fake->forbidden && id > fake->forbidden)
            report->kind = REPORT_TOPIC;
        if (report->kind != REPORT_DELIVERED) {
            snprintf(report->reason, sizeof report->reason, "a reason");
        } else if (producer->slot) {
            producer->slot->is_open = true;
            producer->slot->pending.ids[producer->slot->pending.count++] = id;
        } else {
            fake->items[id].copies++;
        }
    }
    return true;
}

static bool
fake_why(void *context, struct producer *producer, struct err *err)
{
    (void)context;
    if (!is_current(producer, err))
        return false;
    return err_set(err, producer->is_broken ? ERR_DENIED : ERR_UNREACHABLE, "the transaction has failed");
}

static void
fake_deny_topic(void *context, const char *name)
{
    (void)context;
    assert_string_equal(name, "forbidden");
}

static bool
fake_mark(void *context, struct producer *producer, enum marker_partition partition, const char *group,
          int64_t seq, const char *id, struct err *err)
{
    enum fault lose = fault(of(context));
    assert_string_equal(group, producer->slot->pg.txn_id);
    if (lose == FAULT_BEFORE || !is_current(producer, err))
        return lost(err);
    producer->slot->is_open = true;
    producer->slot->pending.is_nudge = partition == NONCE_PARTITION;
    if (partition == MARKER_PARTITION) {
        producer->slot->pending.marker = (struct marker){.is_present = true, .seq = seq};
        snprintf(producer->slot->pending.marker.id, sizeof producer->slot->pending.marker.id, "%s", id);
    }
    return lose == NO_FAULT || lost(err);
}

static void
apply_commit(struct fake *fake, struct fake_slot *slot)
{
    for (size_t i = 0; i < slot->pending.count; i++)
        fake->items[slot->pending.ids[i]].copies++;
    if (slot->pending.marker.is_present) {
        slot->stale = slot->marker;
        slot->is_stale = chance(fake, 10) == 0 && fake->fault_percent;
        slot->marker = slot->pending.marker;
    }
    slot->is_open = slot->is_commit_late = false;
    slot->pending = (struct pending){0};
}

// An EndTxn that was delayed takes effect only while its epoch is the newest and its transaction open.
static void
deliver_late(struct fake *fake)
{
    for (int i = 0; i < SLOTS; i++) {
        struct fake_slot *slot = &fake->slots[i];
        if (!slot->is_commit_late || chance(fake, 3))
            continue;
        slot->is_commit_late = false;
        if (slot->late_epoch == slot->epoch && slot->is_open)
            apply_commit(fake, slot);
    }
}

static bool
fake_commit(void *context, struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    (void)wait_ms;
    struct fake *fake = of(context);
    enum fault lose = fault(fake);
    if (!is_current(producer, err))
        return false;
    *done = chance(fake, 4) != 0;
    if (!*done)
        return true;
    if (lose == FAULT_BEFORE) {
        producer->slot->is_commit_late = chance(fake, 2) == 0;
        producer->slot->late_epoch = producer->epoch;
        return lost(err);
    }
    apply_commit(fake, producer->slot);
    return lose == NO_FAULT || lost(err);
}

static struct fake_slot *
slot_named(struct fake *fake, const char *group)
{
    for (int i = 0; i < SLOTS; i++)
        if (strcmp(fake->slots[i].pg.txn_id, group) == 0)
            return &fake->slots[i];
    return NULL; // names of an earlier generation
}

static bool
fake_read_marker(void *context, const char *group, struct marker_reading *reading, struct err *err)
{
    *reading = (struct marker_reading){.is_stable = true};
    struct fake_slot *slot = slot_named(of(context), group);
    if (fault(of(context)))
        return lost(err);
    if (!slot)
        return true;
    reading->is_stable = !slot->is_open && !of(context)->stops_reads && chance(of(context), 4) != 0;
    if (!reading->is_stable)
        return true;
    reading->marker = slot->is_stale ? slot->stale : slot->marker;
    reading->has_nonce = slot->has_nonce && !slot->is_stale;
    reading->nonce = slot->nonce;
    return true;
}

static bool
fake_write_nonce(void *context, const char *group, int64_t nonce, struct err *err)
{
    struct fake_slot *slot = slot_named(of(context), group);
    enum fault lose = fault(of(context));
    if (lose == FAULT_BEFORE || !slot)
        return lost(err);
    slot->is_stale = false; // the write found the coordinator of today
    slot->has_nonce = true;
    slot->nonce = nonce;
    return lose == NO_FAULT || lost(err);
}

static bool
fake_topic(void *context, const char *name, struct topic *topic, struct err *err)
{
    (void)context, (void)name, (void)err;
    *topic = (struct topic){.state = TOPIC_KNOWN, .partitions = 4, .max_bytes = -1};
    return true;
}

static int64_t
fake_smallest_limit(void *context, int64_t otherwise)
{
    (void)context;
    return otherwise;
}

static void
fake_forget_topics(void *context)
{
    (void)context;
}

static const struct publisher_broker broker = {
    .open = fake_open,
    .destroy = fake_destroy,
    .init = fake_init,
    .warm = fake_warm,
    .begin = fake_begin,
    .send = fake_send,
    .serve = fake_serve,
    .why = fake_why,
    .mark = fake_mark,
    .commit = fake_commit,
    .read_marker = fake_read_marker,
    .write_nonce = fake_write_nonce,
    .topic = fake_topic,
    .smallest_limit = fake_smallest_limit,
    .deny_topic = fake_deny_topic,
    .forget_topics = fake_forget_topics,
};

static int64_t
fake_mono(void *context)
{
    return of(context)->now += 1000;
}

static void
fake_sleep(void *context, int64_t us)
{
    of(context)->now += us;
}

static void
fake_uuid(void *context, char out[UUID_TEXT])
{
    snprintf(out, UUID_TEXT, "chunk-%lld", (long long)++of(context)->chunks);
}

static int64_t
fake_random(void *context)
{
    return (int64_t)chance(of(context), INT64_MAX);
}

static void
fake_aside(void *context, void (*call)(void *argument), void *argument)
{
    struct process *process = context;
    process->call = call;
    process->argument = argument;
}

// It takes effect when it comes back; what others do meanwhile came first.
static bool
fake_is_back(void *context, int wait_ms)
{
    (void)wait_ms;
    struct process *process = context;
    if (chance(of(context), 3) == 0)
        return false;
    process->call(process->argument);
    return true;
}

static const struct publisher_world clockwork = {
    .mono = fake_mono,
    .sleep = fake_sleep,
    .uuid = fake_uuid,
    .random = fake_random,
    .aside = fake_aside,
    .is_back = fake_is_back,
};

// --- running ---

static void
fake_begin_run(struct fake *fake, uint64_t seed)
{
    *fake = (struct fake){
        .seed = seed, .state = seed * 2654435761u + 88172645463325252u, .is_transactional = true};
    for (int32_t i = 0; i < SLOTS; i++) {
        fake->slots[i].pg.no = i;
        rename_slot(&fake->slots[i]);
    }
}

static void
process_start(struct process *process, struct fake *fake)
{
    static const struct plan_settings plan;
    static int64_t starts;
    process->fake = fake;
    snprintf(process->name, sizeof process->name, "worker-%lld", (long long)++starts);
    const struct publisher_settings settings = {
        .ledger = &ledger,
        .broker = &broker,
        .world = &clockwork,
        .context = process,
        .plan = &plan,
        .is_transactional = fake->is_transactional,
    };
    process->publisher = publisher_create(&settings);
}

static enum publisher_status
process_step(struct process *process, struct err *err)
{
    enum publisher_status status = publisher_step(process->publisher, NULL, 0, 10, err);
    if (status == PUBLISHER_READY)
        publisher_assign(process->publisher, 1, 1 + chance(process->fake, 7));
    return status;
}

static bool
is_finished(const struct fake *fake)
{
    for (int64_t id = 1; id <= ITEMS; id++)
        if (fake->items[id].fate == QUEUED || fake->items[id].fate == CLAIMED)
            return false;
    return true;
}

// One process alone, without faults, until everything has its end.
static void
run_out(struct fake *fake)
{
    struct process last;
    struct err err = {0};
    fake->fault_percent = 0;
    fake->expiry_percent = 100;
    process_start(&last, fake);
    for (int i = 0; i < 20000 && !is_finished(fake); i++) {
        // What is left is on slots of the dead, as the worker would find out.
        if (process_step(&last, &err) == PUBLISHER_EMPTY)
            assert_true(publisher_release(last.publisher, &err));
        deliver_late(fake);
        check_invariants(fake);
    }
    publisher_destroy(last.publisher);
    if (!is_finished(fake))
        fail_msg("seed %llu: it does not come to an end", (unsigned long long)fake->seed);
}

static void
run_schedule(uint64_t seed, int64_t poison, int64_t forbidden)
{
    struct fake fake;
    struct process processes[WORKERS];
    fake_begin_run(&fake, seed);
    fake.fault_percent = (int)chance(&fake, 25);
    fake.expiry_percent = (int)chance(&fake, 20);
    fake.poison = poison;
    fake.forbidden = forbidden;
    for (int i = 0; i < WORKERS; i++)
        process_start(&processes[i], &fake);
    uint64_t crash_odds = 20 + chance(&fake, 200);
    for (int i = 0; i < 1500 && !is_finished(&fake); i++) {
        struct process *process = &processes[chance(&fake, WORKERS)];
        struct err err = {0};
        process_step(process, &err);
        deliver_late(&fake);
        check_invariants(&fake);
        if (chance(&fake, crash_odds) == 0) {
            publisher_destroy(process->publisher);
            process_start(process, &fake);
        }
    }
    for (int i = 0; i < WORKERS; i++)
        publisher_destroy(processes[i].publisher);
    run_out(&fake);
    for (int i = 0; i < SLOTS; i++)
        if (fake.slots[i].is_quarantined)
            fail_msg("seed %llu: slot %d is quarantined", (unsigned long long)seed, i);
    for (int64_t id = 1; id <= ITEMS; id++)
        if (fake.items[id].fate != (id == poison || (forbidden && id > forbidden) ? REFUSED : DONE))
            fail_msg("seed %llu: event %lld ended as %d", (unsigned long long)seed, (long long)id,
                     (int)fake.items[id].fate);
}

static void
seeds(uint64_t *first, uint64_t *count)
{
    const char *wish = getenv("REDRIVE_SEEDS");
    *first = 1;
    *count = 400;
    if (wish) {
        char *end;
        *first = strtoull(wish, &end, 10);
        *count = *end == ',' ? strtoull(end + 1, NULL, 10) : 1;
    }
}

static void
publishes_exactly_once_in_every_schedule(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds(&first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 0, 0);
}

static void
refuses_the_one_poisonous_record(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds(&first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 1 + (int64_t)(seed % ITEMS), 0);
}

static void
refuses_what_goes_to_a_forbidden_topic(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds(&first, &count);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_schedule(seed, 0, 1 + (int64_t)(seed % ITEMS));
}

// --- what a marker says ---

static void
judges_markers(void **state)
{
    (void)state;
    const struct slot slot = {.settled_seq = 7, .settled_id = "seven"};
    const struct chunk none = {0}, eight = {.exists = true, .seq = 8, .id = "eight"};
    const struct {
        struct marker marker;
        enum marker_verdict idle, busy;
    } cases[] = {
        {{.is_present = false}, VERDICT_ABSENT, VERDICT_ABSENT},
        {{true, 7, "seven"}, VERDICT_SETTLED, VERDICT_SETTLED},
        {{true, 7, "other"}, VERDICT_FOREIGN, VERDICT_FOREIGN},
        {{true, 8, "eight"}, VERDICT_AHEAD, VERDICT_COMMITTED},
        {{true, 8, "other"}, VERDICT_AHEAD, VERDICT_FOREIGN},
        {{true, 9, "nine"}, VERDICT_AHEAD, VERDICT_AHEAD},
        {{true, 6, "six"}, VERDICT_FOREIGN, VERDICT_FOREIGN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(marker_judge(&slot, &none, &cases[i].marker), cases[i].idle);
        assert_int_equal(marker_judge(&slot, &eight, &cases[i].marker), cases[i].busy);
    }
}

// Steps one publisher until `wanted`, at most 200 times.
static bool
step_until(struct process *process, enum publisher_status wanted)
{
    for (int i = 0; i < 200; i++) {
        struct err err = {0};
        enum publisher_status status = publisher_step(process->publisher, NULL, 0, 10, &err);
        if (status == wanted)
            return true;
        if (status == PUBLISHER_READY)
            publisher_assign(process->publisher, 1, 10);
    }
    return false;
}

// A slot that has published, and nobody who holds it.
static void
publish_some(struct fake *fake, struct process *process)
{
    fake_begin_run(fake, 42);
    for (int i = 1; i < SLOTS; i++)
        fake->slots[i].is_quarantined = true;
    process_start(process, fake);
    assert_true(step_until(process, PUBLISHER_SETTLED));
    publisher_destroy(process->publisher);
    fake->slots[0].holder[0] = '\0';
    process_start(process, fake);
}

static void
stops_when_postgresql_has_lost_work(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    fake.slots[0].marker.seq += 3; // what Kafka knows and PostgreSQL has forgotten
    assert_true(step_until(&process, PUBLISHER_STOPPED));
    assert_true(fake.slots[0].is_quarantined);
    publisher_destroy(process.publisher);
}

// Between its look at the slot and at the marker another one took the slot and published: what it sees then
// is not lost work, and its fence has moved.
static void
goes_on_when_the_slot_was_lost_before_the_marker_was_read(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    struct err err = {0};
    while (!fake.slots[0].has_nonce || !fake.slots[0].holder[0])
        process_step(&process, &err);
    fake.slots[0].pg.fence++;
    fake.slots[0].marker.seq = fake.slots[0].pg.settled_seq = ++fake.slots[0].next_seq;
    snprintf(fake.slots[0].marker.id, sizeof fake.slots[0].marker.id, "other");
    snprintf(fake.slots[0].pg.settled_id, UUID_TEXT, "other");
    assert_true(step_until(&process, PUBLISHER_SETTLED));
    assert_false(fake.slots[0].is_quarantined);
    publisher_destroy(process.publisher);
}

static void
gives_a_slot_without_marker_new_names(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    fake.slots[0].marker.is_present = false; // expired
    assert_true(step_until(&process, PUBLISHER_SETTLED));
    assert_int_equal(fake.slots[0].pg.generation, 2);
    publisher_destroy(process.publisher);
}

static void
never_takes_absence_for_an_abort(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    while (!fake.slots[0].chunk.exists) {
        struct err err = {0};
        process_step(&process, &err);
    }
    publisher_destroy(process.publisher);
    fake.slots[0].holder[0] = '\0';
    fake.slots[0].marker.is_present = false;
    process_start(&process, &fake);
    assert_true(step_until(&process, PUBLISHER_NO_SLOT));
    assert_true(fake.slots[0].is_quarantined);
    int held = 0;
    for (int64_t id = 1; id <= ITEMS; id++)
        held += fake.items[id].fate == HELD;
    assert_true(held > 0);
    publisher_destroy(process.publisher);
}

static void
puts_a_foreign_marker_in_quarantine(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    snprintf(fake.slots[0].marker.id, sizeof fake.slots[0].marker.id, "somebody else");
    assert_true(step_until(&process, PUBLISHER_NO_SLOT));
    assert_true(fake.slots[0].is_quarantined);
    publisher_destroy(process.publisher);
}

static void
decides_nothing_while_the_marker_is_unstable(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    while (!fake.slots[0].chunk.exists) {
        struct err err = {0};
        process_step(&process, &err);
    }
    publisher_destroy(process.publisher);
    fake.slots[0].holder[0] = '\0';
    fake.stops_reads = true;
    process_start(&process, &fake);
    for (int i = 0; i < 100000; i++) {
        struct err err = {0};
        enum publisher_status status = process_step(&process, &err);
        assert_true(status != PUBLISHER_SETTLED && status != PUBLISHER_RETURNED && status != PUBLISHER_READY);
    }
    assert_true(fake.slots[0].chunk.exists);
    fake.stops_reads = false;
    publisher_destroy(process.publisher);
    run_out(&fake);
}

static void
without_transactions_it_holds_what_is_not_sure(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    fake_begin_run(&fake, 7);
    fake.is_transactional = false;
    fake.poison = 3;
    fake.forbidden = 35;
    process_start(&process, &fake);
    for (int i = 0; i < 3000 && !is_finished(&fake); i++) {
        struct err err = {0};
        process_step(&process, &err);
        check_invariants(&fake);
    }
    publisher_destroy(process.publisher);
    for (int64_t id = 1; id <= ITEMS; id++)
        assert_int_equal(fake.items[id].fate, id == 3 || id > 35 ? REFUSED : DONE);

    // The next one dies with a chunk in hand: nobody can know.
    fake_begin_run(&fake, 8);
    fake.is_transactional = false;
    process_start(&process, &fake);
    while (!fake.slots[0].chunk.exists && !fake.slots[1].chunk.exists && !fake.slots[2].chunk.exists) {
        struct err err = {0};
        process_step(&process, &err);
    }
    publisher_destroy(process.publisher);
    fake.expiry_percent = 100;
    process_start(&process, &fake);
    for (int i = 0; i < 3000 && !is_finished(&fake); i++) {
        struct err err = {0};
        process_step(&process, &err);
    }
    publisher_destroy(process.publisher);
    int held = 0;
    for (int64_t id = 1; id <= ITEMS; id++)
        held += fake.items[id].fate == HELD;
    assert_true(held > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_markers),
        cmocka_unit_test(publishes_exactly_once_in_every_schedule),
        cmocka_unit_test(refuses_the_one_poisonous_record),
        cmocka_unit_test(refuses_what_goes_to_a_forbidden_topic),
        cmocka_unit_test(stops_when_postgresql_has_lost_work),
        cmocka_unit_test(goes_on_when_the_slot_was_lost_before_the_marker_was_read),
        cmocka_unit_test(gives_a_slot_without_marker_new_names),
        cmocka_unit_test(never_takes_absence_for_an_abort),
        cmocka_unit_test(puts_a_foreign_marker_in_quarantine),
        cmocka_unit_test(decides_nothing_while_the_marker_is_unstable),
        cmocka_unit_test(without_transactions_it_holds_what_is_not_sure),
    };
    return cmocka_run_group_tests_name("publisher", tests, NULL, NULL);
}
