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
