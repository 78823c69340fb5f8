// How much is written to the topics that events come from: once a minute one worker of all asks Kafka where
// they end. It takes no turn and touches no slot, so that a worker without work does it too: by the
// connection that publishing has, else by one of its own.
#include "publish/worker_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "broker/ends.h"
#include "store/watch/written.h"

#define ENDS_TIMEOUT_MS 2000 // publishers wait meanwhile; their leases and transactions last for longer
#define WANTED_EVERY (5 * US_PER_SECOND)
#define AFTER_FAILURE (60 * US_PER_SECOND)

void
worker_written_close(struct worker_run *run)
{
    broker_close(run->written.broker);
    run->written.broker = NULL;
}

// The connection, and the cluster's id.
static bool
connect_to(struct worker_run *run, struct broker **broker, char cluster[64], struct err *err)
{
    *broker = run->endpoints.broker ? run->endpoints.broker : run->written.broker;
    if (run->endpoints.broker && run->written.broker)
        worker_written_close(run);
    if (!*broker && !broker_open(broker, &run->settings->broker, err))
        return false;
    if (!run->endpoints.broker)
        run->written.broker = *broker;
    return broker_cluster_id(*broker, ENDS_TIMEOUT_MS, cluster, err);
}

// A failure of Kafka. Told once until it is over.
static void
tell_failure(struct worker_run *run, const struct err *failure)
{
    run->due.written = clock_mono() + AFTER_FAILURE;
    if (!run->written.has_failed)
        log_line(LOG_WARN, "it is not known how much is written to topics", LOG_TEXT("why", failure->text));
    run->written.has_failed = true;
}

static bool
keep_ends(struct worker_run *run, const char *cluster, int64_t turn, const struct topic_ends *found,
          size_t count, struct arena *arena, struct err *err)
{
    struct written_ends *ends = arena_array(arena, count, sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[i] = (struct written_ends){
            .topic = found[i].topic, .ends = found[i].ends, .count = found[i].count, .note = found[i].note};
    run->written.has_failed = false;
    return written_keep(run->endpoints.store, cluster, turn, ends, count, err);
}

static bool
ask_ends(struct worker_run *run, struct arena *arena, struct err *err)
{
    struct broker *broker;
    char cluster[64];
    const char **topics;
    size_t count;
    int64_t turn;
    struct err failure = {0};
    if (!connect_to(run, &broker, cluster, &failure)) {
        tell_failure(run, &failure);
        return true;
    }
    if (!written_wanted(run->endpoints.store, cluster, arena, &turn, &topics, &count, err))
        return false;
    struct topic_ends *found = arena_array(arena, count, sizeof *found);
    for (size_t i = 0; i < count; i++)
        found[i].topic = topics[i];
    if (count == 0)
        return true;
    if (broker_ends_now(broker, found, count, ENDS_TIMEOUT_MS, arena, &failure))
        return keep_ends(run, cluster, turn, found, count, arena, err);
    tell_failure(run, &failure);
    return true;
}

bool
worker_ask_written(struct worker_run *run, struct err *err)
{
    struct arena arena = {0};
    struct err failure = {0};
    if (worker_is_foreground(run) || !broker_settings_present(&run->settings->broker) ||
        clock_mono() < run->due.written)
        return true;
    run->due.written = clock_mono() + WANTED_EVERY;
    bool ok = ask_ends(run, &arena, &failure);
    arena_release(&arena);
    return ok || worker_store_failed(run, &failure, err);
}
