// The groups of pending events, first screen of the program.
#include "ui/views/groups/groups.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/filter/filter.h"
#include "ui/views/events/events.h"
#include "ui/views/groups/query.h"
#include "ui/views/groups/state.h"
#include "ui/views/operations/operation.h"
#include "ui/views/why.h"

static const enum action footer[] = {DO_OPEN, DO_FILTER, DO_SELECT, DO_REPROCESS, DO_DISCARD,
                                     DO_WHY,  DO_SORT,   DO_PIVOT,  DO_HELP,      DO_NONE};

void
groups_show_rows(struct groups *groups)
{
    group_rows_show(&groups->rows, &groups->filter, groups->is_selected_only ? &groups->picks : NULL);
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    table_sync(&groups->table, &model);
}

void
groups_order_rows(struct groups *groups)
{
    group_rows_order(&groups->rows);
    groups_show_rows(groups);
}

static void
check_picks(struct app *app, struct groups *groups)
{
    groups->selected = app_selection(app)->count;
    group_picks_check(app, &groups->picks);
    groups_show_rows(groups);
}

static void
receive_groups(struct groups *groups, struct reply *reply)
{
    if (reply->pivot != groups->pivot)
        return;
    groups->has_answer = true;
    groups->is_counting = !reply->is_last;
    err_clear(&groups->err);
    if (group_rows_take(&groups->rows, reply)) {
        groups->table.cursor = groups->table.top = 0; // nobody has moved it yet
        groups->table.has_cursor_id = false;
    }
    groups_show_rows(groups);
}

static void
ask_groups(struct app *app, struct groups *groups)
{
    struct request *request = request_create(REQUEST_GROUPS);
    request->pivot = groups->pivot;
    request->has_group = groups->has_within;
    request->group = groups->within;
    request->is_on = groups->is_merged;
    groups->number = app_send(app, request);
}

static const uint64_t *
within_of(const struct groups *groups)
{
    return groups->has_within ? &groups->within : NULL;
}

// Is it a filter of events, which this view's own is not?
static bool
is_event_filter(struct app *app, struct bytes text, struct err *err)
{
    struct filter *parsed = NULL;
    const struct filter_context context = {.now = app_now(app), .new_after = TIME_ABSENT};
    bool ok = filter_parse(&parsed, text, &context, err);
    filter_destroy(parsed);
    return ok;
}

// No group reads as the filter says; an event may.
static void
open_matching(struct app *app, const struct groups *groups)
{
    struct err err = {0};
    struct bytes text = strbuf_bytes(&groups->filter.text);
    if (!is_event_filter(app, text, &err)) {
        app_say(app, SAY_WARN, "%s", err.text);
        return;
    }
    struct events_argument argument = {.query =
                                           group_query_matching(within_of(groups), text, app_frame(app))};
    app_open(app, &view_events, &argument);
}

static void
open_events(struct app *app, const struct groups *groups)
{
    const struct event_group *group = groups_cursor(groups);
    if (!group) {
        if (groups->rows.count > 0 && row_filter_is_on(&groups->filter))
            open_matching(app, groups);
        return;
    }
    struct arena *arena = app_frame(app);
    struct events_argument argument = {.query = group_query(groups->pivot, within_of(groups), group, arena),
                                       .title = group_short_title(group, groups->pivot, arena),
                                       .type = group->types[1].count == 0 ? group->types[0].name : NULL};
    app_open(app, &view_events, &argument);
}

// Scope: the selection if there is one, else the group under the cursor.
static void
groups_decide_here(struct app *app, struct groups *groups, enum operation_action action)
{
    struct decide_words words = {0};
    struct arena *arena = app_frame(app);
    if (group_picks_is_busy(&groups->picks)) {
        app_say(app, SAY_INFO, "the selection is still being collected; then this goes on, C-c stops it");
        groups->is_asked = true;
        groups->asked = action;
        return;
    }
    if (decide_selection(app, &groups->decide, action, NULL, 0, &words))
        return;
    const struct event_group *group = groups_cursor(groups);
    if (groups->table.is_visual || !group) {
        app_say(app, SAY_WARN, group ? "select the range first" : "there is nothing here to decide on");
        return;
    }
    char key[GROUP_TEXT];
    struct list_query query = group_query(groups->pivot, within_of(groups), group, arena);
    words.what = group_title(group, groups->pivot, arena);
    if (groups->pivot != PIVOT_ERROR)
        words.what = arena_printf(arena, "%s %s", pivot_name(groups->pivot), words.what);
    words.filter = group_term(groups->pivot, group, arena);
    if (group->part_count)
        words.what = arena_printf(arena, "%s, %s", group_parts_text(group, arena), words.what);
    words.group = group->part_count              ? NULL
                  : groups->pivot == PIVOT_ERROR ? group->value
                  : groups->has_within           ? group_text(groups->within, key)
                                                 : NULL;
    decide_list(app, &groups->decide, action, &query, &words);
}

