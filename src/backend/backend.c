#include "backend/backend.h"

#include <stdlib.h>
#include <string.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "base/uuid.h"
#include "backend/reader.h"
#include "backend/writer.h"
#include "rollup/maintenance.h"

enum { WRITER_INBOX = 256 };
static const int64_t PATHS_LOOK = US_PER_SECOND / 50;
static const int64_t WORKER_LOOK = 5 * US_PER_SECOND;

struct backend {
    struct backend_settings settings;
    struct reader reader; // each belongs to its thread
    struct writer writer;
    struct maintenance *maintenance; // NULL: read-only
    struct thread *reader_thread, *writer_thread;
};

static void
refresh(struct reader *reader, const struct request *request)
{
    (void)request;
    reader->counts.poll_at = 0;
    reader->session.link.retry_at = 0;
    reader->counts.reconcile_at = 0;
    reader->groups.is_dirty = true; // sent again, also unchanged: that is an answer too
    reader->groups.send_at = 0;
}

static void
pause_groups(struct reader *reader, const struct request *request)
{
    reader->groups.is_paused = request->is_on;
    reader_backlog_send(reader, !request->is_on);
}

static void
cancel(struct reader *reader, const struct request *request)
{
    if (request->target == reader->preview_passed_on)
        writer_preview_end(reader->writer, request->target);
    reader_list_cancel(reader, request->target);
    reader_matches_cancel(reader, request->target);
    reader_apart_cancel(reader, request->target);
    reader_stats_cancel(reader, request->target);
    reader_recipe_cancel(reader, request->target);
    reader_correct_cancel(reader, request->target);
    reader_export_cancel(reader, request->target);
    reader_connect_cancel(reader, request->target);
}

// The thread that answers each request.
static const struct route {
    void (*read)(struct reader *reader, const struct request *request);
    void (*write)(struct writer *writer, const struct request *request);
    bool works_without_link; // it needs no database, or waits for it by itself
} routes[REQUEST_KINDS] = {
    [REQUEST_GROUPS] = {.read = reader_groups_request, .works_without_link = true},
    [REQUEST_LIST] = {.read = reader_list_request},
    [REQUEST_COLLECT] = {.read = reader_list_request},
    [REQUEST_FACETS] = {.read = reader_facets_request},
    [REQUEST_VALUES] = {.read = reader_values_request},
    [REQUEST_ROWS] = {.read = reader_rows_request},
    [REQUEST_RECENT] = {.read = reader_recent_request},
    [REQUEST_EVENT] = {.read = reader_event_request},
    [REQUEST_ORIGINAL] = {.read = reader_original_request},
    [REQUEST_WHY] = {.read = reader_why_request},
    [REQUEST_OPERATIONS] = {.read = reader_operations_request, .works_without_link = true},
    [REQUEST_OPERATIONS_END] = {.read = reader_operations_end, .works_without_link = true},
    [REQUEST_OPERATION] = {.read = reader_operations_request, .works_without_link = true},
    [REQUEST_STEER] = {.write = writer_steer_request},
    [REQUEST_DECIDE] = {.write = writer_decide_request},
    [REQUEST_STOP] = {.write = writer_stop_request},
    [REQUEST_AS_COPY] = {.write = writer_copy_request},
    [REQUEST_ADOPT_COUNT] = {.write = writer_adopt_count_request},
    [REQUEST_ADOPT] = {.write = writer_adopt_request},
    [REQUEST_PREVIEW] = {.write = writer_preview_request},
    [REQUEST_NEWER] = {.write = writer_newer_request},
    [REQUEST_CONFIRM] = {.write = writer_confirm_request},
    [REQUEST_CATEGORY] = {.write = writer_category_request},
    [REQUEST_PRESENCE] = {.write = writer_presence_request, .works_without_link = true},
    [REQUEST_CARE] = {.write = writer_care_request},
    [REQUEST_SHAPE] = {.read = reader_shape_request},
    [REQUEST_RECORD] = {.write = writer_record_request},
    [REQUEST_CORRECT] = {.write = writer_correct_request},
    [REQUEST_AUDIT] = {.read = reader_audit_request},
    [REQUEST_APART] = {.read = reader_apart_request},
    [REQUEST_MONITOR] = {.read = reader_monitor_request},
    [REQUEST_MARK] = {.write = writer_mark_request},
    [REQUEST_ALERT] = {.write = writer_alert_request},
    [REQUEST_STATS] = {.read = reader_stats_request},
    [REQUEST_RECIPE_TRY] = {.read = reader_recipe_request},
    [REQUEST_RECIPES] = {.read = reader_recipe_list},
    [REQUEST_RECIPE_FILE] = {.read = reader_recipe_file, .works_without_link = true},
    [REQUEST_RECIPE_SAVE] = {.write = writer_recipe_request},
    [REQUEST_EXPORT] = {.read = reader_export_request},
    [REQUEST_CONNECT] = {.read = reader_connect_request, .works_without_link = true},
    [REQUEST_CANCEL] = {.read = cancel, .works_without_link = true},
    [REQUEST_RECONNECT] = {.read = refresh, .works_without_link = true},
    [REQUEST_REFRESH] = {.read = refresh, .works_without_link = true},
    [REQUEST_PAUSE] = {.read = pause_groups, .works_without_link = true},
};

