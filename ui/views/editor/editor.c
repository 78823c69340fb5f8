// The view that corrects one event: its life, and the table of what it does.
#include "ui/views/editor/editor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/json/content.h"
#include "core/json/json.h"
#include "ui/views/editor/state.h"
#include "ui/views/editor/texts.h"

#define CHECK_PAUSE (150 * 1000) // µs without typing
#define WARN_PAUSE (400 * 1000)
#define CHECK_SLICE (256 << 10)

static const enum action footer[] = {DO_HEX,    DO_NEXT_NAMED, DO_SAVE,  DO_EDIT_OUTSIDE, DO_FORMAT,
                                     DO_SEARCH, DO_UNDO,       DO_CLOSE, DO_HELP,         DO_NONE};

const struct editing_text *
editing_shown_text(const struct editing *editing)
{
    return editing_is_embedded(editing) ? &editing->embedded.levels[editing->embedded.count - 1].text
                                        : &editing->texts[editing->section];
}

struct editor *
editing_editor(const struct editing *editing)
{
    return editing_shown_text(editing)->editor;
}

const char *
editing_why_not(const struct editing *editing)
{
    bool is_payload = editing->section == SECTION_PAYLOAD;
    if (editing->read_only.event)
        return editing->read_only.event;
    if (is_payload && editing->read_only.payload)
        return editing->read_only.payload;
    return editing_is_hex(editing) ? MSG_HEX_ONLY : NULL;
}

uint64_t
editing_version(const struct editing *editing)
{
    uint64_t version = editing->embedded.closed;
    for (int i = 0; i < SECTION_COUNT; i++)
        version += editor_version(editing->texts[i].editor);
    for (size_t i = 0; i < editing->embedded.count; i++)
        version += editor_version(editing->embedded.levels[i].text.editor);
    return version;
}

struct bytes
editing_text(const struct editing *editing, enum section section)
{
    return editor_text(editing->texts[section].editor);
}

struct bytes
editing_origin(const struct editing *editing, enum section section)
{
    const struct editing_origin *origin = &editing->origins[section];
    return bytes_present(origin->view) ? origin->view : strbuf_bytes(&origin->own);
}

void
editing_set_origin(struct editing *editing, enum section section, struct bytes text)
{
    struct editing_origin *origin = &editing->origins[section];
    strbuf_reset(&origin->own);
    strbuf_add(&origin->own, text);
    origin->view = BYTES_ABSENT;
}

void
editing_set_detail(struct editing *editing, struct arena *arena, const struct event_detail *detail)
{
    struct event_detail taken = *detail; // may lie in what is released
    struct arena memory = {0};
    for (int i = 0; i < SECTION_COUNT; i++)
        if (bytes_present(editing->origins[i].view))
            editing_set_origin(editing, (enum section)i, editing->origins[i].view);
    arena_adopt(&memory, arena);
    arena_release(&editing->arena);
    editing->arena = memory;
    editing->detail = taken;
}

// Undone to where it was, or typed back: then nothing is to be saved.
bool
editing_is_modified(const struct editing *editing, enum section section)
{
    return editor_is_modified(editing->texts[section].editor) &&
           !bytes_equal(editing_text(editing, section), editing_origin(editing, section));
}

bool
editing_is_dirty(const struct editing *editing)
{
    for (int i = 0; editing->life == EDITING_OPEN && i < SECTION_COUNT; i++)
        if (editing_is_modified(editing, (enum section)i))
            return true;
    return editing_embedded_is_modified(editing);
}

void
editing_show(struct editing *editing, enum section section)
{
    editing->section = section;
    editing->keys.is_marking = false;
    editing->find.is_running = false;
}

int32_t
editing_newest(const struct event_detail *detail)
{
    return detail->revision_count ? detail->revisions[0].no : 0;
}

// Does it begin as JSON does? Then it is edited as JSON, also where it is broken.
static bool
looks_like_json(struct bytes text)
{
    struct bytes trimmed = bytes_trim(text);
    return trimmed.len && (trimmed.data[0] == '{' || trimmed.data[0] == '[' || json_check(trimmed, NULL));
}

