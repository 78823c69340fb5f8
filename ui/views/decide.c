#include "ui/views/decide.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "base/uuid.h"

enum { FIELD_REASON, FIELD_RATE, FIELD_STEPS, FIELD_HALT, FIELD_TOPIC };

static const struct verb {
    enum action action;
    enum operation_action operation;
    const char *title;
    const char *past; // what happens to the events
    bool is_danger;
} verbs[] = {
    {DO_REPROCESS, ACTION_REPROCESS, "Reprocess", "are sent to their topic again", true},
    {DO_RESOLVE, ACTION_RESOLVE, "Resolve", "are closed as resolved, without sending", false},
    {DO_DISCARD, ACTION_DISCARD, "Discard", "are discarded, without sending; restore brings them back",
     false},
    {DO_RESTORE, ACTION_RESTORE, "Restore", "are pending again", false},
};

static const struct verb *
verb_of(enum operation_action operation)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (verbs[i].operation == operation)
            return &verbs[i];
    return &verbs[0];
}

bool
decide_action(enum action action, enum operation_action *operation_action)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (verbs[i].action == action) {
            *operation_action = verbs[i].operation;
            return true;
        }
    }
    return false;
}

static void
forget(struct decide *decide)
{
    free(decide->ids);
    free(decide->left_out);
    decide->ids = decide->left_out = NULL;
    decide->left_out_count = 0;
    decide->count = 0;
    decide->capacity = 0;
    decide->list_number = 0;
    decide->preview_number = 0;
    decide->dialog = NULL;
    decide->is_open = false;
}

void
decide_release(struct decide *decide)
{
    forget(decide);
    strbuf_release(&decide->what);
    strbuf_release(&decide->filter);
}

// Can a decision begin now? Says why not.
static bool
begin(struct app *app, struct decide *decide, enum operation_action action, const struct decide_words *words)
{
    const char *why_not = NULL;
    if (!app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return false;
    }
    forget(decide);
    decide->is_open = true;
    decide->action = action;
    decide->hidden = words->hidden;
    strbuf_reset(&decide->what);
    strbuf_add_text(&decide->what, words->what ? words->what : "the selection");
    strbuf_reset(&decide->filter);
    if (words->filter)
        strbuf_add_text(&decide->filter, words->filter);
    decide->is_named = words->filter && strstr(words->filter, "is:quarantined");
    snprintf(decide->group, sizeof decide->group, "%s", words->group ? words->group : "");
    return true;
}

// "2,114 events of SocketTimeoutException, 7 of them hidden by the filter"
static const char *
scope(const struct decide *decide, struct arena *arena)
{
    char count[TEXT_SHORT];
    char hidden[TEXT_SHORT];
    const char *words = arena_printf(arena, "%s %s of %s", text_count((int64_t)decide->count, count),
                                     decide->count == 1 ? "event" : "events", strbuf_text(&decide->what));
    if (decide->hidden)
        words = arena_printf(arena, "%s, %s of them hidden by the filter", words,
                             text_count((int64_t)decide->hidden, hidden));
    return words;
}

// Is the text safe to stand in single quotes of a shell as it is?
static const char *
quoted(struct arena *arena, const char *text)
{
    struct strbuf out = {0};
    strbuf_add_char(&out, '\'');
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            strbuf_add_text(&out, "'\\''");
        else
            strbuf_add_char(&out, *at);
    }
    strbuf_add_char(&out, '\'');
    const char *copy = arena_text(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return copy;
}

// The headless twin of what would be confirmed.
static const char *
twin(const struct decide *decide, struct arena *arena)
{
    const char *command = arena_printf(arena, "redrive %s", action_name(decide->action));
    if (decide->count == 1)
        return arena_printf(arena, "%s --id %" PRId64, command, decide->ids[0]);
    if (!*decide->group && !decide->filter.len)
        return arena_printf(arena, "%s --id - < ids", command);
    if (*decide->group)
        command = arena_printf(arena, "%s --group %s", command, decide->group);
    if (decide->filter.len)
        command = arena_printf(arena, "%s --filter %s", command, quoted(arena, strbuf_text(&decide->filter)));
    return command;
}

