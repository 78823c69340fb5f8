#include "ui/views/editor/vi.h"

#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/editor/motion.h"
#include "ui/views/editor/state.h"
#include "ui/views/editor/texts.h"

enum { COUNT_MOST = 100000 };

static const struct {
    char key;
    enum motion motion;
} motions[] = {
    {'h', MOTION_LEFT_IN_LINE}, {'l', MOTION_RIGHT_IN_LINE}, {' ', MOTION_RIGHT},     {'j', MOTION_DOWN},
    {'k', MOTION_UP},           {'w', MOTION_WORD_RIGHT},    {'b', MOTION_WORD_LEFT}, {'e', MOTION_WORD_LAST},
    {'0', MOTION_LINE_START},   {'^', MOTION_LINE_TEXT},     {'$', MOTION_LINE_END},  {'%', MOTION_BRACKET},
};

static void
insert_from(struct editing *editing, enum motion motion)
{
    if (motion != MOTION_COUNT)
        (void)editor_move(editing_editor(editing), motion, 1, false);
    editing->keys.vi.is_inserting = true;
}

static void
open_line(struct editing *editing, bool is_above)
{
    struct editor *editor = editing_editor(editing);
    int64_t now = clock_mono();
    editor_begin_step(editor, now);
    (void)editor_move(editor, is_above ? MOTION_LINE_TEXT : MOTION_LINE_END, 1, false);
    (void)editor_enter(editor, now);
    if (is_above) {
        (void)editor_move(editor, MOTION_UP, 1, false);
        (void)editor_move(editor, MOTION_LINE_END, 1, false);
    }
    editor_end_step(editor);
    editing->keys.vi.is_inserting = true;
}

// Characters under the cursor, as many as the line has.
static void
delete_characters(struct editor *editor, size_t count)
{
    struct buffer *buffer = editor_buffer(editor);
    size_t from = editor_cursor(editor);
    size_t end = buffer_line_end(buffer, buffer_line_at(buffer, from));
    size_t to = from;
    for (size_t i = 0; i < count && to < end; i++)
        to = buffer_next(buffer, to);
    if (to > from)
        (void)editor_cut(editor, from, to, false, false, clock_mono());
}

static void
take_lines(struct editor *editor, size_t count, bool cuts)
{
    size_t from, to;
    editor_line_range(editor, count, &from, &to);
    if (cuts)
        (void)editor_cut(editor, from, to, true, false, clock_mono());
    else
        (void)editor_copy(editor, from, to, true, false);
}

static bool
command_accepted(struct app *app, void *state, struct bytes text)
{
    struct editing *editing = state;
    struct bytes word = bytes_trim(text);
    int64_t line;
    app_prompt_close(app);
    if (bytes_equal_text(word, "w"))
        (void)editing_save(app, editing, DO_SAVE);
    else if (bytes_equal_text(word, "wq") || bytes_equal_text(word, "x"))
        editing_save_and_close(app, editing);
    else if (bytes_equal_text(word, "q"))
        editing_leave(app, editing);
    else if (bytes_equal_text(word, "q!"))
        editing_leave_anyway(app, editing);
    else if (text_parse_int(word, &line, NULL) && line > 0)
        editing_go_to_line(editing, (size_t)line - 1);
    else if (word.len)
        app_say(app, SAY_INFO, ":%.*s is not known here; :w :q :wq :q! and a line number are",
                BYTES_ARGS(word));
    return false; // closed already: a command may have opened another one
}

static bool
vi_search_accepted(struct app *app, void *state, struct bytes text)
{
    editing_find_text(app, state, text, true);
    return true;
}

