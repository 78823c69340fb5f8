// What people say about groups: told to the screen whenever it has changed, and said.
#include "core/people.h"

#include "backend/reader.h"
#include "backend/writer.h"
#include "store/people/people.h"

bool
reader_people_look(struct reader *reader, struct err *err)
{
    struct store *store = reader->session.store;
    int64_t token;
    if (!people_token(store, &token, err))
        return false;
    if (reader->people.is_told && token == reader->people.token)
        return true;
    struct reply *reply = reply_create(REPLY_PEOPLE, 0);
    if (!people_read(store, &reply->arena, &reply->people, err)) {
        reply_destroy(reply);
        return false;
    }
    reader->people.is_told = true;
    reader->people.token = token;
    reply->is_last = true;
    session_reply(&reader->session, reply);
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
