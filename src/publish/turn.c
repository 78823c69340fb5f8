#include "publish/turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "publish/broken.h"
#include "base/kill_point.h"

#define PATIENCE (20 * US_PER_SECOND) // for each step of Kafka
#define NONCE_AGAIN 50000             // µs after which a nonce that others wrote over is written again
#define ASK_PAUSE 20000               // µs, while another worker takes a turn
#define READ_PAUSE 1000

enum turn_verdict
turn_judge(const struct turn *turn, const struct marker *kafka)
{
    const struct turn_mark *last = &turn->last, *before = &turn->before;
    int64_t no = kafka->is_present ? kafka->seq : 0;
    const char *id = kafka->is_present ? kafka->id : "";
    if (no == last->no && strcmp(id, last->id) == 0)
        return TURN_AGREES;
    if (!turn->is_confirmed && no == before->no && strcmp(id, before->id) == 0)
        return TURN_CONTINUES;
    if (!kafka->is_present)
        return TURN_GONE;
    return no < last->no ? TURN_PASSED : TURN_ELSEWHERE;
}

bool
turn_is_ahead(const struct turn_slot *slot, const struct marker *marker)
{
    if (!marker->is_present || marker->seq <= slot->slot.finished_seq)
        return false;
    return !slot->unfinished.exists || marker->seq != slot->unfinished.seq ||
           strcmp(marker->id, slot->unfinished.id) != 0;
}

enum turner_place {
    TURN_AT_TAKE,
    TURN_AT_OPEN, // fence: the turns' own transactional id
    TURN_AT_INIT,
    TURN_AT_NONCE, // read
    TURN_AT_READ,
    TURN_AT_SLOTS, // the markers of all slots, for what they prove by themselves
    TURN_AT_MARKERS,
    TURN_AT_TAKEN, // still the one that takes it?
    TURN_AT_JUDGE,
    TURN_AT_WRITE, // write
    TURN_AT_MARK,  // commit
    TURN_AT_COMMIT,
    TURN_AT_VERIFY,
    TURN_AT_CONFIRM,
    TURN_AT_FENCE, // fence every slot
    TURN_AT_FENCED,
    TURN_AT_NONCES, // compare
    TURN_AT_COMPARE,
    TURN_AT_COMPARED,
    TURN_AT_FINISH, // finish
    TURN_AT_STOP,
    TURN_AT_DONE,
    TURN_AT_STOPPED,
    TURN_AT_COUNT
};

struct turner {
    struct publisher_settings settings;
    enum turner_place at;
    int wait_ms;
    int64_t since;      // as for turn_take
    int64_t begun_at;   // mono
    int64_t patient_at; // mono: the wait of this step began
    int64_t nonce_at, nonce;
    struct turn turn;
    struct marker kafka; // the last turn as Kafka holds it
    struct producer *producer;

    struct turn_slot slots[TURN_SLOTS];
    size_t slot_count;
    struct producer *slot_producers[TURN_SLOTS];
    bool is_slot_fenced[TURN_SLOTS];
    // First those of the slots, then those of their next generations.
    const char *groups[2 * TURN_SLOTS];
    struct marker_reading readings[2 * TURN_SLOTS];
    struct turn_slot slots_before[TURN_SLOTS]; // as they were when the markers were asked for

    struct strbuf ahead; // the markers ahead, in words
    enum stop_reason reason;
    char detail[sizeof((struct turn *)0)->stop_detail];
};

static int64_t
turn_mono(const struct turner *turner)
{
    return turner->settings.world->mono(turner->settings.context);
}

struct turner *
turner_create(const struct publisher_settings *settings)
{
    struct turner *turner = alloc_bytes(sizeof *turner);
    turner->settings = *settings;
    turner_begin(turner);
    return turner;
}

static void
drop_handles(struct turner *turner)
{
    const struct publisher_broker *broker = turner->settings.broker;
    if (turner->producer)
        broker->destroy(turner->producer);
    turner->producer = NULL;
    for (size_t i = 0; i < TURN_SLOTS; i++) {
        if (turner->slot_producers[i])
            broker->destroy(turner->slot_producers[i]);
        turner->slot_producers[i] = NULL;
        turner->is_slot_fenced[i] = false;
    }
}

void
turner_destroy(struct turner *turner)
{
    if (!turner)
        return;
    drop_handles(turner);
    strbuf_release(&turner->ahead);
    free(turner);
}

