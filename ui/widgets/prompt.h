// prompt: one line being typed at the bottom: readline's keys, history, completion, and what is wrong with it
// under the right column.
#ifndef REDRIVE_UI_PROMPT_H
#define REDRIVE_UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "ui/keymap/action.h"
#include "ui/canvas/canvas.h"

struct app;

// The callbacks must not keep `text`.
struct prompt_request {
    const char *label;   // "/", ":", "rate "
    const char *text;    // to begin with, or NULL
    const char *history; // name of the history in the state folder: "filter", "command"; NULL: none
    void *state;         // what the callbacks get; NULL: the state of the view that opened the prompt
    void (*changed)(struct app *app, void *state, struct bytes text); // after each change, may be NULL
    bool (*accepted)(struct app *app, void *state,
                     struct bytes text);             // false: it stays open (say why by app_prompt_error)
    void (*cancelled)(struct app *app, void *state); // Esc: restore what was before; may be NULL
    // The i-th candidate that replaces the last word of `text`, or NULL: no more. May be NULL.
    const char *(*complete)(struct app *app, void *state, struct bytes text, size_t i);
    const char *hint; // one line above, while nothing is wrong; NULL: none
    bool has_terms;   // blanks divide terms: the deletion of a blank takes the term before it too
    // What `?` at the beginning of a word lists above the line: the i-th row, or false. May be NULL.
    bool (*explain)(size_t i, const char **name, const char **sentence);
};

// A text with a caret: also the fields of dialogs. Zero-initialise.
struct line_edit {
    struct strbuf text;
    size_t caret; // byte offset, always at a character
};
void line_edit_set(struct line_edit *edit, struct bytes text); // caret at its end
void line_edit_insert(struct line_edit *edit,
                      struct bytes typed); // line ends and tabs become blanks, other controls are left out
bool line_edit_handle(struct line_edit *edit, enum action action); // true: the action is one of editing
// Draws with the caret in view, scrolled sideways if need be; places the terminal's cursor when `has_focus`.
void line_edit_draw(const struct line_edit *edit, struct canvas *canvas, int row, int col, int width,
                    enum role role, bool has_focus);
void line_edit_release(struct line_edit *edit);

struct prompt {
    struct prompt_request request;
    struct line_edit edit;
    struct err error;     // what is wrong, if set
    struct strbuf before; // the word that completion replaces
    size_t candidate;     // next one, while completing
    bool is_completing;
    bool is_explaining;
    size_t explained; // the row from which on, while explaining
    char **lines;     // history, oldest first
    size_t line_count, line_at;
    struct strbuf unsent; // what was typed before stepping into the history
};

void prompt_open(struct prompt *prompt, const struct prompt_request *request, const char *state_home);
// Editing, history, completion. true: the text changed.
bool prompt_handle(struct prompt *prompt, struct app *app, void *state, enum action action);
bool prompt_type(struct prompt *prompt, struct bytes text);
void prompt_remember(struct prompt *prompt,
                     const char *state_home); // appends the text to its history file, mode 0600
void prompt_draw(const struct prompt *prompt, struct canvas *canvas,
                 struct area area); // 1 row, 2 when there is room for the error
// The rows of `explain`, at the bottom of the area.
void prompt_draw_explained(const struct prompt *prompt, struct canvas *canvas, struct area area);
void prompt_release(struct prompt *prompt);

#endif
