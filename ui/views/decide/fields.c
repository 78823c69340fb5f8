#include "ui/views/decide/fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "core/target.h"
#include "ui/views/decide/texts.h"

enum { FIELD_REASON, FIELD_RATE, FIELD_STEPS, FIELD_HALT, FIELD_LAG, FIELD_BEGIN, FIELD_TOPIC };
// Of a recipe. FIELD_FORCE only where a check refuses some.
enum { FIELD_FIRST = FIELD_REASON + 1, FIELD_STOP, FIELD_SEND, FIELD_BEGIN_RECIPE, FIELD_FORCE };
// So wide that the hint of a field that is filled in stands whole beside it in 80 columns.
enum { WIDTH_NUMBER = 16, WIDTH_STEPS = 28, WIDTH_NAME = 40 };
// Of a discard and a resolve.
enum { FIELD_BEGIN_PLAIN = FIELD_REASON + 1 };

// "10,100,rest 60s": the steps, and how long each is watched (absent where not given).
static struct bytes
split_steps(struct bytes text, struct bytes *watch)
{
    struct bytes steps = bytes_trim(text);
    struct bytes last = steps;
    for (size_t i = steps.len; i > 0; i--) {
        if (steps.data[i - 1] != ' ')
            continue;
        last = bytes_slice(steps, i, steps.len - i);
        break;
    }
    bool has_watch = last.len < steps.len && last.len > 0 && last.data[last.len - 1] >= 'a' &&
                     !bytes_equal_text(last, "rest");
    *watch = has_watch ? last : BYTES_ABSENT;
    return has_watch ? bytes_trim(bytes_slice(steps, 0, steps.len - last.len)) : steps;
}

static bool
read_steps(struct bytes text, struct send_plan *plan, struct err *err)
{
    struct bytes watch;
    struct bytes steps = split_steps(text, &watch);
    return (!bytes_present(watch) || text_parse_duration(watch, &plan->settle_for, err)) &&
           steps_parse(steps, plan, err);
}

static void
steps_as_options(struct bytes text, struct strbuf *command)
{
    struct bytes watch;
    struct bytes steps = split_steps(text, &watch);
    strbuf_add_text(command, " --ramp ");
    text_shell(command, steps);
    if (bytes_present(watch)) {
        strbuf_add_text(command, " --settle-for ");
        text_shell(command, watch);
    }
}

static bool
check_steps(struct bytes text, struct err *err)
{
    struct send_plan plan = {0};
    return read_steps(text, &plan, err);
}

static bool
check_halt(struct bytes text, struct err *err)
{
    struct send_plan plan = {0};
    return halt_parse(text, &plan, err);
}

static bool
check_rate(struct bytes text, struct err *err)
{
    int64_t rate;
    if (!text_parse_int(text, &rate, NULL) || rate < 0 || rate > INT32_MAX)
        return err_set(err, ERR_USAGE, MSG_RATE_WRONG);
    return true;
}

static bool
check_lag(struct bytes text, struct err *err)
{
    int64_t most;
    if (!text_parse_int(text, &most, NULL) || most < 0)
        return err_set(err, ERR_USAGE, MSG_LAG_WRONG);
    return true;
}

// "yes", or a rate: "50/s", "50".
static bool
read_send(struct bytes text, int32_t *rate, struct err *err)
{
    int64_t number = RATE_UNLIMITED;
    if (text.len > 2 && memcmp(text.data + text.len - 2, "/s", 2) == 0)
        text.len -= 2;
    if (!bytes_equal_text(text, "yes") &&
        (!text_parse_int(text, &number, NULL) || number < 0 || number > INT32_MAX))
        return err_set(err, ERR_USAGE, MSG_SEND_WRONG);
    *rate = (int32_t)number;
    return true;
}

static bool
check_send(struct bytes text, struct err *err)
{
    int32_t rate;
    return read_send(text, &rate, err);
}

static void
send_as_options(struct bytes text, struct strbuf *command)
{
    int32_t rate = RATE_UNLIMITED;
    strbuf_add_text(command, " --reprocess");
    if (read_send(text, &rate, NULL) && rate != RATE_UNLIMITED)
        strbuf_printf(command, " --rate %" PRId32, rate);
}

static void
force_as_options(struct bytes text, struct strbuf *command)
{
    strbuf_add_text(command, " --force --reason ");
    text_shell(command, text);
}

