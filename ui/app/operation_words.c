#include "ui/app/operation_words.h"

#include "base/text.h"

const char *
operation_state_word(enum operation_state state)
{
    static const char *const words[OPERATION_STATE_COUNT] = {
        [OPERATION_FREEZING] = "selecting", [OPERATION_AWAITING] = "approval?",
        [OPERATION_FROZEN] = "queued",      [OPERATION_RUNNING] = "running",
        [OPERATION_WAITING] = "watching",   [OPERATION_PAUSED] = "paused",
        [OPERATION_DONE] = "done",          [OPERATION_CANCELLED] = "cancelled",
        [OPERATION_HALTED] = "halted",
    };
    return words[state];
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

const char *
operation_standing(const struct operation *operation, struct arena *arena)
{
    char returned[TEXT_SHORT];
    const char *ended = outcome_sentence(operation, arena);
    if (ended)
        return ended;
    const char *word = operation_state_word(operation->state);
    return operation->returned
               ? arena_printf(arena, "%s, %s returned", word, text_count(operation->returned, returned))
               : word;
}

enum role
operation_standing_role(const struct operation *operation)
{
    switch (outcomes_of(operation).severity) {
    case OUTCOME_WELL:
        return ROLE_OPERATION_DONE;
    case OUTCOME_RETURNED:
        return ROLE_EVENT_RETURNED;
    case OUTCOME_FAILED:
        return ROLE_OPERATION_FAILED;
    case OUTCOME_OPEN:
    case OUTCOME_INCOMPLETE:
        break;
    }
    return operation->state == OPERATION_RUNNING ? ROLE_OPERATION_RUNNING : ROLE_OPERATION_WAITING;
}