// "10,100,rest 60s": steps, and how long each is watched.
static bool
read_steps(struct bytes text, struct send_plan *plan, struct err *err)
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
    if (has_watch) {
        if (!text_parse_duration(last, &plan->settle_for, err))
            return false;
        steps = bytes_trim(bytes_slice(steps, 0, steps.len - last.len));
    }
    return steps_parse(steps, plan, err);
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

static void
take_plan(const struct app *app, const struct decide *decide, const struct dialog *dialog,
          struct operation_request *confirm)
{
    struct send_plan *plan = &confirm->plan;
    plan->approve_above = app_config(app)->approve_above;
    if (decide->action != ACTION_REPROCESS)
        return;
    plan->send_after = app_config(app)->send_after;
    struct bytes rate = dialog_value(dialog, FIELD_RATE);
    struct bytes steps = dialog_value(dialog, FIELD_STEPS);
    struct bytes halt = dialog_value(dialog, FIELD_HALT);
    int64_t per_second = RATE_UNLIMITED;
    // The dialog has checked them.
    if (rate.len && text_parse_int(rate, &per_second, NULL))
        confirm->rate = (int32_t)per_second;
    if (steps.len && !read_steps(steps, plan, NULL))
        plan->step_count = 0;
    if (halt.len)
        (void)!halt_parse(halt, plan, NULL);
    else
        send_plan_complete(plan);
}

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct decide *decide = state;
    struct request *request = request_create(REQUEST_CONFIRM);
    struct operation_request *confirm = &request->confirm;
    confirm->action = decide->action;
    confirm->rate = RATE_UNLIMITED;
    memcpy(confirm->key, decide->key, sizeof confirm->key);

    struct bytes reason = dialog_value(dialog, FIELD_REASON);
    if (reason.len)
        request->reason = strndup(reason.data, reason.len);
    take_plan(app, decide, dialog, confirm);
    if (decide->action == ACTION_REPROCESS) {
        struct bytes topic = dialog_value(dialog, FIELD_TOPIC);
        if (topic.len)
            request->target_topic = strndup(topic.data, topic.len);
    }
    struct arena arena = {0};
    request->scope = alloc_text(scope(decide, &arena));
    arena_release(&arena);
    if (decide->filter.len)
        request->filter_text = alloc_text(strbuf_text(&decide->filter));
    memcpy(request->group_key, decide->group, sizeof request->group_key);
    request->ids = decide->ids;
    request->id_count = decide->count;
    decide->ids = NULL;

    char count[TEXT_SHORT];
    app_say(app, SAY_INFO, "asking for: %s %s…", action_name(decide->action),
            text_count((int64_t)decide->count, count));
    forget(decide);
    decide->confirm_number = app_send(app, request);
}

static void
cancelled(struct app *app, void *state)
{
    struct decide *decide = state;
    app_say(app, SAY_INFO, "nothing was changed");
    forget(decide);
}

static bool
check_rate(struct bytes text, struct err *err)
{
    int64_t rate;
    if (!text_parse_int(text, &rate, NULL) || rate < 0 || rate > INT32_MAX)
        return err_set(err, ERR_USAGE, "a rate is a number of events per second; 0 begins paused");
    return true;
}

static bool
check_topic(struct bytes text, struct err *err)
{
    bool ok = text.len <= 249;
    for (size_t i = 0; ok && i < text.len; i++)
        ok =
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", text.data[i]) != NULL;
    return ok || err_set(err, ERR_USAGE, "a topic has letters, digits, '.', '_' and '-', at most 249");
}

static void
ask_preview(struct app *app, struct decide *decide)
{
    struct request *preview = request_create(REQUEST_PREVIEW);
    preview->action = decide->action;
    preview->ids = alloc_array(decide->count, sizeof *preview->ids);
    memcpy(preview->ids, decide->ids, decide->count * sizeof *preview->ids);
    preview->id_count = decide->count;
    decide->preview_number = app_send(app, preview);
}

