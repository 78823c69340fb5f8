#include "ui/views/groups/recent.h"

#include "base/clock.h"

enum { MOST_TRIES = 20 };
static const int64_t AGAIN_AFTER = US_PER_SECOND / 2;
// Nobody reads what goes by: over a slow line each row would cost a screenful of newest events.
static const int64_t RESTS_AFTER = US_PER_SECOND / 5;

void
group_recent_want(struct app *app, struct group_recent *recent, const struct event_group *group,
                  const struct list_query *query)
{
    bool is_other = recent->key != group->key;
    if (is_other) {
        recent->rests_at = clock_mono() + RESTS_AFTER;
        recent->number = 0;
        recent->is_there = false;
        recent->key = group->key;
    }
    if (recent->number == 0 && clock_mono() < recent->rests_at)
        return;
    bool has_changed = recent->count != group->count || recent->last_at != group->last_at;
    if (recent->number && (!has_changed || app_is_waiting(app, recent->number)))
        return;
    recent->tries = has_changed ? 0 : recent->tries + 1;
    recent->is_filtered = query->filter && *query->filter;
    recent->asked_at = clock_mono();
    recent->rests_at = 0;
    recent->count = group->count;
    recent->last_at = group->last_at;
    struct request *request = request_create(REQUEST_RECENT);
    request->list = list_query_copy(query);
    recent->number = app_send(app, request);
}

int64_t
group_recent_due(const struct group_recent *recent)
{
    if (recent->rests_at)
        return recent->rests_at;
    int64_t wanted = recent->count < RECENT_EVENTS ? recent->count : RECENT_EVENTS;
    bool is_short = recent->number && recent->is_there && (int64_t)recent->told.count < wanted;
    return is_short && !recent->is_filtered && recent->tries < MOST_TRIES ? recent->asked_at + AGAIN_AFTER
                                                                          : -1;
}

bool
group_recent_receive(struct group_recent *recent, struct reply *reply)
{
    if (!reply->number || reply->number != recent->number)
        return false;
    if (reply->kind != REPLY_RECENT) // the next change of the group asks again
        return true;
    arena_release(&recent->arena);
    arena_adopt(&recent->arena, &reply->arena);
    recent->told = reply->recent;
    recent->is_there = true;
    return true;
}

void
group_recent_forget(struct group_recent *recent)
{
    recent->number = 0;
    recent->rests_at = 0;
}

void
group_recent_release(struct group_recent *recent)
{
    arena_release(&recent->arena);
    *recent = (struct group_recent){0};
}

const struct recent_reply *
group_recent_of(const struct group_recent *recent, const struct event_group *group)
{
    return recent->is_there && recent->key == group->key ? &recent->told : NULL;
}
