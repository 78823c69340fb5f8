#include "ui/views/follow.h"

#include "base/clock.h"

void
follow_begin(struct follow *follow, const struct app *app)
{
    follow->after = app_config(app)->follow_after;
    follow_touch(follow);
}

void
follow_touch(struct follow *follow)
{
    follow->since = clock_mono();
    follow->is_asleep = false;
}

int64_t
follow_due(const struct follow *follow, const struct table *table, bool has_news)
{
    bool waits =
        has_news && follow->after > 0 && !follow->is_asleep && table->cursor == 0 && !table->is_visual;
    return waits ? follow->since + follow->after : -1;
}

bool
follow_now(struct follow *follow, const struct app *app, const void *state)
{
    follow_touch(follow);
    follow->is_asleep = !app_is_on_top(app, state);
    return !follow->is_asleep && app_is_at_rest(app);
}
