// Draws the view of a recipe: line 2, the counts of the dry run, and the rest as a text.
#include "ui/views/recipe/state.h"

#include <inttypes.h>
#include "base/text.h"
#include "ui/app/operation_words.h"
#include "ui/views/recipe/texts.h"
#include "ui/widgets/statusbar.h"

enum { POSITION_COLS = 14, CHIP_GAP = 3, CHIPS = 10, SMALL_BODY = 10 };

struct chip {
    const char *text;
    enum role role;
};

static void
add_chip(struct chip *chips, int *count, struct arena *arena, const char *word, int64_t events,
         enum role role)
{
    char number[TEXT_SHORT];
    chips[(*count)++] = (struct chip){arena_printf(arena, "%s %s", word, text_count(events, number)), role};
}

// How far the operation is that has the recipe.
static struct chip
applied_chip(const struct app *app, const struct recipe_view *view, struct arena *arena)
{
    const struct recipe_applied *applied = &view->applied;
    const struct operation *running = &app_status(app)->running;
    char done[TEXT_SHORT], total[TEXT_SHORT];
    if (applied->end.len)
        return (struct chip){strbuf_text(&applied->end), ROLE_STRONG};
    if (running->no != applied->no)
        return (struct chip){arena_printf(arena, MSG_APPLIED_QUEUED, applied->no), ROLE_STATUS_INFO};
    text_count(running->done + running->refused + running->skipped, done);
    text_count(running->total, total);
    return (struct chip){arena_printf(arena, MSG_APPLIED_RUNNING, applied->no,
                                      operation_standing(running, arena), done, total),
                         ROLE_STATUS_INFO};
}

// "applies 2,009   unchanged 81   does not apply 22   invalid after 2   of 2,114"; in a small body the first
// and the last of them, since the text below names the others.
static int
make_chips(const struct app *app, const struct recipe_view *view, bool is_small, struct chip chips[CHIPS])
{
    struct arena *arena = app_frame(app);
    const struct correct_tally *tally = &view->trial.tally;
    const struct {
        const char *word;
        int64_t count;
        bool is_always;
        enum role role;
    } rows[] = {
        {MSG_APPLIES, tally->counts[CORRECT_CHANGED], true, ROLE_STRONG},
        {MSG_UNCHANGED, tally->counts[CORRECT_UNCHANGED], true, ROLE_TEXT},
        {MSG_NOT_APPLICABLE, tally->counts[CORRECT_NOT_APPLICABLE], true, ROLE_TEXT},
        {MSG_INVALID, tally->counts[CORRECT_INVALID], false, ROLE_STATUS_WARN},
        {MSG_FAILED, tally->counts[CORRECT_FAILED], false, ROLE_STATUS_WARN},
        {MSG_REFUSED_BY_CHECK, tally->counts[CORRECT_REFUSED], false, ROLE_STATUS_WARN},
        {MSG_GONE, tally->gone, false, ROLE_STATUS_WARN},
        {MSG_DEPARTS, tally->departs, false, ROLE_STATUS_WARN},
    };
    int count = 0;
    char read[TEXT_SHORT];
    char of[TEXT_SHORT];
    if (view->run == RUN_NONE)
        return 0;
    if (view->run == RUN_APPLIED) {
        chips[0] = applied_chip(app, view, arena);
        return 1;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (i == 0 || (!is_small && (rows[i].count || rows[i].is_always)))
            add_chip(chips, &count, arena, rows[i].word, rows[i].count, rows[i].role);
    text_count(view->trial.of, of);
    text_count(view->trial.read, read);
    chips[count++] = view->run == RUN_OVER ? (struct chip){arena_printf(arena, MSG_OF, of), ROLE_TEXT}
                     : view->run == RUN_ON
                         ? (struct chip){arena_printf(arena, MSG_READ_SO_FAR, read, of), ROLE_STATUS_INFO}
                         : (struct chip){arena_printf(arena, MSG_STOPPED_AT, read, of), ROLE_STATUS_WARN};
    return count;
}

// Draws them, as many rows as they need; without a canvas it only counts the rows.
static int
place_chips(const struct app *app, const struct recipe_view *view, struct canvas *canvas, struct area area)
{
    struct chip chips[CHIPS];
    int count = make_chips(app, view, area.rows < SMALL_BODY, chips);
    int row = 0;
    int col = 0;
    int width = area.cols - 2;
    for (int i = 0; i < count; i++) {
        int cells = text_cells(bytes_of(chips[i].text), app_config(app)->is_ascii);
        if (col > 0 && col + cells > width) {
            row++;
            col = 0;
        }
        if (canvas && row < area.rows)
            canvas_text(canvas, area.row + row, area.col + 1 + col, width - col, bytes_of(chips[i].text),
                        chips[i].role);
        col += cells + CHIP_GAP;
    }
    return count ? row + 1 : 0;
}

struct area
recipe_pager_area(const struct app *app, const struct recipe_view *view, struct area body)
{
    int rows = place_chips(app, view, NULL, body);
    area_take_top(&body, rows > 0 && body.rows >= SMALL_BODY ? rows + 1 : rows);
    return body;
}

// How many operations, on which events.
static void
recipe_draw_line(const struct app *app, const struct recipe_view *view, struct canvas *canvas,
                 struct area line)
{
    char count[TEXT_SHORT];
    char words[64];
    if (line.rows < 1)
        return;
    int col = line.col + 1;
    int limit = line.col + line.cols - POSITION_COLS;
    canvas_styled(canvas, line.row, line.col, line.cols - 1, bytes_of(pager_position(view->pager, words)),
                  &(struct canvas_style){.role = ROLE_STATUS, .at_right = true});
    if (*pager_search_words(view->pager, words))
        chip_draw(canvas, line.row, &col, limit, ROLE_FILTER, bytes_of(words));
    if (err_is_set(&view->mistake)) {
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_ERROR, BYTES(MSG_MISTAKE));
    } else if (view->operations) {
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(app_frame(app), "%s operation%s",
                                        text_count((int64_t)view->operations, count),
                                        view->operations == 1 ? "" : "s")));
    }
    if (view->events.are_known && col < limit)
        canvas_printf(canvas, line.row, col, limit - col, ROLE_STATUS, "%s event%s%s%s",
                      text_count((int64_t)view->events.count, count), view->events.count == 1 ? "" : "s",
                      view->events.what.len ? " of " : "", strbuf_text(&view->events.what));
}

void
recipe_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct recipe_view *view = state;
    struct area body = areas->body;
    recipe_draw_line(app, view, canvas, areas->line);
    int rows = place_chips(app, view, canvas, body);
    struct area text = recipe_pager_area(app, view, body);
    if (rows > 0 && text.row > body.row + rows)
        canvas_hline(canvas, body.row + rows, body.col + 1, body.cols - 2, ROLE_BORDER);
    pager_draw(view->pager, canvas, text);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, body, CELL_DIM);
}
