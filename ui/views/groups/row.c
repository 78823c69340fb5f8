#include "ui/views/groups/row.h"

#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/fingerprint/merge.h"
#include "ui/views/groups/query.h"
#include "ui/views/care.h"
#include "ui/views/row_filter.h"
#include "ui/widgets/sparkline.h"
#include "ui/views/groups/texts.h"

// TREND_LEAST: events of an hour below which a doubled rate is chance.
// MARK_CELLS: at most for what people say, as "@anna".
enum { PLACEHOLDER = 12, SHORT_TITLE = 60, TREND_LEAST = 8, MARK_CELLS = 22 };

static const char *const order_names[GROUP_ORDERS] = {
    [GROUPS_BY_COUNT] = "number of events", [GROUPS_BY_NEWEST] = "newest event", [GROUPS_BY_RATE] = "rate",
    [GROUPS_BY_FIRST] = "first seen",       [GROUPS_BY_KIND] = "category",       [GROUPS_BY_NAME] = "name",
};

const char *
group_order_name(enum group_order order)
{
    return order_names[order];
}

enum role
category_role(enum category category)
{
    static const enum role roles[CATEGORY_COUNT] = {
        [CATEGORY_UNKNOWN] = ROLE_KIND_UNKNOWN,     [CATEGORY_TRANSIENT] = ROLE_KIND_TRANSIENT,
        [CATEGORY_DATA] = ROLE_KIND_DATA,           [CATEGORY_SYSTEM] = ROLE_KIND_SYSTEM,
        [CATEGORY_PERMANENT] = ROLE_KIND_PERMANENT,
    };
    return roles[category];
}

const char *
category_advice(enum category category)
{
    static const char *const advice[CATEGORY_COUNT] = {
        [CATEGORY_UNKNOWN] = "unknown: not decided",
        [CATEGORY_TRANSIENT] = "transient: passes by itself, send again",
        [CATEGORY_DATA] = "data: correct, then send",
        [CATEGORY_SYSTEM] = "system: deploy a fix, then send",
        [CATEGORY_PERMANENT] = "permanent: discard, or by hand",
    };
    return advice[category];
}

const char *
group_simple_class(const char *error_class)
{
    const char *dot = strrchr(error_class, '.');
    return dot && dot[1] ? dot + 1 : error_class;
}

static struct bytes
first_line(const char *text)
{
    struct bytes line = bytes_of(text);
    size_t end = bytes_find(line, BYTES("\n"), 0);
    return end == SIZE_MAX ? line : bytes_slice(line, 0, end);
}

