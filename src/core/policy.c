#include "core/policy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/clock.h"
#include "base/text.h"

static const char *const action_names[POLICY_ACTIONS] = {
    [POLICY_REPROCESS] = "reprocess",         [POLICY_ALERT] = "alert",     [POLICY_DISCARD] = "discard",
    [POLICY_MANUAL_REVIEW] = "manual_review", [POLICY_ARCHIVE] = "archive", [POLICY_PURGE] = "purge"};

const char *
policy_action_name(enum policy_action action)
{
    return action_names[action];
}

bool
policy_action_parse(struct bytes name, enum policy_action *action)
{
    for (size_t i = 0; i < POLICY_ACTIONS; i++)
        if (name.len == strlen(action_names[i]) && strncasecmp(name.data, action_names[i], name.len) == 0) {
            *action = (enum policy_action)i;
            return true;
        }
    return false;
}

bool
policy_acts(enum policy_action action)
{
    return action == POLICY_REPROCESS || action == POLICY_DISCARD;
}

bool
policy_is_retention(enum policy_action action)
{
    return action == POLICY_ARCHIVE || action == POLICY_PURGE;
}

const char *
policy_state_name(enum policy_state state)
{
    static const char *const names[] = {
        [POLICY_DISABLED] = "disabled", [POLICY_ENABLED] = "enabled", [POLICY_HALTED] = "halted"};
    return names[state];
}

// --- history ---

// From 0 to 1, the same for the same event and attempt in every process (the finaliser of SplitMix64).
static double
policy_jitter(int64_t id, int32_t attempt)
{
    uint64_t x = (uint64_t)id * 0x9e3779b97f4a7c15u + (uint64_t)attempt;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)(x >> 11) / 9007199254740992.0;
}

int64_t
policy_due(const struct policy *policy, const struct policy_event *event)
{
    const struct policy_backoff *backoff = &policy->backoff;
    if (policy->action != POLICY_REPROCESS)
        return event->failed_at;
    if (event->attempts >= policy->attempts)
        return TIME_ABSENT;
    double wait = (double)backoff->first * pow(backoff->factor, event->attempts);
    wait = fmin(wait, (double)backoff->most) * (1 + policy_jitter(event->id, event->attempts) / 4);
    return event->failed_at + (int64_t)wait;
}

// --- runs ---

static bool
is_without_effect(const struct policy_result *result)
{
    return result->state == OPERATION_DONE && result->done - result->returned <= 0;
}

static bool
judge_share(const struct policy *policy, const struct policy_result *last, struct strbuf *why)
{
    int64_t of = last->done + last->refused, bad = last->refused + last->returned;
    if (!policy->plan.halts || of == 0 || (double)bad * 100 <= policy->plan.halt_above * (double)of)
        return false;
    strbuf_printf(
        why, "operation %" PRId64 ": %.3g%% of %" PRId64 " were refused or returned, which is above %.3g%%",
        last->no, (double)bad * 100 / (double)of, of, policy->plan.halt_above);
    return true;
}

bool
policy_judge(const struct policy *policy, const struct policy_result *results, size_t count,
             struct strbuf *why)
{
    if (count == 0)
        return false;
    const struct policy_result *last = &results[0];
    if (last->state == OPERATION_HALTED || last->state == OPERATION_CANCELLED) {
        strbuf_printf(why, "operation %" PRId64 " %s%s%s", last->no,
                      last->state == OPERATION_HALTED ? "halted" : "was cancelled", last->note ? ": " : "",
                      last->note ? last->note : "");
        return true;
    }
    if (policy->action == POLICY_REPROCESS && judge_share(policy, last, why))
        return true;
    size_t vain = 0;
    while (vain < count && is_without_effect(&results[vain]))
        vain++;
    if (vain < POLICY_RUNS_JUDGED)
        return false;
    strbuf_printf(why, "%d runs without effect; the last is operation %" PRId64, POLICY_RUNS_JUDGED,
                  last->no);
    return true;
}

int64_t
policy_room(const struct policy *policy, int64_t acted, bool is_probe)
{
    int64_t room = policy->limit > acted ? policy->limit - acted : 0;
    return is_probe && room > 1 ? 1 : room;
}

// --- rehearsal ---

int64_t
policy_first_due(const struct policy *policy, int64_t created_at)
{
    int64_t wait = policy->action == POLICY_REPROCESS ? policy->backoff.first : 0;
    return created_at + (wait > policy->older_than ? wait : policy->older_than);
}

void
policy_rehearse(const struct policy *policy, struct policy_day *days, size_t count)
{
    int64_t left = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t waiting = left + days[i].matched;
        days[i].acted = waiting < policy->limit ? waiting : policy->limit;
        left = waiting - days[i].acted;
        days[i].left = left;
    }
}
