// PostgreSQL's half in memory: each function is one transaction, as in store/operations/ledger.h. An answer
// can be lost before or after the commit.
#include "tests/sim/sim_world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "publish/broken.h"

static bool
lost(void *context, const char *what, enum sim_luck luck, struct err *err)
{
    struct sim *sim = sim_of(context);
    if (sim->sights)
        sim->sights->lost_answers++;
    sim_say(sim, "%s: %s: the connection to PostgreSQL breaks %s", sim_who(context), what,
            luck == SIM_LOST ? "before the commit" : "after the commit; it cannot know");
    return err_set(err, ERR_UNREACHABLE, "no answer");
}

// Is the session that of a database that was replaced? Then no call arrives.
static bool
is_away(void *context, struct err *err)
{
    struct sim_process *process = context;
    if (!process->is_away)
        return false;
    process->has_noticed = true;
    sim_say(process->sim, "%s: PostgreSQL was away", process->name);
    err_set(err, ERR_UNREACHABLE, "away");
    return true;
}

static bool
fenced_out(void *context, const char *what, const struct slot *slot, struct err *err)
{
    sim_say(sim_of(context), "%s: %s: refused, the fence of slot %d has moved past %" PRId64,
            sim_who(context), what, (int)slot->no, slot->fence);
    return err_set(err, ERR_CONFLICT, "taken over");
}

static bool
is_free(struct sim *sim, const struct sim_slot *slot, const char *name)
{
    return !slot->holder[0] || strcmp(slot->holder, name) == 0 || sim->is_quiet ||
           sim_happens(sim, sim->expiry_rate);
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
pg_acquire(void *context, const int32_t *mine, size_t mine_count, struct slot *slot, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (luck == SIM_LOST)
        return lost(context, "takes a slot", luck, err);
    struct sim_slot *best = NULL;
    for (int i = 0; i < sim->slot_count; i++) {
        struct sim_slot *candidate = &sim->slots[i];
        if (!candidate->is_suspended && !is_among(mine, mine_count, i) &&
            is_free(sim, candidate, sim_who(context)) &&
            (!best || (candidate->chunk.exists && !best->chunk.exists)))
            best = candidate;
    }
    if (!best)
        return err_set(err, ERR_NOT_FOUND, "none is free");
    bool is_foreign = best->holder[0] && strcmp(best->holder, sim_who(context)) != 0;
    if (is_foreign && sim->sights)
        sim->sights->takeovers++;
    best->row.fence++;
    sim_say(sim, "%s takes slot %d: fence %" PRId64 "%s%s%s", sim_who(context), (int)best->row.no,
            best->row.fence, is_foreign ? "; the lease of " : "", is_foreign ? best->holder : "",
            is_foreign ? " has passed" : "");
    snprintf(best->holder, sizeof best->holder, "%s", sim_who(context));
    *slot = best->row;
    return luck == SIM_ANSWERED || lost(context, "takes a slot", luck, err);
}

static bool
pg_check(void *context, struct slot *slot, struct chunk *unfinished, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim *sim = sim_of(context);
    struct sim_slot *mine = &sim->slots[slot->no];
    bool is_asked = slot->fence != -1 || !broken(BROKEN_NO_FENCE);
    if (is_asked && mine->row.fence != slot->fence)
        return fenced_out(context, "looks at its slot", slot, err);
    if (sim_luck(sim, false) != SIM_ANSWERED)
        return lost(context, "looks at its slot", SIM_LOST, err);
    *slot = mine->row;
    slot->is_marker_old = slot->is_provisioned && sim_choose(sim, 16) == 15;
    *unfinished = mine->chunk;
    sim_say(sim, "%s looks at slot %d: fence %" PRId64 ", unfinished: %s", sim_who(context), (int)slot->no,
            slot->fence, unfinished->exists ? unfinished->id : "nothing");
    return true;
}

static bool
pg_heartbeat(void *context, const struct slot *slot, struct err *err)
{
    if (is_away(context, err))
        return false;
    sim_of(context)->beats++;
    return sim_of(context)->slots[slot->no].row.fence == slot->fence ||
           fenced_out(context, "extends its lease", slot, err);
}

static bool
pg_provisioned(void *context, struct slot *slot, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (luck == SIM_LOST)
        return lost(context, "notes the first marker", luck, err);
    struct sim_slot *mine = &sim->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "notes the first marker", slot, err);
    mine->row.is_provisioned = slot->is_provisioned = true;
    return luck == SIM_ANSWERED || lost(context, "notes the first marker", luck, err);
}

