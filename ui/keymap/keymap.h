// keymap: which keys do what where. Read from files of libconfuse's syntax (keymaps/README.md).
//
//   include("default.keymap")
//   list { reprocess = {"R"}  half-down = {"<C-d>"}  select-all += {"<A-a>"}  discard = {} }
//
// The first key of an action is the one the footer shows. A key that a file takes from an included map moves
// to the new action and the loser is reported; two actions on one key within one file are an error with both
// lines.
#ifndef REDRIVE_UI_KEYMAP_KEYMAP_H
#define REDRIVE_UI_KEYMAP_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/strbuf.h"
#include "ui/keymap/action.h"
#include "ui/keymap/key.h"
#include "ui/theme/source.h"

struct keymap;

// By name ("default", "emacs", "mc", "vi") or path. Warnings (one line each, with file:line) are appended;
// they do not fail.
struct keymap *keymap_load(const char *name, const struct ui_places *places, struct strbuf *warnings,
                           struct err *err);
void keymap_destroy(struct keymap *keymap);

enum keymap_answer { KEYMAP_NONE, KEYMAP_MORE, KEYMAP_ACTION }; // MORE: the beginning of a sequence
enum keymap_answer keymap_find(const struct keymap *keymap, enum context context,
                               const struct key_sequence *keys, enum action *action);
// The i-th sequence that does this in the context (own ones first, then inherited that are not hidden);
// false: no more.
bool keymap_keys(const struct keymap *keymap, enum context context, enum action action, size_t i,
                 struct key_sequence *keys);
// The first of them as text, "" for none: for the footer.
const char *keymap_key_text(const struct keymap *keymap, enum context context, enum action action,
                            char out[32]);

// The same without inherited ones.
bool keymap_own_keys(const struct keymap *keymap, enum context context, enum action action, size_t i,
                     struct key_sequence *keys);

const char *keymap_name(const struct keymap *keymap);
// The effective map in the form of a file, with a comment where each line came from.
void keymap_dump(const struct keymap *keymap, struct strbuf *out);
// For people: contexts, keys, actions, help sentences.
void keymap_describe(const struct keymap *keymap, struct strbuf *out);
// Actions that are neither bound in any context nor named in the file's `unbound` list, one a line: for tests
// of shipped maps.
void keymap_missing(const struct keymap *keymap, struct strbuf *out);

#endif
