#include "settings/policies_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "core/category.h"
#include "core/event.h"
#include "core/filter/filter.h"
#include "core/recipe/recipe.h"
#include "core/target.h"
#include "settings/comments.h"
#include "settings/config_text.h"

static const struct config_option policy_options[] = {
    {.name = "action", .kind = CONFIG_VALUE},     {.name = "group", .kind = CONFIG_VALUE},
    {.name = "category", .kind = CONFIG_VALUE},   {.name = "class", .kind = CONFIG_VALUE},
    {.name = "filter", .kind = CONFIG_VALUE},     {.name = "older_than", .kind = CONFIG_VALUE},
    {.name = "schedule", .kind = CONFIG_VALUE},   {.name = "window", .kind = CONFIG_VALUE},
    {.name = "attempts", .kind = CONFIG_VALUE},   {.name = "backoff", .kind = CONFIG_VALUE},
    {.name = "factor", .kind = CONFIG_VALUE},     {.name = "at_most", .kind = CONFIG_VALUE},
    {.name = "rate", .kind = CONFIG_VALUE},       {.name = "canary", .kind = CONFIG_VALUE},
    {.name = "settle_for", .kind = CONFIG_VALUE}, {.name = "halt_above", .kind = CONFIG_VALUE},
    {.name = "limit", .kind = CONFIG_VALUE},      {.name = "target", .kind = CONFIG_VALUE},
    {.name = "recipe", .kind = CONFIG_VALUE},     {.name = "probe_after", .kind = CONFIG_VALUE},
    {.name = "enabled", .kind = CONFIG_VALUE}};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
static const struct config_form policy_form = {.options = policy_options, .count = COUNT_OF(policy_options)};
static const struct config_option top_options[] = {
    {.name = "policy", .kind = CONFIG_TITLED, .inside = &policy_form}};
static const struct config_form top_form = {.options = top_options, .count = 1};

static void
policies_file_say_unknown(const char *section, const char *name, struct err *err)
{
    if (section == NULL)
        config_say_unknown(&top_form, name, "there is policy", err);
    else
        config_say_unknown(&policy_form, name, "a policy has action, filter, schedule, limit and more", err);
}

static const struct config_language language = {
    .what = "policies", .form = &top_form, .say_unknown = policies_file_say_unknown};

// Where a fault is: "path:line: policy "name"".
struct policy_place {
    const char *path;
    const struct config_section *section;
    struct arena *arena;
};

static bool
policy_refuse(const struct policy_place *place, const char *option, const char *what, struct err *err)
{
    const struct config_entry *entry = config_section_entry(place->section, option);
    int line = entry && entry->count > 0 ? entry->values[0].line : place->section->line;
    return err_set(err, ERR_USAGE, "%s:%d: policy \"%s\": %s", place->path, line, place->section->title,
                   what);
}

static const char *
policy_text(const struct policy_place *place, const char *option)
{
    const char *text = config_section_value(place->section, option);
    return text && text[0] != '\0' ? arena_printf(place->arena, "%s", text) : NULL;
}

static bool
policy_duration(const struct policy_place *place, const char *option, int64_t *us, struct err *err)
{
    const char *text = policy_text(place, option);
    struct err local = {0};
    return !text || text_parse_duration(bytes_of(text), us, &local) ||
           policy_refuse(place, option, local.text, err);
}

static bool
policy_count(const struct policy_place *place, const char *option, int64_t low, int64_t high, int64_t *n,
             struct err *err)
{
    const char *text = policy_text(place, option);
    if (!text || (text_parse_int(bytes_of(text), n, NULL) && *n >= low && *n <= high))
        return true;
    return policy_refuse(place, option,
                         arena_printf(place->arena, "%s is a number from %lld to %lld", option,
                                      (long long)low, (long long)high),
                         err);
}

// --- what it matches ---

