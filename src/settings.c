#include "settings.h"

#include <confuse.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/comments.h"
#include "base/text.h"
#include "conninfo.h"
#include "folders.h"
#include "kafka_properties.h"
#include "setting_values.h"

static const char *
keep(struct settings *settings, const char *text)
{
    return arena_text(&settings->arena, bytes_of(text));
}

// One value found in a file, kept until it is known which profile counts.
struct found {
    int id;              // of a row; -1: a Kafka property
    const char *profile; // NULL: outside of profiles
    const char *name;    // of a Kafka property
    const char *value;   // NULL: an emptied list
    const char *file;
    int line;
};

// A free name met in a file, with its line: libconfuse keeps no lines of options.
struct free_name {
    const void *section;
    const char *name;
    int line;
};

struct reading {
    struct settings *settings;
    struct found *found;
    size_t found_count, found_capacity;
    struct free_name *names;
    size_t name_count, name_capacity;
    const char *file;
    bool is_trusted; // the file belongs to us or to root, and nobody else can write to it
    const char *profile_default;
    struct err *err;
};

// libconfuse hands no context to its callbacks; set only while cfg_parse runs.
static struct reading *current;

static bool
assign(struct settings *settings, enum setting_id id, const char *value, enum settings_place place,
       const char *where, struct err *err)
{
    if (!setting_set(settings, id, value, where, err))
        return false;
    settings->origins[id] = (struct settings_origin){.place = place, .where = where};
    return true;
}

// --- files ---

static void
add_found(struct reading *reading, struct found found)
{
    reading->found =
        alloc_grow(reading->found, reading->found_count, &reading->found_capacity, sizeof *reading->found);
    reading->found[reading->found_count++] = found;
}

static void
unknown_option(struct reading *reading, int line, const char *name)
{
    static const char *const sections[] = {"profile", "profile_default", "kafka"};
    const char *words[SETTING_ID_COUNT + 3];
    for (int i = 0; i < SETTING_ID_COUNT; i++)
        words[i] = setting_name((enum setting_id)i);
    memcpy(words + SETTING_ID_COUNT, sections, sizeof sections);
    const char *nearest = text_suggest(name, words, SETTING_ID_COUNT + 3);
    if (nearest != NULL)
        err_set(reading->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; did you mean %s?", reading->file,
                line, name, nearest);
    else
        err_set(reading->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; redrive config lists them",
                reading->file, line, name);
}

// libconfuse also calls this for the free names of a section that takes them, although parsing goes on: there
// the name is the news. Everything else is an error.
__attribute__((format(printf, 2, 0))) static void
on_error(cfg_t *cfg, const char *format, va_list args)
{
    struct reading *reading = current;
    char text[300];
    vsnprintf(text, sizeof text, format, args);
    char *name = strchr(text, '\'');
    if (strncmp(text, "no such option", 14) != 0 || name == NULL) {
        bool is_cut = strcmp(text, "premature end of file") == 0;
        err_set(reading->err, ERR_USAGE, "%s:%d: %s", reading->file, cfg->line,
                is_cut ? "the file ends within an option: a value, a closing quote or a } is missing" : text);
        return;
    }
    name++;
    name[strcspn(name, "'")] = '\0';
    bool is_kafka = strcmp(cfg_name(cfg), "kafka") == 0 || strncmp(name, "kafka.", 6) == 0;
    if (!is_kafka) {
        unknown_option(reading, cfg->line, name);
        return;
    }
    reading->names =
        alloc_grow(reading->names, reading->name_count, &reading->name_capacity, sizeof *reading->names);
    reading->names[reading->name_count++] =
        (struct free_name){.section = cfg, .name = keep(reading->settings, name), .line = cfg->line};
}

static const char *
joined_lines(struct settings *settings, cfg_opt_t *opt)
{
    struct strbuf lines = {0};
    for (unsigned i = 0; i < cfg_opt_size(opt); i++) {
        if (i > 0)
            strbuf_add_char(&lines, '\n');
        strbuf_add_text(&lines, cfg_opt_getnstr(opt, i));
    }
    const char *text = keep(settings, strbuf_text(&lines));
    strbuf_release(&lines);
    return text;
}

