#include "rollup/reader.h"

#include "base/clock.h"
#include "rollup/maintainer.h"

static const int64_t FRESH_FOR = 5 * US_PER_SECOND;
// A maintainer checks the count again when twenty times the cost of the last check has passed.
static const int64_t FRESH_WHILE_KEPT = 60 * US_PER_SECOND;
static const int64_t CATCH_UP_FOR = 20 * US_PER_SECOND;

static bool
read_state(struct store *store, struct rollup_state *state)
{
    return store_info(store)->schema_version > 0 && rollup_state(store, state, NULL) && state->exists &&
           state->is_ours && !state->is_counting;
}

static bool
is_exact(const struct rollup_state *state)
{
    int64_t fresh_for = state->is_kept ? FRESH_WHILE_KEPT : FRESH_FOR;
    return state->exact_at != TIME_ABSENT && state->behind == 0 && state->as_of - state->exact_at < fresh_for;
}

bool
rollup_is_exact(struct store *store, struct rollup_state *state)
{
    return read_state(store, state) && is_exact(state);
}

bool
rollup_is_readable(const struct rollup_state *state)
{
    return !state->is_counting && !state->is_listing;
}

static bool
needs_no_catch_up(const struct rollup_state *state)
{
    return is_exact(state) && (rollup_is_readable(state) || state->is_kept);
}

bool
rollup_may_be_exact(const struct store_settings *settings, struct store *store)
{
    struct rollup_state state;
    return read_state(store, &state) &&
           (needs_no_catch_up(&state) || (!state.is_kept && !settings->is_read_only));
}

static bool
may_catch_up(const struct store_settings *settings, const struct rollup_state *state)
{
    return !needs_no_catch_up(state) && !state->is_kept && !settings->is_read_only;
}

bool
rollup_is_left_behind(const struct store_settings *settings, struct store *store)
{
    struct rollup_state state;
    return read_state(store, &state) && may_catch_up(settings, &state);
}

bool
rollup_catch_up(const struct store_settings *settings, struct store *store, struct rollup_state *state)
{
    if (!read_state(store, state))
        return false;
    if (needs_no_catch_up(state))
        return true;
    if (!may_catch_up(settings, state))
        return false;

    // Most events are counted already, so this takes seconds. A session without the rights ends at the first
    // step.
    struct maintainer *maintainer =
        maintainer_create_on(settings, store_is_like(store, settings) ? store : NULL);
    int64_t until = clock_mono() + CATCH_UP_FOR;
    for (int64_t wait = 0;
         !maintainer_is_exact(maintainer) && wait < US_PER_SECOND && clock_mono() < until;) {
        wait = maintainer_step(maintainer);
        clock_sleep(wait > 100000 ? 100000 : wait);
    }
    maintainer_destroy(maintainer);
    return rollup_is_exact(store, state);
}
