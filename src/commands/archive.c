// archive, purge, restore --from-archive: closed events leave the table for the archive, are deleted there,
// or come back.
//
// What is due is counted and confirmed first. Then a job takes it away in short transactions; killed in the
// middle, the same command goes on where it was.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "commands/archiving.h"
#include "commands/choosing.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "core/selection.h"
#include "store/operations/archive.h"

struct archiving {
    struct call *call;
    const char *name; // of the command
    struct store *store;
    struct archive_request request; // first; a purge without archive has two
    struct archive_request then;
    bool has_second;
    int64_t *ids; // heap; NULL: no choice
    struct strbuf scope;
    struct progress_line progress;
    int64_t before_batch; // what earlier jobs of this call took
};

static int64_t
chosen(const struct archiving *archiving)
{
    return archiving->request.chosen + (archiving->has_second ? archiving->then.chosen : 0);
}

// --- the choice ---

static bool
archiving_check(const struct archiving *archiving, struct err *err)
{
    const struct call *call = archiving->call;
    const struct options *options = &call->options;
    bool is_restore = archiving->request.action == ARCHIVE_RESTORE;
    bool is_left = options->change.detach || options->change.at || options->change.after;
    if (is_restore && (options->command.operation.is_given || is_left))
        return err_set(err, ERR_USAGE,
                       "--from-archive restores at once: without --operation, --detach, --at and --after");
    if (is_restore && !choosing_is_any(call) && !options->change.all)
        return err_set(err, ERR_USAGE,
                       "redrive restore --from-archive needs a choice of events: give --id, --group, "
                       "--filter or --queue, or --all for every one of them");
    if (!is_restore && !options->command.older_than)
        return err_set(err, ERR_USAGE,
                       "redrive %s needs an age: --older-than 90d takes events closed 90 days ago or earlier",
                       archiving->name);
    if (options->choice.status &&
        (strcmp(options->choice.status, "pending") == 0 || strcmp(options->choice.status, "all") == 0))
        return err_set(err, ERR_USAGE,
                       "redrive %s takes closed events only: --status is resolved or discarded",
                       archiving->name);
    if (options->change.yes && options->change.confirm.is_given)
        return err_set(err, ERR_USAGE, "give --yes or --confirm, not both");
    bool has_reason = options->change.reason && options->change.reason[0];
    if (call->settings.decision.reason_required && !has_reason && !options->change.dry_run)
        return err_set(err, ERR_USAGE, "redrive %s needs --reason TEXT (reason_required is on, %s)",
                       archiving->name, call->settings.origins[SETTING_ID_reason_required].where);
    return true;
}

// The age counts back from the server's clock.
static bool
read_age(struct archiving *archiving, struct err *err)
{
    const char *text = archiving->call->options.command.older_than;
    int64_t age, now;
    archiving->request.before = TIME_ABSENT;
    if (!text)
        return true;
    if (!text_parse_duration(bytes_of(text), &age, err))
        return err_context(err, "--older-than");
    if (!store_now(archiving->store, &now, err))
        return false;
    archiving->request.before = now - age;
    return true;
}

static bool
choose_archived(struct archiving *archiving, struct err *err)
{
    struct call *call = archiving->call;
    struct choice choice;
    struct choose_tally tally = {0};
    if (!choosing_is_any(call))
        return true;
    progress_begin(&archiving->progress, call, "events");
    bool ok = choosing_read(call, 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED, &choice, err) &&
              choose_ids(archiving->store, &choice, choosing_tick, &archiving->progress, &archiving->ids,
                         &archiving->request.count, &tally, err);
    progress_end(&archiving->progress);
    choosing_say_undecided(call, &tally);
    ok = ok && choosing_check_known(&tally, err);
    choose_tally_release(&tally);
    if (ok && archiving->request.count == 0)
        return err_set(err, ERR_NOT_FOUND, "redrive %s found nothing to act on: no closed event matches",
                       archiving->name);
    archiving->request.count = ids_normalise(archiving->ids, archiving->request.count);
    archiving->request.ids = archiving->ids;
    return ok;
}

// A restore chooses in the archive, which may not be there yet.
static bool
look_into_archive(struct archiving *archiving, struct err *err)
{
    if (archiving->request.action != ARCHIVE_RESTORE)
        return true;
    if (!archive_count(archiving->store, &archiving->request, &archiving->request.chosen, err))
        return false;
    if (archiving->request.chosen == 0)
        return err_set(err, ERR_NOT_FOUND, "redrive restore found nothing to act on: the archive is empty");
    return archive_look_into(archiving->store, err);
}

