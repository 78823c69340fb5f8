// The picture of the list of groups: line 2, table, preview.
#include "ui/views/groups/state.h"

#include "base/text.h"
#include "ui/views/groups/preview.h"
#include "ui/views/groups/query.h"
#include "ui/views/notice.h"
#include "ui/views/operations/worker_chip.h"
#include "ui/widgets/preview.h"
#include "ui/widgets/sparkline.h"
#include "ui/widgets/statusbar.h"
#include "ui/views/groups/texts.h"

const struct event_group *
groups_cursor(const struct groups *groups)
{
    return groups->rows.shown_count ? group_rows_at(&groups->rows, groups->table.cursor) : NULL;
}

// The group of the preview.
static const struct event_group *
previewed(const struct groups *groups)
{
    for (size_t i = 0; i < groups->rows.shown_count; i++)
        if (group_rows_at(&groups->rows, i)->key == groups->shown.previewed)
            return group_rows_at(&groups->rows, i);
    return groups_cursor(groups);
}

static int64_t
groups_draw_drawn_id(const void *rows, size_t index)
{
    int64_t id = (int64_t)group_rows_at(&((const struct groups_drawing *)rows)->groups->rows, index)->key;
    return id == INT64_MIN ? INT64_MAX : id;
}

static bool
drawn_selected(const void *rows, size_t index)
{
    const struct groups *groups = ((const struct groups_drawing *)rows)->groups;
    return group_picks_has(&groups->picks, group_rows_at(&groups->rows, index)->key);
}

// A bar behind the count, on the scale of the largest group.
static void
draw_size(int64_t count, int64_t largest, struct canvas *canvas, struct area area)
{
    if (largest > 0)
        area.cols = (int)(((double)count * area.cols) / (double)largest + 0.5);
    if (largest > 0 && area.cols > 0)
        canvas_restyle(canvas, area, ROLE_GROUP_BAR);
}

static void
groups_draw_drawn_cell(const void *rows, size_t index, int column, struct canvas *canvas, struct area area)
{
    const struct groups_drawing *drawing = rows;
    const struct event_group *group = group_rows_at(&drawing->groups->rows, index);
    if (column == GROUP_COLUMN_NAME && group_rows_is_part(&drawing->groups->rows, group))
        area_take_left(&area, 2);
    const struct group_care *care = groups_care(drawing->groups, drawing->people, group);
    group_cell(group, drawing->groups->pivot, (enum group_column)column, care, drawing->moments, canvas,
               area);
    if (column == GROUP_COLUMN_COUNT)
        draw_size(group->count, drawing->largest, canvas, area);
}

struct table_model
groups_model(const struct groups_drawing *drawing)
{
    return (struct table_model){.count = drawing->groups->rows.shown_count,
                                .id = groups_draw_drawn_id,
                                .is_selected = drawn_selected,
                                .cell = groups_draw_drawn_cell,
                                .columns = drawing->groups->columns,
                                .column_count = GROUP_COLUMNS,
                                .rows = drawing};
}

static struct area
groups_draw_split(const struct groups *groups, struct area *body)
{
    return !groups->preview.is_hidden && groups->rows.shown_count ? preview_take(body) : (struct area){0};
}

static struct group_previewed
previewed_group(const struct app *app, const struct groups *groups)
{
    const struct event_group *group = previewed(groups);
    return (struct group_previewed){.group = group,
                                    .pivot = groups->pivot,
                                    .moments = app_moments(app),
                                    .recent = group_recent_of(&groups->shown.recent, group),
                                    .advice = groups_advice(app, groups, group),
                                    .care = group ? groups_care(groups, app_people(app), group) : NULL};
}

static void
draw_group_preview(const void *what, struct canvas *canvas, struct area area)
{
    group_preview(what, canvas, area);
}

static void
show_in_preview(struct groups *groups, uint64_t key)
{
    if (groups->shown.previewed != key)
        preview_to_top(&groups->preview);
    groups->shown.previewed = key;
}

static void
want_recent(struct app *app, struct groups *groups, const struct event_group *group)
{
    if (groups->pivot == PIVOT_PATH || !groups->has_answer || groups->is_counting)
        return;
    const struct list_query query = group_query(groups->pivot, groups->has_within ? &groups->within : NULL,
                                                group, groups_filter_text(groups), app_frame(app));
    group_recent_want(app, &groups->shown.recent, group, &query);
}

