#include "commands/sums.h"

#include "base/clock.h"
#include "commands/output.h"
#include "commands/publishing.h"
#include "engine/sums.h"

bool
sums_find(struct call *call, struct store *store)
{
    struct rollup_state state;
    char at[TIME_TEXT];
    const struct store_settings settings = publishing_store(call);
    if (!sums_catch_up(&settings, store, &state))
        return false;
    remark(call, "pending events: exact as of %s, out of the sums that are kept",
           time_local(state.exact_at, at));
    return true;
}

bool
sums_read(struct call *call, struct store *store, struct backlog *backlog, bool *is_read, struct err *err)
{
    *is_read = sums_find(call, store);
    return !*is_read || rollup_read(store, backlog, false, err);
}