static void
describe(struct archiving *archiving)
{
    static const char *const verbs[] = {[ARCHIVE_MOVE] = "archive",
                                        [ARCHIVE_RESTORE] = "restore from the archive",
                                        [ARCHIVE_PURGE] = "delete for good",
                                        [ARCHIVE_DELETE] = "delete for good"};
    const struct call *call = archiving->call;
    struct strbuf *out = &archiving->scope;
    strbuf_printf(out, "%s ", verbs[archiving->request.action]);
    choosing_describe(call, (size_t)chosen(archiving), out);
    if (call->options.command.older_than)
        strbuf_printf(out, ", closed %s ago or earlier", call->options.command.older_than);
    if (archiving->request.action == ARCHIVE_PURGE && archiving->has_second) {
        char count[TEXT_SHORT];
        strbuf_printf(out, ", %s of them not archived", text_count(archiving->then.chosen, count));
    }
    if (call->settings.decision.label)
        strbuf_printf(out, " on %s", call->settings.decision.label);
}

static bool
count_due(struct archiving *archiving, struct err *err)
{
    if (!archive_count(archiving->store, &archiving->request, &archiving->request.chosen, err))
        return false;
    if (archiving->has_second) {
        archiving->then = archiving->request;
        archiving->then.action = ARCHIVE_DELETE;
        if (!archive_count(archiving->store, &archiving->then, &archiving->then.chosen, err))
            return false;
    }
    if (chosen(archiving) > 0)
        return true;
    const char *age = archiving->call->options.command.older_than;
    if (archiving->request.action == ARCHIVE_PURGE)
        return err_set(err, ERR_NOT_FOUND,
                       "redrive purge found nothing to act on: no %s event was closed %s ago or earlier",
                       archiving->has_second ? "closed" : "archived", age);
    return err_set(err, ERR_NOT_FOUND,
                   "redrive %s found nothing to act on: no such event was closed %s ago or earlier",
                   archiving->name, age ? age : "now");
}

// --- confirmation ---

static bool
ask_person(struct archiving *archiving, bool is_count_wanted, struct err *err)
{
    struct strbuf visible = {0};
    char answer[64] = "", wanted[TEXT_SHORT];
    snprintf(wanted, sizeof wanted, "%" PRId64, chosen(archiving));
    text_visible(&visible, strbuf_bytes(&archiving->scope), false);
    fprintf(stderr, is_count_wanted ? "%s.\ntype %s to confirm: " : "%s. Continue? [y/N] ",
            strbuf_text(&visible), wanted);
    fflush(stderr);
    strbuf_release(&visible);
    bool has_answer = fgets(answer, sizeof answer, stdin) != NULL;
    answer[strcspn(answer, "\r\n")] = '\0';
    bool is_yes = is_count_wanted ? strcmp(answer, wanted) == 0
                                  : strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0;
    return (has_answer && is_yes) || err_set(err, ERR_DENIED, "not confirmed; nothing was changed");
}

// What is deleted for good is confirmed by its number.
static bool
archiving_confirm(struct archiving *archiving, struct err *err)
{
    const struct call *call = archiving->call;
    const struct options *options = &call->options;
    int64_t count = chosen(archiving);
    const char *are = count == 1 ? "event is" : "events are";
    bool is_protected = strcmp(call->settings.decision.protect, "count") == 0;
    if (options->change.confirm.is_given)
        return options->change.confirm.number == count ||
               err_set(err, ERR_DENIED,
                       "--confirm %" PRId64 " does not match: %" PRId64 " %s chosen; nothing was changed",
                       options->change.confirm.number, count, are);
    if (options->change.yes && !is_protected)
        return true;
    if (!call->in_is_terminal || !call->err_is_terminal || options->change.yes)
        return err_set(
            err, ERR_DENIED,
            "redrive %s is not confirmed: %" PRId64 " %s chosen, and %s; add --confirm %" PRId64 "%s",
            archiving->name, count, are,
            is_protected ? "the configuration asks for their number (protect)" : "no terminal can be asked",
            count, is_protected ? "" : " or --yes");
    bool is_final = archiving->request.action == ARCHIVE_PURGE;
    return ask_person(archiving, is_final || is_protected || count > call->settings.decision.confirm_above,
                      err);
}

// --- the end ---

static const char *
state_word(const struct archive_result *result)
{
    return result->job == 0 ? "dry run" : result->was_interrupted ? "interrupted" : "done";
}

