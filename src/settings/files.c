#include "settings/files.h"

#include <assert.h>
#include <confuse.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "settings/comments.h"
#include "settings/config_text.h"
#include "base/text.h"
#include "settings/values.h"

// A free name met in a file, with its line: libconfuse keeps no lines of options.
struct free_name {
    const void *section;
    const char *name;
    int line;
};

struct reading {
    struct settings_files *files;
    const char *path;
    struct free_name *names;
    size_t name_count, name_capacity;
};

static const char *
settings_files_keep(const struct reading *reading, const char *text)
{
    return arena_text(reading->files->arena, bytes_of(text));
}

static void
add_found(struct reading *reading, struct settings_found found)
{
    struct settings_files *files = reading->files;
    found.file = reading->path;
    files->found = alloc_grow(files->found, files->found_count, &files->found_capacity, sizeof *files->found);
    files->found[files->found_count++] = found;
}

static void
unknown_option(struct config_text *text, int line, const char *name)
{
    static const char *const sections[] = {"profile", "profile_default", "kafka"};
    const char *words[SETTING_ID_COUNT + 3];
    for (int i = 0; i < SETTING_ID_COUNT; i++)
        words[i] = setting_name((enum setting_id)i);
    memcpy(words + SETTING_ID_COUNT, sections, sizeof sections);
    const char *nearest = text_suggest(name, words, SETTING_ID_COUNT + 3);
    if (nearest != NULL)
        err_set(text->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; did you mean %s?", text->path, line,
                name, nearest);
    else
        err_set(text->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; redrive config lists them",
                text->path, line, name);
}

// libconfuse keeps no lines of options: for the free names of a section, their name is the news.
static void
meet_name(struct config_text *text, const cfg_t *section, const char *name, int line)
{
    struct reading *reading = text->reader;
    bool is_kafka = strcmp(section->name, "kafka") == 0 || strncmp(name, "kafka.", 6) == 0;
    if (!is_kafka) {
        unknown_option(text, line, name);
        return;
    }
    reading->names =
        alloc_grow(reading->names, reading->name_count, &reading->name_capacity, sizeof *reading->names);
    reading->names[reading->name_count++] =
        (struct free_name){.section = section, .name = settings_files_keep(reading, name), .line = line};
}

static const char *
joined_lines(const struct reading *reading, cfg_opt_t *opt)
{
    struct strbuf lines = {0};
    for (unsigned i = 0; i < cfg_opt_size(opt); i++) {
        if (i > 0)
            strbuf_add_char(&lines, '\n');
        strbuf_add_text(&lines, cfg_opt_getnstr(opt, i));
    }
    const char *text = settings_files_keep(reading, strbuf_text(&lines));
    strbuf_release(&lines);
    return text;
}

// Called by libconfuse after each value, while its line is still known.
static int
on_value(cfg_t *cfg, cfg_opt_t *opt)
{
    struct reading *reading = config_text_current()->reader;
    int id = setting_of_name(cfg_opt_name(opt));
    const char *value = cfg_opt_size(opt) == 0 ? NULL : cfg_opt_getnstr(opt, cfg_opt_size(opt) - 1);
    if (id >= 0 && setting_kind((enum setting_id)id) == SETTING_LINES)
        value = joined_lines(reading, opt);
    if (id < 0) {
        reading->files->profile_default = settings_files_keep(reading, value);
        return 0;
    }
    const char *title = cfg_title(cfg);
    add_found(reading, (struct settings_found){
                           .id = id,
                           .profile = title == NULL ? NULL : settings_files_keep(reading, title),
                           .value = value == NULL ? NULL : settings_files_keep(reading, value),
                           .line = cfg->line,
                       });
    return 0;
}

// Every name in both spellings, confirm_above and confirm-above, then what `tail` has.
static size_t
option_rows(cfg_opt_t *opts, char spelled[][64], size_t *spelled_count)
{
    size_t count = 0;
    for (int i = 0; i < SETTING_ID_COUNT; i++) {
        cfg_opt_t opt = setting_kind((enum setting_id)i) == SETTING_LINES
                            ? (cfg_opt_t)CFG_STR_LIST(setting_name((enum setting_id)i), NULL, CFGF_NODEFAULT)
                            : (cfg_opt_t)CFG_STR(setting_name((enum setting_id)i), NULL, CFGF_NODEFAULT);
        opt.validcb = on_value;
        opts[count++] = opt;
        if (strchr(setting_name((enum setting_id)i), '_') == NULL)
            continue;
        char *dashed = spelled[(*spelled_count)++];
        snprintf(dashed, 64, "%s", setting_name((enum setting_id)i));
        for (char *c = dashed; *c != '\0'; c++)
            *c = *c == '_' ? '-' : *c;
        opt.name = dashed;
        opts[count++] = opt;
    }
    return count;
}

