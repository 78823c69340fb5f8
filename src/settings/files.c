#include "settings/files.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "settings/comments.h"
#include "settings/config_text.h"
#include "settings/kafka_properties.h"
#include "base/strbuf.h"
#include "settings/values.h"

// --- the form of a configuration ---

static const struct config_form kafka_form = {.free_names = ""};

// First one row a setting, then the sections; a profile has no profiles in it.
static const struct config_option options[] = {
#define SETTING(part, id, type, ...)                                                                         \
    {.name = #id, .kind = SETTING_##type == SETTING_LINES ? CONFIG_LIST : CONFIG_VALUE},
#include "settings/settings.def"
#undef SETTING
    {.name = "kafka", .kind = CONFIG_SECTION, .inside = &kafka_form},
    {.name = "profile_default", .kind = CONFIG_VALUE},
    {.name = "profile",
     .kind = CONFIG_RETITLED,
     .inside = &(const struct config_form){.options = options,
                                           .count = SETTING_ID_COUNT + 1,
                                           .free_names = "kafka.",
                                           .takes_dashes = true}},
};
static const struct config_form top_form = {.options = options,
                                            .count = sizeof options / sizeof *options,
                                            .free_names = "kafka.",
                                            .takes_dashes = true};

static void
files_say_unknown(const char *section, const char *name, struct err *err)
{
    (void)section; // a profile takes what the whole file takes
    config_say_unknown(&top_form, name, "redrive config lists them", err);
}

static const struct config_language language = {
    .what = "a configuration", .form = &top_form, .say_unknown = files_say_unknown};

// --- what a file says ---

struct settings_reading {
    struct settings_files *files;
    const char *path;
};

static const char *
settings_files_keep(const struct settings_reading *reading, const char *text)
{
    return text == NULL ? NULL : arena_text(reading->files->arena, bytes_of(text));
}

static void
add_found(struct settings_reading *reading, struct settings_found found)
{
    struct settings_files *files = reading->files;
    found.file = reading->path;
    found.profile = settings_files_keep(reading, found.profile);
    found.name = settings_files_keep(reading, found.name);
    found.value = settings_files_keep(reading, found.value);
    files->found = alloc_grow(files->found, files->found_count, &files->found_capacity, sizeof *files->found);
    files->found[files->found_count++] = found;
}

static void
add_list(struct settings_reading *reading, struct settings_found found, const struct config_entry *entry)
{
    struct strbuf lines = {0};
    for (size_t i = 0; i < entry->count; i++)
        strbuf_printf(&lines, "%s%s", i > 0 ? "\n" : "", entry->values[i].text);
    found.value = entry->count > 0 ? strbuf_text(&lines) : NULL;
    add_found(reading, found);
    strbuf_release(&lines);
}

static void
collect_entry(struct settings_reading *reading, const struct config_section *section,
              const struct config_entry *entry)
{
    bool is_kafka = section->name != NULL && strcmp(section->name, "kafka") == 0;
    bool is_prefixed = strncmp(entry->name, "kafka.", 6) == 0;
    struct settings_found found = {.profile = section->title,
                                   .value = entry->count > 0 ? entry->values[0].text : NULL,
                                   .line = entry->count > 0 ? entry->values[entry->count - 1].line
                                                            : section->line};
    found.id = is_kafka ? -1 : setting_of_name(entry->name);
    if (is_kafka || is_prefixed) {
        found.name = is_prefixed ? entry->name + 6 : entry->name;
        add_found(reading, found);
    } else if (found.id < 0) {
        reading->files->profile_default = settings_files_keep(reading, found.value);
    } else if (setting_kind((enum setting_id)found.id) == SETTING_LINES) {
        add_list(reading, found, entry);
    } else {
        add_found(reading, found);
    }
}

// Kafka properties come last: kafka { bootstrap.servers = … } wins over brokers.
static void
collect_sections(struct settings_reading *reading, const struct config_text *text, bool is_kafka)
{
    for (size_t i = 0; i < text->section_count; i++) {
        const struct config_section *section = &text->sections[i];
        if ((section->name != NULL && strcmp(section->name, "kafka") == 0) != is_kafka)
            continue;
        // A profile without a line of its own can still be chosen.
        if (section->title != NULL && !is_kafka)
            add_found(reading,
                      (struct settings_found){.id = -1, .profile = section->title, .line = section->line});
        for (size_t k = 0; k < section->entry_count; k++)
            collect_entry(reading, section, &section->entries[k]);
    }
}

static bool
settings_files_parse(struct settings_reading *reading, const char *source, struct err *err)
{
    struct config_text text;
    if (!config_text_read(&text, &language, reading->path, source, err))
        return false;
    collect_sections(reading, &text, false);
    collect_sections(reading, &text, true);
    config_text_release(&text);
    return true;
}

static bool
check_trust(const struct settings_files *files, size_t from, const struct stat *status, struct err *err)
{
    if ((status->st_uid == 0 || status->st_uid == geteuid()) && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return true;
    for (size_t i = from; i < files->found_count; i++) {
        const struct settings_found *found = &files->found[i];
        bool is_property = found->id < 0 && found->name != NULL;
        if (is_property || found->id == SETTING_ID_checks)
            return err_set(err, ERR_USAGE,
                           "%s:%d: %s are only taken from a file that belongs to you or root and that nobody "
                           "else can write; chmod go-w it",
                           found->file, found->line, is_property ? "Kafka properties" : "checks");
    }
    return true;
}

// A secret that everybody may read is none.
static bool
check_secrets(const struct settings_files *files, size_t from, const struct stat *status, struct err *err)
{
    for (size_t i = from; i < files->found_count && (status->st_mode & S_IROTH) != 0; i++) {
        const struct settings_found *found = &files->found[i];
        char where[400];
        snprintf(where, sizeof where, "%s:%d", found->file, found->line);
        if (found->id < 0 && found->name != NULL && kafka_property_is_secret(found->name))
            return kafka_property_say_open(found->name, where, err);
    }
    return true;
}

static bool
read_stream(struct settings_files *files, FILE *stream, const char *path, struct err *err)
{
    struct stat status;
    if (fstat(fileno(stream), &status) != 0 || S_ISDIR(status.st_mode))
        return err_set(err, ERR_USAGE, "%s: the configuration is not a file", path);
    struct settings_reading reading = {.files = files, .path = arena_text(files->arena, bytes_of(path))};
    assert(files->path_count < sizeof files->paths / sizeof *files->paths);
    files->paths[files->path_count++] = reading.path;
    size_t before = files->found_count;
    char *source = comments_read(stream);
    bool ok = settings_files_parse(&reading, source, err) && check_trust(files, before, &status, err) &&
              check_secrets(files, before, &status, err);
    free(source);
    return ok;
}

bool
settings_files_read(struct settings_files *files, const char *path, bool is_named, struct err *err)
{
    FILE *stream = fopen(path, "re");
    if (stream == NULL && !is_named && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (stream == NULL)
        return err_set(err, ERR_USAGE, "%s: the configuration cannot be read: %s", path, strerror(errno));
    bool ok = read_stream(files, stream, path, err);
    fclose(stream);
    return ok;
}

void
settings_files_release(struct settings_files *files)
{
    free(files->found);
    *files = (struct settings_files){0};
}