void
turner_begin(struct turner *turner)
{
    drop_handles(turner);
    turner->at = broken(BROKEN_NO_TURN) ? TURN_AT_DONE : TURN_AT_TAKE;
    turner->since = -1;
    turner->begun_at = turn_mono(turner);
}

int64_t
turner_took(const struct turner *turner)
{
    return turn_mono(turner) - turner->begun_at;
}

static enum turner_status
turn_go(struct turner *turner, enum turner_place place)
{
    turner->at = place;
    turner->patient_at = turn_mono(turner);
    return TURNER_BUSY;
}

// An error whose effect is not known, or another worker was faster: everything is thrown away.
static enum turner_status
turn_fail(struct turner *turner)
{
    drop_handles(turner);
    turner->at = TURN_AT_TAKE;
    turner->since = -1;
    return TURNER_FAILED;
}

// False: it waits longer than anybody should; err is set.
static bool
is_patient(struct turner *turner, const char *what, struct err *err)
{
    if (turn_mono(turner) - turner->patient_at <= PATIENCE)
        return true;
    return err_set(err, ERR_UNREACHABLE, "Kafka did not %s within %d s, which the turn at %s needs", what,
                   (int)(PATIENCE / US_PER_SECOND), turner->turn.group);
}

static enum turner_status
turn_wait(struct turner *turner, const char *what, int64_t pause, struct err *err)
{
    if (!is_patient(turner, what, err))
        return turn_fail(turner);
    if (pause)
        turner->settings.world->sleep(turner->settings.context, pause);
    return TURNER_WAITING;
}

static enum turner_status
turn_take_step(struct turner *turner, struct err *err)
{
    if (!turner->settings.ledger->turns->take(turner->settings.context, turner->since, &turner->turn, err))
        return turn_fail(turner);
    const struct turn *turn = &turner->turn;
    if (turn->stop != STOP_NONE)
        return turn_go(turner, TURN_AT_STOPPED);
    if (turner->since >= 0 && turn->finished_no > turner->since)
        return turn_go(turner, TURN_AT_DONE);
    if (turner->since < 0)
        turner->since = turn->last.no;
    if (turn->is_mine)
        return turn_go(turner, TURN_AT_OPEN);
    turner->settings.world->sleep(turner->settings.context, ASK_PAUSE);
    return TURNER_WAITING;
}

static bool
open_id(struct turner *turner, const char *txn_id, struct producer **producer, struct err *err)
{
    const struct producer_settings how = {.txn_id = txn_id, .records = 1};
    return turner->settings.broker->open(turner->settings.context, &how, producer, err);
}

static enum turner_status
turn_open_step(struct turner *turner, struct err *err)
{
    if (!open_id(turner, turner->turn.group, &turner->producer, err))
        return turn_fail(turner);
    return turn_go(turner, TURN_AT_INIT);
}

// After it no earlier turn can commit, and what Kafka holds is final.
static enum turner_status
turn_init_step(struct turner *turner, struct err *err)
{
    bool is_done = false;
    if (!turner->settings.broker->init(turner->producer, turner->wait_ms, &is_done, err))
        return turn_fail(turner);
    return is_done ? turn_go(turner, TURN_AT_NONCE) : turn_wait(turner, "give the transactional id", 0, err);
}

static enum turner_status
turn_nonce_step(struct turner *turner, struct err *err)
{
    turner->nonce = turner->settings.world->random(turner->settings.context);
    turner->nonce_at = turn_mono(turner);
    if (!turner->settings.broker->write_nonce(turner->settings.context, turner->turn.group, turner->nonce,
                                              err))
        return turn_fail(turner);
    turner->at = TURN_AT_READ;
    return TURNER_BUSY;
}

// Only an answer that shows the nonce tells the present (PROTOCOL.md, "The nonce").
static enum turner_status
turn_read_step(struct turner *turner, struct err *err)
{
    struct marker_reading reading;
    if (!turner->settings.broker->read_marker(turner->settings.context, turner->turn.group, &reading, err))
        return turn_fail(turner);
    if (reading.is_stable && reading.has_nonce && reading.nonce == turner->nonce) {
        turner->kafka = reading.marker;
        return turn_go(turner, TURN_AT_SLOTS);
    }
    if (turn_mono(turner) - turner->nonce_at > NONCE_AGAIN)
        turner->at = TURN_AT_NONCE;
    return turn_wait(turner, "show the last turn", READ_PAUSE, err);
}

