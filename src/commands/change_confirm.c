// Asks for the confirmation of a change, or reads it from the options.
#include "commands/change_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "commands/publishing.h"
#include "store/operations/workers.h"

static bool
read_answer(char *out, size_t room)
{
    if (fgets(out, (int)room, stdin) == NULL)
        return false;
    out[strcspn(out, "\r\n")] = '\0';
    return true;
}

// At a terminal: asks for the count where much is at stake, else for y.
static bool
ask(const struct change *change, bool is_count_wanted, struct err *err)
{
    struct strbuf text = {0}, visible = {0};
    char answer[64] = "";
    change_describe(change, &text);
    text_visible(&visible, strbuf_bytes(&text), false);
    if (is_count_wanted)
        fprintf(stderr, "%s.\ntype %zu to confirm: ", strbuf_text(&visible), change->count);
    else
        fprintf(stderr, "%s. Continue? [y/N] ", strbuf_text(&visible));
    fflush(stderr);
    strbuf_release(&text);
    strbuf_release(&visible);
    int64_t number = -1;
    bool is_yes = false;
    if (read_answer(answer, sizeof answer)) {
        is_yes = !is_count_wanted && (strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0);
        if (is_count_wanted && text_parse_int(bytes_of(answer), &number, NULL))
            is_yes = number == (int64_t)change->count;
    }
    return is_yes || err_set(err, ERR_DENIED, "not confirmed; nothing was changed");
}

bool
change_confirm(const struct change *change, struct err *err)
{
    const struct call *call = change->call;
    const struct options *options = &call->options;
    const char *name = action_name(change->action);
    const char *are = change->count == 1 ? "event is" : "events are";
    bool is_protected = strcmp(call->settings.decision.protect, "count") == 0;
    if (options->change.confirm.is_given) {
        if (options->change.confirm.number == (int64_t)change->count)
            return true;
        return err_set(err, ERR_DENIED,
                       "--confirm %" PRId64 " does not match: %zu %s chosen; nothing was changed",
                       options->change.confirm.number, change->count, are);
    }
    if (options->change.yes && !is_protected)
        return true;
    bool may_ask = call->in_is_terminal && call->err_is_terminal && !options->change.yes;
    if (!may_ask && is_protected)
        return err_set(err, ERR_DENIED,
                       "redrive %s is not confirmed: %zu %s chosen, and the configuration asks for "
                       "their number (protect, %s); add --confirm %zu",
                       name, change->count, are, call->settings.origins[SETTING_ID_protect].where,
                       change->count);
    if (!may_ask)
        return err_set(err, ERR_DENIED,
                       "redrive %s is not confirmed: %zu %s chosen, and no terminal can be asked; "
                       "add --confirm %zu or --yes",
                       name, change->count, are, change->count);
    return ask(change, is_protected || (int64_t)change->count > call->settings.decision.confirm_above, err);
}

// Refuses, before anything is frozen, a reprocess that no worker could carry out; --detach allows it.
bool
change_find_publisher(struct change *change, struct err *err)
{
    if (change->action != ACTION_REPROCESS && !change_sends_corrected(change))
        return true;
    if (!publishing_broker_ready(change->call, &change->broker, err))
        return false;
    if (broker_settings_present(&change->broker))
        return true;
    if (change_is_detached(change) || change->call->options.change.dry_run)
        return true;
    struct worker *workers = NULL;
    size_t count = 0;
    if (!worker_list(change->store, &change->arena, &workers, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        change->waits_for_others = change->waits_for_others || workers[i].publishes;
    if (change->waits_for_others)
        return true;
    return err_set(err, ERR_USAGE,
                   "redrive reprocess cannot send: no Kafka brokers are configured here, and no worker that "
                   "publishes is alive; give -b HOST:PORT, or --detach to leave it to a later worker");
}
