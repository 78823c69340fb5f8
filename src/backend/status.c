// The status that the header shows: the connection, the count, workers, alerts, and the operation that runs.
#include "backend/reader.h"

#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "store/ingest/letter_topics.h"
#include "store/operations/adoption.h"
#include "store/operations/ledger.h"
#include "store/operations/workers.h"
#include "store/watch/alerts.h"

static void
look_at_workers(struct store *store, struct workers_seen *seen, struct arena *arena)
{
    struct worker *workers;
    size_t count;
    if (!worker_list(store, arena, &workers, &count, NULL))
        return;
    seen->count = (int)count;
    for (size_t i = 0; i < count; i++) {
        bool is_idle = workers[i].note && strcmp(workers[i].note, "idle") == 0;
        seen->idle += is_idle;
        seen->publishing += workers[i].publishes;
        if (!is_idle && workers[i].note)
            snprintf(seen->note, sizeof seen->note, "%s", workers[i].note);
    }
    int64_t silent_for;
    if (workers_attendance(workers, count, false, &silent_for) == WORKERS_SILENT)
        seen->silent = (int)(silent_for / US_PER_SECOND);
}

static void
look_at_services(struct store *store, struct services *services, struct arena *arena)
{
    *services = (struct services){0};
    look_at_workers(store, &services->worker, arena);
    struct cluster cluster;
    if (cluster_latest(store, &cluster, NULL)) {
        services->promise = cluster.promise;
        snprintf(services->promise_words, sizeof services->promise_words, "%s", cluster.words);
    }
    struct stop stop;
    if (stop_find(store, &stop, NULL))
        snprintf(services->stop, sizeof services->stop, "%.*s", (int)sizeof services->stop - 1, stop.detail);
    struct letter_topic *topics;
    size_t count;
    if (letter_topics_list(store, arena, &topics, &count, NULL))
        services->letters_left = letter_topics_left(topics, count);
    int64_t firing;
    if (alerts_count_firing(store, &firing, NULL))
        services->alerts_firing = (int)firing;
}

// They are five round trips, and a status is sent whenever anything of it may have changed.
static void
fill_services(struct reader *reader, struct status *status, struct arena *arena)
{
    struct services *services = &reader->status.services;
    if (clock_mono() >= reader->status.look_at) {
        look_at_services(reader->session.store, services, arena);
        reader->status.look_at = clock_mono() + reader->session.settings->refresh_us / 2;
    }
    status->worker = services->worker;
    status->promise = services->promise;
    memcpy(status->promise_words, services->promise_words, sizeof status->promise_words);
    memcpy(status->stop, services->stop, sizeof status->stop);
    status->letters_left = services->letters_left;
    status->alerts_firing = services->alerts_firing;
}

static void
fill_running(struct reader *reader, struct status *status, struct arena *arena)
{
    for (size_t i = 0; i < reader->operations.live_count; i++) {
        bool is_read =
            operation_get(reader->session.store, reader->operations.live[i], arena, &status->running, NULL);
        bool is_later = status->running.state == OPERATION_FROZEN &&
                        operation_begins_later(&status->running, clock_now());
        if (!is_read || !is_later)
            break;
        status->running = (struct operation){0}; // hours may pass until there is something to tell
    }
}

// A status that differs in as_of alone is not sent, so a quiet screen costs nothing.
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
reader_send_status(struct reader *reader)
{
    if (!reader->counts.backlog)
        return; // the writer has nothing to tell
    struct reply *reply = reply_create(REPLY_STATUS, 0);
    struct status *status = &reply->status;
    status->link = reader->session.link.is_lost ? LINK_LOST : LINK_LIVE;
    if (!reader->session.store ||
        (reader->session.link.is_lost && reader->session.link.attempts == 0 && !reader->counts.as_of))
        status->link = reader->session.link.is_lost ? LINK_LOST : LINK_CONNECTING;
    status->is_read_only = reader->session.settings->store.is_read_only;
    status->pending =
        reader->counts.is_counting ? (int64_t)backlog_count(reader->counts.backlog) : reader->counts.pending;
    status->is_counting = reader->counts.is_counting;
    status->scanned = reader->counts.scanned;
    status->behind = reader->counts.behind;
    status->per_minute = reader->counts.per_minute;
    memcpy(status->spark, reader->counts.spark, sizeof status->spark);
    status->as_of = reader->counts.as_of;
    status->retry_at = reader->session.link.retry_at;
    status->last_closed_at = reader->counts.last_closed_at;
    snprintf(status->last_closed_by, sizeof status->last_closed_by, "%s", reader->counts.last_closed_by);
    snprintf(status->trouble, sizeof status->trouble, "%s",
             reader->session.link.is_lost ? reader->session.link.trouble : "");
    if (reader->session.store) {
        const struct store_info *info = store_info(reader->session.store);
        snprintf(status->host, sizeof status->host, "%s", info->host[0] == '/' ? "local" : info->host);
        snprintf(status->database, sizeof status->database, "%s", info->database);
        if (info->tables > 1)
            snprintf(status->table, sizeof status->table, "%s", info->table);
        snprintf(status->user, sizeof status->user, "%s", info->user);
        status->has_schema = info->schema_version > 0;
        if (!reader->session.link.is_lost && status->has_schema) {
            fill_services(reader, status, &reply->arena);
            fill_running(reader, status, &reply->arena);
        }
    }
    uint64_t hash = status_hash(status);
    if (reader->status.has_sent && hash == reader->status.sent_hash) {
        reply_destroy(reply);
        return;
    }
    reader->status.has_sent = true;
    reader->status.sent_hash = hash;
    session_reply(&reader->session, reply);
}