// The filter as a person wrote it, checked by itself so that its mistakes are its own.
static bool
policy_add_filter(const struct policy_place *place, struct strbuf *out, struct err *err)
{
    const char *text = policy_text(place, "filter");
    const struct filter_context context = {.new_after = TIME_ABSENT};
    struct filter *filter = NULL;
    struct err local = {0};
    if (!text)
        return true;
    if (!filter_parse(&filter, bytes_of(text), &context, &local))
        return policy_refuse(place, "filter", local.text, err);
    bool is_choice = filter_is_choice(filter), has_status = filter_statuses(filter) != 0;
    filter_destroy(filter);
    if (has_status)
        return policy_refuse(place, "filter", "a policy acts on pending events; leave status: out", err);
    strbuf_printf(out, is_choice ? "(%s)" : "%s", text);
    return true;
}

// Retention takes whatever was closed so long ago.
static bool
policy_read_age(const struct policy_place *place, struct policy *policy, struct err *err)
{
    static const char *const choices[] = {"group", "category", "class", "filter"};
    const char *action = policy_action_name(policy->action);
    for (size_t i = 0; i < COUNT_OF(choices); i++)
        if (policy_text(place, choices[i]))
            return policy_refuse(
                place, choices[i],
                arena_printf(place->arena, "%s takes all closed events of an age: older_than alone chooses",
                             action),
                err);
    if (!policy_duration(place, "older_than", &policy->older_than, err))
        return false;
    return policy->older_than > 0 ||
           policy_refuse(place, "older_than",
                         arena_printf(place->arena, "%s needs an age: older_than = \"90d\"", action), err);
}

static bool
policy_read_match(const struct policy_place *place, struct policy *policy, struct err *err)
{
    const char *category = policy_text(place, "category"), *class = policy_text(place, "class");
    const char *older = policy_text(place, "older_than");
    enum category known;
    uint64_t low, high;
    struct strbuf filter = {0};
    if (policy_is_retention(policy->action))
        return policy_read_age(place, policy, err);
    policy->group = policy_text(place, "group");
    if (category && !category_parse(bytes_of(category), &known))
        return policy_refuse(place, "category", "a category is transient, data, system, permanent or unknown",
                             err);
    if (policy->group &&
        (strlen(policy->group) != GROUP_TEXT - 1 || !group_parse(bytes_of(policy->group), &low, &high)))
        return policy_refuse(place, "group", "a group is the 16 digits that the list shows", err);
    if (class && strchr(class, '"'))
        return policy_refuse(place, "class", "a class has no quotes", err);
    if (!policy_duration(place, "older_than", &policy->older_than, err) ||
        !policy_add_filter(place, &filter, err)) {
        strbuf_release(&filter);
        return false;
    }
    if (category)
        strbuf_printf(&filter, "%scategory:%s", filter.len ? " " : "", category);
    if (class)
        strbuf_printf(&filter, "%sclass:\"%s\"", filter.len ? " " : "", class);
    if (older)
        strbuf_printf(&filter, "%sage:>%s", filter.len ? " " : "", older);
    policy->filter = filter.len ? arena_printf(place->arena, "%s", strbuf_text(&filter)) : NULL;
    strbuf_release(&filter);
    if (policy->filter || policy->group)
        return true;
    return policy_refuse(place, "filter",
                         "it needs to say which events: group, category, class, filter or older_than", err);
}

// --- when, and how ---

static bool
policy_read_times(const struct policy_place *place, struct policy *policy, struct err *err)
{
    struct err local = {0};
    const char *window = policy_text(place, "window");
    policy->schedule_text = policy_text(place, "schedule");
    if (!policy->schedule_text)
        policy->schedule_text = "every 10m";
    if (!schedule_parse(bytes_of(policy->schedule_text), &policy->schedule, &local))
        return policy_refuse(place, "schedule", local.text, err);
    if (window && !day_window_parse(bytes_of(window), &policy->window, &local))
        return policy_refuse(place, "window", local.text, err);
    if (schedule_next(&policy->schedule, &policy->window, 0, 0) == TIME_ABSENT)
        return policy_refuse(place, "window", "the schedule is never due within the window", err);
    return policy_duration(place, "probe_after", &policy->probe_after, err);
}

