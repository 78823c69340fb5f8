// Chooses the events of a change, and leaves out those that it may not take.
#include "commands/change_parts.h"

#include <inttypes.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "commands/change_ahead.h"
#include "commands/choosing.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "commands/rollup.h"
#include "commands/stale.h"
#include "core/filter/filter.h"
#include "core/selection.h"
#include "core/target.h"
#include "rollup/reader.h"
#include "store/operations/corrections.h"

int64_t
change_undone(const struct change *change)
{
    const struct option_count *undo = &change->call->options.command.undo;
    return change->action == ACTION_CORRECT && undo->is_given ? undo->number : 0;
}

int64_t
change_restored(const struct change *change)
{
    const struct option_count *operation = &change->call->options.command.operation;
    return change->action == ACTION_RESTORE && operation->is_given ? operation->number : 0;
}

bool
change_sends_corrected(const struct change *change)
{
    return change->action == ACTION_CORRECT && change->call->options.command.reprocess;
}

bool
change_asks_check(const struct change *change)
{
    return change->action == ACTION_REPROCESS && change->call->options.command.check;
}

bool
change_is_forced(const struct change *change)
{
    const struct command_options *options = &change->call->options.command;
    return options->force && (options->recipe || options->check);
}

// It begins later, so no command stays for it.
static bool
begins_later(const struct change *change)
{
    return change->plan.begin.at || change->plan.begin.after;
}

bool
change_is_detached(const struct change *change)
{
    return change->call->options.change.detach || begins_later(change);
}

static bool
check_force(const struct change *change, struct err *err)
{
    const struct options *options = &change->call->options;
    bool has_reason = options->change.reason && options->change.reason[0];
    if (options->command.force && !change_is_forced(change) && !options->command.file)
        return err_set(err, ERR_USAGE, "--force takes what the check refuses too: give --check with it");
    return !change_is_forced(change) || has_reason || options->change.dry_run ||
           err_set(err, ERR_USAGE,
                   "--force needs --reason TEXT: the audit keeps why the check was overruled");
}

bool
change_check_options(const struct change *change, struct err *err)
{
    const struct call *call = change->call;
    const struct options *options = &call->options;
    const char *name = action_name(change->action);
    if (change_undone(change) && (choosing_is_any(call) || options->change.all))
        return err_set(err, ERR_USAGE,
                       "--undo chooses its events itself: give the number of the operation alone");
    if (change_restored(change) && (choosing_is_any(call) || options->change.all))
        return err_set(err, ERR_USAGE,
                       "--operation chooses its events itself: give the number of the operation alone");
    if (!change_undone(change) && !change_restored(change) && !choosing_is_any(call) && !options->change.all)
        return err_set(err, ERR_USAGE,
                       "redrive %s needs a choice of events: give --id, --group, --filter or --queue, "
                       "or --all for every one of them",
                       name);
    if (options->change.yes && options->change.confirm.is_given)
        return err_set(err, ERR_USAGE, "give --yes or --confirm, not both");
    if (call->settings.decision.reason_required &&
        (options->change.reason == NULL || options->change.reason[0] == '\0') && !options->change.dry_run)
        return err_set(err, ERR_USAGE, "redrive %s needs --reason TEXT (reason_required is on, %s)", name,
                       call->settings.origins[SETTING_ID_reason_required].where);
    if (options->reprocess.rate.is_given && change->action == ACTION_CORRECT && !options->command.reprocess)
        return err_set(err, ERR_USAGE, "--rate is that of the sending: give --reprocess with it");
    if (options->reprocess.to && !target_check(bytes_of(options->reprocess.to), err))
        return err_context(err, "--to");
    return check_force(change, err);
}

static bool
read_begin(const struct change_options *options, struct begin *begin, struct err *err)
{
    if (options->at && options->after)
        return err_set(err, ERR_USAGE, "give --at or --after, not both");
    if (options->at && !begin_parse_at(bytes_of(options->at), clock_now(), begin, err))
        return err_context(err, "--at");
    return !options->after || begin_parse_after(bytes_of(options->after), begin, err) ||
           err_context(err, "--after");
}

