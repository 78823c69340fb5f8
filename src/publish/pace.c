#include "publish/pace.h"

#include <string.h>
#include "base/clock.h"

static struct pace *
find_pace(struct paces *paces, int64_t operation, int64_t now)
{
    struct pace *oldest = &paces->rows[0];
    for (size_t i = 0; i < PACES; i++) {
        if (paces->rows[i].operation == operation)
            return &paces->rows[i];
        if (paces->rows[i].at < oldest->at)
            oldest = &paces->rows[i];
    }
    *oldest = (struct pace){.operation = operation, .at = now};
    return oldest;
}

// Half a second's worth at a time: even enough for consumers, and a change of rate takes effect
// within a second.
size_t
pace_allow(struct paces *paces, int64_t operation, int32_t rate, size_t most, int64_t now, int64_t *wait_us)
{
    *wait_us = 0;
    if (rate < 0)
        return most;
    if (rate == 0) {
        *wait_us = US_PER_SECOND;
        return 0;
    }

    struct pace *pace = find_pace(paces, operation, now);
    double room = rate; // a second's worth
    double slice = room / 2 < 1 ? 1 : room / 2;
    if (slice > (double)most)
        slice = (double)most;
    if (pace->rate != rate) {
        pace->tokens = pace->rate == 0 ? slice : pace->tokens * (double)rate / (double)pace->rate;
        pace->rate = rate;
    }
    pace->tokens += (double)(now - pace->at) / (double)US_PER_SECOND * rate;
    if (pace->tokens > room)
        pace->tokens = room;
    pace->at = now;

    if (pace->tokens < slice) {
        *wait_us = (int64_t)((slice - pace->tokens) / rate * (double)US_PER_SECOND) + 1;
        return 0;
    }
    return pace->tokens > (double)most ? most : (size_t)pace->tokens;
}

void
pace_spend(struct paces *paces, int64_t operation, size_t count)
{
    for (size_t i = 0; i < PACES; i++)
        if (paces->rows[i].operation == operation)
            paces->rows[i].tokens -= (double)count;
}

static void
turn_to(struct meter *meter, int64_t now)
{
    int64_t second = now / US_PER_SECOND;
    const int64_t size = sizeof meter->counts / sizeof *meter->counts;
    if (second - meter->second >= size)
        memset(meter->counts, 0, sizeof meter->counts);
    else
        for (int64_t s = meter->second + 1; s <= second; s++)
            meter->counts[s % size] = 0;
    meter->second = second;
}

void
meter_add(struct meter *meter, int64_t now, int64_t count)
{
    turn_to(meter, now);
    meter->counts[meter->second % (int64_t)(sizeof meter->counts / sizeof *meter->counts)] += count;
}

double
meter_rate(struct meter *meter, int64_t now)
{
    turn_to(meter, now);
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof meter->counts / sizeof *meter->counts; i++)
        sum += meter->counts[i];
    return (double)sum / (5.0 + (double)(now % US_PER_SECOND) / (double)US_PER_SECOND);
}

int64_t
pace_sign(int64_t took, int trips)
{
    int64_t trip = took / trips;
    if (trip <= PACE_SIGN_EVERY / 2)
        return PACE_SIGN_EVERY;
    return trips == 1 ? 2 * trip : trip;
}
