// Saving: the differences, the reason, what to do afterwards, the request; and what if somebody was faster.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/json/json.h"
#include "ui/views/decide/fields.h"
#include "ui/views/editor/changes.h"
#include "ui/views/editor/texts.h"

enum { FIELD_REASON, FIELD_FORCE }; // FIELD_FORCE only where the check has refused it
enum afterwards { SAVE_ONLY, SAVE_AND_REPROCESS, SAVE_AND_RECIPE, SAVE_AND_FILTERED_RECIPE };

// What the revision that is edited replaces; NULL: it is not known (yet).
static const struct correction *
parts_of_parent(const struct editing *editing)
{
    static const struct correction original;
    for (size_t i = 0; i < editing->detail.revision_count; i++)
        if (editing->detail.revisions[i].no == editing->parent)
            return &editing->detail.revisions[i].parts;
    return editing->parent ? NULL : &original;
}

struct correction
editing_correction_copy(const struct correction *from, struct arena *arena)
{
    struct correction copy = *from;
    copy.payload = arena_copy(arena, from->payload);
    copy.key = arena_copy(arena, from->key);
    copy.topic = arena_copy(arena, from->topic);
    copy.headers = arena_array(arena, from->header_count + 1, sizeof *copy.headers);
    for (uint32_t i = 0; i < from->header_count; i++)
        copy.headers[i] = (struct event_header){.name = arena_copy(arena, from->headers[i].name),
                                                .value = arena_copy(arena, from->headers[i].value)};
    return copy;
}

// The revision that these texts are: what its parent replaces, and the sections that differ. false: a section
// is not as it must be; *wrong tells which.
static bool
make_correction(const struct editing *editing, struct arena *arena, struct correction *correction,
                enum section *wrong, struct err *err)
{
    const struct correction *parent = parts_of_parent(editing);
    *wrong = editing->section;
    if (!parent)
        return err_set(err, ERR_CONFLICT, "revision %" PRId32 " is still being loaded; save again",
                       editing->parent);
    *correction = editing_correction_copy(parent, arena);
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (!editing_is_modified(editing, (enum section)i))
            continue;
        *wrong = (enum section)i;
        if (i == SECTION_HEADERS)
            correction->header_count = 0;
        if (!section_parse((enum section)i, editing_text(editing, (enum section)i), arena, correction, err))
            return false;
    }
    return true;
}

// --- the differences

static void
open_changes(struct app *app, struct editing *editing, const struct bytes befores[SECTION_COUNT],
             const char *before_name, void (*accepted)(struct app *app, void *state))
{
    struct changes_argument argument = {.before_name = before_name,
                                        .after_name = "yours",
                                        .shape = editing->hints.shape,
                                        .accepted = accepted,
                                        .state = editing};
    for (int i = 0; i < SECTION_COUNT; i++) {
        struct bytes before = befores[i];
        struct bytes after = editing_text(editing, (enum section)i);
        if (bytes_equal(before, after))
            continue;
        argument.parts[argument.count].section = (enum section)i;
        argument.parts[argument.count].before = before;
        argument.parts[argument.count++].after = after;
    }
    app_open(app, &view_changes, &argument);
}

static void
changes_accepted(struct app *app, void *state)
{
    editing_ask_save(app, state);
}

static void
show_changes(struct app *app, struct editing *editing)
{
    struct bytes befores[SECTION_COUNT];
    for (int i = 0; i < SECTION_COUNT; i++)
        befores[i] = editing_origin(editing, (enum section)i);
    open_changes(app, editing, befores,
                 editing->parent ? arena_printf(app_frame(app), "revision %" PRId32, editing->parent)
                                 : "the original",
                 changes_accepted);
}

static void
not_json_chosen(struct app *app, void *state, size_t index)
{
    if (index == 1)
        show_changes(app, state);
}

// JSON that is none any more is not thrown away; it is asked about.
static bool
is_broken(struct editing *editing, struct json_fault *fault)
{
    struct editor *editor = editing->texts[SECTION_PAYLOAD].editor;
    return editing_is_modified(editing, SECTION_PAYLOAD) && editor_is_json(editor) &&
           json_find_fault(editor_text(editor), fault);
}

static void
begin_save(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 'k', .text = "keep editing", .is_current = true},
        {.key = 's', .text = "save it as it is"},
    };
    struct err err = {0};
    struct json_fault fault;
    struct arena arena = {0};
    struct correction correction;
    enum section wrong;
    if (!parts_of_parent(editing))
        editing_ask(app, editing);
    if (!make_correction(editing, &arena, &correction, &wrong, &err)) {
        editing_show(editing, wrong);
        app_say(app, SAY_ERROR, MSG_SECTION_WRONG, section_name(wrong), err.text);
    } else if (is_broken(editing, &fault)) {
        app_say(app, SAY_WARN, MSG_NO_JSON_TITLE, fault.line, fault.column, fault.expected);
        app_menu(app, &(struct menu_request){.title = "The payload is not JSON any more",
                                             .items = items,
                                             .count = 2,
                                             .chosen = not_json_chosen});
    } else {
        show_changes(app, editing);
    }
    arena_release(&arena);
}