// When it begins, and how a reprocess is sent, or in which steps a recipe is applied.
bool
change_read_plan(struct change *change, struct err *err)
{
    const struct options *options = &change->call->options;
    struct send_plan *plan = &change->plan;
    plan->approve_above = change->call->settings.decision.approve_above;
    if (!read_begin(&options->change, &plan->begin, err))
        return false;
    if (options->reprocess.canary.number > INT32_MAX)
        return err_set(err, ERR_USAGE, "--canary takes at most %d events", INT32_MAX);
    if (options->reprocess.canary.number > 0)
        plan->steps[plan->step_count++] = (int32_t)options->reprocess.canary.number;
    if (options->reprocess.ramp != NULL && !steps_parse(bytes_of(options->reprocess.ramp), plan, err))
        return err_context(err, "--ramp");
    if (options->reprocess.settle_for != NULL &&
        !text_parse_duration(bytes_of(options->reprocess.settle_for), &plan->settle_for, err))
        return err_context(err, "--settle-for");
    if (options->reprocess.settle_for != NULL && plan->settle_for < 1000)
        return err_set(err, ERR_USAGE, "--settle-for takes a duration from 1ms, such as 60s");
    if (options->reprocess.halt_above != NULL &&
        !halt_parse(bytes_of(options->reprocess.halt_above), plan, err))
        return err_context(err, "--halt-above");
    plan->holds = options->reprocess.max_lag.is_given;
    plan->max_lag = options->reprocess.max_lag.number;
    return true;
}

// How many events there are decides whether it halts by itself.
void
change_complete_plan(struct change *change)
{
    if (change->call->options.reprocess.halt_above == NULL &&
        (change->action == ACTION_REPROCESS || change_sends_corrected(change)))
        send_plan_complete(&change->plan, change->count);
}

// What a discard or resolve closed.
static bool
choose_closed(struct change *change, struct err *err)
{
    int64_t no = change->call->options.command.operation.number;
    struct operation operation;
    if (!operation_get(change->store, no, &change->arena, &operation, err))
        return false;
    if (operation.action != ACTION_DISCARD && operation.action != ACTION_RESOLVE)
        return err_set(err, ERR_USAGE,
                       "operation %" PRId64 " is a %s: --operation restores what a discard or resolve closed",
                       no, action_name(operation.action));
    change->restores_resolved = operation.action == ACTION_RESOLVE;
    if (!operation_item_ids(change->store, no, 1u << ITEM_DONE, NULL, &change->ids, &change->count, err))
        return false;
    return change->count > 0 ||
           err_set(err, ERR_NOT_FOUND,
                   "redrive restore found nothing to act on: operation %" PRId64 " closed no event", no);
}

// What the recipe of an operation corrected, where that still holds.
static bool
choose_undone(struct change *change, struct err *err)
{
    int64_t no = change_undone(change);
    struct operation operation;
    if (!operation_get(change->store, no, &change->arena, &operation, err))
        return false;
    if (operation.action != ACTION_CORRECT || operation.undone.of)
        return err_set(err, ERR_USAGE,
                       "operation %" PRId64 " applied no recipe: --undo reverts what a recipe corrected", no);
    if (!operation_state_is_final(operation.state))
        return err_set(err, ERR_CONFLICT,
                       "operation %" PRId64 " is %s: end it first with redrive operation %" PRId64 " cancel",
                       no, operation_state_name(operation.state), no);
    if (!operation_corrected_ids(change->store, no, &change->ids, &change->count, err))
        return false;
    return change->count > 0 ||
           err_set(err, ERR_NOT_FOUND,
                   "operation %" PRId64
                   " has nothing left to undo: what it corrected was sent, closed, corrected "
                   "again or reverted since",
                   no);
}

// Of a whole group the rollup has the ids at hand, so its rows can be read while it is brought up to date.
static void
begin_ahead(struct change *change, const struct choice *choice)
{
    const struct call *call = change->call;
    const struct store_settings keeping = publishing_store(call);
    const struct store_settings settings = command_store_settings(call, STORE_SCHEMA);
    if (change->action == ACTION_REPROCESS && choice->group && !choice->filter &&
        rollup_is_left_behind(&keeping, change->store))
        change->ahead = change_ahead_start(&settings, choice);
}

