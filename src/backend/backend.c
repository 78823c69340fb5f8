#include "backend/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include "backend/session.h"
#include "rollup/maintenance.h"
#include "store/operations/ledger.h"
#include "store/operations/workers.h"

enum { WRITER_INBOX = 256 };
static const int64_t WORKER_LOOK = 5 * US_PER_SECOND;

struct backend {
    struct backend_settings settings;
    struct session reader, writer;   // each belongs to its thread
    struct maintenance *maintenance; // NULL: read-only
    struct thread *reader_thread, *writer_thread;
};

void
session_reply(struct session *session, struct reply *reply)
{
    // A screen that reads slowly slows its backend down, never the other way round; at the end the mailbox is
    // closed.
    if (!mailbox_put(session->replies, reply, -1))
        reply_destroy(reply);
}

void
session_error(struct session *session, uint64_t number, const struct err *err)
{
    struct reply *reply = reply_create(REPLY_ERROR, number);
    reply->err = *err;
    reply->is_last = true;
    session_reply(session, reply);
}

static void
note_trouble(struct session *session, const struct err *err)
{
    struct bytes text = bytes_of(err->text);
    size_t len = utf8_cut(text, sizeof session->trouble - 1);
    memcpy(session->trouble, text.data, len);
    session->trouble[len] = '\0';
}

bool
session_failed(struct session *session, uint64_t number, const struct err *err)
{
    if (err->kind == ERR_UNREACHABLE && !session->is_lost) {
        session->is_lost = true;
        session->attempts = 0;
        session->retry_at = clock_mono() + store_backoff(0);
        note_trouble(session, err);
        session_tell_status(session);
    }
    if (number)
        session_error(session, number, err);
    else if (err->kind != ERR_UNREACHABLE)
        session_error(session, 0, err);
    return false;
}

static void
fill_workers(struct session *session, struct status *status, struct arena *arena)
{
    struct worker *workers;
    size_t count;
    if (!worker_list(session->store, arena, &workers, &count, NULL))
        return;
    status->workers = (int)count;
    for (size_t i = 0; i < count; i++) {
        bool is_idle = workers[i].note && strcmp(workers[i].note, "idle") == 0;
        status->workers_idle += is_idle;
        if (!is_idle && workers[i].note)
            snprintf(status->worker_note, sizeof status->worker_note, "%s", workers[i].note);
    }
    struct cluster cluster;
    if (cluster_latest(session->store, &cluster, NULL)) {
        status->promise = cluster.promise;
        snprintf(status->promise_words, sizeof status->promise_words, "%s", cluster.words);
    }
    if (session->live_count)
        (void)!operation_get(session->store, session->live[0], arena, &status->running, NULL);
}

// So that a screen on which nothing happened is told nothing: as_of alone is no news.
static uint64_t
status_hash(const struct status *status)
{
    struct status seen = *status;
    seen.as_of = 0;
    const struct operation *running = &status->running;
    seen.running = (struct operation){.no = running->no,
                                      .state = running->state,
                                      .done = running->done,
                                      .refused = running->refused,
                                      .returned = running->returned,
                                      .rate = running->rate};
    return bytes_hash((struct bytes){(const char *)&seen, sizeof seen});
}

void
session_tell_status(struct session *session)
{
    if (!session->backlog)
        return; // the writer has nothing to tell
    struct reply *reply = reply_create(REPLY_STATUS, 0);
    struct status *status = &reply->status;
    status->link = session->is_lost ? LINK_LOST : LINK_LIVE;
    if (!session->store || (session->is_lost && session->attempts == 0 && !session->as_of))
        status->link = session->is_lost ? LINK_LOST : LINK_CONNECTING;
    status->is_read_only = session->settings->store.is_read_only;
    status->pending = session->is_counting ? (int64_t)backlog_count(session->backlog) : session->pending;
    status->is_counting = session->is_counting;
    status->scanned = session->scanned;
    status->behind = session->behind;
    status->per_minute = session->per_minute;
    memcpy(status->spark, session->spark, sizeof status->spark);
    status->as_of = session->as_of;
    status->retry_at = session->retry_at;
    status->last_closed_at = session->last_closed_at;
    snprintf(status->last_closed_by, sizeof status->last_closed_by, "%s", session->last_closed_by);
    snprintf(status->trouble, sizeof status->trouble, "%s", session->is_lost ? session->trouble : "");
    if (session->store) {
        const struct store_info *info = store_info(session->store);
        snprintf(status->host, sizeof status->host, "%s", info->host[0] == '/' ? "local" : info->host);
        snprintf(status->database, sizeof status->database, "%s", info->database);
        snprintf(status->user, sizeof status->user, "%s", info->user);
        status->has_schema = info->schema_version > 0;
        if (!session->is_lost && status->has_schema)
            fill_workers(session, status, &reply->arena);
    }
    uint64_t hash = status_hash(status);
    if (session->has_told_status && hash == session->told_hash) {
        reply_destroy(reply);
        return;
    }
    session->has_told_status = true;
    session->told_hash = hash;
    session_reply(session, reply);
}

