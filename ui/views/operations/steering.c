#include "ui/views/operations/steering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/events/events.h"
#include "ui/views/operations/row.h"
#include "ui/views/operations/stop.h"
#include "ui/views/operations/texts.h"

// Three steps a decade.
static const int32_t rates[] = {1,   2,    5,    10,   20,    50,    100,   200,
                                500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};
enum { RATES = sizeof rates / sizeof *rates };

enum { FIELD_REASON };

int32_t
steering_step_rate(int32_t rate, double measured, bool is_up)
{
    if (rate == RATE_UNLIMITED && is_up)
        return RATE_UNLIMITED;
    if (rate == RATE_UNLIMITED) // down from no limit: to a step below what it does now
        rate = measured >= 1 && measured < rates[RATES - 1] ? (int32_t)measured : rates[RATES - 1];
    if (is_up) {
        for (int i = 0; i < RATES; i++)
            if (rates[i] > rate)
                return rates[i];
        return RATE_UNLIMITED;
    }
    for (int i = RATES - 1; i >= 0; i--)
        if (rates[i] < rate)
            return rates[i];
    return rates[0];
}

static bool
steering_may_change(struct app *app)
{
    const char *why_not = NULL;
    if (app_can_change(app, &why_not))
        return true;
    app_say(app, SAY_WARN, "%s", why_not);
    return false;
}

// Can it still be steered? Says why not.
static bool
is_live(struct app *app, const struct operation *operation)
{
    // A halted one can still be resumed, or stopped for good.
    if (!operation_state_is_final(operation->state) || operation->state == OPERATION_HALTED)
        return true;
    app_say(app, SAY_INFO, MSG_OPERATION_IS, operation->no, operation_state_word(operation->state));
    return false;
}

// dialog: where its reason was asked for; NULL: nobody asked.
static void
steer(struct app *app, int64_t no, enum steer what, int32_t rate, const struct dialog *dialog)
{
    struct bytes reason = dialog ? dialog_value(dialog, FIELD_REASON) : BYTES_ABSENT;
    struct request *request = request_create(REQUEST_STEER);
    request->operation = no;
    request->steering.steer = what;
    request->steering.rate = rate;
    request->reason = reason.len ? strndup(reason.data, reason.len) : NULL;
    app_send(app, request);
}

// A recipe that has not ended.
static bool
is_correcting(const struct operation *operation)
{
    return operation->action == ACTION_CORRECT && !operation->undone.of &&
           !operation_state_is_final(operation->state);
}

static bool
is_held(const struct operation *operation)
{
    return operation->state == OPERATION_PAUSED || operation->state == OPERATION_HALTED;
}

static void
cancel_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct steering *steering = state;
    steering->cancelling = NULL;
    steer(app, steering->no, STEER_CANCEL, 0, dialog);
}

static void
approve_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    steer(app, ((struct steering *)state)->no, STEER_APPROVE, 0, dialog);
}

static void
pause_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    steer(app, ((struct steering *)state)->no, STEER_PAUSE, 0, dialog);
}

static void
resume_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    steer(app, ((struct steering *)state)->no, STEER_RESUME, 0, dialog);
}

static void
nothing_changed(struct app *app, void *state)
{
    struct steering *steering = state;
    steering->undone = 0;
    steering->cancelling = NULL;
    app_say(app, SAY_INFO, MSG_STEERING_CANCELLED);
}

// What a dialog asks, and the command that does the same.
struct steering_question {
    const char *title; // "Stop": of operation N
    const char *button, *command;
    bool is_danger;
    int64_t count; // of the events that are at stake
    void (*confirmed)(struct app *app, void *state, const struct dialog *dialog);
};

static struct dialog *
open_bare_question(struct app *app, struct steering *steering, int64_t no,
                   const struct steering_question *question)
{
    struct arena *arena = app_frame(app);
    bool is_required = app_config(app)->decision.reason_required;
    steering->no = no;
    return app_dialog(
        app,
        &(struct dialog_request){
            .title = arena_printf(arena, MSG_QUESTION_TITLE, question->title, no),
            .confirm = question->button,
            .is_danger = question->is_danger,
            .typed_count = app_typed_count(app, question->count),
            .fields = {[FIELD_REASON] = {.label = "reason",
                                         .option = "--reason",
                                         .hint = is_required ? MSG_REASON_REQUIRED : MSG_STEERING_REASON_HINT,
                                         .is_required = is_required}},
            .field_count = FIELD_REASON + 1,
            .command = arena_printf(arena, "redrive operation %" PRId64 " %s", no, question->command),
            .confirmed = question->confirmed,
            .cancelled = nothing_changed,
        });
}