// Is there something to save, and may it be? Says why not.
static bool
can_save(struct app *app, struct editing *editing)
{
    const char *why_not;
    if (!editing_may_edit(app, editing))
        return false;
    if (editing->save.checking)
        app_say(app, SAY_INFO, MSG_SAVE_CHECKING, editing->id);
    if (editing->save.checking || editing->save.state != SAVING_NOT)
        return false;
    if (!editing_is_dirty(editing)) {
        app_say(app, SAY_INFO, MSG_NO_CHANGES);
        return false;
    }
    if (app_can_change(app, &why_not))
        return true;
    app_say(app, SAY_WARN, "%s", why_not);
    return false;
}

bool
editing_save(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    editing->save.closes = false;
    if (editing_is_embedded(editing))
        editing_put_back(app, editing);
    else if (can_save(app, editing))
        begin_save(app, editing);
    return true;
}

void
editing_save_and_close(struct app *app, struct editing *editing)
{
    if (!editing_is_dirty(editing)) {
        editing_leave(app, editing);
        return;
    }
    editing->save.closes = true;
    if (can_save(app, editing))
        begin_save(app, editing);
}

// --- what to do afterwards, and the reason

static void
cancelled(struct app *app, void *state)
{
    (void)state;
    app_say(app, SAY_INFO, MSG_SAVE_CANCELLED);
}

struct dialog *
editing_ask_reason(struct app *app, const struct reason_asked *asked)
{
    struct dialog_request request = {
        .title = asked->title,
        .confirm = "Save",
        .typed_count = app_typed_count(app, 1),
        .fields = {[FIELD_REASON] = {.label = "reason",
                                     .value = asked->reason,
                                     .hint = MSG_SAVE_REASON_HINT,
                                     .is_required = app_config(app)->decision.reason_required},
                   [FIELD_FORCE] = {.label = "force", .hint = MSG_SAVE_FORCE_HINT, .is_required = true}},
        .field_count = asked->refusal ? FIELD_FORCE + 1 : FIELD_REASON + 1,
        .confirmed = asked->confirmed,
        .cancelled = cancelled,
    };
    struct dialog *dialog = app_dialog(app, &request);
    if (asked->refusal)
        dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_SAVE_REFUSED_LINE, asked->refusal);
    return dialog;
}

void
editing_take_reason(struct editing *editing, const struct dialog *dialog, struct request *request)
{
    struct strbuf *reason = &editing->save.reason;
    strbuf_reset(reason);
    strbuf_add(reason, dialog_value(dialog, FIELD_REASON));
    if (reason->len)
        request->reason = alloc_text(strbuf_text(reason));
    if (dialog_request(dialog)->field_count <= FIELD_FORCE)
        return;
    decide_fields_force(request, dialog_value(dialog, FIELD_FORCE));
    request->correct.is_forced = true;
}

static void
send_correction(struct app *app, struct editing *editing, const struct dialog *dialog)
{
    struct editing_save *save = &editing->save;
    struct request *request = request_create(REQUEST_CORRECT);
    struct err err = {0};
    enum section wrong;
    request->id = editing->id;
    request->correct.parent = editing->parent;
    editing_take_reason(editing, dialog, request);
    if (!make_correction(editing, &request->correct.arena, &request->correct.parts, &wrong, &err)) {
        app_say_err(app, &err);
        request_destroy(request);
        return;
    }
    if (save->makes_recipe && !editing_recipe_make(app, editing, &request->correct.parts)) {
        save->makes_recipe = false;
        request_destroy(request);
        return;
    }
    for (int i = 0; i < SECTION_COUNT; i++) {
        strbuf_reset(&save->sent[i]);
        strbuf_add(&save->sent[i], editing_text(editing, (enum section)i));
    }
    save->version = editing_version(editing);
    save->state = SAVING_ASKED;
    save->number = app_send(app, request);
    app_say(app, SAY_INFO, MSG_SAVING);
}

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    send_correction(app, state, dialog);
}

static void
ask_reason(struct app *app, const struct editing *editing, const char *refusal)
{
    const struct editing_save *save = &editing->save;
    struct dialog *dialog =
        editing_ask_reason(app, &(struct reason_asked){.title = "Save the correction",
                                                       .reason = strbuf_text(&save->reason),
                                                       .refusal = refusal,
                                                       .confirmed = confirmed});
    dialog_line(dialog, ROLE_STRONG, MSG_SAVE_WHAT, editing->parent + 1, editing->id);
    dialog_line(dialog, ROLE_DIALOG, "%s",
                save->reprocesses    ? MSG_SAVE_THEN_REPROCESS
                : save->makes_recipe ? MSG_SAVE_THEN_RECIPE
                                     : MSG_SAVE_ONLY);
}