// Selecting

static void
want_rows(struct app *app, struct groups *groups, enum pick_verb verb, size_t from, size_t to)
{
    if (group_picks_is_busy(&groups->picks)) {
        app_say(app, SAY_WARN, "still collecting; C-c stops");
        return;
    }
    for (size_t i = from; i < to; i++) {
        const struct event_group *group = group_rows_at(&groups->rows, i);
        struct list_query query = group_query(groups->pivot, within_of(groups), group, app_frame(app));
        if (group->count > 0)
            group_picks_want(&groups->picks, verb, &group->key, &query);
    }
    group_picks_start(app, &groups->picks);
}

// Space: a group that is selected as a whole is unselected, any other is selected.
static void
select_range(struct app *app, struct groups *groups, const struct table_model *model)
{
    size_t from;
    size_t to;
    if (!table_range(&groups->table, &from, &to))
        return;
    bool is_range = groups->table.is_visual;
    bool has_all = true;
    for (size_t i = from; i < to; i++)
        has_all &= group_picks_has(&groups->picks, group_rows_at(&groups->rows, i)->key);
    want_rows(app, groups, has_all ? PICK_REMOVE : PICK_ADD, from, to);
    table_handle(&groups->table, model, is_range ? DO_BACK : DO_DOWN);
}

static bool
pattern_accepted(struct app *app, struct groups *groups, struct bytes text, enum pick_verb verb)
{
    struct err err = {0};
    if (!is_event_filter(app, text, &err)) {
        app_prompt_error(app, &err);
        return false;
    }
    struct list_query query = group_query_matching(within_of(groups), text, app_frame(app));
    group_picks_want(&groups->picks, verb, NULL, &query);
    group_picks_start(app, &groups->picks);
    return true;
}

static bool
select_accepted(struct app *app, void *state, struct bytes text)
{
    return pattern_accepted(app, state, text, PICK_ADD);
}

static bool
unselect_accepted(struct app *app, void *state, struct bytes text)
{
    return pattern_accepted(app, state, text, PICK_REMOVE);
}

static const char *
filter_candidate(struct app *app, void *state, struct bytes text, size_t i)
{
    (void)app;
    (void)state;
    return filter_complete(text, i);
}

static void
ask_pattern(struct app *app, const struct groups *groups, bool selects)
{
    if (group_picks_is_busy(&groups->picks))
        app_say(app, SAY_WARN, "still collecting; C-c stops");
    else
        app_prompt(app, &(struct prompt_request){
                            .label = selects ? "select events " : "unselect events ",
                            .history = "filter",
                            .accepted = selects ? select_accepted : unselect_accepted,
                            .complete = filter_candidate,
                        });
}

static bool
handle_selecting(struct app *app, struct groups *groups, const struct table_model *model, enum action action)
{
    size_t from;
    size_t to;
    switch ((int)action) {
    case DO_SELECT:
        select_range(app, groups, model);
        return true;
    case DO_SELECT_GROUP:
        if (table_range(&groups->table, &from, &to))
            want_rows(app, groups, PICK_ADD, from, to);
        groups->table.is_visual = false;
        return true;
    case DO_SELECT_ALL:
        want_rows(app, groups, PICK_ADD, 0, groups->rows.shown_count);
        return true;
    case DO_SELECT_INVERT:
        want_rows(app, groups, PICK_INVERT, 0, groups->rows.shown_count);
        return true;
    case DO_SELECT_CLEAR:
        selection_clear(app_selection(app));
        break;
    case DO_SELECT_PATTERN:
    case DO_UNSELECT_PATTERN:
        ask_pattern(app, groups, action == DO_SELECT_PATTERN);
        return true;
    case DO_SHOW_SELECTED:
        groups->is_selected_only = !groups->is_selected_only;
        break;
    case DO_UNDO:
        if (!decide_undo(app, &groups->decide) && !selection_undo(app_selection(app)))
            app_say(app, SAY_INFO, "no step of the selection to undo; a discard is undone in operations, 4");
        break;
    default:
        return false;
    }
    check_picks(app, groups);
    return true;
}

