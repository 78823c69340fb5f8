// endpoints: the publisher's tables bound to PostgreSQL and Kafka.
#include "publish/worker_private.h"

#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "broker/ends.h"
#include "broker/probe/probe.h"
#include "publish/originals.h"

#define KAFKA_MS 2500      // for one answer, so that a worker gives a sign between two
#define MARKER_MS 6000     // of a coordinator, which must be found and connected to; with signs meanwhile
#define ORIGINALS_MS 20000 // below the lease: the claim before it has just extended it
#define VERDICT_LIFE (24 * 3600 * US_PER_SECOND)

static bool
ledger_acquire(void *context, const int32_t *mine, size_t count, struct slot *slot, struct err *err)
{
    struct endpoints *endpoints = context;
    return slot_acquire(endpoints->store, endpoints->cluster.name, endpoints->worker, mine, count, slot, err);
}

static bool
ledger_check(void *context, struct slot *slot, struct chunk *unfinished, struct err *err)
{
    return slot_check(((struct endpoints *)context)->store, slot, unfinished, err);
}

static bool
ledger_heartbeat(void *context, const struct slot *slot, struct err *err)
{
    return slot_heartbeat(((struct endpoints *)context)->store, slot, err);
}

static bool
ledger_provisioned(void *context, struct slot *slot, struct err *err)
{
    return slot_provisioned(((struct endpoints *)context)->store, slot, err);
}

static bool
ledger_release(void *context, const struct slot *slot, struct err *err)
{
    return slot_release(((struct endpoints *)context)->store, slot, err);
}

static bool
ledger_suspend(void *context, const struct slot *slot, const char *evidence, struct err *err)
{
    return slot_suspend(((struct endpoints *)context)->store, slot, evidence, err);
}

static bool
ledger_retire(void *context, struct slot *slot, const char *why, struct err *err)
{
    return slot_retire(((struct endpoints *)context)->store, slot, why, err);
}

static bool
ledger_claim(void *context, struct slot *slot, int64_t operation, const char *chunk_id, size_t limit,
             uint64_t max_bytes, struct arena *arena, struct claim *claim, struct err *err)
{
    return chunk_claim(((struct endpoints *)context)->store, slot, operation, chunk_id, limit, max_bytes,
                       arena, claim, err);
}

static bool
ledger_ends(void *context, const struct slot *slot, const char *chunk_id, const char *const *ends,
            size_t count, struct err *err)
{
    return chunk_ends(((struct endpoints *)context)->store, slot, chunk_id, ends, count, err);
}

static bool
ledger_finish(void *context, struct slot *slot, const struct chunk *chunk, enum chunk_state outcome,
              const char *evidence, struct err *err)
{
    return chunk_finish(((struct endpoints *)context)->store, slot, chunk, outcome, evidence, err);
}

static bool
ledger_published(void *context, struct slot *slot, const struct chunk *chunk,
                 const struct sent_places *places, const char *evidence, struct err *err)
{
    return chunk_published(((struct endpoints *)context)->store, slot, chunk, places, evidence, err);
}

static bool
ledger_finish_scanned(void *context, struct slot *slot, const struct chunk *chunk, const int64_t *published,
                      size_t count, const char *evidence, struct err *err)
{
    return chunk_finish_scanned(((struct endpoints *)context)->store, slot, chunk, published, count, evidence,
                                err);
}

static bool
ledger_refuse(void *context, const struct slot *slot, int64_t operation, const struct refusal *refusals,
              size_t count, struct err *err)
{
    return items_refuse(((struct endpoints *)context)->store, slot, operation, refusals, count, err);
}

static bool
ledger_originals(void *context, const struct event *const *events, size_t count, struct arena *arena,
                 struct original *originals, struct err *err)
{
    struct endpoints *endpoints = context;
    return originals_find(endpoints->store, endpoints->broker, events, count, ORIGINALS_MS, endpoints->tick,
                          endpoints->tick_context, arena, originals, err);
}

static bool
turns_take(void *context, int64_t since, struct turn *turn, struct err *err)
{
    struct endpoints *endpoints = context;
    return turn_take(endpoints->store, endpoints->cluster.name, endpoints->worker, since, turn, err);
}

static bool
turns_write(void *context, const struct turn_mark *kafka, const char *id, struct turn *turn, struct err *err)
{
    struct endpoints *endpoints = context;
    return turn_write(endpoints->store, endpoints->cluster.name, endpoints->worker, kafka, id, turn, err);
}

