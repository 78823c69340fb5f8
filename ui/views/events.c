// The list of events: ids come in pages and stay; only the rows of the window are fetched.
#include "ui/views/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/decide.h"
#include "ui/views/event_row.h"
#include "ui/views/why.h"
#include "ui/widgets/statusbar.h"

enum {
    WINDOW_MARGIN = 60, // rows fetched above and below those on the screen
    PREVIEW_ROWS = 6,
    PREVIEW_FROM_ROWS = 16, // of the body
    BESIDE_FROM_COLS = 120,
    CHOICES = 16,
};
static const int64_t ROWS_STALE_AFTER = 1000000;

struct events {
    struct decide decide;    // first: see decide.h
    char *title;             // NULL: by the query
    struct list_query query; // its filter is `filter`
    struct strbuf filter;    // in force
    struct strbuf before;    // in force when the prompt was opened
    struct filter *parsed;   // of `filter`, for highlighting
    struct table table;
    struct row_cache rows;
    bool has_preview;
    bool is_selected_only;

    int64_t *ids;
    size_t count, capacity;
    uint64_t list_number, rows_number, collect_number, why_number;
    enum action collect_for; // DO_SELECT_PATTERN, DO_UNSELECT_PATTERN or DO_SELECT_GROUP
    int64_t *collected;
    size_t collected_count, collected_capacity;
    bool is_complete;
    bool was_stopped;
    int64_t scanned, total, undecided;
    size_t arrived;
    size_t rows_from, rows_to; // window that was asked for last
    int64_t rows_at;           // clock_mono of that
    bool are_rows_old;
};

static const enum action footer[] = {DO_OPEN,    DO_FILTER, DO_SELECT, DO_SELECT_ALL, DO_REPROCESS,
                                     DO_DISCARD, DO_COPY,   DO_HELP,   DO_NONE};

static int64_t
model_id(const void *rows, size_t index)
{
    return ((const struct events *)rows)->ids[index];
}

// The table's callbacks need what the view is drawn with.
struct drawing {
    const struct events *events;
    const struct app *app;
};

static int64_t
drawn_id(const void *rows, size_t index)
{
    return model_id(((const struct drawing *)rows)->events, index);
}

static bool
drawn_selected(const void *rows, size_t index)
{
    const struct drawing *drawing = rows;
    return selection_has(app_selection(drawing->app), drawing->events->ids[index]);
}

static void
drawn_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct drawing *drawing = rows;
    const struct event *event = row_cache_find(&drawing->events->rows, drawing->events->ids[index]);
    if (event)
        event_cell(event, (enum event_column)column, app_now(drawing->app), drawing->events->parsed, canvas,
                   area);
    else if (column == COLUMN_ID)
        canvas_count(canvas, area.row, area.col, area.cols, drawing->events->ids[index], ROLE_DIM);
}

static struct table_model
model_of(const struct events *events)
{
    return (struct table_model){.count = events->count,
                                .id = model_id,
                                .columns = event_columns,
                                .column_count = EVENT_COLUMNS,
                                .rows = events};
}

static const struct event *
cursor_event(const struct events *events)
{
    return events->count ? row_cache_find(&events->rows, events->ids[events->table.cursor]) : NULL;
}

static void
send_list(struct app *app, struct events *events)
{
    struct request *request = request_create(REQUEST_LIST);
    request->list = events->query;
    request->list.filter = events->filter.len ? alloc_text(strbuf_text(&events->filter)) : NULL;
    events->is_complete = false;
    events->was_stopped = false;
    events->arrived = 0;
    events->is_selected_only = false;
    events->list_number = app_send(app, request);
}

static struct filter_context
filter_context(const struct app *app)
{
    return (struct filter_context){.now = app_now(app), .new_after = TIME_ABSENT};
}

static void
parse_shown(const struct app *app, struct events *events)
{
    struct filter_context context = filter_context(app);
    filter_destroy(events->parsed);
    events->parsed = NULL;
    if (events->filter.len && !filter_parse(&events->parsed, strbuf_bytes(&events->filter), &context, NULL))
        events->parsed = NULL;
}

