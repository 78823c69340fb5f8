// What sets events apart: a row a question, the one that tells most first; below, how the answers to the
// row's question are spread on both sides. The first rows are of samples; then all events are counted.
#include "ui/views/apart.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/selection.h"
#include "ui/app/app.h"
#include "ui/views/events/events.h"
#include "ui/views/filter_line.h"
#include "ui/views/notice.h"
#include "ui/views/texts.h"
#include "ui/widgets/statusbar.h"
#include "ui/widgets/table.h"

enum {
    COLUMN_HERE,
    COLUMN_THERE,
    COLUMN_WHERE,
    COLUMNS,

    PREVIEW_FROM_ROWS = 14, // of the body
    PREVIEW_ROWS = 6,
    HIGH_FROM_ROWS = 26,
    HIGH_PREVIEW_ROWS = 14,
    SHARE_WIDTH = 5,
    VALUE_MOST = 28,
    BAR_MOST = 30,
    BAR_LEAST = 6,
    SAMPLE_STEP = 3,
    SAMPLE_FIRST = 1000,
    SAMPLE_MOST = 27000,
};

static const struct table_column apart_columns[COLUMNS] = {
    [COLUMN_HERE] = {.title = "here", .width = SHARE_WIDTH, .at_right = true},
    [COLUMN_THERE] = {.title = "there", .width = SHARE_WIDTH, .at_right = true},
    [COLUMN_WHERE] = {.title = "where", .width = 20, .widest = TABLE_REST},
};

struct apart_view {
    struct list_query list; // of the events; owned
    char *what, *filter;    // filter: NULL, none
    int64_t *ids;           // ascending, each once, when list_number is 0
    size_t count, capacity;
    uint64_t list_number; // they are being collected
    uint64_t number;      // of the comparison, 0: it is over
    struct apart_asked asked;
    bool has_answer;
    struct apart_reply answer;
    struct arena arena; // of the answer
    struct err err;     // why there is none
    struct table table;
};

static const enum action footer[] = {DO_FILTER_BY, DO_FILTER_OUT, DO_MORE_SAMPLES, DO_AGAINST,
                                     DO_COPY,      DO_BACK,       DO_HELP,         DO_NONE};

static const struct against_row {
    enum apart_against against;
    uint32_t key;
    const char *text, *events;
} againsts[] = {{APART_OTHERS, 'o', "other pending events", "others"},
                {APART_RESOLVED, 'r', "resolved events of the same types", "resolved ones"},
                {APART_EARLIER, 'e', "earlier ones of these events", "earlier ones"}};
enum { AGAINSTS = sizeof againsts / sizeof *againsts };

// --- rows ---

struct apart_drawing {
    const struct apart_view *view;
    const struct app *app;
};

static int64_t
apart_id(const void *rows, size_t index)
{
    (void)rows;
    return (int64_t)index;
}

static const struct apart_row *
apart_cursor(const struct apart_view *view)
{
    size_t count = view->answer.answer.row_count;
    return view->table.cursor < count ? &view->answer.answer.rows[view->table.cursor] : NULL;
}

static const char *
side_share(const struct apart_view *view, const struct apart_row *row, bool is_here, char out[APART_SHARE])
{
    const struct apart_reply *reply = &view->answer;
    if (row->is_exact)
        return apart_share(is_here ? row->all_here : row->all_there, is_here ? reply->here : reply->there,
                           out);
    return apart_share(is_here ? row->here : row->there, is_here ? reply->answer.here : reply->answer.there,
                       out);
}

static void
draw_where(const struct apart_drawing *drawing, const struct apart_row *row, struct canvas *canvas,
           struct area area)
{
    struct strbuf text = {0};
    apart_sentence(&row->question, app_now(drawing->app), &text);
    size_t question = text.len;
    for (size_t i = 0; i < row->same_count && i < APART_SAME; i++)
        strbuf_printf(&text, "%s%s", i ? ", = " : "   = ", row->same[i]);
    const struct canvas_span same = {.from = question, .len = text.len - question, .role = ROLE_DIM};
    canvas_styled(canvas, area.row, area.col, area.cols, strbuf_bytes(&text),
                  &(struct canvas_style){.role = ROLE_TEXT,
                                         .spans = &same,
                                         .span_count = same.len > 0,
                                         .skip = drawing->view->table.skip});
    strbuf_release(&text);
}

