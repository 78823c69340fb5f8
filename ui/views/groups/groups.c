// The groups of pending events, first screen of the program.
#include "ui/views/groups/groups.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "ui/views/apart.h"
#include "ui/views/events/events.h"
#include "ui/views/filter_line.h"
#include "ui/views/groups/query.h"
#include "ui/views/groups/state.h"
#include "ui/views/operations/operation.h"
#include "ui/views/output.h"
#include "ui/views/why.h"
#include "ui/views/groups/texts.h"
#include "ui/views/recipe/recipe.h"

static const enum action footer[] = {DO_NEXT_PANE, DO_OPEN, DO_FILTER, DO_SELECT, DO_REPROCESS, DO_DISCARD,
                                     DO_WHY,       DO_SORT, DO_PIVOT,  DO_APART,  DO_HELP,      DO_NONE};

void
groups_show_rows(void *state)
{
    struct groups *groups = state;
    group_rows_show(&groups->rows, groups->is_selected_only ? &groups->picks : NULL);
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    table_sync(&groups->table, &model);
}

void
groups_order_rows(struct groups *groups)
{
    group_rows_order(&groups->rows);
    groups->is_out_of_order = false;
    groups_show_rows(groups);
}

static void
check_picks(struct app *app, struct groups *groups)
{
    groups->selected = app_selection(app)->count;
    group_picks_check(app, &groups->picks);
    groups_show_rows(groups);
}

// After the rows were made anew: the group where the cursor was, or where the prompt was opened.
static void
find_cursor(struct groups *groups, int64_t id)
{
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    if (!table_move_to_id(&groups->table, &model, id))
        table_to_first(&groups->table);
    table_sync(&groups->table, &model);
}

static void
receive_groups(struct groups *groups, struct reply *reply)
{
    if (reply->groups.pivot != groups->pivot)
        return;
    struct groups_filter *filter = &groups->filter;
    const struct event_group *at_cursor = groups_cursor(groups);
    int64_t cursor = filter->has_anchor ? (int64_t)filter->anchor : at_cursor ? (int64_t)at_cursor->key : 0;
    // The counts of a search grow; their order holds once it is over.
    bool is_growing = filter->matched.is_on && !filter->matched.is_whole && !filter->matched.is_stopped;
    bool is_other = filter->is_awaited || is_growing;
    bool has_cursor = is_other && (filter->has_anchor || groups->rows.is_frozen);
    groups->has_answer = true;
    groups->is_counting = !reply->is_last;
    filter->is_awaited = false;
    filter->matched = reply->groups.matched;
    err_clear(&groups->err);
    if (is_other)
        group_rows_renew(&groups->rows);
    bool is_ordered = group_rows_take(&groups->rows, reply);
    if (is_ordered && !has_cursor)
        table_to_first(&groups->table); // nobody has moved it yet
    groups_show_rows(groups);
    groups->is_out_of_order = group_rows_are_out_of_order(&groups->rows);
    if (has_cursor)
        find_cursor(groups, cursor);
    filter->has_anchor = filter->has_anchor && (filter->is_typing || !reply->is_last);
}

void
groups_ask(struct app *app, struct groups *groups)
{
    struct request *request = request_create(REQUEST_GROUPS);
    request->groups.pivot = groups->pivot;
    request->path = groups->path ? alloc_text(groups->path) : NULL;
    request->groups.has_group = groups->has_within;
    request->groups.group = groups->within;
    request->is_on = groups->is_merged;
    request->groups.rank = group_order_rank(groups->rows.order);
    request->groups.is_reversed = groups->rows.is_reversed;
    const char *filter = groups_filter_text(groups);
    request->list.filter = filter ? alloc_text(filter) : NULL;
    groups->number = app_send(app, request);
}

void
groups_reorder(struct app *app, struct groups *groups)
{
    table_to_first(&groups->table);
    groups_order_rows(groups);
    if (!group_rows_are_cut(&groups->rows))
        return;
    groups->rows.is_frozen = false;
    groups_ask(app, groups);
}

