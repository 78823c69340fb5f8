#include "commands/policy_choose.h"

struct choice
policy_choice(const struct policy *policy, unsigned statuses)
{
    return (struct choice){.group = policy->group, .filter = policy->filter, .statuses = statuses};
}

// An event that a pattern cannot decide on is not chosen.
static bool
choose_for_policy(void *context, struct store *store, const struct policy *policy, int64_t **ids,
                  size_t *count, struct err *err)
{
    struct choice choice = policy_choice(policy, 1u << EVENT_PENDING);
    struct choose_tally tally = {0};
    (void)context;
    bool ok = choose_ids(store, &choice, NULL, NULL, ids, count, &tally, err);
    choose_tally_release(&tally);
    return ok;
}

struct policy_plan
policy_choose_plan(const struct call *call, const struct policies_file *file)
{
    return (struct policy_plan){.policies = file->policies,
                                .count = file->count,
                                .choose = choose_for_policy,
                                .send_after = call->settings.decision.send_after,
                                .approve_above = call->settings.decision.approve_above};
}
