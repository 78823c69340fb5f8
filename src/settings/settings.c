#include "settings/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/text.h"
#include "settings/conninfo.h"
#include "settings/folders.h"
#include "settings/kafka_properties.h"
#include "settings/values.h"
#include "settings/files.h"

static const char *
settings_keep(struct settings *settings, const char *text)
{
    return arena_text(&settings->arena, bytes_of(text));
}

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

static bool
read_files(struct settings *settings, struct settings_files *files, struct err *err)
{
    const char *own = arena_printf(&settings->arena, "%s/config", settings->config_home);
    const char *named = getenv("REDRIVE_CONFIG");
    bool ok = settings_files_read(files, "/etc/redrive/config", false, err) &&
              settings_files_read(files, own, false, err) &&
              (named == NULL || named[0] == '\0' || settings_files_read(files, named, true, err));
    settings->file_count = files->path_count;
    memcpy(settings->files, files->paths, sizeof files->paths);
    return ok;
}

// A section has the line of its end, so the first of its values says where it is.
static void
list_profiles(struct settings *settings, const struct settings_files *files)
{
    settings->profiles = arena_array(&settings->arena, files->found_count + 1, sizeof *settings->profiles);
    const struct settings_found **first = alloc_array(files->found_count + 1, sizeof *first);
    for (size_t i = 0; i < files->found_count; i++) {
        const struct settings_found *found = &files->found[i];
        size_t known = 0;
        while (found->profile && known < settings->profile_count &&
               strcmp(first[known]->profile, found->profile) != 0)
            known++;
        bool is_new = found->profile && known == settings->profile_count;
        if (is_new ||
            (found->profile && found->file == first[known]->file && found->line < first[known]->line))
            first[known] = found;
        settings->profile_count += is_new;
    }
    for (size_t i = 0; i < settings->profile_count; i++)
        settings->profiles[i] = (struct settings_profile){
            .name = settings_keep(settings, first[i]->profile),
            .where = arena_printf(&settings->arena, "%s:%d", first[i]->file, first[i]->line)};
    free(first);
}

static bool
choose_profile(struct settings *settings, const struct settings_files *files,
               const struct settings_request *request, struct err *err)
{
    list_profiles(settings, files);
    const char *where = "-P", *chosen = request->profile;
    if (chosen == NULL) {
        where = "REDRIVE_PROFILE";
        chosen = getenv("REDRIVE_PROFILE");
    }
    if (chosen == NULL || chosen[0] == '\0') {
        where = "profile_default";
        chosen = files->profile_default;
    }
    if (chosen == NULL || chosen[0] == '\0')
        return true;
    const char **known = alloc_array(settings->profile_count + 1, sizeof *known);
    size_t count = settings->profile_count;
    bool is_known = false;
    for (size_t i = 0; i < count; i++) {
        known[i] = settings->profiles[i].name;
        is_known = is_known || strcmp(known[i], chosen) == 0;
    }
    const char *nearest = is_known ? NULL : text_suggest(chosen, known, count);
    free(known);
    if (nearest != NULL)
        return err_set(err, ERR_USAGE, "%s: there is no profile \"%s\"; did you mean %s?", where, chosen,
                       nearest);
    if (!is_known)
        return err_set(err, ERR_USAGE,
                       "%s: there is no profile \"%s\"; write profile \"%s\" { … } into %s/config", where,
                       chosen, chosen, settings->config_home);
    settings->profile = settings_keep(settings, chosen);
    return true;
}

static void
put_property(struct settings *settings, struct kafka_property property)
{
    struct kafka_settings *kafka = &settings->kafka;
    size_t i = 0;
    while (i < kafka->property_count && strcmp(kafka->properties[i].name, property.name) != 0)
        i++;
    if (i == kafka->property_count) {
        struct kafka_property *grown = arena_array(&settings->arena, i + 1, sizeof *grown);
        if (i > 0)
            memcpy(grown, kafka->properties, i * sizeof *grown);
        kafka->properties = grown;
        kafka->property_count++;
    }
    kafka->properties[i] = property;
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
                                                   .source_place = settings_keep(settings, value),
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
        put_property(settings, (struct kafka_property){.name = settings_keep(settings, name),
                                                       .value = settings_keep(settings, value),
                                                       .origin = origin});
    return true;
}

