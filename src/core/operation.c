#include "core/operation.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/text.h"

static const char *const action_names[ACTION_COUNT] = {"reprocess", "resolve", "discard", "restore",
                                                       "correct"};

static const char *const operation_state_names[OPERATION_STATE_COUNT] = {
    "freezing", "awaiting approval", "frozen", "running", "waiting", "paused", "done", "cancelled", "halted"};

static const char *const item_state_names[ITEM_STATE_COUNT] = {"queued",  "claimed", "in doubt", "done",
                                                               "refused", "skipped", "cancelled"};

// The index of name among names, or -1.
static int
index_of(struct bytes name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (bytes_equal_text(name, names[i]))
            return i;
    return -1;
}

const char *
action_name(enum operation_action action)
{
    return action_names[action];
}

bool
action_parse(struct bytes name, enum operation_action *action)
{
    int i = index_of(name, action_names, ACTION_COUNT);
    if (i >= 0)
        *action = (enum operation_action)i;
    return i >= 0;
}

const char *
operation_state_name(enum operation_state state)
{
    return operation_state_names[state];
}

bool
operation_state_parse(struct bytes name, enum operation_state *state)
{
    int i = index_of(name, operation_state_names, OPERATION_STATE_COUNT);
    if (i >= 0)
        *state = (enum operation_state)i;
    return i >= 0;
}

bool
operation_state_is_final(enum operation_state state)
{
    return state == OPERATION_DONE || state == OPERATION_CANCELLED || state == OPERATION_HALTED;
}

const char *
item_state_name(enum item_state state)
{
    return item_state_names[state];
}

const char *
item_state_word(enum item_state state, enum operation_action action)
{
    static const char *const done[ACTION_COUNT] = {
        [ACTION_REPROCESS] = "sent",   [ACTION_RESOLVE] = "resolved", [ACTION_DISCARD] = "discarded",
        [ACTION_RESTORE] = "restored", [ACTION_CORRECT] = "applied",
    };
    switch (state) {
    case ITEM_QUEUED:
        return action == ACTION_REPROCESS ? "to send" : "to do";
    case ITEM_CLAIMED:
        return "in flight";
    case ITEM_IN_DOUBT:
        return "in doubt";
    case ITEM_DONE:
        return done[action];
    case ITEM_REFUSED:
        return "refused";
    case ITEM_SKIPPED:
        return "skipped";
    case ITEM_CANCELLED:
        return "cancelled";
    case ITEM_STATE_COUNT:
        break;
    }
    return "";
}

bool
item_state_parse(struct bytes name, enum item_state *state)
{
    int i = index_of(name, item_state_names, ITEM_STATE_COUNT);
    if (i >= 0)
        *state = (enum item_state)i;
    return i >= 0;
}

// --- how it is sent ---

static bool
add_step(struct bytes word, struct send_plan *plan, struct err *err)
{
    int64_t n;
    if (!text_parse_int(word, &n, NULL) || n < 1 || n > INT32_MAX)
        return err_set(err, ERR_USAGE, "steps are numbers of events such as 10,100,1000,rest; not \"%.*s\"",
                       BYTES_ARGS(word));
    if (plan->step_count == STEPS_MOST)
        return err_set(err, ERR_USAGE, "at most %d steps before the rest", STEPS_MOST);
    plan->steps[plan->step_count++] = (int32_t)n;
    return true;
}

bool
steps_parse(struct bytes text, struct send_plan *plan, struct err *err)
{
    bool is_over = false;
    for (size_t from = 0; from <= text.len;) {
        size_t comma = bytes_find(text, BYTES(","), from);
        size_t end = comma == SIZE_MAX ? text.len : comma;
        struct bytes word = bytes_trim(bytes_slice(text, from, end - from));
        if (is_over)
            return err_set(err, ERR_USAGE, "\"rest\" must be the last step");
        is_over = bytes_equal_text(word, "rest");
        if (!is_over && !add_step(word, plan, err))
            return false;
        from = end + 1;
    }
    return true;
}

