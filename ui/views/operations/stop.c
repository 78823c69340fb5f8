#include "ui/views/operations/stop.h"

#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/views/operations/row.h"
#include "ui/views/operations/texts.h"

enum { FIELD_REASON };

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct steering *steering = state;
    struct bytes reason = dialog_value(dialog, FIELD_REASON);
    struct request *request = request_create(REQUEST_AS_COPY);
    request->stop = steering->stop.seen;
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

bool
stop_ask(struct app *app, void *state, enum action action)
{
    (void)action;
    struct steering *steering = state;
    const char *why_not = NULL;
    if (!app_status(app)->stop[0]) {
        app_say(app, SAY_INFO, MSG_NOT_STOPPED);
        return true;
    }
    if (!app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return true;
    }
    struct stop_question *question = &steering->stop;
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
    dialog_set_waiting(question->dialog, true);
    question->number = app_send(app, request_create(REQUEST_STOP));
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
describe(struct app *app, struct dialog *dialog, const struct stop *stop)
{
    dialog_clear(dialog);
    if (stop->since == TIME_ABSENT)
        dialog_line(dialog, ROLE_STRONG, MSG_STOP_FOUND, stop->detail);
    else
        dialog_line(dialog, ROLE_STRONG, MSG_STOP_SINCE,
                    operation_moment(stop->since, app_now(app), app_frame(app)), stop->detail);
    dialog_line(dialog, ROLE_DIALOG, MSG_STOP_TRUE);
    dialog_line(dialog, ROLE_STRONG, MSG_STOP_ADOPT);
    dialog_line(dialog, ROLE_DIALOG, MSG_STOP_COPY);
    if (!stop->denied[0])
        describe_counts(dialog, &stop->counts);
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_STOP_RISK);
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
    question->seen = (struct stop_seen){.since = stop->since, .counts = stop->counts};
    describe(app, question->dialog, stop);
    if (stop->denied[0])
        dialog_refuse(question->dialog, stop->denied);
    return true;
}
