// The list of events: ids come in pages and stay; only the rows of the window are fetched.
#include "ui/views/events/state.h"
#include "ui/views/events/texts.h"
#include "ui/views/apart.h"
#include "ui/views/recipe/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/editor/editor.h"
#include "ui/views/links.h"
#include "ui/views/output.h"
#include "ui/views/why.h"

enum {
    WINDOW_MARGIN = 60,   // rows fetched above and below those on the screen
    FOLLOWED_MOST = 50000 // events of a list that is read again by itself
};
static const int64_t ROWS_STALE_AFTER = 1000000;

static const enum action footer[] = {DO_NEXT_PANE,  DO_OPEN,      DO_FILTER,  DO_SELECT,
                                     DO_SELECT_ALL, DO_REPROCESS, DO_DISCARD, DO_RESTORE,
                                     DO_COPY,       DO_HELP,      DO_NONE};

const struct event *
events_cursor(const struct events *events)
{
    return events->count ? row_cache_find(&events->rows, events->ids[events->table.cursor]) : NULL;
}

// A filter may ask for closed events: those were not closed since.
static bool
lists_pending(const struct events *events)
{
    return events->query.source == LIST_PENDING && !(events->parsed && filter_statuses(events->parsed));
}

int64_t
events_closed_since(const struct events *events)
{
    int64_t closed = 0;
    for (size_t i = 0; lists_pending(events) && i < events->rows.count; i++)
        closed += events->rows.rows[i].status != EVENT_PENDING;
    return closed;
}

// The statuses that the list may have, 1u << enum event_status.
static unsigned
listed_statuses(const struct events *events)
{
    unsigned asked = events->parsed ? filter_statuses(events->parsed) : 0;
    if (asked)
        return asked;
    if (events->query.source == LIST_PENDING)
        return 1u << EVENT_PENDING;
    return events->query.source == LIST_CLOSED && events->query.statuses ? events->query.statuses : ~0u;
}

// A closed event is not sent, and only a discarded one can be restored. The row under the cursor is what a
// decision is about, unless events of any status are selected.
static bool
events_can_decide(const struct app *app, const void *state, enum action action)
{
    const struct events *events = state;
    const struct event *event = events_cursor(events);
    bool is_selected = app_selection(app)->count > 0;
    unsigned statuses = event && !is_selected ? 1u << event->status : listed_statuses(events);
    return events->count > 0 && statuses & 1u << (action == DO_RESTORE ? EVENT_DISCARDED : EVENT_PENDING);
}

void
events_send(struct app *app, struct events *events)
{
    struct request *request = request_create(REQUEST_LIST);
    request->list = list_query_copy(&events->query);
    request->list.is_checked = events_closed_since(events) > 0; // what has a mark must leave
    request->list.filter = events_whole_filter(events);
    events->progress.has_beginning = false;
    events->progress.is_complete = false;
    events->progress.was_stopped = false;
    events->progress.is_begun = false;
    events->progress.scanned = events->progress.undecided = 0;
    events->progress.trouble[0] = '\0';
    events->progress.arrived = 0;
    events->is_selected_only = false;
    events->list_number = app_send(app, request);
}

// The visual range, or the cursor row. false: there are no rows, and that was said.
static bool
events_range(struct app *app, const struct events *events, const char *verb, size_t *from, size_t *to,
             struct decide_words *words)
{
    if (!table_range(&events->table, from, to)) {
        app_say(app, SAY_WARN, MSG_NOTHING_HERE_TO, verb);
        return false;
    }
    words->what =
        *to - *from == 1 ? arena_printf(app_frame(app), MSG_SCOPE_ID, events->ids[*from]) : MSG_SCOPE_RANGE;
    return true;
}

static bool
events_group(const void *state, uint64_t *group)
{
    const struct events *events = state;
    uint64_t last;
    return events->query.pivot == PIVOT_ERROR && events->query.has_value &&
           group_parse(bytes_of(events->query.value), group, &last) && *group == last;
}

