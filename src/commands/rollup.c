#include "commands/rollup.h"

#include "base/clock.h"
#include "base/text.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "rollup/reader.h"

// The counts are read next, so this moment is theirs. When they were compared with the table is another one.
static bool
say_since(struct call *call, const struct rollup_state *state)
{
    char at[TIME_TEXT], age[TEXT_SHORT];
    int64_t passed = state->as_of > state->exact_at ? state->as_of - state->exact_at : 0;
    remark(call, "pending events as of %s, from the rollup, which equalled the table %s before",
           time_local(state->as_of, at), text_age(passed, age));
    return true;
}

bool
rollup_find(struct call *call, struct store *store, bool *is_readable, uint64_t *token)
{
    struct rollup_state state;
    const struct store_settings settings = publishing_store(call);
    bool is_exact = rollup_catch_up(&settings, store, &state) && say_since(call, &state);
    if (is_readable)
        *is_readable = is_exact && rollup_is_readable(&state);
    if (token)
        *token = is_exact ? state.token : 0;
    return is_exact;
}

bool
sums_read(struct call *call, struct store *store, struct backlog *backlog, bool *is_read, struct err *err)
{
    *is_read = rollup_find(call, store, NULL, NULL);
    return !*is_read || rollup_read(store, backlog, false, err);
}
