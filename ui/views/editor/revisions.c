// The revisions of the event: any two side by side, and a revert, which is a new revision.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "ui/views/editor/changes.h"
#include "ui/views/editor/texts.h"

// What the revision replaces; of the original nothing.
static const struct correction *
parts_of(const struct editing *editing, int32_t no)
{
    static const struct correction original;
    for (size_t i = 0; i < editing->detail.revision_count; i++)
        if (editing->detail.revisions[i].no == no)
            return &editing->detail.revisions[i].parts;
    return &original;
}

static const char *
name_of(struct app *app, int32_t no)
{
    return no ? arena_printf(app_frame(app), MSG_REVISION_NAME, no) : MSG_ORIGINAL_NAME;
}

// --- the texts of a revision

// The payload that was received is not here where the newest revision has one of its own.
static bool
needs_original(const struct editing *editing, int32_t no)
{
    return !parts_of(editing, no)->has_payload && editing->detail.event.known.correction.has_payload;
}

// What stands here of the event is as of its newest revision: what that one replaces is taken back first.
static void
print_revision(struct app *app, const struct editing *editing, int32_t no, struct strbuf texts[SECTION_COUNT])
{
    const struct correction *parts = parts_of(editing, no);
    const struct correction *newest = &editing->detail.event.known.correction;
    struct event_detail detail = editing->detail;
    struct event *event = &detail.event;
    if (parts->has_payload)
        event->payload = parts->payload;
    else if (needs_original(editing, no))
        event->payload = editing->revisions.original;
    if (newest->has_key)
        detail.would_send.key = event->record.is_kept ? event_kept_key(event) : event->source_id;
    if (parts->has_topic || newest->has_topic)
        detail.would_send.topic = arena_text(app_frame(app), parts->has_topic ? parts->topic : event->topic);
    if (parts->has_partition || newest->has_partition)
        detail.would_send.partition = parts->has_partition ? parts->partition : -1;
    event->known.correction = *parts;
    for (int i = 0; i < SECTION_COUNT; i++)
        section_print((enum section)i, &detail, &texts[i]);
}

static void
add_part(struct changes_argument *argument, enum section section, struct bytes before, struct bytes after)
{
    if (bytes_equal(before, after))
        return;
    argument->parts[argument->count].section = section;
    argument->parts[argument->count].before = before;
    argument->parts[argument->count++].after = after;
}

// With `after` of -1: beside the text in the editor.
static void
show_two(struct app *app, struct editing *editing, int32_t before, int32_t after,
         void (*accepted)(struct app *app, void *state))
{
    struct strbuf befores[SECTION_COUNT] = {{0}}, afters[SECTION_COUNT] = {{0}};
    struct changes_argument argument = {.before_name = name_of(app, before),
                                        .after_name = after < 0 ? "yours" : name_of(app, after),
                                        .shape = editing->hints.shape,
                                        .accepted = accepted,
                                        .state = editing};
    print_revision(app, editing, before, befores);
    if (after >= 0)
        print_revision(app, editing, after, afters);
    for (int i = 0; i < SECTION_COUNT; i++)
        add_part(&argument, (enum section)i, strbuf_bytes(&befores[i]),
                 after < 0 ? editing_text(editing, (enum section)i) : strbuf_bytes(&afters[i]));
    if (argument.count)
        app_open(app, &view_changes, &argument);
    else
        app_say(app, SAY_INFO, MSG_REVISIONS_SAME);
    for (int i = 0; i < SECTION_COUNT; i++) {
        strbuf_release(&befores[i]);
        strbuf_release(&afters[i]);
    }
}

// --- reverting

static void
revert_confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct editing *editing = state;
    struct request *request = request_create(REQUEST_CORRECT);
    request->id = editing->id;
    request->correct.parent = editing->parent;
    request->correct.parts =
        editing_correction_copy(parts_of(editing, editing->revisions.chosen), &request->correct.arena);
    editing_take_reason(editing, dialog, request);
    editing->revisions.revert_number = app_send(app, request);
    app_say(app, SAY_INFO, MSG_SAVING);
}