// What the rows are: "type", or the path.
static const char *
groups_by(const struct groups *groups)
{
    return groups->path ? groups->path : pivot_name(groups->pivot);
}

static const uint64_t *
within_of(const struct groups *groups)
{
    return groups->has_within ? &groups->within : NULL;
}

static bool
open_events(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    if (!group)
        return true;
    struct arena *arena = app_frame(app);
    struct events_argument argument = {
        .query = group_query(groups->pivot, within_of(groups), group, groups_filter_text(groups), arena),
        .title = group_short_title(group, groups->pivot, arena),
        .type = group->types[1].count == 0 ? group->types[0].name : NULL};
    app_open(app, &view_events, &argument);
    return true;
}

// The events of the group under the cursor, and what they are called. false: there is none, and that was
// said.
static bool
cursor_scope(struct app *app, const struct groups *groups, struct list_query *query,
             struct decide_words *words, char key[GROUP_TEXT])
{
    struct arena *arena = app_frame(app);
    const struct event_group *group = groups_cursor(groups);
    if (groups->table.is_visual || !group) {
        app_say(app, SAY_WARN, group ? MSG_SELECT_RANGE_FIRST : MSG_NOTHING_TO_DECIDE);
        return false;
    }
    const char *filter = groups_filter_text(groups);
    *query = group_query(groups->pivot, within_of(groups), group, filter, arena);
    words->what = group_title(group, groups->pivot, arena);
    if (groups->pivot != PIVOT_ERROR)
        words->what = arena_printf(arena, "%s %s", groups_by(groups), words->what);
    words->filter = filter_line_both(group_term(groups->pivot, group, arena), filter, arena);
    if (group->part_count)
        words->what = arena_printf(arena, "%s, %s", group_parts_text(group, arena), words->what);
    const struct advice *advice = groups_advice(app, groups, group);
    words->advice = advice ? advice_words(advice, arena) : NULL;
    if (filter)
        words->what = arena_printf(arena, MSG_THAT_MATCH, words->what, filter);
    words->group = group->part_count              ? NULL
                   : groups->pivot == PIVOT_ERROR ? group->value
                   : groups->has_within           ? group_text(groups->within, key)
                                                  : NULL;
    return true;
}

// Scope: the selection if there is one, else the group under the cursor.
static void
groups_decide_here(struct app *app, struct groups *groups, enum operation_action action)
{
    struct decide_words words = {0};
    struct list_query query;
    char key[GROUP_TEXT];
    if (group_picks_is_busy(&groups->picks)) {
        app_say(app, SAY_INFO, MSG_CONTINUES_THEN);
        groups->awaited.is_asked = true;
        groups->awaited.asked = action;
        return;
    }
    if (!decide_selection(app, &groups->decide, action, NULL, 0, &words) &&
        cursor_scope(app, groups, &query, &words, key))
        decide_list(app, &groups->decide, action, &query, &words);
}

static bool
groups_recipe(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    struct decide_words words = {0};
    struct list_query query;
    char key[GROUP_TEXT];
    if (group_picks_is_busy(&groups->picks))
        app_say(app, SAY_INFO, MSG_STILL_SELECTING);
    else if (!recipe_open_selection(app, NULL, NULL, 0) && cursor_scope(app, groups, &query, &words, key))
        app_open(app, &view_recipe, &(struct recipe_argument){.list = &query, .words = &words});
    return true;
}

static bool
groups_apart(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    struct decide_words words = {0};
    struct list_query query;
    char key[GROUP_TEXT];
    if (group_picks_is_busy(&groups->picks))
        app_say(app, SAY_INFO, MSG_STILL_SELECTING);
    else if (!apart_open_selection(app) && cursor_scope(app, groups, &query, &words, key))
        app_open(app, &view_apart,
                 &(struct apart_argument){
                     .list = &query,
                     .what = group_short_title(groups_cursor(groups), groups->pivot, app_frame(app)),
                     .filter = words.filter});
    return true;
}