// What is only described may be found out of the rollup, where no order matters. What is changed is chosen in
// the table.
static void
choose_counted(struct change *change, struct choice *choice, struct choose_tally *tally)
{
    struct call *call = change->call;
    const int64_t *guess;
    uint64_t token;
    if (!call->options.change.dry_run || choice->limit != 0 || !choose_is_counted(change->store, choice))
        return;
    begin_ahead(change, choice);
    (void)rollup_find(call, change->store, &choice->is_counted, &token);
    if (!choice->is_counted || !change_ahead_guess(change->ahead, token, &guess, &change->count))
        return;
    change->ids = alloc_array(change->count + 1, sizeof *change->ids);
    memcpy(change->ids, guess, change->count * sizeof *guess);
    tally->scanned = tally->matched = (int64_t)change->count;
}

bool
change_choose(struct change *change, struct err *err)
{
    struct call *call = change->call;
    if (change_undone(change))
        return choose_undone(change, err);
    if (change_restored(change))
        return choose_closed(change, err);
    struct choice choice;
    struct choose_tally tally = {0};
    struct progress_line progress;
    unsigned otherwise = change->action == ACTION_RESTORE ? 1u << EVENT_DISCARDED : 1u << EVENT_PENDING;
    progress_begin(&progress, call, "events");
    const char *status = call->options.choice.status;
    change->restores_resolved = change->action == ACTION_RESTORE && status && strcmp(status, "resolved") == 0;
    bool ok = choosing_read(call, otherwise, &choice, err);
    if (ok)
        choose_counted(change, &choice, &tally);
    ok = ok && (change->ids || choose_ids(change->store, &choice, choosing_tick, &progress, &change->ids,
                                          &change->count, &tally, err));
    progress_end(&progress);
    choosing_say_undecided(call, &tally);
    ok = ok && choosing_check_known(&tally, err);
    if (ok && change->count == 0 && tally.closed > 0)
        ok = err_set(err, ERR_NOT_FOUND, "redrive %s found nothing to act on: the chosen events are %s",
                     action_name(change->action),
                     change->restores_resolved          ? "not resolved"
                     : change->action == ACTION_RESTORE ? "not discarded"
                                                        : "already closed");
    else if (ok && change->count == 0 && choice.queue)
        ok = err_set(err, ERR_NOT_FOUND,
                     "redrive %s found nothing to act on: no such event is in the queue %s",
                     action_name(change->action), choice.queue);
    else if (ok && change->count == 0)
        ok = err_set(err, ERR_NOT_FOUND, "redrive %s found nothing to act on: no event matches",
                     action_name(change->action));
    change->count = ids_normalise(change->ids, change->count);
    choose_tally_release(&tally);
    return ok;
}

bool
change_names_quarantined(const struct change *change)
{
    const struct options *options = &change->call->options;
    return quarantine_is_named(options->choice.ids.is_given, options->choice.filter);
}

// Kafka is asked where it is configured; else what workers learned of it counts.
static bool
forecast_change(struct change *change, const struct preview_query *query, struct err *err)
{
    struct forecast *forecast = &change->forecast;
    if (change->action == ACTION_REPROCESS && !forecast->plan) {
        change->sends = publishing_plan(change->call);
        forecast->plan = &change->sends;
        forecast->store = change->store;
        forecast->wants_topics = !change->call->options.change.dry_run;
        if (!publishing_broker_ready(change->call, &change->broker, err) ||
            (broker_settings_present(&change->broker) &&
             !broker_open(&forecast->broker, &change->broker, err)))
            return false;
    }
    forecast->store = change->store;
    if (!forecast_make(forecast, query, &change->arena, &change->preview, err))
        return false;
    if (err_is_set(&forecast->kafka) && !change->is_told)
        remark(change->call, "Kafka was not asked whether the topics exist: %s", forecast->kafka.text);
    change->is_told |= err_is_set(&forecast->kafka);
    return true;
}