// "20", "0.5"; not by the locale.
static bool
parse_decimal(struct bytes text, double *number)
{
    size_t point = bytes_find(text, BYTES("."), 0);
    struct bytes whole = bytes_slice(text, 0, point == SIZE_MAX ? text.len : point);
    struct bytes part = point == SIZE_MAX ? BYTES("0") : bytes_slice(text, point + 1, SIZE_MAX);
    int64_t n, m;
    bool is_plain = whole.len > 0 && whole.data[0] >= '0' && whole.data[0] <= '9' && part.len > 0 &&
                    part.len < 10 && part.data[0] >= '0' && part.data[0] <= '9';
    if (!is_plain || !text_parse_int(whole, &n, NULL) || !text_parse_int(part, &m, NULL))
        return false;
    *number = (double)m;
    for (size_t digit = 0; digit < part.len; digit++)
        *number /= 10;
    *number += (double)n;
    return true;
}

bool
halt_parse(struct bytes text, struct send_plan *plan, struct err *err)
{
    struct bytes number = bytes_trim(text);
    plan->halts = !bytes_equal_text(number, "none");
    if (!plan->halts)
        return true;
    if (bytes_ends(number, "%"))
        number = bytes_trim(bytes_slice(number, 0, number.len - 1));
    return (parse_decimal(number, &plan->halt_above) && plan->halt_above <= 100) ||
           err_set(err, ERR_USAGE, "a percentage from 0 to 100 such as 5%%, or none; not \"%.*s\"",
                   BYTES_ARGS(text));
}

void
steps_text(const int32_t *steps, size_t count, struct strbuf *out)
{
    char number[TEXT_SHORT];
    for (size_t i = 0; i < count; i++)
        strbuf_printf(out, "%s, ", text_count(steps[i], number));
    if (count > 0)
        strbuf_add_text(out, "rest");
}

void
send_plan_complete(struct send_plan *plan, size_t events)
{
    if (plan->halts || (plan->step_count == 0 && events <= HALT_PLAIN_EVENTS))
        return;
    plan->halts = true;
    plan->halt_above = plan->step_count > 0 ? HALT_ABOVE : HALT_PLAIN_ABOVE;
}

bool
operation_begins_later(const struct operation *operation, int64_t now)
{
    bool is_ready = operation->state == OPERATION_AWAITING || operation->state == OPERATION_FROZEN ||
                    operation->state == OPERATION_PAUSED;
    return is_ready && operation->started_at == TIME_ABSENT && operation->plan.begin.at > now;
}

bool
operation_waits_for_worker(const struct operation *operation, bool publishes, int64_t now)
{
    bool is_ready = operation->state == OPERATION_FROZEN || operation->state == OPERATION_RUNNING ||
                    operation->state == OPERATION_WAITING;
    bool sends = operation->action == ACTION_REPROCESS;
    return is_ready && !(sends && (operation->rate == 0 || !publishes)) &&
           !operation_begins_later(operation, now);
}

bool
operation_can_be_called_back(const struct operation *operation)
{
    bool is_kind = operation->action == ACTION_REPROCESS || operation->plan.begin.at;
    return is_kind && !operation_state_is_final(operation->state) &&
           operation->done + operation->claimed + operation->in_doubt == 0;
}

bool
operation_can_be_undone(const struct operation *operation)
{
    bool is_kind = operation->action == ACTION_DISCARD || operation->action == ACTION_RESOLVE ||
                   (operation->action == ACTION_CORRECT && !operation->undone.of);
    return is_kind && operation_state_is_final(operation->state) && operation_changed(operation) > 0 &&
           operation->undone.by == 0;
}

void
operation_follower_text(const struct operation *operation, struct strbuf *out)
{
    const struct send_plan *plan = &operation->plan;
    char rate[TEXT_SHORT];
    if (operation->follower.by)
        strbuf_printf(out, "operation %" PRId64 ": ", operation->follower.by);
    strbuf_add_text(out, "reprocess what it corrected");
    if (operation->rate == 0)
        strbuf_add_text(out, ", paused at first");
    else if (operation->rate > 0)
        strbuf_printf(out, ", at most %s/s", text_count(operation->rate, rate));
    if (plan->step_count > 0) {
        strbuf_add_text(out, ", in steps of ");
        steps_text(plan->steps, plan->step_count, out);
    }
    if (plan->halts)
        strbuf_printf(out, ", halting above %g%%", plan->halt_above);
}

int64_t
operation_changed(const struct operation *operation)
{
    return operation->done - operation->recipe.unchanged - operation->recipe.not_applicable;
}
