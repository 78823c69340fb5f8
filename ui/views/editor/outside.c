// Handing the text to a program of the person's own, in a private file, and taking it back.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/private_file.h"
#include "core/json/json.h"
#include "ui/views/editor/texts.h"

#define FILE_AGE (7 * 24 * 3600 * US_PER_SECOND)
// As a shell tells them.
enum { NOT_FOUND = 127, NOT_STARTED = 126, BY_SIGNAL = 128 };

static const char *
program(void)
{
    static const char *const names[] = {"REDRIVE_EDITOR", "VISUAL", "EDITOR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return "vi";
}

// The name of the program alone: "vim" of "/usr/bin/vim -u NONE".
static struct bytes
name_of(const char *command)
{
    struct bytes first = bytes_slice(bytes_of(command), 0, strcspn(command, " \t"));
    size_t slash = bytes_find_last(first, BYTES("/"));
    return slash == SIZE_MAX ? first : bytes_slice(first, slash + 1, SIZE_MAX);
}

// Does the program take +LINE before the file?
static bool
takes_line(const char *command)
{
    static const char *const known[] = {"vi",     "vim",  "nvim",  "view",  "ed",  "ex",
                                        "nano",   "pico", "emacs", "micro", "kak", "joe",
                                        "mcedit", "jed",  "mg",    "ne",    "vis"};
    struct bytes name = name_of(command);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bytes_equal_text(name, known[i]))
            return true;
    return false;
}

// A folder of one's own, on memory where the system has one for that.
static bool
choose_folder(const struct app *app, struct editing *editing, struct err *err)
{
    struct editing_outside *outside = &editing->outside;
    const char *runtime = app_config(app)->editor.runtime_dir;
    if (runtime && runtime[0] == '/') {
        snprintf(outside->folder, sizeof outside->folder, "%s/redrive", runtime);
        if (private_folder_make(outside->folder, NULL))
            return true;
    }
    if (!app_config(app)->state_home)
        return err_set(err, ERR_DENIED, "there is no private folder to write the text to");
    snprintf(outside->folder, sizeof outside->folder, "%s/edit", app_config(app)->state_home);
    return private_folder_make(outside->folder, err);
}

// The text that came back. A line end that programs put at the end of every file is no change.
static struct bytes
without_line_end(const struct editing_outside *outside, struct bytes text)
{
    struct bytes written = strbuf_bytes(&outside->written);
    bool is_added = bytes_ends(text, "\n") && !bytes_ends(written, "\n");
    return is_added ? bytes_slice(text, 0, text.len - 1) : text;
}

static void
take_edited(struct app *app, struct editing *editing, struct bytes text)
{
    struct editor *editor = editing_editor(editing);
    struct err err = {0};
    size_t line = 0, column = 0;
    const char *name = arena_text(app_frame(app), name_of(program()));
    if (!editor_replace(editor, 0, editor_len(editor), text, clock_mono())) {
        app_say(app, SAY_ERROR, MSG_TOO_LONG " · %s/%s", editing->outside.folder, editing->outside.name);
        return;
    }
    private_file_remove(editing->outside.folder, editing->outside.name);
    if (editor_is_json(editor) && !json_check(editor_text(editor), &err)) {
        line = err.line > 0 ? (size_t)err.line : 1;
        column = err.column > 0 ? (size_t)err.column : 1;
        editor_set_cursor(editor, buffer_at_position(editor_buffer(editor), line, column), false);
        app_say(app, SAY_WARN, MSG_OUTSIDE_INVALID, name, err.text);
    } else {
        editor_set_cursor(editor, 0, false);
        app_say(app, SAY_OK, MSG_OUTSIDE_TAKEN, name);
    }
}

// It did not end well: the text stays, and a file that was changed is left where it is.
static void
say_failed(struct app *app, struct editing *editing, int status, bool is_changed)
{
    struct editing_outside *outside = &editing->outside;
    const char *path = arena_printf(app_frame(app), "%s/%s", outside->folder, outside->name);
    const char *name = arena_text(app_frame(app), name_of(program()));
    const char *kept = is_changed ? ", the file is " : "";
    if (!is_changed)
        private_file_remove(outside->folder, outside->name);
    if (status < 0)
        app_say(app, SAY_WARN, MSG_OUTSIDE_NO_TERMINAL, name);
    else if (status == NOT_FOUND || status == NOT_STARTED)
        app_say(app, SAY_ERROR, MSG_OUTSIDE_MISSING, program());
    else if (status > BY_SIGNAL)
        app_say(app, SAY_WARN, MSG_OUTSIDE_KILLED, name, status - BY_SIGNAL, kept, is_changed ? path : "");
    else
        app_say(app, SAY_WARN, MSG_OUTSIDE_STATUS, name, status, kept, is_changed ? path : "");
}

static void
outside_ended(struct app *app, void *state, int status)
{
    struct editing *editing = state;
    struct editing_outside *outside = &editing->outside;
    struct strbuf text = {0};
    struct err err = {0};
    bool is_there = private_file_read(outside->folder, outside->name, EDITOR_BYTES, &text, &err);
    struct bytes back = without_line_end(outside, strbuf_bytes(&text));
    bool is_changed = is_there && !bytes_equal(back, strbuf_bytes(&outside->written));
    if (status != 0) {
        say_failed(app, editing, status, is_changed);
    } else if (!is_there) {
        app_say(app, SAY_ERROR, MSG_OUTSIDE_UNREADABLE, err.text);
    } else if (!is_changed) {
        private_file_remove(outside->folder, outside->name);
        app_say(app, SAY_INFO, MSG_OUTSIDE_SAME);
    } else {
        take_edited(app, editing, back);
    }
    strbuf_release(&text);
    strbuf_release(&outside->written);
}

bool
editing_go_outside(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    struct editing_outside *outside = &editing->outside;
    struct err err = {0};
    outside->is_wanted = false;
    if (!app_config(app)->editor.hands_over) {
        app_say(app, SAY_WARN, MSG_OUTSIDE_OFF);
        return true;
    }
    if (!editing_may_edit(app, editing))
        return true;
    struct editor *editor = editing_editor(editing);
    editing_draft_keep(app, editing);
    strbuf_reset(&outside->written);
    strbuf_add(&outside->written, editor_text(editor));
    snprintf(outside->name, sizeof outside->name, "%" PRId64 "-%s-%ld.%s", editing->id,
             section_name(editing->section), (long)getpid(), editor_is_json(editor) ? "json" : "txt");
    if (!choose_folder(app, editing, &err) ||
        !private_file_write(outside->folder, outside->name, strbuf_bytes(&outside->written), &err)) {
        app_say_err(app, &err);
        return true;
    }
    (void)private_files_age(outside->folder, ".json", clock_now() - FILE_AGE); // what failed before
    (void)private_files_age(outside->folder, ".txt", clock_now() - FILE_AGE);
    size_t line = buffer_line_at(editor_buffer(editor), editor_cursor(editor)) + 1;
    const char *command = takes_line(program())
                              ? arena_printf(app_frame(app), "%s +%zu \"$1\"", program(), line)
                              : arena_printf(app_frame(app), "%s \"$1\"", program());
    app_run_program(app, command, arena_printf(app_frame(app), "%s/%s", outside->folder, outside->name),
                    outside_ended);
    return true;
}

void
editing_outside_release(struct editing *editing)
{
    strbuf_release(&editing->outside.written);
}