static void
apart_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct apart_drawing *drawing = rows;
    const struct apart_row *row = &drawing->view->answer.answer.rows[index];
    char share[APART_SHARE];
    if (column == COLUMN_WHERE)
        draw_where(drawing, row, canvas, area);
    else
        canvas_styled(canvas, area.row, area.col, area.cols,
                      bytes_of(side_share(drawing->view, row, column == COLUMN_HERE, share)),
                      &(struct canvas_style){.role = column == COLUMN_HERE ? ROLE_GROUP_COUNT : ROLE_TEXT,
                                             .at_right = true});
}

static struct table_model
apart_model(const struct apart_drawing *drawing)
{
    return (struct table_model){.count = drawing->view->answer.answer.row_count,
                                .id = apart_id,
                                .cell = apart_cell,
                                .columns = apart_columns,
                                .column_count = COLUMNS,
                                .rows = drawing};
}

static void
apart_sync(const struct app *app, struct apart_view *view)
{
    const struct apart_drawing drawing = {view, app};
    struct table_model model = apart_model(&drawing);
    table_sync(&view->table, &model);
}

// --- asking ---

static void
apart_ask(struct app *app, struct apart_view *view)
{
    if (!view->count)
        return; // collected, and none is there: nothing sets them apart
    if (view->number)
        app_cancel(app, view->number);
    err_clear(&view->err);
    struct request *request = request_create(REQUEST_APART);
    request->apart = view->asked;
    request->list.filter = view->filter ? alloc_text(view->filter) : NULL;
    request->id_count = view->count;
    request->ids = alloc_array(view->count + 1, sizeof *request->ids);
    memcpy(request->ids, view->ids, view->count * sizeof *request->ids);
    view->number = app_send(app, request);
}

static void
apart_collect(struct app *app, struct apart_view *view)
{
    struct request *request = request_create(REQUEST_COLLECT);
    err_clear(&view->err);
    request->list = list_query_copy(&view->list);
    view->list_number = app_send(app, request);
}

static void
take_ids(struct app *app, struct apart_view *view, const struct reply *reply)
{
    if (reply->kind != REPLY_LIST) {
        view->list_number = 0;
        view->err = reply->err;
        return;
    }
    if (reply->list.is_new_available)
        return; // later than the list
    if (reply->list.is_first)
        view->count = 0;
    for (size_t i = 0; i < reply->list.count; i++) {
        view->ids = alloc_grow(view->ids, view->count, &view->capacity, sizeof *view->ids);
        view->ids[view->count++] = reply->list.ids[i];
    }
    if (!reply->is_last)
        return;
    view->list_number = 0;
    view->count = ids_normalise(view->ids, view->count);
    apart_ask(app, view);
}

static void
take_answer(struct app *app, struct apart_view *view, struct reply *reply)
{
    if (reply->is_last)
        view->number = 0;
    if (reply->kind != REPLY_APART) {
        view->err = reply->err;
        if (view->has_answer)
            app_say_err(app, &reply->err);
        return;
    }
    arena_release(&view->arena);
    arena_adopt(&view->arena, &reply->arena);
    view->answer = reply->figures.apart;
    view->has_answer = true;
    apart_sync(app, view);
}

static bool
apart_receive(struct app *app, void *state, struct reply *reply)
{
    struct apart_view *view = state;
    if (reply->number && reply->number == view->list_number)
        take_ids(app, view, reply);
    else if (reply->number && reply->number == view->number)
        take_answer(app, view, reply);
    else
        return false;
    return true;
}

// --- actions ---

static bool
apart_move(struct app *app, void *state, enum action action)
{
    struct apart_view *view = state;
    const struct apart_drawing drawing = {view, app};
    struct table_model model = apart_model(&drawing);
    return table_handle(&view->table, &model, action);
}

// The term of the row under the cursor, in the arena of the frame; NULL: there is none, and that was said.
static const char *
cursor_term(struct app *app, const struct apart_view *view, bool is_out)
{
    const struct apart_row *row = apart_cursor(view);
    struct strbuf term = {0};
    if (!row)
        return NULL;
    strbuf_add_text(&term, is_out ? "not (" : "");
    bool has_term = apart_filter(&row->question, filter_line_context(app).zone_us, &term);
    strbuf_add_text(&term, is_out ? ")" : "");
    const char *text = has_term ? arena_text(app_frame(app), strbuf_bytes(&term)) : NULL;
    strbuf_release(&term);
    if (!text)
        app_say(app, SAY_INFO, "the filter has no term for this: it asks for no elements of arrays");
    return text;
}

