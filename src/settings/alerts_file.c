#include "settings/alerts_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/text.h"
#include "core/category.h"
#include "core/event.h"
#include "settings/comments.h"
#include "settings/config_text.h"
#include "settings/secret.h"

EMBED(redrive_alerts_file, "monitoring/alerts.conf");

static const struct config_option alert_options[] = {
    {.name = "when", .kind = CONFIG_VALUE},        {.name = "above", .kind = CONFIG_VALUE},
    {.name = "below", .kind = CONFIG_VALUE},       {.name = "clear", .kind = CONFIG_VALUE},
    {.name = "for", .kind = CONFIG_VALUE},         {.name = "window", .kind = CONFIG_VALUE},
    {.name = "at_least", .kind = CONFIG_VALUE},    {.name = "group", .kind = CONFIG_VALUE},
    {.name = "category", .kind = CONFIG_VALUE},    {.name = "type", .kind = CONFIG_VALUE},
    {.name = "of", .kind = CONFIG_VALUE},          {.name = "severity", .kind = CONFIG_VALUE},
    {.name = "description", .kind = CONFIG_VALUE}, {.name = "runbook", .kind = CONFIG_VALUE},
    {.name = "labels", .kind = CONFIG_LIST},       {.name = "enabled", .kind = CONFIG_VALUE}};
static const struct config_option destination_options[] = {
    {.name = "name", .kind = CONFIG_VALUE},       {.name = "url", .kind = CONFIG_VALUE},
    {.name = "url.file", .kind = CONFIG_VALUE},   {.name = "key.file", .kind = CONFIG_VALUE},
    {.name = "token.file", .kind = CONFIG_VALUE}, {.name = "ca", .kind = CONFIG_VALUE},
    {.name = "command", .kind = CONFIG_LIST},     {.name = "to", .kind = CONFIG_VALUE},
    {.name = "from", .kind = CONFIG_VALUE},       {.name = "severity", .kind = CONFIG_LIST}};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
static const struct config_form alert_form = {.options = alert_options, .count = COUNT_OF(alert_options)};
static const struct config_form destination_form = {.options = destination_options,
                                                    .count = COUNT_OF(destination_options)};
static const struct config_option top_options[] = {
    {.name = "alert", .kind = CONFIG_TITLED, .inside = &alert_form},
    {.name = "destination", .kind = CONFIG_RETITLED, .inside = &destination_form},
};
static const struct config_form top_form = {.options = top_options, .count = 2};

static void
alerts_file_say_unknown(const char *section, const char *name, struct err *err)
{
    if (section == NULL)
        config_say_unknown(&top_form, name, "there are alert and destination", err);
    else if (strcmp(section, "alert") == 0)
        config_say_unknown(&alert_form, name, "an alert has when, above or below, for, severity and more",
                           err);
    else
        config_say_unknown(&destination_form, name, "a destination has url, command and more", err);
}

static const struct config_language language = {
    .what = "alerts", .form = &top_form, .say_unknown = alerts_file_say_unknown};

// Where a fault is: "path:line: alert "name"".
struct place {
    const char *path;
    const struct config_section *section;
    struct arena *arena;
};

static int
line_of(const struct place *place, const char *option)
{
    const struct config_entry *entry = config_section_entry(place->section, option);
    return entry && entry->count > 0 ? entry->values[0].line : place->section->line;
}

static bool
refuse(const struct place *place, const char *option, const char *what, struct err *err)
{
    return err_set(err, ERR_USAGE, "%s:%d: %s \"%s\": %s", place->path, line_of(place, option),
                   place->section->name, place->section->title, what);
}

// A value of the section as the arena keeps it; NULL: it has none, or an empty one.
static const char *
text_of(const struct place *place, const char *option)
{
    const char *text = config_section_value(place->section, option);
    return text && text[0] != '\0' ? arena_printf(place->arena, "%s", text) : NULL;
}

static bool
read_duration(const struct place *place, const char *option, int64_t *us, struct err *err)
{
    const char *text = text_of(place, option);
    struct err local = {0};
    return !text || text_parse_duration(bytes_of(text), us, &local) || refuse(place, option, local.text, err);
}

static bool
read_value(const struct place *place, const char *option, enum alert_condition condition, double *value,
           struct err *err)
{
    const char *text = text_of(place, option);
    struct err local = {0};
    return !text || alert_value_parse(condition, bytes_of(text), value, &local) ||
           refuse(place, option, local.text, err);
}

// --- alerts ---