void
groups_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct groups *groups = state;
    struct area body = areas->body;
    struct area preview = groups_draw_split(groups, &body);
    group_columns(groups->pivot, groups->rows.order, groups->rows.is_reversed,
                  group_rows_largest(&groups->rows), groups->columns);
    bool by_clock = app_moments(app).by_clock;
    struct table_column *columns = groups->columns;
    columns[GROUP_COLUMN_NEWEST].width = moment_cells(by_clock, columns[GROUP_COLUMN_NEWEST].width);
    columns[GROUP_COLUMN_FIRST].width = moment_cells(by_clock, columns[GROUP_COLUMN_FIRST].width);
    if (group_rows_are_overridden(&groups->rows))
        groups->columns[GROUP_COLUMN_KIND].width++; // for the mark
    if (groups->has_heat) {
        groups->columns[GROUP_COLUMN_SPARK].title = "last 24 hours";
        groups->columns[GROUP_COLUMN_SPARK].width = GROUP_HEAT;
        groups->columns[GROUP_COLUMN_SPARK].priority = 1; // the user asked for it
    }
    const struct groups_drawing drawing = {.groups = groups};
    struct table_model model = groups_model(&drawing);
    table_layout(&groups->table, &model, body);
    const struct event_group *group = groups_cursor(groups);
    bool is_shown = preview.rows > 0 && !app_is_hurried(app);
    if (group && (preview.rows == 0 || is_shown))
        show_in_preview(groups, group->key);
    if (group && is_shown)
        want_recent(app, groups, group);
    const struct group_previewed previewed =
        group ? previewed_group(app, groups) : (struct group_previewed){0};
    preview_layout(&groups->preview, preview, app_config(app)->is_ascii, draw_group_preview, &previewed);
}

static void
draw_spark(const struct groups *groups, struct canvas *canvas, int row, int *col, int limit)
{
    static const char label[] = "last hour ";
    if (*col + (int)sizeof label - 1 + GROUP_SPARK > limit)
        return;
    *col += canvas_text(canvas, row, *col, limit - *col, bytes_of(label), ROLE_STATUS);
    *col +=
        sparkline_draw(canvas, row, *col, GROUP_SPARK, groups->rows.latest.spark, GROUP_SPARK, ROLE_GRAPH);
    *col += 3;
}

// Notes that need attention come before the quiet numbers.
static void
draw_notes(const struct app *app, const struct groups *groups, struct canvas *canvas, int row, int *col,
           int limit)
{
    struct arena *arena = app_frame(app);
    char count[TEXT_SHORT];
    const struct selection *selection = app_selection(app);
    if (selection->count)
        chip_draw(canvas, row, col, limit, ROLE_STRONG,
                  bytes_of(arena_printf(arena, "sel %s", text_count((int64_t)selection->count, count))));
    if (groups->rows.arrived)
        chip_draw(
            canvas, row, col, limit, ROLE_STATUS_INFO,
            bytes_of(arena_printf(arena, MSG_NEW_WAIT, text_count((int64_t)groups->rows.arrived, count))));
    else if (groups->is_out_of_order)
        chip_draw(canvas, row, col, limit, ROLE_STATUS_INFO, BYTES(MSG_ORDER_CHANGED));
    if (group_picks_is_busy(&groups->picks))
        chip_draw(canvas, row, col, limit, ROLE_STATUS_INFO, BYTES(MSG_COLLECTING_CHIP));
    if (groups->is_merged && groups->pivot == PIVOT_ERROR)
        chip_draw(canvas, row, col, limit, ROLE_STATUS_INFO,
                  groups->rows.parts.count ? BYTES(MSG_MERGED) : BYTES(MSG_NONE_SIMILAR));
    if (groups->is_selected_only)
        chip_draw(canvas, row, col, limit, ROLE_STATUS_INFO, BYTES("selected only"));
    if (app_is_paused(app))
        chip_draw(canvas, row, col, limit, ROLE_STATUS_WARN, BYTES("paused"));
    if (!app_status(app)->has_schema)
        chip_draw(canvas, row, col, limit, ROLE_STATUS_WARN, BYTES(MSG_MIGRATE_FIRST));
}