static struct dialog *
open_question(struct app *app, struct steering *steering, const struct operation *operation,
              const struct steering_question *question)
{
    struct dialog *dialog = open_bare_question(app, steering, operation->no, question);
    struct arena *arena = app_frame(app);
    dialog_line(dialog, ROLE_STRONG, "%s", operation_title(operation, arena));
    return dialog;
}

// What becomes of the events of a recipe that is stopped.
static void
describe_corrected(const struct operation *operation, bool is_undone, struct dialog *dialog)
{
    char count[TEXT_SHORT];
    bool is_one = operation->queued == 1;
    dialog_line(dialog, ROLE_DIALOG, MSG_STOP_NOT_CORRECTED, text_count(operation->queued, count),
                is_one ? "stays" : "stay", is_one ? "it is" : "they are");
    int64_t changed = operation_changed(operation);
    if (changed && is_undone)
        dialog_line(dialog, ROLE_DIALOG, MSG_STOP_THEN_UNDO, text_count(changed, count));
    else if (changed)
        dialog_line(dialog, ROLE_DIALOG, MSG_STOP_CORRECTED, text_count(changed, count),
                    changed == 1 ? "stays" : "stay", changed == 1 ? "it" : "them");
}

// And of another operation.
static void
describe_rest(const struct operation *operation, struct dialog *dialog)
{
    char count[TEXT_SHORT];
    dialog_line(dialog, ROLE_DIALOG, MSG_STOP_STAY, text_count(operation->queued, count),
                operation->action == ACTION_REPROCESS ? "sent" : "done",
                operation->queued == 1 ? "stays" : "stay",
                operation->action == ACTION_RESTORE ? "discarded" : "pending");
}

static void
describe_cancel(struct app *app, struct steering *steering, const struct operation *operation)
{
    struct dialog *dialog = steering->cancelling;
    char count[TEXT_SHORT];
    dialog_clear(dialog);
    dialog_line(dialog, ROLE_STRONG, "%s", operation_title(operation, app_frame(app)));
    dialog_line(dialog, ROLE_DIALOG, "%s", operation_counts(operation, app_frame(app)));
    if (operation->action == ACTION_CORRECT && !operation->undone.of)
        describe_corrected(operation, steering->undone, dialog);
    else
        describe_rest(operation, dialog);
    // The number to type stays: one that changed with each chunk could not be typed.
    if (steering->asked && operation->queued != steering->asked)
        dialog_line(dialog, ROLE_DIALOG, MSG_STOP_ASKED, text_count(steering->asked, count));
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_STOP_FINAL);
}

static void
ask_cancel(struct app *app, struct steering *steering, const struct operation *operation)
{
    if (!is_live(app, operation) || !steering_may_change(app))
        return;
    struct dialog *dialog = open_question(app, steering, operation,
                                          &(struct steering_question){.title = "Stop",
                                                                      .button = "Stop the rest",
                                                                      .command = "cancel",
                                                                      .is_danger = true,
                                                                      .count = operation->queued,
                                                                      .confirmed = cancel_confirmed});
    steering->cancelling = dialog;
    steering->asked = app_typed_count(app, operation->queued);
    describe_cancel(app, steering, operation);
}

static void
ask_approve(struct app *app, struct steering *steering, const struct operation *operation)
{
    if (!is_live(app, operation) || !steering_may_change(app))
        return;
    if (operation->state != OPERATION_AWAITING) {
        app_say(app, SAY_INFO, MSG_NO_APPROVAL_NEEDED, operation->no, operation_state_word(operation->state));
        return;
    }
    struct dialog *dialog = open_question(app, steering, operation,
                                          &(struct steering_question){.title = "Approve",
                                                                      .button = "Approve",
                                                                      .command = "approve",
                                                                      .count = operation->total,
                                                                      .confirmed = approve_confirmed});
    dialog_line(dialog, ROLE_DIALOG, MSG_REQUESTED_BY, operation->requested_by, operation->reason ? ": " : "",
                operation->reason ? operation->reason : "");
    const char *begins = operation_begin_text(operation, app_now(app), app_frame(app));
    if (*begins)
        dialog_line(dialog, ROLE_DIALOG, "%s", begins);
}