static bool
read_condition(const struct place *place, struct alert_rule *rule, struct err *err)
{
    const char *when = text_of(place, "when");
    if (when && alert_condition_parse(bytes_of(when), &rule->condition))
        return true;
    if (!when)
        return refuse(place, "when", "it needs a condition, as when = \"pending\"", err);
    const char *nearest = alert_condition_suggest(when);
    return refuse(place, "when",
                  arena_printf(place->arena, "there is no condition \"%s\"%s%s%s", when,
                               nearest ? "; did you mean " : "; redrive-config(5) lists them",
                               nearest ? nearest : "", nearest ? "?" : ""),
                  err);
}

static bool
read_threshold(const struct place *place, struct alert_rule *rule, struct err *err)
{
    bool has_above = text_of(place, "above"), has_below = text_of(place, "below");
    bool is_event = rule->condition == ALERT_HALTED || rule->condition == ALERT_NO_WORKER;
    if (has_above && has_below)
        return refuse(place, "below", "it has above and below; one of them", err);
    if (!has_above && !has_below && !is_event)
        return refuse(place, "when", "it needs a threshold: above or below", err);
    const char *option = has_below ? "below" : "above";
    rule->is_below = has_below;
    if (!read_value(place, option, rule->condition, &rule->limit, err))
        return false;
    rule->clear = rule->limit;
    if (!read_value(place, "clear", rule->condition, &rule->clear, err))
        return false;
    if (rule->is_below ? rule->clear < rule->limit : rule->clear > rule->limit)
        return refuse(place, "clear",
                      rule->is_below ? "clear is below the threshold, so it would be over while it is broken"
                                     : "clear is above the threshold, so it would be over while it is broken",
                      err);
    return true;
}

static bool
read_times(const struct place *place, struct alert_rule *rule, struct err *err)
{
    const struct alert_condition_row *row = alert_condition_row(rule->condition);
    rule->window = row->window;
    if (!read_duration(place, "for", &rule->for_us, err) ||
        !read_duration(place, "window", &rule->window, err))
        return false;
    if (text_of(place, "window") && row->window == 0)
        return refuse(place, "window", arena_printf(place->arena, "%s has no window", row->name), err);
    if (row->window > 0 && (rule->window < 60 * US_PER_SECOND || rule->window > row->most_window)) {
        char most[TEXT_SHORT];
        return refuse(place, "window",
                      arena_printf(place->arena, "the window of %s is 1m to %s long", row->name,
                                   text_age(row->most_window, most)),
                      err);
    }
    return true;
}

static bool
read_each_part(const struct place *place, struct alert_rule *rule, struct err *err)
{
    const char *of = text_of(place, "of");
    if (!of)
        return rule->part != PART_ALL || rule->condition != ALERT_SHARE ||
               refuse(place, "when", "share needs a part: category, type or group, or of = \"group\"", err);
    if (rule->part != PART_ALL || rule->condition != ALERT_SHARE)
        return refuse(place, "of", "of is for a share without group, category and type", err);
    if (strcmp(of, "group") == 0)
        rule->part = PART_GROUP;
    else if (strcmp(of, "category") == 0)
        rule->part = PART_CATEGORY;
    else if (strcmp(of, "type") == 0)
        rule->part = PART_TYPE;
    else
        return refuse(place, "of", "of is group, category or type", err);
    return true;
}

static bool
read_part(const struct place *place, struct alert_rule *rule, struct err *err)
{
    static const struct {
        const char *option;
        enum alert_part part;
    } parts[] = {{"group", PART_GROUP}, {"category", PART_CATEGORY}, {"type", PART_TYPE}};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        const char *name = text_of(place, parts[i].option);
        enum category category;
        uint64_t low, high;
        if (!name)
            continue;
        if (!alert_condition_row(rule->condition)->takes_part)
            return refuse(place, parts[i].option, "only pending and share are narrowed", err);
        if (rule->part != PART_ALL)
            return refuse(place, parts[i].option, "one of group, category and type narrows it", err);
        if (parts[i].part == PART_CATEGORY && !category_parse(bytes_of(name), &category))
            return refuse(place, "category", "a category is transient, data, system, permanent or unknown",
                          err);
        if (parts[i].part == PART_GROUP &&
            (strlen(name) != GROUP_TEXT - 1 || !group_parse(bytes_of(name), &low, &high)))
            return refuse(place, "group", "a group is the 16 digits that the list shows", err);
        rule->part = parts[i].part;
        rule->part_name = name;
    }
    return read_each_part(place, rule, err);
}

static bool
is_label_name(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!(name[i] == '_' || (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
              (i > 0 && name[i] >= '0' && name[i] <= '9')))
            return false;
    return len > 0;
}

