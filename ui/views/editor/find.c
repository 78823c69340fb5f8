// Searching, replacing, and going to a place that is named.
#include "ui/views/editor/state.h"

#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/editor/place.h"
#include "ui/views/editor/texts.h"

enum {
    SLICE = 256 << 10, // bytes that are searched at a time
    AT_ONCE = 1 << 20, // and before a key is answered
    CANDIDATES = 64,
};

bool
editing_end_search(struct editing *editing)
{
    struct editor *editor = editing_editor(editing);
    bool had_one = editor_has_search(editor);
    editing->find.is_running = false;
    return had_one && editor_set_search(editor, BYTES(""), false, NULL);
}

// "/…/" is a regular expression, anything else is meant as it stands.
static bool
set_search(struct editing *editing, struct bytes text, struct err *err)
{
    bool is_regex = text.len > 2 && text.data[0] == '/' && bytes_ends(text, "/");
    strbuf_reset(&editing->find.text);
    strbuf_add(&editing->find.text, text);
    editing->find.count = (struct find_count){0};
    return editor_set_search(editing_editor(editing), is_regex ? bytes_slice(text, 1, text.len - 2) : text,
                             is_regex, err);
}

// Goes on for about that many bytes; the cursor goes to what is found.
static void
search_on(struct app *app, struct editing *editing, size_t bytes)
{
    struct editing_find *find = &editing->find;
    struct editor *editor = editing_editor(editing);
    if (!find->is_running)
        return;
    enum find_state state = editor_find(editor, &find->run, bytes);
    find->is_running = state == FIND_MORE;
    if (state == FIND_FOUND)
        editor_go_to_match(editor, find->run.match);
    else if (state == FIND_NONE)
        app_say(app, SAY_INFO, MSG_NOT_FOUND, strbuf_text(&find->text));
    find->count = editor_count_matches(editor, SLICE);
    app_redraw(app);
}

static void
search_from(struct app *app, struct editing *editing, size_t from, bool is_forward)
{
    editor_find_begin(editing_editor(editing), &editing->find.run, from, is_forward);
    editing->find.is_running = true;
    search_on(app, editing, AT_ONCE);
}

bool
editing_find_works(const struct editing *editing)
{
    return editing->find.is_running || editing->find.is_replacing ||
           (editor_has_search(editing_editor(editing)) && !editing->find.count.is_complete);
}

void
editing_find_go_on(struct app *app, struct editing *editing)
{
    struct editing_find *find = &editing->find;
    struct editor *editor = editing_editor(editing);
    if (find->is_running) {
        search_on(app, editing, SLICE);
        return;
    }
    if (find->is_replacing) {
        char count[TEXT_SHORT];
        enum find_state state =
            editor_replace_all(editor, &find->replace, strbuf_bytes(&find->by), SLICE, clock_mono());
        find->is_replacing = state == FIND_MORE;
        if (state != FIND_MORE) {
            app_say(app, SAY_INFO, MSG_REPLACED,
                    text_count(state == FIND_FOUND ? (int64_t)find->replace.count : 0, count));
            find_replace_release(&find->replace);
        }
    }
    find->count = editor_count_matches(editor, SLICE);
    app_redraw(app);
}

void
editing_find_text(struct app *app, struct editing *editing, struct bytes text, bool is_forward)
{
    struct err err = {0};
    if (!set_search(editing, text, &err))
        app_say_err(app, &err);
    else if (text.len)
        search_from(app, editing, editor_cursor(editing_editor(editing)), is_forward);
}

static void
find_changed(struct app *app, void *state, struct bytes text)
{
    struct editing *editing = state;
    struct err err = {0};
    if (!set_search(editing, text, &err)) {
        app_prompt_error(app, &err);
        return;
    }
    editor_set_cursor(editing_editor(editing), editing->find.origin, false);
    if (text.len)
        search_from(app, editing, editing->find.origin, true);
}

static bool
find_accepted(struct app *app, void *state, struct bytes text)
{
    struct editing *editing = state;
    struct err err = {0};
    if (set_search(editing, text, &err)) {
        editing->find.count = editor_count_matches(editing_editor(editing), SLICE);
        return true;
    }
    app_prompt_error(app, &err);
    return false;
}

static void
find_cancelled(struct app *app, void *state)
{
    (void)app;
    struct editing *editing = state;
    (void)editing_end_search(editing);
    editor_set_cursor(editing_editor(editing), editing->find.origin, false);
}

bool
editing_search(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    if (editing->life != EDITING_OPEN)
        return true;
    editing->find.origin = editor_cursor(editing_editor(editing));
    app_prompt(app, &(struct prompt_request){.label = MSG_FIND_LABEL,
                                             .changed = find_changed,
                                             .accepted = find_accepted,
                                             .cancelled = find_cancelled});
    return true;
}

bool
editing_step(struct app *app, void *state, enum action action)
{
    struct editing *editing = state;
    struct editor *editor = editing_editor(editing);
    if (editing->life != EDITING_OPEN)
        return true;
    if (!editor_has_search(editor)) {
        app_say(app, SAY_INFO, MSG_NO_SEARCH);
        return true;
    }
    bool is_forward = action == DO_NEXT_MATCH;
    size_t cursor = editor_cursor(editor);
    search_from(app, editing,
                is_forward && cursor < editor_len(editor) ? buffer_next(editor_buffer(editor), cursor)
                                                          : cursor,
                is_forward);
    return true;
}

