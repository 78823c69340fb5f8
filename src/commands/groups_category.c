// groups category: sets the category of a group by hand, which wins over the rules.
#include "commands/groups_category.h"

#include <string.h>
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "core/event.h"
#include "store/rollup/categories.h"

static bool
groups_category_print_json(const struct override *override, int64_t zone_us, struct err *err)
{
    struct value *object = value_object();
    json_group(object, "group", override->group);
    value_add_text(object, "category", category_name(override->category));
    value_add_text(object, "who", override->who);
    value_add_time(object, "at", override->at, zone_us);
    value_add_text(object, "reason", override->reason);
    return json_print(object, err);
}

static const struct output_column columns[] = {{"group", ALIGN_LEFT, 16, 0},
                                               {"category", ALIGN_LEFT, 9, 0},
                                               {"who", ALIGN_LEFT, 8, 0},
                                               {"at", ALIGN_LEFT, 19, 0},
                                               {"reason", ALIGN_LAST, 0, 0}};

// The override of one group, or all overrides, newest first.
static bool
groups_category_print_all(struct call *call, struct store *store, const uint64_t *group, struct err *err)
{
    const struct overrides *overrides = store_overrides(store);
    struct output_table table;
    bool ok = true;
    size_t found = 0;
    char key[GROUP_TEXT];
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; ok && i < overrides_count(overrides); i++) {
        const struct override *override = overrides_at(overrides, i);
        if (group && override->group != *group)
            continue;
        found++;
        if (call->options.general.json) {
            ok = groups_category_print_json(override, store_info(store)->zone_us, err);
            continue;
        }
        table_add_text(&table, group_text(override->group, key));
        table_add_text(&table, category_name(override->category));
        table_add_text(&table, override->who);
        table_add_time(&table, override->at);
        table_add_text(&table, override->reason);
    }
    ok = table_end(&table, err) && ok;
    if (ok && !found && group)
        remark(call, "group %s has the category of the rules", group_text(*group, key));
    else if (ok && !found)
        remark(call, "no category was set by hand; redrive groups category KEY CATEGORY sets one");
    return ok;
}

static bool
set(struct call *call, struct store *store, uint64_t group, const char *word, struct err *err)
{
    enum category category;
    bool is_given = category_parse(bytes_of(word), &category);
    bool has_changed;
    char key[GROUP_TEXT];
    if (!store_category_set(store, group, is_given ? &category : NULL, call->options.change.reason, err) ||
        !store_categories_look(store, &has_changed, err))
        return false;
    if (!is_given)
        remark(call, "group %s has the category of the rules again", group_text(group, key));
    return !is_given || groups_category_print_all(call, store, &group, err);
}

static bool
groups_category_check(const struct call *call, uint64_t *group, struct err *err)
{
    uint64_t last;
    enum category category;
    const char *reason = call->options.change.reason;
    if (call->arg_count > 3)
        return err_set(err, ERR_USAGE, "groups category takes a group's key and a category");
    if (call->arg_count > 1 && (!group_parse(bytes_of(call->args[1]), group, &last) || *group != last))
        return err_set(err, ERR_USAGE,
                       "\"%s\" is no group's key: its 16 digits are needed, as redrive groups prints them",
                       call->args[1]);
    if (call->arg_count < 3)
        return reason == NULL ||
               err_set(err, ERR_USAGE,
                       "--reason goes with a category: redrive groups category KEY CATEGORY --reason TEXT");
    if (strcmp(call->args[2], "rules") != 0 && !category_parse(bytes_of(call->args[2]), &category))
        return err_set(
            err, ERR_USAGE,
            "a category is transient, data, system, permanent or unknown, or rules for what the rules "
            "say, not \"%s\"",
            call->args[2]);
    if (call->settings.decision.reason_required && (reason == NULL || reason[0] == '\0'))
        return err_set(err, ERR_USAGE,
                       "redrive groups category needs --reason TEXT (reason_required is on, %s)",
                       call->settings.origins[SETTING_ID_reason_required].where);
    return true;
}

int
groups_category(struct call *call, struct err *err)
{
    struct store *store = NULL;
    uint64_t group = 0;
    bool is_set = call->arg_count == 3;
    bool ok = groups_category_check(call, &group, err) &&
              command_store(call, is_set ? STORE_WRITE : STORE_SCHEMA, &store, err);
    if (ok)
        ok = is_set ? set(call, store, group, call->args[2], err)
                    : groups_category_print_all(call, store, call->arg_count > 1 ? &group : NULL, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
