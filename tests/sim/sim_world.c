#include "tests/sim/sim_world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define RUN_OUT 4000 // steps within which one process alone must have ended everything

// --- choices ---

uint64_t
sim_mix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned
sim_choose(struct sim *sim, unsigned below)
{
    uint64_t byte = (sim->endless ? sim_mix(&sim->endless) : sim->word) & 0xff;
    sim->word >>= 8;
    return (unsigned)byte % below;
}

bool
sim_happens(struct sim *sim, int rate)
{
    return (int)sim_choose(sim, 256) >= 256 - rate;
}

enum sim_luck
sim_luck(struct sim *sim, bool can_travel)
{
    int choice = (int)sim_choose(sim, 256) - (256 - sim->fault_rate);
    if (choice < 0)
        return SIM_ANSWERED;
    return (enum sim_luck)(SIM_LOST + choice % (can_travel ? 4 : 2));
}

// --- what is said ---

void
sim_say(struct sim *sim, const char *format, ...)
{
    if (!sim->story)
        return;
    char line[sizeof sim->said];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (strcmp(line, sim->said) == 0) {
        sim->repeats++;
        return;
    }
    if (sim->repeats)
        fprintf(sim->story, "#       … %d times more\n", sim->repeats);
    sim->repeats = 0;
    memcpy(sim->said, line, sizeof line);
    fprintf(sim->story, "#   %s\n", line);
}

void
sim_fail(struct sim *sim, const char *format, ...)
{
    if (sim->result->is_failed)
        return;
    va_list args;
    va_start(args, format);
    sim->result->is_failed = true;
    vsnprintf(sim->result->why, sizeof sim->result->why, format, args);
    va_end(args);
}

// --- what must hold ---

static bool
is_in_flight(const struct sim *sim, int64_t chunk)
{
    char id[UUID_SIZE];
    snprintf(id, sizeof id, "#%" PRId64, chunk);
    for (int i = 0; i < sim->slot_count; i++)
        if (sim->slots[i].chunk.exists && strcmp(sim->slots[i].chunk.id, id) == 0)
            return true;
    return false;
}

void
sim_check(struct sim *sim)
{
    for (int64_t id = 1; id <= sim->event_count; id++) {
        const struct sim_event *event = &sim->events[id];
        if (event->copies > 1)
            sim_fail(sim, "event %" PRId64 " is committed twice", id);
        else if (sim->is_forked) // what one history has sent is open in the other
            continue;
        else if (event->fate == SIM_RESOLVED && event->copies == 0)
            sim_fail(sim, "event %" PRId64 " is resolved, and no copy of it is committed: lost", id);
        else if ((event->fate == SIM_QUEUED || event->fate == SIM_REFUSED) && event->copies)
            sim_fail(sim, "event %" PRId64 " is open, and a copy of it is committed: it will be sent twice",
                     id);
        else if (event->fate == SIM_CLAIMED && !is_in_flight(sim, event->chunk))
            sim_fail(sim, "event %" PRId64 " is claimed by a chunk that is finished", id);
    }
}

bool
sim_is_finished(const struct sim *sim)
{
    for (int64_t id = 1; id <= sim->event_count; id++)
        if (sim->events[id].fate == SIM_QUEUED || sim->events[id].fate == SIM_CLAIMED)
            return false;
    return true;
}

// --- time and chance ---

static struct sim *
of(void *context)
{
    return ((struct sim_process *)context)->sim;
}

static int64_t
clock_look(void *context)
{
    return of(context)->now += of(context)->tick;
}

static int64_t
clock_wall(void *context)
{
    const struct sim_process *process = context;
    return process->sim->now + process->sim->wishes.skew + process->skew;
}

static void
clock_pass(void *context, int64_t us)
{
    of(context)->now += us;
}

static void
chunk_name(void *context, char out[UUID_SIZE])
{
    snprintf(out, UUID_SIZE, "#%" PRId64, ++of(context)->chunks);
}

static int64_t
nonce_make(void *context)
{
    return ++of(context)->nonces;
}

