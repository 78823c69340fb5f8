// What others changed in rows of pending events (type, topic, retries, the error itself): the ids come from
// the text cache, which looks for rows that were written; what is held of them here is read again, some
// thousand a step, and the screen is told, so that it reads what it shows.
#include "backend/session.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { READ_AT_ONCE = 2000, NAMED = 20000 };

static void
tell(struct desk *desk, const int64_t *ids, size_t count)
{
    struct reply *reply = reply_create(REPLY_CHANGED, 0);
    if (count && count <= NAMED) {
        reply->ids = alloc_array(count, sizeof *reply->ids);
        reply->id_count = count;
        memcpy(reply->ids, ids, count * sizeof *ids);
    }
    reply->is_last = true;
    desk_reply(desk, reply);
}

// Too many to name: the next count or restart finds them, only what is on the screen is read again.
static void
note(void *context, const int64_t *ids, size_t count)
{
    struct desk *desk = context;
    if (ids && desk->changed_at == desk->changed_count)
        desk->changed_at = desk->changed_count = 0;
    for (size_t i = 0; ids && i < count; i++) {
        desk->changed =
            alloc_grow(desk->changed, desk->changed_count, &desk->changed_capacity, sizeof *desk->changed);
        desk->changed[desk->changed_count++] = ids[i];
    }
    if (!ids)
        tell(desk, NULL, 0);
}

void
desk_changes_begin(struct desk *desk)
{
    text_cache_tell(desk->cache, note, desk);
}

void
desk_changes_release(struct desk *desk)
{
    free(desk->changed);
    desk->changed = NULL;
}

bool
desk_changes_step(struct desk *desk)
{
    size_t left = desk->changed_count - desk->changed_at;
    if (left == 0)
        return false;
    struct err err = {0};
    struct event_page page = {0};
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP,
                                      .statuses = 1u << EVENT_PENDING,
                                      .ids = desk->changed + desk->changed_at,
                                      .id_count = left < READ_AT_ONCE ? left : READ_AT_ONCE};
    bool ok = store_events(desk->store, &query, &page, &err) &&
              desk_backlog_renew(desk, page.events, page.count, &err);
    event_page_release(&page);
    if (!ok && err.kind == ERR_UNREACHABLE)
        return desk_failed(desk, 0, &err); // the place is kept
    desk->changed_at += query.id_count;
    if (!ok)
        return desk_failed(desk, 0, &err);
    if (desk->changed_at == desk->changed_count)
        tell(desk, desk->changed, desk->changed_count);
    return true;
}