// Scope: the selection if there is one, else the visual range, else the cursor row.
bool
events_decide(struct app *app, void *state, enum action begun_by)
{
    struct events *events = state;
    enum operation_action action = decide_operation(begun_by);
    struct decide_words words = {.shown_by = events->filter.len ? strbuf_text(&events->filter) : NULL};
    size_t from;
    size_t to;
    if (events_put_off(app, events, begun_by))
        return true;
    if (!decide_selection(app, &events->decide, action, events->ids, events->count, &words) &&
        events_range(app, events, action_name(action), &from, &to, &words)) {
        bool is_group = events->query.pivot == PIVOT_ERROR && events->query.has_value;
        words.of_group = is_group ? events->query.value : NULL;
        decide_ids(app, &events->decide, action, events->ids + from, to - from, &words);
    }
    return true;
}

bool
events_recipe(struct app *app, void *state, enum action action)
{
    struct events *events = state;
    struct decide_words words = {0};
    size_t from;
    size_t to;
    if (events_put_off(app, events, action))
        return true;
    if (!recipe_open_selection(app, NULL, events->ids, events->count) &&
        events_range(app, events, action_name(ACTION_CORRECT), &from, &to, &words))
        app_open(app, &view_recipe,
                 &(struct recipe_argument){.ids = events->ids + from, .count = to - from, .words = &words});
    return true;
}

// The selection if there is one, else all of the list.
static bool
events_apart(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct events *events = state;
    if (apart_open_selection(app))
        return true;
    struct list_query query = events->query;
    char *filter = events_whole_filter(events);
    query.filter = filter;
    app_open(app, &view_apart,
             &(struct apart_argument){
                 .list = &query, .what = events_title(events, app_frame(app)), .filter = filter});
    free(filter);
    return true;
}

static bool
events_events(struct app *app, void *state, struct list_query *query, const char **what)
{
    const struct events *events = state;
    if (output_selection(app, query, what))
        return true;
    char *filter = events_whole_filter(events);
    *query = events->query;
    query->filter = filter ? arena_array(app_frame(app), strlen(filter) + 1, 1) : NULL;
    if (filter)
        memcpy(query->filter, filter, strlen(filter));
    *what = events_title(events, app_frame(app));
    free(filter);
    return true;
}

static bool
events_go_back(struct app *app, void *state, enum action action)
{
    (void)action;
    struct events *events = state;
    if (events->is_selected_only) {
        events_send(app, events);
        return true;
    }
    struct bytes given = bytes_of(events->given ? events->given : "");
    if (events->filter.len == 0 || bytes_equal(strbuf_bytes(&events->filter), given))
        return false;
    return events_filter(app, events, given, NULL);
}

static bool
events_stop(struct app *app, void *state, enum action action)
{
    (void)action;
    struct events *events = state;
    if (decide_cancel(app, &events->decide))
        return true;
    if (events->collecting.number && app_is_waiting(app, events->collecting.number)) {
        app_cancel(app, events->collecting.number);
        return true;
    }
    if (!app_is_waiting(app, events->list_number))
        return false;
    app_cancel(app, events->list_number);
    events->progress.was_stopped = true;
    return true;
}

static bool
open_event(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct events *events = state;
    if (events->count)
        app_open(app, &view_event,
                 &(struct event_argument){.id = events->ids[events->table.cursor],
                                          .filter = strbuf_text(events_marked(events))});
    return true;
}

static bool
events_move(struct app *app, void *state, enum action action)
{
    (void)app;
    struct events *events = state;
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    return table_handle(&events->table, &model, action);
}

static bool
events_reverse(struct app *app, void *state, enum action action)
{
    (void)action;
    struct events *events = state;
    events->query.oldest_first = !events->query.oldest_first;
    events->progress.goes_to_first = true;
    events_send(app, events);
    return true;
}

