// operation: one operation: show it, steer it, wait for it.
#include "core/outcomes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "core/event.h"
#include "commands/audit_line.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/operation_doubt.h"
#include "commands/operation_line.h"
#include "commands/cli/output.h"
#include "commands/waiting.h"
#include "store/operations/audit.h"
#include "store/operations/operations.h"
#include "store/operations/workers.h"
#include "store/events/history.h"

struct verb {
    const char *word;
    enum steer steer;
    bool is_steer; // else: wait
    size_t args;
};

static const struct verb verbs[] = {
    {"pause", STEER_PAUSE, true, 0},
    {"resume", STEER_RESUME, true, 0},
    {"cancel", STEER_CANCEL, true, 0},
    {"approve", STEER_APPROVE, true, 0},
    {"rate", STEER_RATE, true, 1},
    {"ramp", STEER_STEPS, true, 1},
    {"settle-for", STEER_SETTLE_FOR, true, 1},
    {"halt-above", STEER_HALT, true, 1},
    {"wait", STEER_PAUSE, false, 0},
};

// --- showing ---

enum { TIMELINE_MOST = 100 };

// What people decided about it, and what halted it: newest first.
struct timeline {
    struct audit_row *rows;
    size_t count;
};

static void
add_field(struct strbuf *out, const char *name, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    strbuf_printf(out, "%-12s", name);
    text_visible(out, bytes_of(text), false);
    strbuf_add_char(out, '\n');
}

static void
add_when(struct strbuf *out, const char *name, int64_t instant)
{
    char text[TIME_TEXT];
    if (instant != TIME_ABSENT)
        add_field(out, name, time_local(instant, text));
}

static void
add_outcomes(struct strbuf *out, enum operation_action action, const struct outcome *outcomes, size_t count)
{
    char text[TEXT_SHORT];
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "%9s %s", text_count(outcomes[i].count, text),
                      item_state_word(outcomes[i].state, action));
        if (outcomes[i].reason != NULL) {
            strbuf_add_text(out, ": ");
            text_visible(out, bytes_of(outcomes[i].reason), false);
        }
        if (outcomes[i].reason != NULL && outcomes[i].first_event > 0)
            strbuf_printf(out, " (first: event %" PRId64 ")", outcomes[i].first_event);
        strbuf_add_char(out, '\n');
    }
}

// "taken       10 of 12 by billing, search; search has read 10 of 12"; of one reader the note says the same.
static void
add_taken(struct strbuf *out, const struct taken *taken)
{
    struct strbuf words = {0};
    char count[2][TEXT_SHORT];
    if (taken->count >= 0)
        strbuf_printf(&words, "%s of %s by %s", text_count(taken->count, count[0]),
                      text_count(taken->of, count[1]), taken->by ? taken->by : "");
    bool is_one = taken->count >= 0 && taken->by && !strchr(taken->by, ',');
    if (taken->note && !is_one)
        strbuf_printf(&words, "%s%s", words.len > 0 ? "; " : "not known: ", taken->note);
    add_field(out, "taken", strbuf_text(&words));
    strbuf_release(&words);
}

static void
command_operation_add_plan(struct strbuf *out, const struct operation *operation)
{
    struct strbuf steps = {0};
    char text[TEXT_SHORT];
    if (operation->action != ACTION_REPROCESS)
        return;
    steps_text(operation->plan.steps, operation->plan.step_count, &steps);
    if (steps.len > 0)
        strbuf_printf(&steps, "; step %" PRId32 " of %zu; watching %s after each", operation->step,
                      operation->plan.step_count + 1, text_age(operation->plan.settle_for, text));
    add_field(out, "steps", strbuf_text(&steps));
    strbuf_reset(&steps);
    if (operation->plan.halts)
        strbuf_printf(&steps, "more than %g%% are refused or return", operation->plan.halt_above);
    add_field(out, "halts if", strbuf_text(&steps));
    strbuf_release(&steps);
    add_taken(out, &operation->sent.taken);
    add_when(out, "next step", operation->state == OPERATION_WAITING ? operation->settle_until : TIME_ABSENT);
    char count[4][TEXT_SHORT];
    // What no group has read is watched however long ago it was sent.
    bool is_unread =
        operation->sent.taken.count >= 0 && operation->sent.taken.count < operation->sent.taken.of;
    strbuf_printf(out, "%-12s%s of %s sent; stayed away %s, watching %s (%ssent less than %s ago)\n",
                  "returned", text_count(operation->returned, count[0]),
                  text_count(operation->done, count[1]), text_count(operation->sent.quiet, count[2]),
                  text_count(operation->sent.watched, count[3]), is_unread ? "not read yet, or " : "",
                  text_age(operation->plan.settle_for, text));
}

