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
    struct desk reader, writer; // each belongs to its thread
    struct keeping *keeping;    // NULL: read-only
    struct thread *reader_thread, *writer_thread;
};

void
desk_reply(struct desk *desk, struct reply *reply)
{
    // A screen that reads slowly slows its backend down, never the other way round; at the end the mailbox is
    // closed.
    if (!mailbox_put(desk->replies, reply, -1))
        reply_destroy(reply);
}

void
desk_error(struct desk *desk, uint64_t number, const struct err *err)
{
    struct reply *reply = reply_create(REPLY_ERROR, number);
    reply->err = *err;
    reply->is_last = true;
    desk_reply(desk, reply);
}

static void
note_trouble(struct desk *desk, const struct err *err)
{
    struct bytes text = bytes_of(err->text);
    size_t len = utf8_cut(text, sizeof desk->trouble - 1);
    memcpy(desk->trouble, text.data, len);
    desk->trouble[len] = '\0';
}

bool
desk_failed(struct desk *desk, uint64_t number, const struct err *err)
{
    if (err->kind == ERR_UNREACHABLE && !desk->is_lost) {
        desk->is_lost = true;
        desk->attempts = 0;
        desk->retry_at = clock_mono() + store_backoff(0);
        note_trouble(desk, err);
        desk_tell_status(desk);
    }
    if (number)
        desk_error(desk, number, err);
    else if (err->kind != ERR_UNREACHABLE)
        desk_error(desk, 0, err);
    return false;
}

static void
fill_workers(struct desk *desk, struct status *status, struct arena *arena)
{
    struct worker *workers;
    size_t count;
    if (!worker_list(desk->store, arena, &workers, &count, NULL))
        return;
    status->workers = (int)count;
    for (size_t i = 0; i < count; i++) {
        bool is_idle = workers[i].note && strcmp(workers[i].note, "idle") == 0;
        status->workers_idle += is_idle;
        if (!is_idle && workers[i].note)
            snprintf(status->worker_note, sizeof status->worker_note, "%s", workers[i].note);
    }
    struct cluster cluster;
    if (cluster_latest(desk->store, &cluster, NULL)) {
        status->promise = cluster.promise;
        snprintf(status->promise_words, sizeof status->promise_words, "%s", cluster.words);
    }
    if (desk->live_count)
        (void)!operation_get(desk->store, desk->live[0], arena, &status->running, NULL);
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
                                      .came_back = running->came_back,
                                      .rate = running->rate};
    return bytes_hash((struct bytes){(const char *)&seen, sizeof seen});
}

void
desk_tell_status(struct desk *desk)
{
    if (!desk->backlog)
        return; // the writer has nothing to tell
    struct reply *reply = reply_create(REPLY_STATUS, 0);
    struct status *status = &reply->status;
    status->link = desk->is_lost ? LINK_LOST : LINK_LIVE;
    if (!desk->store || (desk->is_lost && desk->attempts == 0 && !desk->as_of))
        status->link = desk->is_lost ? LINK_LOST : LINK_CONNECTING;
    status->is_read_only = desk->settings->store.is_read_only;
    status->pending = desk->is_counting ? (int64_t)backlog_count(desk->backlog) : desk->pending;
    status->is_counting = desk->is_counting;
    status->scanned = desk->scanned;
    status->behind = desk->behind;
    status->per_minute = desk->per_minute;
    memcpy(status->spark, desk->spark, sizeof status->spark);
    status->as_of = desk->as_of;
    status->retry_at = desk->retry_at;
    status->last_closed_at = desk->last_closed_at;
    snprintf(status->last_closed_by, sizeof status->last_closed_by, "%s", desk->last_closed_by);
    snprintf(status->trouble, sizeof status->trouble, "%s", desk->is_lost ? desk->trouble : "");
    if (desk->store) {
        const struct store_info *info = store_info(desk->store);
        snprintf(status->host, sizeof status->host, "%s", info->host[0] == '/' ? "local" : info->host);
        snprintf(status->database, sizeof status->database, "%s", info->database);
        snprintf(status->user, sizeof status->user, "%s", info->user);
        status->has_schema = info->schema_version > 0;
        if (!desk->is_lost && status->has_schema)
            fill_workers(desk, status, &reply->arena);
    }
    uint64_t hash = status_hash(status);
    if (desk->has_told_status && hash == desk->told_hash) {
        reply_destroy(reply);
        return;
    }
    desk->has_told_status = true;
    desk->told_hash = hash;
    desk_reply(desk, reply);
}

