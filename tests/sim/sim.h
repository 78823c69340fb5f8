// sim: schedules of several publishers, the very code that ships, between a PostgreSQL and a Kafka in memory.
//
// A schedule is a seed's rates and one word of eight bytes a step. The bytes choose, one after the other, the
// process that continues, the harm by network and servers, the process that dies, and the fate of each
// request. A byte of 0, and all after the eighth, choose the harmless. So any step can be taken out, and any
// byte set to 0, without moving the choices of the others: that is how a schedule that fails is made short.
//
// In half of the schedules the database is copied, or an older backup is put back, while workers are at it.
// From then on an event may be open although it was sent: but no event may be sent twice.
//
// In half of the schedules clocks are set: PostgreSQL's or a worker's, by up to an hour in either direction.
// In some, markers expire: then the chunk is in doubt, and the topics are searched for it.
//
// After the last step no more harm is done, and one process alone brings everything to its end.
#ifndef REDRIVE_TESTS_SIM_H
#define REDRIVE_TESTS_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SIM_STEPS 160

struct schedule {
    uint64_t seed; // rates, and how many slots and processes
    size_t count;
    uint64_t steps[SIM_STEPS];
};

// How often each kind of harm was really met; sums.
struct sim_sights {
    uint64_t steps, crashes, takeovers, lost_answers, late_requests, repeated_requests, late_hits, fencings;
    uint64_t cuts, old_answers, unstable_reads, finished, recovered_published, recovered_unpublished;
    uint64_t turns, copies, put_backs, stops;
    uint64_t clocks_set, clocks_refused, expired, searched;
};

struct sim_result {
    bool is_failed;
    char why[200]; // the invariant that broke, in words
};

void schedule_make(struct schedule *schedule, uint64_t seed);
// `story`: gets each step in words; may be NULL. `sights` is added to; may be NULL.
void schedule_run(const struct schedule *schedule, FILE *story, struct sim_sights *sights,
                  struct sim_result *result);
// Takes steps and harm out of a schedule that fails while it still fails.
void schedule_shorten(struct schedule *schedule);

// The first of the seeds first, first + stride, … (`count` of them) whose schedule fails; false: none does.
bool sim_search(uint64_t first, uint64_t stride, uint64_t count, struct schedule *found,
                struct sim_sights *sights);
// Shortens it and writes its story, as comments of TAP.
void sim_tell(struct schedule *schedule, FILE *out);

#endif
