// Operations: reading how they stand (the reader's desk), asking for and steering them (the writer's).
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
desk_operations_request(struct desk *desk, const struct request *request)
{
    switch (request->kind) {
    case REQUEST_OPERATIONS:
        desk->operations_number = request->number;
        break;
    case REQUEST_OPERATION:
        desk->operation_number = request->number;
        desk->operation_no = request->operation;
        break;
    default:
        desk->operations_number = 0;
        desk->operation_number = 0;
        return;
    }
    desk->operations_at = 0;
    desk->change_token = 0;
}

static bool
tell_list(struct desk *desk, struct err *err)
{
    struct reply *reply = reply_create(REPLY_OPERATIONS, desk->operations_number);
    if (!operation_list(desk->store, 0, LISTED, &reply->arena, &reply->operations, &reply->operation_count,
                        err) ||
        !doubtful_list(desk->store, 0, &reply->arena, &reply->doubts, &reply->doubt_count, err)) {
        reply_destroy(reply);
        return false;
    }
    reply->is_last = true;
    desk_reply(desk, reply);
    return true;
}

static bool
tell_one(struct desk *desk, struct err *err)
{
    struct reply *reply = reply_create(REPLY_OPERATION, desk->operation_number);
    reply->operations = arena_alloc(&reply->arena, sizeof *reply->operations);
    reply->operation_count = 1;
    reply->is_last = true;
    if (operation_get(desk->store, desk->operation_no, &reply->arena, reply->operations, err) &&
        operation_outcomes(desk->store, desk->operation_no, &reply->arena, &reply->outcomes,
                           &reply->outcome_count, err) &&
        operation_returns(desk->store, desk->operation_no, &reply->arena, &reply->returns,
                          &reply->return_count, err) &&
        doubtful_list(desk->store, desk->operation_no, &reply->arena, &reply->doubts, &reply->doubt_count,
                      err)) {
        desk_reply(desk, reply);
        return true;
    }
    reply_destroy(reply);
    if (err->kind != ERR_NOT_FOUND)
        return false;
    desk_error(desk, desk->operation_number, err);
    desk->operation_number = 0;
    err_clear(err);
    return true;
}

static void
tell_end(struct desk *desk, const struct operation *operation)
{
    struct reply *reply = reply_create(REPLY_NEWS, 0);
    reply->operation = operation->no;
    reply->sentence = operation_end_sentence(operation, &reply->arena);
    desk_reply(desk, reply);
}

static bool
was_live(const struct desk *desk, int64_t no)
{
    for (size_t i = 0; i < desk->live_count; i++)
        if (desk->live[i] == no)
            return true;
    return false;
}

// A group that an operation closed was empty at its end: what is in it later came back.
static void
note_emptied(struct desk *desk, const struct operation *operation)
{
    uint64_t low;
    uint64_t high;
    bool closes = operation->action == ACTION_REPROCESS || operation->action == ACTION_RESOLVE ||
                  operation->action == ACTION_DISCARD;
    if (closes && operation->state == OPERATION_DONE && operation->group &&
        group_parse(bytes_of(operation->group), &low, &high) && low == high)
        backlog_emptied(desk->backlog, low, operation->finished_at);
}

// Which operations are live, which ended since, and the one that the status line shows.
static bool
watch_live(struct desk *desk, struct err *err)
{
    struct reply *holder = reply_create(REPLY_STATUS, 0);
    struct operation *operations;
    size_t count;
    bool ok = operation_list(desk->store, 0, LISTED, &holder->arena, &operations, &count, err);
    size_t live = 0;
    int64_t now_live[64];
    for (size_t i = 0; ok && i < count; i++) {
        if (!operation_state_is_final(operations[i].state) && live < 64)
            now_live[live++] = operations[i].no;
        else if (was_live(desk, operations[i].no))
            tell_end(desk, &operations[i]);
        note_emptied(desk, &operations[i]);
    }
    if (ok) {
        memcpy(desk->live, now_live, live * sizeof *now_live);
        desk->live_count = live;
        desk->poll_at = 0; // what ended changed the backlog
    }
    reply_destroy(holder);
    return ok;
}

// Whoever asked is told why there is nothing to tell; asked again, it is looked at again.
static bool
refuse_without_schema(struct desk *desk)
{
    const uint64_t asked[] = {desk->operations_number, desk->operation_number};
    struct err err = {0};
    err_set(&err, ERR_NOT_FOUND, "database %s has no schema redrive yet: run redrive migrate",
            store_info(desk->store)->database);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (asked[i])
            desk_error(desk, asked[i], &err);
    desk->operations_number = 0;
    desk->operation_number = 0;
    return asked[0] || asked[1];
}

bool
desk_operations_step(struct desk *desk)
{
    if (store_info(desk->store)->schema_version == 0)
        return refuse_without_schema(desk);
    if (clock_mono() < desk->operations_at)
        return false;
    desk->operations_at = clock_mono() + LOOK_EVERY;

    struct err err = {0};
    bool is_first = desk->change_token == 0;
    bool has_changed;
    if (!operation_changes(desk->store, &desk->change_token, &has_changed, &err))
        return desk_failed(desk, 0, &err);
    if (!has_changed && !is_first)
        return false;

    bool ok = watch_live(desk, &err) && (!desk->operations_number || tell_list(desk, &err)) &&
              (!desk->operation_number || tell_one(desk, &err));
    if (!ok)
        return desk_failed(desk, 0, &err);
    desk_tell_status(desk);
    return true;
}