// Called by libconfuse after each value, while its line is still known.
static int
on_value(cfg_t *cfg, cfg_opt_t *opt)
{
    struct reading *reading = current;
    int id = setting_of_name(cfg_opt_name(opt));
    const char *value = cfg_opt_size(opt) == 0 ? NULL : cfg_opt_getnstr(opt, cfg_opt_size(opt) - 1);
    if (id >= 0 && setting_kind((enum setting_id)id) == SETTING_LINES)
        value = joined_lines(reading->settings, opt);
    if (id < 0) {
        reading->profile_default = keep(reading->settings, value);
        return 0;
    }
    const char *title = cfg_title(cfg);
    add_found(reading, (struct found){
                           .id = id,
                           .profile = title == NULL ? NULL : keep(reading->settings, title),
                           .value = value == NULL ? NULL : keep(reading->settings, value),
                           .file = reading->file,
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
        add_found(reading, (struct found){
                               .id = -1,
                               .profile = profile,
                               .name = keep(reading->settings, is_prefixed ? name + 6 : name),
                               .value = keep(reading->settings, cfg_opt_getnstr(opt, 0)),
                               .file = reading->file,
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
        const char *title = keep(reading->settings, cfg_title(profile));
        // A profile without a line of its own still exists: it can be chosen.
        add_found(reading,
                  (struct found){.id = -1, .profile = title, .file = reading->file, .line = profile->line});
        collect_section(reading, profile, title);
    }
}

static cfg_t *
make_parser(cfg_opt_t *opts, const char *file)
{
    cfg_t *cfg = cfg_init(opts, CFGF_KEYSTRVAL);
    if (cfg != NULL) {
        cfg->filename = strdup(file);
        cfg_set_error_function(cfg, on_error);
        return cfg;
    }
    die("out of memory while reading %s", file);
}

static bool
parse_stream(struct reading *reading, FILE *stream)
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

    cfg_t *cfg = make_parser(at_top, reading->file);
    current = reading;
    bool is_parsed = cfg_parse_fp(cfg, stream) == CFG_SUCCESS;
    current = NULL;
    if (is_parsed && !err_is_set(reading->err))
        collect_file(reading, cfg);
    cfg_free(cfg);
    if (!is_parsed && !err_is_set(reading->err))
        return err_set(reading->err, ERR_USAGE, "%s: it cannot be read as a configuration", reading->file);
    return !err_is_set(reading->err);
}

static bool
parse_file(struct reading *reading, FILE *file)
{
    char *text = comments_read(file);
    bool ok = true;
    if (text[0] != '\0') { // fmemopen refuses an empty text
        FILE *stream = fmemopen(text, strlen(text), "r");
        ok = stream != NULL ? parse_stream(reading, stream)
                            : err_set(reading->err, ERR_INTERNAL, "%s: %s", reading->file, strerror(errno));
        if (stream != NULL)
            fclose(stream);
    }
    free(text);
    return ok;
}

static bool
check_trust(const struct reading *reading, size_t from)
{
    for (size_t i = from; i < reading->found_count && !reading->is_trusted; i++) {
        const struct found *found = &reading->found[i];
        if (found->id < 0 && found->name != NULL)
            return err_set(
                reading->err, ERR_USAGE,
                "%s:%d: Kafka properties are only taken from a file that belongs to you or root and that "
                "nobody else can write; chmod go-w it",
                found->file, found->line);
    }
    return true;
}

// Missing files are fine unless `is_named`.
static bool
read_file(struct reading *reading, const char *path, bool is_named)
{
    struct settings *settings = reading->settings;
    FILE *stream = fopen(path, "re");
    if (stream == NULL && !is_named && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (stream == NULL)
        return err_set(reading->err, ERR_USAGE, "%s: the configuration cannot be read: %s", path,
                       strerror(errno));
    struct stat status;
    if (fstat(fileno(stream), &status) != 0 || S_ISDIR(status.st_mode)) {
        fclose(stream);
        return err_set(reading->err, ERR_USAGE, "%s: the configuration is not a file", path);
    }
    reading->file = keep(settings, path);
    reading->is_trusted =
        (status.st_uid == 0 || status.st_uid == geteuid()) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    settings->files[settings->file_count++] = reading->file;
    size_t before = reading->found_count;
    bool ok = parse_file(reading, stream);
    fclose(stream);
    return ok && check_trust(reading, before);
}

static bool
read_files(struct reading *reading)
{
    struct settings *settings = reading->settings;
    const char *named = getenv("REDRIVE_CONFIG");
    return read_file(reading, "/etc/redrive/config", false) &&
           read_file(reading, arena_printf(&settings->arena, "%s/config", settings->config_home), false) &&
           (named == NULL || named[0] == '\0' || read_file(reading, named, true));
}

static bool
choose_profile(struct reading *reading, const struct settings_request *request)
{
    struct settings *settings = reading->settings;
    const char *where = "-P", *chosen = request->profile;
    if (chosen == NULL) {
        where = "REDRIVE_PROFILE";
        chosen = getenv("REDRIVE_PROFILE");
    }
    if (chosen == NULL || chosen[0] == '\0') {
        where = "profile_default";
        chosen = reading->profile_default;
    }
    if (chosen == NULL || chosen[0] == '\0')
        return true;
    const char **known = alloc_array(reading->found_count + 1, sizeof *known);
    size_t count = 0;
    for (size_t i = 0; i < reading->found_count; i++)
        if (reading->found[i].profile != NULL)
            known[count++] = reading->found[i].profile;
    bool is_known = false;
    for (size_t i = 0; i < count; i++)
        is_known = is_known || strcmp(known[i], chosen) == 0;
    const char *nearest = is_known ? NULL : text_suggest(chosen, known, count);
    free(known);
    if (nearest != NULL)
        return err_set(reading->err, ERR_USAGE, "%s: there is no profile \"%s\"; did you mean %s?", where,
                       chosen, nearest);
    if (!is_known)
        return err_set(reading->err, ERR_USAGE,
                       "%s: there is no profile \"%s\"; write profile \"%s\" { … } into %s/config", where,
                       chosen, chosen, settings->config_home);
    settings->profile = keep(settings, chosen);
    return true;
}

static void
put_property(struct settings *settings, struct kafka_property property)
{
    size_t i = 0;
    while (i < settings->kafka_count && strcmp(settings->kafka[i].name, property.name) != 0)
        i++;
    if (i == settings->kafka_count) {
        struct kafka_property *grown = arena_array(&settings->arena, i + 1, sizeof *grown);
        if (i > 0)
            memcpy(grown, settings->kafka, i * sizeof *grown);
        settings->kafka = grown;
        settings->kafka_count++;
    }
    settings->kafka[i] = property;
}

// A secret may be kept elsewhere: sasl.password.file, .env, .command; its place is no secret.
static bool
put_source(struct settings *settings, const char *name, const char *value, struct settings_origin origin)
{
    size_t len;
    enum secret_source source = secret_source_of(name, &len);
    const char *secret = arena_text(&settings->arena, (struct bytes){name, len});
    if (source == SECRET_NONE || !kafka_property_is_secret(secret))
        return false;
    put_property(settings, (struct kafka_property){.name = secret,
                                                   .source = source,
                                                   .source_place = keep(settings, value),
                                                   .origin = origin});
    return true;
}

static bool
set_property(struct settings *settings, const char *name, const char *value, enum settings_place place,
             const char *where, struct err *err)
{
    if (!kafka_property_check(name, where, err))
        return false;
    if (strcmp(name, "bootstrap.servers") == 0 || strcmp(name, "metadata.broker.list") == 0)
        return assign(settings, SETTING_ID_brokers, value, place, where, err);
    struct settings_origin origin = {.place = place, .where = where};
    if (!put_source(settings, name, value, origin))
        put_property(settings, (struct kafka_property){.name = keep(settings, name),
                                                       .value = keep(settings, value),
                                                       .origin = origin});
    return true;
}

// What the files said: outside of profiles first (is_profile false), then the chosen profile.
static bool
apply_found(struct reading *reading, bool is_profile)
{
    struct settings *settings = reading->settings;
    for (size_t i = 0; i < reading->found_count; i++) {
        const struct found *found = &reading->found[i];
        if ((found->profile != NULL) != is_profile || (found->id < 0 && found->name == NULL))
            continue;
        const char *where = arena_printf(&settings->arena, "%s:%d", found->file, found->line);
        enum settings_place place = is_profile ? PLACE_PROFILE : PLACE_FILE;
        bool is_chosen =
            !is_profile || (settings->profile != NULL && strcmp(found->profile, settings->profile) == 0);
        struct settings scratch = {0}; // other profiles are checked as well, and forgotten
        struct settings *into = is_chosen ? settings : &scratch;
        bool ok = found->id < 0
                      ? set_property(into, found->name, found->value, place, where, reading->err)
                      : assign(into, (enum setting_id)found->id, found->value, place, where, reading->err);
        arena_release(&scratch.arena);
        if (!ok)
            return false;
    }
    return true;
}

// --- environment, options, built-in values ---

static bool
apply_built_in(struct settings *settings, struct err *err)
{
    for (int i = 0; i < SETTING_ID_COUNT; i++) {
        settings->origins[i] = (struct settings_origin){.place = PLACE_BUILT_IN, .where = "built in"};
        if (setting_built_in((enum setting_id)i) != NULL &&
            !setting_set(settings, (enum setting_id)i, setting_built_in((enum setting_id)i), "built in", err))
            return false;
    }
    return true;
}

static bool
apply_environment(struct settings *settings, struct err *err)
{
    for (int i = 0; i < SETTING_ID_COUNT; i++) {
        char variable[64];
        int len = snprintf(variable, sizeof variable, "REDRIVE_%s", setting_name((enum setting_id)i));
        for (int c = 0; c < len; c++)
            variable[c] = (char)toupper((unsigned char)variable[c]);
        const char *value = getenv(variable);
        if (value == NULL || value[0] == '\0')
            continue;
        if (!assign(settings, (enum setting_id)i, value, PLACE_ENVIRONMENT, keep(settings, variable), err))
            return false;
    }
    return true;
}

static bool
apply_pair(struct settings *settings, const char *pair, const char *where, bool is_argument, struct err *err)
{
    const char *equals = strchr(pair, '=');
    if (equals == NULL)
        return err_set(err, ERR_USAGE, "%s: a Kafka property is written name=value, not \"%s\"", where, pair);
    struct bytes name = bytes_trim((struct bytes){pair, (size_t)(equals - pair)});
    struct bytes value = bytes_trim(bytes_of(equals + 1));
    const char *word = arena_text(&settings->arena, name);
    if (is_argument && kafka_property_is_secret(word))
        return err_set(
            err, ERR_USAGE,
            "%s: %s is a secret, which others can read in the process list; write it into a file and give "
            "-X %s.file=FILE",
            where, word, word);
    return set_property(settings, word, arena_text(&settings->arena, value), PLACE_OPTION, where, err);
}

// librdkafka's own form, as kcat -F reads it: name=value, # comments.
static bool
apply_properties_file(struct settings *settings, const char *path, struct err *err)
{
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return err_set(err, ERR_USAGE, "-F %s: the file cannot be read: %s", path, strerror(errno));
    struct stat status;
    bool ok = true;
    if (fstat(fileno(stream), &status) != 0 || (status.st_uid != 0 && status.st_uid != geteuid()) ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        ok = err_set(
            err, ERR_USAGE,
            "-F %s: Kafka properties are only taken from a file that belongs to you or root and that nobody "
            "else can write; chmod go-w it",
            path);
    char *line = NULL;
    size_t room = 0;
    for (int no = 1; ok && getline(&line, &room, stream) >= 0; no++) {
        struct bytes text = bytes_trim(bytes_of(line));
        if (text.len == 0 || text.data[0] == '#')
            continue;
        const char *where = arena_printf(&settings->arena, "%s:%d", path, no);
        ok = apply_pair(settings, arena_text(&settings->arena, text), where, false, err);
    }
    free(line);
    fclose(stream);
    return ok;
}

static bool
apply_options(struct settings *settings, const struct settings_request *request, struct err *err)
{
    settings->kafka_files = arena_array(&settings->arena, request->kafka_file_count + 1, sizeof(char *));
    for (size_t i = 0; i < request->kafka_file_count; i++) {
        char *path = realpath(request->kafka_files[i], NULL);
        if (!apply_properties_file(settings, request->kafka_files[i], err)) {
            free(path);
            return false;
        }
        settings->kafka_files[settings->kafka_file_count++] =
            keep(settings, path ? path : request->kafka_files[i]);
        free(path);
    }
    for (size_t i = 0; i < request->kafka_count; i++)
        if (!apply_pair(settings, request->kafka[i], "-X", true, err))
            return false;
    for (size_t i = 0; i < request->option_count; i++) {
        const struct settings_option *option = &request->options[i];
        if (!assign(settings, option->id, option->value, PLACE_OPTION, keep(settings, option->option), err))
            return false;
    }
    settings->no_password = request->no_password;
    settings->ask_password = request->ask_password;
    return true;
}

// --- what follows from the values ---

static void
derive_conninfo(struct settings *settings, const char *password)
{
    struct conninfo_parts parts = {.database = settings->database,
                                   .service = settings->service,
                                   .host = settings->host,
                                   .port = settings->port,
                                   .user = settings->user,
                                   .password = password};
    struct strbuf text = {0};
    conninfo_print(&parts, &text);
    settings->conninfo = keep(settings, strbuf_text(&text));
    settings->read_conninfo = settings->conninfo;
    if (settings->read_service != NULL) {
        bool is_name = settings->database != NULL && strpbrk(settings->database, "=:") == NULL;
        parts = (struct conninfo_parts){.database = is_name ? settings->database : NULL,
                                        .service = settings->read_service,
                                        .user = settings->user,
                                        .password = password};
        strbuf_reset(&text);
        conninfo_print(&parts, &text);
        settings->read_conninfo = keep(settings, strbuf_text(&text));
    }
    if (password != NULL)
        explicit_bzero(text.data, text.len);
    strbuf_release(&text);
}

bool
settings_read_secrets(struct settings *settings, struct err *err)
{
    for (size_t i = 0; i < settings->kafka_count; i++) {
        struct kafka_property *property = &settings->kafka[i];
        if (property->value != NULL)
            continue;
        struct strbuf secret = {0};
        bool ok = secret_read(property->source, property->source_place, &secret, err) ||
                  err_context(err, "%s: kafka.%s.%s", property->origin.where, property->name,
                              secret_source_word(property->source));
        if (ok)
            property->value = keep(settings, strbuf_text(&secret));
        if (secret.len > 0)
            explicit_bzero(secret.data, secret.len);
        strbuf_release(&secret);
        if (!ok)
            return false;
    }
    return true;
}

void
settings_set_password(struct settings *settings, const char *password)
{
    derive_conninfo(settings, password);
}

// What lies in the configuration folder holds for everybody who uses it, without being named.
static void
find_rules(struct settings *settings)
{
    const char *path = arena_printf(&settings->arena, "%s/rules", settings->config_home);
    if (settings->rules != NULL || access(path, F_OK) != 0)
        return;
    settings->rules = path;
    settings->origins[SETTING_ID_rules] = (struct settings_origin){.place = PLACE_FILE, .where = path};
}

bool
settings_load(struct settings *settings, const struct settings_request *request, struct err *err)
{
    *settings = (struct settings){0};
    settings->config_home = folder_of_user(&settings->arena, "XDG_CONFIG_HOME", ".config");
    settings->state_home = folder_of_user(&settings->arena, "XDG_STATE_HOME", ".local/state");

    struct reading reading = {.settings = settings, .err = err};
    bool ok = apply_built_in(settings, err) && read_files(&reading) && choose_profile(&reading, request) &&
              apply_found(&reading, false) && apply_found(&reading, true) &&
              apply_environment(settings, err) && apply_options(settings, request, err);
    free(reading.found);
    free(reading.names);
    if (!ok)
        return false;
    find_rules(settings);
    derive_conninfo(settings, NULL);
    return true;
}

void
settings_release(struct settings *settings)
{
    arena_release(&settings->arena);
    *settings = (struct settings){0};
}