static bool
groups_decide(struct app *app, void *state, enum action action)
{
    groups_decide_here(app, state, decide_operation(action));
    return true;
}

static bool
groups_move(struct app *app, void *state, enum action action)
{
    (void)app;
    struct groups *groups = state;
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    return table_handle(&groups->table, &model, action);
}

// Selecting

static void
want_rows(struct app *app, struct groups *groups, enum pick_verb verb, size_t from, size_t to)
{
    if (group_picks_is_busy(&groups->picks)) {
        app_say(app, SAY_WARN, MSG_STILL_COLLECTING);
        return;
    }
    for (size_t i = from; i < to; i++) {
        const struct event_group *group = group_rows_at(&groups->rows, i);
        struct list_query query =
            group_query(groups->pivot, within_of(groups), group, groups_filter_text(groups), app_frame(app));
        if (group->count > 0)
            group_picks_want(&groups->picks, verb, &group->key, &query);
    }
    group_picks_start(app, &groups->picks);
}

// Space: a group that is selected as a whole is unselected, any other is selected.
static bool
select_range(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    size_t from;
    size_t to;
    if (!table_range(&groups->table, &from, &to))
        return true;
    bool is_range = groups->table.is_visual;
    bool has_all = true;
    for (size_t i = from; i < to; i++)
        has_all &= group_picks_has(&groups->picks, group_rows_at(&groups->rows, i)->key);
    want_rows(app, groups, has_all ? PICK_REMOVE : PICK_ADD, from, to);
    return groups_move(app, groups, is_range ? DO_BACK : DO_DOWN);
}