// The slots as PostgreSQL has them now, and the groups of their markers.
static enum turner_status
turn_slots_step(struct turner *turner, struct err *err)
{
    if (!turner->settings.ledger->turns->slots(turner->settings.context, turner->slots_before, TURN_SLOTS,
                                               &turner->slot_count, err))
        return turn_fail(turner);
    for (size_t i = 0; i < turner->slot_count; i++) {
        turner->groups[i] = turner->slots_before[i].slot.txn_id;
        turner->groups[turner->slot_count + i] = turner->slots_before[i].next_txn_id;
    }
    return turn_go(turner, TURN_AT_MARKERS);
}

static bool
read_markers(struct turner *turner, struct err *err)
{
    return turner->settings.broker->read_markers(turner->settings.context, turner->groups,
                                                 2 * turner->slot_count, turner->readings, err);
}

static enum turner_status
turn_markers_step(struct turner *turner, struct err *err)
{
    return read_markers(turner, err) ? turn_go(turner, TURN_AT_TAKEN) : turn_fail(turner);
}

// Kafka's turn is judged by a row that is known to be the same before and after it was read. One that another
// worker has written meanwhile would look like that of another database.
static enum turner_status
turn_taken_step(struct turner *turner, struct err *err)
{
    struct turn_mark last = turner->turn.last;
    if (!turner->settings.ledger->turns->take(turner->settings.context, turner->since, &turner->turn, err))
        return turn_fail(turner);
    const struct turn *turn = &turner->turn;
    bool is_same = turn->is_mine && turn->last.no == last.no && strcmp(turn->last.id, last.id) == 0;
    if (is_same && turn->stop == STOP_NONE)
        return turn_go(turner, TURN_AT_JUDGE);
    drop_handles(turner);
    return turn_go(turner, TURN_AT_TAKE);
}

static void
note_ahead(struct turner *turner, const struct turn_slot *slot, const char *name, const struct marker *marker)
{
    strbuf_printf(&turner->ahead, "%sslot %d (%s) %" PRId64 " to %" PRId64 ", last chunk %s%s%s",
                  turner->ahead.len ? "; " : "", (int)slot->slot.no, name, slot->slot.finished_seq + 1,
                  marker->seq, marker->id, marker->topics[0] ? " to " : "", marker->topics);
}

// Collects the markers that are ahead of PostgreSQL, whose slots are read after the markers: what is in
// flight in this database is known there before Kafka has it. A slot that another worker has renamed
// meanwhile is this database's own work.
static bool
collect_ahead(struct turner *turner, struct err *err)
{
    size_t count;
    strbuf_reset(&turner->ahead);
    if (!turner->settings.ledger->turns->slots(turner->settings.context, turner->slots, TURN_SLOTS, &count,
                                               err))
        return false;
    for (size_t i = 0; i < count && i < turner->slot_count; i++) {
        const struct turn_slot *slot = &turner->slots[i];
        const struct marker *marker = &turner->readings[i].marker;
        const struct marker *next = &turner->readings[turner->slot_count + i].marker;
        if (slot->slot.generation != turner->slots_before[i].slot.generation)
            continue;
        if (turn_is_ahead(slot, marker))
            note_ahead(turner, slot, slot->slot.txn_id, marker);
        if (next->is_present)
            note_ahead(turner, slot, slot->next_txn_id, next);
    }
    return true;
}

static enum turner_status
stop_for(struct turner *turner, enum stop_reason reason)
{
    const struct turn *turn = &turner->turn;
    const struct marker *kafka = &turner->kafka;
    turner->reason = reason;
    size_t room = sizeof turner->detail, len = 0;
    if (reason == STOP_ELSEWHERE)
        len = (size_t)snprintf(turner->detail, room,
                               "Kafka's last turn is %" PRId64 " (%s), that of this database is %" PRId64
                               ": another database published to this cluster since; this one is a copy, or "
                               "was put back to an older state",
                               kafka->seq, kafka->id, turn->last.no);
    else if (reason == STOP_GONE)
        len = (size_t)snprintf(
            turner->detail, room,
            "Kafka holds no turn of this install, or an old one, and this database has seen turn %" PRId64
            " there: the group %s was deleted, or expired because no worker ran for longer than "
            "offsets.retention.minutes; nothing proves that no other database published meanwhile",
            turn->last.no, turn->group);
    else
        len = (size_t)snprintf(turner->detail, room,
                               "Kafka holds chunks that this database does not know: it was put back to an "
                               "older state, or it is a copy");
    if (turner->ahead.len && len < room)
        snprintf(turner->detail + len, room - len, "; ahead in Kafka: %s", strbuf_text(&turner->ahead));
    return turn_go(turner, TURN_AT_STOP);
}