// Lists what matches this text, if it can be read; otherwise the last good result stays and err says where it
// is wrong.
static bool
apply_filter(struct app *app, struct events *events, struct bytes text, struct err *err)
{
    struct filter *parsed = NULL;
    struct filter_context context = filter_context(app);
    text = bytes_trim(text);
    if (text.len && !filter_parse(&parsed, text, &context, err))
        return false;
    filter_destroy(parsed);
    if (bytes_equal(text, strbuf_bytes(&events->filter)))
        return true;
    struct strbuf copy = {0};
    strbuf_add(&copy, text);
    strbuf_release(&events->filter);
    events->filter = copy;
    parse_shown(app, events);
    send_list(app, events);
    return true;
}

static void
filter_changed(struct app *app, void *state, struct bytes text)
{
    struct err err = {0};
    bool ok = apply_filter(app, state, text, &err);
    app_prompt_error(app, ok ? NULL : &err);
}

static bool
filter_accepted(struct app *app, void *state, struct bytes text)
{
    struct err err = {0};
    if (apply_filter(app, state, text, &err))
        return true;
    app_prompt_error(app, &err);
    return false;
}

static void
filter_cancelled(struct app *app, void *state)
{
    struct events *events = state;
    (void)!apply_filter(app, events, strbuf_bytes(&events->before), NULL);
}

static const char *
filter_candidate(struct app *app, void *state, struct bytes text, size_t i)
{
    (void)app;
    (void)state;
    return filter_complete(text, i);
}

static void
ask_filter(struct app *app, struct events *events)
{
    strbuf_reset(&events->before);
    strbuf_add(&events->before, strbuf_bytes(&events->filter));
    app_prompt(app, &(struct prompt_request){
                        .label = "/",
                        .text = strbuf_text(&events->filter),
                        .history = "filter",
                        .changed = filter_changed,
                        .accepted = filter_accepted,
                        .cancelled = filter_cancelled,
                        .complete = filter_candidate,
                    });
}

// Ids of the list that also match a further filter, for the selection.
static void
collect(struct app *app, struct events *events, enum action purpose, const char *filter, const char *group)
{
    struct request *request = request_create(REQUEST_COLLECT);
    request->list = events->query;
    if (group) {
        request->list = (struct list_query){.source = LIST_PENDING, .pivot = PIVOT_ERROR, .has_value = true};
        memcpy(request->list.value, group, GROUP_TEXT);
    } else {
        struct strbuf both = {0};
        strbuf_printf(&both, "%s %s", strbuf_text(&events->filter), filter);
        request->list.filter = strbuf_detach(&both);
    }
    events->collect_for = purpose;
    events->collected_count = 0;
    events->collect_number = app_send(app, request);
}

static bool
pattern_accepted(struct app *app, struct events *events, struct bytes text, enum action purpose)
{
    struct err err = {0};
    struct filter *parsed = NULL;
    struct filter_context context = filter_context(app);
    if (!filter_parse(&parsed, text, &context, &err)) {
        app_prompt_error(app, &err);
        return false;
    }
    filter_destroy(parsed);
    struct arena arena = {0};
    collect(app, events, purpose, arena_text(&arena, text), NULL);
    arena_release(&arena);
    return true;
}

static bool
select_accepted(struct app *app, void *state, struct bytes text)
{
    return pattern_accepted(app, state, text, DO_SELECT_PATTERN);
}

static bool
unselect_accepted(struct app *app, void *state, struct bytes text)
{
    return pattern_accepted(app, state, text, DO_UNSELECT_PATTERN);
}

static void
ask_pattern(struct app *app, bool selects)
{
    app_prompt(app, &(struct prompt_request){
                        .label = selects ? "select " : "unselect ",
                        .history = "filter",
                        .accepted = selects ? select_accepted : unselect_accepted,
                        .complete = filter_candidate,
                    });
}

static void
finish_collecting(struct app *app, struct events *events)
{
    struct selection *selection = app_selection(app);
    size_t before = selection->count;
    if (events->collect_for == DO_UNSELECT_PATTERN)
        selection_remove(selection, events->collected, events->collected_count);
    else
        selection_add(selection, events->collected, events->collected_count);
    char changed[TEXT_SHORT];
    int64_t difference = (int64_t)selection->count - (int64_t)before;
    app_say(app, SAY_INFO, "%s %s", text_count(difference < 0 ? -difference : difference, changed),
            difference < 0 ? "unselected" : "more selected");
    events->collect_number = 0;
}