static bool
pattern_accepted(struct app *app, struct groups *groups, struct bytes text, enum pick_verb verb)
{
    struct err err = {0};
    struct strbuf filter = {0};
    if (!filter_line_read(app, text, &filter, &err)) {
        strbuf_release(&filter);
        app_prompt_error(app, &err);
        return false;
    }
    struct list_query query = group_query_matching(within_of(groups), strbuf_bytes(&filter), app_frame(app));
    strbuf_release(&filter);
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

static bool
ask_pattern(struct app *app, void *state, enum action action)
{
    const struct groups *groups = state;
    bool selects = action == DO_SELECT_PATTERN;
    if (group_picks_is_busy(&groups->picks))
        app_say(app, SAY_WARN, MSG_STILL_COLLECTING);
    else
        app_prompt(app, &(struct prompt_request){
                            .label = selects ? "select events " : "unselect events ",
                            .history = "filter",
                            .accepted = selects ? select_accepted : unselect_accepted,
                            .complete = groups_filter_candidate,
                        });
    return true;
}

static bool
select_group(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    size_t from;
    size_t to;
    if (table_range(&groups->table, &from, &to))
        want_rows(app, groups, PICK_ADD, from, to);
    groups->table.is_visual = false;
    return true;
}

static bool
select_all(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    want_rows(app, groups, PICK_ADD, 0, groups->rows.shown_count);
    return true;
}

static bool
invert_selection(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    want_rows(app, groups, PICK_INVERT, 0, groups->rows.shown_count);
    return true;
}

static bool
clear_selection(struct app *app, void *state, enum action action)
{
    (void)action;
    selection_clear(app_selection(app));
    check_picks(app, state);
    return true;
}

static bool
toggle_selected_only(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    groups->is_selected_only = !groups->is_selected_only;
    check_picks(app, groups);
    return true;
}

static bool
groups_undo(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    decide_undo(app, &groups->decide);
    check_picks(app, groups);
    return true;
}

void
groups_set_pivot(struct app *app, struct groups *groups, enum pivot pivot, const char *path)
{
    char *copy = path ? alloc_text(path) : NULL;
    free(groups->path);
    groups->path = copy;
    groups->pivot = pivot;
    groups->rows.order = pivot == PIVOT_HOUR ? GROUPS_BY_NEWEST : GROUPS_BY_COUNT;
    groups->rows.is_reversed = false;
    group_rows_forget(&groups->rows);
    groups->has_answer = false;
    groups->is_selected_only = false;
    groups->table = (struct table){0};
    group_picks_release(&groups->picks); // its keys are of the pivot before
    groups_ask(app, groups);
}

static bool
groups_go_back(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    if (groups->is_selected_only)
        groups->is_selected_only = false;
    else if (groups->filter.text.len)
        return groups_filter(app, groups, BYTES(""), NULL);
    else
        return false;
    groups_show_rows(groups);
    return true;
}

static bool
groups_explain(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    if (group)
        groups->shown.why_number = why_ask(app, group->sample_id);
    return true;
}

static bool
groups_open_trail(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct event_group *group = groups_cursor(state);
    if (group && group->part_count)
        app_say(app, SAY_INFO, MSG_TRAIL_OF_PARTS, group->part_count);
    else if (group)
        app_open(app, &view_operations, &(struct operations_argument){.about = group->value});
    return true;
}

static bool
copy_value(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    if (group)
        app_copy(app, bytes_of(group->value), groups->pivot == PIVOT_ERROR ? "group" : "value");
    return true;
}

// Cursor and picks are of the rows before.
static bool
switch_merging(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    if (groups->pivot != PIVOT_ERROR || groups->has_within) {
        app_say(app, SAY_INFO, MSG_MERGE_BY_ERROR);
        return true;
    }
    groups->is_merged = !groups->is_merged;
    groups->is_selected_only = false;
    group_rows_forget(&groups->rows);
    group_picks_release(&groups->picks);
    groups->table = (struct table){0};
    groups->has_answer = false;
    groups_ask(app, groups);
    return true;
}

static bool
fold_here(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    if (groups->rows.shown_count && group_rows_fold(&groups->rows, groups->table.cursor))
        groups_order_rows(groups);
    else
        app_say(app, SAY_INFO, MSG_SINGLE_GROUP);
    return true;
}

static bool
toggle_heat(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct groups *groups = state;
    groups->has_heat = !groups->has_heat;
    return true;
}

static bool
groups_toggle_preview(struct app *app, void *state, enum action action)
{
    (void)app;
    (void)action;
    struct groups *groups = state;
    groups->preview.is_hidden = !groups->preview.is_hidden;
    return true;
}

static bool
groups_reverse(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    groups->rows.is_reversed = !groups->rows.is_reversed;
    groups_reorder(app, groups);
    return true;
}

static bool
groups_refresh(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    groups_order_rows(groups);
    if (groups->filter.matched.is_stopped) {
        groups->filter.is_awaited = true;
        groups_ask(app, groups);
    }
    return true;
}

static bool
groups_events(struct app *app, void *state, struct list_query *query, const char **what)
{
    const struct groups *groups = state;
    struct decide_words words = {0};
    char key[GROUP_TEXT];
    if (output_selection(app, query, what))
        return true;
    if (!cursor_scope(app, groups, query, &words, key))
        return false;
    *what = group_short_title(groups_cursor(groups), groups->pivot, app_frame(app));
    return true;
}

static bool
groups_stop(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    if (group_picks_cancel(app, &groups->picks) || decide_cancel(app, &groups->decide))
        return true;
    if (!groups->filter.text.len || !app_is_waiting(app, groups->number))
        return false;
    app_cancel(app, groups->number);
    return true;
}

static bool
groups_move_preview(struct app *app, void *state, enum action action)
{
    struct groups *groups = state;
    bool is_done = preview_handle(&groups->preview, action);
    if (!is_done && action == DO_NEXT_PANE)
        app_say(app, SAY_INFO, MSG_NO_PREVIEW);
    return is_done || action == DO_NEXT_PANE;
}

static const char *
groups_pane_word(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)state;
    (void)action;
    return MSG_TO_LIST;
}

static bool
groups_has_focus_below(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    const struct groups *groups = state;
    return groups->preview.has_focus;
}

static bool
groups_has_row(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return groups_cursor(state) != NULL;
}