static bool
pg_release(void *context, const struct slot *slot, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim_slot *mine = &sim_of(context)->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "lets its slot go", slot, err);
    mine->holder[0] = '\0';
    sim_say(sim_of(context), "%s lets slot %d go", sim_who(context), (int)slot->no);
    return true;
}

static bool
pg_suspend(void *context, const struct slot *slot, const char *evidence, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim_slot *mine = &sim_of(context)->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "suspends its slot", slot, err);
    mine->is_suspended = true;
    if (!sim_of(context)->is_strict || sim_of(context)->is_forked || sim_of(context)->has_expired)
        return true;
    sim_fail(sim_of(context), "%s suspends slot %d: %s", sim_who(context), (int)slot->no, evidence);
    return err_set(err, ERR_CONFLICT, "suspended");
}

static bool
pg_retire(void *context, struct slot *slot, const char *why, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim_slot *mine = &sim_of(context)->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "retires its slot", slot, err);
    // Kafka's names are those of both databases; and a search gives others.
    if (sim_of(context)->is_forked || sim_of(context)->has_expired)
        return !(mine->is_suspended = true) || err_set(err, ERR_CONFLICT, "retired");
    if (sim_of(context)->is_strict) {
        sim_fail(sim_of(context), "%s retires slot %d: %s", sim_who(context), (int)slot->no, why);
        return err_set(err, ERR_CONFLICT, "retired");
    }
    if (mine->chunk.exists)
        sim_fail(sim_of(context), "%s retires a slot with an unfinished chunk", sim_who(context));
    sim_name_slot(mine, mine->row.generation + 1);
    *slot = mine->row;
    return true;
}

static struct bytes
topic_of(const struct sim *sim, int64_t event)
{
    return sim->wishes.forbidden && event > sim->wishes.forbidden ? BYTES("forbidden") : BYTES("t");
}

static size_t
pick(struct sim *sim, int64_t chunk, size_t limit, struct claimed_item *items)
{
    size_t count = 0;
    for (int64_t id = 1; id <= sim->event_count && count < limit; id++) {
        struct sim_event *event = &sim->events[id];
        if (event->fate != SIM_QUEUED)
            continue;
        event->fate = SIM_CLAIMED;
        event->chunk = chunk;
        items[count++] = (struct claimed_item){
            .event_id = id,
            .attempt = 1,
            .event = {.id = id, .topic = topic_of(sim, id), .payload = BYTES("{}")},
        };
        items[count - 1].event.origin.has_partition = items[count - 1].event.origin.has_offset =
            sim->wishes.has_originals;
    }
    return count;
}

static int64_t
chunk_number(const char *id)
{
    return strtoll(id + 1, NULL, 10); // "#7"
}

static bool
pg_claim(void *context, struct slot *slot, int64_t operation, const char *chunk_id, size_t limit,
         uint64_t max_bytes, struct arena *arena, struct claim *claim, struct err *err)
{
    if (is_away(context, err))
        return false;
    (void)max_bytes;
    struct sim *sim = sim_of(context);
    if (sim->wishes.failing_claims > 0) {
        sim->wishes.failing_claims--;
        snprintf(err->sqlstate, sizeof err->sqlstate, "55P03"); // lock_not_available
        return err_set(err, ERR_CONFLICT, "another session keeps the rows locked");
    }
    enum sim_luck luck = sim_luck(sim, false);
    if (luck == SIM_LOST)
        return lost(context, "claims", luck, err);
    struct sim_slot *mine = &sim->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "claims", slot, err);
    *claim = (struct claim){.rate = -1, .requested_by = "ana"};
    claim->items = arena_array(arena, SIM_EVENTS, sizeof *claim->items);
    if (mine->chunk.exists) {
        sim_fail(sim, "slot %d gets a second unfinished chunk", (int)slot->no);
        return err_set(err, ERR_CONFLICT, "unfinished");
    }
    claim->count = pick(sim, chunk_number(chunk_id), limit, claim->items);
    if (claim->count == 0)
        return true;
    claim->chunk = (struct chunk){.exists = true,
                                  .seq = ++mine->next_seq,
                                  .operation = operation,
                                  .count = (int32_t)claim->count,
                                  .created_at = sim->now + sim->skew};
    snprintf(claim->chunk.id, UUID_SIZE, "%s", chunk_id);
    mine->chunk = claim->chunk;
    mine->ends = -1;
    sim_say(sim, "%s claims chunk %s in slot %d: events %" PRId64 " to %" PRId64, sim_who(context), chunk_id,
            (int)slot->no, claim->items[0].event_id, claim->items[claim->count - 1].event_id);
    return luck == SIM_ANSWERED || lost(context, "claims", luck, err);
}

