// How operations stand: the list, the one that is looked at, and which of them ended.
#include "backend/reader.h"

#include <string.h>
#include "core/outcomes.h"
#include "store/operations/doubt.h"
#include "store/events/history.h"

enum { LISTED = 200, ENDS = sizeof((struct operations_view *)0)->ends / sizeof(struct operation_end) };
static const int64_t LOOK_EVERY = 500000;
static const int64_t SETTLE_EVERY = 2000000; // what is watched stays away one by one, which changes no row

void
reader_operations_request(struct reader *reader, const struct request *request)
{
    if (request->kind == REQUEST_OPERATIONS) {
        reader->operations.list_number = request->number;
    } else {
        reader->operations.number = request->number;
        reader->operations.no = request->operation;
    }
    reader->operations.look_at = 0;
    reader->operations.change_token = 0;
}

void
reader_operations_end(struct reader *reader, const struct request *request)
{
    (void)request;
    reader->operations.list_number = 0;
    reader->operations.number = 0;
}

static bool
send_list(struct reader *reader, struct err *err)
{
    struct reply *reply = reply_create(REPLY_OPERATIONS, reader->operations.list_number);
    if (!operation_list(reader->session.store, 0, LISTED, &reply->arena, &reply->operations.list,
                        &reply->operations.count, err) ||
        !doubt_list(reader->session.store, 0, &reply->arena, &reply->operations.doubts,
                    &reply->operations.doubt_count, err)) {
        reply_destroy(reply);
        return false;
    }
    reply->is_last = true;
    session_reply(&reader->session, reply);
    return true;
}

static bool
send_one(struct reader *reader, struct err *err)
{
    struct reply *reply = reply_create(REPLY_OPERATION, reader->operations.number);
    reply->operations.list = arena_alloc(&reply->arena, sizeof *reply->operations.list);
    reply->operations.count = 1;
    reply->is_last = true;
    if (operation_get(reader->session.store, reader->operations.no, &reply->arena, reply->operations.list,
                      err) &&
        operation_outcomes(reader->session.store, reader->operations.no, &reply->arena,
                           &reply->operations.outcomes, &reply->operations.outcome_count, err) &&
        operation_returns(reader->session.store, reader->operations.no, &reply->arena,
                          &reply->operations.returns, &reply->operations.return_count, err) &&
        doubt_list(reader->session.store, reader->operations.no, &reply->arena, &reply->operations.doubts,
                   &reply->operations.doubt_count, err)) {
        session_reply(&reader->session, reply);
        return true;
    }
    reply_destroy(reply);
    if (err->kind != ERR_NOT_FOUND)
        return false;
    session_error(&reader->session, reader->operations.number, err);
    reader->operations.number = 0;
    err_clear(err);
    return true;
}

static struct operation_end *
find_end(struct reader *reader, int64_t no)
{
    for (size_t i = 0; i < reader->operations.end_count && i < ENDS; i++)
        if (reader->operations.ends[i].no == no)
            return &reader->operations.ends[i];
    return NULL;
}

// Tells how it ended, where that was not told yet.
static void
send_end(struct reader *reader, const struct operation *operation, struct operation_end *end)
{
    struct reply *reply = reply_create(REPLY_NEWS, 0);
    reply->news.operation = operation->no;
    reply->news.severity = outcomes_of(operation).severity;
    reply->news.sentence = operation_end_sentence(operation, &reply->arena);
    uint64_t sentence = bytes_hash(bytes_of(reply->news.sentence));
    if (end && end->sentence == sentence) {
        reply_destroy(reply);
        return;
    }
    if (!end)
        end = &reader->operations.ends[reader->operations.end_count++ % ENDS];
    *end = (struct operation_end){.no = operation->no, .sentence = sentence};
    session_reply(&reader->session, reply);
}

