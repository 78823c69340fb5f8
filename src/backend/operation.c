// Operations: reading how they stand (the reader's session), asking for and steering them (the writer's).
#include "backend/session.h"

#include <inttypes.h>
#include <string.h>
#include "base/text.h"
#include "store/operations/doubt.h"
#include "store/operations/ledger.h"
#include "store/events/history.h"
#include "store/operations/workers.h"

enum { LISTED = 200 };
static const int64_t LOOK_EVERY = 500000;

void
session_operations_request(struct session *session, const struct request *request)
{
    switch (request->kind) {
    case REQUEST_OPERATIONS:
        session->operations_number = request->number;
        break;
    case REQUEST_OPERATION:
        session->operation_number = request->number;
        session->operation_no = request->operation;
        break;
    default:
        session->operations_number = 0;
        session->operation_number = 0;
        return;
    }
    session->operations_at = 0;
    session->change_token = 0;
}

static bool
tell_list(struct session *session, struct err *err)
{
    struct reply *reply = reply_create(REPLY_OPERATIONS, session->operations_number);
    if (!operation_list(session->store, 0, LISTED, &reply->arena, &reply->operations, &reply->operation_count,
                        err) ||
        !doubt_list(session->store, 0, &reply->arena, &reply->doubts, &reply->doubt_count, err)) {
        reply_destroy(reply);
        return false;
    }
    reply->is_last = true;
    session_reply(session, reply);
    return true;
}

static bool
tell_one(struct session *session, struct err *err)
{
    struct reply *reply = reply_create(REPLY_OPERATION, session->operation_number);
    reply->operations = arena_alloc(&reply->arena, sizeof *reply->operations);
    reply->operation_count = 1;
    reply->is_last = true;
    if (operation_get(session->store, session->operation_no, &reply->arena, reply->operations, err) &&
        operation_outcomes(session->store, session->operation_no, &reply->arena, &reply->outcomes,
                           &reply->outcome_count, err) &&
        operation_returns(session->store, session->operation_no, &reply->arena, &reply->returns,
                          &reply->return_count, err) &&
        doubt_list(session->store, session->operation_no, &reply->arena, &reply->doubts, &reply->doubt_count,
                   err)) {
        session_reply(session, reply);
        return true;
    }
    reply_destroy(reply);
    if (err->kind != ERR_NOT_FOUND)
        return false;
    session_error(session, session->operation_number, err);
    session->operation_number = 0;
    err_clear(err);
    return true;
}

static void
tell_end(struct session *session, const struct operation *operation)
{
    struct reply *reply = reply_create(REPLY_NEWS, 0);
    reply->operation = operation->no;
    reply->sentence = operation_end_sentence(operation, &reply->arena);
    session_reply(session, reply);
}

static bool
was_live(const struct session *session, int64_t no)
{
    for (size_t i = 0; i < session->live_count; i++)
        if (session->live[i] == no)
            return true;
    return false;
}

// A group that an operation closed was empty at its end: what is in it later came back.
static void
note_emptied(struct session *session, const struct operation *operation)
{
    uint64_t low;
    uint64_t high;
    bool closes = operation->action == ACTION_REPROCESS || operation->action == ACTION_RESOLVE ||
                  operation->action == ACTION_DISCARD;
    if (closes && operation->state == OPERATION_DONE && operation->group &&
        group_parse(bytes_of(operation->group), &low, &high) && low == high)
        backlog_emptied(session->backlog, low, operation->finished_at);
}

// Which operations are live, which ended since, and the one that the status line shows.
static bool
watch_live(struct session *session, struct err *err)
{
    struct reply *holder = reply_create(REPLY_STATUS, 0);
    struct operation *operations;
    size_t count;
    bool ok = operation_list(session->store, 0, LISTED, &holder->arena, &operations, &count, err);
    size_t live = 0;
    int64_t now_live[64];
    for (size_t i = 0; ok && i < count; i++) {
        if (!operation_state_is_final(operations[i].state) && live < 64)
            now_live[live++] = operations[i].no;
        else if (was_live(session, operations[i].no))
            tell_end(session, &operations[i]);
        note_emptied(session, &operations[i]);
    }
    if (ok) {
        memcpy(session->live, now_live, live * sizeof *now_live);
        session->live_count = live;
        session->poll_at = 0; // what ended changed the backlog
    }
    reply_destroy(holder);
    return ok;
}

// Whoever asked is told why there is nothing to tell; asked again, it is looked at again.
static bool
refuse_without_schema(struct session *session)
{
    const uint64_t asked[] = {session->operations_number, session->operation_number};
    struct err err = {0};
    err_set(&err, ERR_NOT_FOUND, "database %s has no schema redrive yet: run redrive migrate",
            store_info(session->store)->database);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (asked[i])
            session_error(session, asked[i], &err);
    session->operations_number = 0;
    session->operation_number = 0;
    return asked[0] || asked[1];
}

bool
session_operations_step(struct session *session)
{
    if (store_info(session->store)->schema_version == 0)
        return refuse_without_schema(session);
    if (clock_mono() < session->operations_at)
        return false;
    session->operations_at = clock_mono() + LOOK_EVERY;

    struct err err = {0};
    bool is_first = session->change_token == 0;
    bool has_changed;
    if (!operation_changes(session->store, &session->change_token, &has_changed, &err))
        return session_failed(session, 0, &err);
    if (!has_changed && !is_first)
        return false;

    bool ok = watch_live(session, &err) && (!session->operations_number || tell_list(session, &err)) &&
              (!session->operation_number || tell_one(session, &err));
    if (!ok)
        return session_failed(session, 0, &err);
    session_tell_status(session);
    return true;
}

