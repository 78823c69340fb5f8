// The menus of the list of groups, and what they lead to: order, pivot, copy, narrow.
#include "ui/views/groups/state.h"

#include <string.h>
#include "ui/views/copy_menu.h"
#include "ui/views/links.h"
#include "ui/views/filter_line.h"
#include "ui/views/groups/groups.h"
#include "core/json/json.h"
#include "ui/views/groups/query.h"
#include "ui/views/groups/texts.h"

enum { CHOICES = 16 };

static void
order_chosen(struct app *app, void *state, size_t index)
{
    struct groups *groups = state;
    groups->rows.order = (enum group_order)index;
    groups->rows.is_reversed = false;
    groups_reorder(app, groups);
}

bool
groups_ask_order(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct groups *groups = state;
    static const char keys[GROUP_ORDERS] = {'c', 'n', 'r', 'f', 'k', 'a'};
    struct menu_item items[GROUP_ORDERS];
    for (int i = 0; i < GROUP_ORDERS; i++)
        items[i] = (struct menu_item){.key = (uint32_t)keys[i],
                                      .text = group_order_name((enum group_order)i),
                                      .is_current = (int)groups->rows.order == i};
    app_menu(app, &(struct menu_request){
                      .title = "Order by", .items = items, .count = GROUP_ORDERS, .chosen = order_chosen});
    return true;
}

// What the menu of pivots offers: a pivot of all that the view is about, or of the row under the cursor.
struct pivot_choice {
    enum pivot pivot;
    bool is_of_row;
};
enum { PIVOT_CHOICES = 2 * PIVOT_COUNT };
static const char pivot_keys[PIVOT_COUNT] = {'e', 't', 's', 'o', 'k', 'h', 'p'};

// First the pivots of all; then those within a group by error, or of the events with one value at a path.
static size_t
pivot_choices(const struct groups *groups, struct pivot_choice choices[PIVOT_CHOICES])
{
    const struct event_group *group = groups_cursor(groups);
    size_t count = 0;
    for (int i = 0; i < PIVOT_COUNT; i++)
        choices[count++] = (struct pivot_choice){.pivot = (enum pivot)i};
    bool is_group = group && groups->pivot == PIVOT_ERROR && !groups->has_within && !group->part_count;
    bool is_value = group && groups->pivot == PIVOT_PATH;
    for (int i = is_value ? PIVOT_ERROR : PIVOT_TYPE; (is_group || is_value) && i < PIVOT_COUNT; i++)
        choices[count++] = (struct pivot_choice){.pivot = (enum pivot)i, .is_of_row = true};
    return count;
}

static void
open_pivot(struct app *app, struct groups *groups, enum pivot pivot, const char *path)
{
    const struct event_group *group = groups_cursor(groups);
    struct arena *arena = app_frame(app);
    if (!group)
        return;
    bool is_value = groups->pivot == PIVOT_PATH;
    const uint64_t *around = groups->has_within ? &groups->within : NULL;
    struct groups_argument argument = {
        .pivot = pivot,
        .path = path,
        .within = is_value ? around : &group->key,
        .title = group_short_title(group, groups->pivot, arena),
        .term = is_value ? filter_line_both(group->path_term, groups->filter.given, arena)
                         : groups->filter.given};
    app_open(app, &view_groups, &argument);
}

// --- a path that is typed ---

static bool
path_is_read(struct app *app, struct bytes text)
{
    struct json_path *path = NULL;
    struct err err = {0};
    bool ok = json_path_parse(&path, text, &err);
    json_path_destroy(path);
    if (!ok)
        app_prompt_error(app, &err);
    return ok;
}

static bool
path_accepted(struct app *app, void *state, struct bytes text)
{
    struct groups *groups = state;
    if (!path_is_read(app, bytes_trim(text)))
        return false;
    groups_set_pivot(app, groups, PIVOT_PATH, arena_text(app_frame(app), bytes_trim(text)));
    return true;
}

static bool
path_of_row_accepted(struct app *app, void *state, struct bytes text)
{
    if (!path_is_read(app, bytes_trim(text)))
        return false;
    app_prompt_close(app);
    open_pivot(app, state, PIVOT_PATH, arena_text(app_frame(app), bytes_trim(text)));
    return true;
}

static const char *
path_candidate(struct app *app, void *state, struct bytes text, size_t i)
{
    const struct groups *groups = state;
    return bytes_starts(text, "$") ? filter_line_candidate(app, &groups->filter.values, text, i) : NULL;
}

static void
ask_path(struct app *app, struct groups *groups, bool is_of_row)
{
    groups->filter.values.number = app_send(app, request_create(REQUEST_VALUES));
    app_prompt(app, &(struct prompt_request){
                        .label = is_of_row ? "this row by " : "by ",
                        .text = groups->path && !is_of_row ? groups->path : "$.",
                        .history = "path",
                        .hint = MSG_PATH_HINT,
                        .accepted = is_of_row ? path_of_row_accepted : path_accepted,
                        .complete = path_candidate,
                    });
}

