// editor: a document that a person edits: bytes, cursor, selection, undo. It draws nothing and knows no keys;
// a view turns keys into these calls and draws from what they tell.
//
// One editor is one text: the payload, or a key, the value of a header, a topic. A JSON document has syntax
// classes, paths, folds and a check (syntax.h, place.h, fold.h, check.h); a text has none of them, and every
// question about them has the answer "none". Bytes that are no UTF-8 are shown as \xNN and stay as they are.
//
// A position is a byte offset, and the cursor stands at the beginning of a character with its combining
// marks. The selection lies between the cursor and the anchor, where there is one; each call that moves the
// cursor without "extend" ends it. Times are µs of any clock that only goes forward.
//
// Work of a call: what one key does costs as much in a line of 1 MB as in a short one. Calls that read the
// whole document say so.
#ifndef REDRIVE_UI_EDITOR_EDITOR_H
#define REDRIVE_UI_EDITOR_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "ui/editor/buffer.h"

#define EDITOR_BYTES (16 << 20) // an edit that would make the document longer is refused
#define EDITOR_PAUSE 1000000    // µs without typing that begin a step of undo
#define EDITOR_INDENT 2         // blanks

struct editor;

// Copies the document; the cursor is at its beginning.
struct editor *editor_create(struct bytes document, bool is_json);
void editor_destroy(struct editor *editor);
// Takes another document: as if created again, but the cut text, the search and is_ascii stay.
void editor_load(struct editor *editor, struct bytes document, bool is_json);
void editor_set_json(struct editor *editor, bool is_json); // the switch between JSON and text
bool editor_is_json(const struct editor *editor);
void editor_set_read_only(struct editor *editor, bool is_read_only); // then every edit returns false
bool editor_is_read_only(const struct editor *editor);

void editor_set_ascii(struct editor *editor, bool is_ascii); // the canvas is (buffer_set_ascii)

// Lines, columns and bytes. The view may ask everything of it, and must not change it.
struct buffer *editor_buffer(struct editor *editor);
size_t editor_len(const struct editor *editor);
struct bytes editor_text(struct editor *editor); // all of it, until the next call that edits (buffer_text)
// Counts up with every edit, undo and redo: what was computed for another number is out of date.
uint64_t editor_version(const struct editor *editor);

// --- cursor and selection ---

size_t editor_cursor(const struct editor *editor);
// Puts the cursor on the character that holds the byte at `at`, and opens folds around it. With `extend` the
// selection grows or shrinks, and begins at the old cursor where there was none.
void editor_set_cursor(struct editor *editor, size_t at, bool extend);
void editor_select(struct editor *editor, size_t anchor, size_t cursor);
void editor_unselect(struct editor *editor);
// false: nothing is selected. [*from, *to) are the selected bytes.
bool editor_selection(const struct editor *editor, size_t *from, size_t *to);

// --- edits ---
//
// Each returns false and changes nothing where the document is read-only or would become too long, or where
// there is nothing to do. Each is a step of undo of its own, except typing and deleting by character: these
// run on in one step until a word begins, a line ends, the cursor is moved, or nothing was typed for
// EDITOR_PAUSE. Where something is selected, typed and pasted text replaces it.

bool editor_type(struct editor *editor, struct bytes typed, int64_t now); // what keys gave
bool editor_paste(struct editor *editor, struct bytes pasted, int64_t now);
// A line end as the document has them, and the blanks that the line begins with; behind { or [ one indent
// more, and between brackets the closing one goes to a line of its own.
bool editor_enter(struct editor *editor, int64_t now);
// Tab: blanks up to the next multiple of EDITOR_INDENT cells; with a selection each of its lines moves right,
// or left (`is_left`: also without a selection).
bool editor_indent(struct editor *editor, bool is_left, int64_t now);
bool editor_delete_left(struct editor *editor, int64_t now);  // the selection, or the character before
bool editor_delete_right(struct editor *editor, int64_t now); // the selection, or the character behind
// The bytes [from, to) are deleted or replaced, as a step of their own; the cursor goes behind the new text.
bool editor_delete(struct editor *editor, size_t from, size_t to, int64_t now);
bool editor_replace(struct editor *editor, size_t from, size_t to, struct bytes b, int64_t now);
// New white space around unchanged tokens (core/json): reads the whole document. The cursor stays on its
// token. false also for a text, or where it is already so; err then says why it cannot be done, and is not
// set where nothing had to change. What is not JSON any more from some place on is refused with that place.
bool editor_format(struct editor *editor, int64_t now, struct err *err) MUST_CHECK;
bool editor_minify(struct editor *editor, int64_t now, struct err *err) MUST_CHECK;

// Edits between these two are one step: for keys that do several things. They may be nested.
void editor_begin_step(struct editor *editor, int64_t now);
void editor_end_step(struct editor *editor);

// false: nothing to undo or redo. The cursor and the selection are as they were before the step (undo) or
// behind it (redo).
bool editor_undo(struct editor *editor);
bool editor_redo(struct editor *editor);
bool editor_can_undo(const struct editor *editor);
bool editor_can_redo(const struct editor *editor);
// The document as it is now counts as saved; it does so again when undo or redo come back to it.
void editor_set_saved(struct editor *editor);
bool editor_is_modified(const struct editor *editor);

// --- cut text ---
//
// There is one cut text (one register). It holds characters, or whole lines: then putting it back makes lines
// of it.

struct bytes editor_cut_text(const struct editor *editor, bool *is_lines); // is_lines may be NULL
void editor_set_cut_text(struct editor *editor, struct bytes text, bool is_lines);
// Takes the bytes [from, to) into the cut text, or also deletes them. With `append` behind what is there.
bool editor_copy(struct editor *editor, size_t from, size_t to, bool is_lines, bool append);
bool editor_cut(struct editor *editor, size_t from, size_t to, bool is_lines, bool append, int64_t now);
// The selection, copied or cut. false: nothing is selected.
bool editor_copy_selection(struct editor *editor);
bool editor_cut_selection(struct editor *editor, int64_t now);
// C-k: the selection, or the line of the cursor. Cut again at once, lines are collected.
bool editor_cut_line(struct editor *editor, int64_t now);
// The bytes of `count` whole lines from the cursor's on, with their line ends (vi's dd and yy). A fold counts
// as one line.
void editor_line_range(struct editor *editor, size_t count, size_t *from, size_t *to);
// Puts the cut text: characters at the cursor (`is_behind`: behind the character under it), lines above the
// cursor's line (`is_behind`: below it). One step.
bool editor_put(struct editor *editor, bool is_behind, int64_t now);

// Bytes that were moved, read or scanned by all calls so far, and memory that is held (without the steps of
// undo, which hold what edits took away): for tests of what a key costs.
uint64_t editor_work(const struct editor *editor);
size_t editor_memory(const struct editor *editor);

#endif