static bool
read_labels(const struct place *place, struct alert_rule *rule, struct err *err)
{
    const struct config_entry *entry = config_section_entry(place->section, "labels");
    rule->label_count = entry ? entry->count : 0;
    rule->labels = arena_array(place->arena, rule->label_count, sizeof *rule->labels);
    for (size_t i = 0; i < rule->label_count; i++) {
        const char *text = arena_printf(place->arena, "%s", entry->values[i].text);
        const char *equals = strchr(text, '=');
        if (!equals || !is_label_name(text, (size_t)(equals - text)))
            return err_set(err, ERR_USAGE,
                           "%s:%d: \"%s\" is no label; write name=value, a name of letters, digits and _",
                           place->path, entry->values[i].line, text);
        rule->labels[i] = (struct alert_label){
            .name = arena_printf(place->arena, "%.*s", (int)(equals - text), text), .value = equals + 1};
    }
    return true;
}

static bool
read_enabled(const struct place *place, bool *is_enabled, struct err *err)
{
    const char *text = text_of(place, "enabled");
    *is_enabled = !text || strcmp(text, "yes") == 0;
    return *is_enabled || strcmp(text, "no") == 0 || refuse(place, "enabled", "enabled is yes or no", err);
}

static bool
alerts_file_add_alert(struct alerts_file *file, const struct place *place, struct err *err)
{
    struct alert_rule rule = {0};
    bool is_enabled = false;
    double at_least = 0;
    if (place->section->title[0] == '\0')
        return refuse(place, "when", "an alert needs a name", err);
    if (!read_condition(place, &rule, err) || !read_threshold(place, &rule, err) ||
        !read_times(place, &rule, err) || !read_part(place, &rule, err) || !read_labels(place, &rule, err) ||
        !read_enabled(place, &is_enabled, err) ||
        !read_value(place, "at_least", ALERT_PENDING, &at_least, err))
        return false;
    if (rule.condition == ALERT_HALTED && (rule.limit > 0 || rule.is_below))
        return refuse(place, rule.is_below ? "below" : "above",
                      "halted is about each operation and has no threshold", err);
    rule.name = arena_printf(place->arena, "%s", place->section->title);
    rule.at_least = at_least;
    rule.severity = text_of(place, "severity");
    if (!rule.severity)
        rule.severity = "warning";
    rule.description = text_of(place, "description");
    rule.runbook = text_of(place, "runbook");
    if (is_enabled)
        file->rules[file->rule_count++] = rule;
    else
        file->disabled++;
    return true;
}

// --- destinations ---

// A value, or what the file of `option`.file says, which nobody else can read.
static bool
read_hidden(const struct place *place, const char *option, const char *file_option, const char **text,
            struct err *err)
{
    const char *path = text_of(place, file_option);
    const char *plain = option ? text_of(place, option) : NULL;
    struct strbuf secret = {0};
    struct err local = {0};
    if (plain)
        *text = plain;
    if (!path)
        return true;
    if (plain)
        return refuse(place, file_option, "it is given twice, here and in a file", err);
    bool ok = secret_read(SECRET_FILE, path, &secret, &local);
    if (ok && secret.len == 0)
        ok = err_set(&local, ERR_USAGE, "the first line of %s is empty", path);
    if (ok)
        *text = arena_printf(place->arena, "%s", strbuf_text(&secret));
    if (secret.data)
        explicit_bzero(secret.data, secret.len);
    strbuf_release(&secret);
    return ok || refuse(place, file_option, local.text, err);
}

static bool
read_command(const struct place *place, struct alert_destination *destination, struct err *err)
{
    const struct config_entry *entry = config_section_entry(place->section, "command");
    size_t count = entry ? entry->count : 0;
    const char **argv = arena_array(place->arena, count + 1, sizeof *argv);
    if (destination->channel != CHANNEL_COMMAND)
        return count == 0 || refuse(place, "command", "a command is for destination \"command\"", err);
    if (count == 0 || entry->values[0].text[0] != '/')
        return refuse(
            place, "command",
            "it needs a command with its whole path, as command = { \"/usr/sbin/sendmail\", \"-t\" }", err);
    for (size_t i = 0; i < count; i++)
        argv[i] = arena_printf(place->arena, "%s", entry->values[i].text);
    argv[count] = NULL;
    destination->argv = argv;
    return true;
}

static bool
check_url(const struct place *place, struct alert_destination *destination, struct err *err)
{
    const char *url = destination->url;
    const char *option = text_of(place, "url") ? "url" : "url.file";
    if (destination->channel == CHANNEL_COMMAND)
        return !url || refuse(place, option, "a command has no url", err);
    if (!url && destination->channel == CHANNEL_PAGERDUTY)
        destination->url = url = "https://events.pagerduty.com/v2/enqueue";
    if (!url)
        return refuse(place, option, "it needs a url", err);
    // Not repeated in the sentence: a Slack webhook is a secret.
    if (strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0)
        return refuse(place, option, "a url begins with https:// or http://", err);
    return destination->channel != CHANNEL_PAGERDUTY || destination->key ||
           refuse(place, "key.file", "PagerDuty needs the integration's key: key.file", err);
}