// "8,412 / 20,052 in 3 of 37 groups"; of a search that runs, how far it is. Never the counts of a filter
// before.
static const char *
matched_words(const struct groups *groups, struct arena *arena)
{
    const struct groups_matched *matched = &groups->filter.matched;
    char events[TEXT_SHORT], all[TEXT_SHORT], count[TEXT_SHORT], of[TEXT_SHORT];
    if (groups->filter.is_awaited || !matched->is_on)
        return MSG_SEARCHING;
    text_count(groups->rows.latest.events, events);
    if (!matched->is_whole)
        return arena_printf(arena, MSG_SEARCHED_SO_FAR, events, text_count(matched->scanned, all),
                            text_count(matched->total, of));
    size_t single = group_rows_single(&groups->rows);
    return arena_printf(arena, groups->path ? MSG_MATCHING_VALUES : MSG_MATCHING_IN, events,
                        text_count(matched->events, all), text_count((int64_t)single, count),
                        text_count((int64_t)matched->groups, of), matched->groups == 1 ? "" : "s");
}

// The counts stay where the filter does not fit beside them.
static void
draw_matched(const struct app *app, const struct groups *groups, struct canvas *canvas, int row, int *col,
             int limit)
{
    const struct groups_matched *matched = &groups->filter.matched;
    struct arena *arena = app_frame(app);
    struct bytes words = bytes_of(matched_words(groups, arena));
    char count[TEXT_SHORT];
    bool is_known = !groups->filter.is_awaited && matched->is_whole;
    chip_draw_cut(canvas, row, col, limit - text_cells(words, canvas->is_ascii) - 4, ROLE_FILTER,
                  bytes_of(arena_printf(arena, "/%s", groups_filter_text(groups))));
    chip_draw(canvas, row, col, limit, is_known ? ROLE_STATUS : ROLE_STATUS_INFO, words);
    if (!groups->filter.is_awaited && matched->is_stopped)
        chip_draw(canvas, row, col, limit, ROLE_STATUS_WARN, BYTES("stopped"));
    if (is_known && matched->undecided)
        chip_draw(canvas, row, col, limit, ROLE_STATUS_WARN,
                  bytes_of(arena_printf(arena, MSG_UNDECIDED, text_count(matched->undecided, count))));
}

// "3,446 pending in 10 groups", "2,422 / 3,446 pending in 3 / 10 groups"
static void
draw_counts(const struct app *app, const struct groups *groups, struct canvas *canvas, int row, int *col,
            int limit)
{
    const struct group_rows *rows = &groups->rows;
    struct arena *arena = app_frame(app);
    char a[TEXT_SHORT];
    char b[TEXT_SHORT];
    if (groups_filter_text(groups)) {
        draw_matched(app, groups, canvas, row, col, limit);
        return;
    }
    if (groups->path && !groups->has_answer) {
        chip_draw(canvas, row, col, limit, ROLE_STATUS_INFO, BYTES(MSG_READING_PAYLOADS));
        return;
    }
    if (!groups->has_answer || groups->is_counting) {
        chip_draw(canvas, row, col, limit, ROLE_STATUS_INFO,
                  bytes_of(arena_printf(arena, MSG_COUNTING_CHIP, text_count(app_status(app)->scanned, a))));
        return;
    }
    const char *events = arena_printf(arena, "%s", text_count(rows->latest.events, a));
    size_t single = group_rows_single(rows);
    const char *count = arena_printf(arena, "%s", text_count((int64_t)single, a));
    if (rows->shown_count < rows->count) {
        size_t shown;
        events = arena_printf(arena, "%s / %s", text_count(group_rows_shown(rows, &shown), a), events);
        count = arena_printf(arena, "%s / %s", text_count((int64_t)shown, b), count);
    }
    chip_draw(canvas, row, col, limit, ROLE_STATUS,
              bytes_of(arena_printf(arena, groups->path ? MSG_PENDING_OF_VALUES : MSG_PENDING_IN, events,
                                    count, single == 1 ? "" : "s")));
    if (group_rows_are_cut(rows))
        chip_draw(
            canvas, row, col, limit, ROLE_STATUS_INFO,
            bytes_of(arena_printf(arena, MSG_FIRST_LISTED, text_count((int64_t)rows->latest.count, a))));
    if (app_status(app)->behind > 0)
        chip_draw(canvas, row, col, limit, ROLE_STATUS_WARN,
                  bytes_of(arena_printf(arena, MSG_BEHIND, text_count(app_status(app)->behind, a))));
}

