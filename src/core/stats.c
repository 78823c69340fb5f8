#include "core/stats.h"

size_t
stats_states(const struct stats_pending *pending, struct stats_state states[STATS_STATES])
{
    states[0] = (struct stats_state){"pending", pending->pending};
    states[1] = (struct stats_state){"resolved", pending->resolved};
    states[2] = (struct stats_state){"discarded", pending->discarded};
    states[3] = (struct stats_state){"other", pending->other};
    return pending->other ? STATS_STATES : STATS_STATES - 1;
}