static bool
apart_open_events(struct app *app, void *state, enum action action)
{
    const struct apart_view *view = state;
    struct arena *arena = app_frame(app);
    const char *term = cursor_term(app, view, action == DO_FILTER_OUT);
    if (!term)
        return true;
    struct list_query query = view->list;
    const char *both = filter_line_both(view->list.filter, term, arena);
    char *filter = arena_alloc(arena, strlen(both) + 1);
    memcpy(filter, both, strlen(both));
    query.filter = filter;
    app_open(app, &view_events, &(struct events_argument){.query = query, .title = view->what});
    return true;
}

static bool
apart_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const char *term = cursor_term(app, state, false);
    if (term)
        app_copy(app, bytes_of(term), "filter");
    return true;
}

static bool
has_row(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return apart_cursor(state) != NULL;
}

static bool
read_more(struct app *app, void *state, enum action action)
{
    (void)action;
    struct apart_view *view = state;
    size_t sample = view->asked.sample ? view->asked.sample : SAMPLE_FIRST;
    if (!view->has_answer || sample >= SAMPLE_MOST) {
        app_say(app, SAY_INFO, view->has_answer ? "read as many as this view reads" : "still reading");
        return true;
    }
    view->asked.sample = sample * SAMPLE_STEP;
    apart_ask(app, view);
    return true;
}

static void
against_chosen(struct app *app, void *state, size_t index)
{
    struct apart_view *view = state;
    view->asked.against = againsts[index].against;
    view->has_answer = false;
    view->answer = (struct apart_reply){0};
    apart_sync(app, view);
    apart_ask(app, view);
}

static bool
ask_against(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct apart_view *view = state;
    struct menu_item items[AGAINSTS];
    for (size_t i = 0; i < AGAINSTS; i++)
        items[i] = (struct menu_item){.text = againsts[i].text,
                                      .key = againsts[i].key,
                                      .is_current = againsts[i].against == view->asked.against};
    if (view->list_number)
        app_say(app, SAY_INFO, "still collecting the events");
    else
        app_menu(app,
                 &(struct menu_request){
                     .title = "Compare with", .items = items, .count = AGAINSTS, .chosen = against_chosen});
    return true;
}

// Collects again what can have changed.
static bool
apart_again(struct app *app, void *state, enum action action)
{
    (void)action;
    struct apart_view *view = state;
    if (view->list_number)
        return true;
    if (view->list.source == LIST_IDS && !view->list.filter)
        apart_ask(app, view);
    else
        apart_collect(app, view);
    return true;
}

static bool
apart_stop(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct apart_view *view = state;
    uint64_t waited = view->list_number ? view->list_number : view->number;
    if (!waited)
        return false;
    app_cancel(app, waited);
    return true;
}

static const struct view_action actions[] = {
    {.part = table_moves, .run = apart_move},
    {.action = DO_FILTER_BY, .run = apart_open_events, .is_possible = has_row},
    {.action = DO_FILTER_OUT, .run = apart_open_events, .is_possible = has_row},
    {.action = DO_MORE_SAMPLES, .run = read_more},
    {.action = DO_AGAINST, .run = ask_against},
    {.action = DO_COPY, .run = apart_copy, .is_possible = has_row},
    {.action = DO_REFRESH, .run = apart_again},
    {.action = DO_CANCEL, .run = apart_stop},
    {0},
};

// --- drawing ---

static const struct against_row *
against_row(const struct apart_view *view)
{
    size_t i = 0;
    while (againsts[i].against != view->asked.against)
        i++;
    return &againsts[i];
}

static void
apart_draw_line(const struct app *app, const struct apart_view *view, struct canvas *canvas, struct area line)
{
    struct arena *arena = app_frame(app);
    const struct apart_reply *reply = &view->answer;
    char here[TEXT_SHORT], there[TEXT_SHORT];
    if (line.rows < 1 || !view->has_answer)
        return;
    int col = line.col + 1, limit = line.col + line.cols - 1;
    const char *sides = reply->is_counted
                            ? arena_printf(arena, "%s events against %s %s", text_count(reply->here, here),
                                           text_count(reply->there, there), against_row(view)->events)
                            : arena_printf(arena, "%s events against %s",
                                           text_count((int64_t)view->count, here), against_row(view)->events);
    chip_draw_cut(canvas, line.row, &col, limit, ROLE_STATUS, bytes_of(sides));
    const char *read = reply->answer.here == reply->answer.there
                           ? arena_printf(arena, "%s of each read", text_count(reply->answer.here, here))
                           : arena_printf(arena, "%s and %s read", text_count(reply->answer.here, here),
                                          text_count(reply->answer.there, there));
    chip_draw(canvas, line.row, &col, limit, ROLE_STATUS, bytes_of(read));
    if (view->number)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO, BYTES("counting all, C-c stops"));
    else if (!reply->is_counted && reply->answer.row_count)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_WARN, BYTES("shares of the samples"));
    if (reply->answer.is_cut)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_WARN, BYTES("more fields than are compared"));
}

