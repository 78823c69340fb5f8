#include "commands/rollup.h"

#include "base/clock.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "rollup/reader.h"

static bool
say_since(struct call *call, const struct rollup_state *state)
{
    char at[TIME_TEXT];
    remark(call, "pending events: exact as of %s, from the rollup", time_local(state->exact_at, at));
    return true;
}

bool
rollup_find(struct call *call, struct store *store)
{
    struct rollup_state state;
    return rollup_is_exact(store, &state) && say_since(call, &state);
}

bool
sums_read(struct call *call, struct store *store, struct backlog *backlog, bool *is_read, struct err *err)
{
    struct rollup_state state;
    const struct store_settings settings = publishing_store(call);
    *is_read = rollup_catch_up(&settings, store, &state) && say_since(call, &state);
    return !*is_read || rollup_read(store, backlog, false, err);
}