static void
narrow_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    const struct event *event = cursor_event(events);
    const char *text;
    const char *term;
    if (!event || !event_narrow_term(event, index, app_frame(app), &text, &term))
        return;
    const char *narrowed = arena_printf(app_frame(app), "%s%s%s", strbuf_text(&events->filter),
                                        events->filter.len ? " " : "", term);
    struct err err = {0};
    if (!apply_filter(app, events, bytes_of(narrowed), &err))
        app_say_err(app, &err);
}

static void
ask_narrow(struct app *app, const struct events *events)
{
    const struct event *event = cursor_event(events);
    struct menu_item items[CHOICES];
    size_t count = 0;
    const char *term;
    memset(items, 0, sizeof items);
    while (event && count < CHOICES &&
           event_narrow_term(event, count, app_frame(app), &items[count].text, &term))
        count++;
    if (count)
        app_menu(app, &(struct menu_request){
                          .title = "Narrow to", .items = items, .count = count, .chosen = narrow_chosen});
}

static void
copy_chosen(struct app *app, void *state, size_t index)
{
    const struct event *event = cursor_event(state);
    const char *text;
    struct bytes value;
    if (event && event_copy_choice(event, index, app_frame(app), &text, &value))
        app_copy(app, value, text);
}

static void
ask_copy(struct app *app, const struct events *events)
{
    const struct event *event = cursor_event(events);
    struct menu_item items[CHOICES];
    size_t count = 0;
    struct bytes value;
    memset(items, 0, sizeof items);
    while (event && count < CHOICES &&
           event_copy_choice(event, count, app_frame(app), &items[count].text, &value))
        count++;
    if (count)
        app_menu(app, &(struct menu_request){
                          .title = "Copy", .items = items, .count = count, .chosen = copy_chosen});
}

static const struct {
    const char *text;
    unsigned statuses;
} status_choices[] = {
    {"pending", 1u << EVENT_PENDING},
    {"resolved", 1u << EVENT_RESOLVED},
    {"discarded", 1u << EVENT_DISCARDED},
    {"all", 0},
};

static void
status_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    bool is_pending = status_choices[index].statuses == 1u << EVENT_PENDING;
    events->query.source = is_pending ? LIST_PENDING : LIST_CLOSED;
    events->query.statuses = status_choices[index].statuses;
    send_list(app, events);
}

static void
ask_status(struct app *app, const struct events *events)
{
    struct menu_item items[sizeof status_choices / sizeof *status_choices];
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        items[i] = (struct menu_item){
            .key = (uint32_t)status_choices[i].text[0],
            .text = status_choices[i].text,
            .is_current = events->query.source == LIST_PENDING
                              ? i == 0
                              : events->query.statuses == status_choices[i].statuses,
        };
    app_menu(app, &(struct menu_request){.title = "Status",
                                         .items = items,
                                         .count = sizeof items / sizeof *items,
                                         .chosen = status_chosen});
}

static void
order_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    events->query.oldest_first = index == 1;
    send_list(app, events);
}

static void
ask_order(struct app *app, const struct events *events)
{
    const struct menu_item items[] = {
        {.key = 'n', .text = "newest first", .is_current = !events->query.oldest_first},
        {.key = 'o', .text = "oldest first", .is_current = events->query.oldest_first},
    };
    app_menu(app,
             &(struct menu_request){.title = "Order", .items = items, .count = 2, .chosen = order_chosen});
}

static void
toggle_selected_only(struct app *app, struct events *events)
{
    if (events->is_selected_only) {
        send_list(app, events);
        return;
    }
    const struct selection *selection = app_selection(app);
    if (selection->count == 0) {
        app_say(app, SAY_INFO, "nothing is selected");
        return;
    }
    events->is_selected_only = true;
    events->list_number = 0;
    events->count = 0;
    for (size_t i = selection->count; i-- > 0;) {
        events->ids = alloc_grow(events->ids, events->count, &events->capacity, sizeof *events->ids);
        events->ids[events->count++] = selection->ids[i];
    }
    events->is_complete = true;
    struct table_model model = model_of(events);
    table_sync(&events->table, &model);
}