static const struct view_action actions[] = {
    {.action = DO_NEXT_PANE,
     .run = groups_move_preview,
     .is_possible = groups_has_focus_below,
     .word = groups_pane_word},
    {.part = preview_handles, .run = groups_move_preview},
    {.part = table_moves, .run = groups_move},
    {.part = table_ranges, .run = groups_move},
    {.action = DO_SELECT, .run = select_range, .is_possible = groups_has_row},
    {.action = DO_SELECT_GROUP, .run = select_group},
    {.action = DO_SELECT_ALL, .run = select_all},
    {.action = DO_SELECT_INVERT, .run = invert_selection},
    {.action = DO_SELECT_CLEAR, .run = clear_selection},
    {.action = DO_SELECT_PATTERN, .run = ask_pattern},
    {.action = DO_UNSELECT_PATTERN, .run = ask_pattern},
    {.action = DO_SHOW_SELECTED, .run = toggle_selected_only},
    {.action = DO_UNDO, .run = groups_undo},
    {.part = decide_begins, .run = groups_decide, .is_possible = groups_has_row},
    {.action = DO_RECIPE, .run = groups_recipe},
    {.action = DO_APART, .run = groups_apart, .is_possible = groups_has_row},
    {.action = DO_PIPE, .run = output_ask_command},
    {.action = DO_LINKS, .run = groups_ask_links},
    {.action = DO_OPEN,
     .run = open_events,
     .command = "redrive events --group KEY",
     .is_possible = groups_has_row},
    {.action = DO_WHY, .run = groups_explain, .is_possible = groups_has_row},
    {.action = DO_TRAIL, .run = groups_open_trail},
    {.action = DO_COPY, .run = groups_ask_copy},
    {.action = DO_COPY_ID, .run = copy_value},
    {.action = DO_FILTER, .run = groups_ask_filter},
    {.action = DO_CATEGORY, .run = groups_ask_category},
    {.action = DO_TAKE, .run = groups_ask_take},
    {.action = DO_SNOOZE, .run = groups_ask_snooze},
    {.action = DO_NARROW, .run = groups_ask_narrow},
    {.action = DO_SORT, .run = groups_ask_order},
    {.action = DO_SORT_REVERSE, .run = groups_reverse},
    {.action = DO_PIVOT, .run = groups_ask_pivot},
    {.action = DO_HEAT, .run = toggle_heat},
    {.action = DO_MERGE, .run = switch_merging},
    {.action = DO_FOLD, .run = fold_here},
    {.action = DO_DETAILS, .run = groups_toggle_preview},
    {.action = DO_REFRESH, .run = groups_refresh},
    {.action = DO_CANCEL, .run = groups_stop},
    {.action = DO_BACK, .run = groups_go_back},
    {0},
};

// From the first key on the rows keep their order; and a decision that was to begin when the selection is
// collected is forgotten.
static void
groups_touched(void *state)
{
    struct groups *groups = state;
    groups->rows.is_frozen |= groups->rows.count > 0;
    groups->awaited.is_asked = false;
    follow_touch(&groups->follow);
}

static int64_t
groups_follow_due(const struct groups *groups)
{
    bool has_news = groups->rows.arrived || groups->is_out_of_order;
    return follow_due(&groups->follow, &groups->table, has_news && !groups->is_counting);
}

static int64_t
groups_due(const void *state)
{
    const struct groups *groups = state;
    int64_t follow = groups_follow_due(groups);
    int64_t recent = group_recent_due(&groups->shown.recent);
    return follow < 0 || (recent >= 0 && recent < follow) ? recent : follow;
}

static bool
is_due(int64_t at)
{
    return at >= 0 && at <= clock_mono();
}

static void
groups_tick(struct app *app, void *state)
{
    struct groups *groups = state;
    if (is_due(group_recent_due(&groups->shown.recent))) {
        group_recent_forget(&groups->shown.recent);
        app_redraw(app); // its layout asks again
    }
    if (!is_due(groups_follow_due(groups)) || !follow_now(&groups->follow, app, state))
        return;
    table_to_first(&groups->table);
    groups_order_rows(groups);
    app_redraw(app);
}