// Beyond ASCII a name in front of an address would have to be written as an encoded word (RFC 2047), and the
// address itself must not be.
static bool
is_address(const char *text)
{
    for (; text && *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

static bool
alerts_file_add_destination(struct alerts_file *file, const struct place *place, struct err *err)
{
    struct alert_destination destination = {0};
    if (!alert_channel_parse(bytes_of(place->section->title), &destination.channel))
        return err_set(
            err, ERR_USAGE,
            "%s:%d: there is no destination \"%s\"; there are alertmanager, slack, pagerduty and command",
            place->path, place->section->line, place->section->title);
    if (!read_hidden(place, "url", "url.file", &destination.url, err) ||
        !read_hidden(place, NULL, destination.channel == CHANNEL_PAGERDUTY ? "key.file" : "token.file",
                     &destination.key, err) ||
        !read_command(place, &destination, err) || !check_url(place, &destination, err))
        return false;
    destination.name = text_of(place, "name");
    if (!destination.name)
        destination.name = alert_channel_name(destination.channel);
    destination.ca = text_of(place, "ca");
    destination.to = text_of(place, "to");
    destination.from = text_of(place, "from");
    if (!is_address(destination.to) || !is_address(destination.from))
        return refuse(place, is_address(destination.to) ? "from" : "to", "an address is one line of ASCII",
                      err);
    const struct config_entry *severities = config_section_entry(place->section, "severity");
    destination.severity_count = severities ? severities->count : 0;
    destination.severities = arena_array(place->arena, destination.severity_count, sizeof(char *));
    for (size_t i = 0; i < destination.severity_count; i++)
        destination.severities[i] = arena_printf(place->arena, "%s", severities->values[i].text);
    for (size_t i = 0; i < file->destination_count; i++)
        if (strcmp(file->destinations[i].name, destination.name) == 0)
            return refuse(place, "name", "another destination has this name; give it one: name = \"…\"", err);
    file->destinations[file->destination_count++] = destination;
    return true;
}

// --- the file ---

static bool
alerts_file_parse(struct alerts_file *file, const char *path, const char *source, struct err *err)
{
    struct config_text text;
    if (!config_text_read(&text, &language, path, source, err))
        return false;
    file->rules = arena_array(&file->arena, text.section_count, sizeof *file->rules);
    file->destinations = arena_array(&file->arena, text.section_count, sizeof *file->destinations);
    bool ok = true;
    for (size_t i = 0; ok && i < text.section_count; i++) {
        struct place place = {.path = path, .section = &text.sections[i], .arena = &file->arena};
        if (place.section->name)
            ok = strcmp(place.section->name, "alert") == 0 ? alerts_file_add_alert(file, &place, err)
                                                           : alerts_file_add_destination(file, &place, err);
    }
    config_text_release(&text);
    return ok;
}

static char *
built_in_source(void)
{
    // cppcheck-suppress comparePointers ; the assembler puts both symbols around one file
    size_t len = (size_t)(redrive_alerts_file_end - redrive_alerts_file);
    char *source = alloc_bytes(len + 1);
    memcpy(source, redrive_alerts_file, len);
    comments_blank(source, len);
    return source;
}

bool
alerts_file_read(const char *path, struct alerts_file *file, struct err *err)
{
    *file = (struct alerts_file){0};
    char *source;
    if (path) {
        FILE *stream = fopen(path, "re");
        if (stream == NULL)
            return err_set(err, ERR_USAGE, "%s: alerts cannot be read: %s", path, strerror(errno));
        source = comments_read(stream);
        bool is_whole = ferror(stream) == 0;
        fclose(stream);
        if (!is_whole) {
            free(source);
            return err_set(err, ERR_USAGE, "%s: alerts cannot be read to their end", path);
        }
    } else
        source = built_in_source();
    bool ok = alerts_file_parse(file, path ? path : "alerts.conf", source, err);
    free(source);
    if (!ok)
        alerts_file_release(file);
    return ok;
}

static void
wipe(const char *text)
{
    if (text)
        explicit_bzero((char *)(uintptr_t)text, strlen(text));
}

void
alerts_file_release(struct alerts_file *file)
{
    for (size_t i = 0; i < file->destination_count; i++) {
        struct alert_destination *destination = &file->destinations[i];
        wipe(destination->key);
        if (destination->channel == CHANNEL_SLACK)
            wipe(destination->url);
    }
    arena_release(&file->arena);
    *file = (struct alerts_file){0};
}