static const char *
why_read_only(const struct app *app, struct editing *editing)
{
    const struct event *event = &editing->detail.event;
    if (app_config(app)->is_read_only || app_status(app)->is_read_only)
        return app_config(app)->read_only_why ? app_config(app)->read_only_why : MSG_READ_ONLY_SESSION;
    if (event->status != EVENT_PENDING)
        return arena_printf(&editing->arena, MSG_READ_ONLY_CLOSED, event->id,
                            event_status_name(event->status));
    return NULL;
}

// Limits of the payload, and of what can be shown as text.
static const char *
why_payload_read_only(struct editing *editing)
{
    const struct event *event = &editing->detail.event;
    char here[TEXT_SHORT], all[TEXT_SHORT];
    struct err err = {0};
    struct content content;
    if (event->known.unreadable)
        return event->known.unreadable;
    if (event->payload_size > event->payload.len)
        return arena_printf(&editing->arena, MSG_READ_ONLY_CUT, text_size(event->payload.len, here),
                            text_size(event->payload_size, all));
    const struct decoded *decoded = &editing->detail.letter.decoded;
    if (bytes_present(decoded->json))
        return arena_printf(&editing->arena, MSG_READ_ONLY_DECODED, decoded->language, decoded->schema);
    if (!utf8_valid(event->payload)) {
        content_of(event->payload, &content);
        return arena_text(&editing->arena, bytes_of(content.why));
    }
    if (event->payload.len > JSON_BYTES)
        return arena_printf(&editing->arena, MSG_READ_ONLY_LONG, text_size(event->payload.len, here),
                            text_size(JSON_BYTES, all));
    if (looks_like_json(event->payload) && !json_fits(event->payload, &err))
        return arena_printf(&editing->arena, MSG_READ_ONLY_TOKENS, err.text);
    return NULL;
}

void
editing_take(struct app *app, struct editing *editing, struct arena *arena, const struct event_detail *detail)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        editing->origins[i].view = BYTES_ABSENT;
    editing_set_detail(editing, arena, detail);
    const struct event_detail *taken = &editing->detail;
    editing->parent = editing_newest(taken);
    editing->read_only.event = why_read_only(app, editing);
    editing->read_only.payload = why_payload_read_only(editing);
    editing_embedded_close(editing);
    for (int i = 0; i < SECTION_COUNT; i++) {
        struct editing_origin *origin = &editing->origins[i];
        strbuf_release(&origin->own);
        origin->view = i == SECTION_PAYLOAD ? editing->detail.event.payload : BYTES_ABSENT;
        if (i != SECTION_PAYLOAD)
            section_print((enum section)i, taken, &origin->own);
        struct bytes text = editing_origin(editing, (enum section)i);
        bool is_json = i != SECTION_PAYLOAD || looks_like_json(text);
        editor_load(editing->texts[i].editor, text, is_json);
        editor_set_saved(editing->texts[i].editor);
        editor_set_read_only(editing->texts[i].editor,
                             editing->read_only.event ||
                                 (i == SECTION_PAYLOAD && editing->read_only.payload));
        editing->texts[i].top = editing->texts[i].left = 0;
    }
    editing_hex_begin(editing);
    editing->life = EDITING_OPEN;
    editing->work = (struct editing_work){.version = editing_version(editing)};
}

void
editing_ask(struct app *app, struct editing *editing)
{
    struct request *request = request_create(REQUEST_EVENT);
    request->id = editing->id;
    request->is_on = true;
    editing->number = app_send(app, request);
}

// --- what is done by time

// The texts changed since they were seen last: what waits for a pause waits anew.
static bool
note_change(struct editing *editing)
{
    uint64_t version = editing_version(editing);
    if (version == editing->work.version)
        return false;
    editing->work.version = version;
    editing->work.changed_at = clock_mono();
    return true;
}

static bool
wants_warnings(const struct editing *editing)
{
    enum check_state state = editor_check_state(editing_editor(editing));
    return (state == CHECK_VALID || state == CHECK_INVALID) &&
           editing->work.warned != editing->work.version * SECTION_COUNT + editing->section + 1;
}

static void
sooner(int64_t *due, int64_t at)
{
    if (*due < 0 || at < *due)
        *due = at;
}

static int64_t
editing_due(const void *state)
{
    const struct editing *editing = state;
    int64_t due = -1;
    if (editing->life != EDITING_OPEN)
        return -1;
    if (editing_find_works(editing))
        due = 0;
    if (editor_check_state(editing_editor(editing)) == CHECK_RUNNING)
        sooner(&due, editing->work.changed_at + CHECK_PAUSE);
    else if (wants_warnings(editing))
        sooner(&due, editing->work.changed_at + WARN_PAUSE);
    int64_t draft = editing_draft_due(editing);
    if (draft >= 0)
        sooner(&due, draft);
    int64_t hint = editing_hints_due(editing);
    if (hint >= 0)
        sooner(&due, hint);
    return due;
}