static bool
groups_click(struct app *app, void *state, int row, int col)
{
    struct groups *groups = state;
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    int column;
    enum table_spot spot = table_click(&groups->table, &model, row, col, &column);
    enum group_order order;
    if (spot != TABLE_HEADING || !group_column_order((enum group_column)column, &order))
        return spot == TABLE_ROW;
    groups->rows.is_reversed = groups->rows.order == order && !groups->rows.is_reversed;
    groups->rows.order = order;
    groups_reorder(app, groups);
    return true;
}

static bool
groups_receive(struct app *app, void *state, struct reply *reply)
{
    struct groups *groups = state;
    if (decide_receive(app, &groups->decide, reply) || group_picks_receive(app, &groups->picks, reply)) {
        if (groups->selected != app_selection(app)->count)
            check_picks(app, groups);
        if (groups->awaited.is_asked && !group_picks_is_busy(&groups->picks)) {
            groups->awaited.is_asked = false;
            if (reply->kind != REPLY_ERROR)
                groups_decide_here(app, groups, groups->awaited.asked);
        }
        return true;
    }
    if (group_recent_receive(&groups->shown.recent, reply) ||
        filter_values_receive(&groups->filter.values, reply) ||
        why_receive(app, groups->shown.why_number, reply) || groups_category_receive(app, groups, reply) ||
        groups_care_receive(app, groups, reply))
        return true;
    if (reply->kind == REPLY_PEOPLE) {
        groups->is_out_of_order = group_rows_are_out_of_order(&groups->rows);
        return false;
    }
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
        strbuf_printf(out, " by %s", groups_by(groups));
    return true;
}

static void *
groups_open(struct app *app, const void *argument)
{
    const struct groups_argument *given = argument;
    struct groups *groups = alloc_bytes(sizeof *groups);
    groups->rows.waits = groups_waits;
    groups->rows.context = app;
    if (given) {
        groups->pivot = given->pivot;
        groups->rows.order = given->pivot == PIVOT_HOUR ? GROUPS_BY_NEWEST : GROUPS_BY_COUNT;
        groups->path = given->path ? alloc_text(given->path) : NULL;
        groups->has_within = given->within != NULL;
        groups->within = given->within ? *given->within : 0;
        groups->title = given->title ? alloc_text(given->title) : NULL;
        if (given->term)
            groups_filter_give(app, groups, given->term);
    }
    group_columns(groups->pivot, groups->rows.order, false, 0, groups->columns);
    follow_begin(&groups->follow, app);
    groups_ask(app, groups);
    return groups;
}

static void
groups_close(struct app *app, void *state)
{
    (void)app;
    struct groups *groups = state;
    decide_release(&groups->decide);
    groups_filter_release(groups);
    group_picks_release(&groups->picks);
    group_rows_release(&groups->rows);
    group_recent_release(&groups->shown.recent);
    free(groups->title);
    free(groups->path);
    free(groups->category.keys);
    free(groups->category.what);
    free(groups);
}

// The backend watches one list of groups at a time; and the selection may have changed.
static void
groups_shown(struct app *app, void *state)
{
    struct groups *groups = state;
    follow_touch(&groups->follow);
    group_recent_forget(&groups->shown.recent); // something may have been decided meanwhile
    groups_ask(app, groups);
    check_picks(app, groups);
}

const struct view view_groups = {
    .name = "groups",
    .context = CONTEXT_VIEW_groups,
    .aging = AGES_BY_MINUTES,
    .actions = actions,
    .touched = groups_touched,
    .footer = footer,
    .open = groups_open,
    .close = groups_close,
    .shown = groups_shown,
    .receive = groups_receive,
    .crumb = groups_crumb,
    .events = groups_events,
    .draw = groups_draw,
    .layout = groups_layout,
    .filter = groups_filter_here,
    .take_filter = groups_take_filter,
    .click = groups_click,
    .due = groups_due,
    .tick = groups_tick,
};
