// reprocess, resolve, discard, restore, correct: choose, confirm, freeze, carry out, report.
//
// All take one road, which the screen takes too. The ids are chosen, counted and shown; exactly those
// that were confirmed are frozen. From then on the operation is in PostgreSQL and any worker can carry it
// out.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "base/uuid.h"
#include "commands/archiving.h"
#include "commands/changing.h"
#include "commands/choosing.h"
#include "commands/correcting.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/operation_line.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "commands/readers.h"
#include "commands/recipe_use.h"
#include "commands/rollup.h"
#include "commands/stale.h"
#include "commands/waiting.h"
#include "core/filter/filter.h"
#include "core/selection.h"
#include "core/target.h"
#include "publish/forecast.h"
#include "publish/letters.h"
#include "store/operations/corrections.h"
#include "store/operations/operations.h"
#include "store/operations/workers.h"

struct change {
    struct call *call;
    struct store *store;
    enum operation_action action;
    int64_t *ids; // ascending; heap
    size_t count;
    struct arena arena;
    struct preview preview;
    struct newer newer;            // of a reprocess, where it was looked for
    struct forecast forecast;      // of it
    struct plan_settings sends;    // likewise
    struct broker_settings broker; // of a reprocess
    struct send_plan plan;         // of a reprocess
    struct recipe_use recipe;      // of a correct, or of a reprocess that asks the check
    bool is_told;                  // that Kafka was not asked
    bool restores_resolved;        // of a restore
    bool waits_for_others;         // no brokers here: another worker, alive now, will carry it out
};

static int64_t
undone_by(const struct change *change)
{
    const struct option_count *undo = &change->call->options.command.undo;
    return change->action == ACTION_CORRECT && undo->is_given ? undo->number : 0;
}

// Of a restore: the operation whose events it chooses; 0: none was given.
static int64_t
restored_of(const struct change *change)
{
    const struct option_count *operation = &change->call->options.command.operation;
    return change->action == ACTION_RESTORE && operation->is_given ? operation->number : 0;
}

static bool
sends_corrected(const struct change *change)
{
    return change->action == ACTION_CORRECT && change->call->options.command.reprocess;
}

static bool
asks_check(const struct change *change)
{
    return change->action == ACTION_REPROCESS && change->call->options.command.check;
}

static bool
is_forced(const struct change *change)
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

static bool
is_detached(const struct change *change)
{
    return change->call->options.change.detach || begins_later(change);
}

// --- the choice ---

static bool
check_force(const struct change *change, struct err *err)
{
    const struct options *options = &change->call->options;
    bool has_reason = options->change.reason && options->change.reason[0];
    if (options->command.force && !is_forced(change) && !options->command.file)
        return err_set(err, ERR_USAGE, "--force takes what the check refuses too: give --check with it");
    return !is_forced(change) || has_reason || options->change.dry_run ||
           err_set(err, ERR_USAGE,
                   "--force needs --reason TEXT: the audit keeps why the check was overruled");
}

