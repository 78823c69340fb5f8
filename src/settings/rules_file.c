#include "settings/rules_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "settings/comments.h"
#include "settings/config_text.h"
#include "core/event.h"

static const struct config_option merge_options[] = {{.name = "groups", .kind = CONFIG_LIST},
                                                     {.name = "text", .kind = CONFIG_VALUE}};
static const struct config_option split_options[] = {{.name = "group", .kind = CONFIG_VALUE},
                                                     {.name = "keep", .kind = CONFIG_LIST}};
static const struct config_form merge_form = {.options = merge_options, .count = 2};
static const struct config_form split_form = {.options = split_options, .count = 2};
static const struct config_option top_options[] = {
    {.name = "own", .kind = CONFIG_LIST},
    {.name = "writer", .kind = CONFIG_LIST},
    {.name = "merge", .kind = CONFIG_TITLED, .inside = &merge_form},
    {.name = "split", .kind = CONFIG_TITLED, .inside = &split_form},
};
static const struct config_form top_form = {.options = top_options, .count = 4};

static void
rules_say_unknown(const char *section, const char *name, struct err *err)
{
    if (section == NULL)
        config_say_unknown(&top_form, name, "there are own, writer, merge and split", err);
    else if (strcmp(section, "merge") == 0)
        config_say_unknown(&merge_form, name, "a merge has groups or text", err);
    else
        config_say_unknown(&split_form, name, "a split has group and keep", err);
}

static const struct config_language language = {
    .what = "group rules", .form = &top_form, .say_unknown = rules_say_unknown};

static bool
read_key(const struct config_value *value, const char *path, uint64_t *key, struct err *err)
{
    uint64_t high;
    if (strlen(value->text) == GROUP_TEXT - 1 && group_parse(bytes_of(value->text), key, &high))
        return true;
    return err_set(err, ERR_USAGE, "%s:%d: \"%s\" is no group; a group is the 16 digits that the list shows",
                   path, value->line, value->text);
}

static bool
add_merge(struct group_rules *rules, const struct config_section *section, const char *path, struct err *err)
{
    const struct config_entry *groups = config_section_entry(section, "groups");
    size_t count = groups == NULL ? 0 : groups->count;
    uint64_t *keys = alloc_array(count + 1, sizeof *keys);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = read_key(&groups->values[i], path, &keys[i], err);
    if (ok && !group_rules_add_merge(rules, section->title, keys, count,
                                     config_section_value(section, "text"), err))
        ok = err_context(err, "%s:%d", path, section->line);
    free(keys);
    return ok;
}

static bool
add_split(struct group_rules *rules, const struct config_section *section, const char *path, struct err *err)
{
    const struct config_entry *group = config_section_entry(section, "group");
    const struct config_entry *keep = config_section_entry(section, "keep");
    uint64_t key = 0;
    if (group == NULL)
        return err_set(err, ERR_USAGE, "%s:%d: split \"%s\" needs a group", path, section->line,
                       section->title);
    if (!read_key(&group->values[0], path, &key, err))
        return false;
    size_t count = keep == NULL ? 0 : keep->count;
    const char **words = alloc_array(count + 1, sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = keep->values[i].text;
    bool ok = group_rules_add_split(rules, section->title, key, words, count, err) ||
              err_context(err, "%s:%d", path, section->line);
    free(words);
    return ok;
}

static bool
add_section(struct group_rules *rules, const struct config_section *section, const char *path,
            struct err *err)
{
    if (section->name != NULL)
        return strcmp(section->name, "merge") == 0 ? add_merge(rules, section, path, err)
                                                   : add_split(rules, section, path, err);
    const struct config_entry *own = config_section_entry(section, "own");
    for (size_t i = 0; own != NULL && i < own->count; i++)
        group_rules_add_own(rules, own->values[i].text);
    const struct config_entry *writer = config_section_entry(section, "writer");
    for (size_t i = 0; writer != NULL && i < writer->count; i++)
        group_rules_add_writer(rules, writer->values[i].text);
    return true;
}

static bool
rules_file_parse(struct group_rules *rules, const char *path, const char *source, struct err *err)
{
    struct config_text text;
    if (!config_text_read(&text, &language, path, source, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < text.section_count; i++)
        ok = add_section(rules, &text.sections[i], path, err);
    config_text_release(&text);
    return ok;
}

static bool
read_path(const char *path, struct group_rules *rules, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return err_set(err, ERR_USAGE, "%s: group rules cannot be read: %s", path, strerror(errno));
    char *source = comments_read(file);
    bool ok = ferror(file) == 0
                  ? rules_file_parse(rules, path, source, err)
                  : err_set(err, ERR_USAGE, "%s: group rules cannot be read to their end", path);
    free(source);
    fclose(file);
    return ok;
}

bool
rules_file_read(const char *path, struct group_rules **rules, struct err *err)
{
    struct err local = {0};
    *rules = group_rules_create();
    bool ok = path == NULL || read_path(path, *rules, &local);
    if (ok && !group_rules_seal(*rules, &local)) {
        err_context(&local, "%s", path);
        ok = false;
    }
    if (ok)
        return true;
    group_rules_destroy(*rules);
    *rules = NULL;
    if (err != NULL)
        *err = local;
    return false;
}