// How long nothing is due.
static int64_t
reader_wait(const struct reader *reader, bool is_connected)
{
    int64_t until = is_connected ? reader->counts.poll_at : reader->session.link.retry_at;
    if (is_connected && reader->operations.look_at < until)
        until = reader->operations.look_at;
    int64_t wait = until - clock_mono();
    if (reader_paths_is_reading(reader) && wait > PATHS_LOOK)
        wait = PATHS_LOOK;
    return wait < 1000 ? 1000 : wait;
}

// The writer's next request does not wait for a preview: its dialog is closed.
static void
pass_on(struct reader *reader, struct request *request)
{
    if (request->kind != REQUEST_PRESENCE)
        writer_preview_end(reader->writer, reader->preview_passed_on);
    if (request->kind == REQUEST_PREVIEW)
        reader->preview_passed_on = request->number;
    if (!mailbox_put(reader->writer->session.inbox, request, -1))
        request_destroy(request);
}

static void
read_for_screen(void *context)
{
    struct reader *reader = context;
    reader->texts.cache =
        text_cache_create(reader->session.settings->filter_cache, &reader->session.settings->store);
    reader_changes_begin(reader);
    bool was_connected = false;
    while (!reader->session.is_stopping) {
        bool is_connected = session_connect(&reader->session);
        if (is_connected && !was_connected) {
            reader_people_begin(reader);
            reader_backlog_begin(reader);
            reader->operations.look_at = reader->status.look_at = 0;
            reader_send_status(reader);
            if (store_info(reader->session.store)->schema_version > 0)
                reader->operations.change_token = 0;
        }
        was_connected = is_connected;

        struct request *request = mailbox_take(reader->session.inbox, 0);
        bool did_step = false;
        if (!request && is_connected) {
            // The list that is looked at comes before the rest of the first count.
            did_step = reader_list_step(reader) || reader_matches_step(reader) || reader_paths_step(reader);
            if (!did_step || !reader_rollup_readable(reader))
                did_step |= reader_backlog_step(reader);
            did_step |= !reader->session.link.is_lost && reader_operations_step(reader);
            did_step = did_step || (!reader->session.link.is_lost &&
                                    (reader_changes_step(reader) || reader_cache_step(reader)));
        }
        if (!request && !did_step)
            request = mailbox_take(reader->session.inbox,
                                   reader_wait(reader, is_connected && !reader->session.link.is_lost));
        if (!request)
            continue;
        const struct route *route = &routes[request->kind];
        if (route->write) {
            if (!reader_correct_takes(reader, request))
                pass_on(reader, request);
            continue;
        }
        if ((is_connected && !reader->session.link.is_lost) || route->works_without_link)
            route->read(reader, request);
        else
            session_refuse(&reader->session, request);
        request_destroy(request);
    }
    reader_list_release(reader);
    reader_apart_release(reader);
    reader_stats_release(reader);
    reader_recipe_release(reader);
    reader_correct_release(reader);
    reader_export_release(reader);
    reader_paths_release(reader);
    reader_connect_release(reader);
    reader_changes_release(reader);
    text_cache_destroy(reader->texts.cache);
    reader_rows_forget_names(reader);
    backlog_destroy(reader->rows.backlog);
    backlog_destroy(reader->counts.backlog);
}