// The second key of gg, dd, yy, ZZ, ZQ.
static void
second_key(struct app *app, struct editing *editing, char first, char key, size_t count)
{
    struct editor *editor = editing_editor(editing);
    if (first == 'g' && key == 'g')
        editing_go_to_line(editing, count ? count - 1 : 0);
    else if (first == 'Z' && key == 'Z')
        editing_save_and_close(app, editing);
    else if (first == 'Z' && key == 'Q')
        editing_leave(app, editing);
    else if (first == 'y' && key == 'y')
        take_lines(editor, count ? count : 1, false);
    else if (first == 'd' && key == 'd' && editing_may_edit(app, editing))
        take_lines(editor, count ? count : 1, true);
    else if (first != 'd' || key != 'd')
        app_say(app, SAY_INFO, "%c%c is not one of the keys known here · F1 help", first, key);
}

static bool
vi_move(struct editing *editing, char key, size_t count)
{
    for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
        if (motions[i].key != key)
            continue;
        (void)editor_move(editing_editor(editing), motions[i].motion, count ? count : 1, false);
        return true;
    }
    return false;
}

// Keys that change the text, or begin to.
static bool
vi_change(struct app *app, struct editing *editing, char key, size_t count)
{
    struct editor *editor = editing_editor(editing);
    if (!strchr("iIaAoOxpPu", key))
        return false;
    if (!editing_may_edit(app, editing))
        return true;
    if (key == 'i')
        insert_from(editing, MOTION_COUNT);
    else if (key == 'I')
        insert_from(editing, MOTION_LINE_TEXT);
    else if (key == 'a')
        insert_from(editing, MOTION_RIGHT_IN_LINE);
    else if (key == 'A')
        insert_from(editing, MOTION_LINE_END);
    else if (key == 'o' || key == 'O')
        open_line(editing, key == 'O');
    else if (key == 'x')
        delete_characters(editor, count ? count : 1);
    else if (key == 'u' && !editor_undo(editor))
        app_say(app, SAY_INFO, MSG_NOTHING_TO_UNDO);
    else if (key == 'p' || key == 'P')
        (void)editor_put(editor, key == 'p', clock_mono());
    return true;
}

static void
first_key(struct app *app, struct editing *editing, char key, size_t count)
{
    struct vi *vi = &editing->keys.vi;
    if (strchr("gdyZ", key)) {
        vi->pending = key;
        vi->count = count;
    } else if (key == 'G') {
        if (count)
            editing_go_to_line(editing, count - 1);
        else
            (void)editor_move(editing_editor(editing), MOTION_DOCUMENT_END, 1, false);
    } else if (key == 'n' || key == 'N') {
        (void)editing_step(app, editing, key == 'n' ? DO_NEXT_MATCH : DO_PREVIOUS_MATCH);
    } else if (key == '/') {
        app_prompt(app, &(struct prompt_request){.label = "/", .accepted = vi_search_accepted});
    } else if (key == ':') {
        app_prompt(app, &(struct prompt_request){.label = ":", .accepted = command_accepted});
    } else if (!vi_move(editing, key, count) && !vi_change(app, editing, key, count)) {
        app_say(app, SAY_INFO, "%c is not one of the keys known here · F1 help", key);
    }
}

void
vi_type(struct app *app, struct editing *editing, struct bytes text)
{
    struct vi *vi = &editing->keys.vi;
    char key = text.len == 1 ? text.data[0] : '\0';
    if (!key)
        return;
    if (!vi->pending && key >= '0' && key <= '9' && (key != '0' || vi->count)) {
        vi->count = vi->count * 10 + (size_t)(key - '0');
        vi->count = vi->count > COUNT_MOST ? COUNT_MOST : vi->count;
        return;
    }
    size_t count = vi->count;
    char pending = vi->pending;
    vi->count = 0;
    vi->pending = '\0';
    if (pending)
        second_key(app, editing, pending, key, count);
    else
        first_key(app, editing, key, count);
}

bool
vi_escape(struct editing *editing)
{
    struct vi *vi = &editing->keys.vi;
    bool had_some = vi->is_inserting || vi->count || vi->pending;
    if (vi->is_inserting)
        (void)editor_move(editing_editor(editing), MOTION_LEFT_IN_LINE, 1, false);
    *vi = (struct vi){0};
    return had_some;
}