// The filter line

static void
groups_filter_changed(struct app *app, void *state, struct bytes text)
{
    struct groups *groups = state;
    struct err err = {0};
    bool ok = row_filter_set(&groups->filter, text, &err);
    app_prompt_error(app, ok ? NULL : &err);
    groups_show_rows(groups);
}

static bool
groups_filter_accepted(struct app *app, void *state, struct bytes text)
{
    struct groups *groups = state;
    struct err err = {0};
    if (!row_filter_set(&groups->filter, text, &err)) {
        app_prompt_error(app, &err);
        return false;
    }
    groups_show_rows(groups);
    return true;
}

static void
groups_filter_cancelled(struct app *app, void *state)
{
    (void)app;
    struct groups *groups = state;
    row_filter_restore(&groups->filter);
    groups_show_rows(groups);
}

static void
groups_ask_filter(struct app *app, struct groups *groups)
{
    row_filter_remember(&groups->filter);
    app_prompt(app, &(struct prompt_request){
                        .label = "/",
                        .text = strbuf_text(&groups->filter.text),
                        .history = "rows",
                        .changed = groups_filter_changed,
                        .accepted = groups_filter_accepted,
                        .cancelled = groups_filter_cancelled,
                    });
}

void
groups_set_pivot(struct app *app, struct groups *groups, enum pivot pivot)
{
    groups->pivot = pivot;
    groups->rows.order = pivot == PIVOT_HOUR ? GROUPS_BY_NEWEST : GROUPS_BY_COUNT;
    groups->rows.is_reversed = false;
    group_rows_forget(&groups->rows);
    groups->has_answer = false;
    groups->is_selected_only = false;
    groups->table = (struct table){0};
    group_picks_release(&groups->picks); // its keys are of the pivot before
    ask_groups(app, groups);
}

static bool
groups_handle_back(struct groups *groups)
{
    if (groups->is_selected_only)
        groups->is_selected_only = false;
    else if (row_filter_is_on(&groups->filter))
        (void)!row_filter_set(&groups->filter, BYTES(""), NULL);
    else
        return false;
    groups_show_rows(groups);
    return true;
}

static bool
handle_opening(struct app *app, struct groups *groups, enum action action)
{
    const struct event_group *group = groups_cursor(groups);
    switch ((int)action) {
    case DO_OPEN:
        open_events(app, groups);
        return true;
    case DO_WHY:
        if (group)
            groups->why_number = why_ask(app, group->sample_id);
        return true;
    case DO_TRAIL:
        if (group && group->part_count)
            app_say(app, SAY_INFO, "each of the %zu groups has a trail of its own; Tab unfolds them",
                    group->part_count);
        else if (group)
            app_open(app, &view_operations, &(struct operations_argument){.about = group->value});
        return true;
    case DO_COPY:
        groups_ask_copy(app, groups);
        return true;
    case DO_COPY_ID:
        if (group)
            app_copy(app, bytes_of(group->value), groups->pivot == PIVOT_ERROR ? "group" : "value");
        return true;
    case DO_FILTER:
        groups_ask_filter(app, groups);
        return true;
    case DO_CATEGORY:
        groups_ask_category(app, groups);
        return true;
    case DO_NARROW:
        groups_ask_narrow(app, groups);
        return true;
    case DO_SORT:
        groups_ask_order(app, groups);
        return true;
    case DO_PIVOT:
        groups_ask_pivot(app, groups);
        return true;
    default:
        return false;
    }
}

// Cursor and picks are of the rows before.
static void
switch_merging(struct app *app, struct groups *groups)
{
    if (groups->pivot != PIVOT_ERROR || groups->has_within) {
        app_say(app, SAY_INFO, "only groups by error are merged");
        return;
    }
    groups->is_merged = !groups->is_merged;
    groups->is_selected_only = false;
    group_rows_forget(&groups->rows);
    group_picks_release(&groups->picks);
    groups->table = (struct table){0};
    groups->has_answer = false;
    ask_groups(app, groups);
}

static void
fold_here(struct app *app, struct groups *groups)
{
    if (groups->rows.shown_count && group_rows_fold(&groups->rows, groups->table.cursor))
        groups_order_rows(groups);
    else
        app_say(app, SAY_INFO, "this is a single group; f shows groups that differ in one word as one");
}

