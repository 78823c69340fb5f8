// fold: objects and arrays whose inner lines are hidden. The lines of both brackets stay; one between them
// must exist. An edit within a fold opens it, the cursor opens what it enters.
#ifndef REDRIVE_UI_EDITOR_FOLD_H
#define REDRIVE_UI_EDITOR_FOLD_H

#include "ui/editor/editor.h"

#define FOLD_MOST 32768 // containers folded at once

// Folds the first container that begins on the line of `at` and has lines within; else the innermost around
// `at` that has. The cursor leaves what is hidden for the opening bracket. false: there is none. Reads to the
// end of the container.
bool editor_fold(struct editor *editor, size_t at);
// Opens the fold that begins on the line of `at`, else the innermost fold that hides the line. false: none.
bool editor_unfold(struct editor *editor, size_t at);
bool editor_toggle_fold(struct editor *editor, size_t at);
// Folds every container below the outermost one, nested ones too (opening one shows its own folded); reads
// the whole document. Returns how many.
size_t editor_fold_all(struct editor *editor);
void editor_unfold_all(struct editor *editor);
bool editor_has_folds(const struct editor *editor);

bool editor_is_hidden(struct editor *editor, size_t line);
// The number of lines that a fold which begins on this line hides; 0: none begins here.
size_t editor_folded_at(struct editor *editor, size_t line);
// Can something that begins on this line be folded? For a glyph in the gutter: looks at the first 4 KiB of
// the line and at 64 KiB behind them at most, and says yes to a container that is longer.
bool editor_can_fold(struct editor *editor, size_t line);

// Rows are the lines that are not hidden, from 0.
size_t editor_rows(struct editor *editor);
size_t editor_row_of(struct editor *editor, size_t line); // of a hidden line: the row of its fold
size_t editor_line_of(struct editor *editor, size_t row); // the last line for a row behind the end

#endif
