// Kafka's half: what its coordinators hold, and what a client sees of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "tests/unit/fake.h"

struct producer {
    struct fake *fake;
    struct fake_slot *slot; // NULL: no transactions
    int64_t epoch;          // 0: not initialised
    int waits;
    bool is_isolating;
    int64_t batch_bytes;
    int64_t ids[FAKE_ITEMS];
    size_t index[FAKE_ITEMS];
    size_t count, reported;
    bool is_broken; // a topic that may not join the transaction took all others with it
};

static bool
fake_open(void *context, const struct producer_settings *how, struct producer **producer, struct err *err)
{
    struct fake *fake = fake_of(context);
    *producer = NULL;
    if (fake->failing_opens > 0) {
        fake->failing_opens--;
        return fake_lost(err);
    }
    *producer = alloc_bytes(sizeof **producer);
    (*producer)->fake = fake;
    (*producer)->is_isolating = how->is_isolating;
    (*producer)->batch_bytes = how->batch_bytes;
    (*producer)->waits = (int)fake_chance(fake, 3);
    for (int i = 0; how->txn_id && i < FAKE_SLOTS; i++)
        if (strcmp(fake->slots[i].pg.txn_id, how->txn_id) == 0)
            (*producer)->slot = &fake->slots[i];
    return true;
}

static void
fake_destroy(struct producer *producer)
{
    free(producer);
}

static bool
fake_init(struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    (void)wait_ms;
    *done = !producer->fake->stalls_init && producer->waits-- <= 0;
    if (!*done || !producer->slot)
        return true;
    if (fake_fault(producer->fake) == FAULT_BEFORE)
        return fake_lost(err);
    struct fake_slot *slot = producer->slot;
    slot->is_open = false; // fencing aborts
    slot->pending = (struct pending){0};
    producer->epoch = ++slot->epoch;
    return fake_fault(producer->fake) != FAULT_AFTER || fake_lost(err);
}

static bool
fake_warm(struct producer *producer, const char *const *topics, size_t count, struct err *err)
{
    (void)producer, (void)topics, (void)count, (void)err;
    return true;
}

static bool
fake_begin(struct producer *producer, struct err *err)
{
    struct fake *fake = producer->fake;
    assert_true(!producer->slot || producer->epoch);
    return fake->failing_begins == 0 || (fake->failing_begins--, fake_lost(err));
}

static bool
is_current(const struct producer *producer, struct err *err)
{
    return !producer->slot || producer->epoch == producer->slot->epoch ||
           err_set(err, ERR_CONFLICT, "fenced");
}

static bool
fake_send(struct producer *producer, const struct producer_record *record, size_t index, bool *is_full,
          struct err *err)
{
    (void)err;
    *is_full = fake_chance(producer->fake, 50) == 0;
    if (*is_full)
        return true;
    int64_t id = 0;
    for (size_t i = 0; i < record->header_count; i++)
        if (bytes_equal_text(record->headers[i].name, "redrive-event-id"))
            id = strtoll(record->headers[i].value.data, NULL, 10);
    assert_true(id >= 1 && id <= FAKE_ITEMS);
    const struct fake *fake = producer->fake;
    assert_true(!fake->is_limit_known || producer->batch_bytes <= fake->limit);
    assert_true(fake->has_forbidden || strcmp(record->topic, "forbidden") != 0);
    producer->ids[producer->count] = id;
    producer->index[producer->count++] = index;
    return true;
}