static enum turner_status
turn_judge_step(struct turner *turner, struct err *err)
{
    if (!collect_ahead(turner, err))
        return turn_fail(turner);
    switch (turn_judge(&turner->turn, &turner->kafka)) {
    case TURN_ELSEWHERE:
        return stop_for(turner, STOP_ELSEWHERE);
    case TURN_PASSED:
    case TURN_GONE:
        return stop_for(turner, STOP_GONE);
    case TURN_AGREES:
    case TURN_CONTINUES:
        break;
    }
    return turner->ahead.len ? stop_for(turner, STOP_AHEAD) : turn_go(turner, TURN_AT_WRITE);
}

static enum turner_status
turn_write_step(struct turner *turner, struct err *err)
{
    struct turn_mark kafka = {.no = turner->kafka.is_present ? turner->kafka.seq : 0};
    if (turner->kafka.is_present)
        snprintf(kafka.id, sizeof kafka.id, "%.*s", (int)sizeof kafka.id - 1, turner->kafka.id);
    char id[UUID_SIZE];
    turner->settings.world->uuid(turner->settings.context, id);
    if (!turner->settings.ledger->turns->write(turner->settings.context, &kafka, id, &turner->turn, err))
        return turn_fail(turner);
    KILL_POINT("turn-write");
    return turn_go(turner, TURN_AT_MARK);
}

static enum turner_status
turn_mark_step(struct turner *turner, struct err *err)
{
    const struct publisher_broker *broker = turner->settings.broker;
    const struct turn *turn = &turner->turn;
    if (!broker->begin(turner->producer, err) ||
        !broker->mark(turner->producer, MARKER_PARTITION, turn->group, turn->last.no, turn->last.id, err))
        return turn_fail(turner);
    return turn_go(turner, TURN_AT_COMMIT);
}

static enum turner_status
turn_commit_step(struct turner *turner, struct err *err)
{
    bool is_done = false;
    if (!turner->settings.broker->commit(turner->producer, turner->wait_ms, &is_done, err))
        return turn_fail(turner);
    KILL_POINT("turn-commit");
    return is_done ? turn_go(turner, TURN_AT_VERIFY) : turn_wait(turner, "commit the turn", 0, err);
}

static enum turner_status
turn_verify_step(struct turner *turner, struct err *err)
{
    struct marker_reading reading;
    if (!turner->settings.broker->read_marker(turner->settings.context, turner->turn.group, &reading, err))
        return turn_fail(turner);
    if (!reading.is_stable || turn_judge(&turner->turn, &reading.marker) != TURN_AGREES)
        return turn_wait(turner, "show the turn that it committed", READ_PAUSE, err);
    return turn_go(turner, TURN_AT_CONFIRM);
}

static enum turner_status
turn_confirm_step(struct turner *turner, struct err *err)
{
    if (!turner->settings.ledger->turns->confirm(turner->settings.context, turner->turn.last.no, err))
        return turn_fail(turner);
    drop_handles(turner);
    return turn_go(turner, broken(BROKEN_TURN_ALONE) ? TURN_AT_FINISH : TURN_AT_FENCE);
}

static enum turner_status
turn_fence_step(struct turner *turner, struct err *err)
{
    for (size_t i = 0; i < turner->slot_count; i++)
        if (!open_id(turner, turner->slots[i].slot.txn_id, &turner->slot_producers[i], err))
            return turn_fail(turner);
    return turn_go(turner, TURN_AT_FENCED);
}

// All slots at once. Their handles write the nonces next.
static enum turner_status
turn_fenced_step(struct turner *turner, struct err *err)
{
    size_t left = 0;
    for (size_t i = 0; i < turner->slot_count; i++) {
        if (turner->is_slot_fenced[i])
            continue;
        if (!turner->settings.broker->init(turner->slot_producers[i], left ? 0 : turner->wait_ms,
                                           &turner->is_slot_fenced[i], err))
            return turn_fail(turner);
        left += !turner->is_slot_fenced[i];
    }
    if (left)
        return turn_wait(turner, "give the transactional ids of the slots", 0, err);
    return turn_go(turner, TURN_AT_NONCES);
}