// One attempt to connect where that is due. True: connected.
static bool
connect_if_due(struct session *session)
{
    if (session->store && !session->is_lost)
        return true;
    if (clock_mono() < session->retry_at)
        return false;

    struct err err = {0};
    struct store *opened = NULL;
    bool ok = session->store ? store_reconnect(session->store, &err)
                             : store_open(&opened, &session->settings->store, &err);
    if (opened)
        atomic_store(&session->store, opened);
    if (ok) {
        session->is_lost = false;
        session->attempts = 0;
        return true;
    }
    session->is_lost = true;
    session->attempts++;
    session->retry_at = clock_mono() + store_backoff(session->attempts);
    note_trouble(session, &err);
    session_tell_status(session);
    return false;
}

static void
reader_handle(struct session *session, struct request *request)
{
    switch (request->kind) {
    case REQUEST_GROUPS:
        session_groups_request(session, request);
        break;
    case REQUEST_LIST:
    case REQUEST_COLLECT:
        session_list_request(session, request);
        break;
    case REQUEST_FACETS:
        session_facets_request(session, request);
        break;
    case REQUEST_ROWS:
        session_rows_request(session, request);
        break;
    case REQUEST_EVENT:
        session_event_request(session, request);
        break;
    case REQUEST_WHY:
        session_why_request(session, request);
        break;
    case REQUEST_OPERATIONS:
    case REQUEST_OPERATIONS_END:
    case REQUEST_OPERATION:
        session_operations_request(session, request);
        break;
    case REQUEST_AUDIT:
        session_audit_request(session, request);
        break;
    case REQUEST_STATS:
        session_stats_request(session, request);
        break;
    case REQUEST_CANCEL:
        session_list_cancel(session, request->target);
        session_stats_cancel(session, request->target);
        break;
    case REQUEST_RECONNECT:
    case REQUEST_REFRESH:
        session->poll_at = 0;
        session->retry_at = 0;
        session->reconcile_at = 0;
        session->is_dirty = true; // told again, also when nothing changed: that is an answer too
        session->tell_at = 0;
        break;
    case REQUEST_PAUSE:
        session->is_held = request->is_on;
        session_backlog_tell(session, !request->is_on);
        break;
    case REQUEST_STOP:
    case REQUEST_STEER:
    case REQUEST_DECIDE:
    case REQUEST_PREVIEW:
    case REQUEST_CONFIRM:
    case REQUEST_CATEGORY:
        break;
    }
}

// Requests that need no database, or wait for it by themselves.
static bool
works_without_link(enum request_kind kind)
{
    return kind == REQUEST_GROUPS || kind == REQUEST_RECONNECT || kind == REQUEST_REFRESH ||
           kind == REQUEST_PAUSE || kind == REQUEST_CANCEL || kind == REQUEST_OPERATIONS ||
           kind == REQUEST_OPERATIONS_END || kind == REQUEST_OPERATION;
}

static void
refuse_without_link(struct session *session, const struct request *request)
{
    struct err err = {0};
    err_set(&err, ERR_UNREACHABLE, "PostgreSQL cannot be reached now: %s; r tries again", session->trouble);
    session_error(session, request->number, &err);
}

// How long nothing is due.
static int64_t
reader_wait(const struct session *session, bool is_connected)
{
    int64_t until = is_connected ? session->poll_at : session->retry_at;
    if (is_connected && session->operations_at < until)
        until = session->operations_at;
    int64_t wait = until - clock_mono();
    return wait < 1000 ? 1000 : wait;
}

static bool
is_for_writer(enum request_kind kind)
{
    return kind == REQUEST_STEER || kind == REQUEST_DECIDE || kind == REQUEST_PREVIEW ||
           kind == REQUEST_CONFIRM || kind == REQUEST_CATEGORY;
}

// What is asked of the writer next does not wait for a preview: its dialog is closed.
static void
pass_on(struct backend *backend, struct request *request)
{
    struct session *reader = &backend->reader;
    session_preview_end(&backend->writer, reader->preview_passed_on);
    if (request->kind == REQUEST_PREVIEW)
        reader->preview_passed_on = request->number;
    if (!mailbox_put(backend->writer.inbox, request, -1))
        request_destroy(request);
}

