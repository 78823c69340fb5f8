// Looks for a schedule that fails, and shortens it until it can be read.
#include "tests/sim/sim.h"

#include <inttypes.h>
#include <string.h>
#include "publish/broken.h"

static bool
fails(const struct schedule *schedule)
{
    struct sim_result result;
    schedule_run(schedule, NULL, NULL, &result);
    return result.is_failed;
}

// Takes out `len` steps from `at` on, if it fails without them.
static bool
take_out(struct schedule *schedule, size_t at, size_t len)
{
    struct schedule shorter = *schedule;
    if (at + len > shorter.count)
        len = shorter.count - at;
    memmove(&shorter.steps[at], &shorter.steps[at + len], (shorter.count - at - len) * sizeof *shorter.steps);
    shorter.count -= len;
    if (!fails(&shorter))
        return false;
    *schedule = shorter;
    return true;
}

static bool
remove_steps(struct schedule *schedule)
{
    bool is_shorter = false;
    for (size_t len = SIM_STEPS / 2; len > 0; len /= 2)
        for (size_t at = 0; at < schedule->count;)
            if (take_out(schedule, at, len))
                is_shorter = true;
            else
                at += len;
    return is_shorter;
}

// A choice of 0 is less harm.
static bool
calm_steps(struct schedule *schedule)
{
    bool is_calmer = false;
    for (size_t i = 0; i < schedule->count; i++)
        for (int byte = 0; byte < 8; byte++) {
            uint64_t was = schedule->steps[i];
            schedule->steps[i] &= ~((uint64_t)0xff << (8 * byte));
            if (schedule->steps[i] != was && fails(schedule))
                is_calmer = true;
            else
                schedule->steps[i] = was;
        }
    return is_calmer;
}

void
schedule_shorten(struct schedule *schedule)
{
    for (bool is_better = true; is_better;) {
        is_better = remove_steps(schedule);
        is_better = calm_steps(schedule) || is_better;
    }
}

bool
sim_search(uint64_t first, uint64_t stride, uint64_t count, struct schedule *found, struct sim_sights *sights)
{
    struct sim_result result;
    for (uint64_t i = 0; i < count; i++) {
        schedule_make(found, first + i * stride);
        schedule_run(found, NULL, sights, &result);
        if (result.is_failed)
            return true;
    }
    return false;
}

void
sim_tell(struct schedule *schedule, FILE *out)
{
    struct sim_result result;
    size_t before = schedule->count;
    schedule_shorten(schedule);
    fprintf(out,
            "seed %" PRIu64
            ", shortened from %zu steps to %zu (each line an effect; then nobody does harm any more):\n",
            schedule->seed, before, schedule->count);
    schedule_run(schedule, out, NULL, &result);
    fprintf(out, "#   => %s\n", result.why);
}