static void
open_dialog(struct app *app, struct decide *decide)
{
    const struct verb *verb = verb_of(decide->action);
    decide->count = ids_normalise(decide->ids, decide->count);
    decide->is_named |= decide->count == 1;
    uuid_make(decide->key);

    const struct app_config *config = app_config(app);
    bool types_count = config->is_protected || (int64_t)decide->count > config->confirm_above;
    struct arena arena = {0};
    struct dialog_request request = {
        .title = verb->title,
        .confirm = verb->title,
        .is_danger = verb->is_danger,
        .typed_count = types_count ? (int64_t)decide->count : 0,
        .fields = {[FIELD_REASON] = {.label = "reason",
                                     .hint = config->reason_required ? "required" : "why, for the audit",
                                     .is_required = config->reason_required}},
        .field_count = 1,
        .command = twin(decide, &arena),
        .confirmed = confirmed,
        .cancelled = cancelled,
    };
    if (decide->action == ACTION_REPROCESS) {
        request.fields[FIELD_RATE] = (struct dialog_field){
            .label = "rate", .hint = "events/s; empty: as fast as it goes", .width = 40, .check = check_rate};
        request.fields[FIELD_STEPS] = (struct dialog_field){.label = "steps",
                                                            .hint = "10,100,rest 60s; empty: all at once",
                                                            .width = 40,
                                                            .check = check_steps};
        request.fields[FIELD_HALT] = (struct dialog_field){
            .label = "halt", .hint = "5%: when more fail or come back", .width = 40, .check = check_halt};
        request.fields[FIELD_TOPIC] = (struct dialog_field){
            .label = "to", .hint = "each event's own topic", .width = 40, .check = check_topic};
        request.field_count = 5;
    }
    decide->dialog = app_dialog(app, &request);
    dialog_line(decide->dialog, ROLE_STRONG, "%s", scope(decide, &arena));
    dialog_line(decide->dialog, ROLE_DIM, "looking at them…");
    dialog_set_waiting(decide->dialog, true);
    arena_release(&arena);

    ask_preview(app, decide);
}

void
decide_ids(struct app *app, struct decide *decide, enum operation_action action, const int64_t *ids,
           size_t count, const struct decide_words *words)
{
    if (count == 0) {
        app_say(app, SAY_WARN, "there is nothing here to %s", action_name(action));
        return;
    }
    if (!begin(app, decide, action, words))
        return;
    decide->ids = alloc_array(count, sizeof *ids);
    memcpy(decide->ids, ids, count * sizeof *ids);
    decide->count = count;
    open_dialog(app, decide);
}

void
decide_list(struct app *app, struct decide *decide, enum operation_action action,
            const struct list_query *query, const struct decide_words *words)
{
    if (!begin(app, decide, action, words))
        return;
    struct request *request = request_create(REQUEST_COLLECT);
    request->list = *query;
    request->list.filter = query->filter ? alloc_text(query->filter) : NULL;
    app_say(app, SAY_INFO, "collecting %s…", strbuf_text(&decide->what));
    decide->list_number = app_send(app, request);
}

bool
decide_selection(struct app *app, struct decide *decide, enum operation_action action, const int64_t *shown,
                 size_t shown_count, const struct decide_words *words)
{
    const struct selection *selection = app_selection(app);
    if (selection->count == 0)
        return false;
    struct decide_words selected = *words;
    selected.what = "the selection";
    selected.group = NULL;
    selected.filter = NULL;
    selected.hidden = shown ? selection_hidden(selection, shown, shown_count) : 0;
    decide_ids(app, decide, action, selection->ids, selection->count, &selected);
    return true;
}

static void
add_ids(struct decide *decide, const int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        decide->ids = alloc_grow(decide->ids, decide->count, &decide->capacity, sizeof *decide->ids);
        decide->ids[decide->count++] = ids[i];
    }
}

static void
receive_list(struct app *app, struct decide *decide, const struct reply *reply)
{
    if (reply->is_new_available)
        return; // it arrived after the list was made: not part of it
    if (reply->is_first)
        decide->count = 0;
    add_ids(decide, reply->ids, reply->id_count);
    if (!reply->is_last)
        return;
    decide->list_number = 0;
    if (reply->undecided)
        strbuf_printf(&decide->what, ", %" PRId64 " undecided left out", reply->undecided);
    if (decide->count == 0) {
        app_say(app, SAY_WARN, "there is nothing left to %s in %s", action_name(decide->action),
                strbuf_text(&decide->what));
        forget(decide);
        return;
    }
    open_dialog(app, decide);
}

