// reprocess, resolve, discard, restore, correct: choose, confirm, freeze, carry out, report.
//
// All take one road, which the screen takes too. The ids are chosen, counted and shown; exactly those
// that were confirmed are frozen. From then on the operation is in PostgreSQL and any worker can carry it
// out.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/uuid.h"
#include "commands/archiving.h"
#include "commands/change_ahead.h"
#include "commands/change_parts.h"
#include "commands/changing.h"
#include "commands/choosing.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "commands/correcting.h"
#include "commands/operation_line.h"
#include "commands/publishing.h"
#include "commands/stale.h"
#include "commands/waiting.h"
#include "store/operations/corrections.h"

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
    if (change_restored(change))
        strbuf_printf(&scope, " of operation %" PRId64, change_restored(change));
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
        .recipe = change->action == ACTION_CORRECT && !change_undone(change)
                      ? strbuf_text(&change->recipe.text)
                      : NULL,
        .is_forced = change_is_forced(change),
        .then_reprocess = change_sends_corrected(change) && change_is_detached(change),
        .takes_quarantined = change_names_quarantined(change),
        .undoes = change_undone(change) ? change_undone(change) : change_restored(change),
        .restores_resolved = change->restores_resolved,
        .rate = options->reprocess.rate.is_given ? (int32_t)options->reprocess.rate.number : RATE_UNLIMITED,
        .plan = change->plan};
    if (change_sends_corrected(change) &&
        !request.then_reprocess) { // they are those of the reprocess after it
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
    change_describe(change, &text);
    remark(change->call, "would %s", strbuf_text(&text));
    strbuf_release(&text);
    struct operation operation = {.action = change->action,
                                  .state = OPERATION_STATE_COUNT, // printed as "dry run"
                                  .total = (int64_t)change->count,
                                  .refused = change->preview.refused.events,
                                  .skipped = change->preview.busy + change->preview.closed +
                                             change->preview.repeated};
    if (change->action == ACTION_CORRECT && !change_undone(change))
        operation = recipe_use_operation(&change->recipe, change->count);
    if (change_asks_check(change)) {
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
    if (change_is_detached(change))
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
        !change_read_plan(&next, err) || !change_find_publisher(&next, err) ||
        (next.count > 0 && (!change_look_ahead(&next, err) || !change_leave_quarantined(&next, err))))
        return command_status(err);
    int status = STATUS_DONE;
    change_complete_plan(&next);
    if (next.count == 0)
        remark(change->call, "nothing was changed, so nothing is sent");
    else
        status = freeze(&next, &no, err) ? carry_out(&next, no, err) : command_status(err);
    free(next.ids);
    change_end_forecast(&next);
    arena_release(&next.arena);
    return status;
}

// Whoever confirms sees what the recipe would do; a script that gives the number has made its dry run before.
static bool
try_recipe(struct change *change, struct err *err)
{
    const struct options *options = &change->call->options;
    bool is_shown = options->change.dry_run || (!options->change.yes && !options->change.confirm.is_given);
    if (change->action != ACTION_CORRECT || change_undone(change) || !is_shown)
        return true;
    interrupt_catch();
    return recipe_use_dry_run(&change->recipe, change->store, change->ids, change->count, err);
}

static int
change_events(struct change *change, struct err *err)
{
    bool ok = change_choose(change, err) && change_look_ahead(change, err) &&
              change_leave_quarantined(change, err) && change_leave_stale(change, err) &&
              change_leave_barred(change, err) && try_recipe(change, err);
    if (!ok)
        return command_status(err);
    change_complete_plan(change);
    if (change->call->options.change.dry_run)
        return dry_run(change, err);
    int64_t no = 0;
    if (!change_find_publisher(change, err) || !change_confirm(change, err))
        return command_status(err);
    interrupt_catch();
    if (!freeze(change, &no, err))
        return command_status(err);
    int status = carry_out(change, no, err);
    if (status == STATUS_DONE && change->recipe.barred_count > 0 && change_asks_check(change))
        status = STATUS_PART;
    if (!change_sends_corrected(change) || err_is_set(err) || change_is_detached(change))
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
    if (change->action == ACTION_CORRECT && !change_undone(change))
        return recipe_use_open(&change->recipe, change->call, err);
    return !change_asks_check(change) || recipe_use_open_check(&change->recipe, change->call, err);
}

int
changing_run(struct call *call, enum operation_action action, struct err *err)
{
    struct change change = {.call = call, .action = action};
    bool ok =
        command_no_args(call, err) && change_check_options(&change, err) && change_read_plan(&change, err) &&
        open_recipe(&change, err) &&
        command_store(call, call->options.change.dry_run ? STORE_SCHEMA : STORE_WRITE, &change.store, err);
    int status = ok ? change_events(&change, err) : command_status(err);
    recipe_use_close(&change.recipe);
    free(change.ids);
    change_ahead_destroy(change.ahead);
    change_end_forecast(&change);
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