static bool
events_toggle_preview(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct events *events = state;
    events->shown.preview.is_hidden = !events->shown.preview.is_hidden;
    return true;
}

static bool
events_explain(struct app *app, void *state, enum action action)
{
    (void)action;
    struct events *events = state;
    if (events->count)
        events->shown.why_number = why_ask(app, events->ids[events->table.cursor]);
    return true;
}

static bool
events_copy_id(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct events *events = state;
    if (events->count)
        app_copy(app, bytes_of(arena_printf(app_frame(app), "%" PRId64, events->ids[events->table.cursor])),
                 "id");
    return true;
}

static void
events_link_chosen(struct app *app, void *state, size_t index)
{
    const struct event *event = events_cursor(state);
    if (event)
        links_take(app, event, index);
}

static bool
events_ask_links(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct event *event = events_cursor(state);
    if (event)
        links_ask(app, event, events_link_chosen);
    return true;
}

static bool
events_edit(struct app *app, void *state, enum action action)
{
    const struct events *events = state;
    if (events->count)
        editor_open_on(app, events->ids[events->table.cursor], action);
    return true;
}

static bool
events_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    struct events *events = state;
    // New rows come above the first one: whoever is there asks to see them.
    events->progress.goes_to_first = events->table.cursor == 0 && events->progress.arrived > 0;
    events_send(app, events);
    return true;
}

static bool
events_move_preview(struct app *app, void *state, enum action action)
{
    struct events *events = state;
    bool is_done = preview_handle(&events->shown.preview, action);
    if (!is_done && action == DO_NEXT_PANE)
        app_say(app, SAY_INFO, MSG_NO_PREVIEW);
    return is_done || action == DO_NEXT_PANE;
}

static const char *
events_pane_word(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)state;
    (void)action;
    return MSG_TO_LIST;
}

static bool
events_has_focus_below(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    const struct events *events = state;
    return events->shown.preview.has_focus;
}

static bool
events_has_row(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return ((const struct events *)state)->count > 0;
}

static const struct view_action actions[] = {
    {.action = DO_NEXT_PANE,
     .run = events_move_preview,
     .is_possible = events_has_focus_below,
     .word = events_pane_word},
    {.part = preview_handles, .run = events_move_preview},
    {.part = table_moves, .run = events_move},
    {.part = table_ranges, .run = events_move},
    {.part = events_selects, .run = events_select, .is_possible = events_has_row},
    {.part = decide_begins, .run = events_decide, .is_possible = events_can_decide},
    {.action = DO_RECIPE, .run = events_recipe},
    {.action = DO_APART, .run = events_apart},
    {.action = DO_OPEN, .run = open_event, .command = "redrive show ID", .is_possible = events_has_row},
    {.action = DO_TRAIL, .run = open_event},
    {.action = DO_DETAILS, .run = events_toggle_preview},
    {.action = DO_FILTER, .run = events_ask_filter},
    {.action = DO_NEXT_MATCH, .run = events_step_match},
    {.action = DO_PREVIOUS_MATCH, .run = events_step_match},
    {.action = DO_FACETS, .run = events_ask_facets},
    {.action = DO_SAVED_FILTERS, .run = events_ask_saved},
    {.action = DO_NARROW, .run = events_ask_narrow},
    {.action = DO_SORT, .run = events_ask_order},
    {.action = DO_SORT_REVERSE, .run = events_reverse},
    {.action = DO_COLUMN, .run = events_ask_column},
    {.action = DO_STATUSES, .run = events_ask_status},
    {.action = DO_WHY, .run = events_explain},
    {.action = DO_COPY, .run = events_ask_copy, .is_possible = events_has_row},
    {.action = DO_COPY_ID, .run = events_copy_id},
    {.action = DO_PIPE, .run = output_ask_command},
    {.action = DO_LINKS, .run = events_ask_links},
    {.action = DO_EDIT, .run = events_edit},
    {.action = DO_EDIT_OUTSIDE, .run = events_edit},
    {.action = DO_REFRESH, .run = events_refresh},
    {.action = DO_CANCEL, .run = events_stop},
    {.action = DO_BACK, .run = events_go_back},
    {0},
};

