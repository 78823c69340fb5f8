#include "watch/policies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/kill_point.h"
#include "base/log.h"
#include "base/text.h"
#include "base/uuid.h"
#include "core/filter/filter.h"
#include "core/selection.h"
#include "store/operations/archive.h"
#include "store/operations/operations.h"
#include "store/watch/policies.h"

enum { BATCH = 1000 };
static const int64_t LEASE = 600 * US_PER_SECOND;
static const int64_t RETENTION_TURN = 10 * US_PER_SECOND; // then other policies have theirs

// A run while it is prepared.
struct preparing {
    struct store *store;
    const struct policy_plan *plan;
    const char *holder;
    struct policy_claim claim;
    int64_t now, next_at;
    int64_t *ids; // ascending; heap
    size_t count;
    int64_t resting, spent, busy; // events that were left out: too early, tried often enough, topic in use
    const char **topics;          // to which the run sends
    size_t topic_count;
    struct arena arena;
};

// --- choosing ---

static bool
choose_matching(const struct preparing *run, const struct policy *policy, int64_t **ids, size_t *count,
                struct err *err)
{
    if (!run->plan->choose(run->plan->context, run->store, policy, ids, count, err))
        return false;
    *count = ids_normalise(*ids, *count);
    return true;
}

// Leaves out what policies of manual review match, unless they are switched off.
static bool
leave_reviewed(struct preparing *run, struct err *err)
{
    struct policy_row *rows;
    size_t known;
    if (!policies_list(run->store, &run->arena, &rows, &known, err))
        return false;
    for (size_t i = 0; i < run->plan->count; i++) {
        const struct policy *policy = &run->plan->policies[i];
        bool is_on = false;
        int64_t *ids = NULL;
        size_t count = 0;
        for (size_t j = 0; j < known; j++)
            is_on = is_on || (strcmp(rows[j].name, policy->name) == 0 && rows[j].state != POLICY_DISABLED);
        if (policy->action != POLICY_MANUAL_REVIEW || !is_on)
            continue;
        bool ok = choose_matching(run, policy, &ids, &count, err);
        if (ok)
            run->count = ids_without(run->ids, run->count, ids, count);
        free(ids);
        if (!ok)
            return false;
    }
    return true;
}

static bool
policy_leave_quarantined(struct preparing *run, struct err *err)
{
    struct preview preview;
    if (filter_names_quarantined(run->claim.policy->filter))
        return true;
    if (!operation_quarantined(run->store, run->ids, run->count, &run->arena, &preview, err))
        return false;
    run->count = ids_without(run->ids, run->count, preview.quarantine.ids, preview.quarantine.id_count);
    return true;
}

static bool
policy_has_topic(const char *const *topics, size_t count, const char *topic)
{
    for (size_t i = 0; topic && i < count; i++)
        if (strcmp(topics[i], topic) == 0)
            return true;
    return false;
}

static void
add_topic(struct preparing *run, const char *topic)
{
    if (!topic || policy_has_topic(run->topics, run->topic_count, topic))
        return;
    const char **topics = arena_array(&run->arena, run->topic_count + 1, sizeof *topics);
    for (size_t i = 0; i < run->topic_count; i++)
        topics[i] = run->topics[i];
    topics[run->topic_count++] = topic;
    run->topics = topics;
}

// May this event be acted on now?
static bool
takes_event(struct preparing *run, const struct policy_event *event, const char *const *busy,
            size_t busy_count)
{
    const struct policy *policy = run->claim.policy;
    const char *topic = policy->target ? policy->target : event->topic;
    int64_t due = policy_due(policy, event);
    if (due == TIME_ABSENT)
        run->spent++;
    else if (due > run->now)
        run->resting++;
    else if (policy->action == POLICY_REPROCESS && policy_has_topic(busy, busy_count, topic))
        run->busy++;
    else {
        if (policy->action == POLICY_REPROCESS)
            add_topic(run, topic);
        return true;
    }
    return false;
}

// Keeps the events that are due, `room` at most.
static bool
keep_due(struct preparing *run, size_t room, struct err *err)
{
    const char **busy = NULL;
    size_t busy_count = 0, kept = 0;
    bool ok = policies_busy(run->store, run->claim.policy->name, &run->arena, &busy, &busy_count, err);
    for (size_t from = 0; ok && kept < room && from < run->count; from += BATCH) {
        struct policy_event *events;
        size_t found = 0, batch = run->count - from < BATCH ? run->count - from : BATCH;
        ok = policies_events(run->store, run->ids + from, batch, &run->arena, &events, &found, err);
        for (size_t i = 0; ok && i < found && kept < room; i++)
            if (takes_event(run, &events[i], busy, busy_count))
                run->ids[kept++] = events[i].id; // never ahead of what is read
    }
    run->count = kept;
    return ok;
}

// --- beginning ---