static void
select_range(struct app *app, struct events *events)
{
    struct table_model model = model_of(events);
    struct selection *selection = app_selection(app);
    size_t from;
    size_t to;
    if (!table_range(&events->table, &from, &to))
        return;
    if (events->table.is_visual) {
        selection_add(selection, events->ids + from, to - from);
        table_handle(&events->table, &model, DO_BACK);
        return;
    }
    selection_toggle(selection, events->ids[from]);
    table_handle(&events->table, &model, DO_DOWN);
}

static void
select_all(struct app *app, struct events *events)
{
    if (!events->is_complete) {
        app_say(app, SAY_WARN, "the list is still being made; select all when it is whole");
        return;
    }
    selection_add(app_selection(app), events->ids, events->count);
}

static void
select_group(struct app *app, struct events *events)
{
    const struct event *event = cursor_event(events);
    char group[GROUP_TEXT];
    if (event)
        collect(app, events, DO_SELECT_GROUP, NULL, group_text(event->group, group));
}

static const char *
title_of(const struct events *events, struct arena *arena)
{
    if (events->title)
        return events->title;
    if (events->query.has_value)
        return arena_printf(arena, "%s %s", pivot_name(events->query.pivot), events->query.value);
    return events->query.source == LIST_PENDING ? "all pending" : "events";
}

// Scope: the selection if there is one, else the visual range, else the cursor row.
static void
decide_here(struct app *app, struct events *events, enum operation_action action)
{
    struct decide_words words = {0};
    if (decide_selection(app, &events->decide, action, events->ids, events->count, &words))
        return;
    size_t from;
    size_t to;
    if (!table_range(&events->table, &from, &to)) {
        app_say(app, SAY_WARN, "there is nothing here to %s", action_name(action));
        return;
    }
    char id[TEXT_SHORT];
    words.what = to - from == 1
                     ? arena_printf(app_frame(app), "this list: id %s", text_count(events->ids[from], id))
                     : "this list, the marked range";
    decide_ids(app, &events->decide, action, events->ids + from, to - from, &words);
}

static void
handle_undo(struct app *app)
{
    if (!selection_undo(app_selection(app)))
        app_say(app, SAY_INFO, "no step of the selection to undo; a discard is undone in operations, 4");
}

// What selects. false: not one of these.
static bool
handle_selecting(struct app *app, struct events *events, enum action action)
{
    struct selection *selection = app_selection(app);
    switch (action) {
    case DO_SELECT:
        select_range(app, events);
        return true;
    case DO_SELECT_ALL:
        select_all(app, events);
        return true;
    case DO_SELECT_GROUP:
        select_group(app, events);
        return true;
    case DO_SELECT_INVERT:
        selection_invert(selection, events->ids, events->count);
        return true;
    case DO_SELECT_CLEAR:
        selection_clear(selection);
        return true;
    case DO_SELECT_PATTERN:
    case DO_UNSELECT_PATTERN:
        ask_pattern(app, action == DO_SELECT_PATTERN);
        return true;
    case DO_SHOW_SELECTED:
        toggle_selected_only(app, events);
        return true;
    case DO_UNDO:
        handle_undo(app);
        return true;
    default:
        return false;
    }
}

static bool
handle_back(struct app *app, struct events *events)
{
    if (events->is_selected_only) {
        send_list(app, events);
        return true;
    }
    if (events->filter.len == 0)
        return false;
    return apply_filter(app, events, BYTES(""), NULL);
}

static bool
handle_cancel(struct app *app, struct events *events)
{
    if (decide_cancel(app, &events->decide))
        return true;
    if (events->collect_number && app_is_waiting(app, events->collect_number)) {
        app_cancel(app, events->collect_number);
        return true;
    }
    if (!app_is_waiting(app, events->list_number))
        return false;
    app_cancel(app, events->list_number);
    events->was_stopped = true;
    return true;
}

static void
open_event(struct app *app, const struct events *events)
{
    if (events->count)
        app_open(app, &view_event, &(struct event_argument){.id = events->ids[events->table.cursor]});
}