static void
receive_list(struct app *app, struct events *events, const struct reply *reply)
{
    if (reply->list.is_new_available) {
        events->progress.arrived = reply->list.count;
        return;
    }
    if (reply->list.is_first) {
        events->progress.is_begun = true;
        events->count = 0;
        events->progress.arrived = 0;
        events->progress.is_by_id = reply->list.is_by_id;
    }
    for (size_t i = 0; i < reply->list.count; i++) {
        events->ids = alloc_grow(events->ids, events->count, &events->capacity, sizeof *events->ids);
        events->ids[events->count++] = reply->list.ids[i];
    }
    events->progress.scanned = reply->list.scanned;
    events->progress.total = reply->list.total;
    events->progress.undecided = reply->list.undecided;
    events->progress.is_unconfirmed = reply->list.is_unconfirmed;
    events->progress.is_complete = reply->is_last;
    events->window.are_rows_old = true;
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    if ((events->prompt.has_anchor || events->progress.goes_to_first) && reply->list.is_first) {
        if (!events->progress.has_beginning || events->table.cursor == 0 || events->prompt.has_anchor)
            table_to_first(&events->table); // until the anchor comes, if it does
        events->progress.goes_to_first = reply->list.is_beginning;
    }
    if (reply->list.is_first)
        events->progress.has_beginning = reply->list.is_beginning;
    table_sync(&events->table, &model);
    if (events->prompt.has_anchor)
        (void)table_move_to_id(&events->table, &model, events->prompt.anchor);
    events->prompt.has_anchor = events->prompt.has_anchor && (events->prompt.is_typing || !reply->is_last);
    (void)app;
}

// Events of the list before are no hits of this one.
static void
leave_list_before(struct events *events)
{
    if (!events->progress.is_begun)
        events->count = 0;
    events->progress.is_begun = true;
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    table_sync(&events->table, &model);
}

static void
list_stopped(struct events *events)
{
    events->progress.was_stopped = true;
    leave_list_before(events);
}

static void
list_failed(struct app *app, struct events *events, const struct err *err)
{
    snprintf(events->progress.trouble, sizeof events->progress.trouble, "%.199s", err->text);
    leave_list_before(events);
    app_say_err(app, err);
}

static void
take_rows(struct events *events, struct reply *reply)
{
    row_cache_take(&events->rows, reply);
    for (size_t i = 0; i < events->rows.count && events->type; i++) {
        if (bytes_equal_text(events->rows.rows[i].event_type, events->type))
            continue;
        free(events->type);
        events->type = NULL;
    }
}

// Rows were written: those on the screen are read again at once.
static void
note_changes(struct events *events, const struct reply *reply)
{
    bool is_shown = !reply->list.ids;
    for (size_t i = 0; !is_shown && i < reply->list.count; i++)
        is_shown = row_cache_find(&events->rows, reply->list.ids[i]) != NULL;
    if (!is_shown)
        return;
    events->window.are_rows_old = true;
    events->window.rows_at = 0;
}