static void
read_for_screen(void *context)
{
    struct backend *backend = context;
    struct session *session = &backend->reader;
    session->backlog = NULL;
    session->cache = text_cache_create(session->settings->filter_cache, &session->settings->store);
    session_changes_begin(session);
    bool was_connected = false;
    while (!session->is_stopping) {
        bool is_connected = connect_if_due(session);
        if (is_connected && !was_connected) {
            session_backlog_begin(session);
            session->operations_at = 0;
            session_tell_status(session);
            if (store_info(session->store)->schema_version > 0)
                session->change_token = 0;
        }
        was_connected = is_connected;

        struct request *request = mailbox_take(session->inbox, 0);
        bool did_step = false;
        if (!request && is_connected) {
            // The list that is looked at comes before the rest of the first count.
            did_step = session_list_step(session);
            if (!did_step || !session_rollup_readable(session))
                did_step |= session_backlog_step(session);
            did_step |= !session->is_lost && session_operations_step(session);
            did_step = did_step ||
                       (!session->is_lost && (session_changes_step(session) || session_cache_step(session)));
        }
        if (!request && !did_step)
            request = mailbox_take(session->inbox, reader_wait(session, is_connected && !session->is_lost));
        if (!request)
            continue;
        if (is_for_writer(request->kind)) {
            pass_on(backend, request);
            continue;
        }
        if (request->kind == REQUEST_CANCEL && request->target == session->preview_passed_on)
            session_preview_end(&backend->writer, request->target);
        if ((is_connected && !session->is_lost) || works_without_link(request->kind))
            reader_handle(session, request);
        else
            refuse_without_link(session, request);
        request_destroy(request);
    }
    session_list_release(session);
    session_stats_release(session);
    session_changes_release(session);
    text_cache_destroy(session->cache);
    backlog_destroy(session->rows);
    backlog_destroy(session->backlog);
}

static void
writer_handle(struct session *session, const struct request *request)
{
    switch (request->kind) {
    case REQUEST_STEER:
        session_steer_request(session, request);
        break;
    case REQUEST_DECIDE:
        session_decide_request(session, request);
        break;
    case REQUEST_PREVIEW:
        session_preview_request(session, request);
        break;
    case REQUEST_CONFIRM:
        session_confirm_request(session, request);
        break;
    case REQUEST_CATEGORY:
        session_category_request(session, request);
        break;
    default:
        break;
    }
}

static void
write_for_screen(void *context)
{
    struct backend *backend = context;
    struct session *session = &backend->writer;
    int64_t look_at = 0;
    while (!session->is_stopping) {
        // What waits for a worker gets one: at the start, and when the one that had it is gone.
        bool is_connected = connect_if_due(session);
        if (is_connected && clock_mono() >= look_at) {
            look_at = clock_mono() + WORKER_LOOK;
            session_resume_waiting(session);
        }
        struct request *request = mailbox_take(session->inbox, 500000);
        if (!request)
            continue;
        session->retry_at = 0;
        if (connect_if_due(session))
            writer_handle(session, request);
        else
            refuse_without_link(session, request);
        request_destroy(request);
    }
}

struct backend *
backend_start(const struct backend_settings *settings, struct mailbox *requests, struct mailbox *replies)
{
    struct backend *backend = alloc_bytes(sizeof *backend);
    backend->settings = *settings;
    struct session *sessions[] = {&backend->reader, &backend->writer};
    for (int i = 0; i < 2; i++) {
        sessions[i]->settings = &backend->settings;
        sessions[i]->replies = replies;
        sessions[i]->last_closed_at = TIME_ABSENT;
        sessions[i]->as_of = TIME_ABSENT;
        sessions[i]->pending = -1;
    }
    backend->reader.inbox = requests;
    backend->writer.inbox = mailbox_create(WRITER_INBOX);
    backend->reader_thread = thread_start(read_for_screen, backend, "reader");
    backend->writer_thread = thread_start(write_for_screen, backend, "writer");
    if (!settings->store.is_read_only)
        backend->maintenance = maintenance_start(&backend->settings.store);
    return backend;
}

void
backend_stop(struct backend *backend)
{
    if (!backend)
        return;
    struct session *sessions[] = {&backend->reader, &backend->writer};
    for (int i = 0; i < 2; i++) {
        atomic_store(&sessions[i]->is_stopping, true);
        mailbox_close(sessions[i]->inbox);
        if (sessions[i]->store)
            store_interrupt(sessions[i]->store);
    }
    maintenance_end(backend->maintenance);
    mailbox_close(backend->reader.replies);
    thread_join(backend->reader_thread);
    thread_join(backend->writer_thread);
    maintenance_stop(backend->maintenance);
    for (int i = 0; i < 2; i++)
        store_close(sessions[i]->store); // only now: until here it may be interrupted
    mailbox_destroy(backend->writer.inbox, request_drop);
    free(backend);
}
