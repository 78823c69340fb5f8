// find: looks for text in the document, in slices so that a screen stays alive, and replaces it.
//
// A capital letter makes the search exact (smart case, core/filter/pattern). A match lies within one line; a
// match of no characters is none. In a line of more than 16 KiB a match of up to 4 KiB is found, a longer one
// only where it begins in a favourable place. A regular expression has the limits of core/filter/pattern:
// where it reaches them, after 50 ms at most, the search goes on behind, and says so.
#ifndef REDRIVE_UI_EDITOR_FIND_H
#define REDRIVE_UI_EDITOR_FIND_H

#include "ui/editor/editor.h"

// What is looked for from now on; empty text: nothing. err->column is the character of the expression,
// from 1. On an error the earlier search stays.
bool editor_set_search(struct editor *editor, struct bytes text, bool is_regex, struct err *err) MUST_CHECK;
bool editor_has_search(const struct editor *editor);

struct find_match {
    size_t from, to;
};

enum find_state {
    FIND_MORE, // call again
    FIND_FOUND,
    FIND_NONE, // not in the document, which was read all round
};

// A search on its way from a place, round the ends of the document. The view holds it; an edit in between
// ends it with FIND_NONE.
struct find_run {
    size_t origin;
    size_t at;
    bool is_forward;
    bool is_wrapped; // it came over an end of the document
    uint64_t version;
    struct find_match match; // after FIND_FOUND
};
// Forward: matches that begin at `from` or behind; backward: those that begin before it. With `from` = cursor
// + 1 (or the character behind) the match under the cursor is passed over.
void editor_find_begin(struct editor *editor, struct find_run *run, size_t from, bool is_forward);
// Reads about `bytes` of the document at most (at least one line or window).
enum find_state editor_find(struct editor *editor, struct find_run *run, size_t bytes);
// Selects nothing, moves the cursor to the match, opens folds around it.
void editor_go_to_match(struct editor *editor, struct find_match match);

// Matches in [from, to), for the lines on screen; writes the first `room`, returns how many it wrote.
size_t editor_matches(struct editor *editor, size_t from, size_t to, struct find_match *matches, size_t room);

struct find_count {
    size_t count;     // so far
    size_t at;        // the number of the match that begins at the cursor, from 1; 0: none does
    bool is_complete; // all of the document was read
    bool is_limited;  // the expression reached its limits somewhere: there may be more
};
// Goes on counting for about `bytes` of the document and tells the state. Begins again after an edit.
struct find_count editor_count_matches(struct editor *editor, size_t bytes);

// Replaces the match that begins at the cursor and moves the cursor behind the new text. The text is taken as
// it is written. false: no match begins there. One step.
bool editor_replace_match(struct editor *editor, struct bytes by, int64_t now);

// Replaces every match in [from, to) as one step. The document changes only at the end. Zero-initialise, and
// release also where it was not finished.
struct find_replace {
    size_t from, to; // the range; to is clipped to the document
    size_t count;    // replaced
    bool is_limited; // the expression reached its limits somewhere
    size_t at, copied;
    bool is_begun;
    uint64_t version;
    struct strbuf out;
};
// FIND_MORE: call again. FIND_FOUND: done, `count` were replaced. FIND_NONE: there was none, or the document
// was edited in between, is read-only, or would become too long; nothing changed.
enum find_state editor_replace_all(struct editor *editor, struct find_replace *replace, struct bytes by,
                                   size_t bytes, int64_t now);
void find_replace_release(struct find_replace *replace);

#endif
