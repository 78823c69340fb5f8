// policy: one policy: show it, switch it on or off, say what it would have done, or run it once now.
#include <inttypes.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "base/uuid.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/policy_choose.h"
#include "commands/policy_line.h"
#include "commands/policy_rehearse.h"
#include "commands/waiting.h"
#include "commands/whole_file.h"
#include "settings/policies_yaml.h"
#include "store/watch/policies.h"

struct policy_call {
    struct call *call;
    const char *name;
    struct policies_file file;
    struct store *store;
    struct arena arena;
};

static bool
policy_find_row(struct policy_call *of, struct policy_row *row, struct err *err)
{
    struct policy_row *rows;
    size_t count;
    if (!policy_line_rows(of->store, &of->file, &of->arena, &rows, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, of->name) == 0) {
            *row = rows[i];
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, "there is no policy \"%s\"; redrive policies lists them", of->name);
}

// Of the file that is configured here, where its filter and limits are.
static bool
policy_find_written(const struct policy_call *of, const struct policy **policy, struct err *err)
{
    *policy = policies_file_find(&of->file, of->name);
    return *policy || err_set(err, ERR_NOT_FOUND, "no policy \"%s\" is in %s", of->name,
                              of->call->settings.watch.policies ? of->call->settings.watch.policies
                                                                : "a file: the setting policies names one");
}

static void
policy_describe(const struct policy_row *row, struct arena *arena, struct strbuf *out)
{
    char time[TIME_TEXT], count[4][TEXT_SHORT];
    output_field(out, "policy", bytes_of(row->name));
    output_field(out, "state",
                 bytes_of(row->switched_by
                              ? arena_printf(arena, "%s, switched %s by %s", policy_state_name(row->state),
                                             time_local(row->switched_at, time), row->switched_by)
                              : policy_state_name(row->state)));
    output_field(out, "what", bytes_of(row->words));
    if (row->halted_why)
        output_field(
            out, "halted",
            bytes_of(arena_printf(arena, "%s: %s", time_local(row->halted_at, time), row->halted_why)));
    if (row->ran_at != TIME_ABSENT)
        output_field(out, "last run",
                     bytes_of(arena_printf(arena, "%s, %s matched%s%s", time_local(row->ran_at, time),
                                           text_count(row->matched, count[0]), row->note ? "; " : "",
                                           row->note ? row->note : "")));
    else
        output_field(out, "note", bytes_of(row->note));
    if (row->operation)
        output_field(out, "operation", bytes_of(arena_int(arena, row->operation)));
    output_field(out, "in all",
                 bytes_of(arena_printf(arena, "%s run%s, acted on %s, returned %s, refused %s",
                                       text_count(row->runs, count[0]), row->runs == 1 ? "" : "s",
                                       text_count(row->acted, count[1]), text_count(row->returned, count[2]),
                                       text_count(row->refused, count[3]))));
    output_field(out, "last 24 hours", bytes_of(text_count(row->today, count[0])));
    if (row->state == POLICY_ENABLED && row->next_at != TIME_ABSENT)
        output_field(out, "next run", bytes_of(time_local(row->next_at, time)));
}

static bool
policy_show(struct policy_call *of, int *status, struct err *err)
{
    struct policy_row row = {0};
    struct strbuf text = {0};
    if (!policy_find_row(of, &row, err))
        return false;
    *status = row.state == POLICY_HALTED ? STATUS_PART : STATUS_DONE;
    if (of->call->options.general.json)
        return policy_line_json(&row, store_info(of->store)->zone_us, err);
    policy_describe(&row, &of->arena, &text);
    bool ok = output_bytes(strbuf_bytes(&text), err);
    strbuf_release(&text);
    return ok;
}

// A worker's login may make a policy known with words of its own, so what is switched on is what stands in
// this person's file.
static bool
policy_set(struct policy_call *of, bool is_on, struct err *err)
{
    struct policy_row row = {0};
    const struct policy *written;
    int64_t now;
    if ((is_on && !policy_find_written(of, &written, err)) || !store_now(of->store, &now, err) ||
        !policies_know(of->store, of->file.policies, of->file.count, now, err) ||
        !policy_find_row(of, &row, err) ||
        !policy_switch(of->store, of->name, is_on, of->call->options.change.reason, err))
        return false;
    if (!is_on)
        remark(of->call, "%s is off; operations that it began keep running", of->name);
    else if (row.halted_why)
        remark(of->call, "%s is on, and tries one event first", of->name);
    else
        remark(of->call, "%s is on; redrive watch runs it", of->name);
    return true;
}

