// Selects events by pattern, by group, or all that match.
#include "ui/views/events/state.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/filter_line.h"
#include "ui/views/events/texts.h"

// Ids of the list that also match a further filter, for the selection.
static void
collect(struct app *app, struct events *events, enum action purpose, const char *filter, const char *group)
{
    struct request *request = request_create(REQUEST_COLLECT);
    if (group) {
        request->list = (struct list_query){.source = LIST_PENDING, .pivot = PIVOT_ERROR, .has_value = true};
        memcpy(request->list.value, group, GROUP_TEXT);
    } else {
        struct strbuf both = {0};
        char *whole = events_whole_filter(events);
        strbuf_printf(&both, "%s %s", whole ? whole : "", filter);
        free(whole);
        request->list = list_query_copy(&events->query);
        request->list.filter = strbuf_detach(&both);
    }
    events->collecting.purpose = purpose;
    events->collecting.count = 0;
    events->collecting.then = DO_NONE;
    selection_release(&events->collecting.among);
    events->collecting.among = (struct selection){0};
    events->collecting.number = app_send(app, request);
}

// These rows of the list, as far as they match.
static void
collect_rows(struct app *app, struct events *events, enum action purpose, size_t from, size_t to)
{
    char count[TEXT_SHORT];
    collect(app, events, purpose, "", NULL);
    selection_add(&events->collecting.among, events->ids + from, to - from);
    app_say(app, SAY_INFO, MSG_MATCHING_ROWS, text_count((int64_t)(to - from), count));
}

static bool
pattern_accepted(struct app *app, struct events *events, struct bytes text, enum action purpose)
{
    struct err err = {0};
    struct filter *parsed = NULL;
    struct filter_context context = filter_line_context(app);
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
                        .complete = events_filter_candidate,
                    });
}

void
events_collect_matches(struct app *app, struct events *events)
{
    collect(app, events, DO_NEXT_MATCH, strbuf_text(&events->matches.filter), NULL);
}

// Of what was found only the rows that were asked about. Returns how many of these were not found.
static int64_t
keep_rows(struct events_collecting *collecting)
{
    size_t kept = 0;
    for (size_t i = 0; i < collecting->count; i++)
        if (selection_has(&collecting->among, collecting->ids[i]))
            collecting->ids[kept++] = collecting->ids[i];
    collecting->count = kept;
    return (int64_t)(collecting->among.count - kept);
}

bool
events_put_off(struct app *app, struct events *events, enum action action)
{
    struct events_collecting *collecting = &events->collecting;
    bool is_selecting =
        collecting->number && collecting->purpose != DO_NEXT_MATCH && app_is_waiting(app, collecting->number);
    size_t from;
    size_t to;
    if (!is_selecting && events->progress.is_unconfirmed && app_selection(app)->count == 0 &&
        table_range(&events->table, &from, &to) && to - from > 1) {
        collect_rows(app, events, DO_SELECT_PATTERN, from, to);
        is_selecting = true;
    }
    if (is_selecting)
        collecting->then = action;
    return is_selecting;
}

static void
finish_collecting(struct app *app, struct events *events, int64_t undecided)
{
    events->collecting.number = 0;
    if (events->collecting.purpose == DO_NEXT_MATCH) {
        events_take_matches(app, events);
        return;
    }
    struct selection *selection = app_selection(app);
    size_t before = selection->count;
    int64_t missing = events->collecting.among.count ? keep_rows(&events->collecting) - undecided : 0;
    if (events->collecting.purpose == DO_SELECT_INVERT)
        selection_invert(selection, events->collecting.ids, events->collecting.count);
    else if (events->collecting.purpose == DO_UNSELECT_PATTERN)
        selection_remove(selection, events->collecting.ids, events->collecting.count);
    else
        selection_add(selection, events->collecting.ids, events->collecting.count);
    char changed[TEXT_SHORT];
    char left_out[TEXT_SHORT];
    int64_t difference = (int64_t)selection->count - (int64_t)before;
    text_count(difference < 0 ? -difference : difference, changed);
    const char *words = difference < 0 ? arena_printf(app_frame(app), MSG_UNSELECTED, changed)
                                       : arena_printf(app_frame(app), MSG_SELECTED_MORE, changed);
    const char *rest =
        undecided ? arena_printf(app_frame(app), MSG_UNDECIDED_LEFT_OUT, text_count(undecided, left_out))
                  : "";
    const char *gone =
        missing > 0 ? arena_printf(app_frame(app), MSG_ROWS_LEFT_OUT, text_count(missing, left_out)) : "";
    app_say(app, undecided || missing > 0 ? SAY_WARN : SAY_INFO, "%s%s%s", words, rest, gone);
    enum action then = events->collecting.then;
    events->collecting.then = DO_NONE;
    // Nothing was selected: what it would then act on is the row under the cursor. And whoever answers
    // another question would confirm one that they have not read.
    if (then == DO_NONE || selection->count == 0 || app_has_dialog(app))
        return;
    if (then == DO_RECIPE)
        events_recipe(app, events, then);
    else
        events_decide(app, events, then);
}