static bool
policy_read_backoff(const struct policy_place *place, struct policy *policy, struct err *err)
{
    const char *factor = policy_text(place, "factor");
    int64_t attempts = 3;
    char *end = NULL;
    policy->backoff =
        (struct policy_backoff){.first = US_PER_SECOND, .most = 3600 * US_PER_SECOND, .factor = 2};
    if (!policy_count(place, "attempts", 1, POLICY_ATTEMPTS_MOST, &attempts, err) ||
        !policy_duration(place, "backoff", &policy->backoff.first, err) ||
        !policy_duration(place, "at_most", &policy->backoff.most, err))
        return false;
    policy->attempts = (int32_t)attempts;
    if (factor)
        policy->backoff.factor = strtod(factor, &end);
    if (factor && (*end != '\0' || !(policy->backoff.factor >= 1 && policy->backoff.factor <= 100)))
        return policy_refuse(place, "factor", "factor is a number from 1 to 100", err);
    return policy->backoff.most >= policy->backoff.first ||
           policy_refuse(place, "at_most", "at_most is below backoff, the first wait", err);
}

static bool
policy_read_plan(const struct policy_place *place, struct policy *policy, struct err *err)
{
    int64_t rate = RATE_UNLIMITED, canary = 0;
    const char *halt = policy_text(place, "halt_above");
    struct send_plan *plan = &policy->plan;
    struct err local = {0};
    policy->limit = 1000;
    *plan = (struct send_plan){.halts = true, .halt_above = HALT_PLAIN_ABOVE};
    if (!policy_count(place, "rate", 1, INT32_MAX, &rate, err) ||
        !policy_count(place, "canary", 1, INT32_MAX, &canary, err) ||
        !policy_count(place, "limit", 1, INT32_MAX, &policy->limit, err) ||
        !policy_duration(place, "settle_for", &plan->settle_for, err))
        return false;
    if (halt && !halt_parse(bytes_of(halt), plan, &local))
        return policy_refuse(place, "halt_above", local.text, err);
    if (canary > 0)
        plan->steps[plan->step_count++] = (int32_t)canary;
    policy->rate = (int32_t)rate;
    policy->target = policy_text(place, "target");
    if (policy->target && !target_check(bytes_of(policy->target), &local))
        return policy_refuse(place, "target", local.text, err);
    if (policy->action == POLICY_REPROCESS)
        return true;
    static const char *const sends[] = {"attempts", "backoff",    "factor", "at_most", "rate",
                                        "canary",   "halt_above", "target", "recipe"};
    for (size_t i = 0; i < COUNT_OF(sends); i++)
        if (policy_text(place, sends[i]))
            return policy_refuse(place, sends[i],
                                 arena_printf(place->arena, "%s is for action \"reprocess\"", sends[i]), err);
    if (policy_is_retention(policy->action) && policy_text(place, "limit"))
        return policy_refuse(place, "limit", "limit is for actions on pending events", err);
    return true;
}

// A path that does not begin at the root begins beside the file of policies.
static bool
policy_read_recipe(const struct policy_place *place, struct policy *policy, struct err *err)
{
    enum { MOST = 65536 };
    const char *name = policy_text(place, "recipe"), *slash = strrchr(place->path, '/');
    struct err local = {0};
    struct recipe *recipe = NULL;
    if (!name)
        return true;
    if (name[0] != '/' && slash)
        name = arena_printf(place->arena, "%.*s/%s", (int)(slash - place->path), place->path, name);
    FILE *stream = fopen(name, "re");
    if (!stream)
        return policy_refuse(place, "recipe",
                             arena_printf(place->arena, "%s cannot be read: %s", name, strerror(errno)), err);
    char *text = arena_alloc(place->arena, MOST);
    size_t len = fread(text, 1, MOST, stream);
    fclose(stream);
    if (len == MOST)
        return policy_refuse(place, "recipe", "a recipe has less than 64 KiB", err);
    text[len] = '\0';
    if (!recipe_parse(&recipe, name, (struct bytes){text, len}, &local))
        return policy_refuse(place, "recipe", local.text, err);
    recipe_destroy(recipe);
    policy->recipe = text;
    return true;
}