static void
call_start(void *context, void (*call)(void *argument), void *argument)
{
    struct sim_process *process = context;
    process->call = call;
    process->argument = argument;
}

// It takes effect when it is done: the steps of others came first.
static bool
call_is_done(void *context, int wait_ms)
{
    (void)wait_ms;
    struct sim_process *process = context;
    if (sim_choose(process->sim, 4) == 3)
        return false;
    process->call(process->argument);
    return true;
}

static const struct publisher_world clockwork = {
    .mono = clock_look,
    .now = clock_wall,
    .sleep = clock_pass,
    .uuid = chunk_name,
    .random = nonce_make,
    .start = call_start,
    .is_done = call_is_done,
};

// --- databases ---

void
sim_save(const struct sim *sim, struct sim_database *database)
{
    for (int i = 0; i < SIM_SLOTS; i++) {
        const struct sim_slot *slot = &sim->slots[i];
        database->slots[i].row = slot->row;
        memcpy(database->slots[i].holder, slot->holder, sizeof slot->holder);
        database->slots[i].next_seq = slot->next_seq;
        database->slots[i].chunk = slot->chunk;
        database->slots[i].is_suspended = slot->is_suspended;
    }
    for (int64_t id = 1; id <= sim->event_count; id++) {
        database->events[id].fate = sim->events[id].fate;
        database->events[id].chunk = sim->events[id].chunk;
    }
    database->turn = sim->turn;
    memcpy(database->turn_holder, sim->turn_holder, sizeof sim->turn_holder);
}

void
sim_put_back(struct sim *sim, const struct sim_database *database)
{
    for (int i = 0; i < SIM_SLOTS; i++) {
        struct sim_slot *slot = &sim->slots[i];
        slot->row = database->slots[i].row;
        memcpy(slot->holder, database->slots[i].holder, sizeof slot->holder);
        slot->next_seq = database->slots[i].next_seq;
        slot->chunk = database->slots[i].chunk;
        slot->is_suspended = database->slots[i].is_suspended;
    }
    for (int64_t id = 1; id <= sim->event_count; id++) {
        sim->events[id].fate = database->events[id].fate;
        sim->events[id].chunk = database->events[id].chunk;
    }
    sim->turn = database->turn;
    memcpy(sim->turn_holder, database->turn_holder, sizeof sim->turn_holder);
}

void
sim_use(struct sim *sim, int database)
{
    if (sim->database == database)
        return;
    struct sim_database used;
    memset(&used, 0, sizeof used);
    sim_save(sim, &used);
    sim_put_back(sim, &sim->aside);
    sim->aside = used;
    sim->database = database;
}

// --- processes ---

void
sim_process_start(struct sim *sim, int which)
{
    static const struct plan_settings plan;
    struct sim_process *process = &sim->processes[which];
    process->sim = sim;
    process->life++;
    snprintf(process->name, sizeof process->name, process->life > 1 ? "%c%d" : "%c", 'A' + which,
             process->life);
    const struct publisher_settings settings = {
        .ledger = &sim_ledger,
        .broker = &sim_broker,
        .world = &clockwork,
        .context = process,
        .plan = &plan,
        .turn_group = SIM_TURN_GROUP,
        .is_transactional = !sim->wishes.has_no_transactions,
    };
    process->publisher = publisher_create(&settings);
    process->turner = turner_create(&settings);
    process->has_turn = !sim->has_turns;
    process->is_stopped = process->is_away = process->has_noticed = false;
}

void
sim_process_end(struct sim *sim, int which)
{
    struct sim_process *process = &sim->processes[which];
    sim_use(sim, process->database); // a call that is under way comes to its end
    publisher_destroy(process->publisher);
    turner_destroy(process->turner);
    process->publisher = NULL;
    process->turner = NULL;
}

// As worker_turn_lose does.
static void
process_lose_turn(struct sim_process *process)
{
    struct sim *sim = process->sim;
    int which = (int)(process - sim->processes);
    sim_process_end(sim, which);
    sim_process_start(sim, which);
}