// The steps of a recipe are those of the reprocess that follows, where one does.
static void
add_recipe_plan(struct strbuf *out, const struct operation *operation)
{
    struct strbuf words = {0};
    if (operation->follower.is_wanted)
        operation_follower_text(operation, &words);
    else
        steps_text(operation->plan.steps, operation->plan.step_count, &words);
    if (words.len > 0 && !operation->follower.is_wanted)
        strbuf_printf(&words, "; step %" PRId32 " of %zu; each when somebody resumes it", operation->step,
                      operation->plan.step_count + 1);
    add_field(out, operation->follower.is_wanted ? "then" : "steps", strbuf_text(&words));
    strbuf_reset(&words);
    if (operation->undone.of)
        strbuf_printf(&words, "operation %" PRId64, operation->undone.of);
    add_field(out, "undoes", strbuf_text(&words));
    strbuf_reset(&words);
    if (operation->undone.by)
        strbuf_printf(&words, "by operation %" PRId64, operation->undone.by);
    add_field(out, "undone", strbuf_text(&words));
    strbuf_release(&words);
}

static void
add_recipe(struct strbuf *out, const struct operation *operation)
{
    char text[3][TEXT_SHORT];
    if (operation->action == ACTION_CORRECT)
        add_recipe_plan(out, operation);
    if (operation->action == ACTION_CORRECT)
        strbuf_printf(
            out, "%-12schanged %s, unchanged %s, not applicable %s\n", "recipe",
            text_count(operation->done - operation->recipe.unchanged - operation->recipe.not_applicable,
                       text[0]),
            text_count(operation->recipe.unchanged, text[1]),
            text_count(operation->recipe.not_applicable, text[2]));
}

static void
command_operation_describe(const struct operation *operation, struct strbuf *out)
{
    char rate[TEXT_SHORT];
    struct arena arena = {0};
    struct outcomes outcomes = outcomes_of(operation);
    const char *sentence = outcome_sentence(operation, &arena);
    strbuf_printf(out, "operation %" PRId64 ": %s ", operation->no, action_name(operation->action));
    char begins[BEGIN_TEXT];
    if (sentence)
        strbuf_printf(out, "%s\n", sentence);
    else if (operation_begins_later(operation, clock_now()))
        strbuf_printf(out, "%s, begins %s\n", operation_state_name(operation->state),
                      begin_words(operation->plan.begin.at, begins));
    else
        strbuf_printf(out, "%s, %d%%\n", operation_state_name(operation->state), outcomes_percent(&outcomes));
    arena_release(&arena);
    add_field(out, "note", operation->state == OPERATION_HALTED ? NULL : operation->state_note);
    add_field(out, "what", operation->scope);
    add_field(out, "asked by", operation->requested_by);
    add_field(out, "from", operation->host);
    add_field(out, "reason", operation->reason);
    add_field(out, "to", operation->target_topic);
    snprintf(rate, sizeof rate, "%" PRId32 "/s", operation->rate);
    add_field(out, "rate", operation->rate == RATE_UNLIMITED ? NULL : rate);
    command_operation_add_plan(out, operation);
    add_recipe(out, operation);
    add_field(out, "approved by", operation->approved_by);
    add_field(out, "worker", operation->worker);
    add_when(out, "created", operation->created_at);
    add_when(out, "begins", operation->plan.begin.at ? operation->plan.begin.at : TIME_ABSENT);
    add_when(out, "started", operation->started_at);
    add_when(out, "finished", operation->finished_at);
}

// Does it belong among what was done to the operation? The others repeat what the fields and outcomes say.
static bool
is_steering(const struct audit_row *row)
{
    static const char *const words[] = {"approve", "pause",  "resume", "rate",
                                        "steps",   "settle", "cancel", "halt"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], row->action) == 0)
            return true;
    return false;
}

// "cancel      2026-11-22 14:02:11 by ana, was running: INC-7"
static void
add_steered(struct strbuf *out, const struct timeline *timeline)
{
    char time[TIME_TEXT];
    for (size_t i = timeline->count; i-- > 0;) {
        const struct audit_row *row = &timeline->rows[i];
        struct strbuf words = {0};
        strbuf_printf(&words, "%s by %s%s%s%s%s", time_local(row->at, time), row->who,
                      row->detail ? ", " : "", row->detail ? row->detail : "", row->reason ? ": " : "",
                      row->reason ? row->reason : "");
        if (is_steering(row))
            add_field(out, row->action, strbuf_text(&words));
        strbuf_release(&words);
    }
}