static bool
events_handle(struct app *app, void *state, enum action action)
{
    struct events *events = state;
    struct table_model model = model_of(events);
    enum operation_action decision;
    if (table_handle(&events->table, &model, action) || handle_selecting(app, events, action))
        return true;
    if (decide_action(action, &decision)) {
        decide_here(app, events, decision);
        return true;
    }
    switch (action) {
    case DO_OPEN:
    case DO_TRAIL:
        open_event(app, events);
        return true;
    case DO_DETAILS:
        events->has_preview = !events->has_preview;
        return true;
    case DO_FILTER:
        ask_filter(app, events);
        return true;
    case DO_NARROW:
        ask_narrow(app, events);
        return true;
    case DO_SORT:
        ask_order(app, events);
        return true;
    case DO_SORT_REVERSE:
        events->query.oldest_first = !events->query.oldest_first;
        send_list(app, events);
        return true;
    case DO_STATUSES:
        ask_status(app, events);
        return true;
    case DO_REFRESH:
        send_list(app, events);
        return false; // the app also looks at the database
    case DO_WHY:
        if (events->count)
            events->why_number = why_ask(app, events->ids[events->table.cursor]);
        return true;
    case DO_COPY:
        ask_copy(app, events);
        return true;
    case DO_COPY_ID:
        if (events->count)
            app_copy(app,
                     bytes_of(arena_printf(app_frame(app), "%" PRId64, events->ids[events->table.cursor])),
                     "id");
        return true;
    case DO_CANCEL:
        return handle_cancel(app, events);
    case DO_BACK:
        return handle_back(app, events);
    default:
        return false;
    }
}

static void
receive_list(struct app *app, struct events *events, const struct reply *reply)
{
    if (reply->is_new_available) {
        events->arrived = reply->id_count;
        return;
    }
    if (reply->is_first)
        events->count = 0;
    for (size_t i = 0; i < reply->id_count; i++) {
        events->ids = alloc_grow(events->ids, events->count, &events->capacity, sizeof *events->ids);
        events->ids[events->count++] = reply->ids[i];
    }
    events->scanned = reply->scanned;
    events->total = reply->total;
    events->undecided = reply->undecided;
    events->is_complete = reply->is_last;
    events->are_rows_old = true;
    struct table_model model = model_of(events);
    table_sync(&events->table, &model);
    (void)app;
}

static void
receive_collected(struct app *app, struct events *events, const struct reply *reply)
{
    if (reply->kind == REPLY_ERROR) {
        events->collect_number = 0;
        app_say_err(app, &reply->err);
        return;
    }
    for (size_t i = 0; i < reply->id_count && !reply->is_new_available; i++) {
        events->collected = alloc_grow(events->collected, events->collected_count,
                                       &events->collected_capacity, sizeof *events->collected);
        events->collected[events->collected_count++] = reply->ids[i];
    }
    if (reply->is_last)
        finish_collecting(app, events);
}

static bool
events_receive(struct app *app, void *state, struct reply *reply)
{
    struct events *events = state;
    if (decide_receive(app, &events->decide, reply) || why_receive(app, events->why_number, reply))
        return true;
    if (reply->kind == REPLY_STATUS || reply->kind == REPLY_NEWS) {
        events->are_rows_old = true;
        return true;
    }
    if (!reply->number)
        return false;
    if (reply->number == events->collect_number) {
        receive_collected(app, events, reply);
    } else if (reply->number == events->rows_number) {
        if (reply->kind == REPLY_ROWS)
            row_cache_take(&events->rows, reply);
    } else if (reply->number == events->list_number) {
        if (reply->kind == REPLY_LIST)
            receive_list(app, events, reply);
        else if (reply->err.kind == ERR_CANCELLED)
            events->was_stopped = true;
        else
            app_say_err(app, &reply->err);
    } else {
        return false;
    }
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
    bool is_covered = from >= events->rows_from && to <= events->rows_to;
    bool is_due = events->are_rows_old && clock_mono() - events->rows_at > ROWS_STALE_AFTER;
    bool is_known = row_cache_find(&events->rows, events->ids[from]) &&
                    row_cache_find(&events->rows, events->ids[to - 1]);
    if (app_is_waiting(app, events->rows_number) && is_covered)
        return;
    if (is_covered && !is_due && (is_known || !events->are_rows_old))
        return;

    events->rows_from = from > WINDOW_MARGIN ? from - WINDOW_MARGIN : 0;
    events->rows_to = to + WINDOW_MARGIN < events->count ? to + WINDOW_MARGIN : events->count;
    events->rows_at = clock_mono();
    events->are_rows_old = false;
    struct request *request = request_create(REQUEST_ROWS);
    request->id_count = events->rows_to - events->rows_from;
    request->ids = alloc_array(request->id_count, sizeof *request->ids);
    memcpy(request->ids, events->ids + events->rows_from, request->id_count * sizeof *request->ids);
    events->rows_number = app_send(app, request);
}