// Why there are no rows.
static const char *
apart_empty_words(const struct app *app, const struct apart_view *view)
{
    const struct apart_answer *answer = &view->answer.answer;
    struct arena *arena = app_frame(app);
    if (view->list_number)
        return "Collecting the events. C-c stops.";
    if (err_is_set(&view->err))
        return view->err.text;
    if (view->count == 0)
        return "No events here any more; nothing to compare.";
    if (!view->has_answer)
        return "Reading samples. C-c stops.";
    if (answer->here < APART_LEAST)
        return arena_printf(arena, "Only %u event%s here: at least %d are needed to compare.", answer->here,
                            answer->here == 1 ? "" : "s", APART_LEAST);
    if (answer->there < APART_LEAST)
        return arena_printf(
            arena, "Only %u %s to compare with: at least %d are needed. b compares with other events.",
            answer->there, against_row(view)->events, APART_LEAST);
    return arena_printf(arena,
                        "Nothing sets these events apart from the %s: no field, type, word or time is more "
                        "frequent here than chance explains. s reads more, b compares with other events.",
                        against_row(view)->events);
}

static struct area
apart_split(const struct apart_view *view, struct area *body)
{
    if (view->answer.answer.row_count == 0 || body->rows < PREVIEW_FROM_ROWS)
        return (struct area){0};
    return area_take_bottom(body, body->rows < HIGH_FROM_ROWS ? PREVIEW_ROWS : HIGH_PREVIEW_ROWS);
}

static void
draw_bar(struct canvas *canvas, int row, int col, int width, uint32_t count, uint32_t of, enum role role)
{
    int len = of ? (int)((double)count / of * width + 0.5) : 0;
    len = len == 0 && count ? 1 : len;
    for (int i = 0; i < width; i++)
        canvas_glyph(canvas, row, col + i, i < len ? GLYPH_FULL : GLYPH_EMPTY, i < len ? role : ROLE_DIM);
}

// One value with its share and a bar of both sides.
static void
draw_class(const struct apart_answer *answer, const struct apart_class *class, struct canvas *canvas,
           struct area line)
{
    char here[APART_SHARE], there[APART_SHARE];
    struct strbuf value = {0};
    int width = line.cols / 3 < VALUE_MOST ? line.cols / 3 : VALUE_MOST;
    int bar = (line.cols - width - 2 * (SHARE_WIDTH + 3)) / 2;
    bar = bar > BAR_MOST ? BAR_MOST : bar;
    apart_value_text(&class->value, &value);
    canvas_text(canvas, line.row, line.col, width, strbuf_bytes(&value), ROLE_TEXT);
    strbuf_release(&value);
    const struct canvas_style right = {.role = ROLE_TEXT, .at_right = true};
    int col = line.col + width + 1;
    canvas_styled(canvas, line.row, col, SHARE_WIDTH, bytes_of(apart_share(class->here, answer->here, here)),
                  &right);
    col += SHARE_WIDTH + 1;
    if (bar >= BAR_LEAST) {
        draw_bar(canvas, line.row, col, bar, class->here, answer->here, ROLE_GRAPH);
        col += bar + 1;
    }
    canvas_styled(canvas, line.row, col, SHARE_WIDTH,
                  bytes_of(apart_share(class->there, answer->there, there)), &right);
    if (bar >= BAR_LEAST)
        draw_bar(canvas, line.row, col + SHARE_WIDTH + 1, bar, class->there, answer->there, ROLE_STATUS);
}

