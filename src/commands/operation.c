// operation: one operation: show it, steer it, wait for it.
#include "core/operation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "commands/command.h"
#include "commands/operation_doubt.h"
#include "commands/operation_line.h"
#include "commands/output.h"
#include "commands/waiting.h"
#include "store/operations.h"

struct verb {
    const char *word;
    enum steer steer;
    bool is_steer; // else: wait
    size_t args;
};

static const struct verb verbs[] = {
    {"pause", STEER_PAUSE, true, 0}, {"resume", STEER_RESUME, true, 0}, {"cancel", STEER_CANCEL, true, 0},
    {"rate", STEER_RATE, true, 1},   {"wait", STEER_PAUSE, false, 0},
};

// --- showing ---

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
add_outcomes(struct strbuf *out, const struct outcome *outcomes, size_t count)
{
    char text[TEXT_SHORT];
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "%9s %s", text_count(outcomes[i].count, text), item_state_name(outcomes[i].state));
        if (outcomes[i].reason != NULL) {
            strbuf_add_text(out, ": ");
            text_visible(out, bytes_of(outcomes[i].reason), false);
        }
        if (outcomes[i].reason != NULL && outcomes[i].first_event > 0)
            strbuf_printf(out, " (first: event %" PRId64 ")", outcomes[i].first_event);
        strbuf_add_char(out, '\n');
    }
}

static void
describe(const struct operation *operation, struct strbuf *out)
{
    char rate[TEXT_SHORT];
    strbuf_printf(out, "operation %" PRId64 ": %s %s, %d %%\n", operation->no, action_name(operation->action),
                  operation_state_name(operation->state), operation_percent(operation));
    add_field(out, "note", operation->state_note);
    add_field(out, "what", operation->scope);
    add_field(out, "asked by", operation->requested_by);
    add_field(out, "from", operation->host);
    add_field(out, "reason", operation->reason);
    add_field(out, "to", operation->target_topic);
    snprintf(rate, sizeof rate, "%" PRId32 "/s", operation->rate);
    add_field(out, "rate", operation->rate == RATE_UNLIMITED ? NULL : rate);
    add_field(out, "worker", operation->worker);
    add_when(out, "created", operation->created_at);
    add_when(out, "started", operation->started_at);
    add_when(out, "finished", operation->finished_at);
}

static bool
show(struct call *call, struct store *store, int64_t no, struct err *err)
{
    struct arena arena = {0};
    struct operation operation = {0};
    struct outcome *outcomes = NULL;
    size_t count = 0;
    struct strbuf text = {0};
    bool ok = operation_get(store, no, &arena, &operation, err);
    if (ok && call->options.json)
        ok = operation_json(&operation, store_info(store)->zone_us, err);
    else if (ok && operation_outcomes(store, no, &arena, &outcomes, &count, err)) {
        describe(&operation, &text);
        add_outcomes(&text, outcomes, count);
        ok = doubt_describe(store, no, &text, err) && output_bytes(strbuf_bytes(&text), err);
    } else
        ok = false;
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
                verbs[i].args > 0 ? "redrive operation N %s needs one number"
                                  : "redrive operation N %s takes nothing more",
                given);
        return NULL;
    }
    const char *nearest = text_suggest(given, words, sizeof verbs / sizeof *verbs);
    err_set(err, ERR_USAGE,
            "an operation can be paused, resumed, cancelled, given a rate, waited for or decided, not "
            "\"%s\"%s%s%s",
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
        return err_set(
            err, ERR_USAGE,
            "a rate is a whole number of events a second, 0 to hold, or none for no limit; not \"%s\"",
            call->args[2]);
    *rate = (int32_t)number;
    return true;
}

static int
steer(struct call *call, int64_t no, const struct verb *verb, struct err *err)
{
    int32_t rate = 0;
    if (verb->steer == STEER_RATE && !read_rate(call, &rate, err))
        return STATUS_USAGE;
    struct store *store = NULL;
    bool ok = command_store(call, STORE_WRITE, &store, err) &&
              operation_steer(store, no, verb->steer, rate, err) && show(call, store, no, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}

int
command_operation(struct call *call, struct err *err)
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
        return doubt_decide(call, no, err);
    const struct verb *verb = call->arg_count > 1 ? find_verb(call, err) : NULL;
    if (err_is_set(err))
        return STATUS_USAGE;
    if (verb != NULL && verb->is_steer)
        return steer(call, no, verb, err);
    struct store *store = NULL;
    if (!command_store(call, STORE_SCHEMA, &store, err))
        return command_status(err);
    int status = STATUS_DONE;
    if (verb != NULL)
        status = waiting_for(call, store, no, err);
    else if (!show(call, store, no, err))
        status = command_status(err);
    store_close(store);
    return status;
}
