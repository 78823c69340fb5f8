// Everything known about one event, as sections of one scrolling text.
#include "ui/views/events/event_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/care.h"
#include "ui/views/copy_menu.h"
#include "ui/views/events/row.h"
#include "ui/views/events/events.h"
#include "ui/views/filter_line.h"
#include "ui/views/editor/editor.h"
#include "ui/views/links.h"
#include "ui/views/output.h"
#include "ui/views/why.h"
#include "ui/widgets/statusbar.h"
#include "ui/views/events/texts.h"
#include "ui/views/recipe/recipe.h"

enum { BESIDE_FROM_COLS = 120 };

static const enum action footer[] = {DO_NEXT,   DO_PREVIOUS, DO_EDIT, DO_REPROCESS, DO_DISCARD, DO_RESTORE,
                                     DO_SEARCH, DO_RAW,      DO_COPY, DO_HELP,      DO_NONE};

static void
event_ask(struct app *app, struct view_of_event *view)
{
    struct request *request = request_create(REQUEST_EVENT);
    request->id = view->id;
    view->number = app_send(app, request);
}

static void
event_step(struct app *app, struct view_of_event *view, bool forward)
{
    void *below = app_below(app, &view_events);
    int64_t next;
    if (!below || !events_step(app, below, view->id, forward, &next)) {
        app_say(app, SAY_INFO, forward ? MSG_LAST_EVENT : MSG_FIRST_EVENT);
        return;
    }
    view->id = next;
    pager_top(view->pager);
    pager_top(view->payload);
    event_ask(app, view);
}

static struct pager *
focused(const struct view_of_event *view)
{
    return view->has_focus_beside ? view->payload : view->pager;
}

// From the last match of a pane on into the other one, where there is one.
static bool
match_beside(struct view_of_event *view, enum action action)
{
    bool is_forward = action == DO_NEXT_MATCH;
    struct pager *other = view->has_focus_beside ? view->pager : view->payload;
    if (!view->is_beside || (action != DO_NEXT_MATCH && action != DO_PREVIOUS_MATCH) ||
        pager_is_searching(focused(view)) || !pager_has_matches(other) ||
        pager_has_match_after(focused(view), is_forward))
        return false;
    (void)pager_handle(other, is_forward ? DO_TOP : DO_BOTTOM);
    (void)pager_handle(other, action);
    view->has_focus_beside = !view->has_focus_beside;
    return true;
}

static bool
search_accepted(struct app *app, void *state, struct bytes text)
{
    struct view_of_event *view = state;
    struct err err = {0};
    if (pager_search(focused(view), text, &err))
        return true;
    app_prompt_error(app, &err);
    return false;
}

static bool
event_copy_row(struct app *app, const void *state, size_t i, const char **text, struct bytes *value)
{
    const struct view_of_event *view = state;
    return view->is_there && event_copy_choice(app, &view->detail.event, i, text, value);
}

static void
event_copy_chosen(struct app *app, void *state, size_t index)
{
    copy_menu_take(app, state, event_copy_row, index);
}

static bool
event_ask_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    copy_menu_ask(app, state, event_copy_row, event_copy_chosen);
    return true;
}

static void
event_link_chosen(struct app *app, void *state, size_t index)
{
    const struct view_of_event *view = state;
    if (view->is_there)
        links_take(app, &view->detail.event, index);
}

// The link in the line of the cursor; false: there is none in it.
static bool
go_to_link(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct view_of_event *view = state;
    size_t line = pager_cursor(view->pager);
    if (!view->is_there || view->has_focus_beside || line < view->links_at ||
        line - view->links_at >= view->link_count)
        return false;
    links_go(app, &view->detail.event, line - view->links_at);
    return true;
}

static bool
event_ask_links(struct app *app, void *state, enum action action)
{
    const struct view_of_event *view = state;
    if (go_to_link(app, state, action))
        return true;
    if (view->is_there)
        links_ask(app, &view->detail.event, event_link_chosen);
    return true;
}

static bool
event_copy_id(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct view_of_event *view = state;
    app_copy(app, bytes_of(arena_printf(app_frame(app), "%" PRId64, view->id)), "id");
    return true;
}

static bool
event_group_here(const void *state, uint64_t *group)
{
    const struct view_of_event *view = state;
    *group = view->is_there ? view->detail.event.group : 0;
    return view->is_there;
}

// An action is about the event on the screen, never about a selection out of sight.
static bool
event_decide(struct app *app, void *state, enum action action)
{
    struct view_of_event *view = state;
    char group[GROUP_TEXT];
    struct decide_words words = {.what = arena_printf(app_frame(app), MSG_SCOPE_ID, view->id),
                                 .of_group =
                                     view->is_there ? group_text(view->detail.event.group, group) : NULL};
    if (view->is_there)
        words.advice = care_event_advice(app, &view->detail.event, app_frame(app));
    decide_ids(app, &view->decide, decide_operation(action), &view->id, 1, &words);
    return true;
}

