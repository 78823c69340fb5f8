// What people say about groups, and who has a screen open: told to the screen whenever it has changed, and
// said.
#include "core/people.h"

#include <stdio.h>
#include "backend/reader.h"
#include "backend/writer.h"
#include "base/clock.h"
#include "store/people/people.h"

// Between looks at who is here.
#define HERE_EVERY (5 * US_PER_SECOND)
// A row counts for thirty seconds (sql/people.sql).
#define TELL_EVERY (10 * US_PER_SECOND)

static bool
look_here(struct reader *reader, bool *has_changed, struct err *err)
{
    struct arena arena = {0};
    struct people here = {0};
    uint64_t hash = 0;
    if (clock_mono() < reader->people.look_at)
        return true;
    reader->people.look_at = clock_mono() + HERE_EVERY;
    bool ok = presence_read(reader->session.store, reader->screen, &arena, &here, &hash, err);
    *has_changed = *has_changed || (ok && hash != reader->people.here);
    arena_release(&arena);
    return ok;
}

static bool
tell(struct reader *reader, struct err *err)
{
    struct store *store = reader->session.store;
    struct reply *reply = reply_create(REPLY_PEOPLE, 0);
    if (!people_read(store, &reply->arena, &reply->people, err) ||
        !presence_read(store, reader->screen, &reply->arena, &reply->people, &reader->people.here, err)) {
        reply_destroy(reply);
        return false;
    }
    reader->people.look_at = clock_mono() + HERE_EVERY;
    reply->is_last = true;
    session_reply(&reader->session, reply);
    return true;
}

bool
reader_people_look(struct reader *reader, struct err *err)
{
    int64_t token;
    bool has_changed = !reader->people.is_told;
    if (!people_token(reader->session.store, &token, err))
        return false;
    if (!has_changed && !look_here(reader, &has_changed, err)) // else it is told, which reads both
        return false;
    if (!has_changed && token == reader->people.token)
        return true;
    if (!tell(reader, err))
        return false;
    reader->people.is_told = true;
    reader->people.token = token;
    return true;
}

void
reader_people_begin(struct reader *reader)
{
    struct err err = {0};
    reader->people.is_told = false;
    if (!reader_people_look(reader, &err))
        session_failed(&reader->session, 0, &err);
}

static bool
say(struct store *store, const struct request *request, struct arena *arena, struct err *err)
{
    const struct care_asked *asked = &request->care;
    const char *before;
    switch (asked->verb) {
    case CARE_TAKE:
        return group_take(store, request->groups.group, asked->length, asked->note, arena, &before, err);
    case CARE_NOTE:
        return group_note(store, request->groups.group, asked->note, err);
    case CARE_RELEASE:
        return group_release(store, request->groups.group, err);
    case CARE_SNOOZE:
        break;
    }
    return group_snooze(store, request->groups.group, asked->length, asked->above, err);
}

void
writer_presence_request(struct writer *writer, const struct request *request)
{
    snprintf(writer->presence.place, sizeof writer->presence.place, "%s", request->reason);
    writer->presence.has_group = request->groups.has_group;
    writer->presence.group = request->groups.group;
    writer->presence.has_changed = true;
}

// Not heard of: who may not tell, and a connection that breaks, which the next request says.
void
writer_presence_step(struct writer *writer)
{
    struct err err = {0};
    struct store *store = writer->session.store;
    int64_t pause = writer->presence.has_changed ? HERE_EVERY : TELL_EVERY;
    bool is_due = !writer->presence.told_at || clock_mono() - writer->presence.told_at >= pause;
    if (!is_due || writer->presence.is_refused || !writer->presence.place[0] ||
        writer->session.settings->store.is_read_only || store_info(store)->schema_version == 0)
        return;
    writer->presence.told_at = clock_mono();
    writer->presence.has_changed = false;
    if (!presence_tell(store, writer->presence.screen, writer->presence.place,
                       writer->presence.has_group ? &writer->presence.group : NULL, &err))
        writer->presence.is_refused = err.kind == ERR_DENIED;
}

void
writer_care_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_CARE, request->number);
    if (!say(session->store, request, &reply->arena, &err)) {
        reply_destroy(reply);
        session_failed(session, request->number, &err);
        return;
    }
    reply->is_last = true;
    session_reply(session, reply);
}
