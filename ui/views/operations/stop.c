#include "ui/views/operations/stop.h"

#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/views/operations/row.h"
#include "ui/views/operations/texts.h"

enum { FIELD_REASON };
#define COUNTS_FRESH (600 * US_PER_SECOND)

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct steering *steering = state;
    struct bytes reason = dialog_value(dialog, FIELD_REASON);
    struct request *request = request_create(REQUEST_AS_COPY);
    request->steering.stop = steering->stop.seen;
    request->reason = strndup(reason.data, reason.len);
    steering->stop.dialog = NULL;
    app_send(app, request);
}

static void
cancelled(struct app *app, void *state)
{
    ((struct steering *)state)->stop.dialog = NULL;
    app_say(app, SAY_INFO, MSG_DOUBT_CANCELLED);
}

static void
adopted(struct app *app, void *state, const struct dialog *dialog)
{
    struct steering *steering = state;
    struct bytes reason = dialog_value(dialog, FIELD_REASON);
    struct request *request = request_create(REQUEST_ADOPT);
    request->steering.stop = steering->stop.seen;
    request->reason = strndup(reason.data, reason.len);
    steering->stop.dialog = NULL;
    app_send(app, request);
}

static void
ask_true(struct app *app, struct stop_question *question)
{
    question->is_true = true;
    question->dialog = app_dialog(app, &(struct dialog_request){
                                           .title = MSG_ADOPT_TITLE,
                                           .confirm = "Take the history over",
                                           .is_danger = true,
                                           .typed_word = "true",
                                           .fields = {{.label = "reason",
                                                       .option = "--reason",
                                                       .hint = MSG_ADOPT_REASON_HINT,
                                                       .is_required = true}},
                                           .field_count = 1,
                                           .command = "redrive migrate --adopt --yes",
                                           .confirmed = adopted,
                                           .cancelled = cancelled,
                                       });
    dialog_line(question->dialog, ROLE_DIM, MSG_ADOPT_COUNTING);
}

static void
ask_copy(struct app *app, struct stop_question *question)
{
    question->dialog = app_dialog(app, &(struct dialog_request){
                                           .title = MSG_STOPPED_TITLE,
                                           .confirm = "Make it a copy",
                                           .is_danger = true,
                                           .typed_word = "copy",
                                           .fields = {{.label = "reason",
                                                       .option = "--reason",
                                                       .hint = MSG_STOP_REASON_HINT,
                                                       .is_required = true}},
                                           .field_count = 1,
                                           .command = "redrive migrate --as-copy --yes",
                                           .confirmed = confirmed,
                                           .cancelled = cancelled,
                                       });
    dialog_line(question->dialog, ROLE_DIM, MSG_STOP_CHECKING);
}

static void
chosen(struct app *app, void *state, size_t index)
{
    struct stop_question *question = &((struct steering *)state)->stop;
    *question = (struct stop_question){0};
    (index == 0 ? ask_true : ask_copy)(app, question);
    dialog_set_waiting(question->dialog, true);
    question->number = app_send(app, request_create(REQUEST_STOP));
}

bool
stop_ask(struct app *app, void *state, enum action action)
{
    (void)action;
    (void)state;
    const char *why_not = NULL;
    static const struct menu_item items[] = {{.text = MSG_STOP_TRUE, .key = 't'},
                                             {.text = MSG_STOP_COPY, .key = 'c'}};
    if (!app_status(app)->stop[0])
        app_say(app, SAY_INFO, MSG_NOT_STOPPED);
    else if (!app_can_change(app, &why_not))
        app_say(app, SAY_WARN, "%s", why_not);
    else
        app_menu(app, &(struct menu_request){
                          .title = MSG_STOP_CHOICE, .items = items, .count = 2, .chosen = chosen});
    return true;
}

static void
describe_counts(struct dialog *dialog, const struct history_counts *counts)
{
    char some[TEXT_SHORT], events[TEXT_SHORT];
    dialog_line(dialog, ROLE_DIALOG, MSG_STOP_CANCELS, text_count(counts->operations, some),
                counts->operations == 1 ? "" : "s", text_count(counts->queued, events),
                counts->queued == 1 ? "" : "s");
    dialog_line(dialog, ROLE_DIALOG, MSG_STOP_DOUBTS, text_count(counts->chunks, some),
                counts->chunks == 1 ? "" : "s", text_count(counts->in_flight, events),
                counts->in_flight == 1 ? "" : "s");
}

