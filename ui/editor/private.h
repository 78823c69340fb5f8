// private: the parts of an editor, shared by the files of this folder.
#ifndef REDRIVE_UI_EDITOR_PRIVATE_H
#define REDRIVE_UI_EDITOR_PRIVATE_H

#include "core/filter/pattern.h"
#include "ui/editor/check.h"
#include "ui/editor/editor.h"
#include "ui/editor/find.h"
#include "ui/editor/tree.h"
#include "ui/editor/undo.h"

// A folded container. Offsets and lines move with the edits before it.
struct fold {
    uint32_t open, close; // offsets of its brackets
    uint32_t line, last;  // their lines: those between are hidden
};

struct folds {
    struct fold *folds; // by `open`; they nest or are apart
    size_t count, capacity;
    // The outermost ones, with the number of lines hidden before each; made again when it is stale.
    struct fold_row {
        uint32_t line, last;
        uint32_t hidden;
        uint32_t fold;
    } * rows;
    size_t row_count, row_capacity;
    bool is_stale;
};

struct checking {
    struct check_finding *errors; // of the last whole check, moved with the edits
    size_t error_count, error_capacity;
    struct check_finding *warnings;
    size_t warning_count, warning_capacity;
    uint64_t checked, warned; // versions, from 1; 0: never
    bool is_valid;            // what the last whole check found
};

// Matches that begin before a place.
struct search_point {
    size_t at, count;
};

struct searching {
    struct pattern *pattern; // NULL: nothing is looked for
    struct strbuf scratch;
    uint64_t version; // of the document that is counted; 0: counting has not begun
    size_t at, count; // counted so far
    bool is_limited;
    struct search_point *points; // one for each 4 KiB or more that were counted
    size_t point_count, point_capacity;
    size_t number_cursor, number; // of the match at the cursor, when it was asked for last
    uint64_t work;
};

struct editor {
    struct buffer *buffer;
    bool is_json, is_read_only, is_ascii;
    uint64_t version;
    struct undo_place place;
    size_t goal; // cell that up and down keep; SIZE_MAX: that of the cursor
    struct undo undo;
    struct strbuf cut;
    bool cut_is_lines;
    uint64_t cut_version; // where lines were cut last, to collect the next ones; 0: not
    struct tree tree;
    struct folds folds;
    struct checking checking;
    struct searching searching;
};

// One splice of the document, behind which everything that was computed follows.
struct edit {
    size_t at, removed, inserted;
    size_t line;                          // of `at`
    size_t removed_lines, inserted_lines; // line ends in them
};

// The one way to change the document. `kind` and `begins_word` group it for undo. The cursor is the caller's
// to move, before editor_finish. false: refused.
bool editor_apply(struct editor *editor, enum undo_kind kind, bool begins_word, size_t from, size_t to,
                  struct bytes b, int64_t now);
// Puts the cursor where it belongs behind an edit, which redo does again; the selection ends, or is this one.
void editor_finish(struct editor *editor, size_t cursor);
void editor_finish_selected(struct editor *editor, size_t anchor, size_t cursor);
bool editor_may_edit(const struct editor *editor, size_t removed, size_t inserted);

// What follows an edit in each part.
void folds_edited(struct editor *editor, const struct edit *edit);
void checking_edited(struct editor *editor, const struct edit *edit);

// Opens the folds that hide the line of `at`.
void folds_show(struct editor *editor, size_t at);

// A letter, digit, _ or beyond ASCII.
bool is_word_byte(unsigned char c);

void folds_release(struct folds *folds);
void checking_release(struct checking *checking);
void searching_release(struct searching *searching);

#endif