static void
draw_preview(const struct app *app, const struct apart_view *view, struct canvas *canvas, struct area area)
{
    const struct apart_answer *answer = &view->answer.answer;
    const struct apart_row *row = apart_cursor(view);
    struct strbuf text = {0};
    char here[TEXT_SHORT], there[TEXT_SHORT];
    canvas_hline(canvas, area.row, area.col + 1, area.cols - 2, ROLE_BORDER);
    area_take_top(&area, 1);
    area_take_left(&area, 1);
    area.cols -= 1;
    apart_sentence(&row->question, app_now(app), &text);
    strbuf_printf(&text, ": %s here, %s there%s", text_count(row->is_exact ? row->all_here : row->here, here),
                  text_count(row->is_exact ? row->all_there : row->there, there),
                  row->is_exact ? "" : ", of the samples");
    struct area line = area_take_top(&area, 1);
    canvas_text(canvas, line.row, line.col, line.cols, strbuf_bytes(&text), ROLE_STRONG);
    strbuf_release(&text);
    const struct apart_class answers[] = {
        {{BYTES("yes"), APART_NULL}, row->here, row->there},
        {{BYTES("no"), APART_NULL}, answer->here - row->here, answer->there - row->there}};
    const struct apart_class *classes = row->class_count ? row->classes : answers;
    size_t count = row->class_count ? row->class_count : 2;
    for (size_t i = 0; i < count && area.rows > 0; i++)
        draw_class(answer, &classes[i], canvas, area_take_top(&area, 1));
}

static void
apart_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct apart_view *view = state;
    struct area body = areas->body;
    const struct apart_drawing drawing = {view, app};
    struct table_model model = apart_model(&drawing);
    apart_split(view, &body);
    table_layout(&view->table, &model, body);
}

static void
apart_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct apart_view *view = state;
    struct area body = areas->body;
    struct area preview = apart_split(view, &body);
    const struct apart_drawing drawing = {view, app};
    struct table_model model = apart_model(&drawing);
    apart_draw_line(app, view, canvas, areas->line);
    if (view->answer.answer.row_count == 0) {
        notice_draw(canvas, body, apart_empty_words(app, view));
        return;
    }
    table_draw(&view->table, &model, canvas, body);
    if (preview.rows > 1)
        draw_preview(app, view, canvas, preview);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
apart_click(struct app *app, void *state, int row, int col)
{
    struct apart_view *view = state;
    const struct apart_drawing drawing = {view, app};
    struct table_model model = apart_model(&drawing);
    int column;
    return table_click(&view->table, &model, row, col, &column) == TABLE_ROW;
}

static bool
apart_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    const struct apart_view *view = state;
    if (i > 1)
        return false;
    strbuf_add_text(out, i == 0 ? view->what : "what sets these apart");
    return true;
}

// --- the view ---

static void *
apart_open(struct app *app, const void *argument)
{
    const struct apart_argument *given = argument;
    struct apart_view *view = alloc_bytes(sizeof *view);
    view->list = list_query_copy(given->list);
    view->what = alloc_text(given->what);
    view->filter = given->filter ? alloc_text(given->filter) : NULL;
    if (view->list.source != LIST_IDS || view->list.filter) {
        apart_collect(app, view);
        return view;
    }
    view->count = view->list.id_count;
    view->ids = alloc_array(view->count + 1, sizeof *view->ids);
    view->capacity = view->count + 1;
    if (view->count)
        memcpy(view->ids, view->list.ids, view->count * sizeof *view->ids);
    view->count = ids_normalise(view->ids, view->count);
    apart_ask(app, view);
    return view;
}

static void
apart_close(struct app *app, void *state)
{
    struct apart_view *view = state;
    (void)apart_stop(app, view, DO_CANCEL);
    list_query_release(&view->list);
    free(view->what);
    free(view->filter);
    free(view->ids);
    arena_release(&view->arena);
    free(view);
}

bool
apart_open_selection(struct app *app)
{
    const struct selection *selection = app_selection(app);
    if (selection->count == 0)
        return false;
    const struct list_query query = {.source = LIST_IDS, .ids = selection->ids, .id_count = selection->count};
    app_open(app, &view_apart, &(struct apart_argument){.list = &query, .what = "the selection"});
    return true;
}

const struct view view_apart = {
    .name = "apart",
    .context = CONTEXT_VIEW_apart,
    .aging = AGES_BY_MINUTES,
    .actions = actions,
    .footer = footer,
    .open = apart_open,
    .close = apart_close,
    .receive = apart_receive,
    .crumb = apart_crumb,
    .draw = apart_draw,
    .layout = apart_layout,
    .click = apart_click,
};