static void
describe_stop(struct app *app, struct dialog *dialog, const struct stop *stop)
{
    dialog_clear(dialog);
    if (stop->since == TIME_ABSENT)
        dialog_line(dialog, ROLE_STRONG, MSG_STOP_FOUND, stop->detail);
    else
        dialog_line(dialog, ROLE_STRONG, MSG_STOP_SINCE,
                    operation_moment(stop->since, app_now(app), app_frame(app)), stop->detail);
}

static void
describe_copy(struct app *app, struct dialog *dialog, const struct stop *stop)
{
    describe_stop(app, dialog, stop);
    dialog_line(dialog, ROLE_DIALOG, MSG_STOP_COPY);
    if (!stop->denied[0])
        describe_counts(dialog, &stop->counts);
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_STOP_RISK);
}

static void
describe_true(struct app *app, struct dialog *dialog, const struct stop *stop)
{
    const struct adopting *adopting = &stop->adopting;
    char some[TEXT_SHORT], records[TEXT_SHORT];
    describe_stop(app, dialog, stop);
    if (adopting->state != ADOPTING_COUNTED)
        return;
    dialog_line(dialog, ROLE_DIALOG, MSG_ADOPT_COUNTED, text_count(adopting->chunks, some),
                adopting->chunks == 1 ? "" : "s", text_count(adopting->records, records));
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_ADOPT_CLOSES, text_count(adopting->sent, some),
                adopting->sent == 1 ? "" : "s");
    dialog_line(dialog, ROLE_DIALOG, MSG_ADOPT_OTHERS);
    if (adopting->why[0])
        dialog_line(dialog, ROLE_DIALOG_DANGER, "%s", adopting->why);
}

// Counts that somebody else asked for are as good, unless they are old. True: a worker is asked now.
static bool
ask_worker(struct app *app, struct stop_question *question, const struct stop *stop)
{
    const struct adopting *adopting = &stop->adopting;
    bool is_fresh = adopting->at != TIME_ABSENT && app_now(app) - adopting->at < COUNTS_FRESH;
    bool is_under_way = adopting->state == ADOPTING_ASKED || adopting->state == ADOPTING_COUNTED;
    if (question->has_asked || stop->denied[0] || adopting->state == ADOPTING_CONFIRMED ||
        (is_under_way && is_fresh))
        return false;
    question->has_asked = true;
    question->number = app_send(app, request_create(REQUEST_ADOPT_COUNT));
    return true;
}

// Why the counts cannot be confirmed; NULL: they can.
static const char *
why_not_true(struct app *app, const struct stop *stop)
{
    switch (stop->adopting.state) {
    case ADOPTING_COUNTED:
        return NULL;
    case ADOPTING_CONFIRMED:
        return MSG_ADOPT_CONFIRMED;
    case ADOPTING_FAILED:
        return arena_printf(app_frame(app), MSG_ADOPT_FAILED, stop->adopting.why);
    case ADOPTING_NONE:
    case ADOPTING_ASKED:
    case ADOPTING_DONE:
        break;
    }
    return stop->has_worker ? MSG_ADOPT_STILL : MSG_ADOPT_NO_WORKER;
}

bool
stop_receive(struct app *app, struct steering *steering, struct reply *reply)
{
    struct stop_question *question = &steering->stop;
    if (!reply->number || reply->number != question->number)
        return false;
    question->number = 0;
    if (!question->dialog)
        return true;
    dialog_set_waiting(question->dialog, false);
    if (reply->kind != REPLY_STOP) {
        dialog_refuse(question->dialog, reply->err.text);
        return true;
    }
    const struct stop *stop = reply->stop;
    if (!stop->detail[0]) {
        dialog_refuse(question->dialog, MSG_NOT_STOPPED);
        return true;
    }
    question->seen =
        (struct stop_seen){.since = stop->since, .counts = stop->counts, .adopting = stop->adopting};
    if (question->is_true && ask_worker(app, question, stop)) {
        dialog_set_waiting(question->dialog, true);
        return true;
    }
    (question->is_true ? describe_true : describe_copy)(app, question->dialog, stop);
    if (stop->denied[0])
        dialog_refuse(question->dialog, stop->denied);
    else if (question->is_true)
        dialog_refuse(question->dialog, why_not_true(app, stop));
    return true;
}
