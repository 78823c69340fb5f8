// Changes that others made in rows of pending events (type, topic, retries, the error itself): the ids come
// from the text cache, which looks for rows that were written; what is held of them here is read again, some
// thousand a step, and a reply names them, so that the screen reads again what it shows.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { READ_AT_ONCE = 2000, NAMED = 20000 };

static void
send(struct reader *reader, const int64_t *ids, size_t count)
{
    struct reply *reply = reply_create(REPLY_CHANGED, 0);
    if (count && count <= NAMED) {
        reply->list.ids = alloc_array(count, sizeof *reply->list.ids);
        reply->list.count = count;
        memcpy(reply->list.ids, ids, count * sizeof *ids);
    }
    reply->is_last = true;
    session_reply(&reader->session, reply);
}

// Too many to name: the next count or restart finds them, only what is on the screen is read again.
static void
note(void *context, const int64_t *ids, size_t count)
{
    struct reader *reader = context;
    if (ids && reader->changes.at == reader->changes.count)
        reader->changes.at = reader->changes.count = 0;
    for (size_t i = 0; ids && i < count; i++) {
        reader->changes.ids = alloc_grow(reader->changes.ids, reader->changes.count,
                                         &reader->changes.capacity, sizeof *reader->changes.ids);
        reader->changes.ids[reader->changes.count++] = ids[i];
    }
    if (!ids) {
        reader_matches_changed(reader);
        send(reader, NULL, 0);
    }
}

void
reader_changes_begin(struct reader *reader)
{
    text_cache_tell(reader->texts.cache, note, reader);
}

void
reader_changes_release(struct reader *reader)
{
    free(reader->changes.ids);
    reader->changes.ids = NULL;
}

bool
reader_changes_step(struct reader *reader)
{
    size_t left = reader->changes.count - reader->changes.at;
    if (left == 0)
        return false;
    struct err err = {0};
    struct event_page page = {0};
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP,
                                      .statuses = 1u << EVENT_PENDING,
                                      .ids = reader->changes.ids + reader->changes.at,
                                      .id_count = left < READ_AT_ONCE ? left : READ_AT_ONCE};
    bool ok = store_events(reader->session.store, &query, &page, &err) &&
              reader_backlog_renew(reader, page.events, page.count, &err);
    event_page_release(&page);
    if (!ok && err.kind == ERR_UNREACHABLE)
        return session_failed(&reader->session, 0, &err); // the place is kept
    reader->changes.at += query.id_count;
    if (!ok)
        return session_failed(&reader->session, 0, &err);
    if (reader->changes.at == reader->changes.count) {
        reader_matches_changed(reader);
        send(reader, reader->changes.ids, reader->changes.count);
    }
    return true;
}