static enum turner_status
turn_nonces_step(struct turner *turner, struct err *err)
{
    turner->nonce = turner->settings.world->random(turner->settings.context);
    turner->nonce_at = turn_mono(turner);
    if (!turner->settings.broker->write_nonces(turner->settings.context, turner->slot_producers,
                                               turner->groups, turner->slot_count, turner->nonce, err))
        return turn_fail(turner);
    turner->at = TURN_AT_COMPARE;
    return TURNER_BUSY;
}

// That a marker is not ahead is a negative answer, so it needs the nonce. A name of the next generation has
// none of this database's, and a nonce there would only leave an offset behind.
static enum turner_status
turn_compare_step(struct turner *turner, struct err *err)
{
    if (!read_markers(turner, err))
        return turn_fail(turner);
    for (size_t i = 0; i < turner->slot_count; i++) {
        const struct marker_reading *reading = &turner->readings[i];
        if (reading->is_stable && reading->has_nonce && reading->nonce == turner->nonce)
            continue;
        if (turn_mono(turner) - turner->nonce_at > NONCE_AGAIN)
            turner->at = TURN_AT_NONCES;
        return turn_wait(turner, "show the markers of all slots", READ_PAUSE, err);
    }
    drop_handles(turner);
    return turn_go(turner, TURN_AT_COMPARED);
}

static enum turner_status
turn_compared_step(struct turner *turner, struct err *err)
{
    if (!collect_ahead(turner, err))
        return turn_fail(turner);
    return turner->ahead.len ? stop_for(turner, STOP_AHEAD) : turn_go(turner, TURN_AT_FINISH);
}

static enum turner_status
turn_finish_step(struct turner *turner, struct err *err)
{
    if (!turner->settings.ledger->turns->finish(turner->settings.context, turner->turn.last.no, err))
        return turn_fail(turner);
    return turn_go(turner, TURN_AT_DONE);
}

static enum turner_status
turn_stop_step(struct turner *turner, struct err *err)
{
    if (!turner->settings.ledger->turns->stop(turner->settings.context, turner->reason, turner->detail, err))
        return turn_fail(turner);
    log_line(LOG_ERROR, "publishing stopped", LOG_TEXT("reason", stop_reason_name(turner->reason)),
             LOG_TEXT("why", turner->detail));
    turner->turn.stop = turner->reason;
    snprintf(turner->turn.stop_detail, sizeof turner->turn.stop_detail, "%s", turner->detail);
    return turn_go(turner, TURN_AT_STOPPED);
}

static enum turner_status
stay_done(struct turner *turner, struct err *err)
{
    (void)turner;
    (void)err;
    return TURNER_DONE;
}

static enum turner_status
stay_stopped(struct turner *turner, struct err *err)
{
    drop_handles(turner);
    err_set(err, ERR_STOPPED,
            "nothing is published from this database: %.450s; an administrator decides with redrive migrate "
            "--adopt or --as-copy",
            turner->turn.stop_detail);
    return TURNER_STOPPED;
}

static enum turner_status (*const turn_steps[TURN_AT_COUNT])(struct turner *turner, struct err *err) = {
    [TURN_AT_TAKE] = turn_take_step,         [TURN_AT_OPEN] = turn_open_step,
    [TURN_AT_INIT] = turn_init_step,         [TURN_AT_NONCE] = turn_nonce_step,
    [TURN_AT_READ] = turn_read_step,         [TURN_AT_SLOTS] = turn_slots_step,
    [TURN_AT_MARKERS] = turn_markers_step,   [TURN_AT_TAKEN] = turn_taken_step,
    [TURN_AT_JUDGE] = turn_judge_step,       [TURN_AT_WRITE] = turn_write_step,
    [TURN_AT_MARK] = turn_mark_step,         [TURN_AT_COMMIT] = turn_commit_step,
    [TURN_AT_VERIFY] = turn_verify_step,     [TURN_AT_CONFIRM] = turn_confirm_step,
    [TURN_AT_FENCE] = turn_fence_step,       [TURN_AT_FENCED] = turn_fenced_step,
    [TURN_AT_NONCES] = turn_nonces_step,     [TURN_AT_COMPARE] = turn_compare_step,
    [TURN_AT_COMPARED] = turn_compared_step, [TURN_AT_FINISH] = turn_finish_step,
    [TURN_AT_STOP] = turn_stop_step,         [TURN_AT_DONE] = stay_done,
    [TURN_AT_STOPPED] = stay_stopped,
};

enum turner_status
turner_step(struct turner *turner, int wait_ms, struct err *err)
{
    turner->wait_ms = wait_ms;
    return turn_steps[turner->at](turner, err);
}
