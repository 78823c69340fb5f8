// Moving, typing and changing: from actions and typed text to calls of the editor.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/editor/fold.h"
#include "ui/editor/motion.h"
#include "ui/editor/place.h"
#include "ui/views/copy_menu.h"
#include "ui/views/editor/texts.h"

bool
editing_may_edit(struct app *app, struct editing *editing)
{
    if (editing->life != EDITING_OPEN)
        return false;
    const char *why_not = editing_why_not(editing);
    if (why_not) {
        app_say(app, SAY_WARN, "%s", why_not);
        return false;
    }
    if (editing->draft.is_offered) {
        editing_draft_offer(app, editing);
        return false;
    }
    return true;
}

// --- moving

static const struct {
    enum action action;
    enum motion motion;
    bool by_page, extends;
} motions[] = {
    {DO_UP, MOTION_UP, false, false},
    {DO_DOWN, MOTION_DOWN, false, false},
    {DO_PAGE_UP, MOTION_UP, true, false},
    {DO_PAGE_DOWN, MOTION_DOWN, true, false},
    {DO_TOP, MOTION_DOCUMENT_START, false, false},
    {DO_BOTTOM, MOTION_DOCUMENT_END, false, false},
    {DO_CHAR_LEFT, MOTION_LEFT, false, false},
    {DO_CHAR_RIGHT, MOTION_RIGHT, false, false},
    {DO_WORD_LEFT, MOTION_WORD_LEFT, false, false},
    {DO_WORD_RIGHT, MOTION_WORD_END, false, false},
    {DO_LINE_START, MOTION_LINE_HOME, false, false},
    {DO_LINE_END, MOTION_LINE_END, false, false},
    {DO_EXTEND_UP, MOTION_UP, false, true},
    {DO_EXTEND_DOWN, MOTION_DOWN, false, true},
    {DO_EXTEND_LEFT, MOTION_LEFT, false, true},
    {DO_EXTEND_RIGHT, MOTION_RIGHT, false, true},
    {DO_BRACKET, MOTION_BRACKET, false, false},
};
#define MOTIONS_LISTED (sizeof motions / sizeof *motions)

bool
editing_moves(enum action action)
{
    for (size_t i = 0; i < MOTIONS_LISTED; i++)
        if (motions[i].action == action)
            return true;
    return action == DO_NEXT_FINDING || action == DO_PREVIOUS_FINDING || action == DO_VISUAL ||
           action == DO_SELECT_ALL;
}

static void
go_to_finding(struct app *app, struct editing *editing, bool is_forward)
{
    struct editor *editor = editing_editor(editing);
    struct check_finding finding;
    char sentence[CHECK_SENTENCE];
    if (!editor_next_finding(editor, editor_cursor(editor), is_forward, &finding)) {
        const struct shape_departure *departure =
            editing_next_departure(editing, editor_cursor(editor), is_forward);
        if (departure)
            editor_set_cursor(editor, editing_departure_cursor(departure), editing->keys.is_marking);
        app_say(app, departure ? SAY_WARN : SAY_INFO, "%s", departure ? departure->sentence : MSG_NO_FINDING);
        return;
    }
    editor_set_cursor(editor, finding.at, editing->keys.is_marking);
    app_say(app, finding.is_warning ? SAY_WARN : SAY_ERROR, "%s",
            editor_finding_sentence(editor, &finding, sentence));
}

