// One schedule: what its seed says about the whole, and its steps.
#include "tests/sim/sim_world.h"

#include <inttypes.h>
#include "base/clock.h"
#include "publish/broken.h"

#define SLOTS 2          // at most
#define EVENTS 5         // few, so that every pair of them meets in a schedule
#define FORK_RATE 24     // of 256
#define TICK (20 * 1000) // µs: patience, deadlines and heartbeats come within a schedule

void
schedule_make(struct schedule *schedule, uint64_t seed)
{
    uint64_t state = seed ^ 0x5eed;
    schedule->seed = seed;
    schedule->count = SIM_STEPS;
    for (size_t i = 0; i < SIM_STEPS; i++)
        schedule->steps[i] = sim_mix(&state);
}

static void
slot_begin(struct sim_slot *slot, int32_t no, bool is_provisioned)
{
    slot->row.no = no;
    sim_name_slot(slot, 1);
    slot->row.is_provisioned = is_provisioned;
    if (is_provisioned) {
        slot->offsets.marker = (struct marker){.is_present = true};
        snprintf(slot->offsets.marker.id, sizeof slot->offsets.marker.id, "install");
    }
}

// One turn was taken before the schedule begins.
static void
turns_begin(struct sim *sim)
{
    struct sim_slot *turns = &sim->slots[SIM_TURNS];
    turns->row.no = SIM_TURNS;
    turns->offsets.marker = (struct marker){.is_present = true, .seq = 1, .id = "turn"};
    sim->turn = (struct turn){.last = {.no = 1, .id = "turn"}, .is_confirmed = true, .finished_no = 1};
    sim->has_turns = true;
}

static void
process_die(struct sim *sim, int which)
{
    if (sim->sights)
        sim->sights->crashes++;
    sim_say(sim, "%s is killed", sim->processes[which].name);
    sim_process_end(sim, which);
    sim_process_start(sim, which);
}

// The rates and sizes that the seed chooses for the whole schedule.
static void
sim_begin(struct sim *sim, uint64_t seed)
{
    static const int faults[] = {6, 16, 40}, crashes[] = {0, 6, 16}, expiries[] = {24, 96, 255};
    static const int stays[] = {128, 208, 240}, lags[] = {0, 64, 160}, cuts[] = {0, 0, 48, 160};
    uint64_t state = seed;
    uint64_t rates = sim_mix(&state);
    sim->slot_count = 1 + (int)(rates % SLOTS);
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
    turns_begin(sim);
    static const enum sim_fork forks[] = {SIM_NO_FORK, SIM_NO_FORK, SIM_COPY, SIM_PUT_BACK};
    sim->fork = forks[(rates >> 40) % 4];
    static const int clocks[] = {0, 0, 8, 32};
    sim->clock_rate = clocks[(rates >> 44) % 4];
    static const int expiries_of_markers[] = {0, 0, 8, 32};
    sim->expiry_of_markers = sim->fork == SIM_NO_FORK ? expiries_of_markers[(rates >> 48) % 4] : 0;
    for (int i = 0; i < sim->process_count; i++) {
        sim_process_start(sim, i);
        sim->processes[i].has_turn = true;
    }
}

// A copy of the database, on which the last process works from now on.
static void
make_copy(struct sim *sim)
{
    int last = sim->process_count - 1;
    sim_process_end(sim, last);
    sim_use(sim, 0);
    sim_save(sim, &sim->aside);
    sim->processes[last].database = 1;
    sim_process_start(sim, last);
    sim->is_forked = true;
    if (sim->sights)
        sim->sights->copies++;
    sim_say(sim, "database 0 is copied; %s works on the copy, database 1", sim->processes[last].name);
}

static void
put_back(struct sim *sim)
{
    sim_put_back(sim, &sim->backup);
    for (int i = 0; i < sim->process_count; i++)
        sim->processes[i].is_away = true;
    sim->is_forked = true;
    if (sim->sights)
        sim->sights->put_backs++;
    sim_say(sim, "the backup of the database is put back");
}

static void
fork_moves(struct sim *sim)
{
    if (sim->is_forked || sim->fork == SIM_NO_FORK || !sim_happens(sim, FORK_RATE))
        return;
    if (sim->fork == SIM_COPY) {
        make_copy(sim);
    } else if (!sim->is_saved) {
        sim_save(sim, &sim->backup);
        sim->is_saved = true;
        sim_say(sim, "a backup of the database is made");
    } else {
        put_back(sim);
    }
}

// A clock is set, by up to an hour in either direction, or right again.
static void
clocks_move(struct sim *sim)
{
    if (!sim->clock_rate || !sim_happens(sim, sim->clock_rate))
        return;
    unsigned whose = sim_choose(sim, (unsigned)sim->process_count + 1);
    int64_t minutes = (int64_t)sim_choose(sim, 121) - 60;
    int64_t *skew = whose ? &sim->processes[whose - 1].skew : &sim->skew;
    *skew = minutes * 60 * US_PER_SECOND;
    if (sim->sights)
        sim->sights->clocks_set++;
    sim_say(sim, "the clock of %s is set: %" PRId64 " minutes ahead",
            whose ? sim->processes[whose - 1].name : "PostgreSQL", minutes);
}

// One step of one process; the word chooses the harm.
static int
sim_step(struct sim *sim, int actor, uint64_t word)
{
    sim->word = word;
    if (sim_happens(sim, 256 - sim->stay_rate))
        actor = (actor + 1 + (int)sim_choose(sim, (unsigned)sim->process_count - 1)) % sim->process_count;
    sim_kafka_moves(sim);
    fork_moves(sim);
    clocks_move(sim);
    if (sim->expiry_of_markers && sim_happens(sim, sim->expiry_of_markers))
        sim_marker_expires(sim, &sim->slots[sim_choose(sim, (unsigned)sim->slot_count)]);
    if (sim->has_expired && sim_happens(sim, 64))
        sim_doubt_search(sim);
    bool dies = sim_happens(sim, sim->crash_rate);
    struct err err;
    err.kind = ERR_NONE;
    err.text[0] = '\0';
    sim_process_step(&sim->processes[actor], &err);
    if (dies)
        process_die(sim, actor);
    sim_check(sim);
    return actor;
}

void
schedule_run(const struct schedule *schedule, FILE *story, struct sim_sights *sights,
             struct sim_result *result)
{
    struct sim sim = {.event_count = EVENTS,
                      .tick = TICK,
                      .is_strict = true,
                      .story = story,
                      .sights = sights,
                      .result = result};
    result->is_failed = false;
    sim_begin(&sim, schedule->seed);
    size_t i = 0;
    for (int actor = 0;
         i < schedule->count && !result->is_failed && (sim.is_forked || !sim_is_finished(&sim)); i++)
        actor = sim_step(&sim, actor, schedule->steps[i]);
    if (sights)
        sights->steps += i;
    if (!result->is_failed)
        sim_run_out(&sim);
    sim_end(&sim);
}
