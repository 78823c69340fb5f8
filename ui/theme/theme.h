// theme: what each role looks like. Read from files of libconfuse's syntax (themes/README.md).
//
//   palette { fg = "#93a1a1 247 default"  red = "#dc322f 160 red" }      truecolor, 256, 16: the last two may
//   be left out role { cursor = "fg on sel"  status.error = "red bold" }             fg [on bg] [bold dim
//   underline italic reverse blink] role-16 { … }   role-mono { … }                                      what
//   differs on 16 colours, or without any
//
// Names fall back along their dots, so a short theme is complete. What cannot be read is a warning with
// file:line, never a failed start.
#ifndef REDRIVE_UI_THEME_THEME_H
#define REDRIVE_UI_THEME_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/strbuf.h"
#include "ui/theme/color.h"
#include "ui/canvas/roles.h"
#include "ui/theme/source.h"

enum look_attribute {
    LOOK_BOLD = 1 << 0,
    LOOK_DIM = 1 << 1,
    LOOK_UNDERLINE = 1 << 2,
    LOOK_ITALIC = 1 << 3,
    LOOK_REVERSE = 1 << 4,
    LOOK_BLINK = 1 << 5,
};

struct look {
    struct color foreground, background;
    unsigned attributes;
};
// A blank shows it: something behind or below the letters, not only the letters themselves.
bool look_is_seen_on_blanks(const struct look *look);

struct theme;

// The name of no theme of its own: `default`, until the terminal has told its background.
#define THEME_AUTO "auto"

struct theme *theme_load(const char *name, const struct ui_places *places, struct strbuf *warnings,
                         struct err *err);
void theme_destroy(struct theme *theme);
// Never NULL.
const struct look *theme_look(const struct theme *theme, enum role role, enum color_depth depth);
// The look of a role in the cursor row: its own letters on what is behind that row. Where the row is shown by
// reversed colours, or without colour, the cursor's look.
struct look theme_look_on_cursor(const struct theme *theme, enum role role, enum color_depth depth);
const char *theme_name(const struct theme *theme);
const char *theme_background(const struct theme *theme); // "dark", "light", "any"
// The colours behind and of ordinary text, for pictures; themes on the terminal's own colours give those of a
// dark (or light) terminal.
void theme_page(const struct theme *theme, uint32_t *foreground, uint32_t *background);
// Names that can be loaded, one a line, with where they are; and every role with its meaning.
void theme_list(const struct ui_places *places, struct strbuf *out);
void theme_roles(struct strbuf *out);

#endif
