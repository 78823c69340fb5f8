#include "ui/widgets/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"

#define HISTORY_LINES 500
enum { EXPLAINED_ROWS = 12 }; // at once

static void
history_path(const char *state_home, const char *history, char out[512])
{
    snprintf(out, 512, "%.400s/history-%.64s", state_home, history);
}

static void
add_history(struct prompt *prompt, const char *line)
{
    if (prompt->line_count == HISTORY_LINES) {
        free(prompt->lines[0]);
        memmove(prompt->lines, prompt->lines + 1, (HISTORY_LINES - 1) * sizeof *prompt->lines);
        prompt->line_count--;
    }
    prompt->lines[prompt->line_count++] = alloc_text(line);
}

static void
load_history(struct prompt *prompt, const char *state_home)
{
    prompt->lines = alloc_array(HISTORY_LINES, sizeof *prompt->lines);
    char path[512];
    history_path(state_home, prompt->request.history, path);
    FILE *stream = fopen(path, "re");
    if (!stream)
        return;
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stream) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            add_history(prompt, line);
    }
    free(line);
    (void)fclose(stream);
}

void
prompt_open(struct prompt *prompt, const struct prompt_request *request, const char *state_home)
{
    prompt_release(prompt);
    prompt->request = *request;
    line_edit_set(&prompt->edit, bytes_of(request->text ? request->text : ""));
    if (state_home && request->history)
        load_history(prompt, state_home);
    prompt->line_at = prompt->line_count;
}

void
prompt_remember(struct prompt *prompt, const char *state_home)
{
    const char *text = strbuf_text(&prompt->edit.text);
    bool is_known = prompt->line_count && strcmp(prompt->lines[prompt->line_count - 1], text) == 0;
    if (!state_home || !prompt->request.history || !*text || is_known)
        return;
    char path[512];
    history_path(state_home, prompt->request.history, path);
    // The whole list anew, so that it stays short; through a second file, so that it is never half.
    char fresh[520];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (!stream) {
        if (fd >= 0)
            (void)close(fd);
        return; // a history that cannot be kept is no reason to disturb anybody
    }
    add_history(prompt, text);
    for (size_t i = 0; i < prompt->line_count; i++)
        (void)fprintf(stream, "%s\n", prompt->lines[i]);
    if (fclose(stream) == 0)
        (void)rename(fresh, path);
    else
        (void)unlink(fresh);
}

static void
show_history(struct prompt *prompt, size_t at)
{
    if (prompt->line_at == prompt->line_count) {
        strbuf_reset(&prompt->unsent);
        strbuf_add(&prompt->unsent, strbuf_bytes(&prompt->edit.text));
    }
    prompt->line_at = at;
    line_edit_set(&prompt->edit,
                  at < prompt->line_count ? bytes_of(prompt->lines[at]) : strbuf_bytes(&prompt->unsent));
}

// Replaces the last word by the next candidate; after the last one the word comes back as it was typed.
static bool
complete(struct prompt *prompt, struct app *app, void *state)
{
    if (!prompt->request.complete)
        return false;
    if (!prompt->is_completing) {
        strbuf_reset(&prompt->before);
        strbuf_add(&prompt->before, strbuf_bytes(&prompt->edit.text));
        prompt->candidate = 0;
    }
    struct bytes typed = strbuf_bytes(&prompt->before);
    const char *word = prompt->request.complete(app, state, typed, prompt->candidate);
    if (!word && !prompt->is_completing)
        return false;

    prompt->is_completing = true;
    prompt->candidate = word ? prompt->candidate + 1 : 0;
    line_edit_set(&prompt->edit, typed);
    if (!word)
        return true;
    size_t blank = bytes_find_last(typed, BYTES(" "));
    size_t start = blank == SIZE_MAX ? 0 : blank + 1;
    strbuf_splice(&prompt->edit.text, start, prompt->edit.text.len - start, BYTES(""));
    prompt->edit.caret = start;
    line_edit_insert(&prompt->edit, bytes_of(word));
    return true;
}

static bool
is_at_word(const struct prompt *prompt)
{
    const struct line_edit *edit = &prompt->edit;
    return edit->caret == 0 || edit->text.data[edit->caret - 1] == ' ';
}

// The place where the last term before the caret begins; what is quoted in it may hold blanks.
static size_t
last_term(struct bytes text, size_t caret)
{
    size_t start = 0;
    bool is_quoted = false, is_blank = true;
    for (size_t at = 0; at < caret; at++) {
        char c = text.data[at];
        if (is_blank && c != ' ')
            start = at;
        if (is_quoted && c == '\\')
            at++;
        else if (c == '"')
            is_quoted = !is_quoted;
        is_blank = c == ' ' && !is_quoted;
    }
    return start;
}

static void
delete_term(struct prompt *prompt)
{
    struct line_edit *edit = &prompt->edit;
    size_t from = last_term(strbuf_bytes(&edit->text), edit->caret);
    strbuf_splice(&edit->text, from, edit->caret - from, BYTES(""));
    edit->caret = from;
}

// `?` where a word begins: the next rows, and after the last ones none.
static void
explain(struct prompt *prompt)
{
    const char *name, *sentence;
    prompt->explained = prompt->is_explaining ? prompt->explained + EXPLAINED_ROWS : 0;
    prompt->is_explaining = prompt->request.explain(prompt->explained, &name, &sentence);
}

