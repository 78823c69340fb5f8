#include "ui/views/operations/doubt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "ui/views/operations/row.h"
#include "ui/views/operations/texts.h"

enum { FIELD_VERDICT, FIELD_CHUNK_REASON, FIELD_SLOT_REASON = 0 };

static const char *
evidence_of(const struct doubt *doubt)
{
    return doubt->evidence ? doubt->evidence : MSG_DOUBT_NO_EVIDENCE;
}

const char *
doubt_summary(const struct doubt *doubts, size_t count, struct arena *arena)
{
    size_t chunks = 0;
    for (size_t i = 0; i < count; i++)
        chunks += doubts[i].chunk != NULL;
    size_t slots = count - chunks;
    const char *of_chunks =
        chunks ? arena_printf(arena, MSG_CHUNKS_IN_DOUBT, chunks, chunks == 1 ? "" : "s") : "";
    const char *of_slots =
        slots ? arena_printf(arena, MSG_SLOTS_SUSPENDED, slots, slots == 1 ? "" : "s") : "";
    return arena_printf(arena, "%s%s%s", of_chunks, chunks && slots ? ", " : "", of_slots);
}

static bool
check_verdict(struct bytes text, struct err *err)
{
    return bytes_equal_text(text, "published") || bytes_equal_text(text, "again") ||
           err_set(err, ERR_USAGE, MSG_VERDICT_WRONG);
}

static void
verdict_as_word(struct bytes text, struct strbuf *command)
{
    strbuf_add_char(command, ' ');
    text_shell(command, text);
}

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct steering *steering = state;
    bool is_slot = steering->verdict.chunk[0] == '\0';
    struct bytes reason = dialog_value(dialog, is_slot ? FIELD_SLOT_REASON : FIELD_CHUNK_REASON);
    struct request *request = request_create(REQUEST_DECIDE);
    request->operation = steering->no;
    request->steering.verdict = steering->verdict;
    request->steering.verdict.is_published =
        !is_slot && bytes_equal_text(dialog_value(dialog, FIELD_VERDICT), "published");
    request->reason = strndup(reason.data, reason.len);
    app_send(app, request);
}

static void
cancelled(struct app *app, void *state)
{
    (void)state;
    app_say(app, SAY_INFO, MSG_DOUBT_CANCELLED);
}

static struct dialog *
open_for_chunk(struct app *app, const struct doubt *doubt)
{
    struct arena *arena = app_frame(app);
    char events[TEXT_SHORT];
    struct dialog *dialog =
        app_dialog(app, &(struct dialog_request){
                            .title = "Decide a chunk in doubt",
                            .confirm = "Decide",
                            .is_danger = true,
                            .typed_count = app_typed_count(app, doubt->events),
                            .fields = {{.label = "verdict",
                                        .hint = "published or again",
                                        .is_required = true,
                                        .as_options = verdict_as_word,
                                        .check = check_verdict},
                                       {.label = "reason",
                                        .option = "--reason",
                                        .hint = MSG_VERDICT_REASON_HINT,
                                        .is_required = true}},
                            .field_count = 2,
                            .command = arena_printf(arena, "redrive operation %" PRId64 " decide %.*s",
                                                    doubt->operation, DOUBT_CHUNK_SHOWN, doubt->chunk),
                            .confirmed = confirmed,
                            .cancelled = cancelled,
                        });
    dialog_line(dialog, ROLE_STRONG, MSG_DOUBT_CHUNK, text_count(doubt->events, events),
                doubt->events == 1 ? "" : "s", doubt->operation, doubt->first_event, doubt->last_event,
                operation_moment(doubt->created_at, app_now(app), arena));
    dialog_line(dialog, ROLE_DIALOG, "%s", evidence_of(doubt));
    if (doubt->is_searched)
        dialog_line(dialog, ROLE_DIALOG, MSG_DOUBT_SEARCHING);
    dialog_line(dialog, ROLE_DIALOG, MSG_DOUBT_LOOK);
    dialog_line(dialog, ROLE_STRONG, "redrive-chunk-id: %s", doubt->chunk);
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_DOUBT_PUBLISHED);
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_DOUBT_AGAIN);
    return dialog;
}

static struct dialog *
open_for_slot(struct app *app, const struct doubt *doubt)
{
    struct dialog *dialog =
        app_dialog(app, &(struct dialog_request){
                            .title = MSG_SLOT_TITLE,
                            .confirm = "Release",
                            .is_danger = true,
                            .typed_word = app_config(app)->decision.is_protected ? "release" : NULL,
                            .fields = {{.label = "reason", .hint = "why it is safe", .is_required = true}},
                            .field_count = 1,
                            .confirmed = confirmed,
                            .cancelled = cancelled,
                        });
    dialog_line(dialog, ROLE_STRONG, MSG_SLOT, (int)doubt->slot, doubt->cluster);
    dialog_line(dialog, ROLE_DIALOG, "%s", evidence_of(doubt));
    dialog_line(dialog, ROLE_DIALOG, MSG_SLOT_EFFECT);
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_SLOT_RISK);
    return dialog;
}

void
doubt_ask(struct app *app, struct steering *steering, const struct doubt *doubt)
{
    const char *why_not = NULL;
    if (!doubt) {
        app_say(app, SAY_INFO, MSG_NOTHING_IN_DOUBT);
        return;
    }
    if (!app_can_change(app, &why_not)) {
        app_say(app, SAY_WARN, "%s", why_not);
        return;
    }
    steering->no = doubt->operation;
    steering->verdict = (struct doubt_verdict){.slot = doubt->slot};
    snprintf(steering->verdict.cluster, sizeof steering->verdict.cluster, "%s", doubt->cluster);
    if (doubt->chunk)
        snprintf(steering->verdict.chunk, sizeof steering->verdict.chunk, "%s", doubt->chunk);
    struct dialog *dialog = doubt->chunk ? open_for_chunk(app, doubt) : open_for_slot(app, doubt);
    dialog_refuse(dialog, doubt->denied);
}