static void
ask_revert(struct app *app, const struct editing *editing, const char *refusal)
{
    struct dialog *dialog = editing_ask_reason(
        app, &(struct reason_asked){.title = "Revert the correction",
                                    .reason = refusal ? strbuf_text(&editing->save.reason) : NULL,
                                    .refusal = refusal,
                                    .confirmed = revert_confirmed});
    dialog_line(dialog, ROLE_STRONG, MSG_REVERT_WHAT, editing->parent + 1, editing->id,
                name_of(app, editing->revisions.chosen));
    dialog_line(dialog, ROLE_DIALOG, MSG_REVERT_NOTE);
}

static void
revert_accepted(struct app *app, void *state)
{
    ask_revert(app, state, NULL);
}

static bool
may_revert(struct app *app, const struct editing *editing)
{
    const char *why_not = editing->read_only.event;
    if (why_not || !app_can_change(app, &why_not))
        app_say(app, SAY_WARN, "%s", why_not);
    else if (editing_is_dirty(editing) || editing->draft.is_offered)
        app_say(app, SAY_WARN, MSG_REVERT_UNSAVED);
    else
        return true;
    return false;
}

// --- choosing

static void
do_step(struct app *app, struct editing *editing)
{
    const struct editing_revisions *revisions = &editing->revisions;
    int32_t chosen = revisions->chosen, other = revisions->other;
    switch (revisions->step) {
    case STEP_BESIDE_TEXT:
        show_two(app, editing, chosen, -1, NULL);
        break;
    case STEP_BESIDE_OTHER:
        show_two(app, editing, chosen < other ? chosen : other, chosen < other ? other : chosen, NULL);
        break;
    case STEP_REVERT:
        if (may_revert(app, editing))
            show_two(app, editing, editing->parent, chosen, revert_accepted);
        break;
    }
}

static void
begin_step(struct app *app, struct editing *editing, enum revisions_step step)
{
    struct editing_revisions *revisions = &editing->revisions;
    revisions->step = step;
    if (!needs_original(editing, revisions->chosen) &&
        !(step == STEP_BESIDE_OTHER && needs_original(editing, revisions->other))) {
        do_step(app, editing);
        return;
    }
    struct request *request = request_create(REQUEST_ORIGINAL);
    request->id = editing->id;
    revisions->original_number = app_send(app, request);
}

// A menu of all but one of them, newest first.
static void
list(struct app *app, struct editing *editing, const char *title, int32_t but,
     void (*chosen)(struct app *app, void *state, size_t index))
{
    struct editing_revisions *revisions = &editing->revisions;
    const struct event_detail *detail = &editing->detail;
    struct menu_item *items = arena_array(app_frame(app), detail->revision_count + 1, sizeof *items);
    char at[TIME_TEXT];
    free(revisions->listed);
    revisions->listed = alloc_array(detail->revision_count + 1, sizeof *revisions->listed);
    revisions->count = 0;
    for (size_t i = 0; i <= detail->revision_count; i++) {
        const struct revision *revision = i < detail->revision_count ? &detail->revisions[i] : NULL;
        int32_t no = revision ? revision->no : 0;
        if (no == but)
            continue;
        items[revisions->count] = (struct menu_item){.key = no < 10 ? (uint32_t)('0' + no) : 0};
        items[revisions->count].text =
            revision ? arena_printf(app_frame(app), "%s by %s%s%s",
                                    time_brief(revision->at, app_now(app), at), revision->author,
                                    revision->reason ? ": " : "", revision->reason ? revision->reason : "")
                     : MSG_ORIGINAL_NAME;
        revisions->listed[revisions->count++] = no;
    }
    app_menu(app, &(struct menu_request){
                      .title = title, .items = items, .count = revisions->count, .chosen = chosen});
}