static bool
turns_confirm(void *context, int64_t no, struct err *err)
{
    struct endpoints *endpoints = context;
    return turn_confirm(endpoints->store, endpoints->cluster.name, endpoints->worker, no, err);
}

static bool
turns_finish(void *context, int64_t no, struct err *err)
{
    struct endpoints *endpoints = context;
    return turn_finish(endpoints->store, endpoints->cluster.name, endpoints->worker, no, err);
}

static bool
turns_stop(void *context, enum stop_reason reason, const char *detail, struct err *err)
{
    struct endpoints *endpoints = context;
    return turn_stop(endpoints->store, endpoints->cluster.name, reason, detail, err);
}

static bool
turns_read(void *context, struct turn *turn, struct err *err)
{
    struct endpoints *endpoints = context;
    return turn_read(endpoints->store, endpoints->cluster.name, turn, err);
}

static bool
turns_slots(void *context, struct turn_slot *slots, size_t room, size_t *count, struct err *err)
{
    struct endpoints *endpoints = context;
    return turn_slots(endpoints->store, endpoints->cluster.name, slots, room, count, err);
}

static const struct publisher_turns endpoints_turns = {
    .take = turns_take,
    .write = turns_write,
    .confirm = turns_confirm,
    .finish = turns_finish,
    .stop = turns_stop,
    .read = turns_read,
    .slots = turns_slots,
};

const struct publisher_ledger endpoints_ledger = {
    .acquire = ledger_acquire,
    .check = ledger_check,
    .heartbeat = ledger_heartbeat,
    .provisioned = ledger_provisioned,
    .release = ledger_release,
    .suspend = ledger_suspend,
    .retire = ledger_retire,
    .claim = ledger_claim,
    .ends = ledger_ends,
    .finish = ledger_finish,
    .published = ledger_published,
    .finish_scanned = ledger_finish_scanned,
    .refuse = ledger_refuse,
    .originals = ledger_originals,
    .turns = &endpoints_turns,
};

// Before a call that may wait. Its result is of no interest: see fetch_tick_fn in worker_private.h.
static struct endpoints *
give_sign(void *context)
{
    struct endpoints *endpoints = context;
    if (endpoints->tick)
        (void)endpoints->tick(endpoints->tick_context);
    return endpoints;
}

static bool
kafka_open(void *context, const struct producer_settings *how, struct producer **producer, struct err *err)
{
    return producer_open(producer, ((struct endpoints *)context)->broker_settings, how, err);
}

static bool
kafka_warm(struct producer *producer, const char *const *topics, size_t count, struct err *err)
{
    return producer_warm(producer, topics, count, KAFKA_MS, err);
}

static bool
kafka_read_marker(void *context, const char *group, struct marker_reading *reading, struct err *err)
{
    return marker_read(give_sign(context)->broker, group, MARKER_MS, reading, err);
}

static bool
kafka_write_nonce(void *context, const char *group, int64_t nonce, struct err *err)
{
    return marker_write_nonce(give_sign(context)->broker, group, nonce, MARKER_MS, err);
}

static bool
kafka_read_markers(void *context, const char *const *groups, size_t count, struct marker_reading *readings,
                   struct err *err)
{
    return marker_read_all(give_sign(context)->broker, groups, count, MARKER_MS, readings, err);
}

static bool
kafka_write_nonces(void *context, struct producer *const *producers, const char *const *groups, size_t count,
                   int64_t nonce, struct err *err)
{
    (void)give_sign(context);
    return producer_write_nonces(producers, groups, count, nonce, MARKER_MS, err);
}

static bool
kafka_topic(void *context, const char *name, struct topic *topic, struct err *err)
{
    return broker_topic(give_sign(context)->broker, name, KAFKA_MS, topic, err);
}

static bool
kafka_ends(void *context, const char *topic, struct strbuf *text, struct err *err)
{
    return broker_ends(give_sign(context)->broker, topic, KAFKA_MS, text, err);
}

static int64_t
kafka_smallest_limit(void *context, int64_t otherwise)
{
    return broker_smallest_limit(((struct endpoints *)context)->broker, otherwise);
}

static void
kafka_deny_topic(void *context, const char *name)
{
    broker_deny_topic(((struct endpoints *)context)->broker, name);
}

