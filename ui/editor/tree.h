// tree: the state of the scan at every 8 KiB of a document, and what can be found from there: brackets,
// values, children.
//
// An edit sets the states behind it aside. When the document is read again and comes to the same state at one
// of these places, what was known behind it holds again: mostly soon behind the edit.
//
// Memory: 64 bytes for each 8 KiB (or 4 KiB, after edits), and 8 bytes for each level of nesting there.
#ifndef REDRIVE_UI_EDITOR_TREE_H
#define REDRIVE_UI_EDITOR_TREE_H

#include "ui/editor/syntax_scan.h"

enum { TREE_STRIDE = 8192 };
#define TREE_BYTES (1u << 30) // a longer document has no syntax

struct tree_point {
    struct scan_head head; // its `lowest` is the least depth since the point before
    size_t levels;         // where its levels begin in tree.levels
    size_t errors;         // found before
};

struct tree_error {
    size_t at;
    const char *expected;
};

// States that follow from each other, with their levels and the errors found.
struct tree_chain {
    struct tree_point *points;
    size_t point_count, point_capacity;
    struct scan_level *levels;
    size_t level_count, level_capacity;
    struct tree_error *errors; // in order of place; the first CHECK_ERRORS
    size_t error_count, error_capacity;
};

// Zero-initialise, tree_begin.
struct tree {
    struct buffer *buffer;
    size_t stride;            // bytes between points: TREE_STRIDE, less in tests
    struct tree_chain known;  // from the beginning on
    struct tree_chain aside;  // behind the last edits, moved with them
    size_t aside_first;       // the first of its points that may still be met
    struct syntax_scan front; // everything before was read
    struct syntax_scan near;  // where the last question ended; at SIZE_MAX: nowhere
    uint64_t work;            // bytes scanned
};

void tree_begin(struct tree *tree, struct buffer *buffer); // also forgets everything
void tree_release(struct tree *tree);
// The bytes [at, at + removed) were replaced by `inserted` bytes.
void tree_edited(struct tree *tree, size_t at, size_t removed, size_t inserted);
// Reads on until `to` at least. What is missing at the end is told by scan_missing of `front`.
void tree_read(struct tree *tree, size_t to);
bool tree_is_read(const struct tree *tree); // all of it

// The state at `at`, or a few bytes behind in the middle of a character, an escape or a literal.
void tree_seek(struct tree *tree, size_t at, struct syntax_scan *scan);
// Keeps a state, for a question at the same place or soon behind.
void tree_keep(struct tree *tree, const struct syntax_scan *scan);
bool tree_next(struct tree *tree, struct syntax_scan *scan, size_t limit, struct syntax_piece *piece);
// Goes on to behind the token that makes the depth `depth` or less. false: there is none.
bool tree_leave(struct tree *tree, struct syntax_scan *scan, int depth, struct syntax_piece *piece);

// Behind the value that begins at `from`. false: it does not end, or none begins there.
bool tree_value_end(struct tree *tree, size_t from, size_t *end);
// Behind the string that begins at `from`, the length of the document if it does not end.
size_t tree_string_end(struct tree *tree, size_t from);

// Parts of a chain, for the files of the tree.
void chain_add_point(struct tree_chain *chain, const struct scan_head *head, const struct scan_level *levels);
void chain_add_error(struct tree_chain *chain, size_t at, const char *expected); // up to CHECK_ERRORS
void chain_load(const struct tree_chain *chain, size_t i, struct syntax_scan *scan);
void chain_release(struct tree_chain *chain);
// The last point at or before `at`.
size_t chain_point_at(const struct tree_chain *chain, size_t at);
// Sets the known points from index `first` on aside, if they reach further than what is, and moves what is
// set aside with the edit.
void tree_set_aside(struct tree *tree, size_t first, size_t at, size_t removed, size_t inserted);
// Does the front stand in a state that was set aside? Then all that follows is known again.
bool tree_resume(struct tree *tree);
// Where the front may next meet such a state; SIZE_MAX: nowhere.
size_t tree_next_aside(struct tree *tree);

// The children of the container that begins at `from`, in order. The first piece of a child's value is known,
// not its end.
struct tree_children {
    struct syntax_scan scan;
    int depth; // within
    bool is_object;
    bool is_inside; // a child that is a container was returned, and is to be left first
    size_t index;   // of the last child, from 0
    size_t name;    // where its name begins; SIZE_MAX: an element
    size_t value;
    size_t from;
};
bool tree_children(struct tree *tree, size_t from, struct tree_children *children); // false: no container
bool tree_child(struct tree *tree, struct tree_children *children);

#endif