static bool
print_json(const struct operation *operation, const struct timeline *timeline, int64_t zone_us,
           struct err *err)
{
    struct value *object = operation_object(operation, zone_us), *list = value_array();
    for (size_t i = timeline->count; i-- > 0;)
        value_add(list, NULL, audit_object(&timeline->rows[i], zone_us));
    value_add(object, "timeline", list);
    return json_print(object, err);
}

static bool
add_returns(struct strbuf *out, struct store *store, int64_t no, struct arena *arena, struct err *err)
{
    struct returned *returns = NULL;
    size_t count = 0;
    char text[TEXT_SHORT], group[GROUP_TEXT];
    if (!operation_returns(store, no, arena, &returns, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "%9s returned", text_count(returns[i].count, text));
        if (returns[i].is_grouped)
            strbuf_printf(out, " in %s group %s", returned_group_words(&returns[i]),
                          group_text(returns[i].group, group));
        strbuf_add_text(out, ": ");
        text_visible(out, bytes_of(returns[i].error), false);
        strbuf_printf(out, " (event %" PRId64 ")\n", returns[i].event);
    }
    return true;
}

// Returned events are looked for by whoever publishes. While nobody does, this looks itself, where it may;
// *as_of: when somebody looked last, where it may not.
static bool
look_for_returned(struct store *store, struct arena *arena, int64_t *as_of, struct err *err)
{
    struct worker *workers;
    size_t count;
    int64_t silent_for;
    struct err refused = {0};
    *as_of = TIME_ABSENT;
    if (!worker_list(store, arena, &workers, &count, err))
        return false;
    if (workers_attendance(workers, count, true, &silent_for) == WORKERS_THERE ||
        worker_look_for_returned(store, &refused))
        return true;
    return worker_looked_at(store, as_of, err);
}

static bool
command_operation_show(struct call *call, struct store *store, int64_t no, int *status, struct err *err)
{
    struct arena arena = {0};
    struct operation operation = {0};
    struct timeline timeline = {0};
    struct outcome *outcomes = NULL;
    size_t count = 0;
    struct strbuf text = {0};
    int64_t as_of = TIME_ABSENT;
    const struct audit_query asked = {.operation = no, .of_people = true, .limit = TIMELINE_MOST};
    bool ok = operation_get(store, no, &arena, &operation, err) &&
              audit_list(store, &asked, &arena, &timeline.rows, &timeline.count, err);
    if (ok && operation.action == ACTION_REPROCESS && operation.done > 0)
        ok = look_for_returned(store, &arena, &as_of, err) &&
             operation_get(store, no, &arena, &operation, err);
    if (ok && as_of != TIME_ABSENT) {
        char time[TIME_TEXT];
        remark(call, "returned events as of %s; no worker looks for them", time_local(as_of, time));
    }
    if (ok && call->options.general.json)
        ok = print_json(&operation, &timeline, store_info(store)->zone_us, err);
    else if (ok && operation_outcomes(store, no, &arena, &outcomes, &count, err)) {
        command_operation_describe(&operation, &text);
        add_steered(&text, &timeline);
        add_outcomes(&text, operation.action, outcomes, count);
        ok = add_returns(&text, store, no, &arena, err) && operation_doubt_describe(store, no, &text, err) &&
             output_bytes(strbuf_bytes(&text), err);
    } else
        ok = false;
    bool is_due = operation.state == OPERATION_FROZEN || operation.state == OPERATION_RUNNING;
    if (ok && is_due) {
        char told[WAITING_TOLD]; // its note was printed
        snprintf(told, sizeof told, "%s", operation.state_note ? operation.state_note : "");
        waiting_say_obstacle(call, store, &operation, told);
    }
    // A live one may still end well.
    *status = operation_state_is_final(operation.state) && operation_status(&operation) != STATUS_DONE
                  ? STATUS_PART
                  : STATUS_DONE;
    strbuf_release(&text);
    arena_release(&arena);
    return ok;
}

// --- steering ---