static bool
event_recipe(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct view_of_event *view = state;
    const struct decide_words words = {.what = arena_printf(app_frame(app), MSG_SCOPE_ID, view->id)};
    app_open(app, &view_recipe, &(struct recipe_argument){.ids = &view->id, .count = 1, .words = &words});
    return true;
}

static bool
event_undo(struct app *app, void *state, enum action action)
{
    (void)action;
    decide_undo(app, &((struct view_of_event *)state)->decide);
    return true;
}

static bool
show_as(const struct app *app, struct view_of_event *view, enum payload_form form)
{
    view->form = view->form == form ? PAYLOAD_PRETTY : form;
    if (view->is_there)
        event_build(view, app_moments(app));
    return true;
}

static bool
toggle_raw(struct app *app, void *state, enum action action)
{
    (void)action;
    return show_as(app, state, PAYLOAD_AS_IS);
}

static bool
toggle_hex(struct app *app, void *state, enum action action)
{
    (void)action;
    return show_as(app, state, PAYLOAD_HEX);
}

static bool
toggle_tree(struct app *app, void *state, enum action action)
{
    (void)action;
    return show_as(app, state, PAYLOAD_TREE);
}

static bool
event_move(struct app *app, void *state, enum action action)
{
    (void)app;
    struct view_of_event *view = state;
    return match_beside(view, action) || pager_handle(focused(view), action);
}

// During a search, next and previous go to its matches, as in less.
static bool
go_on(struct app *app, void *state, enum action action)
{
    struct view_of_event *view = state;
    bool is_forward = action == DO_NEXT;
    if (pager_is_searching(focused(view)))
        return event_move(app, state, is_forward ? DO_NEXT_MATCH : DO_PREVIOUS_MATCH);
    event_step(app, view, is_forward);
    return true;
}

static bool
go_to_event(struct app *app, void *state, enum action action)
{
    event_step(app, state, action == DO_NEXT_EVENT);
    return true;
}

static bool
go_to_pane(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct view_of_event *view = state;
    view->has_focus_beside = view->is_beside && !view->has_focus_beside;
    return true;
}

static bool
go_to_decisions(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct view_of_event *view = state;
    view->has_focus_beside = false;
    (void)pager_to_section(view->pager, MSG_SECTION_DECISIONS);
    return true;
}

static bool
event_search(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    app_prompt(app, &(struct prompt_request){.label = "/", .history = "search", .accepted = search_accepted});
    return true;
}

static bool
end_search(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct pager *pager = focused(state);
    return pager_is_searching(pager) && pager_search(pager, BYTES(""), NULL);
}

static bool
event_explain(struct app *app, void *state, enum action action)
{
    (void)action;
    struct view_of_event *view = state;
    view->why_number = why_ask(app, view->id);
    return true;
}

static bool
event_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    event_ask(app, state);
    return true;
}

static bool
event_edit(struct app *app, void *state, enum action action)
{
    editor_open_on(app, ((const struct view_of_event *)state)->id, action);
    return true;
}

static bool
event_events(struct app *app, void *state, struct list_query *query, const char **what)
{
    struct view_of_event *view = state;
    *query = (struct list_query){.source = LIST_IDS, .ids = &view->id, .id_count = 1};
    *what = arena_printf(app_frame(app), "event %" PRId64, view->id);
    return true;
}

// A closed event is neither sent nor edited, and a discarded one can be restored.
static bool
event_can_change(const struct app *app, const void *state, enum action action)
{
    (void)app;
    const struct view_of_event *view = state;
    enum event_status status = view->detail.event.status;
    return view->is_there && status == (action == DO_RESTORE ? EVENT_DISCARDED : EVENT_PENDING);
}

static const struct view_action actions[] = {
    {.action = DO_OPEN, .run = go_to_link},
    {.part = pager_handles, .run = event_move},
    {.action = DO_TRAIL, .run = go_to_decisions},
    {.part = decide_begins, .run = event_decide, .is_possible = event_can_change},
    {.action = DO_RECIPE, .run = event_recipe},
    {.action = DO_UNDO, .run = event_undo},
    {.action = DO_NEXT, .run = go_on},
    {.action = DO_PREVIOUS, .run = go_on},
    {.action = DO_NEXT_EVENT, .run = go_to_event},
    {.action = DO_PREVIOUS_EVENT, .run = go_to_event},
    {.action = DO_NEXT_PANE, .run = go_to_pane},
    {.action = DO_RAW, .run = toggle_raw},
    {.action = DO_HEX, .run = toggle_hex},
    {.action = DO_TREE, .run = toggle_tree},
    {.action = DO_SEARCH, .run = event_search},
    {.action = DO_WHY, .run = event_explain},
    {.action = DO_COPY, .run = event_ask_copy},
    {.action = DO_COPY_ID, .run = event_copy_id},
    {.action = DO_PIPE, .run = output_ask_command},
    {.action = DO_LINKS, .run = event_ask_links},
    {.action = DO_EDIT, .run = event_edit, .is_possible = event_can_change},
    {.action = DO_EDIT_OUTSIDE, .run = event_edit},
    {.action = DO_REFRESH, .run = event_refresh},
    {.action = DO_BACK, .run = end_search},
    {0},
};

