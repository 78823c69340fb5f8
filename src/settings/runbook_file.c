#include "settings/runbook_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "settings/comments.h"
#include "settings/config_text.h"

static const struct config_option cause_options[] = {{.name = "class", .kind = CONFIG_VALUE},
                                                     {.name = "category", .kind = CONFIG_VALUE},
                                                     {.name = "filter", .kind = CONFIG_VALUE},
                                                     {.name = "first", .kind = CONFIG_VALUE},
                                                     {.name = "link", .kind = CONFIG_VALUE}};
static const struct config_form cause_form = {.options = cause_options,
                                              .count = sizeof cause_options / sizeof *cause_options};
static const struct config_option top_options[] = {
    {.name = "cause", .kind = CONFIG_RETITLED, .inside = &cause_form}};
static const struct config_form top_form = {.options = top_options, .count = 1};

static void
runbook_file_say_unknown(const char *section, const char *name, struct err *err)
{
    config_say_unknown(section ? &cause_form : &top_form, name,
                       section ? "a cause has class, category, filter, first and link" : "there is cause",
                       err);
}

static const struct config_language language = {
    .what = "a runbook", .form = &top_form, .say_unknown = runbook_file_say_unknown};

// NULL: it has none, or an empty one.
static const char *
runbook_file_text(const struct config_section *section, const char *option)
{
    const char *text = config_section_value(section, option);
    return text && text[0] ? text : NULL;
}

static int
runbook_file_line(const struct config_section *section, const char *option)
{
    const struct config_entry *entry = option ? config_section_entry(section, option) : NULL;
    return entry && entry->count > 0 ? entry->values[0].line : section->line;
}

static bool
runbook_file_add(struct runbook *runbook, const char *path, const struct config_section *section,
                 struct err *err)
{
    struct err local = {0};
    const char *option = NULL;
    const struct runbook_match match = {.class_pattern = runbook_file_text(section, "class"),
                                        .category = runbook_file_text(section, "category"),
                                        .filter = runbook_file_text(section, "filter")};
    const struct advice advice = {.cause = section->title,
                                  .first = runbook_file_text(section, "first"),
                                  .link = runbook_file_text(section, "link"),
                                  .line = section->line};
    bool ok = section->title[0] ? runbook_add(runbook, &match, &advice, &option, &local)
                                : err_set(&local, ERR_USAGE, "a cause needs words");
    return ok || err_set(err, ERR_USAGE, "%s:%d: cause \"%s\": %s", path, runbook_file_line(section, option),
                         section->title, local.text);
}

static bool
runbook_file_parse(struct runbook *runbook, const char *path, const char *source, struct err *err)
{
    struct config_text text;
    if (!config_text_read(&text, &language, path, source, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < text.section_count; i++)
        if (text.sections[i].name)
            ok = runbook_file_add(runbook, path, &text.sections[i], err);
    config_text_release(&text);
    return ok;
}

bool
runbook_file_read(const char *path, struct runbook **runbook, struct err *err)
{
    *runbook = runbook_create();
    if (!path)
        return true;
    FILE *stream = fopen(path, "re");
    bool ok = stream != NULL;
    if (!ok) {
        err_set(err, ERR_USAGE, "%s: the runbook cannot be read: %s", path, strerror(errno));
    } else {
        char *source = comments_read(stream);
        ok =
            ferror(stream) == 0 || err_set(err, ERR_USAGE, "%s: the runbook cannot be read to its end", path);
        fclose(stream);
        ok = ok && runbook_file_parse(*runbook, path, source, err);
        free(source);
    }
    if (!ok) {
        runbook_destroy(*runbook);
        *runbook = NULL;
    }
    return ok;
}