static bool
pg_ends(void *context, const struct slot *slot, const char *chunk_id, const char *const *ends, size_t count,
        struct err *err)
{
    (void)chunk_id;
    if (is_away(context, err))
        return false;
    struct sim_slot *mine = &sim_of(context)->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "notes where its topics end", slot, err);
    mine->ends = count ? strtoll(strchr(ends[0], ' '), NULL, 10) : -1;
    return true;
}

// The chunk's events get the fate that the outcome says; how many there are.
static int32_t
finish_items(struct sim *sim, const struct chunk *chunk, enum chunk_state outcome)
{
    static const enum sim_fate fates[] = {
        [CHUNK_COMMITTED] = SIM_RESOLVED, [CHUNK_ABORTED] = SIM_QUEUED, [CHUNK_IN_DOUBT] = SIM_IN_DOUBT};
    int32_t count = 0;
    for (int64_t id = 1; id <= sim->event_count; id++)
        if (sim->events[id].fate == SIM_CLAIMED && sim->events[id].chunk == chunk_number(chunk->id)) {
            sim->events[id].fate = fates[outcome];
            count++;
        }
    return count;
}

static void
count_finished(struct sim_sights *sights, enum chunk_state outcome, const char *evidence)
{
    bool is_recovery = strncmp(evidence, "the marker", strlen("the marker")) == 0;
    sights->finished += outcome == CHUNK_COMMITTED;
    sights->recovered_published += outcome == CHUNK_COMMITTED && is_recovery;
    sights->recovered_unpublished += outcome == CHUNK_ABORTED;
}

static const char *
outcome_words(enum chunk_state outcome)
{
    static const char *const words[] = {[CHUNK_COMMITTED] = "published",
                                        [CHUNK_ABORTED] = "not published, its events are queued again",
                                        [CHUNK_IN_DOUBT] = "in doubt"};
    return words[outcome];
}

static bool
pg_finish(void *context, struct slot *slot, const struct chunk *chunk, enum chunk_state outcome,
          const char *evidence, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (luck == SIM_LOST)
        return lost(context, "finishes", luck, err);
    struct sim_slot *mine = &sim->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "finishes", slot, err);
    if (!mine->chunk.exists || strcmp(mine->chunk.id, chunk->id) != 0)
        return err_set(err, ERR_CONFLICT, "chunk %s is finished", chunk->id);
    if (outcome == CHUNK_IN_DOUBT && sim->is_strict && !sim->is_forked && !sim->has_expired) {
        sim_fail(sim, "%s puts chunk %s in doubt: %s", sim_who(context), chunk->id, evidence);
        return err_set(err, ERR_CONFLICT, "doubt");
    }
    sim_say(sim, "%s finishes chunk %s as %s: %s", sim_who(context), chunk->id, outcome_words(outcome),
            evidence);
    if (finish_items(sim, chunk, outcome) != chunk->count)
        sim_fail(sim, "chunk %s is finished with another number of events", chunk->id);
    if (outcome == CHUNK_COMMITTED) {
        mine->row.finished_seq = chunk->seq;
        snprintf(mine->row.finished_id, UUID_SIZE, "%s", chunk->id);
    }
    mine->is_suspended = mine->chunk.exists = outcome == CHUNK_IN_DOUBT;
    *slot = mine->row;
    if (sim->sights)
        count_finished(sim->sights, outcome, evidence);
    return luck == SIM_ANSWERED || lost(context, "finishes", luck, err);
}

static bool
pg_published(void *context, struct slot *slot, const struct chunk *chunk, const struct sent_places *places,
             const char *evidence, struct err *err)
{
    if (places->count != (size_t)chunk->count)
        sim_fail(sim_of(context), "chunk %s: the places of %zu records are known", chunk->id, places->count);
    return pg_finish(context, slot, chunk, CHUNK_COMMITTED, evidence, err);
}

