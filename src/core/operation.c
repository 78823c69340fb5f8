#include "core/operation.h"

static const char *const action_names[ACTION_COUNT] = {"reprocess", "resolve", "discard", "restore",
                                                       "correct"};

static const char *const operation_state_names[OPERATION_STATE_COUNT] = {
    "freezing", "awaiting approval", "frozen", "running", "paused", "done", "cancelled", "halted"};

static const char *const item_state_names[ITEM_STATE_COUNT] = {"queued",  "claimed",  "held",     "done",
                                                               "refused", "conflict", "cancelled"};

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

bool
item_state_parse(struct bytes name, enum item_state *state)
{
    int i = index_of(name, item_state_names, ITEM_STATE_COUNT);
    if (i >= 0)
        *state = (enum item_state)i;
    return i >= 0;
}

int
operation_percent(const struct operation *operation)
{
    int64_t ended =
        operation->done + operation->refused + operation->conflict + operation->cancelled + operation->held;
    if (operation->total <= 0)
        return 100;
    if (ended >= operation->total)
        return 100;
    return (int)(ended * 100 / operation->total);
}