static void
describe_topics(struct app *app, const struct decide *decide, const struct preview *preview)
{
    struct strbuf line = {0};
    char count[TEXT_SHORT];
    for (size_t i = 0; i < preview->topic_count && i < 4; i++)
        strbuf_printf(&line, "%s%s (%s)", i ? "  " : "",
                      preview->topics[i].topic ? preview->topics[i].topic : "no topic",
                      text_count(preview->topics[i].count, count));
    if (preview->topic_count > 4)
        strbuf_printf(&line, "  and %zu more", preview->topic_count - 4);
    const struct status *status = app_status(app);
    const char *words = *status->promise_words ? status->promise_words
                                               : "not probed yet: exactly once if it can, else at least once";
    dialog_line(decide->dialog, ROLE_DIALOG, "to   %s", strbuf_text(&line));
    dialog_line(decide->dialog, status->promise == PROMISE_EXACTLY_ONCE ? ROLE_STATUS_OK : ROLE_STATUS_WARN,
                "     %s", words);
    dialog_line(decide->dialog, ROLE_DIALOG,
                "as   newest revision %s, original bytes kept %s, others by the table",
                text_count(preview->revised, count), text_count(preview->raw, (char[TEXT_SHORT]){0}));
    strbuf_release(&line);
}

// What a person should know before it is sent again.
static void
describe_risks(const struct app *app, const struct decide *decide, const struct preview *preview)
{
    struct dialog *dialog = decide->dialog;
    char count[TEXT_SHORT];
    char other[TEXT_SHORT];
    if (preview->overtaken)
        dialog_line(dialog, ROLE_DIALOG_DANGER, "%s %s newer events of the same key%s%s%s",
                    text_count(preview->overtaken, count), preview->overtaken == 1 ? "has" : "have",
                    preview->overtaken_resolved ? ", " : "",
                    preview->overtaken_resolved ? text_count(preview->overtaken_resolved, other) : "",
                    preview->overtaken_resolved ? " already resolved" : "");
    if (preview->doubled)
        dialog_line(dialog, ROLE_DIALOG_DANGER, "%s share their event id with another of them",
                    text_count(preview->doubled, count));
    if (decide->left_out_count)
        dialog_line(dialog, ROLE_DIALOG_DANGER,
                    "%s more in quarantine (came back %" PRId64 " times) left out; is:quarantined names them",
                    text_count((int64_t)decide->left_out_count, count), app_config(app)->max_replays);
    else if (preview->quarantined)
        dialog_line(dialog, ROLE_DIALOG_DANGER, "%s of them came back %" PRId64 " times or more",
                    text_count(preview->quarantined, count), app_config(app)->max_replays);
}

// A bulk reprocess leaves out what is in quarantine, unless that was named. True: there are fewer now.
static bool
leave_out(struct decide *decide, const struct preview *preview)
{
    if (decide->action != ACTION_REPROCESS || decide->is_named || preview->quarantined_count == 0)
        return false;
    size_t kept = 0;
    free(decide->left_out);
    decide->left_out = alloc_array(preview->quarantined_count, sizeof *decide->left_out);
    decide->left_out_count = 0;
    for (size_t i = 0, q = 0; i < decide->count; i++) {
        while (q < preview->quarantined_count && preview->quarantined_ids[q] < decide->ids[i])
            q++;
        if (q < preview->quarantined_count && preview->quarantined_ids[q] == decide->ids[i])
            decide->left_out[decide->left_out_count++] = decide->ids[i];
        else
            decide->ids[kept++] = decide->ids[i];
    }
    decide->count = kept;
    if (dialog_request(decide->dialog)->typed_count > 0)
        dialog_set_count(decide->dialog, (int64_t)kept);
    return decide->left_out_count > 0;
}