// Was it not final at the last look, or not there yet?
static bool
was_live(const struct reader *reader, int64_t no)
{
    if (no > reader->operations.newest)
        return reader->operations.has_looked;
    for (size_t i = 0; i < reader->operations.live_count; i++)
        if (reader->operations.live[i] == no)
            return true;
    return false;
}

// A group that an operation closed was empty at its end: its later events have returned, and may have been
// told as new before this was known.
static void
note_emptied(struct reader *reader, const struct operation *operation)
{
    uint64_t low;
    uint64_t high;
    bool closes = operation->action == ACTION_REPROCESS || operation->action == ACTION_RESOLVE ||
                  operation->action == ACTION_DISCARD;
    if (closes && operation->state == OPERATION_DONE && operation->group &&
        group_parse(bytes_of(operation->group), &low, &high) && low == high)
        reader->groups.is_dirty |= backlog_emptied(reader->counts.backlog, low, operation->finished_at);
}

// Which operations are live, which ended since, and the one that the status line shows.
static bool
watch_live(struct reader *reader, struct err *err)
{
    struct reply *holder = reply_create(REPLY_STATUS, 0);
    struct operation *operations;
    size_t count;
    bool ok = operation_list(reader->session.store, 0, LISTED, &holder->arena, &operations, &count, err);
    size_t live = 0;
    bool is_watched = false;
    int64_t now_live[64], newest = reader->operations.newest;
    for (size_t i = 0; ok && i < count; i++) {
        bool is_over = operation_state_is_final(operations[i].state);
        if (!is_over && live < 64)
            now_live[live++] = operations[i].no;
        struct operation_end *end = is_over ? find_end(reader, operations[i].no) : NULL;
        if (is_over && (end || was_live(reader, operations[i].no)))
            send_end(reader, &operations[i], end);
        is_watched |= is_over && operations[i].sent.watched > 0;
        newest = operations[i].no > newest ? operations[i].no : newest;
        note_emptied(reader, &operations[i]);
    }
    if (ok) {
        memcpy(reader->operations.live, now_live, live * sizeof *now_live);
        reader->operations.live_count = live;
        reader->operations.newest = newest;
        reader->operations.has_looked = true;
        reader->operations.settle_at = is_watched ? clock_mono() + SETTLE_EVERY : 0;
        reader->counts.poll_at = 0; // what ended changed the backlog
    }
    reply_destroy(holder);
    return ok;
}

// Answers the open requests with the reason. A later request looks again.
static bool
refuse_without_schema(struct reader *reader)
{
    const uint64_t asked[] = {reader->operations.list_number, reader->operations.number};
    struct err err = {0};
    err_set(&err, ERR_NOT_FOUND, "database %s has no schema redrive; run: redrive migrate",
            store_info(reader->session.store)->database);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (asked[i])
            session_error(&reader->session, asked[i], &err);
    reader->operations.list_number = 0;
    reader->operations.number = 0;
    return asked[0] || asked[1];
}

bool
reader_operations_step(struct reader *reader)
{
    if (store_info(reader->session.store)->schema_version == 0)
        return refuse_without_schema(reader);
    if (clock_mono() < reader->operations.look_at)
        return false;
    reader->operations.look_at = clock_mono() + LOOK_EVERY;

    struct err err = {0};
    bool is_first = reader->operations.change_token == 0;
    bool has_changed;
    if (!operation_changes(reader->session.store, &reader->operations.change_token, &has_changed, &err))
        return session_failed(&reader->session, 0, &err);
    bool is_settling = reader->operations.settle_at && clock_mono() >= reader->operations.settle_at;
    if (!has_changed && !is_first && !is_settling)
        return false;

    bool ok = watch_live(reader, &err) && (!reader->operations.list_number || send_list(reader, &err)) &&
              (!reader->operations.number || send_one(reader, &err));
    if (!ok)
        return session_failed(&reader->session, 0, &err);
    if (!is_first) // a worker has begun or ended with it
        reader->status.look_at = 0;
    reader_send_status(reader);
    return true;
}