bool
editing_move(struct app *app, void *state, enum action action)
{
    struct editing *editing = state;
    struct editor *editor = editing_editor(editing);
    if (editing->life != EDITING_OPEN)
        return true;
    if (editing_is_hex(editing)) {
        editing_hex_move(editing, action);
        return true;
    }
    if (action == DO_VISUAL) {
        editing->keys.is_marking = !editing->keys.is_marking;
        if (editing->keys.is_marking)
            editor_select(editor, editor_cursor(editor), editor_cursor(editor));
        else
            editor_unselect(editor);
    } else if (action == DO_SELECT_ALL) {
        editor_select(editor, 0, editor_len(editor));
    } else if (action == DO_NEXT_FINDING || action == DO_PREVIOUS_FINDING) {
        go_to_finding(app, editing, action == DO_NEXT_FINDING);
    }
    for (size_t i = 0; i < MOTIONS_LISTED; i++) {
        if (motions[i].action != action)
            continue;
        size_t page = editing->place.rows > 1 ? (size_t)editing->place.rows - 1 : 1;
        if (!editor_move(editor, motions[i].motion, motions[i].by_page ? page : 1,
                         motions[i].extends || editing->keys.is_marking) &&
            action == DO_BRACKET)
            app_say(app, SAY_INFO, MSG_NO_BRACKET);
    }
    return true;
}

// --- changing

static bool
delete_word(struct editor *editor, int64_t now)
{
    size_t cursor = editor_cursor(editor);
    return editor_delete(editor, editor_target(editor, MOTION_WORD_LEFT, cursor, 1), cursor, now);
}

bool
editing_edits(enum action action)
{
    return action == DO_NEW_LINE || action == DO_INDENT || action == DO_OUTDENT || action == DO_DELETE_LEFT ||
           action == DO_DELETE_RIGHT || action == DO_DELETE_WORD || action == DO_CUT_LINE ||
           action == DO_PUT || action == DO_UNDO || action == DO_REDO;
}

// What did not work, and why.
static void
say_undone(struct app *app, struct editor *editor, enum action action)
{
    if (action == DO_UNDO)
        app_say(app, SAY_INFO, MSG_NOTHING_TO_UNDO);
    else if (action == DO_REDO)
        app_say(app, SAY_INFO, MSG_NOTHING_TO_REDO);
    else if (action == DO_PUT && editor_cut_text(editor, NULL).len == 0)
        app_say(app, SAY_INFO, MSG_NOTHING_CUT);
    else if (action == DO_PUT || action == DO_NEW_LINE || action == DO_INDENT)
        app_say(app, SAY_WARN, MSG_TOO_LONG);
}

// In vi's normal mode these keys move.
static bool
vi_moves_instead(struct editing *editing, enum action action)
{
    struct editor *editor = editing_editor(editing);
    enum motion motion = action == DO_NEW_LINE      ? MOTION_DOWN
                         : action == DO_DELETE_LEFT ? MOTION_LEFT
                                                    : MOTION_COUNT;
    if (editing->keys.style != STYLE_VI || editing->keys.vi.is_inserting || motion == MOTION_COUNT)
        return false;
    (void)editor_move(editor, motion, 1, false);
    return true;
}

bool
editing_edit(struct app *app, void *state, enum action action)
{
    struct editing *editing = state;
    if (editing->life != EDITING_OPEN || vi_moves_instead(editing, action))
        return true;
    struct editor *editor = editing_editor(editing);
    int64_t now = clock_mono();
    if (!editing_may_edit(app, editing))
        return true;
    bool is_done = action == DO_NEW_LINE       ? editor_enter(editor, now)
                   : action == DO_INDENT       ? editor_indent(editor, false, now)
                   : action == DO_OUTDENT      ? editor_indent(editor, true, now)
                   : action == DO_DELETE_LEFT  ? editor_delete_left(editor, now)
                   : action == DO_DELETE_RIGHT ? editor_delete_right(editor, now)
                   : action == DO_DELETE_WORD  ? delete_word(editor, now)
                   : action == DO_CUT_LINE     ? editor_cut_line(editor, now)
                   : action == DO_PUT          ? editor_put(editor, false, now)
                   : action == DO_UNDO         ? editor_undo(editor)
                                               : editor_redo(editor);
    editing->keys.is_marking = false;
    if (!is_done)
        say_undone(app, editor, action);
    return true;
}