static const char *
path_title(const struct event_group *group, struct arena *arena)
{
    struct strbuf text = {0};
    path_value_print(group->path_kind, bytes_of(group->value), &text);
    const char *title = arena_text(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return title;
}

const char *
group_title(const struct event_group *group, enum pivot pivot, struct arena *arena)
{
    if (pivot == PIVOT_PATH)
        return path_title(group, arena);
    if (pivot != PIVOT_ERROR)
        return *group->value ? group->value : "(none)";
    if (!group->text.pattern)
        return group->value; // not described yet: its key
    const char *pattern = arena_text(arena, first_line(group->text.pattern));
    if (!group->text.error_class)
        return *pattern ? pattern : "(no message)";
    const char *name = group_simple_class(group->text.error_class);
    if (!*pattern || strncmp(pattern, name, strlen(name)) == 0)
        return *pattern ? pattern : name;
    return arena_printf(arena, "%s: %s", name, pattern);
}

const char *
group_short_title(const struct event_group *group, enum pivot pivot, struct arena *arena)
{
    if (pivot == PIVOT_ERROR && group->text.pattern && group->text.error_class)
        return group_simple_class(group->text.error_class);
    struct bytes title = bytes_of(group_title(group, pivot, arena));
    if (title.len <= SHORT_TITLE)
        return arena_text(arena, title);
    size_t cut = utf8_cut(title, SHORT_TITLE);
    return arena_printf(arena, "%s…", arena_text(arena, bytes_slice(title, 0, cut)));
}

static int
compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int
group_compare(const struct event_group *a, const struct event_group *b, enum group_order order)
{
    int result = 0;
    switch (order) {
    case GROUPS_BY_COUNT:
        break;
    case GROUPS_BY_NEWEST:
        result = compare_numbers(b->last_at, a->last_at);
        break;
    case GROUPS_BY_RATE:
        result = (b->per_minute > a->per_minute) - (b->per_minute < a->per_minute);
        break;
    case GROUPS_BY_FIRST:
        result = compare_numbers(b->first_at, a->first_at);
        break;
    case GROUPS_BY_KIND:
        result = compare_numbers(a->category, b->category);
        break;
    case GROUPS_BY_NAME: {
        const struct event_group *both[] = {a, b};
        const char *names[2];
        for (int i = 0; i < 2; i++)
            names[i] = both[i]->text.error_class ? group_simple_class(both[i]->text.error_class)
                       : both[i]->text.pattern   ? both[i]->text.pattern
                                                 : both[i]->value;
        result = strcmp(names[0], names[1]);
        break;
    }
    case GROUP_ORDERS:
        break;
    }
    if (result == 0)
        result = compare_numbers(b->count, a->count);
    return result ? result : (a->key > b->key) - (a->key < b->key);
}

enum group_rank
group_order_rank(enum group_order order)
{
    static const enum group_rank ranks[GROUP_ORDERS] = {
        [GROUPS_BY_COUNT] = RANK_COUNT, [GROUPS_BY_NEWEST] = RANK_NEWEST, [GROUPS_BY_RATE] = RANK_RATE,
        [GROUPS_BY_FIRST] = RANK_FIRST, [GROUPS_BY_KIND] = RANK_COUNT,    [GROUPS_BY_NAME] = RANK_COUNT};
    return ranks[order];
}

static const enum group_column order_columns[GROUP_ORDERS] = {
    [GROUPS_BY_COUNT] = GROUP_COLUMN_COUNT, [GROUPS_BY_NEWEST] = GROUP_COLUMN_NEWEST,
    [GROUPS_BY_RATE] = GROUP_COLUMN_RATE,   [GROUPS_BY_FIRST] = GROUP_COLUMN_FIRST,
    [GROUPS_BY_KIND] = GROUP_COLUMN_KIND,   [GROUPS_BY_NAME] = GROUP_COLUMN_NAME,
};

bool
group_column_order(enum group_column column, enum group_order *order)
{
    for (int i = 0; i < GROUP_ORDERS; i++) {
        if (order_columns[i] != column)
            continue;
        *order = (enum group_order)i;
        return true;
    }
    return false;
}

void
group_columns(enum pivot pivot, enum group_order order, bool is_reversed, int64_t largest,
              struct table_column columns[GROUP_COLUMNS])
{
    static const char *const names[PIVOT_COUNT] = {
        [PIVOT_ERROR] = "error", [PIVOT_TYPE] = "event type",   [PIVOT_SOURCE] = "source table",
        [PIVOT_TOPIC] = "topic", [PIVOT_CATEGORY] = "category", [PIVOT_HOUR] = "hour",
        [PIVOT_PATH] = "value",
    };
    char count[TEXT_SHORT];
    int count_width = (int)strlen(text_count(largest, count));
    const struct table_column all[GROUP_COLUMNS] = {
        [GROUP_COLUMN_COUNT] = {.title = "count",
                                .width = count_width > 8 ? count_width : 8,
                                .at_right = true},
        [GROUP_COLUMN_SPARK] = {.title = "last hour", .width = 9, .priority = 4},
        [GROUP_COLUMN_RATE] = {.title = "rate", .width = 6, .priority = 3, .at_right = true},
        [GROUP_COLUMN_NEWEST] = {.title = "newest", .width = 7, .priority = 1, .at_right = true},
        [GROUP_COLUMN_FIRST] =
            {.title = "first", .width = 6, .priority = 6, .yields_below = 34, .at_right = true},
        [GROUP_COLUMN_KIND] = {.title = "category", .width = 9, .priority = 2},
        [GROUP_COLUMN_TYPES] = {.title = pivot == PIVOT_TYPE ? "topics" : "event types",
                                .width = 20,
                                .priority = 7,
                                .yields_below = 40},
        [GROUP_COLUMN_NAME] = {.title = names[pivot], .width = 26, .widest = TABLE_REST},
    };
    memcpy(columns, all, sizeof all);
    struct table_column *ordered = &columns[order_columns[order]];
    ordered->is_order = true;
    ordered->priority = 0; // the order is always seen
    ordered->yields_below = 0;
    // Texts ascend by nature, numbers and times descend.
    ordered->is_descending = (order != GROUPS_BY_KIND && order != GROUPS_BY_NAME) != is_reversed;
}

const char *
group_rate_text(double per_minute, char out[TEXT_SHORT])
{
    if (per_minute >= 10000)
        snprintf(out, TEXT_SHORT, "%.0fk/m", per_minute / 1000);
    else if (per_minute >= 1000)
        snprintf(out, TEXT_SHORT, "%.1fk/m", per_minute / 1000);
    else if (per_minute > 0 && per_minute < 1)
        snprintf(out, TEXT_SHORT, "<1/m");
    else
        snprintf(out, TEXT_SHORT, "%.0f/m", per_minute);
    return out;
}

size_t
group_placeholders(struct bytes text, struct canvas_span *spans, size_t room)
{
    size_t count = 0;
    for (size_t at = 0; at < text.len && count < room; at++) {
        if (text.data[at] != '<')
            continue;
        size_t end = at + 1;
        while (end < text.len && end - at <= PLACEHOLDER && text.data[end] >= 'a' && text.data[end] <= 'z')
            end++;
        if (end == at + 1 || end >= text.len || text.data[end] != '>')
            continue;
        spans[count++] = (struct canvas_span){.from = at, .len = end + 1 - at, .role = ROLE_DIM};
        at = end;
    }
    return count;
}

static void
group_row_draw_right(struct canvas *canvas, struct area area, const char *text, enum role role)
{
    canvas_styled(canvas, area.row, area.col, area.cols, bytes_of(text),
                  &(struct canvas_style){.role = role, .at_right = true});
}

void
group_draw_masked(struct canvas *canvas, struct area area, struct bytes text, enum role role)
{
    struct canvas_span spans[GROUP_SPANS];
    size_t count = group_placeholders(text, spans, GROUP_SPANS);
    canvas_styled(canvas, area.row, area.col, area.cols, text,
                  &(struct canvas_style){.role = role, .spans = spans, .span_count = count});
}

const char *
group_parts_text(const struct event_group *group, struct arena *arena)
{
    return arena_printf(arena, "%zu groups%s", group->part_count,
                        group->part_count >= MERGE_MOST ? " (row limit)" : "");
}

static void
draw_name(const struct event_group *group, enum pivot pivot, const struct group_care *care, int64_t now,
          struct canvas *canvas, struct area area)
{
    struct arena arena = {0};
    bool is_snoozed = care_is_snoozed(care, now, group->count);
    if (pivot == PIVOT_ERROR && (group->is_returned || group->is_new)) {
        const char *word = group->is_returned ? "BACK" : "NEW";
        int used = canvas_text(canvas, area.row, area.col, area.cols, bytes_of(word),
                               group->is_returned ? ROLE_GROUP_BACK : ROLE_GROUP_NEW);
        area_take_left(&area, used + 1);
    }
    if (group->part_count) {
        int used = canvas_text(canvas, area.row, area.col, area.cols,
                               bytes_of(group_parts_text(group, &arena)), ROLE_STRONG);
        area_take_left(&area, used + 1);
    }
    const char *mark = care_mark(care, now, group->count, &arena);
    if (mark) {
        int most = area.cols / 2 < MARK_CELLS ? area.cols / 2 : MARK_CELLS;
        int used = canvas_text(canvas, area.row, area.col, most, bytes_of(mark),
                               is_snoozed ? ROLE_DIM : ROLE_STATUS_WARN);
        area_take_left(&area, used + 1);
    }
    const char *title = group_title(group, pivot, &arena);
    bool is_known = pivot != PIVOT_ERROR || group->text.pattern;
    group_draw_masked(canvas, area, bytes_of(title),
                      is_known && group->count && !is_snoozed ? ROLE_TEXT : ROLE_DIM);
    arena_release(&arena);
}

static void
draw_types(const struct event_group *group, enum pivot pivot, struct canvas *canvas, struct area area)
{
    struct arena arena = {0};
    const struct group_share *shares = pivot == PIVOT_TYPE ? group->topics : group->types;
    if (shares[0].count > 0) {
        bool has_more = shares[1].count > 0;
        canvas_styled(canvas, area.row, area.col, area.cols,
                      bytes_of(arena_printf(&arena, "%s%s", shares[0].name ? shares[0].name : "(none)",
                                            has_more ? ", …" : "")),
                      &(struct canvas_style){.role = ROLE_TEXT, .cut = CUT_MIDDLE});
    }
    arena_release(&arena);
}

// "data~": the mark of what a person changed, as on an event with a corrected payload.
static void
draw_kind(const struct event_group *group, struct canvas *canvas, struct area area)
{
    int used = canvas_text(canvas, area.row, area.col, area.cols, bytes_of(category_name(group->category)),
                           category_role(group->category));
    if (group->is_overridden)
        canvas_text(canvas, area.row, area.col + used, area.cols - used, BYTES("~"), ROLE_STRONG);
}

int
group_trend(const struct event_group *group)
{
    uint64_t before = 0;
    uint64_t since = 0;
    for (int i = 0; i < GROUP_SPARK; i++)
        *(i < GROUP_SPARK / 2 ? &before : &since) += group->spark[i];
    if (before + since < TREND_LEAST)
        return 0;
    return since >= 2 * before ? 1 : before >= 2 * since ? -1 : 0;
}

// The trend in the first cell, where the number leaves it free.
static void
draw_rate(const struct event_group *group, struct canvas *canvas, struct area area)
{
    char text[TEXT_SHORT];
    int trend = group->per_minute >= 1 ? group_trend(group) : 0;
    group_row_draw_right(canvas, area, group_rate_text(group->per_minute, text),
                         group->per_minute > 0 ? ROLE_TEXT : ROLE_DIM);
    if (trend && (int)strlen(text) < area.cols)
        (void)canvas_glyph(canvas, area.row, area.col, trend > 0 ? GLYPH_RISING : GLYPH_FALLING,
                           trend > 0 ? ROLE_GROUP_RISING : ROLE_GROUP_FALLING);
}

void
group_cell(const struct event_group *group, enum pivot pivot, enum group_column column,
           const struct group_care *care, struct moments moments, struct canvas *canvas, struct area area)
{
    char text[TEXT_SHORT];
    enum role role = group->count ? ROLE_TEXT : ROLE_DIM;
    if (care_is_snoozed(care, moments.now, group->count))
        role = ROLE_DIM;
    switch (column) {
    case GROUP_COLUMN_COUNT:
        canvas_count(canvas, area.row, area.col, area.cols, group->count,
                     role == ROLE_DIM ? role : ROLE_GROUP_COUNT);
        break;
    case GROUP_COLUMN_SPARK:
        if (area.cols >= GROUP_HEAT)
            sparkline_draw(canvas, area.row, area.col, area.cols, group->heat, GROUP_HEAT, ROLE_GRAPH);
        else
            sparkline_draw(canvas, area.row, area.col, area.cols, group->spark, GROUP_SPARK, ROLE_GRAPH);
        break;
    case GROUP_COLUMN_RATE:
        draw_rate(group, canvas, area);
        break;
    case GROUP_COLUMN_NEWEST:
        if (group->last_at != TIME_ABSENT)
            group_row_draw_right(canvas, area, moment_text(moments, group->last_at, text), role);
        break;
    case GROUP_COLUMN_FIRST:
        if (group->first_at != TIME_ABSENT)
            group_row_draw_right(canvas, area, moment_text(moments, group->first_at, text), role);
        break;
    case GROUP_COLUMN_KIND:
        draw_kind(group, canvas, area);
        break;
    case GROUP_COLUMN_TYPES:
        draw_types(group, pivot, canvas, area);
        break;
    case GROUP_COLUMN_NAME:
        draw_name(group, pivot, care, moments.now, canvas, area);
        break;
    case GROUP_COLUMNS:
        break;
    }
}

bool
group_copy_choice(struct app *app, const struct event_group *group, enum pivot pivot, size_t i,
                  const char **text, struct bytes *value)
{
    struct arena *arena = app_frame(app);
    bool is_error = pivot == PIVOT_ERROR;
    const char *command = NULL;
    if (group->part_count)
        command = arena_printf(arena, "redrive events --filter %s", group_term(pivot, group, arena));
    else if (is_error)
        command = arena_printf(arena, "redrive events --group %s", group->value);
    const struct {
        const char *text;
        const char *value;
    } choices[] = {
        {is_error ? "group" : "value", group->value},
        {"masked error", group->text.pattern},
        {"error class", group->text.error_class},
        {"error as seen last", group->text.sample},
        {"frame", group->text.frame},
        {"command that lists it", command ? app_command(app, command) : NULL},
        {"filter that chooses it", group->path_term},
    };
    for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
        if (!choices[c].value || !*choices[c].value || i-- > 0)
            continue;
        *text = choices[c].text;
        *value = bytes_of(choices[c].value);
        return true;
    }
    return false;
}