static void
receive_preview(struct app *app, struct decide *decide, const struct reply *reply)
{
    const struct preview *preview = &reply->preview;
    struct dialog *dialog = decide->dialog;
    struct arena arena = {0};
    char count[TEXT_SHORT];
    decide->preview_number = 0;
    if (leave_out(decide, preview) && decide->count > 0) {
        ask_preview(app, decide); // what is left is told exactly
        arena_release(&arena);
        return;
    }
    dialog_clear(dialog);
    dialog_set_waiting(dialog, false);
    dialog_line(dialog, ROLE_STRONG, "%s", scope(decide, &arena));
    if (decide->action == ACTION_REPROCESS)
        describe_topics(app, decide, preview);
    else
        dialog_line(dialog, ROLE_DIALOG, "they %s", verb_of(decide->action)->past);
    if (preview->closed)
        dialog_line(dialog, ROLE_DIALOG_DANGER, "%s of them %s meanwhile: they end as conflict",
                    text_count(preview->closed, count),
                    decide->action == ACTION_RESTORE ? "are not discarded any more" : "were closed");
    if (preview->busy)
        dialog_line(dialog, ROLE_DIALOG_DANGER, "%s of them are in %s: they end as conflict",
                    text_count(preview->busy, count),
                    preview->busy_with ? preview->busy_with : "another operation");
    if (decide->action == ACTION_REPROCESS)
        describe_risks(app, decide, preview);
    if (decide->count == 0)
        dialog_refuse(dialog, "all of them are in quarantine");
    else if (preview->open == 0)
        dialog_refuse(dialog, "none of them is open for this any more");
    arena_release(&arena);
}

static void
say_confirmed(struct app *app, struct decide *decide, const struct reply *reply)
{
    const struct operation *operation = reply->operation_count ? &reply->operations[0] : NULL;
    char wait[TEXT_SHORT];
    decide->undo.no = 0;
    if (operation && operation->state == OPERATION_AWAITING) {
        app_say(app, SAY_WARN, "operation %" PRId64 " waits for somebody else's approval; 4 shows it",
                operation->no);
    } else if (operation && operation->send_after != TIME_ABSENT && app_now(app) < operation->send_after) {
        decide->undo.no = operation->no;
        decide->undo.until = operation->send_after;
        app_say(app, SAY_OK,
                "operation %" PRId64 " is on its way, first send in %s; u calls it back, 4 shows it",
                operation->no, text_age(operation->send_after - operation->created_at, wait));
    } else {
        app_say(app, SAY_OK, "operation %" PRId64 " is on its way; 4 shows it", reply->operation);
    }
}

bool
decide_undo(struct app *app, struct decide *decide)
{
    if (!decide->undo.no || app_now(app) >= decide->undo.until)
        return false;
    struct request *request = request_create(REQUEST_STEER);
    request->operation = decide->undo.no;
    request->steer = STEER_CANCEL;
    decide->undo.no = 0;
    decide->undo_number = app_send(app, request);
    return true;
}

bool
decide_receive(struct app *app, struct decide *decide, struct reply *reply)
{
    if (!reply->number)
        return false;
    if (reply->number == decide->undo_number) {
        decide->undo_number = 0;
        if (reply->kind == REPLY_STEERED)
            app_say(app, SAY_OK, "%s", reply->sentence);
        else
            app_say_err(app, &reply->err);
        return true;
    }
    if (reply->number == decide->list_number) {
        if (reply->kind == REPLY_LIST) {
            receive_list(app, decide, reply);
        } else {
            app_say_err(app, &reply->err);
            forget(decide);
        }
        return true;
    }
    if (reply->number == decide->preview_number) {
        if (reply->kind == REPLY_PREVIEW) {
            receive_preview(app, decide, reply);
        } else {
            app_dialog_close(app);
            app_say_err(app, &reply->err);
            forget(decide);
        }
        return true;
    }
    if (reply->number == decide->confirm_number) {
        char done[TEXT_SHORT];
        char of[TEXT_SHORT];
        if (reply->kind == REPLY_PROGRESS) {
            app_say(app, SAY_INFO, "freezing %s of %s", text_count(reply->done, done),
                    text_count(reply->of, of));
        } else if (reply->kind == REPLY_CONFIRMED) {
            decide->confirm_number = 0;
            selection_clear(app_selection(app));
            say_confirmed(app, decide, reply);
        } else {
            decide->confirm_number = 0;
            app_say_err(app, &reply->err);
        }
        return true;
    }
    return false;
}

bool
decide_cancel(struct app *app, struct decide *decide)
{
    if (!decide->list_number)
        return false;
    app_cancel(app, decide->list_number);
    forget(decide);
    app_say(app, SAY_INFO, "stopped; nothing was changed");
    return true;
}