void
desk_steer_request(struct desk *desk, const struct request *request)
{
    struct err err = {0};
    bool is_plan =
        request->steer == STEER_STEPS || request->steer == STEER_SETTLE || request->steer == STEER_HALT;
    bool ok = is_plan ? operation_tune(desk->store, request->operation, request->steer,
                                       &request->confirm.plan, &err)
                      : operation_steer(desk->store, request->operation, request->steer, request->rate, &err);
    if (!ok) {
        desk_failed(desk, request->number, &err);
        return;
    }
    static const char *const words[] = {[STEER_PAUSE] = "pauses after the chunk in hand",
                                        [STEER_STEPS] = "has its new steps",
                                        [STEER_SETTLE] = "has its new time to watch",
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
        operation_get(desk->store, request->operation, &reply->arena, &now, NULL) &&
        now.action == ACTION_REPROCESS && now.state == OPERATION_CANCELLED && now.done == 0)
        reply->sentence =
            arena_printf(&reply->arena, "operation %" PRId64 " is called back: nothing of it was sent",
                         request->operation);
    desk_reply(desk, reply);
    if (request->steer != STEER_PAUSE)
        desk_wake_worker(desk);
}

void
desk_decide_request(struct desk *desk, const struct request *request)
{
    const struct doubt_verdict *verdict = &request->verdict;
    bool is_slot = verdict->chunk[0] == '\0';
    int64_t events = 0;
    struct err err = {0};
    bool ok = is_slot ? doubtful_renew(desk->store, verdict->cluster, verdict->slot, request->reason, &err)
                      : doubtful_decide(desk->store, request->operation, verdict->chunk,
                                        verdict->is_published, request->reason, &events, &err);
    if (!ok) {
        desk_failed(desk, request->number, &err);
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
    desk_reply(desk, reply);
    desk_wake_worker(desk);
}

struct progress {
    struct desk *desk;
    uint64_t number;
};

static bool
tell_progress(void *context, size_t written, size_t total)
{
    const struct progress *progress = context;
    struct reply *reply = reply_create(REPLY_PROGRESS, progress->number);
    reply->done = (int64_t)written;
    reply->of = (int64_t)total;
    desk_reply(progress->desk, reply);
    return !progress->desk->is_stopping;
}

void
desk_confirm_request(struct desk *desk, const struct request *request)
{
    struct err err = {0};
    struct progress progress = {.desk = desk, .number = request->number};
    struct operation_request confirm = request->confirm;
    confirm.ids = request->ids;
    confirm.count = request->id_count;
    confirm.scope = request->scope;
    confirm.filter_text = request->filter_text;
    confirm.reason = request->reason;
    confirm.target_topic = request->target_topic;
    confirm.group = *request->group_key ? request->group_key : NULL;

    int64_t no = 0;
    if (!operation_insist(desk->store, &confirm, tell_progress, &progress, &no, &err)) {
        desk_failed(desk, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_CONFIRMED, request->number);
    reply->operation = no;
    reply->operations = arena_alloc(&reply->arena, sizeof *reply->operations);
    // News about it: without them it is on its way all the same.
    reply->operation_count = operation_get(desk->store, no, &reply->arena, reply->operations, NULL);
    // Somebody else was quicker with all of it: with what, is asked for by who is told so.
    if (reply->operation_count && reply->operations->conflict == reply->operations->total &&
        !operation_outcomes(desk->store, no, &reply->arena, &reply->outcomes, &reply->outcome_count, NULL))
        reply->outcome_count = 0;
    reply->is_last = true;
    desk_reply(desk, reply);
    desk_wake_worker(desk);
}

void
desk_wake_worker(struct desk *desk)
{
    if (!desk->settings->start_worker || desk->settings->store.is_read_only)
        return;

    struct arena arena = {0};
    struct worker *workers;
    size_t count;
    struct err err = {0};
    if (worker_list(desk->store, &arena, &workers, &count, &err) && count == 0 &&
        !desk->settings->start_worker(desk->settings->worker_context, &err)) {
        struct reply *reply = reply_create(REPLY_NEWS, 0);
        reply->sentence =
            arena_printf(&reply->arena, "no worker could be started: %s; run redrive work", err.text);
        desk_reply(desk, reply);
    }
    arena_release(&arena);
}

// Could a worker that this host starts go on with it?
static bool
waits_for_us(const struct desk *desk, const struct operation *operation)
{
    bool is_ready = operation->state == OPERATION_FROZEN || operation->state == OPERATION_RUNNING ||
                    operation->state == OPERATION_WAITING;
    bool is_paused = operation->action == ACTION_REPROCESS && operation->rate == 0;
    return is_ready && !is_paused &&
           (operation->action != ACTION_REPROCESS || desk->settings->worker_publishes);
}

void
desk_resume_waiting(struct desk *desk)
{
    if (store_info(desk->store)->schema_version == 0)
        return;
    struct arena arena = {0};
    struct operation *operations;
    size_t count;
    struct err err = {0};
    bool waits = false;
    if (operation_list(desk->store, 0, LISTED, &arena, &operations, &count, &err))
        for (size_t i = 0; i < count; i++)
            waits |= waits_for_us(desk, &operations[i]);
    else
        desk_failed(desk, 0, &err);
    arena_release(&arena);
    if (waits)
        desk_wake_worker(desk);
}