static void
editing_tick(struct app *app, void *state)
{
    struct editing *editing = state;
    struct editor *editor = editing_editor(editing);
    int64_t now = clock_mono();
    (void)note_change(editing);
    if (editing_find_works(editing))
        editing_find_go_on(app, editing);
    int64_t draft = editing_draft_due(editing);
    if (draft >= 0 && draft <= now)
        editing_draft_keep(app, editing);
    editing_hints_tick(app, editing);
    if (editor_check_state(editor) == CHECK_RUNNING) {
        if (editing->work.changed_at + CHECK_PAUSE <= now &&
            editor_check(editor, CHECK_SLICE) != CHECK_RUNNING)
            app_redraw(app);
    } else if (wants_warnings(editing) && editing->work.changed_at + WARN_PAUSE <= now) {
        (void)editor_find_warnings(editor);
        editing->work.warned = editing->work.version * SECTION_COUNT + editing->section + 1;
        app_redraw(app);
    }
}

// --- leaving

void
editing_leave_anyway(struct app *app, struct editing *editing)
{
    (void)editing_save_cancel(app, editing);
    editing_draft_remove(app, editing);
    editing_embedded_close(editing);
    for (int i = 0; i < SECTION_COUNT; i++)
        editor_set_saved(editing->texts[i].editor);
    app_back(app);
}

static void
leave_chosen(struct app *app, void *state, size_t index)
{
    if (index == 1)
        editing_save_and_close(app, state);
    else if (index == 2)
        editing_leave_anyway(app, state);
}

void
editing_leave(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 'k', .text = "keep editing", .is_current = true},
        {.key = 's', .text = "save"},
        {.key = 'd', .text = "discard what was changed"},
    };
    if (editing_is_embedded(editing)) {
        editing_leave_embedded(app, editing);
        return;
    }
    if (editing->save.checking) { // else nobody would be told what it says
        app_say(app, SAY_INFO, MSG_SAVE_CHECKING, editing->id);
        return;
    }
    if (editing_draft_is_only_here(editing)) {
        editing_draft_offer(app, editing);
        return;
    }
    if (!editing_is_dirty(editing)) {
        app_back(app);
        return;
    }
    app_menu(app, &(struct menu_request){
                      .title = "Not saved yet", .items = items, .count = 3, .chosen = leave_chosen});
}

static bool
editing_close_asked(struct app *app, void *state, enum action action)
{
    (void)action;
    editing_leave(app, state);
    return true;
}

// Esc ends what is being done first: a command of vi, a search, a selection.
static bool
editing_back(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    size_t from, to;
    if (editing->life != EDITING_OPEN) {
        app_back(app);
        return true;
    }
    bool has_selection = editor_selection(editing_editor(editing), &from, &to);
    if (editing->keys.is_marking || has_selection) {
        editing->keys.is_marking = false;
        editor_unselect(editing_editor(editing));
    } else if (editing->keys.style == STYLE_VI) {
        if (!vi_escape(editing) && !editing_end_search(editing))
            app_say(app, SAY_INFO, ":q closes, ZZ saves");
    } else if (!editing_end_search(editing)) {
        editing_leave(app, editing);
    }
    return true;
}

static bool
editing_cancel(struct app *app, void *state, enum action action)
{
    struct editing *editing = state;
    (void)action;
    if (decide_cancel(app, &editing->decide) || editing_save_cancel(app, editing))
        return true;
    editing->keys.is_marking = false;
    editing->find.is_running = editing->find.is_replacing = false;
    if (editing->life == EDITING_OPEN) {
        editor_unselect(editing_editor(editing));
        (void)editing_end_search(editing);
    }
    return true;
}

static const char *
editing_unsaved(const struct app *app, const void *state)
{
    const struct editing *editing = state;
    bool is_unsaved = editing_is_dirty(editing) || editing_draft_is_only_here(editing);
    return is_unsaved ? arena_printf(app_frame(app), MSG_UNSAVED, editing->id) : NULL;
}

// --- sections