// The values in the files: outside of profiles first (is_profile false), then the chosen profile.
static bool
apply_found(struct settings *settings, const struct settings_files *files, bool is_profile, struct err *err)
{
    for (size_t i = 0; i < files->found_count; i++) {
        const struct settings_found *found = &files->found[i];
        if ((found->profile != NULL) != is_profile || (found->id < 0 && found->name == NULL))
            continue;
        const char *where = arena_printf(&settings->arena, "%s:%d", found->file, found->line);
        enum settings_place place = is_profile ? PLACE_PROFILE : PLACE_FILE;
        bool is_chosen =
            !is_profile || (settings->profile != NULL && strcmp(found->profile, settings->profile) == 0);
        struct settings scratch = {0}; // other profiles are checked as well, and forgotten
        struct settings *into = is_chosen ? settings : &scratch;
        if (is_profile && is_chosen && found->id >= 0)
            settings->in_profile[found->id] = true;
        bool ok = found->id < 0 ? set_property(into, found->name, found->value, place, where, err)
                                : assign(into, (enum setting_id)found->id, found->value, place, where, err);
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
        if (!assign(settings, (enum setting_id)i, value, PLACE_ENVIRONMENT, settings_keep(settings, variable),
                    err))
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
    bool is_open = (status.st_mode & S_IROTH) != 0;
    char *line = NULL;
    size_t room = 0;
    for (int no = 1; ok && getline(&line, &room, stream) >= 0; no++) {
        struct bytes text = bytes_trim(bytes_of(line));
        if (text.len == 0 || text.data[0] == '#')
            continue;
        const char *where = arena_printf(&settings->arena, "%s:%d", path, no);
        const char *pair = arena_text(&settings->arena, text);
        ok = apply_pair(settings, pair, where, false, err);
        pair = arena_text(&settings->arena, bytes_trim((struct bytes){pair, strcspn(pair, "=")}));
        if (ok && is_open && kafka_property_is_secret(pair))
            ok = kafka_property_say_open(pair, where, err);
    }
    free(line);
    fclose(stream);
    return ok;
}

static bool
apply_options(struct settings *settings, const struct settings_request *request, struct err *err)
{
    settings->kafka.files = arena_array(&settings->arena, request->kafka_file_count + 1, sizeof(char *));
    for (size_t i = 0; i < request->kafka_file_count; i++) {
        char *path = realpath(request->kafka_files[i], NULL);
        if (!apply_properties_file(settings, request->kafka_files[i], err)) {
            free(path);
            return false;
        }
        settings->kafka.files[settings->kafka.file_count++] =
            settings_keep(settings, path ? path : request->kafka_files[i]);
        free(path);
    }
    for (size_t i = 0; i < request->kafka_count; i++)
        if (!apply_pair(settings, request->kafka[i], "-X", true, err))
            return false;
    for (size_t i = 0; i < request->option_count; i++) {
        const struct settings_option *option = &request->options[i];
        if (!assign(settings, option->id, option->value, PLACE_OPTION,
                    settings_keep(settings, option->option), err))
            return false;
    }
    settings->connection.no_password = request->no_password;
    settings->connection.ask_password = request->ask_password;
    return true;
}

// --- what follows from the values ---

static void
derive_conninfo(struct settings *settings, const char *password)
{
    struct connection_settings *connection = &settings->connection;
    struct conninfo_parts parts = {.database = connection->database,
                                   .service = connection->service,
                                   .host = connection->host,
                                   .port = connection->port,
                                   .user = connection->user,
                                   .password = password};
    struct strbuf text = {0};
    conninfo_print(&parts, &text);
    connection->conninfo = settings_keep(settings, strbuf_text(&text));
    connection->read_conninfo = connection->conninfo;
    if (connection->read_service != NULL) {
        bool is_name = connection->database != NULL && strpbrk(connection->database, "=:") == NULL;
        parts = (struct conninfo_parts){.database = is_name ? connection->database : NULL,
                                        .service = connection->read_service,
                                        .user = connection->user,
                                        .password = password};
        strbuf_reset(&text);
        conninfo_print(&parts, &text);
        connection->read_conninfo = settings_keep(settings, strbuf_text(&text));
    }
    if (password != NULL)
        explicit_bzero(text.data, text.len);
    strbuf_release(&text);
}

bool
settings_read_secrets(struct settings *settings, struct err *err)
{
    for (size_t i = 0; i < settings->kafka.property_count; i++) {
        struct kafka_property *property = &settings->kafka.properties[i];
        if (property->value != NULL)
            continue;
        struct strbuf secret = {0};
        bool ok = secret_read(property->source, property->source_place, &secret, err) ||
                  err_context(err, "%s: kafka.%s.%s", property->origin.where, property->name,
                              secret_source_word(property->source));
        if (ok)
            property->value = settings_keep(settings, strbuf_text(&secret));
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

// A file `rules` in the configuration folder applies without being named.
// A file of that name in the configuration folder, where no setting names one.
static void
find_file(struct settings *settings, enum setting_id id, const char *name, const char **path)
{
    const char *own = arena_printf(&settings->arena, "%s/%s", settings->config_home, name);
    if (*path != NULL || access(own, F_OK) != 0)
        return;
    *path = own;
    settings->origins[id] = (struct settings_origin){.place = PLACE_FILE, .where = own};
}

bool
setting_connects(enum setting_id id)
{
    static const bool connects[SETTING_ID_COUNT] = {
        [SETTING_ID_database] = true,     [SETTING_ID_service] = true, [SETTING_ID_host] = true,
        [SETTING_ID_port] = true,         [SETTING_ID_user] = true,    [SETTING_ID_brokers] = true,
        [SETTING_ID_read_service] = true, [SETTING_ID_table] = true,   [SETTING_ID_zone] = true,
    };
    return connects[id];
}

// What an operator tells two environments apart by, and what keeps the hands off one.
static bool
tells_apart(enum setting_id id)
{
    return setting_connects(id) || id == SETTING_ID_label || id == SETTING_ID_protect ||
           id == SETTING_ID_read_only;
}

bool
settings_check_profile(const struct settings *settings, struct err *err)
{
    for (int i = 0; i < SETTING_ID_COUNT; i++)
        if (settings->in_profile[i] && tells_apart((enum setting_id)i) &&
            settings->origins[i].place == PLACE_ENVIRONMENT)
            return err_set(err, ERR_USAGE, "%s wins over its %s: unset it, start again",
                           settings->origins[i].where, setting_name((enum setting_id)i));
    return true;
}

// The environment has the profile's name where nobody gave it another one.
static void
name_environment(struct settings *settings)
{
    if (settings->decision.label || !settings->profile)
        return;
    settings->decision.label = settings->profile;
    settings->origins[SETTING_ID_label] =
        (struct settings_origin){.place = PLACE_PROFILE, .where = "name of the profile"};
}

bool
settings_load(struct settings *settings, const struct settings_request *request, struct err *err)
{
    *settings = (struct settings){0};
    settings->config_home = folder_of_user(&settings->arena, "XDG_CONFIG_HOME", ".config");
    settings->state_home = folder_of_user(&settings->arena, "XDG_STATE_HOME", ".local/state");

    struct settings_files files = {.arena = &settings->arena};
    bool ok = apply_built_in(settings, err) && read_files(settings, &files, err) &&
              choose_profile(settings, &files, request, err) && apply_found(settings, &files, false, err) &&
              apply_found(settings, &files, true, err) && apply_environment(settings, err) &&
              apply_options(settings, request, err);
    settings_files_release(&files);
    if (!ok)
        return false;
    find_file(settings, SETTING_ID_rules, "rules", &settings->grouping.rules);
    find_file(settings, SETTING_ID_runbook, "runbook", &settings->grouping.runbook);
    find_file(settings, SETTING_ID_alerts, "alerts", &settings->watch.alerts);
    find_file(settings, SETTING_ID_policies, "policies", &settings->watch.policies);
    name_environment(settings);
    derive_conninfo(settings, NULL);
    return true;
}

void
settings_release(struct settings *settings)
{
    arena_release(&settings->arena);
    *settings = (struct settings){0};
}
