// The category of a group, set by hand: a menu, a reason, and it holds for everybody.
#include "ui/views/groups/state.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "ui/views/groups/texts.h"

// From the easiest remedy to the hardest.
static const struct {
    enum category category;
    uint32_t key;
    const char *text, *why;
} items[] = {
    {CATEGORY_TRANSIENT, 't', "transient: passes by itself, send again", "reason for transient: "},
    {CATEGORY_DATA, 'd', "data: correct, then send", "reason for data: "},
    {CATEGORY_SYSTEM, 's', "system: deploy a fix, then send", "reason for system: "},
    {CATEGORY_PERMANENT, 'p', "permanent: discard, or by hand", "reason for permanent: "},
    {CATEGORY_UNKNOWN, 'u', "unknown: not decided", "reason for unknown: "},
};

static bool
reason_accepted(struct app *app, void *state, struct bytes text)
{
    struct groups *groups = state;
    if (app_config(app)->decision.reason_required && bytes_trim(text).len == 0) {
        struct err err = {0};
        err_set(&err, ERR_USAGE, MSG_REASON_REQUIRED);
        app_prompt_error(app, &err);
        return false;
    }
    groups->category.left = groups->category.count;
    for (size_t i = 0; i < groups->category.count; i++) {
        struct request *request = request_create(REQUEST_CATEGORY);
        request->group = groups->category.keys[i];
        request->set.is_given = !groups->category.is_cleared;
        request->set.category = groups->category.category;
        request->reason = alloc_text(arena_text(app_frame(app), bytes_trim(text)));
        groups->category.number = app_send(app, request);
    }
    return true;
}

static void
category_chosen(struct app *app, void *state, size_t index)
{
    struct groups *groups = state;
    size_t count = sizeof items / sizeof *items;
    groups->category.is_cleared = index >= count;
    if (index < count)
        groups->category.category = items[index].category;
    app_prompt(app, &(struct prompt_request){.label = index < count ? items[index].why : MSG_CLEAR_REASON,
                                             .history = "reason",
                                             .accepted = reason_accepted});
}

// The groups are fixed now, whatever moves under the menu.
static void
take_keys(struct groups *groups, const struct event_group *group)
{
    free(groups->category.keys);
    groups->category.count = group->part_count ? group->part_count : 1;
    groups->category.keys = alloc_array(groups->category.count, sizeof *groups->category.keys);
    memcpy(groups->category.keys, group->part_count ? group->parts : &group->key,
           groups->category.count * sizeof *groups->category.keys);
}

bool
groups_ask_category(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    if (!group)
        return true;
    if (groups->pivot != PIVOT_ERROR) {
        app_say(app, SAY_WARN, MSG_CATEGORY_BY_ERROR);
        return true;
    }
    take_keys(groups, group);
    struct menu_item menu[sizeof items / sizeof *items + 1];
    size_t count = 0;
    for (; count < sizeof items / sizeof *items; count++)
        menu[count] = (struct menu_item){.text = items[count].text,
                                         .key = items[count].key,
                                         .is_current = group->category == items[count].category};
    const char *title = "Category";
    if (group->part_count)
        title = arena_printf(app_frame(app), "Category of %s", group_parts_text(group, app_frame(app)));
    if (group->is_overridden)
        menu[count++] = (struct menu_item){.text = MSG_CLEAR_CATEGORY, .key = 'r'};
    app_menu(app, &(struct menu_request){
                      .title = title, .items = menu, .count = count, .chosen = category_chosen});
    return true;
}

bool
groups_category_receive(struct app *app, struct groups *groups, const struct reply *reply)
{
    if (!groups->category.left || (reply->kind != REPLY_CATEGORY && reply->number != groups->category.number))
        return false;
    if (reply->kind != REPLY_CATEGORY) {
        groups->category.left = 0;
        app_say_err(app, &reply->err);
        return true;
    }
    if (--groups->category.left > 0)
        return true;
    app_send(app, request_create(REQUEST_REFRESH));
    if (groups->category.is_cleared)
        app_say(app, SAY_OK, MSG_CATEGORY_CLEARED);
    else
        app_say(app, SAY_OK, MSG_CATEGORY_SET, category_name(groups->category.category));
    return true;
}