// What was halted or paused is sent from then on, so it is asked about as when it was decided.
static void
ask_resume(struct app *app, struct steering *steering, const struct operation *operation)
{
    char count[TEXT_SHORT];
    struct dialog *dialog = open_question(app, steering, operation,
                                          &(struct steering_question){.title = "Resume",
                                                                      .button = "Resume",
                                                                      .command = "resume",
                                                                      .count = operation->queued,
                                                                      .confirmed = resume_confirmed});
    dialog_line(dialog, ROLE_DIALOG, "%s", operation_counts(operation, app_frame(app)));
    dialog_line(dialog, ROLE_DIALOG, MSG_RESUME_EFFECT, text_count(operation->queued, count),
                operation->queued == 1 ? "event goes" : "events go");
}

static void
ask_pause(struct app *app, struct steering *steering, const struct operation *operation)
{
    struct dialog *dialog = open_question(
        app, steering, operation,
        &(struct steering_question){
            .title = "Pause", .button = "Pause", .command = "pause", .confirmed = pause_confirmed});
    dialog_line(dialog, ROLE_DIALOG, "%s", operation_counts(operation, app_frame(app)));
    dialog_line(dialog, ROLE_DIALOG, MSG_PAUSE_EFFECT);
}

// Pausing changes no event and must be quick: it asks only where a reason has to be given.
static void
pause_or_resume(struct app *app, struct steering *steering, const struct operation *operation)
{
    if (!is_live(app, operation) || !steering_may_change(app))
        return;
    if (operation->state == OPERATION_AWAITING)
        app_say(app, SAY_INFO, MSG_APPROVE_FIRST, operation->no);
    else if (is_held(operation))
        ask_resume(app, steering, operation);
    else if (app_config(app)->decision.reason_required)
        ask_pause(app, steering, operation);
    else
        steer(app, operation->no, STEER_PAUSE, 0, NULL);
}

static bool
may_rate(struct app *app, const struct operation *operation)
{
    if (operation->action != ACTION_REPROCESS) {
        app_say(app, SAY_INFO, MSG_NO_RATE);
        return false;
    }
    return is_live(app, operation) && steering_may_change(app);
}

static void
set_rate(struct app *app, struct steering *steering, const struct rate_change *change,
         const struct dialog *dialog)
{
    struct arena *arena = app_frame(app);
    steering->rated = change->no;
    steering->rate = change->to;
    steer(app, change->no, STEER_RATE, change->to, dialog);
    app_say(app, SAY_INFO, MSG_RATE_CHANGE, change->no, operation_rate_text(change->from, arena),
            operation_rate_text(change->to, arena));
}

static void
rate_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct steering *steering = state;
    set_rate(app, steering, &steering->change, dialog);
}

// At once, but for a reason that has to be given.
static void
change_rate(struct app *app, struct steering *steering, struct rate_change change)
{
    steering->change = change;
    if (!app_config(app)->decision.reason_required) {
        set_rate(app, steering, &change, NULL);
        return;
    }
    struct arena *arena = app_frame(app);
    const char *rate = change.to == RATE_UNLIMITED ? "none" : arena_printf(arena, "%" PRId32, change.to);
    struct dialog *dialog =
        open_bare_question(app, steering, change.no,
                           &(struct steering_question){.title = "Change the rate of",
                                                       .button = "Change the rate",
                                                       .command = arena_printf(arena, "rate %s", rate),
                                                       .confirmed = rate_confirmed});
    dialog_line(dialog, ROLE_DIALOG, MSG_RATE_EFFECT, operation_rate_text(change.from, arena),
                operation_rate_text(change.to, arena));
}

static void
step_rate(struct app *app, struct steering *steering, const struct operation *operation, bool is_up)
{
    if (!may_rate(app, operation))
        return;
    int32_t rate = steering->rated == operation->no ? steering->rate : operation->rate;
    change_rate(app, steering,
                (struct rate_change){.no = operation->no,
                                     .from = rate,
                                     .to = steering_step_rate(rate, operation->rate_now, is_up)});
}

static void
raise_rate(struct app *app, struct steering *steering, const struct operation *operation)
{
    step_rate(app, steering, operation, true);
}

static void
lower_rate(struct app *app, struct steering *steering, const struct operation *operation)
{
    step_rate(app, steering, operation, false);
}

static bool
rate_accepted(struct app *app, void *state, struct bytes text)
{
    struct steering *steering = state;
    struct err err = {0};
    int64_t rate = RATE_UNLIMITED;
    text = bytes_trim(text);
    if (text.len && (!text_parse_int(text, &rate, NULL) || rate < 0 || rate > INT32_MAX)) {
        err_set(&err, ERR_USAGE, MSG_RATE_RANGE);
        app_prompt_error(app, &err);
        return false;
    }
    steering->change.to = (int32_t)rate;
    change_rate(app, steering, steering->change);
    return true;
}