static void
section_chosen(struct app *app, void *state, size_t index)
{
    (void)app;
    editing_show(state, (enum section)index);
}

static bool
editing_ask_section(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    static const uint32_t keys[] = {'p', 'k', 'H', 'T'};
    struct menu_item items[SECTION_COUNT];
    if (editing->life != EDITING_OPEN)
        return true;
    if (editing_is_embedded(editing)) {
        app_say(app, SAY_WARN, MSG_EMBEDDED_FIRST);
        return true;
    }
    for (int i = 0; i < SECTION_COUNT; i++)
        items[i] = (struct menu_item){
            .key = keys[i],
            .text = arena_printf(app_frame(app), "%s%s", section_name((enum section)i),
                                 editing_is_modified(editing, (enum section)i) ? ", modified" : ""),
            .is_current = i == (int)editing->section};
    app_menu(app, &(struct menu_request){
                      .title = "Record", .items = items, .count = SECTION_COUNT, .chosen = section_chosen});
    return true;
}

static bool
is_open(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return ((const struct editing *)state)->life == EDITING_OPEN;
}

static bool
names_several(const struct app *app, const void *state, enum action action)
{
    return is_open(app, state, action) && ((const struct editing *)state)->hints.place_count > 1;
}

// The way back: the only time that it is worth a word.
static bool
is_hex_shown(const struct app *app, const void *state, enum action action)
{
    return is_open(app, state, action) && editing_is_hex(state);
}

static const struct view_action actions[] = {
    {.part = editing_moves, .run = editing_move, .is_possible = is_open},
    {.part = editing_edits, .run = editing_edit, .is_possible = is_open},
    {.action = DO_NEXT_NAMED, .run = editing_next_named, .is_possible = names_several},
    {.action = DO_SAVE, .run = editing_save, .is_possible = is_open},
    {.action = DO_EDIT_OUTSIDE, .run = editing_go_outside, .is_possible = is_open},
    {.action = DO_SECTIONS, .run = editing_ask_section, .is_possible = is_open},
    {.action = DO_EMBEDDED, .run = editing_open_embedded, .is_possible = is_open},
    {.action = DO_ENVELOPE, .run = editing_take_off, .is_possible = is_open},
    {.action = DO_REVISIONS, .run = editing_ask_revisions, .is_possible = is_open},
    {.action = DO_HEX, .run = editing_toggle_hex, .is_possible = is_hex_shown},
    {.action = DO_FORMAT, .run = editing_reshape, .is_possible = is_open},
    {.action = DO_MINIFY, .run = editing_reshape, .is_possible = is_open},
    {.action = DO_SEARCH, .run = editing_search, .is_possible = is_open},
    {.action = DO_NEXT_MATCH, .run = editing_step, .is_possible = is_open},
    {.action = DO_PREVIOUS_MATCH, .run = editing_step, .is_possible = is_open},
    {.action = DO_REPLACE, .run = editing_replace, .is_possible = is_open},
    {.action = DO_GO_TO, .run = editing_go_to, .is_possible = is_open},
    {.action = DO_FOLD, .run = editing_fold, .is_possible = is_open},
    {.action = DO_FOLD_ALL, .run = editing_fold, .is_possible = is_open},
    {.action = DO_UNFOLD_ALL, .run = editing_fold, .is_possible = is_open},
    {.action = DO_COPY, .run = editing_ask_copy, .is_possible = is_open},
    {.action = DO_CLOSE, .run = editing_close_asked},
    {.action = DO_CANCEL, .run = editing_cancel},
    {.action = DO_BACK, .run = editing_back},
    {0},
};

// --- replies

static bool
take_event(struct app *app, struct editing *editing, struct reply *reply)
{
    if (reply->kind != REPLY_EVENT) {
        editing->life = EDITING_FAILED;
        editing->err = reply->err;
        return true;
    }
    editing_take(app, editing, &reply->arena, &reply->detail);
    editing_hints_begin(app, editing);
    editing_draft_look(app, editing);
    if (editing->draft.is_offered)
        editing_draft_offer(app, editing);
    else if (editing->outside.is_wanted)
        (void)editing_go_outside(app, editing, DO_EDIT_OUTSIDE);
    return true;
}

