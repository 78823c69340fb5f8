// The worker asks Kafka who has read the events that were sent, and who
// reads the topics that somebody wants to send to. A small part of its time: every second or two, and one
// worker of all.
#include "publish/worker_private.h"

#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "broker/consumers.h"
#include "core/topic_rules.h"
#include "store/operations/consumers.h"

#define LOOK_TIMEOUT_MS 2000 // publishers wait meanwhile; their leases and transactions last for longer
#define WANTED_EVERY US_PER_SECOND
#define SHARE 5 // of the time that passes it takes at most a fifth, however slow the network is
#define AFTER_FAILURE (10 * US_PER_SECOND)
#define LAST_MOST (3 * US_PER_SECOND) // workers ask at most every second and a half

// The setting names the groups that events of a topic are for; where it does not, all live ones are waited
// for. One that has not committed yet is waited for as well: it has read nothing.
static void
await_named(const struct topic_rules *rules, struct topic_consumers *topic, struct arena *arena)
{
    const struct topic_rule *rule = topic_rule_of(rules, topic->topic);
    if (!rule || rule->awaited_count == 0)
        return;
    struct consumer *rows = arena_array(arena, topic->count + rule->awaited_count, sizeof *rows);
    size_t count = topic->count;
    for (size_t c = 0; c < count; c++) {
        rows[c] = topic->rows[c];
        rows[c].is_awaited = topic_rule_awaits(rule, rows[c].name);
    }
    for (size_t n = 0; n < rule->awaited_count; n++) {
        bool is_there = false;
        for (size_t c = 0; c < topic->count; c++)
            is_there = is_there || strcmp(topic->rows[c].name, rule->awaited[n]) == 0;
        if (!is_there)
            rows[count++] = (struct consumer){
                .name = rule->awaited[n], .state = "Unknown", .lag = -1, .is_awaited = true};
    }
    topic->rows = rows;
    topic->count = count;
}

// A right that is missing is an answer too: time alone decides then.
static bool
look(struct worker_run *run, const char *const *topics, size_t count, struct arena *arena, struct err *err)
{
    struct topic_consumers *found = arena_array(arena, count, sizeof *found);
    if (!broker_consumers(run->endpoints.broker, topics, count, LOOK_TIMEOUT_MS, arena, found, err)) {
        if (err->kind != ERR_DENIED)
            return false;
        for (size_t t = 0; t < count; t++)
            found[t] =
                (struct topic_consumers){.topic = topics[t], .note = arena_printf(arena, "%s", err->text)};
        err_clear(err);
    }
    for (size_t t = 0; t < count; t++)
        if (!found[t].note || found[t].count)
            await_named(run->plan.rules, &found[t], arena);
    return consumers_keep(run->endpoints.store, run->endpoints.cluster.name, found, count, err);
}

// *is_over: Kafka was asked, or nobody wants to know anything, or it cannot be asked now.
static bool
look_where_wanted(struct worker_run *run, bool *is_over, struct err *err)
{
    int64_t now = clock_mono();
    run->due.consumers = now + WANTED_EVERY;
    const char **topics;
    size_t count;
    bool is_urgent = false, is_there = false, is_asking = false;
    struct err failure = {0};
    struct arena arena = {0};
    bool is_good = consumers_wanted(run->endpoints.store, run->endpoints.cluster.name, &arena, &topics,
                                    &count, &is_urgent, &failure) ||
                   worker_store_failed(run, &failure, err);
    if (is_urgent)
        run->last.watched_at = now;
    is_asking = is_good && count > 0;
    is_good = is_good && (count == 0 || worker_need_kafka(run, &is_there, err));
    *is_over = is_asking || !is_urgent; // else another worker, or this one, has just asked
    int64_t began = clock_mono();
    if (is_there && !look(run, topics, count, &arena, &failure)) {
        log_line(LOG_WARN, "consumer groups not read", LOG_TEXT("why", failure.text));
        run->due.consumers = clock_mono() + AFTER_FAILURE;
    }
    int64_t rest = (clock_mono() - began) * SHARE;
    if (run->due.consumers < began + rest)
        run->due.consumers = began + rest;
    arena_release(&arena);
    return is_good;
}

bool
worker_look_at_consumers(struct worker_run *run, struct err *err)
{
    bool is_over = false;
    if (!broker_settings_present(&run->settings->broker) || clock_mono() < run->due.consumers)
        return true;
    return look_where_wanted(run, &is_over, err);
}

bool
worker_look_last(struct worker_run *run, struct err *err)
{
    const struct operation *operation = &run->shown.operation;
    if (operation->action != ACTION_REPROCESS || operation->done == 0 || !run->publishers[0].machine)
        return true;
    bool is_over = false, is_good = true;
    for (int64_t end = clock_mono() + LAST_MOST; is_good && !is_over && clock_mono() < end;) {
        is_good = look_where_wanted(run, &is_over, err);
        if (!is_over && worker_must_stop(run))
            break;
        if (!is_over)
            clock_sleep(US_PER_SECOND / 10);
    }
    return is_good;
}