static void
ask_rate(struct app *app, struct steering *steering, const struct operation *operation)
{
    if (!may_rate(app, operation))
        return;
    steering->change = (struct rate_change){.no = operation->no, .from = operation->rate};
    app_prompt(app, &(struct prompt_request){
                        .label = arena_printf(app_frame(app), MSG_RATE_PROMPT, operation->no),
                        .accepted = rate_accepted,
                    });
}

// At once while it waits for its first send, which is for that; later it is a decision like any other.
static void
call_back(struct app *app, struct steering *steering, const struct operation *operation)
{
    bool waits = operation->state == OPERATION_FROZEN && operation->send_after != TIME_ABSENT &&
                 app_now(app) < operation->send_after;
    bool is_called_back = operation->state == OPERATION_CANCELLED && operation->done == 0;
    if (is_called_back)
        app_say(app, SAY_INFO, MSG_REPROCESS_UNDONE, operation->no);
    else if (operation_state_is_final(operation->state))
        app_say(app, SAY_INFO, MSG_SENT);
    else if (!operation_can_be_called_back(operation))
        app_say(app, SAY_INFO, MSG_SENT_STOP_REST);
    else if (!waits)
        ask_cancel(app, steering, operation);
    else if (steering_may_change(app))
        steer(app, operation->no, STEER_CANCEL, 0, NULL);
}

// A recipe that has not ended is cancelled first, so that what is reverted is all that it corrected.
static void
stop_and_revert(struct app *app, struct steering *steering, const struct operation *operation)
{
    bool may = steering_may_change(app);
    if (may && operation->started_at == TIME_ABSENT && operation->state == OPERATION_FROZEN) {
        steer(app, operation->no, STEER_CANCEL, 0, NULL);
    } else if (may) {
        steering->undone = operation->no;
        ask_cancel(app, steering, operation);
    }
}

static void
undo(struct app *app, struct steering *steering, const struct operation *operation)
{
    bool is_recipe = operation->action == ACTION_CORRECT && !operation->undone.of;
    bool has_begun = operation->done > 0 || operation_state_is_final(operation->state);
    if (operation->action == ACTION_REPROCESS || (operation->plan.begin.at && !has_begun))
        call_back(app, steering, operation);
    else if (operation->action != ACTION_DISCARD && operation->action != ACTION_RESOLVE && !is_recipe)
        app_say(app, SAY_INFO, MSG_NOT_A_DISCARD, operation->no);
    else if (is_correcting(operation))
        stop_and_revert(app, steering, operation);
    else if (operation_changed(operation) == 0)
        app_say(app, SAY_INFO, is_recipe ? MSG_CORRECTED_NOTHING : MSG_CLOSED_NOTHING, operation->no);
    else if (operation->undone.by)
        app_say(app, SAY_INFO, MSG_DISCARD_UNDONE, operation->no,
                operation->undone.is_done ? "is" : "is being", operation->undone.by);
    else
        decide_undo_operation(app, &steering->decide, operation->no, operation->action);
}

bool
steering_offers(const struct app *app, const struct operation *operation, enum action action)
{
    if (!operation || (action != DO_FAILED_ONLY && !app_can_change(app, NULL)))
        return false;
    bool is_over = operation_state_is_final(operation->state) && operation->state != OPERATION_HALTED;
    bool sends = operation->action == ACTION_REPROCESS;
    switch ((int)action) {
    case DO_OPERATION_PAUSE:
        return !is_over && operation->state != OPERATION_AWAITING;
    case DO_OPERATION_CANCEL:
        return !is_over;
    case DO_RATE_UP:
    case DO_RATE_DOWN:
    case DO_RATE:
        return !is_over && sends;
    case DO_OPERATION_APPROVE:
        return operation->state == OPERATION_AWAITING;
    case DO_FAILED_ONLY:
        return operation->refused + operation->skipped + operation->in_doubt > 0;
    case DO_UNDO:
    case DO_RESTORE:
        return operation_can_be_undone(operation) || is_correcting(operation) ||
               (operation->state == OPERATION_FROZEN && operation_can_be_called_back(operation));
    default:
        return true;
    }
}

const char *
steering_word(const struct operation *operation, enum action action)
{
    return operation && action == DO_OPERATION_PAUSE && is_held(operation) ? MSG_RESUME : NULL;
}

void
steering_open_events(struct app *app, const struct operation *operation, unsigned item_states,
                     const char *what)
{
    struct events_argument argument = {
        .query = {.source = LIST_OPERATION, .operation = operation->no, .item_states = item_states},
        .title = arena_printf(app_frame(app), MSG_EVENTS_TITLE, operation->no, what),
    };
    app_open(app, &view_events, &argument);
}