static bool
editing_receive(struct app *app, void *state, struct reply *reply)
{
    struct editing *editing = state;
    if (decide_receive(app, &editing->decide, reply) || editing_save_receive(app, editing, reply) ||
        editing_revisions_receive(app, editing, reply) || editing_hints_receive(app, editing, reply))
        return true;
    if (!reply->number || reply->number != editing->number)
        return false;
    if (editing->life == EDITING_LOADS)
        return take_event(app, editing, reply);
    if (reply->kind != REPLY_EVENT)
        return false;
    editing_set_detail(editing, &reply->arena, &reply->detail); // with the revision that was just saved
    return true;
}

static bool
editing_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    const struct editing *editing = state;
    (void)app;
    int last = editing->is_of_event_view ? 0 : 1;
    if (i < last)
        strbuf_printf(out, "%" PRId64, editing->id);
    else if (i == last)
        strbuf_add_text(out, "edit");
    else
        return false;
    return true;
}

static void
editing_shown(struct app *app, void *state)
{
    struct editing *editing = state;
    if (editing->save.has_theirs)
        editing_ask_conflict(app, editing);
    else if (editing->draft.is_offered && editing->draft.is_looked_at)
        editing_draft_offer(app, editing);
}

// --- life

static enum editing_style
style_of(const struct app *app)
{
    const char *style = app_config(app)->editor.style;
    return !style                        ? STYLE_PLAIN
           : strcmp(style, "vi") == 0    ? STYLE_VI
           : strcmp(style, "emacs") == 0 ? STYLE_EMACS
                                         : STYLE_PLAIN;
}

static void *
editing_open(struct app *app, const void *argument)
{
    const struct editor_argument *given = argument;
    struct editing *editing = alloc_bytes(sizeof *editing);
    editing->id = given->id;
    editing->keys.style = style_of(app);
    editing->is_of_event_view = app_below(app, &view_event) != NULL;
    editing->outside.is_wanted = given->is_outside;
    editing->draft.is_on = app_config(app)->editor.keeps_drafts && app_config(app)->state_home;
    for (int i = 0; i < SECTION_COUNT; i++) {
        editing->texts[i].editor = editor_create(BYTES(""), false);
        buffer_set_ascii(editor_buffer(editing->texts[i].editor), app_config(app)->is_ascii);
    }
    editing_ask(app, editing);
    return editing;
}

static void
editing_close(struct app *app, void *state)
{
    struct editing *editing = state;
    if (editing_is_dirty(editing)) // the terminal is gone
        editing_draft_keep(app, editing);
    decide_release(&editing->decide);
    editing_find_release(editing);
    editing_save_release(editing);
    editing_revisions_release(editing);
    editing_draft_release(editing);
    editing_outside_release(editing);
    editing_hints_release(editing);
    editing_embedded_close(editing);
    for (int i = 0; i < SECTION_COUNT; i++) {
        editor_destroy(editing->texts[i].editor);
        strbuf_release(&editing->origins[i].own);
    }
    arena_release(&editing->arena);
    free(editing);
}

void
editor_open_on(struct app *app, int64_t id, enum action action)
{
    static const struct view *const by_style[] = {
        [STYLE_PLAIN] = &view_editor, [STYLE_VI] = &view_editor_vi, [STYLE_EMACS] = &view_editor_emacs};
    app_open(app, by_style[style_of(app)],
             &(struct editor_argument){.id = id, .is_outside = action == DO_EDIT_OUTSIDE});
}

// The same view three times: the keymap has a section for each, so that help and footer tell the right keys.
#define EDITOR_VIEW(name_)                                                                                   \
    const struct view view_##name_ = {                                                                       \
        .name = #name_,                                                                                      \
        .context = CONTEXT_VIEW_##name_,                                                                     \
        .actions = actions,                                                                                  \
        .footer = footer,                                                                                    \
        .open = editing_open,                                                                                \
        .close = editing_close,                                                                              \
        .shown = editing_shown,                                                                              \
        .type = editing_type,                                                                                \
        .receive = editing_receive,                                                                          \
        .crumb = editing_crumb,                                                                              \
        .draw = editing_draw,                                                                                \
        .layout = editing_layout,                                                                            \
        .click = editing_click,                                                                              \
        .due = editing_due,                                                                                  \
        .tick = editing_tick,                                                                                \
        .unsaved = editing_unsaved,                                                                          \
    }

EDITOR_VIEW(editor);
EDITOR_VIEW(editor_vi);
EDITOR_VIEW(editor_emacs);