static void
other_chosen(struct app *app, void *state, size_t index)
{
    struct editing *editing = state;
    editing->revisions.other = editing->revisions.listed[index];
    begin_step(app, editing, STEP_BESIDE_OTHER);
}

static void
use_chosen(struct app *app, void *state, size_t index)
{
    struct editing *editing = state;
    int32_t chosen = editing->revisions.chosen;
    if (index == 1)
        list(app, editing, arena_printf(app_frame(app), "Compare %s with", name_of(app, chosen)), chosen,
             other_chosen);
    else
        begin_step(app, editing, index == 0 ? STEP_BESIDE_TEXT : STEP_REVERT);
}

static void
revision_chosen(struct app *app, void *state, size_t index)
{
    static const struct menu_item items[] = {
        {.key = 't', .text = "compare it with the text here", .is_current = true},
        {.key = 'o', .text = "compare it with another one"},
        {.key = 'r', .text = "revert to it, as a new revision"},
    };
    struct editing *editing = state;
    int32_t chosen = editing->revisions.listed[index];
    editing->revisions.chosen = chosen;
    app_menu(app, &(struct menu_request){.title = name_of(app, chosen),
                                         .items = items,
                                         .count = chosen == editing->parent ? 2 : 3,
                                         .chosen = use_chosen});
}

bool
editing_ask_revisions(struct app *app, void *state, enum action action)
{
    struct editing *editing = state;
    (void)action;
    if (editing->life != EDITING_OPEN)
        return true;
    if (editing_is_embedded(editing))
        app_say(app, SAY_WARN, MSG_EMBEDDED_FIRST);
    else if (!editing->detail.revision_count)
        app_say(app, SAY_INFO, MSG_NO_REVISIONS, editing->id);
    else
        list(app, editing, MSG_REVISIONS_TITLE, -1, revision_chosen);
    return true;
}

// --- answers

static void
take_original(struct app *app, struct editing *editing, const struct reply *reply)
{
    editing->revisions.original = reply->detail.event.payload;
    do_step(app, editing);
    editing->revisions.original = BYTES_ABSENT;
}

// The event as it is now, also where somebody was faster.
static void
take_reverted(struct app *app, struct editing *editing, const struct reply *reply)
{
    editing->save.checking = 0;
    if (reply->kind == REPLY_CORRECTED) {
        strbuf_reset(&editing->save.reason);
        app_say(app, SAY_OK, MSG_REVERTED, reply->news.revision, name_of(app, editing->revisions.chosen));
    } else {
        app_say_err(app, &reply->err);
    }
    struct request *request = request_create(REQUEST_EVENT);
    request->id = editing->id;
    request->is_on = true;
    editing->revisions.look_number = app_send(app, request);
}

bool
editing_revisions_receive(struct app *app, struct editing *editing, struct reply *reply)
{
    struct editing_revisions *revisions = &editing->revisions;
    if (!reply->number)
        return false;
    if (reply->number == revisions->revert_number && reply->kind == REPLY_CHECKING) {
        editing_checking(app, editing, reply->number);
    } else if (reply->number == revisions->revert_number && reply->kind == REPLY_REFUSED) {
        editing->save.checking = 0;
        if (editing_refused(app, editing, reply) && may_revert(app, editing))
            ask_revert(app, editing, reply->news.sentence);
    } else if (reply->number == revisions->revert_number) {
        take_reverted(app, editing, reply);
    } else if (reply->number != revisions->original_number && reply->number != revisions->look_number) {
        return false;
    } else if (reply->kind != REPLY_EVENT) {
        app_say_err(app, &reply->err);
    } else if (reply->number == revisions->original_number) {
        take_original(app, editing, reply);
    } else if (!editing_is_dirty(editing)) { // else the save tells that it has another parent
        editing_take(app, editing, &reply->arena, &reply->detail);
    }
    return true;
}

void
editing_revisions_release(struct editing *editing)
{
    free(editing->revisions.listed);
}