static bool
event_is_among(const struct reply *reply, int64_t id)
{
    for (size_t i = 0; i < reply->list.count; i++)
        if (reply->list.ids[i] == id)
            return true;
    return !reply->list.ids;
}

static bool
event_receive(struct app *app, void *state, struct reply *reply)
{
    struct view_of_event *view = state;
    if (decide_receive(app, &view->decide, reply) || why_receive(app, view->why_number, reply))
        return true;
    if (reply->kind == REPLY_NEWS || (reply->kind == REPLY_CHANGED && event_is_among(reply, view->id)))
        event_ask(app, view);
    if (!reply->number || reply->number != view->number)
        return false;
    if (reply->kind == REPLY_ERROR) {
        view->err = reply->err;
        if (view->is_there)
            app_say_err(app, &reply->err);
        return true;
    }
    arena_release(&view->arena);
    arena_adopt(&view->arena, &reply->arena);
    view->detail = reply->detail;
    view->is_there = true;
    event_build(view, app_moments(app));
    return true;
}

static void
event_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct view_of_event *view = state;
    bool is_beside = areas->body.cols >= BESIDE_FROM_COLS;
    if (is_beside != view->is_beside)
        view->has_focus_beside = false;
    if (view->is_there && (is_beside != view->is_beside || app_moments(app).by_clock != view->by_clock)) {
        view->is_beside = is_beside;
        event_build(view, app_moments(app));
    }
    view->is_beside = is_beside;
    struct area left = areas->body;
    if (is_beside) {
        struct area right = area_take_right(&left, areas->body.cols / 2);
        area_take_left(&right, 2);
        pager_layout(view->payload, right);
    }
    pager_layout(view->pager, left);
    pager_set_focus(view->pager, !view->has_focus_beside);
    pager_set_focus(view->payload, view->has_focus_beside);
}

static void
event_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct view_of_event *view = state;
    const struct pager *pager = focused(view);
    char words[64];
    if (areas->line.rows > 0) {
        int col = areas->line.col + 1;
        int limit = areas->line.col + areas->line.cols - 14;
        const char *section = pager_section_at(pager);
        if (section)
            chip_draw(canvas, areas->line.row, &col, limit, ROLE_STATUS, bytes_of(section));
        if (*pager_search_words(pager, words))
            chip_draw(canvas, areas->line.row, &col, limit, ROLE_FILTER, bytes_of(words));
        canvas_styled(canvas, areas->line.row, areas->line.col, areas->line.cols - 1,
                      bytes_of(pager_position(pager, words)),
                      &(struct canvas_style){.role = ROLE_STATUS, .at_right = true});
    }
    if (!view->is_there) {
        canvas_text(canvas, areas->body.row, areas->body.col + 1, areas->body.cols - 1,
                    err_is_set(&view->err) ? bytes_of(view->err.text) : BYTES(MSG_LOADING), ROLE_DIM);
        return;
    }
    struct area left = areas->body;
    if (view->is_beside) {
        struct area right = area_take_right(&left, areas->body.cols / 2);
        canvas_vline(canvas, right.row, right.col, right.rows, ROLE_BORDER);
        area_take_left(&right, 2);
        pager_draw(view->payload, canvas, right);
    }
    pager_draw(view->pager, canvas, left);
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
event_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    if (i > 0)
        return false;
    strbuf_printf(out, "%" PRId64, ((const struct view_of_event *)state)->id); // as commands take it
    return true;
}

static void *
event_open(struct app *app, const void *argument)
{
    const struct event_argument *given = argument;
    struct view_of_event *view = alloc_bytes(sizeof *view);
    view->id = given->id;
    view->links = &app_config(app)->links;
    struct filter_context context = filter_line_context(app);
    if (given->filter && *given->filter &&
        !filter_parse(&view->filter, bytes_of(given->filter), &context, NULL))
        view->filter = NULL;
    view->pager = pager_create();
    view->payload = pager_create();
    pager_set_ascii(view->pager, app_config(app)->is_ascii);
    pager_set_ascii(view->payload, app_config(app)->is_ascii);
    event_ask(app, view);
    return view;
}

static void
event_close(struct app *app, void *state)
{
    (void)app;
    struct view_of_event *view = state;
    decide_release(&view->decide);
    filter_destroy(view->filter);
    pager_destroy(view->pager);
    pager_destroy(view->payload);
    arena_release(&view->arena);
    free(view);
}

// What was done above it, such as a correction, is seen.
static void
event_shown(struct app *app, void *state)
{
    event_ask(app, state);
}

const struct view view_event = {
    .name = "event",
    .group = event_group_here,
    .context = CONTEXT_VIEW_event,
    .actions = actions,
    .footer = footer,
    .open = event_open,
    .close = event_close,
    .shown = event_shown,
    .receive = event_receive,
    .crumb = event_crumb,
    .events = event_events,
    .draw = event_draw,
    .layout = event_layout,
};
