// text_page: the part of a view that is one pager and no more: its keys, its search, its drawing. Such a view
// begins its state with a struct text_page, and gives these functions as its own where it adds nothing.
#ifndef REDRIVE_UI_VIEWS_TEXT_PAGE_H
#define REDRIVE_UI_VIEWS_TEXT_PAGE_H

#include "ui/view.h"
#include "ui/widgets/pager.h"

struct text_page {
    struct pager *pager; // owned
    const char *title;   // its only step of the breadcrumb
};

void text_page_init(struct text_page *page, struct app *app, const char *title);
void text_page_release(struct text_page *page);

// For struct view; `state` begins with a struct text_page.
bool text_page_move(struct app *app, void *state, enum action action); // for pager_handles
bool text_page_search(struct app *app, void *state, enum action action);
extern const struct view_action text_page_actions[]; // both, for a view that does nothing else
void text_page_layout(struct app *app, void *state, const struct view_areas *areas);
bool text_page_crumb(const struct app *app, const void *state, int i, struct strbuf *out);
void text_page_draw(const struct app *app, const void *state, struct canvas *canvas,
                    const struct view_areas *areas);

// The line above the text: search and position. A view that has more to say there draws its chips from *col
// on, up to the column that is returned.
int text_page_draw_line(const struct text_page *page, struct canvas *canvas, struct area line, int *col);

#endif
