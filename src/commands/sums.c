#include "commands/sums.h"

#include "base/clock.h"
#include "commands/output.h"
#include "commands/publishing.h"
#include "engine/keeper.h"
#include "store/rollup.h"

static const int64_t FRESH_FOR = 5 * US_PER_SECOND;
// A keeper compares again when twenty times the cost of the last comparison has passed.
static const int64_t FRESH_WHILE_KEPT = 60 * US_PER_SECOND;
static const int64_t CATCH_UP_FOR = 20 * US_PER_SECOND;

// Nobody kept them for a while, this process may, and most of it is there: it takes seconds.
static void
catch_up(const struct store_settings *settings)
{
    struct keeper *keeper = keeper_create(settings);
    int64_t until = clock_mono() + CATCH_UP_FOR;
    for (int64_t wait = 0; !keeper_is_exact(keeper) && wait < US_PER_SECOND && clock_mono() < until;) {
        wait = keeper_step(keeper);
        clock_sleep(wait > 100000 ? 100000 : wait);
    }
    keeper_destroy(keeper);
}

// Are they those of the table, but for what arrived a moment ago? What stops that from being known is no
// failure: then all events are looked at.
static bool
are_sums_exact(struct call *call, struct store *store, struct rollup_state *state)
{
    for (int turn = 0; turn < 2; turn++) {
        if (store_info(store)->schema_version == 0 || !rollup_state(store, state, NULL) || !state->exists ||
            !state->is_ours || state->is_counting)
            return false;
        int64_t fresh_for = state->is_kept ? FRESH_WHILE_KEPT : FRESH_FOR;
        if (state->exact_at != TIME_ABSENT && state->behind == 0 &&
            state->as_of - state->exact_at < fresh_for)
            return true;
        if (turn > 0 || state->is_kept || !state->may_keep)
            return false;
        const struct store_settings settings = publishing_store(call);
        catch_up(&settings);
    }
    return false;
}

bool
sums_read(struct call *call, struct store *store, struct backlog *backlog, bool *is_read, struct err *err)
{
    struct rollup_state state;
    char at[TIME_TEXT];
    *is_read = are_sums_exact(call, store, &state);
    if (!*is_read)
        return true;
    if (!rollup_read(store, backlog, false, err))
        return false;
    remark(call, "pending events: exact as of %s, out of the sums that are kept",
           time_local(state.exact_at, at));
    return true;
}