static bool
events_receive(struct app *app, void *state, struct reply *reply)
{
    struct events *events = state;
    if (decide_receive(app, &events->decide, reply) || why_receive(app, events->shown.why_number, reply))
        return true;
    if (reply->kind == REPLY_STATUS || reply->kind == REPLY_NEWS) {
        events->window.are_rows_old = true;
        return true;
    }
    if (reply->kind == REPLY_CHANGED)
        note_changes(events, reply);
    if (!reply->number)
        return reply->kind == REPLY_CHANGED && events->window.are_rows_old;
    if (filter_values_receive(&events->prompt.values, reply))
        return true;
    if (reply->number == events->facets.number && reply->kind == REPLY_FACETS) {
        events_take_facets(app, events, reply);
    } else if (reply->number == events->collecting.number) {
        events_collected(app, events, reply);
    } else if (reply->number == events->window.rows_number) {
        if (reply->kind == REPLY_ROWS)
            take_rows(events, reply);
        else
            app_say_err(app, &reply->err);
    } else if (reply->number == events->list_number) {
        if (reply->kind == REPLY_LIST)
            receive_list(app, events, reply);
        else if (reply->err.kind == ERR_CANCELLED)
            list_stopped(events);
        else
            list_failed(app, events, &reply->err);
    } else {
        return false;
    }
    return true;
}

// The list may be newer than the rows that were fetched.
static bool
are_known(const struct events *events, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (!row_cache_find(&events->rows, events->ids[i]))
            return false;
    return true;
}

static void
fetch_window(struct app *app, struct events *events)
{
    size_t from;
    size_t to;
    table_window(&events->table, &from, &to);
    if (from >= to)
        return;
    bool is_covered = from >= events->window.rows_from && to <= events->window.rows_to;
    bool is_due = events->window.are_rows_old && clock_mono() - events->window.rows_at > ROWS_STALE_AFTER;
    bool is_known = are_known(events, from, to);
    if (app_is_waiting(app, events->window.rows_number) && is_covered)
        return;
    if (is_covered && !is_due && (is_known || !events->window.are_rows_old))
        return;

    events->window.rows_from = from > WINDOW_MARGIN ? from - WINDOW_MARGIN : 0;
    events->window.rows_to = to + WINDOW_MARGIN < events->count ? to + WINDOW_MARGIN : events->count;
    events->window.rows_at = clock_mono();
    events->window.are_rows_old = false;
    struct request *request = request_create(REQUEST_ROWS);
    request->id_count = events->window.rows_to - events->window.rows_from;
    request->ids = alloc_array(request->id_count, sizeof *request->ids);
    memcpy(request->ids, events->ids + events->window.rows_from, request->id_count * sizeof *request->ids);
    request->path = events->path ? alloc_text(events->path) : NULL;
    events->window.rows_number = app_send(app, request);
}

static void
events_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct events *events = state;
    struct area body = areas->body;
    struct area preview = events_split(events, &body);
    memcpy(events->columns, event_columns, sizeof events->columns);
    events->columns[COLUMN_WHEN].width =
        moment_cells(app_moments(app).by_clock, event_columns[COLUMN_WHEN].width);
    for (int i = 0; i < EVENT_COLUMNS; i++) // no wider than what is in it
        if (events->rows.widest[i] && events->rows.widest[i] < events->columns[i].widest)
            events->columns[i].widest = events->rows.widest[i];
    if (events->path)
        events->columns[COLUMN_PATH].title = events->path;
    else
        events->columns[COLUMN_PATH].width = events->columns[COLUMN_PATH].widest = 0;
    if (events->type)
        events->columns[COLUMN_TYPE].width = events->columns[COLUMN_TYPE].widest = 0;
    if (events->rows.count)
        events->columns[COLUMN_ERROR].title = events->rows.heading;
    if (events->query.source == LIST_PENDING) // one that was closed since has a mark
        events->columns[COLUMN_STATUS].width = events->columns[COLUMN_STATUS].widest = 0;
    events_mark_order(events);
    const struct events_drawing drawing = {.events = events, .app = app};
    struct table_model model = events_model(&drawing);
    table_layout(&events->table, &model, body);
    fetch_window(app, events);
    if (events->shown.previewed != events->table.cursor_id)
        preview_to_top(&events->shown.preview);
    events->shown.previewed = events->table.cursor_id;
    preview_layout(&events->shown.preview, preview, app_config(app)->is_ascii, events_draw_preview, events);
}

