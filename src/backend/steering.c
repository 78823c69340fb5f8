// Operations are asked for and steered here, and a worker is started when one waits and none is alive.
#include "backend/writer.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/text.h"
#include "store/operations/doubt.h"
#include "store/operations/workers.h"

enum { LISTED = 200 };

// Starts a worker where none is alive.
static void
wake_worker(struct session *session)
{
    if (!session->settings->start_worker || session->settings->store.is_read_only)
        return;

    struct arena arena = {0};
    struct worker *workers;
    size_t count;
    struct err err = {0};
    if (worker_list(session->store, &arena, &workers, &count, &err) && count == 0 &&
        !session->settings->start_worker(session->settings->worker_context, &err)) {
        struct reply *reply = reply_create(REPLY_NEWS, 0);
        reply->news.sentence =
            arena_printf(&reply->arena, "cannot start a worker: %s; run: redrive work", err.text);
        session_reply(session, reply);
    }
    arena_release(&arena);
}

void
writer_steer_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    bool is_plan = request->steering.steer == STEER_STEPS || request->steering.steer == STEER_SETTLE_FOR ||
                   request->steering.steer == STEER_HALT;
    bool ok = is_plan ? operation_tune(session->store, request->operation, request->steering.steer,
                                       &request->confirm.plan, request->reason, &err)
                      : operation_steer(session->store, request->operation, request->steering.steer,
                                        request->steering.rate, request->reason, &err);
    if (!ok) {
        session_failed(session, request->number, &err);
        return;
    }
    static const char *const words[] = {[STEER_PAUSE] = "pauses after the current chunk",
                                        [STEER_STEPS] = "has new steps",
                                        [STEER_SETTLE_FOR] = "has a new watch time",
                                        [STEER_HALT] = "has a new halt limit",
                                        [STEER_RESUME] = "resumed",
                                        [STEER_CANCEL] = "cancelled; the current chunk finishes first",
                                        [STEER_UNDO] = "undone",
                                        [STEER_APPROVE] = "approved"};
    struct reply *reply = reply_create(REPLY_STEERED, request->number);
    reply->news.operation = request->operation;
    reply->is_last = true;
    if (request->steering.steer != STEER_RATE) // the screen knows both rates and says them itself
        reply->news.sentence = arena_printf(&reply->arena, "operation %" PRId64 " %s", request->operation,
                                            words[request->steering.steer]);
    struct operation now;
    if ((request->steering.steer == STEER_CANCEL || request->steering.steer == STEER_UNDO) &&
        operation_get(session->store, request->operation, &reply->arena, &now, NULL) &&
        (now.action == ACTION_REPROCESS || now.follower.is_wanted) && now.state == OPERATION_CANCELLED &&
        now.done == 0)
        reply->news.sentence =
            arena_printf(&reply->arena, "operation %" PRId64 " undone: nothing was %s", request->operation,
                         now.action == ACTION_CORRECT ? "corrected or sent" : "sent");
    session_reply(session, reply);
    if (request->steering.steer != STEER_PAUSE)
        wake_worker(session);
}

void
writer_decide_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    const struct doubt_verdict *verdict = &request->steering.verdict;
    bool is_slot = verdict->chunk[0] == '\0';
    int64_t events = 0;
    struct err err = {0};
    bool ok = is_slot ? doubt_renew(session->store, verdict->cluster, verdict->slot, request->reason, &err)
                      : doubt_decide(session->store, request->operation, verdict->chunk,
                                     verdict->is_published, request->reason, &events, &err);
    if (!ok) {
        session_failed(session, request->number, &err);
        return;
    }
    char count[TEXT_SHORT];
    struct reply *reply = reply_create(REPLY_STEERED, request->number);
    reply->news.operation = request->operation;
    reply->is_last = true;
    reply->news.sentence =
        is_slot
            ? arena_printf(&reply->arena, "slot %d resumed under new transactional ids", (int)verdict->slot)
            : arena_printf(&reply->arena, "operation %" PRId64 ": %s event%s %s", request->operation,
                           text_count(events, count), events == 1 ? "" : "s",
                           verdict->is_published ? "recorded as published" : "queued to be published again");
    session_reply(session, reply);
    wake_worker(session);
}

struct progress {
    struct session *session;
    uint64_t number;
};

static bool
send_progress(void *context, size_t written, size_t total)
{
    const struct progress *progress = context;
    struct reply *reply = reply_create(REPLY_PROGRESS, progress->number);
    reply->news.done = (int64_t)written;
    reply->news.of = (int64_t)total;
    session_reply(progress->session, reply);
    return !progress->session->is_stopping;
}

void
writer_confirm_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    struct progress progress = {.session = session, .number = request->number};
    struct operation_request confirm = request->confirm;
    confirm.ids = request->ids;
    confirm.count = request->id_count;
    confirm.scope = request->texts.scope;
    confirm.filter_text = request->texts.filter;
    confirm.reason = request->reason;
    confirm.target_topic = request->texts.target_topic;
    confirm.recipe = request->recipe.text;
    confirm.group = *request->texts.group ? request->texts.group : NULL;

    int64_t no = 0;
    if (!operation_insist(session->store, &confirm, send_progress, &progress, &no, &err)) {
        session_failed(session, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_CONFIRMED, request->number);
    reply->news.operation = no;
    reply->operations.list = arena_alloc(&reply->arena, sizeof *reply->operations.list);
    // News about it: without them it is on its way all the same.
    reply->operations.count = operation_get(session->store, no, &reply->arena, reply->operations.list, NULL);
    // Somebody else has all the events: the reply names the operations that have them.
    if (reply->operations.count && reply->operations.list->skipped == reply->operations.list->total &&
        !operation_outcomes(session->store, no, &reply->arena, &reply->operations.outcomes,
                            &reply->operations.outcome_count, NULL))
        reply->operations.outcome_count = 0;
    reply->is_last = true;
    session_reply(session, reply);
    wake_worker(session);
}

void
writer_wake_worker(struct writer *writer)
{
    wake_worker(&writer->session);
}

void
writer_resume_waiting(struct writer *writer)
{
    struct session *session = &writer->session;
    if (store_info(session->store)->schema_version == 0)
        return;
    struct arena arena = {0};
    struct operation *operations;
    size_t count;
    struct err err = {0};
    bool waits = false;
    if (operation_list(session->store, 0, LISTED, &arena, &operations, &count, &err))
        for (size_t i = 0; i < count; i++)
            waits |=
                operation_waits_for_worker(&operations[i], session->settings->worker_publishes, clock_now());
    else
        session_failed(session, 0, &err);
    arena_release(&arena);
    if (waits)
        wake_worker(session);
}