static void
write_for_screen(void *context)
{
    struct writer *writer = context;
    struct session *session = &writer->session;
    int64_t look_at = 0;
    while (!session->is_stopping) {
        // Starts a worker for operations that wait for one: at the start, and when their worker is gone.
        bool is_connected = session_connect(session);
        if (is_connected && clock_mono() >= look_at) {
            look_at = clock_mono() + WORKER_LOOK;
            writer_resume_waiting(writer);
        }
        if (is_connected)
            writer_presence_step(writer);
        struct request *request = mailbox_take(session->inbox, 500000);
        if (!request)
            continue;
        if (request->kind == REQUEST_PRESENCE) { // told by the next step
            writer_presence_request(writer, request);
            request_destroy(request);
            continue;
        }
        session->link.retry_at = 0;
        if (session_connect(session))
            routes[request->kind].write(writer, request);
        else
            session_refuse(session, request);
        request_destroy(request);
    }
}

// `session` is the first member of its reader.
static void
send_link(struct session *session)
{
    reader_send_status((struct reader *)session);
}

struct backend *
backend_start(const struct backend_settings *settings, struct mailbox *requests, struct mailbox *replies)
{
    struct backend *backend = alloc_bytes(sizeof *backend);
    backend->settings = *settings;
    struct reader *reader = &backend->reader;
    struct writer *writer = &backend->writer;
    reader->session = (struct session){
        .settings = &backend->settings, .inbox = requests, .replies = replies, .link_changed = send_link};
    writer->session = (struct session){
        .settings = &backend->settings, .inbox = mailbox_create(WRITER_INBOX), .replies = replies};
    // One of other settings is of no use.
    if (settings->connected && store_become(settings->connected, &settings->store))
        reader->session.store = settings->connected;
    else
        store_close(settings->connected);
    backend->settings.connected = NULL;
    reader->writer = writer;
    if (settings->screen)
        memcpy(reader->screen, settings->screen, sizeof reader->screen);
    else
        uuid_make(reader->screen);
    memcpy(writer->presence.screen, reader->screen, sizeof reader->screen);
    reader->counts.last_closed_at = TIME_ABSENT;
    reader->counts.as_of = TIME_ABSENT;
    reader->counts.pending = -1;
    backend->reader_thread = thread_start(read_for_screen, reader, "reader");
    backend->writer_thread = thread_start(write_for_screen, writer, "writer");
    if (!settings->store.is_read_only)
        backend->maintenance = maintenance_start(&backend->settings.store);
    return backend;
}

void
backend_stop(struct backend *backend)
{
    if (!backend)
        return;
    struct session *sessions[] = {&backend->reader.session, &backend->writer.session};
    for (int i = 0; i < 2; i++) {
        atomic_store(&sessions[i]->is_stopping, true);
        mailbox_close(sessions[i]->inbox);
        if (sessions[i]->store)
            store_interrupt(sessions[i]->store);
    }
    maintenance_end(backend->maintenance);
    mailbox_close(backend->reader.session.replies);
    thread_join(backend->reader_thread);
    thread_join(backend->writer_thread);
    maintenance_stop(backend->maintenance);
    for (int i = 0; i < 2; i++)
        store_close(sessions[i]->store); // only now: until here it may be interrupted
    mailbox_destroy(backend->writer.session.inbox, request_drop);
    free(backend);
}