// The list's part of the body, and the preview's, empty where there is no room.
static struct area
split(const struct events *events, struct area *body, bool *is_beside)
{
    struct area none = {0};
    *is_beside = body->cols >= BESIDE_FROM_COLS;
    if (!events->has_preview || events->count == 0)
        return none;
    if (*is_beside)
        return area_take_right(body, body->cols * 2 / 5);
    if (body->rows < PREVIEW_FROM_ROWS)
        return none;
    return area_take_bottom(body, PREVIEW_ROWS);
}

static void
events_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct events *events = state;
    struct area body = areas->body;
    bool is_beside;
    split(events, &body, &is_beside);
    struct table_model model = model_of(events);
    table_layout(&events->table, &model, body);
    fetch_window(app, events);
}

static void
draw_empty(const struct app *app, const struct events *events, struct canvas *canvas, struct area body)
{
    const struct status *status = app_status(app);
    char count[TEXT_SHORT];
    if (body.rows < 1)
        return;
    if (!events->is_complete && !events->was_stopped) {
        canvas_text(canvas, body.row, body.col + 1, body.cols - 1, BYTES("looking for events…"), ROLE_DIM);
    } else if (events->filter.len) {
        canvas_printf(canvas, body.row, body.col + 1, body.cols - 1, ROLE_TEXT,
                      "Nothing matches; %s without the filter. Esc clears it.",
                      text_count(events->total, count));
    } else if (events->query.source == LIST_PENDING && status->last_closed_at != TIME_ABSENT &&
               status->last_closed_at) {
        canvas_printf(canvas, body.row, body.col + 1, body.cols - 1, ROLE_TEXT,
                      "No pending events. The last one was closed %s ago by %s.",
                      text_age(app_now(app) - status->last_closed_at, count), status->last_closed_by);
    } else {
        canvas_text(canvas, body.row, body.col + 1, body.cols - 1, BYTES("No events here."), ROLE_TEXT);
    }
}

static void
draw_line(const struct app *app, const struct events *events, struct canvas *canvas, struct area line)
{
    if (line.rows < 1)
        return;
    struct arena *arena = app_frame(app);
    char a[TEXT_SHORT];
    char b[TEXT_SHORT];
    const char *shown =
        events->is_complete
            ? arena_printf(arena, "%s", text_count((int64_t)events->count, a))
            : arena_printf(arena, "%s so far, %s of %s looked at", text_count((int64_t)events->count, a),
                           text_count(events->scanned, b), text_count(events->total, (char[TEXT_SHORT]){0}));
    if (events->is_complete && events->filter.len)
        shown = arena_printf(arena, "%s / %s", text_count((int64_t)events->count, a),
                             text_count(events->total, b));
    int width = text_cells(bytes_of(shown), canvas->is_ascii);
    int limit = line.col + line.cols - width - 2;
    canvas_styled(canvas, line.row, line.col, line.cols - 1, bytes_of(shown),
                  &(struct canvas_style){.role = ROLE_STATUS, .at_right = true});

    int col = line.col + 1;
    struct selection *selection = app_selection(app);
    if (events->filter.len)
        chip_draw(canvas, line.row, &col, limit, ROLE_FILTER,
                  bytes_of(arena_printf(arena, "/%s", strbuf_text(&events->filter))));
    if (selection->count) {
        size_t hidden =
            selection->count > 20000 ? 0 : selection_hidden(selection, events->ids, events->count);
        const char *words =
            hidden ? arena_printf(arena, "sel %s (%s hidden)", text_count((int64_t)selection->count, a),
                                  text_count((int64_t)hidden, b))
                   : arena_printf(arena, "sel %s", text_count((int64_t)selection->count, a));
        chip_draw(canvas, line.row, &col, limit, ROLE_STRONG, bytes_of(words));
    }
    if (events->arrived)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO,
                  bytes_of(arena_printf(arena, "+%s new, r", text_count((int64_t)events->arrived, a))));
    if (events->undecided)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_WARN,
                  bytes_of(arena_printf(arena, "%s undecided: the pattern is too costly",
                                        text_count(events->undecided, a))));
    if (events->was_stopped)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_WARN, BYTES("stopped"));
    if (events->is_selected_only)
        chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO, BYTES("selected only"));
    if (events->query.source == LIST_CLOSED)
        for (size_t i = 0; i < sizeof status_choices / sizeof *status_choices; i++)
            if (status_choices[i].statuses == events->query.statuses)
                chip_draw(canvas, line.row, &col, limit, ROLE_STATUS_INFO, bytes_of(status_choices[i].text));
    chip_draw(canvas, line.row, &col, limit, ROLE_STATUS,
              bytes_of(events->query.oldest_first ? "oldest first" : "newest first"));
}

