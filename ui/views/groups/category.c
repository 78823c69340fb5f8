// The category of a group, set by hand: a menu, then a dialog, since it holds for everybody.
#include "ui/views/groups/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "ui/views/groups/texts.h"

// From the easiest remedy to the hardest.
static const struct {
    enum category category;
    uint32_t key;
} items[] = {
    {CATEGORY_TRANSIENT, 't'}, {CATEGORY_DATA, 'd'},    {CATEGORY_SYSTEM, 's'},
    {CATEGORY_PERMANENT, 'p'}, {CATEGORY_UNKNOWN, 'u'},
};

static void
confirmed(struct app *app, void *state, const struct dialog *dialog)
{
    struct groups *groups = state;
    groups->category.left = groups->category.count;
    for (size_t i = 0; i < groups->category.count; i++) {
        struct request *request = request_create(REQUEST_CATEGORY);
        struct bytes reason = dialog_value(dialog, 0);
        request->groups.group = groups->category.keys[i];
        request->set.is_given = !groups->category.is_cleared;
        request->set.category = groups->category.category;
        request->reason = strndup(reason.data, reason.len);
        groups->category.number = app_send(app, request);
    }
}

static void
cancelled(struct app *app, void *state)
{
    (void)state;
    app_say(app, SAY_INFO, MSG_CATEGORY_UNCHANGED);
}

// The word is typed, since a category holds for everybody and there is no count that tells it from others.
static void
ask_to_confirm(struct app *app, struct groups *groups)
{
    const struct category_choice *choice = &groups->category;
    const char *word = choice->is_cleared ? "rules" : category_name(choice->category);
    struct dialog_request request = {
        .title = "Category",
        .confirm = "Set",
        .typed_word = word,
        .fields = {{.label = "reason",
                    .option = "--reason",
                    .hint = MSG_CATEGORY_REASON_HINT,
                    .is_required = app_config(app)->decision.reason_required}},
        .field_count = 1,
        .confirmed = confirmed,
        .cancelled = cancelled,
    };
    if (choice->count == 1)
        request.command =
            arena_printf(app_frame(app), "redrive groups category %016" PRIx64 " %s", choice->keys[0], word);
    struct dialog *dialog = app_dialog(app, &request);
    dialog_line(dialog, ROLE_STRONG, "%s", choice->what);
    if (choice->is_cleared)
        dialog_line(dialog, ROLE_DIALOG, MSG_CATEGORY_BY_RULES_AGAIN);
    else
        dialog_line(dialog, ROLE_DIALOG, MSG_CATEGORY_FOR_ALL, word);
}

static void
category_chosen(struct app *app, void *state, size_t index)
{
    struct groups *groups = state;
    size_t count = sizeof items / sizeof *items;
    groups->category.is_cleared = index >= count;
    if (index < count)
        groups->category.category = items[index].category;
    ask_to_confirm(app, groups);
}

// The groups are fixed now, whatever moves under the menu.
static void
take_keys(struct app *app, struct groups *groups, const struct event_group *group)
{
    free(groups->category.keys);
    free(groups->category.what);
    groups->category.what = alloc_text(group_title(group, groups->pivot, app_frame(app)));
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
    take_keys(app, groups, group);
    struct menu_item menu[sizeof items / sizeof *items + 1];
    size_t count = 0;
    for (; count < sizeof items / sizeof *items; count++)
        menu[count] = (struct menu_item){.text = category_advice(items[count].category),
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