// Why there was nothing to claim.
static bool
policy_say_unclaimed(struct policy_call *of, struct err *err)
{
    struct policy_row row = {0};
    if (!policy_find_row(of, &row, err))
        return false;
    if (row.halted_why)
        return err_set(err, ERR_CONFLICT, "%s has halted: %s; redrive policy \"%s\" on tries one event",
                       of->name, row.halted_why, of->name);
    if (!store_info(of->store)->may_decide && row.state == POLICY_DISABLED)
        return err_set(err, ERR_DENIED, "%s is not switched on, and an operator does that: %s", of->name,
                       row.note ? row.note : "redrive policy NAME on");
    return err_set(
        err, ERR_CONFLICT,
        "%s runs already: its last operation%s%s has not ended, is still watched, or another redrive "
        "prepares one",
        of->name, row.operation ? ", " : "",
        row.operation ? arena_printf(&of->arena, "%" PRId64 ",", row.operation) : "");
}

static bool
policy_run_now(struct policy_call *of, int *status, struct err *err)
{
    const struct policy *policy;
    struct policy_plan plan = policy_choose_plan(of->call, &of->file);
    struct policy_run run;
    char holder[UUID_SIZE], count[TEXT_SHORT];
    uuid_make(holder);
    if (!policy_find_written(of, &policy, err) ||
        !policy_run_next(of->store, &plan, holder, of->name, &run, err))
        return false;
    if (!run.policy)
        return policy_say_unclaimed(of, err);
    if (run.operation) {
        *status = waiting_tell(of->call, of->store, run.operation, err);
        return !err_is_set(err);
    }
    bool acts = policy_acts(policy->action) || policy_is_retention(policy->action);
    *status = run.halts ? STATUS_PART : acts && run.acted == 0 ? STATUS_NOTHING : STATUS_DONE;
    if (run.halts)
        remark(of->call, "%s halts: %s", of->name, run.note);
    else
        remark(of->call, "%s events match%s%s", text_count(run.matched, count), run.note[0] ? "; " : "",
               run.note);
    return true;
}

static bool
policy_do(struct policy_call *of, const char *verb, int *status, struct err *err)
{
    const struct policy *policy;
    if (!verb)
        return policy_show(of, status, err);
    if (strcmp(verb, "rehearse") == 0)
        return policy_find_written(of, &policy, err) &&
               policy_rehearse_print(of->call, of->store, policy, err);
    if (strcmp(verb, "run") == 0)
        return policy_run_now(of, status, err);
    return policy_set(of, strcmp(verb, "on") == 0, err);
}

// Prints a policy of YAML as our files say it. It needs no database.
static int
policy_from_yaml(const struct call *call, struct err *err)
{
    const char *name = call->options.command.from_yaml;
    struct strbuf yaml = {0}, text = {0};
    bool ok = command_no_args(call, err) && whole_file_read(name, &yaml, err) &&
              policies_yaml_print(name, strbuf_bytes(&yaml), &text, err) &&
              output_bytes(strbuf_bytes(&text), err);
    strbuf_release(&yaml);
    strbuf_release(&text);
    return ok ? STATUS_DONE : command_status(err);
}

int
command_policy(struct call *call, struct err *err)
{
    if (call->options.command.from_yaml)
        return policy_from_yaml(call, err);

    static const char *const verbs[] = {"on", "off", "rehearse", "run"};
    const char *verb = call->arg_count == 2 ? call->args[1] : NULL;
    struct policy_call of = {.call = call, .name = call->arg_count ? call->args[0] : NULL};
    int status = STATUS_DONE;
    bool is_verb = !verb;
    for (size_t i = 0; verb && i < sizeof verbs / sizeof *verbs; i++)
        is_verb = is_verb || strcmp(verb, verbs[i]) == 0;
    if (call->arg_count < 1 || call->arg_count > 2 || !is_verb) {
        err_set(err, ERR_USAGE,
                "redrive policy needs a name, and on, off, rehearse or run behind it; redrive policies lists "
                "names");
        return STATUS_USAGE;
    }
    bool changes = verb && strcmp(verb, "rehearse") != 0;
    bool ok = policies_file_read(call->settings.watch.policies, &of.file, err) &&
              command_store(call, changes ? STORE_WRITE : STORE_SCHEMA, &of.store, err) &&
              policy_do(&of, verb, &status, err);
    policies_file_release(&of.file);
    arena_release(&of.arena);
    store_close(of.store);
    return ok ? status : command_status(err);
}