static bool
policy_read_action(const struct policy_place *place, struct policy *policy, struct err *err)
{
    const char *action = policy_text(place, "action"), *enabled = policy_text(place, "enabled");
    if (!action || !policy_action_parse(bytes_of(action), &policy->action))
        return policy_refuse(place, "action",
                             "action is reprocess, alert, discard, manual_review, archive or purge", err);
    policy->is_enabled = enabled && strcmp(enabled, "yes") == 0;
    return !enabled || policy->is_enabled || strcmp(enabled, "no") == 0 ||
           policy_refuse(place, "enabled", "enabled is yes or no", err);
}

// "reprocess category:transient, every 10m, at most 500 a day".
static const char *
policy_describe(const struct policy_place *place, const struct policy *policy)
{
    char limit[TEXT_SHORT];
    bool acts = policy_acts(policy->action);
    const char *events = policy->filter ? policy->filter : "";
    if (policy_is_retention(policy->action))
        events = arena_printf(place->arena, "what was closed %s ago", policy_text(place, "older_than"));
    return arena_printf(place->arena, "%s %s%s%s%s, %s%s%s%s%s%s%s", policy_action_name(policy->action),
                        events, policy->filter && policy->group ? " " : "", policy->group ? "of group " : "",
                        policy->group ? policy->group : "", policy->schedule_text,
                        policy->window.from != policy->window.to ? " within " : "",
                        policy->window.from != policy->window.to ? policy_text(place, "window") : "",
                        acts ? ", at most " : "", acts ? text_count(policy->limit, limit) : "",
                        acts ? " a day" : "", policy->recipe ? ", corrected first" : "");
}

static bool
policies_file_add(struct policies_file *file, const struct policy_place *place, struct err *err)
{
    struct policy policy = {.name = arena_printf(place->arena, "%s", place->section->title)};
    if (policy.name[0] == '\0' || strlen(policy.name) > POLICY_NAME_MOST)
        return policy_refuse(place, "action", "a policy has a name of 1 to 60 bytes", err);
    if (!policy_read_action(place, &policy, err) || !policy_read_match(place, &policy, err) ||
        !policy_read_times(place, &policy, err) || !policy_read_backoff(place, &policy, err) ||
        !policy_read_plan(place, &policy, err) || !policy_read_recipe(place, &policy, err))
        return false;
    policy.words = policy_describe(place, &policy);
    file->policies[file->count++] = policy;
    return true;
}

bool
policies_file_read(const char *path, struct policies_file *file, struct err *err)
{
    struct config_text text;
    *file = (struct policies_file){0};
    if (!path)
        return true;
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return err_set(err, ERR_USAGE, "%s: policies cannot be read: %s", path, strerror(errno));
    char *source = comments_read(stream);
    bool ok =
        ferror(stream) == 0 || err_set(err, ERR_USAGE, "%s: policies cannot be read to their end", path);
    fclose(stream);
    ok = ok && config_text_read(&text, &language, path, source, err);
    free(source);
    if (!ok)
        return false;
    file->policies = arena_array(&file->arena, text.section_count, sizeof *file->policies);
    for (size_t i = 0; ok && i < text.section_count; i++) {
        struct policy_place place = {.path = path, .section = &text.sections[i], .arena = &file->arena};
        ok = !place.section->name || policies_file_add(file, &place, err);
    }
    config_text_release(&text);
    if (!ok)
        policies_file_release(file);
    return ok;
}

const struct policy *
policies_file_find(const struct policies_file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->policies[i].name, name) == 0)
            return &file->policies[i];
    return NULL;
}

void
policies_file_release(struct policies_file *file)
{
    arena_release(&file->arena);
    *file = (struct policies_file){0};
}
