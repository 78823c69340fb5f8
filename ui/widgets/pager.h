// pager: a scrolling text with a cursor line and foldable sections. Owns copies of its lines; rebuilding it
// keeps place and folds.
#ifndef REDRIVE_UI_PAGER_H
#define REDRIVE_UI_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "ui/keymap/action.h"
#include "ui/canvas/canvas.h"

struct pager; // hidden: lines, sections, search

struct pager *pager_create(void);
void pager_destroy(struct pager *pager);

// Building: begin, then sections and lines in order, then end. Folds are kept by section title, the place by
// line number.
void pager_begin(struct pager *pager);
// A heading line that folds what follows up to the next section. `note` stands behind the title when folded
// ("23 frames of spring"); is_folded is only its first state.
void pager_section(struct pager *pager, const char *title, const char *note, bool is_folded);
// One line, or several where the text has newlines; tabs go to the next multiple of 4.
void pager_line(struct pager *pager, enum role role, struct bytes untrusted);
void pager_printf(struct pager *pager, enum role role, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// With parts in other roles (byte ranges of this line, which must hold no newline).
void pager_spans(struct pager *pager, enum role role, struct bytes untrusted, const struct canvas_span *spans,
                 size_t count);
// Lines added from here on continue below their column `cells` where they are too long for one row, if the
// pager is wide enough for that; 0, as after pager_begin: at the left.
void pager_hang(struct pager *pager, int cells);
// The text of a line that was added is an address from this byte on, in ASCII: a link for the terminal.
void pager_link(struct pager *pager, size_t line, size_t from);
// Parts of a line that was added (0: the first) which another search found, in ascending order: shown as
// matches, and gone to like those, while nothing is searched for here.
void pager_marks(struct pager *pager, size_t line, const struct canvas_span *marks, size_t count);
void pager_end(struct pager *pager);

void pager_set_ascii(struct pager *pager, bool is_ascii); // as the canvas it is drawn into
const char *pager_glyph(const struct pager *pager, enum glyph glyph);
// Of two pagers side by side one has the keys: the mark of its cursor is seen, the other's is not.
void pager_set_focus(struct pager *pager, bool has_focus);
void pager_layout(struct pager *pager, struct area area);
// Movement, sections, folds, wrap, next and previous match: is it one of these actions? Does one of them;
// false: another one, or nothing to do it on.
bool pager_handles(enum action action);
bool pager_handle(struct pager *pager, enum action action);
// The cursor to the heading of a section; false: there is none of this title.
bool pager_to_section(struct pager *pager, const char *title);
void pager_draw(const struct pager *pager, struct canvas *canvas, struct area area);

// A regular expression, or "" to end the search; goes to the first match at or after the top. err->column
// says where it is wrong.
bool pager_search(struct pager *pager, struct bytes pattern, struct err *err);
bool pager_is_searching(const struct pager *pager);
bool pager_has_matches(const struct pager *pager);
bool pager_has_match_after(const struct pager *pager, bool is_forward); // the cursor, without going round
// "3 of 17 matching lines", "17 matching lines" where the cursor is on none of them; "" where there is
// neither a search nor a mark.
const char *pager_search_words(const struct pager *pager, char out[64]);
// "12-40/310" for line 2.
const char *pager_position(const struct pager *pager, char out[48]);
// The title of the section the cursor is in, or NULL.
const char *pager_section_at(const struct pager *pager);
// The text of the line the cursor is on (for copying), absent when empty.
struct bytes pager_line_at(const struct pager *pager);
// Lines added so far since pager_begin, headings included; and which of them the cursor is on.
size_t pager_lines(const struct pager *pager);
size_t pager_cursor(const struct pager *pager);
struct bytes pager_text(const struct pager *pager, size_t line);
void pager_top(struct pager *pager); // back to the first line: other content came in

#endif