static const struct verb *
find_verb(const struct call *call, struct err *err)
{
    const char *words[sizeof verbs / sizeof *verbs];
    const char *given = call->args[1];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        words[i] = verbs[i].word;
        if (strcmp(verbs[i].word, given) != 0)
            continue;
        if (call->arg_count == 2 + verbs[i].args)
            return &verbs[i];
        err_set(err, ERR_USAGE,
                verbs[i].args > 0 ? "redrive operation N %s needs one value"
                                  : "redrive operation N %s takes nothing more",
                given);
        return NULL;
    }
    const char *nearest = text_suggest(given, words, sizeof verbs / sizeof *verbs);
    err_set(err, ERR_USAGE,
            "an operation takes pause, resume, cancel, approve, rate, ramp, settle-for, halt-above, wait or "
            "decide, not \"%s\"%s%s%s",
            given, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return NULL;
}

static bool
read_rate(const struct call *call, int32_t *rate, struct err *err)
{
    int64_t number = 0;
    *rate = RATE_UNLIMITED;
    if (strcmp(call->args[2], "none") == 0)
        return true;
    if (!text_parse_int(bytes_of(call->args[2]), &number, NULL) || number < 0 || number > INT32_MAX)
        return err_set(err, ERR_USAGE,
                       "a rate is events per second, 0 to hold, or none for no limit; not \"%s\"",
                       call->args[2]);
    *rate = (int32_t)number;
    return true;
}

static bool
command_operation_read_plan(const struct call *call, enum steer steer, struct send_plan *plan,
                            struct err *err)
{
    struct bytes text = bytes_of(call->args[2]);
    if (steer == STEER_STEPS)
        return bytes_equal_text(text, "none") || steps_parse(text, plan, err);
    if (steer == STEER_SETTLE_FOR)
        return text_parse_duration(text, &plan->settle_for, err);
    return halt_parse(text, plan, err);
}

// A reason belongs to what changes something, and some settings want one of each change.
static bool
check_reason(const struct call *call, const struct verb *verb, struct err *err)
{
    const char *reason = call->options.change.reason;
    bool changes = verb && verb->is_steer;
    if (reason && !changes)
        return err_set(err, ERR_USAGE,
                       "--reason is kept with a change: redrive operation N%s%s changes nothing",
                       verb ? " " : "", verb ? verb->word : "");
    return !changes || !call->settings.decision.reason_required || (reason && reason[0]) ||
           err_set(err, ERR_USAGE, "redrive operation N %s needs --reason TEXT (reason_required is on, %s)",
                   verb->word, call->settings.origins[SETTING_ID_reason_required].where);
}

static int
steer(struct call *call, int64_t no, const struct verb *verb, struct err *err)
{
    int32_t rate = 0;
    struct send_plan plan = {0};
    const char *reason = call->options.change.reason;
    bool is_plan = verb->steer == STEER_STEPS || verb->steer == STEER_SETTLE_FOR || verb->steer == STEER_HALT;
    if (verb->steer == STEER_RATE && !read_rate(call, &rate, err))
        return STATUS_USAGE;
    if (is_plan && !command_operation_read_plan(call, verb->steer, &plan, err))
        return STATUS_USAGE;
    struct store *store = NULL;
    int outcome; // it was steered, however it ends
    bool ok = command_store(call, STORE_WRITE, &store, err) &&
              (is_plan ? operation_tune(store, no, verb->steer, &plan, reason, err)
                       : operation_steer(store, no, verb->steer, rate, reason, err)) &&
              command_operation_show(call, store, no, &outcome, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}

static int
operation_run(struct call *call, struct err *err)
{
    int64_t no = 0;
    if (call->arg_count == 0) {
        err_set(err, ERR_USAGE,
                "redrive operation needs the number of an operation; redrive operations lists them");
        return STATUS_USAGE;
    }
    if (!command_number(call->args[0], "the number of an operation", &no, err))
        return STATUS_USAGE;
    if (call->arg_count > 1 && strcmp(call->args[1], "decide") == 0)
        return operation_doubt_decide(call, no, err);
    const struct verb *verb = call->arg_count > 1 ? find_verb(call, err) : NULL;
    if (err_is_set(err) || !check_reason(call, verb, err))
        return STATUS_USAGE;
    if (verb != NULL && verb->is_steer)
        return steer(call, no, verb, err);
    struct store *store = NULL;
    if (!command_store(call, STORE_SCHEMA, &store, err))
        return command_status(err);
    int status = STATUS_DONE;
    if (verb != NULL)
        status = waiting_for(call, store, no, err);
    else if (!command_operation_show(call, store, no, &status, err))
        status = command_status(err);
    store_close(store);
    return status;
}

int
command_operation(struct call *call, struct err *err)
{
    int status = operation_run(call, err);
    operation_unknown_remedy(err);
    return status;
}
