// source: the text of a theme or a keymap, wherever it is.
//
// Looked for as a path (when the name has a slash), in the person's folder, in the shared one, and among the
// files built into the program.
#ifndef REDRIVE_UI_THEME_SOURCE_H
#define REDRIVE_UI_THEME_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

// Where such files may be besides the built-in ones.
struct ui_places {
    const char *config_home; // $XDG_CONFIG_HOME/redrive, or NULL
    const char *share;       // $PREFIX/share/redrive, or NULL
};

struct source_kind {
    const char *folder; // "themes"
    const char *suffix; // ".theme"
};
extern const struct source_kind source_themes, source_keymaps;

struct source {
    char
        path[512]; // for messages: "/home/ana/.config/redrive/keymaps/mine.keymap", "built-in default.keymap"
    char *text;    // without comments, line ends kept; heap
};

// `taken`: paths of the files that are being read already, which an include must not find again.
bool source_find(struct source *source, const struct source_kind *kind, const char *name,
                 const struct ui_places *places, const struct source *const *taken, size_t taken_count,
                 struct err *err) MUST_CHECK;
void source_release(struct source *source);
// Names that can be found, one a line, each with where it is; of two with one name the one that counts.
void source_list(const struct source_kind *kind, const struct ui_places *places, struct strbuf *out);

// A file built in, by its whole name "default.theme", or absent; and the i-th of all, or NULL.
struct bytes builtin_file(const char *name);
const char *builtin_name(size_t i);

#endif