static void
groups_draw_draw_line(const struct app *app, const struct groups *groups, struct canvas *canvas,
                      struct area line)
{
    if (line.rows < 1)
        return;
    struct arena *arena = app_frame(app);
    const struct group_list *latest = &groups->rows.latest;
    int col = line.col + 1;
    int limit = line.col + line.cols;
    char position[48];
    if (groups->rows.shown_count)
        limit =
            chip_draw_at_right(canvas, line, ROLE_STATUS, bytes_of(table_position(&groups->table, position)));
    draw_counts(app, groups, canvas, line.row, &col, limit);
    draw_notes(app, groups, canvas, line.row, &col, limit);
    if (latest->per_minute > 0)
        chip_draw(
            canvas, line.row, &col, limit, ROLE_STATUS,
            bytes_of(arena_printf(arena, "+%.*f/min", latest->per_minute < 10 ? 1 : 0, latest->per_minute)));
    draw_spark(groups, canvas, line.row, &col, limit - WORKER_CHIP_LEAST);
    worker_chip_draw(app, canvas, line.row, &col, limit);
}

// Why there is no row, and what to do about it.
static const char *
groups_draw_empty_words(const struct app *app, const struct groups *groups)
{
    const struct status *status = app_status(app);
    struct arena *arena = app_frame(app);
    char text[TEXT_SHORT];
    if (groups->rows.count > 0 && groups->is_selected_only)
        return MSG_NO_WHOLE_GROUP;
    if (err_is_set(&groups->err))
        return groups->err.text;
    if (status->link == LINK_LOST)
        return arena_printf(arena, MSG_UNREACHABLE, status->trouble);
    if (status->link == LINK_CONNECTING)
        return MSG_CONNECTING;
    const struct groups_matched *matched = &groups->filter.matched;
    bool has_filter = groups_filter_text(groups) != NULL;
    if (has_filter && (groups->filter.is_awaited || !(matched->is_whole || matched->is_stopped)))
        return MSG_SEARCHING;
    if (has_filter && matched->is_stopped)
        return MSG_STOPPED_EARLY;
    if (has_filter && matched->events)
        return arena_printf(arena, MSG_NOTHING_MATCHES, text_count(matched->events, text));
    if (groups->path && !groups->has_answer)
        return arena_printf(arena, MSG_READING_PATH, groups->path);
    if (!groups->has_answer || groups->is_counting)
        return MSG_COUNTING;
    if (groups->has_within)
        return MSG_GROUP_EMPTY;
    if (status->last_closed_at != TIME_ABSENT && status->last_closed_at)
        return arena_printf(arena, MSG_NO_PENDING_SINCE,
                            moment_phrase(app_moments(app), status->last_closed_at, text),
                            *status->last_closed_by ? " by " : "", status->last_closed_by);
    return MSG_NO_PENDING;
}

void
groups_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct groups *groups = state;
    struct area body = areas->body;
    struct area preview = groups_draw_split(groups, &body);
    const struct event_group *group = groups_cursor(groups);
    groups_draw_draw_line(app, groups, canvas, areas->line);
    if (!group) {
        notice_draw(canvas, body, groups_draw_empty_words(app, groups));
        return;
    }
    const struct groups_drawing drawing = {.groups = groups,
                                           .people = app_people(app),
                                           .moments = app_moments(app),
                                           .largest = group_rows_largest(&groups->rows)};
    struct table_model model = groups_model(&drawing);
    table_draw(&groups->table, &model, canvas, body);
    if (preview.rows > 0) {
        const struct group_previewed previewed = previewed_group(app, groups);
        preview_draw(&groups->preview, canvas, preview, draw_group_preview, &previewed);
    }
    if (app_is_stale(app) || groups->filter.is_awaited)
        canvas_add_attributes(canvas, areas->body, CELL_DIM);
}
