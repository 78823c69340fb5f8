#include "ui/views/text_page.h"

#include "ui/app/app.h"
#include "ui/widgets/statusbar.h"

#define POSITION_COLS 14

void
text_page_init(struct text_page *page, struct app *app, const char *title)
{
    page->title = title;
    page->pager = pager_create();
    pager_set_ascii(page->pager, app_config(app)->is_ascii);
}

void
text_page_release(struct text_page *page)
{
    pager_destroy(page->pager);
    page->pager = NULL;
}

static bool
search_accepted(struct app *app, void *state, struct bytes text)
{
    const struct text_page *page = state;
    struct err err = {0};
    if (pager_search(page->pager, text, &err))
        return true;
    app_prompt_error(app, &err);
    return false;
}

bool
text_page_move(struct app *app, void *state, enum action action)
{
    (void)app;
    return pager_handle(((struct text_page *)state)->pager, action);
}

bool
text_page_search(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    app_prompt(app, &(struct prompt_request){.label = "/", .history = "search", .accepted = search_accepted});
    return true;
}

const struct view_action text_page_actions[] = {
    {.part = pager_handles, .run = text_page_move},
    {.action = DO_SEARCH, .run = text_page_search},
    {0},
};

void
text_page_layout(struct app *app, void *state, const struct view_areas *areas)
{
    (void)app;
    pager_layout(((struct text_page *)state)->pager, areas->body);
}

bool
text_page_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    if (i > 0)
        return false;
    strbuf_add_text(out, ((const struct text_page *)state)->title);
    return true;
}

int
text_page_draw_line(const struct text_page *page, struct canvas *canvas, struct area line, int *col)
{
    char words[64];
    int limit = line.col + line.cols - POSITION_COLS;
    *col = line.col + 1;
    if (line.rows == 0)
        return limit;
    if (*pager_search_words(page->pager, words))
        chip_draw(canvas, line.row, col, limit, ROLE_FILTER, bytes_of(words));
    canvas_styled(canvas, line.row, line.col, line.cols - 1, bytes_of(pager_position(page->pager, words)),
                  &(struct canvas_style){.role = ROLE_STATUS, .at_right = true});
    return limit;
}

void
text_page_draw(const struct app *app, const void *state, struct canvas *canvas,
               const struct view_areas *areas)
{
    (void)app;
    const struct text_page *page = state;
    int col;
    (void)text_page_draw_line(page, canvas, areas->line, &col);
    pager_draw(page->pager, canvas, areas->body);
}