static void
events_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct events *events = state;
    draw_line(app, events, canvas, areas->line);
    struct area body = areas->body;
    bool is_beside;
    struct area preview = split(events, &body, &is_beside);
    if (events->count == 0) {
        draw_empty(app, events, canvas, body);
        return;
    }

    struct drawing drawing = {.events = events, .app = app};
    struct table_model model = {.count = events->count,
                                .id = drawn_id,
                                .is_selected = drawn_selected,
                                .cell = drawn_cell,
                                .columns = event_columns,
                                .column_count = EVENT_COLUMNS,
                                .rows = &drawing};
    table_draw(&events->table, &model, canvas, body);
    const struct event *event = cursor_event(events);
    if (preview.rows > 1) {
        if (is_beside) {
            canvas_vline(canvas, preview.row, preview.col, preview.rows, ROLE_BORDER);
            area_take_left(&preview, 2);
        } else {
            canvas_hline(canvas, preview.row, preview.col + 1, preview.cols - 2, ROLE_BORDER);
            area_take_top(&preview, 1);
            area_take_left(&preview, 1);
        }
        if (event)
            event_preview(event, events->parsed, canvas, preview);
    }
    if (app_is_stale(app))
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}

static bool
events_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    if (i > 0)
        return false;
    strbuf_add_text(out, title_of(state, app_frame(app)));
    return true;
}

static void *
events_open(struct app *app, const void *argument)
{
    const struct events_argument *given = argument;
    struct events *events = alloc_bytes(sizeof *events);
    events->has_preview = true;
    const char *filter = app_config(app)->start_filter;
    if (given) {
        events->query = given->query;
        events->query.filter = NULL;
        filter = given->query.filter;
        events->title = given->title ? alloc_text(given->title) : NULL;
    }
    if (filter)
        strbuf_add_text(&events->filter, filter);
    parse_shown(app, events);
    send_list(app, events);
    return events;
}

static void
events_close(struct app *app, void *state)
{
    (void)app;
    struct events *events = state;
    decide_release(&events->decide);
    strbuf_release(&events->filter);
    strbuf_release(&events->before);
    filter_destroy(events->parsed);
    row_cache_release(&events->rows);
    free(events->title);
    free(events->ids);
    free(events->collected);
    free(events);
}

static void
events_shown(struct app *app, void *state)
{
    (void)app;
    ((struct events *)state)->are_rows_old = true;
}

bool
events_step(struct app *app, void *events_state, int64_t id, bool forward, int64_t *next)
{
    (void)app;
    struct events *events = events_state;
    struct table_model model = model_of(events);
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
    .context = CONTEXT_VIEW_events,
    .is_aging = true,
    .footer = footer,
    .open = events_open,
    .close = events_close,
    .shown = events_shown,
    .handle = events_handle,
    .receive = events_receive,
    .crumb = events_crumb,
    .draw = events_draw,
    .layout = events_layout,
};
