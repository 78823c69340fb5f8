#include "ui/keymap/action.h"

#include <stddef.h>

static const struct action_row actions[DO_COUNT] = {
    [DO_NONE] = {.word = "", .label = "", .help = ""},
#define ACTION(id_, word_, contexts_, label_, effect_, command_, help_)                                      \
    [DO_##id_] = {.word = word_,                                                                             \
                  .label = label_,                                                                           \
                  .command = command_,                                                                       \
                  .help = help_,                                                                             \
                  .contexts = contexts_,                                                                     \
                  .effect = EFFECT_##effect_},
#include "ui/keymap/actions.def"
#undef ACTION
};

static const struct {
    const char *name;
    enum context parent;
} contexts[CONTEXT_COUNT] = {
    [CONTEXT_GLOBAL] = {"global", CONTEXT_COUNT}, [CONTEXT_LIST] = {"list", CONTEXT_GLOBAL},
    [CONTEXT_TEXT] = {"text", CONTEXT_GLOBAL},    [CONTEXT_STEER] = {"steer", CONTEXT_LIST},
    [CONTEXT_EDIT] = {"edit", CONTEXT_COUNT},     [CONTEXT_PROMPT] = {"prompt", CONTEXT_COUNT},
    [CONTEXT_DIALOG] = {"dialog", CONTEXT_COUNT},
#define VIEW(name, place, parent) [CONTEXT_VIEW_##name] = {#name, parent},
#include "ui/views.def"
#undef VIEW
};

const struct action_row *
action_row(enum action action)
{
    return &actions[action];
}

bool
action_by_word(struct bytes word, enum action *action)
{
    for (int i = DO_NONE + 1; i < DO_COUNT; i++) {
        if (bytes_equal_text(word, actions[i].word)) {
            *action = (enum action)i;
            return true;
        }
    }
    return false;
}

const char *
context_name(enum context context)
{
    return contexts[context].name;
}

enum context
context_parent(enum context context)
{
    return contexts[context].parent;
}

bool
action_allowed(enum action action, enum context context)
{
    for (enum context c = context; c != CONTEXT_COUNT; c = contexts[c].parent)
        if (actions[action].contexts & 1u << c)
            return true;
    return false;
}