bool
prompt_handle(struct prompt *prompt, struct app *app, void *state, enum action action)
{
    if (action == DO_COMPLETE)
        return complete(prompt, app, state);
    prompt->is_completing = false;
    prompt->is_explaining = false;
    if (action == DO_HISTORY_PREVIOUS && prompt->line_at > 0) {
        show_history(prompt, prompt->line_at - 1);
        return true;
    }
    if (action == DO_HISTORY_NEXT && prompt->line_at < prompt->line_count) {
        show_history(prompt, prompt->line_at + 1);
        return true;
    }
    size_t len = prompt->edit.text.len;
    if (action == DO_DELETE_LEFT && prompt->request.has_terms && prompt->edit.caret > 0 && is_at_word(prompt))
        delete_term(prompt);
    else
        (void)line_edit_handle(&prompt->edit, action);
    return prompt->edit.text.len != len;
}

bool
prompt_type(struct prompt *prompt, struct bytes text)
{
    size_t len = prompt->edit.text.len;
    prompt->is_completing = false;
    if (prompt->request.explain && bytes_equal_text(text, "?") && is_at_word(prompt)) {
        explain(prompt);
        return false;
    }
    prompt->is_explaining = false;
    line_edit_insert(&prompt->edit, text);
    return prompt->edit.text.len != len;
}

// The character that the error is about, in cells from the beginning of the text.
static int
error_cell(const struct prompt *prompt, const struct canvas *canvas)
{
    struct bytes text = strbuf_bytes(&prompt->edit.text);
    size_t at = 0;
    for (int column = 1; column < prompt->error.column && at < text.len; column++)
        at += text_fit(text, at, 1, canvas->is_ascii);
    return text_cells(bytes_slice(text, 0, at), canvas->is_ascii);
}

static void
draw_error(const struct prompt *prompt, struct canvas *canvas, struct area row, int start)
{
    if (!err_is_set(&prompt->error))
        return;
    struct bytes words = bytes_of(prompt->error.text);
    int col = prompt->error.column > 0 ? start + error_cell(prompt, canvas) : row.col + 1;
    int width = text_cells(words, canvas->is_ascii);
    if (col + width > row.col + row.cols)
        col = row.col + row.cols - width;
    if (col < row.col)
        col = row.col;
    (void)canvas_text(canvas, row.row, col, row.col + row.cols - col, words, ROLE_PROMPT_ERROR);
}

void
prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct area area)
{
    if (area.rows < 1)
        return;
    struct area line = area_take_bottom(&area, 1);
    canvas_fill(canvas, line, ROLE_PROMPT);
    int col = line.col + canvas_text(canvas, line.row, line.col, line.cols - 1,
                                     bytes_of(prompt->request.label), ROLE_PROMPT_LABEL);
    if (area.rows > 0) {
        canvas_fill(canvas, area, ROLE_TEXT);
        struct area above = area_take_bottom(&area, 1);
        if (!err_is_set(&prompt->error) && prompt->request.hint)
            canvas_text(canvas, above.row, above.col + 1, above.cols - 1, bytes_of(prompt->request.hint),
                        ROLE_DIM);
        draw_error(prompt, canvas, above, col);
    }
    line_edit_draw(&prompt->edit, canvas, line.row, col, line.col + line.cols - col, ROLE_PROMPT, true);
    if (err_is_set(&prompt->error) && prompt->error.column > 0) {
        int cell = error_cell(prompt, canvas);
        if (col + cell < line.col + line.cols)
            canvas_restyle(canvas, (struct area){line.row, col + cell, 1, 1}, ROLE_PROMPT_ERROR);
    }
}

void
prompt_draw_explained(const struct prompt *prompt, struct canvas *canvas, struct area area)
{
    enum { NAME = 16 };
    const char *name, *sentence;
    int rows = 0;
    if (!prompt->is_explaining || area.rows < 2)
        return;
    while (rows < EXPLAINED_ROWS && rows < area.rows - 1 &&
           prompt->request.explain(prompt->explained + (size_t)rows, &name, &sentence))
        rows++;
    struct area lines = area_take_bottom(&area, rows + 1);
    canvas_fill(canvas, lines, ROLE_TEXT);
    canvas_hline(canvas, lines.row, lines.col + 1, lines.cols - 2, ROLE_BORDER);
    for (int i = 0; i < rows; i++) {
        int row = lines.row + 1 + i;
        (void)prompt->request.explain(prompt->explained + (size_t)i, &name, &sentence);
        canvas_text(canvas, row, lines.col + 1, NAME, bytes_of(name), ROLE_FILTER);
        if (lines.cols > NAME + 4)
            canvas_text(canvas, row, lines.col + 2 + NAME, lines.cols - NAME - 3, bytes_of(sentence),
                        ROLE_TEXT);
    }
}

void
prompt_release(struct prompt *prompt)
{
    line_edit_release(&prompt->edit);
    strbuf_release(&prompt->before);
    strbuf_release(&prompt->unsent);
    for (size_t i = 0; i < prompt->line_count; i++)
        free(prompt->lines[i]);
    free(prompt->lines);
    *prompt = (struct prompt){0};
}