void
session_steer_request(struct session *session, const struct request *request)
{
    struct err err = {0};
    bool is_plan =
        request->steer == STEER_STEPS || request->steer == STEER_SETTLE_FOR || request->steer == STEER_HALT;
    bool ok =
        is_plan
            ? operation_tune(session->store, request->operation, request->steer, &request->confirm.plan, &err)
            : operation_steer(session->store, request->operation, request->steer, request->rate, &err);
    if (!ok) {
        session_failed(session, request->number, &err);
        return;
    }
    static const char *const words[] = {[STEER_PAUSE] = "pauses after the chunk in hand",
                                        [STEER_STEPS] = "has its new steps",
                                        [STEER_SETTLE_FOR] = "has its new time to watch",
                                        [STEER_HALT] = "has its new share to halt at",
                                        [STEER_RESUME] = "goes on",
                                        [STEER_CANCEL] = "is cancelled; what is in hand is settled first",
                                        [STEER_RATE] = "has its new rate",
                                        [STEER_APPROVE] = "is approved"};
    struct reply *reply = reply_create(REPLY_STEERED, request->number);
    reply->operation = request->operation;
    reply->is_last = true;
    reply->sentence =
        arena_printf(&reply->arena, "operation %" PRId64 " %s", request->operation, words[request->steer]);
    struct operation now;
    if (request->steer == STEER_CANCEL &&
        operation_get(session->store, request->operation, &reply->arena, &now, NULL) &&
        now.action == ACTION_REPROCESS && now.state == OPERATION_CANCELLED && now.done == 0)
        reply->sentence =
            arena_printf(&reply->arena, "operation %" PRId64 " is called back: nothing of it was sent",
                         request->operation);
    session_reply(session, reply);
    if (request->steer != STEER_PAUSE)
        session_wake_worker(session);
}

void
session_decide_request(struct session *session, const struct request *request)
{
    const struct doubt_verdict *verdict = &request->verdict;
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
    reply->operation = request->operation;
    reply->is_last = true;
    reply->sentence =
        is_slot
            ? arena_printf(&reply->arena, "slot %d works again, under new names in Kafka", (int)verdict->slot)
            : arena_printf(&reply->arena, "%s events of operation %" PRId64 " %s", text_count(events, count),
                           request->operation,
                           verdict->is_published ? "are treated as published" : "wait to be published again");
    session_reply(session, reply);
    session_wake_worker(session);
}

struct progress {
    struct session *session;
    uint64_t number;
};

static bool
tell_progress(void *context, size_t written, size_t total)
{
    const struct progress *progress = context;
    struct reply *reply = reply_create(REPLY_PROGRESS, progress->number);
    reply->done = (int64_t)written;
    reply->of = (int64_t)total;
    session_reply(progress->session, reply);
    return !progress->session->is_stopping;
}

void
session_confirm_request(struct session *session, const struct request *request)
{
    struct err err = {0};
    struct progress progress = {.session = session, .number = request->number};
    struct operation_request confirm = request->confirm;
    confirm.ids = request->ids;
    confirm.count = request->id_count;
    confirm.scope = request->scope;
    confirm.filter_text = request->filter_text;
    confirm.reason = request->reason;
    confirm.target_topic = request->target_topic;
    confirm.group = *request->group_key ? request->group_key : NULL;

    int64_t no = 0;
    if (!operation_insist(session->store, &confirm, tell_progress, &progress, &no, &err)) {
        session_failed(session, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_CONFIRMED, request->number);
    reply->operation = no;
    reply->operations = arena_alloc(&reply->arena, sizeof *reply->operations);
    // News about it: without them it is on its way all the same.
    reply->operation_count = operation_get(session->store, no, &reply->arena, reply->operations, NULL);
    // Somebody else was quicker with all of it: with what, is asked for by who is told so.
    if (reply->operation_count && reply->operations->skipped == reply->operations->total &&
        !operation_outcomes(session->store, no, &reply->arena, &reply->outcomes, &reply->outcome_count, NULL))
        reply->outcome_count = 0;
    reply->is_last = true;
    session_reply(session, reply);
    session_wake_worker(session);
}

void
session_wake_worker(struct session *session)
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
        reply->sentence =
            arena_printf(&reply->arena, "no worker could be started: %s; run redrive work", err.text);
        session_reply(session, reply);
    }
    arena_release(&arena);
}

// Could a worker that this host starts go on with it?
static bool
waits_for_us(const struct session *session, const struct operation *operation)
{
    bool is_ready = operation->state == OPERATION_FROZEN || operation->state == OPERATION_RUNNING ||
                    operation->state == OPERATION_WAITING;
    bool is_paused = operation->action == ACTION_REPROCESS && operation->rate == 0;
    return is_ready && !is_paused &&
           (operation->action != ACTION_REPROCESS || session->settings->worker_publishes);
}

void
session_resume_waiting(struct session *session)
{
    if (store_info(session->store)->schema_version == 0)
        return;
    struct arena arena = {0};
    struct operation *operations;
    size_t count;
    struct err err = {0};
    bool waits = false;
    if (operation_list(session->store, 0, LISTED, &arena, &operations, &count, &err))
        for (size_t i = 0; i < count; i++)
            waits |= waits_for_us(session, &operations[i]);
    else
        session_failed(session, 0, &err);
    arena_release(&arena);
    if (waits)
        session_wake_worker(session);
}