static enum publisher_status
process_take_turn(struct sim_process *process, struct err *err)
{
    switch (turner_step(process->turner, 10, err)) {
    case TURNER_BUSY:
    case TURNER_WAITING:
        return PUBLISHER_BUSY;
    case TURNER_FAILED:
        return PUBLISHER_FAILED;
    case TURNER_DONE:
        process->has_turn = true;
        return PUBLISHER_BUSY;
    case TURNER_STOPPED:
        break;
    }
    return PUBLISHER_STOPPED;
}

enum publisher_status
sim_process_step(struct sim_process *process, struct err *err)
{
    sim_use(process->sim, process->database);
    process->last = process->has_turn ? publisher_step(process->publisher, NULL, 0, 10, err)
                                      : process_take_turn(process, err);
    process->is_stopped = process->last == PUBLISHER_STOPPED;
    if (process->last == PUBLISHER_FAILED && process->sim->sights && strstr(err->text, "clock is"))
        process->sim->sights->clocks_refused++;
    if (process->last == PUBLISHER_READY)
        publisher_assign(process->publisher, 1, (size_t)process->sim->chunk_limit);
    if (process->last == PUBLISHER_TURN || process->has_noticed)
        process_lose_turn(process);
    return process->last;
}

// --- the whole ---

void
sim_name_slot(struct sim_slot *slot, int32_t generation)
{
    slot->row.generation = generation;
    slot->row.finished_seq = 0;
    snprintf(slot->row.finished_id, UUID_SIZE, "install");
    snprintf(slot->row.txn_id, sizeof slot->row.txn_id, generation > 1 ? "redrive.%d.g%d" : "redrive.%d",
             (int)slot->row.no, (int)generation);
    slot->row.is_provisioned = false;
    slot->epoch = 0;
    slot->transaction = SIM_EMPTY;
    slot->record_count = 0;
    slot->appended = 0;
    slot->offsets = slot->yesterday = (struct sim_offsets){0};
    slot->pending = (struct marker){0};
    slot->is_pending = slot->is_ended = slot->is_committed = slot->is_cut = false;
}

static void
step_last(struct sim *sim, struct sim_process *last)
{
    struct err err = {0};
    sim_process_step(last, &err);
    sim_kafka_moves(sim);
    // The rest is in slots of dead processes, as a worker would find out.
    err_clear(&err);
    if (last->last == PUBLISHER_EMPTY && !publisher_release(last->publisher, &err))
        return;
    sim_check(sim);
}

// Two histories: each goes on until it stops or has nothing left.
static void
run_out_both(struct sim *sim)
{
    struct sim_process *copy = &sim->processes[sim->process_count - 1];
    for (int i = 0; i < RUN_OUT / 8 && !sim->result->is_failed; i++) {
        if (!sim->processes[0].is_stopped)
            step_last(sim, &sim->processes[0]);
        if (copy->database && !copy->is_stopped)
            step_last(sim, copy);
    }
}

void
sim_run_out(struct sim *sim)
{
    sim->is_quiet = true;
    sim->word = sim->endless = 0;
    sim_kafka_calms(sim);
    sim->skew = 0;
    for (int i = 0; i < SIM_PROCESSES; i++)
        sim->processes[i].skew = 0;
    sim_check(sim);
    struct sim_process *last = &sim->processes[0];
    if (!last->publisher)
        sim_process_start(sim, 0);
    if (sim->is_forked) {
        run_out_both(sim);
        return;
    }
    if (sim->has_expired)
        sim_doubt_search(sim);
    for (int i = 0; i < RUN_OUT && !sim_is_finished(sim) && !sim->result->is_failed; i++) {
        step_last(sim, last);
        if (sim->has_expired)
            sim_doubt_search(sim);
    }
    if (!sim_is_finished(sim))
        sim_fail(sim, "it does not come to an end");
}

void
sim_end(struct sim *sim)
{
    for (int i = 0; i < SIM_PROCESSES; i++)
        sim_process_end(sim, i);
}
