// PostgreSQL's half: each function is one transaction, as in store/operations/ledger.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/unit/fake.h"

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
    enum fault lose = fake_fault(fake);
    if (lose == FAULT_BEFORE)
        return fake_lost(err);
    struct fake_slot *best = NULL;
    for (int i = 0; i < FAKE_SLOTS; i++) {
        struct fake_slot *candidate = &fake->slots[i];
        bool is_free = !candidate->holder[0] || strcmp(candidate->holder, process->name) == 0 ||
                       (int)fake_chance(fake, 100) < fake->expiry_percent;
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
    return lose == NO_FAULT || fake_lost(err);
}

static bool
fake_check(void *context, struct slot *slot, struct chunk *unfinished, struct err *err)
{
    struct fake_slot *mine = fenced(fake_of(context), slot, err);
    if (!mine)
        return false;
    if (fake_fault(fake_of(context)))
        return fake_lost(err);
    *slot = mine->pg;
    slot->is_marker_old = slot->is_provisioned && fake_chance(fake_of(context), 8) == 0;
    *unfinished = mine->chunk;
    return true;
}

static bool
fake_heartbeat(void *context, const struct slot *slot, struct err *err)
{
    fake_of(context)->beats++;
    return fenced(fake_of(context), slot, err) != NULL;
}

static bool
fake_provisioned(void *context, struct slot *slot, struct err *err)
{
    enum fault lose = fake_fault(fake_of(context));
    struct fake_slot *mine =
        lose == FAULT_BEFORE ? (fake_lost(err), NULL) : fenced(fake_of(context), slot, err);
    if (!mine)
        return false;
    mine->pg.is_provisioned = slot->is_provisioned = true;
    return lose == NO_FAULT || fake_lost(err);
}

static bool
fake_release(void *context, const struct slot *slot, struct err *err)
{
    struct fake_slot *mine = fenced(fake_of(context), slot, err);
    if (mine)
        mine->holder[0] = '\0';
    return mine != NULL;
}

static bool
fake_suspend(void *context, const struct slot *slot, const char *evidence, struct err *err)
{
    struct fake_slot *mine = fenced(fake_of(context), slot, err);
    assert_non_null(evidence);
    if (mine)
        mine->is_quarantined = true;
    return mine != NULL;
}

void
fake_rename_slot(struct fake_slot *slot)
{
    slot->pg.generation++;
    slot->pg.finished_seq = 0;
    snprintf(slot->pg.finished_id, sizeof slot->pg.finished_id, "install");
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
    struct fake_slot *mine = fenced(fake_of(context), slot, err);
    assert_non_null(why);
    if (!mine)
        return false;
    assert_false(mine->chunk.exists);
    fake_rename_slot(mine);
    *slot = mine->pg;
    return true;
}

static bool
fake_claim(void *context, struct slot *slot, int64_t operation, const char *chunk_id, size_t limit,
           uint64_t max_bytes, struct arena *arena, struct claim *claim, struct err *err)
{
    struct fake *fake = fake_of(context);
    enum fault lose = fake_fault(fake);
    struct fake_slot *mine = lose == FAULT_BEFORE ? (fake_lost(err), NULL) : fenced(fake, slot, err);
    *claim = (struct claim){.rate = -1, .requested_by = "ana"};
    if (!mine)
        return false;
    assert_false(mine->chunk.exists);
    assert_true(max_bytes > 0);
    claim->items = arena_array(arena, FAKE_ITEMS, sizeof *claim->items);
    for (int64_t id = 1; id <= FAKE_ITEMS && claim->count < limit; id++) {
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
    return lose == NO_FAULT || fake_lost(err);
}

static bool
fake_finish(void *context, struct slot *slot, const struct chunk *chunk, enum chunk_state outcome,
            const char *evidence, struct err *err)
{
    struct fake *fake = fake_of(context);
    enum fault lose = fake_fault(fake);
    struct fake_slot *mine = lose == FAULT_BEFORE ? (fake_lost(err), NULL) : fenced(fake, slot, err);
    if (!mine)
        return false;
    assert_non_null(evidence);
    if (!mine->chunk.exists || strcmp(mine->chunk.id, chunk->id) != 0)
        return err_set(err, ERR_CONFLICT, "chunk %s is finished", chunk->id);
    int32_t count = 0;
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        if (fake->items[id].fate == CLAIMED && strcmp(fake->items[id].chunk, chunk->id) == 0) {
            fake->items[id].fate = outcome == CHUNK_COMMITTED ? DONE
                                   : outcome == CHUNK_ABORTED ? QUEUED
                                                              : HELD;
            count++;
        }
    assert_int_equal(count, chunk->count);
    if (outcome == CHUNK_COMMITTED) {
        mine->pg.finished_seq = chunk->seq;
        snprintf(mine->pg.finished_id, UUID_TEXT, "%s", chunk->id);
    }
    mine->is_quarantined = outcome == CHUNK_IN_DOUBT;
    mine->chunk.exists = outcome == CHUNK_IN_DOUBT;
    *slot = mine->pg;
    return lose == NO_FAULT || fake_lost(err);
}

static bool
fake_finish_scanned(void *context, struct slot *slot, const struct chunk *chunk, const int64_t *published,
                    size_t count, const char *evidence, struct err *err)
{
    struct fake *fake = fake_of(context);
    struct fake_slot *mine = fenced(fake, slot, err);
    if (!mine)
        return false;
    assert_non_null(evidence);
    for (int64_t id = 1; id <= FAKE_ITEMS; id++) {
        if (fake->items[id].fate != CLAIMED || strcmp(fake->items[id].chunk, chunk->id) != 0)
            continue;
        fake->items[id].fate = QUEUED;
        for (size_t i = 0; i < count; i++)
            if (published[i] == id)
                fake->items[id].fate = DONE;
    }
    mine->chunk.exists = false;
    fake_rename_slot(mine);
    *slot = mine->pg;
    return true;
}

static bool
fake_refuse(void *context, const struct slot *slot, int64_t operation, const struct refusal *refusals,
            size_t count, struct err *err)
{
    (void)operation;
    struct fake *fake = fake_of(context);
    enum fault lose = fake_fault(fake);
    struct fake_slot *mine = lose == FAULT_BEFORE ? (fake_lost(err), NULL) : fenced(fake, slot, err);
    if (!mine)
        return false;
    for (size_t i = 0; i < count; i++) {
        assert_non_null(refusals[i].reason);
        if (fake->items[refusals[i].event_id].fate == QUEUED)
            fake->items[refusals[i].event_id].fate = REFUSED;
    }
    return lose == NO_FAULT || fake_lost(err);
}

static bool
fake_originals(void *context, const struct event *const *events, size_t count, struct arena *arena,
               struct original *originals, struct err *err)
{
    (void)context, (void)events, (void)count, (void)arena, (void)originals;
    return err_set(err, ERR_INTERNAL, "nothing here has an original");
}

const struct publisher_ledger fake_ledger = {
    .acquire = fake_acquire,
    .check = fake_check,
    .heartbeat = fake_heartbeat,
    .provisioned = fake_provisioned,
    .release = fake_release,
    .suspend = fake_suspend,
    .retire = fake_retire,
    .claim = fake_claim,
    .finish = fake_finish,
    .finish_scanned = fake_finish_scanned,
    .refuse = fake_refuse,
    .originals = fake_originals,
};