static void
afterwards_chosen(struct app *app, void *state, size_t index)
{
    struct editing *editing = state;
    editing->save.makes_recipe = index == SAVE_AND_RECIPE || index == SAVE_AND_FILTERED_RECIPE;
    editing->save.keeps_filter = index == SAVE_AND_FILTERED_RECIPE;
    editing->save.reprocesses = index == SAVE_AND_REPROCESS;
    ask_reason(app, editing, NULL);
}

void
editing_ask_save(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 's', .text = "save", .is_current = true},
        {.key = 'r', .text = "save and reprocess"},
        {.key = 'm', .text = "save and make a recipe of it"},
        {.key = 'f', .text = "save and make a recipe for what the filter shows"},
    };
    (void)editing;
    app_menu(app, &(struct menu_request){.title = "Save the correction",
                                         .items = items,
                                         .count = *app_list_filter(app) ? 4 : 3,
                                         .chosen = afterwards_chosen});
}

// --- the answer

static void
saved(struct app *app, struct editing *editing, int32_t no)
{
    struct editing_save *save = &editing->save;
    bool is_as_sent = save->version == editing_version(editing);
    save->state = SAVING_NOT;
    save->has_theirs = false;
    editing->parent = no;
    for (int i = 0; i < SECTION_COUNT; i++) {
        editing_set_origin(editing, (enum section)i, strbuf_bytes(&save->sent[i]));
        strbuf_release(&save->sent[i]);
        if (is_as_sent)
            editor_set_saved(editing->texts[i].editor);
    }
    strbuf_reset(&save->reason);
    editing_draft_remove(app, editing);
    app_say(app, SAY_OK, MSG_SAVED, no, editing->id);
    editing_ask(app, editing);
    if (save->reprocesses) {
        save->reprocesses = false;
        struct decide_words words = {.what = arena_printf(app_frame(app), "id %" PRId64, editing->id)};
        decide_ids(app, &editing->decide, ACTION_REPROCESS, &editing->id, 1, &words);
    } else if (save->makes_recipe) {
        save->makes_recipe = false;
        editing_recipe_open(app, editing);
    } else if (save->closes && is_as_sent) {
        app_back(app);
    }
}

static void
rebase(struct app *app, struct editing *editing)
{
    struct editing_save *save = &editing->save;
    struct strbuf text = {0};
    bool is_closed = save->theirs.event.status != EVENT_PENDING;
    for (int i = 0; i < SECTION_COUNT; i++) {
        bool is_mine = editing_is_modified(editing, (enum section)i);
        strbuf_reset(&text);
        section_print((enum section)i, &save->theirs, &text);
        editing_set_origin(editing, (enum section)i, strbuf_bytes(&text));
        if (is_mine)
            continue;
        editor_load(editing->texts[i].editor, strbuf_bytes(&text), editor_is_json(editing->texts[i].editor));
        editor_set_saved(editing->texts[i].editor);
    }
    strbuf_release(&text);
    editing_set_detail(editing, &save->arena, &save->theirs);
    editing->parent = editing_newest(&editing->detail);
    if (is_closed)
        app_say(app, SAY_INFO, MSG_KEPT_EDITING);
    else
        app_say(app, SAY_INFO, MSG_REBASED, editing->parent);
}

static void
conflict_chosen(struct app *app, void *state, size_t index)
{
    struct editing *editing = state;
    struct editing_save *save = &editing->save;
    if (index == 0) {
        struct strbuf texts[SECTION_COUNT] = {{0}};
        struct bytes befores[SECTION_COUNT];
        for (int i = 0; i < SECTION_COUNT; i++) {
            section_print((enum section)i, &save->theirs, &texts[i]);
            befores[i] = strbuf_bytes(&texts[i]);
        }
        open_changes(app, editing, befores, "theirs", NULL);
        for (int i = 0; i < SECTION_COUNT; i++)
            strbuf_release(&texts[i]);
        return; // asked again when the differences are closed
    }
    save->has_theirs = false;
    if (index == 1) {
        rebase(app, editing);
    } else if (index == 2) {
        editing_draft_put_aside(app, editing);
        editing_take(app, editing, &save->arena, &save->theirs);
        app_say(app, SAY_WARN, MSG_RELOADED, editing->parent);
    } else {
        app_say(app, SAY_WARN, MSG_KEPT_EDITING);
    }
    arena_release(&save->arena);
}