void
change_end_forecast(struct change *change)
{
    broker_close(change->forecast.broker);
    forecast_release(&change->forecast);
}

// The preview reads every event several times, so it is made only where a person sees it before the change.
bool
change_look_ahead(struct change *change, struct err *err)
{
    const struct options *options = &change->call->options;
    const struct preview_query query = {
        .action = change->action,
        .ids = change->ids,
        .count = change->count,
        .to = options->reprocess.to,
        .restores_resolved = change->restores_resolved,
        .ahead = change_ahead_join(change->ahead, change->store, change->ids, change->count)};
    if (options->change.dry_run || (!options->change.yes && !options->change.confirm.is_given))
        return forecast_change(change, &query, err);
    if (change->action != ACTION_REPROCESS || change_names_quarantined(change))
        return true;
    return operation_quarantined(change->store, change->ids, change->count, &change->arena, &change->preview,
                                 err);
}

// A bulk reprocess leaves out events that returned too often, unless their ids or the filter name them.
bool
change_leave_quarantined(struct change *change, struct err *err)
{
    const int64_t *quarantined = change->preview.quarantine.ids;
    size_t among = change->preview.quarantine.id_count;
    if (change->action != ACTION_REPROCESS || change_names_quarantined(change) || among == 0)
        return true;
    size_t kept = ids_without(change->ids, change->count, quarantined, among);
    char count[TEXT_SHORT];
    remark(change->call,
           "left out %s in quarantine: returned %" PRId64
           " times or more (max_replays); name them with --id or is:quarantined",
           text_count((int64_t)(change->count - kept), count), change->call->settings.decision.max_replays);
    change->count = kept;
    if (kept == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "redrive reprocess found nothing to act on: every chosen event is in quarantine");
    return change_look_ahead(change, err); // describe exactly what is left
}

// Events whose key has newer records in Kafka are told, or left out.
bool
change_leave_stale(struct change *change, struct err *err)
{
    const struct call *call = change->call;
    struct newer *newer = &change->newer;
    char count[TEXT_SHORT];
    if (change->action != ACTION_REPROCESS)
        return true;
    change->sends = publishing_plan(change->call);
    if (!stale_is_asked(call, &change->preview))
        return true;
    if (!publishing_broker_ready(change->call, &change->broker, err) ||
        !stale_find(call, change->store, &change->broker, &change->sends, change->ids, change->count,
                    &change->arena, newer, err))
        return false;
    if (!call->options.reprocess.skip_stale || newer->stale_count == 0)
        return true;
    change->count = ids_without(change->ids, change->count, newer->stale, newer->stale_count);
    remark(call, "left out %s with newer records of the same key (--skip-stale)",
           text_count((int64_t)newer->stale_count, count));
    if (change->count == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "redrive reprocess found nothing to act on: every chosen event has newer records of "
                       "its key");
    return change_look_ahead(change, err);
}

// The team's own check is asked about every event that would be sent, and those that it refuses are left out.
bool
change_leave_barred(struct change *change, struct err *err)
{
    const struct recipe_use *use = &change->recipe;
    char count[TEXT_SHORT];
    if (!change_asks_check(change))
        return true;
    interrupt_catch();
    if (!recipe_use_dry_run(&change->recipe, change->store, change->ids, change->count, err))
        return false;
    if (use->tally.counts[CORRECT_FORCED])
        remark(change->call, "the check refuses %s; forced",
               text_count(use->tally.counts[CORRECT_FORCED], count));
    if (use->barred_count == 0)
        return true;
    change->count = ids_without(change->ids, change->count, use->barred, use->barred_count);
    struct strbuf why = {0};
    text_visible(&why, strbuf_bytes(&use->why_barred), false);
    remark(change->call, "left out %s that the check refuses: %s; --force sends them too",
           text_count((int64_t)use->barred_count, count), strbuf_text(&why));
    strbuf_release(&why);
    if (change->count == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "redrive reprocess found nothing to act on: the check refuses every chosen event");
    return change_look_ahead(change, err);
}