static void
pivot_chosen(struct app *app, void *state, size_t index)
{
    struct groups *groups = state;
    struct pivot_choice choices[PIVOT_CHOICES];
    if (index >= pivot_choices(groups, choices))
        return;
    const struct pivot_choice *chosen = &choices[index];
    if (chosen->pivot == PIVOT_PATH)
        ask_path(app, groups, chosen->is_of_row);
    else if (chosen->is_of_row)
        open_pivot(app, groups, chosen->pivot, NULL);
    else
        groups_set_pivot(app, groups, chosen->pivot, NULL);
}

bool
groups_ask_pivot(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct groups *groups = state;
    struct arena *arena = app_frame(app);
    struct pivot_choice choices[PIVOT_CHOICES];
    struct menu_item items[PIVOT_CHOICES];
    size_t count = pivot_choices(groups, choices);
    const char *row = groups->pivot == PIVOT_PATH ? "this value " : "this group ";
    for (size_t i = 0; i < count; i++) {
        enum pivot pivot = choices[i].pivot;
        char key = pivot_keys[pivot];
        items[i] = (struct menu_item){
            .key = (uint32_t)(choices[i].is_of_row ? key - 'a' + 'A' : key),
            .text = arena_printf(arena, "%sby %s", choices[i].is_of_row ? row : "",
                                 pivot == PIVOT_PATH ? "a path of the payload" : pivot_name(pivot)),
            .is_current = !choices[i].is_of_row && groups->pivot == pivot};
    }
    app_menu(app, &(struct menu_request){
                      .title = "Group", .items = items, .count = count, .chosen = pivot_chosen});
    return true;
}

static bool
groups_menus_copy_choice(struct app *app, const void *state, size_t i, const char **text, struct bytes *value)
{
    const struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    return group && group_copy_choice(app, group, groups->pivot, i, text, value);
}

static void
groups_menus_copy_chosen(struct app *app, void *state, size_t index)
{
    copy_menu_take(app, state, groups_menus_copy_choice, index);
}

bool
groups_ask_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct groups *groups = state;
    copy_menu_ask(app, groups, groups_menus_copy_choice, groups_menus_copy_chosen);
    return true;
}

// What the events of a group have in common, as terms to narrow by.
static size_t
narrow_choices(const struct event_group *group, struct arena *arena, struct menu_item items[CHOICES],
               const char *terms[CHOICES])
{
    const struct {
        uint32_t key;
        const char *field;
        const char *value;
    } choices[] = {{'k', "category", category_name(group->category)},
                   {'c', "class", group->text.error_class},
                   {'t', "type", group->types[0].count ? group->types[0].name : NULL},
                   {'o', "topic", group->topics[0].count ? group->topics[0].name : NULL}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *field = choices[i].field;
        const char *value = choices[i].value;
        if (!value || !value[0])
            continue;
        terms[count] =
            i == 0 ? arena_printf(arena, "%s:%s", field, value) : group_exact_term(field, value, arena);
        items[count++] =
            (struct menu_item){.key = choices[i].key, .text = arena_printf(arena, "%s %s", field, value)};
    }
    return count;
}

// What all events of the group have in common, as an event that has nothing else.
static bool
group_as_event(const struct groups *groups, struct event *event)
{
    const struct event_group *group = groups_cursor(groups);
    if (!group)
        return false;
    *event = (struct event){.category = group->category};
    if (groups->pivot == PIVOT_ERROR && group->part_count == 0) {
        event->group = group->key;
        event->error_class = bytes_of(group->text.error_class);
    }
    if (group->types[0].name && group->types[1].count == 0)
        event->event_type = bytes_of(group->types[0].name);
    if (group->topics[0].name && group->topics[1].count == 0)
        event->topic = bytes_of(group->topics[0].name);
    return true;
}

static void
groups_link_chosen(struct app *app, void *state, size_t index)
{
    struct event event;
    if (group_as_event(state, &event))
        links_take(app, &event, index);
}

bool
groups_ask_links(struct app *app, void *state, enum action action)
{
    (void)action;
    struct event event;
    if (group_as_event(state, &event))
        links_ask(app, &event, groups_link_chosen);
    return true;
}

static void
narrow_chosen(struct app *app, void *state, size_t index)
{
    struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    struct menu_item items[CHOICES];
    const char *terms[CHOICES];
    struct arena *arena = app_frame(app);
    if (!group || index >= narrow_choices(group, arena, items, terms))
        return;
    struct err err = {0};
    const char *both = filter_line_both(groups_filter_text(groups), terms[index], arena);
    if (!groups_filter(app, groups, bytes_of(both), &err))
        app_say_err(app, &err);
}

bool
groups_ask_narrow(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    struct menu_item items[CHOICES];
    const char *terms[CHOICES];
    memset(items, 0, sizeof items);
    size_t count = group ? narrow_choices(group, app_frame(app), items, terms) : 0;
    if (count)
        app_menu(app,
                 &(struct menu_request){
                     .title = "Only groups with", .items = items, .count = count, .chosen = narrow_chosen});
    return true;
}