static bool
events_click(struct app *app, void *state, int row, int col)
{
    struct events *events = state;
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    int column;
    enum table_spot spot = table_click(&events->table, &model, row, col, &column);
    if (spot == TABLE_HEADING)
        events_order_by(app, events, (enum event_column)column);
    return spot == TABLE_ROW;
}

static bool
events_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    if (i > 0)
        return false;
    strbuf_add_text(out, events_title(state, app_frame(app)));
    return true;
}

static void *
events_open(struct app *app, const void *argument)
{
    const struct events_argument *given = argument;
    struct events *events = alloc_bytes(sizeof *events);
    const char *column = app_config(app)->column, *filter = app_config(app)->start.filter;
    events->path = column ? alloc_text(column) : NULL;
    if (given) {
        struct list_query query = given->query;
        query.filter = NULL;
        events->query = list_query_copy(&query);
        filter = given->query.filter;
        events->title = given->title ? alloc_text(given->title) : NULL;
        events->fixed = given->fixed ? alloc_text(given->fixed) : NULL;
        events->type = given->type ? alloc_text(given->type) : NULL;
        events->given = filter && *filter ? alloc_text(filter) : NULL;
    }
    if (filter)
        strbuf_add_text(&events->filter, filter);
    events_parse(app, events);
    follow_begin(&events->follow, app);
    events_send(app, events);
    return events;
}

static void
events_close(struct app *app, void *state)
{
    (void)app;
    struct events *events = state;
    decide_release(&events->decide);
    list_query_release(&events->query);
    strbuf_release(&events->filter);
    strbuf_release(&events->prompt.before);
    filter_values_release(&events->prompt.values);
    filter_destroy(events->parsed);
    row_cache_release(&events->rows);
    events_saved_release(events);
    free(events->title);
    free(events->fixed);
    free(events->given);
    free(events->type);
    free(events->path);
    free(events->ids);
    free(events->collecting.ids);
    selection_release(&events->collecting.among);
    free(events);
}

static void
events_shown(struct app *app, void *state)
{
    (void)app;
    struct events *events = state;
    events->window.are_rows_old = true;
    follow_touch(&events->follow);
}

static void
events_touched(void *state)
{
    follow_touch(&((struct events *)state)->follow);
}

// A long list is read again only when somebody asks for it.
static int64_t
events_due(const void *state)
{
    const struct events *events = state;
    bool has_news =
        events->progress.arrived && events->count <= FOLLOWED_MOST && events->progress.is_complete;
    return follow_due(&events->follow, &events->table, has_news);
}

static void
events_tick(struct app *app, void *state)
{
    struct events *events = state;
    if (!follow_now(&events->follow, app, state))
        return;
    events->progress.goes_to_first = true;
    events_send(app, events);
}

bool
events_step(struct app *app, void *events_state, int64_t id, bool forward, int64_t *next)
{
    (void)app;
    struct events *events = events_state;
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    if (!table_move_to_id(&events->table, &model, id))
        return false;
    size_t at = events->table.cursor;
    if (forward ? at + 1 >= events->count : at == 0)
        return false;
    table_move_to(&events->table, &model, forward ? at + 1 : at - 1);
    *next = events->ids[events->table.cursor];
    return true;
}

const struct view view_events = {
    .name = "events",
    .group = events_group,
    .context = CONTEXT_VIEW_events,
    .aging = AGES_BY_MINUTES,
    .actions = actions,
    .touched = events_touched,
    .footer = footer,
    .open = events_open,
    .close = events_close,
    .shown = events_shown,
    .receive = events_receive,
    .crumb = events_crumb,
    .events = events_events,
    .draw = events_draw,
    .layout = events_layout,
    .filter = events_filter_here,
    .take_filter = events_take_filter,
    .click = events_click,
    .due = events_due,
    .tick = events_tick,
};