static bool
pg_finish_scanned(void *context, struct slot *slot, const struct chunk *chunk, const int64_t *published,
                  size_t count, const char *evidence, struct err *err)
{
    if (is_away(context, err))
        return false;
    struct sim *sim = sim_of(context);
    struct sim_slot *mine = &sim->slots[slot->no];
    if (mine->row.fence != slot->fence)
        return fenced_out(context, "finishes by a scan", slot, err);
    if (sim->is_strict) {
        sim_fail(sim, "%s finishes chunk %s by a scan: %s", sim_who(context), chunk->id, evidence);
        return err_set(err, ERR_INTERNAL, "not here");
    }
    finish_items(sim, chunk, CHUNK_ABORTED);
    for (size_t i = 0; i < count; i++)
        sim->events[published[i]].fate = SIM_RESOLVED;
    mine->chunk.exists = false;
    sim_name_slot(mine, mine->row.generation + 1);
    *slot = mine->row;
    return true;
}

// Records that no partition took in time, three times in a row, end here.
static bool
pg_refuse(void *context, const struct slot *slot, int64_t operation, const struct refusal *refusals,
          size_t count, struct err *err)
{
    if (is_away(context, err))
        return false;
    (void)operation;
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (luck == SIM_LOST)
        return lost(context, "refuses", luck, err);
    if (sim->slots[slot->no].row.fence != slot->fence)
        return fenced_out(context, "refuses", slot, err);
    for (size_t i = 0; i < count; i++) {
        struct sim_event *event = &sim->events[refusals[i].event_id];
        if (event->fate == SIM_QUEUED)
            event->fate = SIM_REFUSED;
        sim_say(sim, "%s refuses event %" PRId64 ": %s", sim_who(context), refusals[i].event_id,
                refusals[i].reason);
    }
    return luck == SIM_ANSWERED || lost(context, "refuses", luck, err);
}

static bool
pg_originals(void *context, const struct event *const *events, size_t count, struct arena *arena,
             struct original *originals, struct err *err)
{
    (void)arena;
    struct sim *sim = sim_of(context);
    bool is_late = sim->wishes.late_originals > 0;
    if (is_late && sim->wishes.late_originals % 2 == 0) {
        sim->wishes.late_originals--;
        return err_set(err, ERR_UNREACHABLE, "the original records could not all be read");
    }
    for (size_t i = 0; i < count; i++)
        originals[i] = is_late
                           ? (struct original){.state = ORIGINAL_FAILED, .why = "no leader"}
                           : (struct original){.state = ORIGINAL_FOUND, .record.value = events[i]->payload};
    sim->wishes.late_originals -= is_late;
    return true;
}

// --- turns ---

static bool
pg_turn_take(void *context, int64_t since, struct turn *turn, struct err *err)
{
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (is_away(context, err))
        return false;
    if (luck == SIM_LOST)
        return lost(context, "asks for the turn", luck, err);
    bool is_served = since >= 0 && sim->turn.finished_no > since;
    bool is_mine = strcmp(sim->turn_holder, sim_who(context)) == 0;
    if (sim->turn.stop == STOP_NONE && !is_served && !is_mine &&
        (!sim->turn_holder[0] || sim->is_quiet || sim_happens(sim, sim->expiry_rate))) {
        snprintf(sim->turn_holder, sizeof sim->turn_holder, "%s", sim_who(context));
        sim_say(sim, "%s takes a turn, the last is %" PRId64, sim_who(context), sim->turn.last.no);
        is_mine = true;
    }
    *turn = sim->turn;
    snprintf(turn->group, sizeof turn->group, SIM_TURN_GROUP);
    turn->is_mine = is_mine;
    return luck == SIM_ANSWERED || lost(context, "asks for the turn", luck, err);
}

static bool
is_not_turner(void *context, struct err *err)
{
    struct sim *sim = sim_of(context);
    if (sim->turn.stop == STOP_NONE && strcmp(sim->turn_holder, sim_who(context)) == 0)
        return false;
    sim_say(sim, "%s: another one takes the turn", sim_who(context));
    err_set(err, ERR_CONFLICT, "another one takes the turn");
    return true;
}

static bool
is_same(const struct turn_mark *a, const struct turn_mark *b)
{
    return a->no == b->no && strcmp(a->id, b->id) == 0;
}

