// pace: how many events an operation may send now, how many were sent lately, and when a worker gives its
// next sign. All know no clock of their own: `now` is clock_mono.
#ifndef REDRIVE_PUBLISH_PACE_H
#define REDRIVE_PUBLISH_PACE_H

#include <stddef.h>
#include <stdint.h>

// One operation.
struct pace {
    int64_t operation; // 0: free
    int32_t rate;
    double tokens;
    int64_t at; // clock_mono of the last refill
};
#define PACES 16
struct paces {
    struct pace rows[PACES];
};
// At most `most` events; 0: not yet, *wait_us tells how long to wait.
size_t pace_allow(struct paces *paces, int64_t operation, int32_t rate, size_t most, int64_t now,
                  int64_t *wait_us);
void pace_spend(struct paces *paces, int64_t operation, size_t count);

// Events per second over the last five seconds.
struct meter {
    int64_t counts[6];
    int64_t second; // of the newest
};
void meter_add(struct meter *meter, int64_t now, int64_t count);
double meter_rate(struct meter *meter, int64_t now);

// In how many µs a worker gives its next sign, after one that took `took` µs for `trips` round trips: a
// second, and less often on a slow link, where each sign keeps other things waiting. Up to round trips of 1.2
// s two signs are less than the five seconds apart after which others take its operation over (work_next).
#define PACE_SIGN_EVERY INT64_C(1000000)
int64_t pace_sign(int64_t took, int trips);

#endif