// One attempt to connect where that is due. True: connected.
static bool
connect_if_due(struct desk *desk)
{
    if (desk->store && !desk->is_lost)
        return true;
    if (clock_mono() < desk->retry_at)
        return false;

    struct err err = {0};
    struct store *opened = NULL;
    bool ok =
        desk->store ? store_reconnect(desk->store, &err) : store_open(&opened, &desk->settings->store, &err);
    if (opened)
        atomic_store(&desk->store, opened);
    if (ok) {
        desk->is_lost = false;
        desk->attempts = 0;
        return true;
    }
    desk->is_lost = true;
    desk->attempts++;
    desk->retry_at = clock_mono() + store_backoff(desk->attempts);
    note_trouble(desk, &err);
    desk_tell_status(desk);
    return false;
}

static void
reader_handle(struct desk *desk, struct request *request)
{
    switch (request->kind) {
    case REQUEST_GROUPS:
        desk_groups_request(desk, request);
        break;
    case REQUEST_LIST:
    case REQUEST_COLLECT:
        desk_list_request(desk, request);
        break;
    case REQUEST_FACETS:
        desk_facets_request(desk, request);
        break;
    case REQUEST_ROWS:
        desk_rows_request(desk, request);
        break;
    case REQUEST_EVENT:
        desk_event_request(desk, request);
        break;
    case REQUEST_WHY:
        desk_why_request(desk, request);
        break;
    case REQUEST_OPERATIONS:
    case REQUEST_OPERATIONS_END:
    case REQUEST_OPERATION:
        desk_operations_request(desk, request);
        break;
    case REQUEST_AUDIT:
        desk_audit_request(desk, request);
        break;
    case REQUEST_STATS:
        desk_stats_request(desk, request);
        break;
    case REQUEST_CANCEL:
        desk_list_cancel(desk, request->target);
        desk_stats_cancel(desk, request->target);
        break;
    case REQUEST_RECONNECT:
    case REQUEST_REFRESH:
        desk->poll_at = 0;
        desk->retry_at = 0;
        desk->reconcile_at = 0;
        desk->is_dirty = true; // told again, also when nothing changed: that is an answer too
        desk->tell_at = 0;
        break;
    case REQUEST_PAUSE:
        desk->is_held = request->is_on;
        desk_backlog_tell(desk, !request->is_on);
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
refuse_without_link(struct desk *desk, const struct request *request)
{
    struct err err = {0};
    err_set(&err, ERR_UNREACHABLE, "PostgreSQL cannot be reached now: %s; r tries again", desk->trouble);
    desk_error(desk, request->number, &err);
}

// How long nothing is due.
static int64_t
reader_wait(const struct desk *desk, bool is_connected)
{
    int64_t until = is_connected ? desk->poll_at : desk->retry_at;
    if (is_connected && desk->operations_at < until)
        until = desk->operations_at;
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
    struct desk *reader = &backend->reader;
    desk_preview_end(&backend->writer, reader->preview_passed_on);
    if (request->kind == REQUEST_PREVIEW)
        reader->preview_passed_on = request->number;
    if (!mailbox_put(backend->writer.inbox, request, -1))
        request_destroy(request);
}

static void
read_for_screen(void *context)
{
    struct backend *backend = context;
    struct desk *desk = &backend->reader;
    desk->backlog = NULL;
    desk->cache = text_cache_create(desk->settings->filter_cache, &desk->settings->store);
    desk_changes_begin(desk);
    bool was_connected = false;
    while (!desk->is_stopping) {
        bool is_connected = connect_if_due(desk);
        if (is_connected && !was_connected) {
            desk_backlog_begin(desk);
            desk->operations_at = 0;
            desk_tell_status(desk);
            if (store_info(desk->store)->schema_version > 0)
                desk->change_token = 0;
        }
        was_connected = is_connected;

        struct request *request = mailbox_take(desk->inbox, 0);
        bool did_step = false;
        if (!request && is_connected) {
            // The list that is looked at comes before the rest of the first count.
            did_step = desk_list_step(desk);
            if (!did_step || !desk_sums_readable(desk))
                did_step |= desk_backlog_step(desk);
            did_step |= !desk->is_lost && desk_operations_step(desk);
            did_step = did_step || (!desk->is_lost && (desk_changes_step(desk) || desk_cache_step(desk)));
        }
        if (!request && !did_step)
            request = mailbox_take(desk->inbox, reader_wait(desk, is_connected && !desk->is_lost));
        if (!request)
            continue;
        if (is_for_writer(request->kind)) {
            pass_on(backend, request);
            continue;
        }
        if (request->kind == REQUEST_CANCEL && request->target == desk->preview_passed_on)
            desk_preview_end(&backend->writer, request->target);
        if ((is_connected && !desk->is_lost) || works_without_link(request->kind))
            reader_handle(desk, request);
        else
            refuse_without_link(desk, request);
        request_destroy(request);
    }
    desk_list_release(desk);
    desk_stats_release(desk);
    desk_changes_release(desk);
    text_cache_destroy(desk->cache);
    backlog_destroy(desk->rows);
    backlog_destroy(desk->backlog);
}

static void
writer_handle(struct desk *desk, const struct request *request)
{
    switch (request->kind) {
    case REQUEST_STEER:
        desk_steer_request(desk, request);
        break;
    case REQUEST_DECIDE:
        desk_decide_request(desk, request);
        break;
    case REQUEST_PREVIEW:
        desk_preview_request(desk, request);
        break;
    case REQUEST_CONFIRM:
        desk_confirm_request(desk, request);
        break;
    case REQUEST_CATEGORY:
        desk_category_request(desk, request);
        break;
    default:
        break;
    }
}

static void
write_for_screen(void *context)
{
    struct backend *backend = context;
    struct desk *desk = &backend->writer;
    int64_t look_at = 0;
    while (!desk->is_stopping) {
        // What waits for a worker gets one: at the start, and when the one that had it is gone.
        bool is_connected = connect_if_due(desk);
        if (is_connected && clock_mono() >= look_at) {
            look_at = clock_mono() + WORKER_LOOK;
            desk_resume_waiting(desk);
        }
        struct request *request = mailbox_take(desk->inbox, 500000);
        if (!request)
            continue;
        desk->retry_at = 0;
        if (connect_if_due(desk))
            writer_handle(desk, request);
        else
            refuse_without_link(desk, request);
        request_destroy(request);
    }
}

struct backend *
backend_start(const struct backend_settings *settings, struct mailbox *requests, struct mailbox *replies)
{
    struct backend *backend = alloc_bytes(sizeof *backend);
    backend->settings = *settings;
    struct desk *desks[] = {&backend->reader, &backend->writer};
    for (int i = 0; i < 2; i++) {
        desks[i]->settings = &backend->settings;
        desks[i]->replies = replies;
        desks[i]->last_closed_at = TIME_ABSENT;
        desks[i]->as_of = TIME_ABSENT;
        desks[i]->pending = -1;
    }
    backend->reader.inbox = requests;
    backend->writer.inbox = mailbox_create(WRITER_INBOX);
    backend->reader_thread = thread_start(read_for_screen, backend, "reader");
    backend->writer_thread = thread_start(write_for_screen, backend, "writer");
    if (!settings->store.is_read_only)
        backend->keeping = keeping_start(&backend->settings.store);
    return backend;
}

void
backend_stop(struct backend *backend)
{
    if (!backend)
        return;
    struct desk *desks[] = {&backend->reader, &backend->writer};
    for (int i = 0; i < 2; i++) {
        atomic_store(&desks[i]->is_stopping, true);
        mailbox_close(desks[i]->inbox);
        if (desks[i]->store)
            store_interrupt(desks[i]->store);
    }
    keeping_end(backend->keeping);
    mailbox_close(backend->reader.replies);
    thread_join(backend->reader_thread);
    thread_join(backend->writer_thread);
    keeping_stop(backend->keeping);
    for (int i = 0; i < 2; i++)
        store_close(desks[i]->store); // only now: until here it may be interrupted
    mailbox_destroy(backend->writer.inbox, request_drop);
    free(backend);
}
