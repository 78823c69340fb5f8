// The menus of the list of groups, and what they lead to: order, pivot, copy, narrow.
#include "ui/views/groups/state.h"

#include <string.h>
#include "ui/views/copy_menu.h"
#include "ui/views/filter_line.h"
#include "ui/views/groups/groups.h"
#include "ui/views/groups/query.h"

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

// First the pivots of all pending events; then, from a group by error, those within it.
static void
pivot_chosen(struct app *app, void *state, size_t index)
{
    struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    if (index < PIVOT_COUNT) {
        groups_set_pivot(app, groups, (enum pivot)index);
    } else if (group) {
        struct groups_argument argument = {.pivot = (enum pivot)(index - PIVOT_COUNT + PIVOT_TYPE),
                                           .within = group->key,
                                           .title = group_short_title(group, groups->pivot, app_frame(app))};
        app_open(app, &view_groups, &argument);
    }
}

bool
groups_ask_pivot(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct groups *groups = state;
    static const char keys[PIVOT_COUNT] = {'e', 't', 's', 'o', 'k', 'h'};
    struct arena *arena = app_frame(app);
    const struct event_group *group = groups_cursor(groups);
    struct menu_item items[2 * PIVOT_COUNT];
    size_t count = 0;
    for (int i = 0; i < PIVOT_COUNT; i++)
        items[count++] = (struct menu_item){.key = (uint32_t)keys[i],
                                            .text = arena_printf(arena, "by %s", pivot_name((enum pivot)i)),
                                            .is_current = (int)groups->pivot == i};
    if (group && groups->pivot == PIVOT_ERROR && !groups->has_within && !group->part_count)
        for (int i = PIVOT_TYPE; i < PIVOT_COUNT; i++)
            items[count++] = (struct menu_item){
                .key = (uint32_t)(keys[i] - 'a' + 'A'),
                .text = arena_printf(arena, "this group by %s", pivot_name((enum pivot)i))};
    app_menu(app, &(struct menu_request){
                      .title = "Group", .items = items, .count = count, .chosen = pivot_chosen});
    return true;
}

static bool
groups_menus_copy_choice(struct app *app, const void *state, size_t i, const char **text, struct bytes *value)
{
    const struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    return group && group_copy_choice(group, groups->pivot, i, app_frame(app), text, value);
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