static bool
check_begin(struct bytes text, struct err *err)
{
    struct begin begin;
    return begin_parse(text, clock_now(), &begin, err);
}

static void
begin_as_options(struct bytes text, struct strbuf *command)
{
    struct begin begin = {0};
    if (!begin_parse(text, clock_now(), &begin, NULL) || (!begin.at && !begin.after))
        return;
    strbuf_add_text(command, begin.at ? " --at " : " --after ");
    text_shell(command, bytes_trim(text));
}

// Empty: at once.
static void
take_begin(const struct dialog *dialog, int field, struct send_plan *plan)
{
    struct bytes text = dialog_value(dialog, field);
    if (text.len && !begin_parse(text, clock_now(), &plan->begin, NULL))
        plan->begin = (struct begin){0}; // its time has passed since the dialog has checked it
}

static struct dialog_field
begin_field(int width)
{
    return (struct dialog_field){.label = "begin",
                                 .as_options = begin_as_options,
                                 .hint = MSG_BEGIN_HINT,
                                 .width = width,
                                 .check = check_begin};
}

static int
recipe_fields(int64_t refused, struct arena *arena, struct dialog_field *fields)
{
    char count[TEXT_SHORT];
    fields[FIELD_FIRST] = (struct dialog_field){
        .label = "steps", .as_options = steps_as_options, .hint = MSG_FIRST_HINT, .check = check_steps};
    fields[FIELD_STOP] = (struct dialog_field){
        .label = "halt", .option = "--halt-above", .hint = MSG_HALT_HINT, .check = check_halt};
    fields[FIELD_SEND] = (struct dialog_field){
        .label = "send", .as_options = send_as_options, .hint = MSG_SEND_HINT, .check = check_send};
    fields[FIELD_BEGIN_RECIPE] = begin_field(0);
    if (refused == 0)
        return FIELD_BEGIN_RECIPE + 1;
    fields[FIELD_FORCE] =
        (struct dialog_field){.label = "force",
                              .as_options = force_as_options,
                              .hint = arena_printf(arena, MSG_FORCE_HINT, text_count(refused, count))};
    return FIELD_FORCE + 1;
}

int
decide_fields(const struct app_config *config, enum operation_action action, bool is_revert, int64_t refused,
              size_t events, struct arena *arena, struct dialog_field *fields)
{
    fields[FIELD_REASON] =
        (struct dialog_field){.label = "reason",
                              .option = "--reason",
                              .hint = config->decision.reason_required ? "required" : MSG_REASON_HINT,
                              .is_required = config->decision.reason_required};
    if (action == ACTION_CORRECT && !is_revert)
        return recipe_fields(refused, arena, fields);
    fields[FIELD_BEGIN_PLAIN] = begin_field(0);
    if (action != ACTION_REPROCESS)
        return action == ACTION_DISCARD || action == ACTION_RESOLVE ? FIELD_BEGIN_PLAIN + 1 : 1;
    fields[FIELD_RATE] = (struct dialog_field){.label = "rate",
                                               .option = "--rate",
                                               .hint = MSG_RATE_HINT,
                                               .width = WIDTH_NUMBER,
                                               .check = check_rate};
    fields[FIELD_STEPS] = (struct dialog_field){.label = "steps",
                                                .as_options = steps_as_options,
                                                .hint = MSG_STEPS_HINT,
                                                .width = WIDTH_STEPS,
                                                .check = check_steps};
    struct send_plan plain = {0};
    send_plan_complete(&plain, events);
    fields[FIELD_HALT] =
        (struct dialog_field){.label = "halt",
                              .value = plain.halts ? arena_printf(arena, "%g%%", plain.halt_above)
                                                   : NULL, // seen, and to be changed
                              .option = "--halt-above",
                              .hint = MSG_HALT_HINT,
                              .width = WIDTH_NUMBER,
                              .check = check_halt};
    fields[FIELD_LAG] = (struct dialog_field){.label = "lag",
                                              .option = "--max-lag",
                                              .hint = MSG_LAG_HINT,
                                              .width = WIDTH_NUMBER,
                                              .check = check_lag};
    fields[FIELD_BEGIN] = begin_field(WIDTH_NAME);
    fields[FIELD_TOPIC] = (struct dialog_field){.label = "to",
                                                .option = "--to",
                                                .hint = MSG_TOPIC_HINT,
                                                .width = WIDTH_NAME,
                                                .is_counted = true,
                                                .check = target_check};
    return FIELD_TOPIC + 1;
}