static bool
begin_operation(struct preparing *run, int64_t matched, int64_t *no, struct err *err)
{
    const struct policy *policy = run->claim.policy;
    char count[TEXT_SHORT];
    bool sends = policy->action == POLICY_REPROCESS;
    const struct policy_begun begun = {.name = policy->name,
                                       .holder = run->holder,
                                       .matched = matched,
                                       .next_at = run->next_at,
                                       .topics = run->topics,
                                       .topic_count = run->topic_count};
    struct operation_request request = {.action = !sends           ? ACTION_DISCARD
                                                  : policy->recipe ? ACTION_CORRECT
                                                                   : ACTION_REPROCESS,
                                        .ids = run->ids,
                                        .count = run->count,
                                        .scope = arena_printf(&run->arena, "%s event%s of policy %s%s",
                                                              text_count((int64_t)run->count, count),
                                                              run->count == 1 ? "" : "s", policy->name,
                                                              run->claim.is_probe ? ", to try it" : ""),
                                        .filter_text = policy->filter,
                                        .group = policy->group,
                                        .reason = arena_printf(&run->arena, "policy %s", policy->name),
                                        .target_topic = policy->target,
                                        .recipe = policy->recipe,
                                        .then_reprocess = policy->recipe != NULL,
                                        .rate = sends ? policy->rate : RATE_UNLIMITED,
                                        .policy = &begun};
    if (sends)
        request.plan = policy->plan;
    request.plan.send_after = sends && !policy->recipe ? run->plan->send_after : 0;
    request.plan.approve_above = run->plan->approve_above;
    uuid_make(request.key);
    KILL_POINT("policy_chosen");
    bool ok = operation_insist(run->store, &request, NULL, NULL, no, err);
    KILL_POINT("policy_begun");
    return ok;
}

static void
say_none_due(const struct preparing *run, struct policy_run *result)
{
    if (result->matched == 0)
        (void)snprintf(result->note, sizeof result->note, "no event matches");
    else
        (void)snprintf(result->note, sizeof result->note,
                       "none is due: %" PRId64 " rest, %" PRId64 " were tried often enough, the topics of "
                       "%" PRId64 " are in use",
                       run->resting, run->spent, run->busy);
}

// --- retention ---

struct turn {
    int64_t until; // clock_mono
    int64_t taken;
};

static bool
retention_tick(void *context, int64_t taken)
{
    struct turn *turn = context;
    turn->taken = taken;
    return clock_mono() < turn->until;
}

// A job of the archive, a turn at a time: what is left of it is due at once, as long as the window has it.
static bool
retain(struct preparing *run, struct policy_run *result, struct err *err)
{
    const struct policy *policy = run->claim.policy;
    int64_t most = run->plan->retention_turn ? run->plan->retention_turn : RETENTION_TURN;
    struct turn turn = {.until = clock_mono() + most};
    struct archive_result done;
    struct policy_job job;
    char taken[TEXT_SHORT], chosen[TEXT_SHORT];
    if (!policies_archive(run->store, run->holder, policy->name, &job, err))
        return false;
    result->matched = job.chosen;
    if (job.no == 0) {
        (void)snprintf(result->note, sizeof result->note, "nothing was closed so long ago");
        return true;
    }
    if (!archive_continue(run->store, job.no, retention_tick, &turn, &done, err))
        return false;
    result->acted = done.was_interrupted ? turn.taken : done.moved + done.deleted - job.taken;
    if (!done.was_interrupted)
        return true;
    if (day_window_has(&policy->window, run->now, store_info(run->store)->zone_us))
        run->next_at = run->now;
    (void)snprintf(result->note, sizeof result->note, "%s of %s so far",
                   text_count(job.taken + turn.taken, taken), text_count(job.chosen, chosen));
    return true;
}

static bool
prepare(struct preparing *run, struct policy_run *result, struct err *err)
{
    const struct policy *policy = run->claim.policy;
    int64_t room = policy_room(policy, run->claim.acted, run->claim.is_probe);
    if (policy_is_retention(policy->action))
        return retain(run, result, err);
    if (!choose_matching(run, policy, &run->ids, &run->count, err))
        return false;
    if (policy_acts(policy->action) && !leave_reviewed(run, err))
        return false;
    if (policy->action == POLICY_REPROCESS && run->count > 0 && !policy_leave_quarantined(run, err))
        return false;
    result->matched = (int64_t)run->count;
    if (!policy_acts(policy->action))
        return true;
    if (room == 0) {
        (void)snprintf(result->note, sizeof result->note, "its limit of %" PRId64 " events a day is reached",
                       policy->limit);
        return true;
    }
    if (!keep_due(run, (size_t)room, err))
        return false;
    result->acted = (int64_t)run->count;
    if (run->count == 0)
        say_none_due(run, result);
    return run->count == 0 || begin_operation(run, result->matched, &result->operation, err);
}

