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
#include "settings/config_text.h"

// Where such files may be besides the built-in ones.
struct ui_places {
    const char *config_home; // $XDG_CONFIG_HOME/redrive, or NULL
    const char *share;       // $PREFIX/share/redrive, or NULL
};

struct source_kind {
    const char *folder; // "themes"
    const char *suffix; // ".theme"
    const char *common; // the name that others include and nobody chooses, or NULL
};
extern const struct source_kind source_themes, source_keymaps;

// Paths of the files that were read, for messages: "/home/ana/.config/redrive/keymaps/mine.keymap",
// "built-in default.keymap". The outermost is the first.
struct source_files {
    char **paths; // heap
    size_t count, capacity;
};
void source_files_release(struct source_files *files);

// How a theme or a keymap is read.
struct source_reader {
    const struct source_kind *kind;
    const struct config_language *language;
    const struct ui_places *places; // NULL: only paths and built-in files
    struct source_files *files;
    // Takes what files.paths[file] says; what it includes was taken before.
    bool (*take)(void *target, size_t file, const struct config_text *text, struct err *err);
    void *target;
};
bool source_read(const struct source_reader *reader, const char *name, struct err *err) MUST_CHECK;

// A name that can be chosen, and where it is: a folder, or "built in".
typedef void source_each_fn(void *context, struct bytes name, const char *where);
// Each of them; of two with one name only the one that counts.
void source_each(const struct source_kind *kind, const struct ui_places *places, source_each_fn *each,
                 void *context);
// The same, one a line, each with where it is; of two with one name the one that counts.
void source_list(const struct source_kind *kind, const struct ui_places *places, struct strbuf *out);

// A file built in, by its whole name "default.theme", or absent; and the i-th of all, or NULL.
struct bytes builtin_file(const char *name);
const char *builtin_name(size_t i);

#endif