void
steering_open_filter(struct app *app, const struct operation *operation, const char *filter, const char *what)
{
    struct events_argument argument = {
        .query = {.source = LIST_CLOSED,
                  .statuses =
                      1u << EVENT_PENDING | 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED | 1u << EVENT_OTHER},
        .fixed = filter,
        .title = arena_printf(app_frame(app), MSG_EVENTS_TITLE, operation->no, what),
    };
    app_open(app, &view_events, &argument);
}

void
steering_open_reason(struct app *app, const struct operation *operation, enum item_state state,
                     const char *reason, const char *filter, const char *what)
{
    char *own = alloc_text(reason);
    struct events_argument argument = {
        .query = {.source = LIST_OPERATION,
                  .operation = operation->no,
                  .item_states = 1u << state,
                  .reason = own},
        .fixed = filter,
        .title = arena_printf(app_frame(app), MSG_EVENTS_OF_REASON, operation->no, what, reason),
    };
    app_open(app, &view_events, &argument);
    free(own);
}

static void
open_failed(struct app *app, struct steering *steering, const struct operation *operation)
{
    (void)steering;
    if (operation->refused + operation->skipped + operation->in_doubt == 0)
        app_say(app, SAY_INFO, MSG_NO_FAILED, operation->no);
    else
        steering_open_events(app, operation, 1u << ITEM_REFUSED | 1u << ITEM_SKIPPED | 1u << ITEM_IN_DOUBT,
                             "failed");
}

static const struct steering_action {
    enum action action;
    void (*run)(struct app *app, struct steering *steering, const struct operation *operation);
} steering_actions[] = {
    {DO_OPERATION_PAUSE, pause_or_resume},
    {DO_OPERATION_CANCEL, ask_cancel},
    {DO_OPERATION_APPROVE, ask_approve},
    {DO_RATE_UP, raise_rate},
    {DO_RATE_DOWN, lower_rate},
    {DO_RATE, ask_rate},
    {DO_FAILED_ONLY, open_failed},
    {DO_UNDO, undo},
    {DO_RESTORE, undo},
};

static const struct steering_action *
find_steering(enum action action)
{
    for (size_t i = 0; i < sizeof steering_actions / sizeof *steering_actions; i++)
        if (steering_actions[i].action == action)
            return &steering_actions[i];
    return NULL;
}

bool
steering_handles(enum action action)
{
    return find_steering(action);
}

void
steering_handle(struct app *app, struct steering *steering, const struct operation *operation,
                enum action action)
{
    if (operation)
        find_steering(action)->run(app, steering, operation);
    else
        app_say(app, SAY_INFO, MSG_NO_OPERATION);
}

bool
steering_stop(struct app *app, void *state, enum action action)
{
    (void)action;
    return decide_cancel(app, &((struct steering *)state)->decide);
}

bool
steering_refuses(enum action action)
{
    return action == DO_REPROCESS || action == DO_RESOLVE || action == DO_DISCARD;
}

const char steering_why_not[] = MSG_DECIDE_ON_EVENTS;

bool
steering_receive(struct app *app, struct steering *steering, struct reply *reply)
{
    if (decide_receive(app, &steering->decide, reply) || stop_receive(app, steering, reply))
        return true;
    if (reply->number && reply->kind == REPLY_STEERED) {
        if (reply->news.sentence) // a rate was told when it was asked for
            app_say(app, SAY_OK, "%s", reply->news.sentence);
        if (steering->undone && reply->news.operation == steering->undone) {
            steering->undone = 0;
            decide_undo_operation(app, &steering->decide, reply->news.operation, ACTION_CORRECT);
        }
        return true;
    }
    if (!reply->number || reply->kind != REPLY_ERROR)
        return false;
    int64_t undone = steering->undone;
    steering->rated = 0; // steps begin at the true rate again
    steering->undone = 0;
    if (!undone || reply->err.kind != ERR_CONFLICT)
        return false;
    // It had ended before it could be stopped.
    decide_undo_operation(app, &steering->decide, undone, ACTION_CORRECT);
    return true;
}

void
steering_seen(struct app *app, struct steering *steering, const struct operation *operation)
{
    // It goes on being carried out while the question is read.
    if (steering->cancelling && steering->no == operation->no)
        describe_cancel(app, steering, operation);
    if (steering->rated == operation->no && steering->rate == operation->rate)
        steering->rated = 0;
}

void
steering_release(struct steering *steering)
{
    decide_release(&steering->decide);
}