static int
line_of(const struct reading *reading, const cfg_t *section, const char *name)
{
    for (size_t i = reading->name_count; i > 0; i--)
        if (reading->names[i - 1].section == section && strcmp(reading->names[i - 1].name, name) == 0)
            return reading->names[i - 1].line;
    return section->line;
}

// The options of a section that are no rows of ours: librdkafka properties, with or without "kafka." before
// them.
static void
collect_properties(struct reading *reading, cfg_t *section, const char *profile, bool is_kafka)
{
    for (unsigned i = 0; i < cfg_num(section); i++) {
        cfg_opt_t *opt = cfg_getnopt(section, i);
        const char *name = cfg_opt_name(opt);
        bool is_prefixed = strncmp(name, "kafka.", 6) == 0;
        if ((!is_kafka && !is_prefixed) || cfg_opt_size(opt) == 0)
            continue;
        add_found(reading, (struct settings_found){
                               .id = -1,
                               .profile = profile,
                               .name = settings_files_keep(reading, is_prefixed ? name + 6 : name),
                               .value = settings_files_keep(reading, cfg_opt_getnstr(opt, 0)),
                               .line = line_of(reading, section, name),
                           });
    }
}

static void
collect_section(struct reading *reading, cfg_t *section, const char *profile)
{
    collect_properties(reading, section, profile, false);
    for (unsigned i = 0; i < cfg_size(section, "kafka"); i++)
        collect_properties(reading, cfg_getnsec(section, "kafka", i), profile, true);
}

static void
collect_file(struct reading *reading, cfg_t *cfg)
{
    collect_section(reading, cfg, NULL);
    for (unsigned i = 0; i < cfg_size(cfg, "profile"); i++) {
        cfg_t *profile = cfg_getnsec(cfg, "profile", i);
        const char *title = settings_files_keep(reading, cfg_title(profile));
        // A profile without a line of its own still exists: it can be chosen.
        add_found(reading, (struct settings_found){.id = -1, .profile = title, .line = profile->line});
        collect_section(reading, profile, title);
    }
}

static bool
settings_files_parse(struct reading *reading, const char *source, struct err *err)
{
    cfg_opt_t free_names[] = {CFG_END()};
    cfg_opt_t in_profile[2 * SETTING_ID_COUNT + 2], at_top[2 * SETTING_ID_COUNT + 5];
    char spelled[SETTING_ID_COUNT][64], spelled_again[SETTING_ID_COUNT][64];
    size_t used = 0, used_again = 0;

    size_t count = option_rows(in_profile, spelled, &used);
    in_profile[count++] = (cfg_opt_t)CFG_SEC("kafka", free_names, CFGF_KEYSTRVAL);
    in_profile[count] = (cfg_opt_t)CFG_END();
    count = option_rows(at_top, spelled_again, &used_again);
    at_top[count++] = (cfg_opt_t)CFG_SEC("kafka", free_names, CFGF_KEYSTRVAL);
    at_top[count++] = (cfg_opt_t)CFG_SEC("profile", in_profile, CFGF_MULTI | CFGF_TITLE | CFGF_KEYSTRVAL);
    cfg_opt_t chosen = CFG_STR("profile_default", NULL, CFGF_NODEFAULT);
    chosen.validcb = on_value;
    at_top[count++] = chosen;
    at_top[count] = (cfg_opt_t)CFG_END();

    struct config_text text = {.path = reading->path,
                               .what = "a configuration",
                               .reader = reading,
                               .unknown = meet_name,
                               .err = err};
    cfg_t *cfg = config_text_parse(&text, at_top, CFGF_KEYSTRVAL, source);
    if (cfg == NULL)
        return false;
    collect_file(reading, cfg);
    cfg_free(cfg);
    return true;
}

static bool
check_trust(const struct settings_files *files, size_t from, const struct stat *status, struct err *err)
{
    if ((status->st_uid == 0 || status->st_uid == geteuid()) && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return true;
    for (size_t i = from; i < files->found_count; i++) {
        const struct settings_found *found = &files->found[i];
        if (found->id < 0 && found->name != NULL)
            return err_set(
                err, ERR_USAGE,
                "%s:%d: Kafka properties are only taken from a file that belongs to you or root and that "
                "nobody else can write; chmod go-w it",
                found->file, found->line);
    }
    return true;
}

static bool
read_stream(struct settings_files *files, FILE *stream, const char *path, struct err *err)
{
    struct stat status;
    if (fstat(fileno(stream), &status) != 0 || S_ISDIR(status.st_mode))
        return err_set(err, ERR_USAGE, "%s: the configuration is not a file", path);
    struct reading reading = {.files = files, .path = arena_text(files->arena, bytes_of(path))};
    assert(files->path_count < sizeof files->paths / sizeof *files->paths);
    files->paths[files->path_count++] = reading.path;
    size_t before = files->found_count;
    char *source = comments_read(stream);
    bool ok = settings_files_parse(&reading, source, err) && check_trust(files, before, &status, err);
    free(source);
    free(reading.names);
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