static bool
check_options(const struct change *change, struct err *err)
{
    const struct call *call = change->call;
    const struct options *options = &call->options;
    const char *name = action_name(change->action);
    if (undone_by(change) && (choosing_is_any(call) || options->change.all))
        return err_set(err, ERR_USAGE,
                       "--undo chooses its events itself: give the number of the operation alone");
    if (restored_of(change) && (choosing_is_any(call) || options->change.all))
        return err_set(err, ERR_USAGE,
                       "--operation chooses its events itself: give the number of the operation alone");
    if (!undone_by(change) && !restored_of(change) && !choosing_is_any(call) && !options->change.all)
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
static bool
command_change_read_plan(struct change *change, struct err *err)
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
static void
complete_plan(struct change *change)
{
    if (change->call->options.reprocess.halt_above == NULL &&
        (change->action == ACTION_REPROCESS || sends_corrected(change)))
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
    int64_t no = undone_by(change);
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

// What is only described may be found out of the rollup, where no order matters. What is changed is chosen in
// the table.
static void
choose_counted(struct change *change, struct choice *choice)
{
    struct call *call = change->call;
    if (call->options.change.dry_run && choice->limit == 0 && choose_is_counted(change->store, choice))
        (void)rollup_find(call, change->store, &choice->is_counted);
}

static bool
choose(struct change *change, struct err *err)
{
    struct call *call = change->call;
    if (undone_by(change))
        return choose_undone(change, err);
    if (restored_of(change))
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
        choose_counted(change, &choice);
    ok = ok && choose_ids(change->store, &choice, choosing_tick, &progress, &change->ids, &change->count,
                          &tally, err);
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

static bool
names_quarantined(const struct change *change)
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

static void
end_forecast(struct change *change)
{
    broker_close(change->forecast.broker);
    forecast_release(&change->forecast);
}

// The preview reads every event several times, so it is made only where a person sees it before the change.
static bool
look_ahead(struct change *change, struct err *err)
{
    const struct options *options = &change->call->options;
    const struct preview_query query = {.action = change->action,
                                        .ids = change->ids,
                                        .count = change->count,
                                        .to = options->reprocess.to,
                                        .restores_resolved = change->restores_resolved};
    if (options->change.dry_run || (!options->change.yes && !options->change.confirm.is_given))
        return forecast_change(change, &query, err);
    if (change->action != ACTION_REPROCESS || names_quarantined(change))
        return true;
    return operation_quarantined(change->store, change->ids, change->count, &change->arena, &change->preview,
                                 err);
}

// A bulk reprocess leaves out events that returned too often, unless their ids or the filter name them.
static bool
leave_quarantined(struct change *change, struct err *err)
{
    const int64_t *quarantined = change->preview.quarantine.ids;
    size_t among = change->preview.quarantine.id_count;
    if (change->action != ACTION_REPROCESS || names_quarantined(change) || among == 0)
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
    return look_ahead(change, err); // describe exactly what is left
}

// Events whose key has newer records in Kafka are told, or left out.
static bool
leave_stale(struct change *change, struct err *err)
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
    return look_ahead(change, err);
}

// The team's own check is asked about every event that would be sent, and those that it refuses are left out.
static bool
leave_barred(struct change *change, struct err *err)
{
    const struct recipe_use *use = &change->recipe;
    char count[TEXT_SHORT];
    if (!asks_check(change))
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
    return look_ahead(change, err);
}

// --- confirmation ---

static void
describe_plan(const struct change *change, struct strbuf *out)
{
    const struct option_count *rate = &change->call->options.reprocess.rate;
    char count[TEXT_SHORT];
    if (rate->is_given && rate->number == 0)
        strbuf_add_text(out, ", paused at first");
    else if (rate->is_given)
        strbuf_printf(out, ", at most %s/s", text_count(rate->number, count));
    if (change->plan.step_count > 0) {
        strbuf_add_text(out, ", in steps of ");
        steps_text(change->plan.steps, change->plan.step_count, out);
    }
    if (change->plan.halts)
        strbuf_printf(out, ", halting above %g%%", change->plan.halt_above);
    if (change->plan.holds)
        strbuf_printf(out, ", while no group lags more than %" PRId64, change->plan.max_lag);
}

static void
describe_begin(const struct change *change, struct strbuf *out)
{
    char text[BEGIN_TEXT];
    if (change->plan.begin.at)
        strbuf_printf(out, "; begins %s", begin_words(change->plan.begin.at, text));
    else if (change->plan.begin.after)
        strbuf_printf(out, "; begins in %s", change->call->options.change.after);
}

// How old the answers are that were not asked for now; of how many topics there is none.
static void
describe_asked(const struct change *change, struct strbuf *out)
{
    const struct preview *preview = &change->preview;
    int64_t now = clock_now(), oldest = now;
    size_t unknown = 0, known = 0;
    char age[TEXT_SHORT];
    for (size_t i = 0; i < preview->topic_count; i++) {
        const struct preview_topic *topic = &preview->topics[i];
        bool is_known = topic->is_asked;
        unknown += !is_known && !topic->refusal;
        known += is_known;
        if (is_known && topic->asked_at < oldest)
            oldest = topic->asked_at;
    }
    if (known && !change->forecast.broker)
        strbuf_printf(out, "; a worker asked Kafka about the topics %s ago", text_age(now - oldest, age));
    if (unknown)
        strbuf_printf(out, "; nobody asked Kafka yet whether %s",
                      unknown == 1 ? "the topic exists" : "they exist");
}

static void
describe_topics(const struct change *change, struct strbuf *out)
{
    enum { MOST = 5 };
    const struct preview *preview = &change->preview;
    char count[TEXT_SHORT];
    int shown = 0;
    for (size_t i = 0; i < preview->topic_count && shown < MOST; i++) {
        if (!preview->topics[i].refusal)
            strbuf_printf(out, "%s%s (%s)", shown++ == 0 ? ", to " : ", ", preview->topics[i].topic,
                          text_count(preview->topics[i].count, count));
    }
    describe_asked(change, out);
    letters_describe(&preview->letters, "; ", out);
    for (size_t i = 0; i < preview->topic_count; i++) {
        if (preview->topics[i].refusal)
            strbuf_printf(out, "; %s will be refused: %s", text_count(preview->topics[i].count, count),
                          preview->topics[i].refusal);
    }
    for (size_t i = 0; i < preview->refused.by_count && i < MOST; i++)
        strbuf_printf(out, "; %s will be refused: %s", text_count(preview->refused.by[i].count, count),
                      preview->refused.by[i].reason);
    if (preview->refused.unmeasured)
        strbuf_printf(out, "; %s were not looked at one by one",
                      text_count(preview->refused.unmeasured, count));
}

static void
command_change_describe(const struct change *change, struct strbuf *out)
{
    const struct preview *preview = &change->preview;
    char count[TEXT_SHORT];
    strbuf_printf(out, "%s ", undone_by(change) ? "revert" : action_name(change->action));
    choosing_describe(change->call, change->count, out);
    if (restored_of(change))
        strbuf_printf(out, " of operation %" PRId64, restored_of(change));
    if (undone_by(change))
        strbuf_printf(out, " to what %s before operation %" PRId64,
                      change->count == 1 ? "it was" : "they were", undone_by(change));
    if (change->call->settings.decision.label != NULL)
        strbuf_printf(out, " on %s", change->call->settings.decision.label);
    if (change->action == ACTION_REPROCESS)
        describe_topics(change, out);
    if (change->action == ACTION_REPROCESS)
        readers_describe(change->call, change->store, change->forecast.broker, preview, out);
    if (!sends_corrected(change))
        describe_plan(change, out);
    if (change->action == ACTION_CORRECT && !undone_by(change)) {
        strbuf_add_text(out, ": ");
        recipe_use_describe(&change->recipe, out);
    }
    if (sends_corrected(change)) {
        strbuf_add_text(out, "; then reprocess what changed");
        describe_plan(change, out);
    }
    describe_begin(change, out);
    if (preview->closed > 0)
        strbuf_printf(out, "; %s already closed", text_count(preview->closed, count));
    if (preview->overtaken.events > 0)
        strbuf_printf(out, "; %s with newer events of the same key",
                      text_count(preview->overtaken.events, count));
    stale_describe(&change->newer, change->call->options.reprocess.skip_stale, out);
    if (preview->doubled > 0)
        strbuf_printf(out, "; %s with the event id of another", text_count(preview->doubled, count));
    if (preview->repeated > 0)
        strbuf_printf(out, "; %s of a record that is sent already, to be skipped",
                      text_count(preview->repeated, count));
    if (preview->busy > 0)
        strbuf_printf(out, "; %s already in %s, to be skipped", text_count(preview->busy, count),
                      preview->busy_with ? preview->busy_with : "another operation");
}

static bool
read_answer(char *out, size_t room)
{
    if (fgets(out, (int)room, stdin) == NULL)
        return false;
    out[strcspn(out, "\r\n")] = '\0';
    return true;
}

// At a terminal: asks for the count where much is at stake, else for y.
static bool
command_change_ask(const struct change *change, bool is_count_wanted, struct err *err)
{
    struct strbuf text = {0}, visible = {0};
    char answer[64] = "";
    command_change_describe(change, &text);
    text_visible(&visible, strbuf_bytes(&text), false);
    if (is_count_wanted)
        fprintf(stderr, "%s.\ntype %zu to confirm: ", strbuf_text(&visible), change->count);
    else
        fprintf(stderr, "%s. Continue? [y/N] ", strbuf_text(&visible));
    fflush(stderr);
    strbuf_release(&text);
    strbuf_release(&visible);
    int64_t number = -1;
    bool is_yes = false;
    if (read_answer(answer, sizeof answer)) {
        is_yes = !is_count_wanted && (strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0);
        if (is_count_wanted && text_parse_int(bytes_of(answer), &number, NULL))
            is_yes = number == (int64_t)change->count;
    }
    return is_yes || err_set(err, ERR_DENIED, "not confirmed; nothing was changed");
}

static bool
command_change_confirm(const struct change *change, struct err *err)
{
    const struct call *call = change->call;
    const struct options *options = &call->options;
    const char *name = action_name(change->action);
    bool is_protected = strcmp(call->settings.decision.protect, "count") == 0;
    if (options->change.confirm.is_given) {
        if (options->change.confirm.number == (int64_t)change->count)
            return true;
        return err_set(err, ERR_DENIED,
                       "--confirm %" PRId64 " does not match: %zu events are chosen; nothing was changed",
                       options->change.confirm.number, change->count);
    }
    if (options->change.yes && !is_protected)
        return true;
    bool may_ask = call->in_is_terminal && call->err_is_terminal && !options->change.yes;
    if (!may_ask && is_protected)
        return err_set(err, ERR_DENIED,
                       "redrive %s is not confirmed: %zu events are chosen, and the configuration asks for "
                       "their number (protect, %s); add --confirm %zu",
                       name, change->count, call->settings.origins[SETTING_ID_protect].where, change->count);
    if (!may_ask)
        return err_set(err, ERR_DENIED,
                       "redrive %s is not confirmed: %zu events are chosen, and no terminal can be asked; "
                       "add --confirm %zu or --yes",
                       name, change->count, change->count);
    return command_change_ask(
        change, is_protected || (int64_t)change->count > call->settings.decision.confirm_above, err);
}

// Refuses, before anything is frozen, a reprocess that no worker could carry out; --detach allows it.
static bool
find_publisher(struct change *change, struct err *err)
{
    if (change->action != ACTION_REPROCESS && !sends_corrected(change))
        return true;
    if (!publishing_broker_ready(change->call, &change->broker, err))
        return false;
    if (broker_settings_present(&change->broker))
        return true;
    if (is_detached(change) || change->call->options.change.dry_run)
        return true;
    struct worker *workers = NULL;
    size_t count = 0;
    if (!worker_list(change->store, &change->arena, &workers, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        change->waits_for_others = change->waits_for_others || workers[i].publishes;
    if (change->waits_for_others)
        return true;
    return err_set(err, ERR_USAGE,
                   "redrive reprocess cannot send: no Kafka brokers are configured here, and no worker that "
                   "publishes is alive; give -b HOST:PORT, or --detach to leave it to a later worker");
}

// --- freezing ---

static bool
freeze_tick(void *progress, size_t written, size_t total)
{
    progress_show(progress, (int64_t)written, (int64_t)total, NULL);
    return !interrupt_is_set();
}

static bool
freeze(struct change *change, int64_t *no, struct err *err)
{
    const struct options *options = &change->call->options;
    struct strbuf scope = {0};
    choosing_describe(change->call, change->count, &scope);
    if (restored_of(change))
        strbuf_printf(&scope, " of operation %" PRId64, restored_of(change));
    struct operation_request request = {
        .action = change->action,
        .ids = change->ids,
        .count = change->count,
        .scope = strbuf_text(&scope),
        .filter_text = options->choice.filter,
        .group = options->choice.group != NULL && strlen(options->choice.group) == 16 ? options->choice.group
                                                                                      : NULL,
        .reason = options->change.reason,
        .target_topic = options->reprocess.to,
        .recipe =
            change->action == ACTION_CORRECT && !undone_by(change) ? strbuf_text(&change->recipe.text) : NULL,
        .is_forced = is_forced(change),
        .then_reprocess = sends_corrected(change) && is_detached(change),
        .takes_quarantined = names_quarantined(change),
        .undoes = undone_by(change) ? undone_by(change) : restored_of(change),
        .restores_resolved = change->restores_resolved,
        .rate = options->reprocess.rate.is_given ? (int32_t)options->reprocess.rate.number : RATE_UNLIMITED,
        .plan = change->plan};
    if (sends_corrected(change) && !request.then_reprocess) { // they are those of the reprocess after it
        request.plan = (struct send_plan){.approve_above = change->plan.approve_above};
        request.rate = RATE_UNLIMITED;
    }
    uuid_make(request.key);
    struct progress_line progress;
    progress_begin(&progress, change->call, "freezing");
    bool ok = operation_insist(change->store, &request, freeze_tick, &progress, no, err);
    progress_end(&progress);
    strbuf_release(&scope);
    return ok;
}

// --- the two ends ---

static int
dry_run(const struct change *change, struct err *err)
{
    struct strbuf text = {0};
    command_change_describe(change, &text);
    remark(change->call, "would %s", strbuf_text(&text));
    strbuf_release(&text);
    struct operation operation = {.action = change->action,
                                  .state = OPERATION_STATE_COUNT, // printed as "dry run"
                                  .total = (int64_t)change->count,
                                  .refused = change->preview.refused.events,
                                  .skipped = change->preview.busy + change->preview.closed +
                                             change->preview.repeated};
    if (change->action == ACTION_CORRECT && !undone_by(change))
        operation = recipe_use_operation(&change->recipe, change->count);
    if (asks_check(change)) {
        operation.recipe = recipe_use_operation(&change->recipe, change->count).recipe;
        operation.refused += (int64_t)change->recipe.barred_count;
        operation.total += (int64_t)change->recipe.barred_count;
    }
    if (!stale_print(change->call, &change->newer, store_info(change->store)->zone_us, err) ||
        !operation_result(change->call, &operation, err))
        return command_status(err);
    return operation.refused ? STATUS_PART : STATUS_DONE;
}

// On failure it is in none.
static bool
is_in_state(const struct change *change, int64_t no, enum operation_state state)
{
    struct arena arena = {0};
    struct operation operation;
    bool is_in = operation_get(change->store, no, &arena, &operation, NULL) && operation.state == state;
    arena_release(&arena);
    return is_in;
}

// Left to a worker; where there is none, that is said.
static int
detach(struct change *change, int64_t no, struct err *err)
{
    struct arena arena = {0};
    struct operation operation;
    char told[WAITING_TOLD] = "";
    if (operation_get(change->store, no, &arena, &operation, NULL))
        waiting_say_obstacle(change->call, change->store, &operation, told);
    arena_release(&arena);
    return waiting_tell(change->call, change->store, no, err);
}

static int
carry_out(struct change *change, int64_t no, struct err *err)
{
    if (is_in_state(change, no, OPERATION_AWAITING)) {
        remark(change->call,
               "operation %" PRId64 " waits until somebody else runs: redrive operation %" PRId64 " approve",
               no, no);
        return waiting_tell(change->call, change->store, no, err);
    }
    if (is_detached(change))
        return detach(change, no, err);
    if (change->waits_for_others)
        return waiting_for(change->call, change->store, no, err);
    struct worker_settings worker = publishing_worker(change->call);
    struct correcting_worker correcting = {.call = change->call};
    worker.correct = correcting_apply;
    worker.correct_context = &correcting;
    if (change->action != ACTION_REPROCESS && change->action != ACTION_CORRECT)
        worker.broker = (struct broker_settings){0}; // a discard has no business with Kafka
    worker.mode = WORKER_OPERATION;
    worker.operation = no;
    int status = waiting_with_worker(change->call, change->store, &worker, err);
    correcting_worker_release(&correcting);
    return status;
}

// What the recipe has changed is sent, as an operation of its own; it was confirmed with the recipe.
static int
send_corrected(struct change *change, int64_t no, struct err *err)
{
    struct change next = {.call = change->call, .store = change->store, .action = ACTION_REPROCESS};
    if (!operation_corrected_ids(change->store, no, &next.ids, &next.count, err) ||
        !command_change_read_plan(&next, err) || !find_publisher(&next, err) ||
        (next.count > 0 && (!look_ahead(&next, err) || !leave_quarantined(&next, err))))
        return command_status(err);
    int status = STATUS_DONE;
    complete_plan(&next);
    if (next.count == 0)
        remark(change->call, "nothing was changed, so nothing is sent");
    else
        status = freeze(&next, &no, err) ? carry_out(&next, no, err) : command_status(err);
    free(next.ids);
    end_forecast(&next);
    arena_release(&next.arena);
    return status;
}

// Whoever confirms sees what the recipe would do; a script that gives the number has made its dry run before.
static bool
try_recipe(struct change *change, struct err *err)
{
    const struct options *options = &change->call->options;
    bool is_shown = options->change.dry_run || (!options->change.yes && !options->change.confirm.is_given);
    if (change->action != ACTION_CORRECT || undone_by(change) || !is_shown)
        return true;
    interrupt_catch();
    return recipe_use_dry_run(&change->recipe, change->store, change->ids, change->count, err);
}

static int
change_events(struct change *change, struct err *err)
{
    bool ok = choose(change, err) && look_ahead(change, err) && leave_quarantined(change, err) &&
              leave_stale(change, err) && leave_barred(change, err) && try_recipe(change, err);
    if (!ok)
        return command_status(err);
    complete_plan(change);
    if (change->call->options.change.dry_run)
        return dry_run(change, err);
    int64_t no = 0;
    if (!find_publisher(change, err) || !command_change_confirm(change, err))
        return command_status(err);
    interrupt_catch();
    if (!freeze(change, &no, err))
        return command_status(err);
    int status = carry_out(change, no, err);
    if (status == STATUS_DONE && change->recipe.barred_count > 0 && asks_check(change))
        status = STATUS_PART;
    if (!sends_corrected(change) || err_is_set(err) || is_detached(change))
        return status;
    if (!is_in_state(change, no, OPERATION_DONE)) {
        remark(change->call, "operation %" PRId64 " is not done, so nothing that it corrected is sent", no);
        return status;
    }
    int sent = send_corrected(change, no, err);
    return sent == STATUS_DONE ? status : sent;
}

static bool
open_recipe(struct change *change, struct err *err)
{
    if (change->action == ACTION_CORRECT && !undone_by(change))
        return recipe_use_open(&change->recipe, change->call, err);
    return !asks_check(change) || recipe_use_open_check(&change->recipe, change->call, err);
}

int
changing_run(struct call *call, enum operation_action action, struct err *err)
{
    struct change change = {.call = call, .action = action};
    bool ok =
        command_no_args(call, err) && check_options(&change, err) && command_change_read_plan(&change, err) &&
        open_recipe(&change, err) &&
        command_store(call, call->options.change.dry_run ? STORE_SCHEMA : STORE_WRITE, &change.store, err);
    int status = ok ? change_events(&change, err) : command_status(err);
    recipe_use_close(&change.recipe);
    free(change.ids);
    end_forecast(&change);
    arena_release(&change.arena);
    store_close(change.store);
    return status;
}

int
command_reprocess(struct call *call, struct err *err)
{
    return changing_run(call, ACTION_REPROCESS, err);
}

int
command_resolve(struct call *call, struct err *err)
{
    return changing_run(call, ACTION_RESOLVE, err);
}

int
command_discard(struct call *call, struct err *err)
{
    return changing_run(call, ACTION_DISCARD, err);
}

int
command_restore(struct call *call, struct err *err)
{
    return call->options.command.from_archive ? archiving_restore(call, err)
                                              : changing_run(call, ACTION_RESTORE, err);
}