static bool
groups_handle(struct app *app, void *state, enum action action)
{
    struct groups *groups = state;
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    enum operation_action decision;
    groups->rows.is_frozen |= groups->rows.count > 0;
    groups->is_asked = false;
    if (table_handle(&groups->table, &model, action) || handle_selecting(app, groups, &model, action) ||
        handle_opening(app, groups, action))
        return true;
    if (decide_action(action, &decision)) {
        groups_decide_here(app, groups, decision);
        return true;
    }
    switch ((int)action) {
    case DO_HEAT:
        groups->has_heat = !groups->has_heat;
        return true;
    case DO_MERGE:
        switch_merging(app, groups);
        return true;
    case DO_FOLD:
        fold_here(app, groups);
        return true;
    case DO_DETAILS:
        groups->has_preview = !groups->has_preview;
        return true;
    case DO_SORT_REVERSE:
        groups->rows.is_reversed = !groups->rows.is_reversed;
        groups_order_rows(groups);
        return true;
    case DO_REFRESH:
        groups_order_rows(groups);
        return false; // the app also looks at the database
    case DO_CANCEL:
        return group_picks_cancel(app, &groups->picks) || decide_cancel(app, &groups->decide);
    case DO_BACK:
        return groups_handle_back(groups);
    default:
        return false;
    }
}

static bool
groups_click(struct app *app, void *state, int row, int col)
{
    (void)app;
    struct groups *groups = state;
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    groups->rows.is_frozen |= groups->rows.count > 0;
    int column;
    enum table_spot spot = table_click(&groups->table, &model, row, col, &column);
    enum group_order order;
    if (spot != TABLE_HEADING || !group_column_order((enum group_column)column, &order))
        return spot == TABLE_ROW;
    groups->rows.is_reversed = groups->rows.order == order && !groups->rows.is_reversed;
    groups->rows.order = order;
    groups_order_rows(groups);
    return true;
}

static bool
groups_receive(struct app *app, void *state, struct reply *reply)
{
    struct groups *groups = state;
    if (decide_receive(app, &groups->decide, reply) || group_picks_receive(app, &groups->picks, reply)) {
        if (groups->selected != app_selection(app)->count)
            check_picks(app, groups);
        if (groups->is_asked && !group_picks_is_busy(&groups->picks)) {
            groups->is_asked = false;
            if (reply->kind != REPLY_ERROR)
                groups_decide_here(app, groups, groups->asked);
        }
        return true;
    }
    if (why_receive(app, groups->why_number, reply) || groups_category_receive(app, groups, reply))
        return true;
    if (!reply->number || reply->number != groups->number)
        return false;
    if (reply->kind == REPLY_GROUPS)
        receive_groups(groups, reply);
    else
        groups->err = reply->err;
    return true;
}

static bool
groups_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    const struct groups *groups = state;
    if (i > 0)
        return false;
    strbuf_add_text(out, groups->title ? groups->title : "groups");
    if (groups->title || groups->pivot != PIVOT_ERROR)
        strbuf_printf(out, " by %s", pivot_name(groups->pivot));
    return true;
}

static void *
groups_open(struct app *app, const void *argument)
{
    const struct groups_argument *given = argument;
    struct groups *groups = alloc_bytes(sizeof *groups);
    groups->has_preview = true;
    if (given) {
        groups->pivot = given->pivot;
        groups->rows.order = given->pivot == PIVOT_HOUR ? GROUPS_BY_NEWEST : GROUPS_BY_COUNT;
        groups->has_within = true;
        groups->within = given->within;
        groups->title = given->title ? alloc_text(given->title) : NULL;
    }
    group_columns(groups->pivot, groups->rows.order, false, 0, groups->columns);
    ask_groups(app, groups);
    return groups;
}

static void
groups_close(struct app *app, void *state)
{
    (void)app;
    struct groups *groups = state;
    decide_release(&groups->decide);
    row_filter_release(&groups->filter);
    group_picks_release(&groups->picks);
    group_rows_release(&groups->rows);
    free(groups->title);
    free(groups->category.keys);
    free(groups);
}

// Groups within a group take the backend's attention; and the selection may have changed.
static void
groups_shown(struct app *app, void *state)
{
    struct groups *groups = state;
    ask_groups(app, groups);
    check_picks(app, groups);
}

const struct view view_groups = {
    .name = "groups",
    .context = CONTEXT_VIEW_groups,
    .aging = AGES_BY_MINUTES,
    .footer = footer,
    .open = groups_open,
    .close = groups_close,
    .shown = groups_shown,
    .handle = groups_handle,
    .receive = groups_receive,
    .crumb = groups_crumb,
    .draw = groups_draw,
    .layout = groups_layout,
    .click = groups_click,
};