static void
kafka_forget_topics(void *context)
{
    broker_forget_topics(((struct endpoints *)context)->broker);
}

const struct publisher_broker endpoints_broker = {
    .open = kafka_open,
    .destroy = producer_destroy,
    .init = producer_init,
    .warm = kafka_warm,
    .begin = producer_begin,
    .send = producer_send,
    .serve = producer_serve,
    .why = producer_why,
    .mark = producer_mark,
    .commit = producer_commit,
    .read_marker = kafka_read_marker,
    .write_nonce = kafka_write_nonce,
    .read_markers = kafka_read_markers,
    .write_nonces = kafka_write_nonces,
    .topic = kafka_topic,
    .ends = kafka_ends,
    .smallest_limit = kafka_smallest_limit,
    .deny_topic = kafka_deny_topic,
    .forget_topics = kafka_forget_topics,
};

static int64_t
world_mono(void *context)
{
    (void)context;
    return clock_mono();
}

static int64_t
world_now(void *context)
{
    (void)context;
    return clock_now();
}

static void
world_sleep(void *context, int64_t us)
{
    (void)context;
    clock_sleep(us);
}

static void
world_uuid(void *context, char out[UUID_SIZE])
{
    (void)context;
    uuid_make(out);
}

static int64_t
world_random(void *context)
{
    (void)context;
    char text[UUID_SIZE];
    uuid_make(text);
    return (int64_t)(bytes_hash(bytes_of(text)) & INT64_MAX);
}

const struct publisher_world endpoints_world = {
    .mono = world_mono,
    .now = world_now,
    .sleep = world_sleep,
    .uuid = world_uuid,
    .random = world_random,
    .start = endpoints_start,
    .is_done = endpoints_is_done,
};

static bool
is_fresh(const struct endpoints *endpoints, const struct cluster *cluster)
{
    int64_t now;
    struct err ignored = {0};
    return cluster->promise != PROMISE_UNKNOWN && store_now(endpoints->store, &now, &ignored) &&
           now - cluster->checked_at < VERDICT_LIFE;
}

// A verdict of "at least once" may rest on a right that has been granted since: it is tried again at every
// start.
static bool
know_cluster(struct endpoints *endpoints, struct err *err)
{
    char id[64];
    struct err failure = {0};
    if (!broker_cluster_id(endpoints->broker, KAFKA_MS, id, err))
        return false;
    if (cluster_get(endpoints->store, id, &endpoints->cluster, &failure)) {
        if (endpoints->cluster.promise == PROMISE_EXACTLY_ONCE && is_fresh(endpoints, &endpoints->cluster))
            return marker_topic_ensure(endpoints->broker, KAFKA_MS, err);
    } else if (failure.kind != ERR_NOT_FOUND) {
        return err_set(err, failure.kind, "%s", failure.text);
    }

    struct probe probe;
    if (!probe_run(endpoints->broker, endpoints->broker_settings, store_info(endpoints->store)->install,
                   &probe, err))
        return false;
    endpoints->cluster = probe.cluster;
    log_line(LOG_INFO, "cluster probed", LOG_TEXT("cluster", id), LOG_TEXT("promise", probe.cluster.words),
             LOG_TEXT("evidence", probe.cluster.evidence));
    return cluster_put(endpoints->store, &endpoints->cluster, err);
}

bool
endpoints_check_clock(struct endpoints *endpoints, struct err *err)
{
    int64_t before = clock_now(), theirs;
    if (!store_now(endpoints->store, &theirs, err))
        return false;
    return publisher_check_clock(theirs, before + (clock_now() - before) / 2, err);
}

bool
endpoints_connect(struct endpoints *endpoints, struct err *err)
{
    if (endpoints->knows_cluster)
        return true;
    if (!endpoints_check_clock(endpoints, err) ||
        (!endpoints->broker && !broker_open(&endpoints->broker, endpoints->broker_settings, err)))
        return false;
    broker_set_tick(endpoints->broker, endpoints->tick, endpoints->tick_context);
    endpoints->knows_cluster = know_cluster(endpoints, err);
    // A login that is refused again and again may lock the account.
    if (!endpoints->knows_cluster && err->kind != ERR_UNREACHABLE)
        endpoints_close(endpoints);
    return endpoints->knows_cluster;
}

void
endpoints_close(struct endpoints *endpoints)
{
    broker_close(endpoints->broker);
    endpoints->broker = NULL;
    endpoints->knows_cluster = false;
}