struct bytes
decide_fields_topic(const struct dialog *dialog)
{
    struct bytes topic = dialog_value(dialog, FIELD_TOPIC);
    return topic.len && target_check(topic, NULL) ? topic : BYTES("");
}

void
decide_fields_set_topic(struct dialog *dialog, const char *topic)
{
    dialog_set_value(dialog, FIELD_TOPIC, topic);
}

static void
take_plan(const struct app_config *config, const struct dialog *dialog, struct operation_request *confirm)
{
    struct send_plan *plan = &confirm->plan;
    plan->send_after = config->decision.send_after;
    struct bytes rate = dialog_value(dialog, FIELD_RATE);
    struct bytes steps = dialog_value(dialog, FIELD_STEPS);
    struct bytes halt = dialog_value(dialog, FIELD_HALT);
    struct bytes lag = dialog_value(dialog, FIELD_LAG);
    int64_t per_second = RATE_UNLIMITED;
    take_begin(dialog, FIELD_BEGIN, plan);
    // The dialog has checked them.
    if (rate.len && text_parse_int(rate, &per_second, NULL))
        confirm->rate = (int32_t)per_second;
    if (steps.len && !read_steps(steps, plan, NULL))
        plan->step_count = 0;
    plan->holds = lag.len && text_parse_int(lag, &plan->max_lag, NULL);
    if (halt.len)
        (void)!halt_parse(halt, plan, NULL);
    else if (plan->step_count > 0) // emptied on purpose: a plain one does not halt
        send_plan_complete(plan, 0);
}

void
decide_fields_force(struct request *request, struct bytes why)
{
    struct strbuf reason = {0};
    strbuf_printf(&reason, "%s%sforced: %.*s", request->reason ? request->reason : "",
                  request->reason ? "; " : "", BYTES_ARGS(why));
    free(request->reason);
    request->reason = alloc_text(strbuf_text(&reason));
    strbuf_release(&reason);
}

static void
take_force(const struct dialog *dialog, struct request *request)
{
    if (dialog_request(dialog)->field_count <= FIELD_FORCE)
        return;
    struct bytes why = dialog_value(dialog, FIELD_FORCE);
    if (why.len == 0)
        return;
    decide_fields_force(request, why);
    request->confirm.is_forced = true;
}

static void
take_recipe(const struct app_config *config, const struct dialog *dialog, struct request *request)
{
    struct operation_request *confirm = &request->confirm;
    struct send_plan *plan = &confirm->plan;
    struct bytes steps = dialog_value(dialog, FIELD_FIRST);
    struct bytes halt = dialog_value(dialog, FIELD_STOP);
    struct bytes send = dialog_value(dialog, FIELD_SEND);
    take_begin(dialog, FIELD_BEGIN_RECIPE, plan);
    // The dialog has checked them.
    if (steps.len && !read_steps(steps, plan, NULL))
        plan->step_count = 0;
    if (halt.len)
        (void)!halt_parse(halt, plan, NULL);
    confirm->then_reprocess = send.len > 0 && read_send(send, &confirm->rate, NULL);
    if (confirm->then_reprocess)
        plan->send_after = config->decision.send_after;
    if (confirm->then_reprocess && halt.len == 0)
        send_plan_complete(plan, request->id_count);
    take_force(dialog, request);
}

void
decide_fields_take(const struct app_config *config, const struct dialog *dialog, struct request *request)
{
    struct bytes reason = dialog_value(dialog, FIELD_REASON);
    if (reason.len)
        request->reason = strndup(reason.data, reason.len);
    request->confirm.plan.approve_above = config->decision.approve_above;
    if (request->confirm.action == ACTION_CORRECT && !request->confirm.undoes)
        take_recipe(config, dialog, request);
    if (request->confirm.action == ACTION_DISCARD || request->confirm.action == ACTION_RESOLVE)
        take_begin(dialog, FIELD_BEGIN_PLAIN, &request->confirm.plan);
    if (request->confirm.action != ACTION_REPROCESS)
        return;
    take_plan(config, dialog, &request->confirm);
    struct bytes topic = dialog_value(dialog, FIELD_TOPIC);
    if (topic.len)
        request->texts.target_topic = strndup(topic.data, topic.len);
}
