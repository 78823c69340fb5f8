// One schedule: its clockwork, its processes, and what must hold after every step.
#include "tests/sim/sim_inside.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include "publish/broken.h"

#define RUN_OUT 4000 // steps within which one process alone must have ended everything

// --- choices ---

unsigned
sim_choose(struct sim *sim, unsigned below)
{
    unsigned byte = sim->word & 0xff;
    sim->word >>= 8;
    return byte % below;
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
    char id[UUID_TEXT];
    snprintf(id, sizeof id, "#%" PRId64, chunk);
    for (int i = 0; i < sim->slot_count; i++)
        if (sim->slots[i].chunk.exists && strcmp(sim->slots[i].chunk.id, id) == 0)
            return true;
    return false;
}

void
sim_check(struct sim *sim)
{
    for (int64_t id = 1; id <= SIM_EVENTS; id++) {
        const struct sim_event *event = &sim->events[id];
        if (event->copies > 1)
            sim_fail(sim, "event %" PRId64 " is committed twice", id);
        else if (event->fate == SIM_RESOLVED && event->copies == 0)
            sim_fail(sim, "event %" PRId64 " is resolved, and no copy of it is committed: lost", id);
        else if ((event->fate == SIM_QUEUED || event->fate == SIM_REFUSED) && event->copies)
            sim_fail(sim, "event %" PRId64 " is open, and a copy of it is committed: it will be sent twice",
                     id);
        else if (event->fate == SIM_CLAIMED && !is_in_flight(sim, event->chunk))
            sim_fail(sim, "event %" PRId64 " is claimed by a chunk that is finished", id);
    }
}

static bool
is_finished(const struct sim *sim)
{
    for (int64_t id = 1; id <= SIM_EVENTS; id++)
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

// Twenty milliseconds each time somebody looks: patience, deadlines and heartbeats come within a schedule.
static int64_t
clock_look(void *context)
{
    return of(context)->now += 20000;
}

static void
clock_pass(void *context, int64_t us)
{
    of(context)->now += us;
}

static void
chunk_name(void *context, char out[UUID_TEXT])
{
    snprintf(out, UUID_TEXT, "#%" PRId64, ++of(context)->chunks);
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

// It takes effect when it comes back: what others did meanwhile came first.
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
    .sleep = clock_pass,
    .uuid = chunk_name,
    .random = nonce_make,
    .start = call_start,
    .is_done = call_is_done,
};

// --- processes ---

static void
process_start(struct sim *sim, int which)
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
        .is_transactional = true,
    };
    process->publisher = publisher_create(&settings);
}

static void
process_die(struct sim *sim, int which)
{
    if (sim->sights)
        sim->sights->crashes++;
    sim_say(sim, "%s is killed", sim->processes[which].name);
    publisher_destroy(sim->processes[which].publisher);
    process_start(sim, which);
}

static void
process_step(struct sim_process *process)
{
    struct err err;
    err.kind = ERR_NONE;
    err.text[0] = '\0';
    process->last = publisher_step(process->publisher, NULL, 0, 10, &err);
    if (process->last == PUBLISHER_READY)
        publisher_assign(process->publisher, 1, (size_t)process->sim->chunk_limit);
}

// --- a schedule ---

static uint64_t
mix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void
schedule_make(struct schedule *schedule, uint64_t seed)
{
    uint64_t state = seed ^ 0x5eed;
    schedule->seed = seed;
    schedule->count = SIM_STEPS;
    for (size_t i = 0; i < SIM_STEPS; i++)
        schedule->steps[i] = mix(&state);
}

static void
slot_begin(struct sim_slot *slot, int32_t no, bool is_provisioned)
{
    slot->row.no = no;
    slot->row.generation = 1;
    slot->row.is_provisioned = is_provisioned;
    snprintf(slot->row.finished_id, UUID_TEXT, "install");
    snprintf(slot->row.txn_id, sizeof slot->row.txn_id, "redrive.%d", (int)no);
    if (is_provisioned) {
        slot->offsets.marker = (struct marker){.is_present = true};
        snprintf(slot->offsets.marker.id, sizeof slot->offsets.marker.id, "install");
    }
}

// What the seed says about the whole schedule.
static void
sim_begin(struct sim *sim, uint64_t seed)
{
    static const int faults[] = {6, 16, 40}, crashes[] = {0, 6, 16}, expiries[] = {24, 96, 255};
    static const int stays[] = {128, 208, 240}, lags[] = {0, 64, 160}, cuts[] = {0, 0, 48, 160};
    uint64_t state = seed;
    uint64_t rates = mix(&state);
    sim->slot_count = 1 + (int)(rates % SIM_SLOTS);
    sim->process_count = 2 + (int)((rates >> 4) % (SIM_PROCESSES - 1));
    sim->chunk_limit = 1 + (int)((rates >> 8) % 3);
    sim->fault_rate = faults[(rates >> 12) % 3];
    sim->crash_rate = crashes[(rates >> 16) % 3];
    sim->expiry_rate = expiries[(rates >> 20) % 3];
    sim->stay_rate = stays[(rates >> 24) % 3];
    sim->lag_rate = lags[(rates >> 28) % 3];
    sim->cut_rate = cuts[(rates >> 32) % 4];
    for (int i = 0; i < sim->slot_count; i++)
        slot_begin(&sim->slots[i], i, (rates >> 36) % 8 != 0);
    for (int i = 0; i < sim->process_count; i++)
        process_start(sim, i);
}

// One step of somebody; the harm that is done with it is in the word.
static int
sim_step(struct sim *sim, int actor, uint64_t word)
{
    sim->word = word;
    if (sim_happens(sim, 256 - sim->stay_rate))
        actor = (actor + 1 + (int)sim_choose(sim, (unsigned)sim->process_count - 1)) % sim->process_count;
    sim_kafka_moves(sim);
    bool dies = sim_happens(sim, sim->crash_rate);
    process_step(&sim->processes[actor]);
    if (dies)
        process_die(sim, actor);
    sim_check(sim);
    return actor;
}

// No more harm; the first process alone ends it all.
static void
run_out(struct sim *sim)
{
    sim->is_quiet = true;
    sim->word = 0;
    sim_kafka_calms(sim);
    sim_check(sim);
    struct sim_process *last = &sim->processes[0];
    for (int i = 0; i < RUN_OUT && !is_finished(sim) && !sim->result->is_failed; i++) {
        process_step(last);
        sim_kafka_moves(sim);
        // What is left is in slots of the dead, as the worker finds out.
        struct err err = {0};
        if (last->last == PUBLISHER_EMPTY && !publisher_release(last->publisher, &err))
            continue;
        sim_check(sim);
    }
    if (!is_finished(sim))
        sim_fail(sim, "it does not come to an end");
}

void
schedule_run(const struct schedule *schedule, FILE *story, struct sim_sights *sights,
             struct sim_result *result)
{
    struct sim sim = {.story = story, .sights = sights, .result = result};
    result->is_failed = false;
    sim_begin(&sim, schedule->seed);
    size_t i = 0;
    for (int actor = 0; i < schedule->count && !result->is_failed && !is_finished(&sim); i++)
        actor = sim_step(&sim, actor, schedule->steps[i]);
    if (sights)
        sights->steps += i;
    if (!result->is_failed)
        run_out(&sim);
    for (int p = 0; p < sim.process_count; p++)
        publisher_destroy(sim.processes[p].publisher);
}