// --- replacing

static void replace_chosen(struct app *app, void *state, size_t index);

// Asks about the match at the cursor or behind it; at the end of the document it is over.
static void
ask_replace(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 'y', .text = "replace this one"},
        {.key = 'n', .text = "leave this one"},
        {.key = 'a', .text = "replace all in this text"},
        {.key = 'q', .text = "stop", .is_current = true},
    };
    struct editor *editor = editing_editor(editing);
    struct find_run run;
    enum find_state found;
    editor_find_begin(editor, &run, editor_cursor(editor), true);
    while ((found = editor_find(editor, &run, AT_ONCE)) == FIND_MORE)
        ;
    if (found != FIND_FOUND || run.is_wrapped) {
        app_say(app, SAY_INFO, MSG_NO_MORE, strbuf_text(&editing->find.text));
        return;
    }
    editor_go_to_match(editor, run.match);
    app_menu(app, &(struct menu_request){
                      .title = "Replace", .items = items, .count = 4, .chosen = replace_chosen});
}

static void
replace_chosen(struct app *app, void *state, size_t index)
{
    struct editing *editing = state;
    struct editor *editor = editing_editor(editing);
    size_t cursor = editor_cursor(editor);
    if (index == 0)
        (void)editor_replace_match(editor, strbuf_bytes(&editing->find.by), clock_mono());
    else if (index == 1 && cursor < editor_len(editor))
        editor_set_cursor(editor, buffer_next(editor_buffer(editor), cursor), false);
    if (index <= 1) {
        ask_replace(app, editing);
    } else if (index == 2) {
        editing->find.replace = (struct find_replace){.to = SIZE_MAX};
        editing->find.is_replacing = true;
    }
}

static bool
replace_accepted(struct app *app, void *state, struct bytes text)
{
    struct editing *editing = state;
    strbuf_reset(&editing->find.by);
    strbuf_add(&editing->find.by, text);
    app_prompt_close(app);
    ask_replace(app, editing);
    return true;
}

bool
editing_replace(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    if (!editing_may_edit(app, editing))
        return true;
    if (!editor_has_search(editing_editor(editing)))
        app_say(app, SAY_INFO, MSG_NO_SEARCH);
    else
        app_prompt(app, &(struct prompt_request){.label = MSG_REPLACE_LABEL, .accepted = replace_accepted});
    return true;
}

// --- going to a place

void
editing_go_to_line(struct editing *editing, size_t line)
{
    struct editor *editor = editing_editor(editing);
    struct buffer *buffer = editor_buffer(editor);
    size_t last = buffer_lines(buffer) - 1;
    editor_set_cursor(editor, buffer_line_start(buffer, line < last ? line : last), false);
}

// "12" or "12:7". false: it is neither.
static bool
go_to_position(struct editing *editing, struct bytes text)
{
    struct editor *editor = editing_editor(editing);
    size_t colon = bytes_find(text, BYTES(":"), 0);
    int64_t line, column = 1;
    if (!text_parse_int(bytes_slice(text, 0, colon), &line, NULL) || line < 1 ||
        (colon != SIZE_MAX &&
         (!text_parse_int(bytes_slice(text, colon + 1, SIZE_MAX), &column, NULL) || column < 1)))
        return false;
    editor_set_cursor(editor, buffer_at_position(editor_buffer(editor), (size_t)line, (size_t)column), false);
    return true;
}

static bool
go_to_accepted(struct app *app, void *state, struct bytes text)
{
    struct editing *editing = state;
    struct editor *editor = editing_editor(editing);
    struct bytes place = bytes_trim(text);
    struct err err = {0};
    size_t from, to;
    if (place.len == 0 || go_to_position(editing, place))
        return true;
    if (!editor_find_path(editor, place, &from, &to, &err)) {
        app_prompt_error(app, &err);
        return false;
    }
    editor_set_cursor(editor, from, false);
    return true;
}

static const char *
go_to_complete(struct app *app, void *state, struct bytes text, size_t i)
{
    struct bytes candidates[CANDIDATES];
    struct editing *editing = state;
    size_t blank = bytes_find_last(text, BYTES(" "));
    struct bytes word = blank == SIZE_MAX ? text : bytes_slice(text, blank + 1, SIZE_MAX);
    size_t count = editor_complete_path(editing_editor(editing), word.len ? word : BYTES("$"), app_frame(app),
                                        candidates, CANDIDATES);
    return i < count ? arena_text(app_frame(app), candidates[i]) : NULL;
}

bool
editing_go_to(struct app *app, void *state, enum action action)
{
    (void)action;
    if (((struct editing *)state)->life == EDITING_OPEN)
        app_prompt(app, &(struct prompt_request){.label = MSG_GO_TO_LABEL,
                                                 .accepted = go_to_accepted,
                                                 .complete = go_to_complete});
    return true;
}

void
editing_find_release(struct editing *editing)
{
    strbuf_release(&editing->find.text);
    strbuf_release(&editing->find.by);
    find_replace_release(&editing->find.replace);
}
