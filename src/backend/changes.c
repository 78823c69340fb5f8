// What others changed in rows of pending events (type, topic, retries, the error itself): the ids come from
// the text cache, which looks for rows that were written; what is held of them here is read again, some
// thousand a step, and the screen is told, so that it reads what it shows.
#include "backend/session.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { READ_AT_ONCE = 2000, NAMED = 20000 };

static void
tell(struct session *session, const int64_t *ids, size_t count)
{
    struct reply *reply = reply_create(REPLY_CHANGED, 0);
    if (count && count <= NAMED) {
        reply->ids = alloc_array(count, sizeof *reply->ids);
        reply->id_count = count;
        memcpy(reply->ids, ids, count * sizeof *ids);
    }
    reply->is_last = true;
    session_reply(session, reply);
}

// Too many to name: the next count or restart finds them, only what is on the screen is read again.
static void
note(void *context, const int64_t *ids, size_t count)
{
    struct session *session = context;
    if (ids && session->changed_at == session->changed_count)
        session->changed_at = session->changed_count = 0;
    for (size_t i = 0; ids && i < count; i++) {
        session->changed = alloc_grow(session->changed, session->changed_count, &session->changed_capacity,
                                      sizeof *session->changed);
        session->changed[session->changed_count++] = ids[i];
    }
    if (!ids)
        tell(session, NULL, 0);
}

void
session_changes_begin(struct session *session)
{
    text_cache_tell(session->cache, note, session);
}

void
session_changes_release(struct session *session)
{
    free(session->changed);
    session->changed = NULL;
}

bool
session_changes_step(struct session *session)
{
    size_t left = session->changed_count - session->changed_at;
    if (left == 0)
        return false;
    struct err err = {0};
    struct event_page page = {0};
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP,
                                      .statuses = 1u << EVENT_PENDING,
                                      .ids = session->changed + session->changed_at,
                                      .id_count = left < READ_AT_ONCE ? left : READ_AT_ONCE};
    bool ok = store_events(session->store, &query, &page, &err) &&
              session_backlog_renew(session, page.events, page.count, &err);
    event_page_release(&page);
    if (!ok && err.kind == ERR_UNREACHABLE)
        return session_failed(session, 0, &err); // the place is kept
    session->changed_at += query.id_count;
    if (!ok)
        return session_failed(session, 0, &err);
    if (session->changed_at == session->changed_count)
        tell(session, session->changed, session->changed_count);
    return true;
}
