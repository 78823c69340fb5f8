#include "publish/doubt.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/log.h"
#include "broker/scan.h"
#include "publish/worker_private.h"
#include "store/operations/ledger.h"

#define SCAN_MS 120000
#define FENCE_PATIENCE (60 * US_PER_SECOND)
#define LEASE (30 * US_PER_SECOND)

struct doubt_search {
    struct endpoints *endpoints;
    struct slot slot;
    struct chunk chunk;
    int64_t beat_at; // clock_mono
    struct arena arena;
};

static bool
tick(void *context)
{
    struct doubt_search *search = context;
    if (clock_mono() - search->beat_at < LEASE / 3)
        return true;
    search->beat_at = clock_mono();
    struct err err = {0};
    return slot_heartbeat(search->endpoints->store, &search->slot, &err);
}

// Before the search: an earlier holder of the slot must not commit while the topics are read.
static bool
fence(struct doubt_search *search, struct err *err)
{
    if (search->endpoints->cluster.promise != PROMISE_EXACTLY_ONCE)
        return true;
    const struct producer_settings how = {.txn_id = search->slot.txn_id, .records = 1};
    struct producer *producer;
    if (!producer_open(&producer, search->endpoints->broker_settings, &how, err))
        return false;

    int64_t start = clock_mono();
    bool is_done = false, is_good = true;
    while (is_good && !is_done) {
        is_good = producer_init(producer, 20, &is_done, err) && tick(search);
        if (is_good && !is_done && clock_mono() - start > FENCE_PATIENCE)
            is_good = err_set(err, ERR_UNREACHABLE, "Kafka did not give the transactional id %s",
                              search->slot.txn_id);
    }
    producer_destroy(producer);
    return is_good;
}

// Decides by the scan. With transactions all records or none must be found.
static bool
decide_by_scan(struct doubt_search *search, const struct scan *scan, enum doubt_outcome *outcome,
               struct err *err)
{
    char evidence[400];
    bool is_whole = scan->found_count == (size_t)search->chunk.count;
    bool is_atomic = search->endpoints->cluster.promise == PROMISE_EXACTLY_ONCE;
    if (!is_whole && !scan->is_complete)
        snprintf(evidence, sizeof evidence, "found %zu of %d records, but not everything could be read: %s",
                 scan->found_count, (int)search->chunk.count, scan->why);
    else if (is_atomic && !is_whole && scan->found_count)
        snprintf(evidence, sizeof evidence,
                 "found %zu of %d records of one transaction: the cluster has torn it", scan->found_count,
                 (int)search->chunk.count);
    else {
        *outcome = DOUBT_DECIDED;
        snprintf(evidence, sizeof evidence,
                 "found %zu of %d records among %" PRId64 " by the header redrive-chunk-id",
                 scan->found_count, (int)search->chunk.count, scan->records);
        return chunk_finish_scanned(search->endpoints->store, &search->slot, &search->chunk, scan->found,
                                    scan->found_count, evidence, err);
    }
    *outcome = DOUBT_STAYS;
    log_line(LOG_WARN, "chunk stays in doubt", LOG_TEXT("chunk", search->chunk.id),
             LOG_TEXT("why", evidence));
    return slot_suspend(search->endpoints->store, &search->slot, evidence, err) &&
           slot_release(search->endpoints->store, &search->slot, err);
}

static bool
scan_for(struct doubt_search *search, enum doubt_outcome *outcome, struct err *err)
{
    struct scan scan = {.chunk_id = search->chunk.id, .since = search->chunk.created_at};
    const char **topics = NULL, **ends = NULL;
    if (!chunk_topics(search->endpoints->store, &search->chunk, &search->arena, &topics, &scan.topic_count,
                      err) ||
        !chunk_ends_read(search->endpoints->store, &search->chunk, &search->arena, &ends, &scan.end_count,
                         err))
        return false;
    scan.topics = topics;
    scan.ends = ends;
    bool is_good = true;
    if (scan.topic_count)
        is_good = broker_scan(search->endpoints->broker, &scan, SCAN_MS, tick, search, err);
    else // an empty search proves nothing
        snprintf(scan.why, sizeof scan.why, "no topic is known");
    is_good = is_good && decide_by_scan(search, &scan, outcome, err);
    scan_release(&scan);
    return is_good;
}

bool
doubt_look(struct endpoints *endpoints, int64_t wait, enum doubt_outcome *outcome, struct err *err)
{
    *outcome = DOUBT_NONE;
    struct doubt_search search = {.endpoints = endpoints, .beat_at = clock_mono()};
    struct err failure = {0};
    if (!slot_acquire_in_doubt(endpoints->store, endpoints->cluster.name, endpoints->worker, NULL, 0,
                               &search.slot, &failure))
        return failure.kind == ERR_NOT_FOUND || err_set(err, failure.kind, "%s", failure.text);

    int64_t now;
    if (!slot_check(endpoints->store, &search.slot, &search.chunk, err) ||
        !store_now(endpoints->store, &now, err))
        return false;
    *outcome = DOUBT_EARLY;
    if (!search.chunk.exists ||
        (endpoints->cluster.promise != PROMISE_EXACTLY_ONCE && now - search.chunk.created_at < wait))
        return slot_release(endpoints->store, &search.slot, err);

    bool is_good = fence(&search, err) && scan_for(&search, outcome, err);
    arena_release(&search.arena);
    return is_good;
}