// The claim ends, whatever came of it. A run that failed says so in the row and comes again by its schedule.
static bool
end_claim(struct preparing *run, struct policy_run *result, bool is_prepared, struct err *err)
{
    struct err local = {0};
    const char *name = run->claim.policy->name;
    if (is_prepared && result->operation)
        return true;
    if (!is_prepared) {
        if (err->kind == ERR_UNREACHABLE || err->kind == ERR_CANCELLED)
            return false;
        (void)snprintf(result->note, sizeof result->note, "%.*s", (int)sizeof result->note - 1, err->text);
        result->acted = 0;
        err_clear(err);
    }
    bool ok = policies_finish(run->store, run->holder, name, result->matched, run->next_at,
                              result->note[0] ? result->note : NULL, &local);
    return ok || local.kind == ERR_CONFLICT || err_set(err, local.kind, "%s", local.text);
}

// Halts it where its last runs say so.
static bool
judge_runs(const struct preparing *run, struct policy_run *result, struct err *err)
{
    const struct policy *policy = run->claim.policy;
    struct policy_result results[POLICY_RUNS_JUDGED];
    struct arena arena = {0};
    struct strbuf why = {0};
    size_t count = 0;
    bool ok = policies_results(run->store, policy->name, &arena, results, &count, err);
    result->halts = ok && policy_judge(policy, results, count, &why);
    if (result->halts) {
        (void)snprintf(result->note, sizeof result->note, "%.*s", (int)sizeof result->note - 1,
                       strbuf_text(&why));
        ok = policies_halt(run->store, run->holder, policy->name, result->note, err);
    }
    strbuf_release(&why);
    arena_release(&arena);
    return ok;
}

bool
policy_run_next(struct store *store, const struct policy_plan *plan, const char *holder, const char *only,
                struct policy_run *result, struct err *err)
{
    struct preparing run = {.store = store, .plan = plan, .holder = holder};
    *result = (struct policy_run){0};
    if (!store_now(store, &run.now, err) ||
        !policies_know(store, plan->policies, plan->count, run.now, err) ||
        !policies_claim(store, holder, plan->policies, plan->count, only, plan->lease ? plan->lease : LEASE,
                        &run.claim, err))
        return false;
    const struct policy *policy = result->policy = run.claim.policy;
    if (!policy)
        return true;
    KILL_POINT("policy_claimed");
    run.next_at = schedule_next(&policy->schedule, &policy->window, run.now, store_info(store)->zone_us);
    bool ok = judge_runs(&run, result, err);
    if (ok && !result->halts)
        ok = end_claim(&run, result, prepare(&run, result, err), err);
    free(run.ids);
    arena_release(&run.arena);
    return ok;
}

// --- the thread ---

struct policy_runner {
    struct lane *lane;
    const struct policy_plan *plan;
    int64_t every;
    char holder[UUID_SIZE];
};

static void
policy_tell(const struct policy_run *run)
{
    if (!run->policy)
        return;
    if (run->operation)
        log_line(LOG_INFO, "policy began an operation", LOG_TEXT("policy", run->policy->name),
                 LOG_INT("operation", run->operation), LOG_INT("events", run->acted));
    else if (run->acted > 0)
        log_line(LOG_INFO,
                 run->policy->action == POLICY_PURGE ? "policy deleted events" : "policy archived events",
                 LOG_TEXT("policy", run->policy->name), LOG_INT("events", run->acted));
    else if (run->halts)
        log_line(LOG_WARN, "policy halted", LOG_TEXT("policy", run->policy->name),
                 LOG_TEXT("why", run->note));
}

static void
run_policies(struct lane *lane, void *job)
{
    struct policy_runner *runner = job;
    int failed = 0;
    int64_t wait;
    do {
        struct err err = {0};
        struct policy_run run = {0};
        bool ok = store_connect(lane_connection(lane), &err) &&
                  policy_run_next(lane_connection(lane), runner->plan, runner->holder, NULL, &run, &err);
        if (!ok && failed == 0 && lane_is_wanted(lane))
            log_line(LOG_WARN, "policies do not run", LOG_TEXT("why", err.text));
        else if (ok && failed > 0)
            log_line(LOG_INFO, "policies run again", LOG_INT("failed", failed));
        if (ok)
            policy_tell(&run);
        wait = !ok ? store_backoff(failed) : run.policy ? 0 : runner->every;
        failed = ok ? 0 : failed + 1;
    } while (lane_sleep(lane, wait));
}

struct policy_runner *
policy_runner_start(const struct store_settings *settings, const struct policy_plan *plan, int64_t every)
{
    if (plan->count == 0)
        return NULL;
    struct policy_runner *runner = alloc_bytes(sizeof *runner);
    *runner = (struct policy_runner){.plan = plan, .every = every};
    uuid_make(runner->holder);
    runner->lane = lane_create(&(struct lane_settings){.name = "policies",
                                                       .work = run_policies,
                                                       .connection = store_create(settings),
                                                       .interrupt = store_lane_interrupt,
                                                       .close = store_lane_close,
                                                       .jobs = 1});
    (void)!lane_give(runner->lane, runner, 0);
    return runner;
}

void
policy_runner_stop(struct policy_runner *runner)
{
    if (!runner)
        return;
    lane_destroy(runner->lane);
    free(runner);
}
