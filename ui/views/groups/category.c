// The category of a group, given by a person: a menu, a reason, and it is written down for all to see.
#include "ui/views/groups/state.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

// In the order in which an operator thinks of them: what to do gets harder.
static const struct {
    enum category category;
    uint32_t key;
    const char *text, *why;
} items[] = {
    {CATEGORY_TRANSIENT, 't', "transient: passes by itself, send again", "why transient: "},
    {CATEGORY_DATA, 'd', "data: correct, then send", "why data: "},
    {CATEGORY_SYSTEM, 's', "system: deploy a fix, then send", "why system: "},
    {CATEGORY_PERMANENT, 'p', "permanent: discard, or by hand", "why permanent: "},
    {CATEGORY_UNKNOWN, 'u', "unknown: not decided", "why unknown: "},
};

static bool
reason_accepted(struct app *app, void *state, struct bytes text)
{
    struct groups *groups = state;
    if (app_config(app)->reason_required && bytes_trim(text).len == 0) {
        struct err err = {0};
        err_set(&err, ERR_USAGE, "a reason is required here");
        app_prompt_error(app, &err);
        return false;
    }
    groups->category.left = groups->category.count;
    for (size_t i = 0; i < groups->category.count; i++) {
        struct request *request = request_create(REQUEST_CATEGORY);
        request->group = groups->category.keys[i];
        request->has_category = !groups->category.is_taken_back;
        request->category = groups->category.category;
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
    groups->category.is_taken_back = index >= count;
    if (index < count)
        groups->category.category = items[index].category;
    app_prompt(app, &(struct prompt_request){.label = index < count ? items[index].why : "why by the rules: ",
                                             .history = "reason",
                                             .accepted = reason_accepted});
}

// What the decision is about is fixed now, whatever moves under the menu.
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
        app_say(app, SAY_WARN, "only groups by error have a category of their own");
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
        menu[count++] = (struct menu_item){.text = "as the rules say, again", .key = 'r'};
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
    if (groups->category.is_taken_back)
        app_say(app, SAY_OK, "the rules decide again");
    else
        app_say(app, SAY_OK, "%s from now on, for everybody; K takes it back",
                category_name(groups->category.category));
    return true;
}