static bool
print_result(const struct archiving *archiving, const struct archive_result *result, struct err *err)
{
    char total[TEXT_SHORT], moved[TEXT_SHORT], deleted[TEXT_SHORT], skipped[TEXT_SHORT];
    if (archiving->call->options.general.json) {
        struct value *object = value_object();
        value_add_int_or_null(object, "job", result->job > 0, result->job);
        value_add_text(object, "action", archiving->name);
        value_add_text(object, "state", state_word(result));
        value_add_int(object, "total", chosen(archiving));
        value_add_int(object, "moved", result->moved);
        value_add_int(object, "deleted", result->deleted);
        value_add_int(object, "skipped", result->skipped);
        return json_print(object, err);
    }
    struct strbuf line = {0};
    strbuf_printf(&line, "%s %s, total %s, moved %s, deleted %s, skipped %s\n", archiving->name,
                  state_word(result), text_count(chosen(archiving), total), text_count(result->moved, moved),
                  text_count(result->deleted, deleted), text_count(result->skipped, skipped));
    bool ok = output_bytes(strbuf_bytes(&line), err);
    strbuf_release(&line);
    return ok;
}

static int
dry_run(struct archiving *archiving, struct err *err)
{
    bool is_final = archiving->request.action == ARCHIVE_PURGE;
    struct archive_result result = {.moved = is_final ? 0 : chosen(archiving),
                                    .deleted = is_final ? chosen(archiving) : 0};
    struct strbuf visible = {0};
    text_visible(&visible, strbuf_bytes(&archiving->scope), false);
    remark(archiving->call, "would %s", strbuf_text(&visible));
    strbuf_release(&visible);
    return print_result(archiving, &result, err) ? STATUS_DONE : command_status(err);
}

static bool
archiving_tick(void *context, int64_t taken)
{
    struct archiving *archiving = context;
    progress_show(&archiving->progress, archiving->before_batch + taken, chosen(archiving), NULL);
    return !interrupt_is_set();
}

// A job that has nothing to do is none.
static bool
run_job(struct archiving *archiving, struct archive_request *request, struct archive_result *sum,
        struct err *err)
{
    struct archive_result result;
    if (request->chosen == 0 || sum->was_interrupted)
        return true;
    request->scope = strbuf_text(&archiving->scope);
    request->reason = archiving->call->options.change.reason;
    archiving->before_batch = sum->moved + sum->deleted;
    if (!archive_run(archiving->store, request, archiving_tick, archiving, &result, err))
        return false;
    sum->job = result.job;
    sum->moved += result.moved;
    sum->deleted += result.deleted;
    sum->skipped += result.skipped;
    sum->was_interrupted = result.was_interrupted;
    return true;
}

static int
carry_out(struct archiving *archiving, struct err *err)
{
    struct archive_result result = {0};
    interrupt_catch();
    progress_begin(&archiving->progress, archiving->call, archiving->name);
    bool ok = run_job(archiving, &archiving->request, &result, err) &&
              (!archiving->has_second || run_job(archiving, &archiving->then, &result, err));
    progress_end(&archiving->progress);
    if (!ok || !print_result(archiving, &result, err))
        return command_status(err);
    if (result.was_interrupted)
        return STATUS_INTERRUPTED;
    if (result.skipped == 0)
        return STATUS_DONE;
    remark(archiving->call,
           archiving->request.action == ARCHIVE_RESTORE
               ? "what was skipped is in the table again, or somebody else restores it"
               : "what was skipped is in an operation, or somebody else works on it; the same command takes "
                 "it later");
    return STATUS_PART;
}

static int
archiving_run(struct call *call, enum archive_action action, struct err *err)
{
    struct archiving archiving = {.call = call,
                                  .name = call->command->name,
                                  .request = {.action = action},
                                  .has_second =
                                      action == ARCHIVE_PURGE && call->options.command.without_archive};
    bool ok = command_no_args(call, err) && archiving_check(&archiving, err) &&
              command_store(call, call->options.change.dry_run ? STORE_SCHEMA : STORE_WRITE, &archiving.store,
                            err) &&
              read_age(&archiving, err) && look_into_archive(&archiving, err) &&
              choose_archived(&archiving, err) && count_due(&archiving, err);
    int status = STATUS_USAGE;
    if (ok)
        describe(&archiving);
    if (ok && call->options.change.dry_run)
        status = dry_run(&archiving, err);
    else if (ok && archiving_confirm(&archiving, err))
        status = carry_out(&archiving, err);
    else
        status = command_status(err);
    strbuf_release(&archiving.scope);
    free(archiving.ids);
    store_close(archiving.store);
    return status;
}

int
command_archive(struct call *call, struct err *err)
{
    return archiving_run(call, ARCHIVE_MOVE, err);
}

int
command_purge(struct call *call, struct err *err)
{
    return archiving_run(call, ARCHIVE_PURGE, err);
}

int
archiving_restore(struct call *call, struct err *err)
{
    return archiving_run(call, ARCHIVE_RESTORE, err);
}