void
editing_ask_conflict(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 'l', .text = "look at both versions"},
        {.key = 'k', .text = "keep editing on top of theirs"},
        {.key = 'r', .text = "reload theirs, keep mine as a draft"},
        {.key = 'c', .text = "cancel: nothing changes here", .is_current = true},
    };
    const struct event_detail *theirs = &editing->save.theirs;
    const char *title = MSG_CONFLICT_OTHER;
    if (theirs->event.status != EVENT_PENDING)
        title = arena_printf(app_frame(app), MSG_CONFLICT_CLOSED, event_status_name(theirs->event.status));
    else if (editing_newest(theirs) > editing->parent)
        title = arena_printf(app_frame(app), MSG_CONFLICT_CORRECTED, theirs->revisions[0].no,
                             theirs->revisions[0].author);
    else if (theirs->event.known.operation)
        title = arena_printf(app_frame(app), MSG_CONFLICT_BUSY, theirs->event.known.operation);
    app_menu(app,
             &(struct menu_request){.title = title, .items = items, .count = 4, .chosen = conflict_chosen});
}

// Was the answer to this very save lost, and it is there?
static bool
is_mine(const struct editing *editing)
{
    struct arena arena = {0};
    struct correction mine;
    enum section wrong;
    const struct event_detail *theirs = &editing->save.theirs;
    bool is_same =
        editing_newest(theirs) == editing->parent + 1 && editing->save.version == editing_version(editing) &&
        make_correction(editing, &arena, &mine, &wrong, NULL) &&
        correction_equals(&mine, &theirs->revisions[0].parts) && theirs->event.status == EVENT_PENDING;
    arena_release(&arena);
    return is_same;
}

static void
take_theirs(struct app *app, struct editing *editing, struct reply *reply)
{
    struct editing_save *save = &editing->save;
    save->state = SAVING_NOT;
    if (reply->kind != REPLY_EVENT) {
        app_say_err(app, &reply->err);
        return;
    }
    arena_release(&save->arena);
    arena_adopt(&save->arena, &reply->arena);
    save->theirs = reply->detail;
    if (is_mine(editing)) {
        saved(app, editing, editing_newest(&save->theirs));
        return;
    }
    save->has_theirs = true;
    app_say_err(app, &editing->err);
    editing_ask_conflict(app, editing);
}

// --- the check

void
editing_checking(struct app *app, struct editing *editing, uint64_t number)
{
    editing->save.checking = number;
    app_say(app, SAY_INFO, MSG_SAVE_CHECKING, editing->id);
}

bool
editing_refused(struct app *app, struct editing *editing, const struct reply *reply)
{
    app_say(app, SAY_WARN, MSG_SAVE_REFUSED, reply->news.sentence);
    return app_is_at_rest(app) && app_is_on_top(app, editing);
}

bool
editing_save_cancel(struct app *app, struct editing *editing)
{
    if (!editing->save.checking)
        return false;
    app_cancel(app, editing->save.checking);
    return true;
}

// Whoever went on typing meanwhile is not interrupted: the refusal is not about the text that is here now.
static void
take_refusal(struct app *app, struct editing *editing, const struct reply *reply)
{
    struct editing_save *save = &editing->save;
    save->state = SAVING_NOT;
    if (editing_refused(app, editing, reply) && save->version == editing_version(editing))
        ask_reason(app, editing, reply->news.sentence);
}

bool
editing_save_receive(struct app *app, struct editing *editing, struct reply *reply)
{
    struct editing_save *save = &editing->save;
    if (!reply->number)
        return false;
    if (reply->number == save->look_number && save->state == SAVING_REFUSED) {
        take_theirs(app, editing, reply);
        return true;
    }
    if (reply->number != save->number || save->state != SAVING_ASKED)
        return false;
    if (reply->kind == REPLY_CHECKING) {
        editing_checking(app, editing, reply->number);
        return true;
    }
    save->checking = 0;
    if (reply->kind == REPLY_CORRECTED) {
        saved(app, editing, reply->news.revision);
        return true;
    }
    if (reply->kind == REPLY_REFUSED) {
        take_refusal(app, editing, reply);
        return true;
    }
    save->reprocesses = save->closes = false;
    save->state = SAVING_NOT;
    if (reply->err.kind != ERR_CONFLICT) {
        app_say_err(app, &reply->err);
        return true;
    }
    editing->err = reply->err; // said together with the choices
    struct request *request = request_create(REQUEST_EVENT);
    request->id = editing->id;
    request->is_on = true;
    save->state = SAVING_REFUSED;
    save->look_number = app_send(app, request);
    return true;
}

void
editing_save_release(struct editing *editing)
{
    strbuf_release(&editing->save.recipe);
    strbuf_release(&editing->save.reason);
    for (int i = 0; i < SECTION_COUNT; i++)
        strbuf_release(&editing->save.sent[i]);
    arena_release(&editing->save.arena);
}