bool
editing_type(struct app *app, void *state, struct bytes text, bool is_paste)
{
    struct editing *editing = state;
    if (editing->life != EDITING_OPEN)
        return true;
    bool is_command = editing->keys.style == STYLE_VI && !editing->keys.vi.is_inserting;
    if (is_command && !is_paste) {
        vi_type(app, editing, text);
        return true;
    }
    if (!editing_may_edit(app, editing))
        return true;
    struct editor *editor = editing_editor(editing);
    editing->keys.is_marking = false;
    char size[TEXT_SHORT];
    bool is_done =
        is_paste ? editor_paste(editor, text, clock_mono()) : editor_type(editor, text, clock_mono());
    if (!is_done && text.len)
        app_say(app, SAY_WARN, MSG_TOO_LONG);
    else if (is_paste)
        app_say(app, SAY_INFO, MSG_PASTED, text_size(text.len, size));
    return true;
}

bool
editing_fold(struct app *app, void *state, enum action action)
{
    struct editing *editing = state;
    struct editor *editor = editing_editor(editing);
    if (editing->life != EDITING_OPEN)
        return true;
    if (action == DO_UNFOLD_ALL)
        editor_unfold_all(editor);
    else if (action == DO_FOLD_ALL)
        app_say(app, SAY_INFO, MSG_FOLDED_ALL, editor_fold_all(editor));
    else if (!editor_toggle_fold(editor, editor_cursor(editor)))
        app_say(app, SAY_INFO, MSG_NO_FOLD);
    return true;
}

bool
editing_reshape(struct app *app, void *state, enum action action)
{
    struct editing *editing = state;
    struct err err = {0};
    if (!editing_may_edit(app, editing))
        return true;
    struct editor *editor = editing_editor(editing);
    bool is_format = action == DO_FORMAT;
    bool is_done =
        is_format ? editor_format(editor, clock_mono(), &err) : editor_minify(editor, clock_mono(), &err);
    if (is_done)
        app_say(app, SAY_INFO, is_format ? MSG_FORMATTED : MSG_MINIFIED);
    else if (err_is_set(&err))
        app_say_err(app, &err);
    else
        app_say(app, SAY_INFO, MSG_AS_IT_IS);
    return true;
}

// --- copying

static struct bytes
frame_copy(struct app *app, const struct strbuf *text)
{
    return arena_copy(app_frame(app), strbuf_bytes(text));
}

// What the i-th line of the copy menu stands for, or absent where the cursor has none.
static struct bytes
copy_value(struct app *app, const struct editing *editing, size_t i, const char **text)
{
    static const char *const names[] = {"selection", "path", "value", "value as text", "key", "everything"};
    struct editor *editor = editing_editor(editing);
    size_t cursor = editor_cursor(editor);
    size_t from = 0, to = 0;
    struct strbuf out = {0};
    struct bytes value = BYTES_ABSENT;
    bool is_there = i == 0   ? editor_selection(editor, &from, &to)
                    : i == 1 ? editor_path_at(editor, cursor, &out)
                    : i == 2 ? editor_value_at(editor, cursor, &from, &to)
                    : i == 3 ? editor_copy_value_at(editor, cursor, &out)
                    : i == 4 ? editor_name_at(editor, cursor, &from, &to)
                             : true;
    *text = names[i];
    if (is_there && i == 5)
        value = editor_text(editor);
    else if (is_there && to > from)
        value = arena_copy(app_frame(app), bytes_slice(editor_text(editor), from, to - from));
    else if (is_there && out.len)
        value = frame_copy(app, &out);
    strbuf_release(&out);
    return value;
}

static bool
copy_choice(struct app *app, const void *state, size_t i, const char **text, struct bytes *value)
{
    enum { CHOICES = 6 };
    const struct editing *editing = state;
    for (size_t at = 0; at < CHOICES; at++) {
        *value = copy_value(app, editing, at, text);
        if (bytes_present(*value) && i-- == 0)
            return true;
    }
    return false;
}

static void
copy_chosen(struct app *app, void *state, size_t index)
{
    copy_menu_take(app, state, copy_choice, index);
}

bool
editing_ask_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    if (((struct editing *)state)->life == EDITING_OPEN)
        copy_menu_ask(app, state, copy_choice, copy_chosen);
    return true;
}
