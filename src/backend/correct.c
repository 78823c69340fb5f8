// Writes what somebody corrected as a revision of the event. Where the settings have checks they are asked
// first, which may take as long as a program likes, so such corrections have a lane (async/lane) beside the
// writer; one after another.
#include "backend/reader.h"
#include "backend/writer.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "store/events/records.h"
#include "store/events/revisions.h"

enum { SAVES = 8 };

struct correct_lane {
    struct lane *lane;
    _Atomic uint64_t unwanted; // the number of the one that was cancelled last
};

// One correction, on its way and while it is checked.
struct save {
    struct reader *reader; // of it: the settings and the mailbox of replies
    struct lane *lane;
    struct request *request;
    bool has_told; // that the check is waited for
};

static bool
write_revision(struct session *session, struct store *store, const struct request *request, struct err *err)
{
    int32_t no;
    if (!event_correct(store, request->id, request->correct.parent, &request->correct.parts, request->reason,
                       &no, err))
        return false;
    struct reply *reply = reply_create(REPLY_CORRECTED, request->number);
    reply->news.revision = no;
    reply->is_last = true;
    session_reply(session, reply);
    return true;
}

void
writer_correct_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    if (!write_revision(session, session->store, request, &err))
        session_failed(session, request->number, &err);
}

// --- with the check

static void
save_destroy(struct save *save)
{
    request_destroy(save->request);
    free(save);
}

static void
save_stopped(const struct save *save)
{
    struct err err = {0};
    err_set(&err, ERR_CANCELLED, "not saved: the check was not waited for");
    session_error(&save->reader->session, save->request->number, &err);
}

static bool
is_save_wanted(const struct save *save)
{
    return lane_is_wanted(save->lane) &&
           atomic_load(&save->reader->correct->unwanted) != save->request->number;
}

// Asked while the check is waited for, and only then.
static bool
is_going_on(void *context)
{
    struct save *save = context;
    if (!save->has_told)
        session_reply(&save->reader->session, reply_create(REPLY_CHECKING, save->request->number));
    save->has_told = true;
    return is_save_wanted(save);
}

// The event as the check is asked about it. One that is gone is told by the attempt to correct it.
static bool
read_event(struct store *store, const struct request *request, struct event_page *page, struct err *err)
{
    const struct event_query query = {
        .takes_unreadable = true, .fields = EVENT_PLANNED, .ids = &request->id, .id_count = 1};
    if (!store_events(store, &query, page, err))
        return false;
    if (page->count == 0 || request->correct.parts.has_payload ||
        !page->events[0].known.correction.has_payload)
        return true;
    bool is_kept; // what is corrected now is sent as it was received again
    return store_original(store, request->id, &page->arena, &page->events[0].payload, &is_kept, err);
}

static bool
ask_check(struct save *save, struct event_page *page, struct correct_result *result, struct err *err)
{
    struct correct_limits limits = save->reader->session.settings->correct;
    struct store *store = lane_connection(save->lane);
    const struct request *request = save->request;
    limits.is_wanted = is_going_on;
    limits.context = save;
    *result = (struct correct_result){.outcome = CORRECT_UNCHANGED};
    if (!store_connect(store, err) || !read_event(store, request, page, err))
        return false;
    if (page->count > 0 &&
        !correct_ask_check(&limits, &page->events[0], &request->correct.parts, &page->arena, result, err))
        return false;
    return result->outcome != CORRECT_FAILED ||
           err_set(err, ERR_DATA, "event %" PRId64 " was not corrected: %s", request->id, result->reason);
}

static void
save_refused(const struct save *save, const char *reason)
{
    struct reply *reply = reply_create(REPLY_REFUSED, save->request->number);
    reply->news.sentence = arena_text(&reply->arena, bytes_of(reason));
    reply->is_last = true;
    session_reply(&save->reader->session, reply);
}

static void
save_beside(struct lane *lane, void *given)
{
    struct save *save = given;
    struct err err = {0};
    struct event_page page = {0};
    struct correct_result result;
    save->lane = lane;
    bool ok = ask_check(save, &page, &result, &err);
    if (ok && result.outcome != CORRECT_UNCHANGED)
        save_refused(save, result.reason);
    else if (!is_save_wanted(save))
        save_stopped(save);
    else if (!ok || !write_revision(&save->reader->session, lane_connection(lane), save->request, &err))
        session_error(&save->reader->session, save->request->number, &err);
    event_page_release(&page);
    save_destroy(save);
}

static void
drop_save(void *given)
{
    struct save *save = given;
    save_stopped(save);
    save_destroy(save);
}

bool
reader_correct_takes(struct reader *reader, struct request *request)
{
    const struct backend_settings *settings = reader->session.settings;
    if (request->kind != REQUEST_CORRECT || request->correct.is_forced ||
        !correct_has_checks(&settings->correct))
        return false;
    if (!reader->correct) {
        reader->correct = alloc_bytes(sizeof *reader->correct);
        reader->correct->lane =
            lane_create(&(struct lane_settings){.name = "correct",
                                                .work = save_beside,
                                                .connection = store_create(&settings->store),
                                                .interrupt = store_lane_interrupt,
                                                .close = store_lane_close,
                                                .jobs = SAVES,
                                                .drop_job = drop_save});
    }
    struct save *save = alloc_bytes(sizeof *save);
    *save = (struct save){.reader = reader, .request = request};
    if (!lane_give(reader->correct->lane, save, 0))
        drop_save(save);
    return true;
}

// The lane's statements are short, so nothing is interrupted: one that writes may be through already.
void
reader_correct_cancel(struct reader *reader, uint64_t number)
{
    if (reader->correct)
        atomic_store(&reader->correct->unwanted, number);
}

void
reader_correct_release(struct reader *reader)
{
    if (!reader->correct)
        return;
    lane_destroy(reader->correct->lane);
    free(reader->correct);
    reader->correct = NULL;
}

// --- the original record

void
writer_record_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    struct record_answer answer;
    struct reply *reply = reply_create(REPLY_RECORD, request->number);
    if (!record_want(session->store, request->id, &reply->arena, &answer, &err)) {
        reply_destroy(reply);
        session_failed(session, request->number, &err);
        return;
    }
    reply->news.is_kept = answer.is_kept;
    reply->news.has_worker = answer.has_worker;
    reply->news.sentence = answer.why;
    reply->is_last = true;
    session_reply(session, reply);
}
