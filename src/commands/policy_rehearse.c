#include "commands/policy_rehearse.h"

#include "base/clock.h"
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/policy_choose.h"

enum { DAYS = 7 };
static const int64_t DAY = 86400 * US_PER_SECOND;

static const struct output_column columns[] = {{"24 hours until", ALIGN_LEFT, 19, 0},
                                               {"due", ALIGN_RIGHT, 7, 0},
                                               {"would act on", ALIGN_RIGHT, 12, 0},
                                               {"left by the limit", ALIGN_RIGHT, 17, 0},
                                               {"returned before", ALIGN_RIGHT, 15, 0}};

struct rehearsal {
    const struct policy *policy;
    int64_t begins_at;
    struct policy_day days[DAYS];
    struct progress_line progress;
};

// What was due before the first day, and was pending then, is of the first day.
static bool
rehearse_event(void *context, const struct event *event)
{
    struct rehearsal *rehearsal = context;
    int64_t due = policy_first_due(rehearsal->policy, event->created_at);
    if (due < rehearsal->begins_at)
        due = rehearsal->begins_at;
    bool is_closed = event->status != EVENT_PENDING;
    if (due >= rehearsal->begins_at + DAYS * DAY ||
        (is_closed && (event->closed.at == TIME_ABSENT || event->closed.at <= due)))
        return true;
    struct policy_day *day = &rehearsal->days[(due - rehearsal->begins_at) / DAY];
    day->matched++;
    day->returned += event->known.returned > 0;
    return true;
}

static bool
rehearse_tick(void *context, const struct choose_tally *tally)
{
    struct rehearsal *rehearsal = context;
    return choosing_tick(&rehearsal->progress, tally);
}

static bool
rehearse_json(const struct policy *policy, const struct policy_day *day, int64_t zone_us, struct err *err)
{
    struct value *object = value_object();
    value_add_text(object, "policy", policy->name);
    value_add_time(object, "from", day->ends_at - DAY, zone_us);
    value_add_time(object, "until", day->ends_at, zone_us);
    value_add_int(object, "due", day->matched);
    value_add_int(object, "would_act_on", day->acted);
    value_add_int(object, "left", day->left);
    value_add_int(object, "returned", day->returned);
    return json_print(object, err);
}

static bool
rehearse_table(const struct call *call, const struct rehearsal *rehearsal, struct err *err)
{
    struct output_table table;
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < DAYS; i++) {
        const struct policy_day *day = &rehearsal->days[i];
        table_add_time(&table, day->ends_at);
        table_add_count(&table, day->matched);
        table_add_count(&table, day->acted);
        table_add_count(&table, day->left);
        table_add_count(&table, day->returned);
    }
    return table_end(&table, err);
}

bool
policy_rehearse_print(struct call *call, struct store *store, const struct policy *policy, struct err *err)
{
    struct rehearsal rehearsal = {.policy = policy};
    struct choose_tally tally = {0};
    struct choice choice = policy_choice(policy, 1u << EVENT_PENDING | 1u << EVENT_RESOLVED |
                                                     1u << EVENT_DISCARDED | 1u << EVENT_OTHER);
    int64_t now;
    if (policy_is_retention(policy->action))
        return err_set(
            err, ERR_USAGE,
            "%s is retention: redrive %s --older-than with --dry-run counts what it would take now",
            policy->name, policy_action_name(policy->action));
    if (!store_now(store, &now, err))
        return false;
    rehearsal.begins_at = now - DAYS * DAY;
    for (int i = 0; i < DAYS; i++)
        rehearsal.days[i].ends_at = rehearsal.begins_at + (i + 1) * DAY;
    progress_begin(&rehearsal.progress, call, "events");
    bool ok = choose_scan(store, &choice, EVENT_NARROW | EVENT_KNOWN, rehearse_event, rehearse_tick,
                          &rehearsal, &tally, err);
    progress_end(&rehearsal.progress);
    choose_tally_release(&tally);
    policy_rehearse(policy, rehearsal.days, DAYS);
    if (ok && call->options.general.json)
        for (size_t i = 0; ok && i < DAYS; i++)
            ok = rehearse_json(policy, &rehearsal.days[i], store_info(store)->zone_us, err);
    else if (ok)
        ok = rehearse_table(call, &rehearsal, err);
    return ok;
}