static bool
pg_turn_write(void *context, const struct turn_mark *kafka, const char *id, struct turn *turn,
              struct err *err)
{
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (is_away(context, err) || is_not_turner(context, err))
        return false;
    if (luck == SIM_LOST)
        return lost(context, "writes the turn", luck, err);
    if (!is_same(kafka, &sim->turn.last) && (sim->turn.is_confirmed || !is_same(kafka, &sim->turn.before)))
        return err_set(err, ERR_CONFLICT, "may not follow");
    sim->turn.before = *kafka;
    sim->turn.last.no++;
    snprintf(sim->turn.last.id, UUID_SIZE, "%s", id);
    sim->turn.is_confirmed = false;
    if (sim->sights)
        sim->sights->turns++;
    sim_say(sim, "%s writes turn %" PRId64 " (%s) in database %d", sim_who(context), sim->turn.last.no, id,
            sim->database);
    *turn = sim->turn;
    snprintf(turn->group, sizeof turn->group, SIM_TURN_GROUP);
    return luck == SIM_ANSWERED || lost(context, "writes the turn", luck, err);
}

static bool
pg_turn_confirm(void *context, int64_t no, struct err *err)
{
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (is_away(context, err) || is_not_turner(context, err))
        return false;
    if (luck == SIM_LOST)
        return lost(context, "confirms the turn", luck, err);
    if (no != sim->turn.last.no)
        return err_set(err, ERR_CONFLICT, "not the last");
    sim->turn.is_confirmed = true;
    return luck == SIM_ANSWERED || lost(context, "confirms the turn", luck, err);
}

static bool
pg_turn_finish(void *context, int64_t no, struct err *err)
{
    struct sim *sim = sim_of(context);
    enum sim_luck luck = sim_luck(sim, false);
    if (is_away(context, err) || is_not_turner(context, err))
        return false;
    if (luck == SIM_LOST)
        return lost(context, "finishes the turn", luck, err);
    sim->turn.finished_no = no;
    sim->turn_holder[0] = '\0';
    sim_say(sim, "%s has taken turn %" PRId64, sim_who(context), no);
    return luck == SIM_ANSWERED || lost(context, "finishes the turn", luck, err);
}

static bool
pg_turn_stop(void *context, enum stop_reason reason, const char *detail, struct err *err)
{
    struct sim *sim = sim_of(context);
    if (is_away(context, err))
        return false;
    sim->turn.stop = reason;
    if (sim->sights)
        sim->sights->stops++;
    sim_say(sim, "%s stops database %d: %s", sim_who(context), sim->database, detail);
    if (sim->is_strict && !sim->is_forked)
        sim_fail(sim, "%s stops, and there is one history: %s", sim_who(context), detail);
    return true;
}

static bool
pg_turn_read(void *context, struct turn *turn, struct err *err)
{
    if (is_away(context, err))
        return false;
    *turn = sim_of(context)->turn;
    return true;
}

static bool
pg_turn_slots(void *context, struct turn_slot *slots, size_t room, size_t *count, struct err *err)
{
    struct sim *sim = sim_of(context);
    if (is_away(context, err))
        return false;
    for (*count = 0; *count < (size_t)sim->slot_count && *count < room; ++*count) {
        const struct sim_slot *mine = &sim->slots[*count];
        slots[*count] = (struct turn_slot){.slot = mine->row, .unfinished = mine->chunk};
        snprintf(slots[*count].next_txn_id, sizeof slots[*count].next_txn_id, "redrive.%zu.g%d", *count,
                 (int)mine->row.generation + 1);
    }
    return true;
}

static const struct publisher_turns sim_turns = {
    .take = pg_turn_take,
    .write = pg_turn_write,
    .confirm = pg_turn_confirm,
    .finish = pg_turn_finish,
    .stop = pg_turn_stop,
    .read = pg_turn_read,
    .slots = pg_turn_slots,
};

const struct publisher_ledger sim_ledger = {
    .acquire = pg_acquire,
    .check = pg_check,
    .heartbeat = pg_heartbeat,
    .provisioned = pg_provisioned,
    .release = pg_release,
    .suspend = pg_suspend,
    .retire = pg_retire,
    .claim = pg_claim,
    .ends = pg_ends,
    .finish = pg_finish,
    .published = pg_published,
    .finish_scanned = pg_finish_scanned,
    .refuse = pg_refuse,
    .originals = pg_originals,
    .turns = &sim_turns,
};