void
events_collected(struct app *app, struct events *events, const struct reply *reply)
{
    if (reply->kind == REPLY_ERROR) {
        events->collecting.number = 0;
        app_say_err(app, &reply->err);
        return;
    }
    for (size_t i = 0; i < reply->list.count && !reply->list.is_new_available; i++) {
        events->collecting.ids = alloc_grow(events->collecting.ids, events->collecting.count,
                                            &events->collecting.capacity, sizeof *events->collecting.ids);
        events->collecting.ids[events->collecting.count++] = reply->list.ids[i];
    }
    if (reply->is_last)
        finish_collecting(app, events, reply->list.undecided);
}

static void
toggle_selected_only(struct app *app, struct events *events)
{
    if (events->is_selected_only) {
        events_send(app, events);
        return;
    }
    const struct selection *selection = app_selection(app);
    if (selection->count == 0) {
        app_say(app, SAY_INFO, MSG_NOTHING_SELECTED);
        return;
    }
    events->is_selected_only = true;
    events->list_number = 0;
    events->count = 0;
    for (size_t i = selection->count; i-- > 0;) {
        events->ids = alloc_grow(events->ids, events->count, &events->capacity, sizeof *events->ids);
        events->ids[events->count++] = selection->ids[i];
    }
    events->progress.is_complete = true;
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    table_sync(&events->table, &model);
}

static void
select_range(struct app *app, struct events *events)
{
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    struct selection *selection = app_selection(app);
    size_t from;
    size_t to;
    if (!table_range(&events->table, &from, &to))
        return;
    if (events->table.is_visual) {
        if (events->progress.is_unconfirmed && to - from > 1)
            collect_rows(app, events, DO_SELECT_PATTERN, from, to);
        else
            selection_add(selection, events->ids + from, to - from);
        table_handle(&events->table, &model, DO_BACK);
        return;
    }
    selection_toggle(selection, events->ids[from]);
    table_handle(&events->table, &model, DO_DOWN);
}

// "All" would be those that have come so far.
static bool
refuses_incomplete(struct app *app, const struct events *events)
{
    if (events->progress.is_complete)
        return false;
    app_say(app, SAY_WARN, app_is_waiting(app, events->list_number) ? MSG_STILL_LOADING : MSG_NOT_ALL_LOADED);
    return true;
}

static void
select_all(struct app *app, struct events *events)
{
    if (refuses_incomplete(app, events))
        return;
    if (events->progress.is_unconfirmed)
        collect_rows(app, events, DO_SELECT_PATTERN, 0, events->count);
    else if (events->progress.undecided) // only events that are known to match
        collect(app, events, DO_SELECT_PATTERN, "", NULL);
    else
        selection_add(app_selection(app), events->ids, events->count);
}

static void
select_group(struct app *app, struct events *events)
{
    const struct event *event = events_cursor(events);
    char group[GROUP_TEXT];
    if (event)
        collect(app, events, DO_SELECT_GROUP, NULL, group_text(event->group, group));
}

static void
invert_selection(struct app *app, struct events *events)
{
    if (refuses_incomplete(app, events))
        return;
    if (events->progress.is_unconfirmed)
        collect_rows(app, events, DO_SELECT_INVERT, 0, events->count);
    else
        selection_invert(app_selection(app), events->ids, events->count);
}

static void
clear_selection(struct app *app, struct events *events)
{
    (void)events;
    selection_clear(app_selection(app));
}

static void
ask_to_select(struct app *app, struct events *events)
{
    (void)events;
    ask_pattern(app, true);
}

static void
ask_to_unselect(struct app *app, struct events *events)
{
    (void)events;
    ask_pattern(app, false);
}

static void
undo(struct app *app, struct events *events)
{
    decide_undo(app, &events->decide);
}

static const struct selecting {
    enum action action;
    void (*run)(struct app *app, struct events *events);
} selecting[] = {
    {DO_SELECT, select_range},
    {DO_SELECT_ALL, select_all},
    {DO_SELECT_GROUP, select_group},
    {DO_SELECT_INVERT, invert_selection},
    {DO_SELECT_CLEAR, clear_selection},
    {DO_SELECT_PATTERN, ask_to_select},
    {DO_UNSELECT_PATTERN, ask_to_unselect},
    {DO_SHOW_SELECTED, toggle_selected_only},
    {DO_UNDO, undo},
};

static const struct selecting *
find_selecting(enum action action)
{
    for (size_t i = 0; i < sizeof selecting / sizeof *selecting; i++)
        if (selecting[i].action == action)
            return &selecting[i];
    return NULL;
}

bool
events_selects(enum action action)
{
    return find_selecting(action);
}

bool
events_select(struct app *app, void *state, enum action action)
{
    find_selecting(action)->run(app, state);
    return true;
}