static bool
fake_serve(struct producer *producer, int wait_ms, struct report *reports, size_t room, size_t *count,
           struct err *err)
{
    (void)wait_ms;
    *count = 0;
    struct fake *fake = producer->fake;
    if (fake_fault(fake) == FAULT_BEFORE && fake->is_transactional)
        return fake_lost(err);
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
        else if (id == fake->late)
            report->kind = REPORT_LATE;
        fake->items[id].copies += report->kind == REPORT_LATE && !producer->slot;
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
fake_why(struct producer *producer, struct err *err)
{
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
fake_mark(struct producer *producer, enum marker_partition partition, const char *group, int64_t seq,
          const char *id, struct err *err)
{
    enum fault lose = fake_fault(producer->fake);
    assert_string_equal(group, producer->slot->pg.txn_id);
    if (lose == FAULT_BEFORE || !is_current(producer, err))
        return fake_lost(err);
    producer->slot->is_open = true;
    producer->slot->pending.is_nudge = partition == NONCE_PARTITION;
    producer->fake->nudges += partition == NONCE_PARTITION;
    if (partition == MARKER_PARTITION) {
        producer->slot->pending.marker = (struct marker){.is_present = true, .seq = seq};
        snprintf(producer->slot->pending.marker.id, sizeof producer->slot->pending.marker.id, "%s", id);
    }
    return lose == NO_FAULT || fake_lost(err);
}

static void
apply_commit(struct fake *fake, struct fake_slot *slot)
{
    for (size_t i = 0; i < slot->pending.count && !fake->forgets_commits; i++)
        fake->items[slot->pending.ids[i]].copies++;
    if (slot->pending.marker.is_present && !fake->forgets_commits) {
        slot->stale = slot->marker;
        slot->is_stale = fake_chance(fake, 10) == 0 && fake->fault_percent;
        slot->marker = slot->pending.marker;
    }
    slot->is_open = slot->is_commit_late = false;
    slot->pending = (struct pending){0};
}

void
fake_deliver_late(struct fake *fake)
{
    for (int i = 0; i < FAKE_SLOTS; i++) {
        struct fake_slot *slot = &fake->slots[i];
        if (!slot->is_commit_late || fake_chance(fake, 3))
            continue;
        slot->is_commit_late = false;
        if (slot->late_epoch == slot->epoch && slot->is_open)
            apply_commit(fake, slot);
    }
}

static bool
fake_commit(struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    (void)wait_ms;
    struct fake *fake = producer->fake;
    enum fault lose = fake_fault(fake);
    if (!is_current(producer, err))
        return false;
    *done = fake_chance(fake, 4) != 0 && !fake->stalls_commits;
    if (!*done)
        return true;
    if (lose == FAULT_BEFORE) {
        producer->slot->is_commit_late = fake_chance(fake, 2) == 0;
        producer->slot->late_epoch = producer->epoch;
        return fake_lost(err);
    }
    apply_commit(fake, producer->slot);
    return lose == NO_FAULT || fake_lost(err);
}

static struct fake_slot *
slot_named(struct fake *fake, const char *group)
{
    for (int i = 0; i < FAKE_SLOTS; i++)
        if (strcmp(fake->slots[i].pg.txn_id, group) == 0)
            return &fake->slots[i];
    return NULL; // names of an earlier generation
}

static bool
fake_read_marker(void *context, const char *group, struct marker_reading *reading, struct err *err)
{
    *reading = (struct marker_reading){.is_stable = true};
    struct fake_slot *slot = slot_named(fake_of(context), group);
    if (fake_fault(fake_of(context)))
        return fake_lost(err);
    if (!slot)
        return true;
    reading->is_stable =
        !slot->is_open && !fake_of(context)->stops_reads && fake_chance(fake_of(context), 4) != 0;
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
    struct fake_slot *slot = slot_named(fake_of(context), group);
    enum fault lose = fake_fault(fake_of(context));
    if (lose == FAULT_BEFORE || !slot)
        return fake_lost(err);
    slot->is_stale = false; // the write found the coordinator of today
    slot->has_nonce = true;
    slot->nonce = nonce;
    return lose == NO_FAULT || fake_lost(err);
}

static bool
fake_topic(void *context, const char *name, struct topic *topic, struct err *err)
{
    (void)err;
    struct fake *fake = fake_of(context);
    fake->is_limit_known = fake->limit > 0;
    *topic = (struct topic){.state = TOPIC_KNOWN, .partitions = 4, .max_bytes = -1};
    if (!fake->has_forbidden && strcmp(name, "forbidden") == 0)
        topic->state = TOPIC_MISSING;
    return true;
}

static int64_t
fake_smallest_limit(void *context, int64_t otherwise)
{
    const struct fake *fake = fake_of(context);
    return fake->is_limit_known ? fake->limit : otherwise;
}

static void
fake_forget_topics(void *context)
{
    (void)context;
}

const struct publisher_broker fake_broker = {
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
