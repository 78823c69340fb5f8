// place: the path of the cursor, the way to a path, and the value there. All answers work up to errors and
// behind them, as well as the reader of check.h takes up again.
#ifndef REDRIVE_UI_EDITOR_PLACE_H
#define REDRIVE_UI_EDITOR_PLACE_H

#include "base/arena.h"
#include "ui/editor/editor.h"

// Appends the path at an offset, as json_path_at does. Reads at most 8 KiB of the document besides the names
// on the way, if everything before was read since the last edit (else up to it: once). false and nothing
// appended: a text.
bool editor_path_at(struct editor *editor, size_t at, struct strbuf *out);

// The value that the path at `at` names, with all its bytes: on a name or colon the value behind it. Reads to
// its end. false: there is none (yet).
bool editor_value_at(struct editor *editor, size_t at, size_t *from, size_t *to);
// The name of the member at `at`, with its quotes. false: `at` is not in a member.
bool editor_name_at(struct editor *editor, size_t at, size_t *from, size_t *to);
// Appends what a person wants to have copied: the content of a string, of anything else its bytes. false:
// there is no value.
bool editor_copy_value_at(struct editor *editor, size_t at, struct strbuf *out);

// The value at a path such as $.order.lines[2].sku; of duplicate names the last one. Reads the containers on
// the way. false: err says where the path ends to exist, or which column of it cannot be read.
bool editor_find_path(struct editor *editor, struct bytes path, size_t *from, size_t *to,
                      struct err *err) MUST_CHECK;
// The same for the longest beginning of the path that exists; *steps (may be NULL) is how many of its steps.
// false: the path cannot be read.
bool editor_find_nearest(struct editor *editor, struct bytes path, size_t *from, size_t *to, size_t *steps);

// Paths that continue a partial one ("$.order.li" → "$.order.lines"), in the order of the document: names of
// the object, indexes of the array. Writes at most `room`, copied into `arena`; returns how many. Reads at
// most 1 MiB of the container.
size_t editor_complete_path(struct editor *editor, struct bytes partial, struct arena *arena,
                            struct bytes *candidates, size_t room);

#endif
