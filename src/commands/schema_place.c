#include "commands/schema_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/base64.h"
#include "base/log.h"
#include "core/envelope/members.h"
#include "core/json/json.h"
#include "http/client.h"
#include "settings/secret.h"

enum {
    FILES_MOST = 1000,
    ANSWER_MOST = 4 << 20, // of the registry: a schema's text, escaped
    ASK_MS = 5000,
    REFERENCES_MOST = 64, // of one schema, and of those that it refers to
};

struct schema_place {
    struct schema_source source;
    const char *folder; // NULL: none
    char *told;         // of the folder: what went wrong when it was read last
    // Of the registry:
    const char *url, *user, *ca;
    struct strbuf password;
};

// --- files ---

static bool
read_file(int folder, const char *name, struct arena *arena, struct bytes *text, struct err *err)
{
    struct stat status;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
              status.st_size <= SCHEMA_TEXT_MOST;
    if (ok) {
        char *data = arena_alloc(arena, (size_t)status.st_size);
        ok = read(fd, data, (size_t)status.st_size) == status.st_size;
        *text = (struct bytes){data, (size_t)status.st_size};
    }
    if (fd >= 0)
        close(fd);
    return ok || err_set(err, ERR_DATA, "it is no file of 1 byte to 1 MB that can be read");
}

// The language that a file's name says; *stem: its length without that.
static bool
language_of_file(const char *name, enum schema_language *language, size_t *stem)
{
    static const char *const endings[SCHEMA_LANGUAGES] = {
        [SCHEMA_AVRO] = ".avsc", [SCHEMA_PROTOBUF] = ".desc", [SCHEMA_JSON] = ".json"};
    for (size_t i = 0; i < SCHEMA_LANGUAGES; i++) {
        size_t len = strlen(name), ending = strlen(endings[i]);
        if (len > ending && strcmp(name + len - ending, endings[i]) == 0) {
            *language = (enum schema_language)i;
            *stem = len - ending;
            return true;
        }
    }
    return false;
}

// Reads it as a schema too, so that what is kept can be used.
static bool
take_file(int folder, const char *name, struct arena *arena, struct kept_schema *schema, struct err *err)
{
    size_t stem = 0;
    struct bytes *text = arena_array(arena, 1, sizeof *text);
    struct arena scratch = {0};
    *schema = (struct kept_schema){.texts = text, .text_count = 1};
    bool ok = language_of_file(name, &schema->language, &stem) && read_file(folder, name, arena, text, err) &&
              schema_read(schema->language, text, 1, &scratch, err) != NULL;
    schema->name = arena_text(arena, (struct bytes){name, stem});
    schema->origin = arena_printf(arena, "the file %s", name);
    arena_release(&scratch);
    return ok;
}

// Once for the same trouble.
static void
tell_file(struct schema_place *place, const char *name, const char *why)
{
    struct strbuf line = {0};
    strbuf_printf(&line, "%s: %s", name, why);
    if (!place->told || strcmp(place->told, strbuf_text(&line)) != 0)
        log_line(LOG_WARN, "a schema's file is left out", LOG_TEXT("file", name), LOG_TEXT("why", why));
    free(place->told);
    place->told = strbuf_detach(&line);
}

static void
list_files(void *context, struct arena *arena, struct kept_schema **schemas, size_t *count)
{
    struct schema_place *place = context;
    *schemas = arena_array(arena, FILES_MOST, sizeof **schemas);
    *count = 0;
    DIR *folder = opendir(place->folder);
    if (!folder) {
        tell_file(place, place->folder, "the folder cannot be read");
        return;
    }
    for (struct dirent *entry; *count < FILES_MOST && (entry = readdir(folder));) {
        struct err err = {0};
        enum schema_language language;
        size_t stem;
        if (!language_of_file(entry->d_name, &language, &stem))
            continue;
        if (take_file(dirfd(folder), entry->d_name, arena, &(*schemas)[*count], &err))
            (*count)++;
        else
            tell_file(place, entry->d_name, err.text);
    }
    closedir(folder);
}

// --- registry ---

// A schema that is being asked for, with all that it refers to.
struct asking {
    const struct schema_place *place;
    bool (*is_wanted)(void *wanted);
    void *wanted;
    struct arena *arena;
    struct bytes texts[REFERENCES_MOST]; // what is referred to first
    const char *seen[REFERENCES_MOST];   // subject and version of each that was asked for
    size_t text_count, seen_count;
    enum schema_language language;
};

static bool
get_json(const struct asking *asking, const char *path, struct members *answer, struct err *err)
{
    struct strbuf out = {0};
    const struct http_get get = {.url = arena_printf(asking->arena, "%s%s", asking->place->url, path),
                                 .user = asking->place->user,
                                 .password = strbuf_text(&asking->place->password),
                                 .ca = asking->place->ca,
                                 .most = ANSWER_MOST,
                                 .limit_ms = ASK_MS,
                                 .is_wanted = asking->is_wanted,
                                 .context = asking->wanted};
    bool ok = http_client_get(&get, &out, err);
    struct bytes text = arena_copy(asking->arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return ok && ((json_check(text, NULL) && members_read(text, asking->arena, answer)) ||
                  err_set(err, ERR_DATA, "the schema registry answers with something else than a schema"));
}

static bool take_answer(struct asking *asking, const struct members *answer, const char *format, int depth,
                        struct err *err);

// A name in a path of the registry.
static const char *
escaped(struct bytes text, struct arena *arena)
{
    struct strbuf out = {0};
    for (size_t i = 0; i < text.len; i++)
        strbuf_printf(&out, "%%%02X", (unsigned)(unsigned char)text.data[i]);
    const char *copy = arena_text(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return copy;
}

static bool
ask_reference(struct asking *asking, struct bytes reference, const char *format, int depth, struct err *err)
{
    struct members members, answer;
    struct bytes subject = BYTES_ABSENT, version = BYTES_ABSENT;
    if (members_read(reference, asking->arena, &members)) {
        subject = member_text(members_find(&members, BYTES("subject")), asking->arena);
        version = member_text(members_find(&members, BYTES("version")), asking->arena);
    }
    if (subject.len == 0 || subject.len > 1000 || version.len == 0 || version.len > 20 ||
        asking->seen_count >= REFERENCES_MOST || depth > 10)
        return err_set(err, ERR_DATA, "the schema refers to others in a way that is not followed");
    const char *path = arena_printf(asking->arena, "/subjects/%s/versions/%s%s",
                                    escaped(subject, asking->arena), escaped(version, asking->arena), format);
    for (size_t i = 0; i < asking->seen_count; i++)
        if (strcmp(asking->seen[i], path) == 0)
            return true;
    asking->seen[asking->seen_count++] = path;
    return get_json(asking, path, &answer, err) && take_answer(asking, &answer, format, depth, err);
}

// The text of an answer, behind those of the schemas that it refers to.
static bool
take_answer(struct asking *asking, const struct members *answer, const char *format, int depth,
            struct err *err)
{
    struct json_children children;
    struct json_token token;
    struct bytes list = members_find(answer, BYTES("references"));
    struct bytes token_text = members_find(answer, BYTES("schema"));
    if (!bytes_starts(token_text, "\""))
        return err_set(err, ERR_DATA, "the schema registry answers without a schema");
    if (json_children(&children, list) && !children.is_object)
        while (json_child(&children, NULL, &token))
            if (!ask_reference(asking, bytes_slice(list, token.from, token.len), format, depth + 1, err))
                return false;
    if (asking->text_count >= REFERENCES_MOST)
        return err_set(err, ERR_DATA, "the schema refers to too many others");
    struct bytes text = member_text(token_text, asking->arena);
    struct strbuf raw = {0};
    bool ok = true;
    if (asking->language == SCHEMA_PROTOBUF) {
        ok = base64_decode(&raw, text) || err_set(err, ERR_DATA, "the Protobuf schema is no base64");
        text = arena_copy(asking->arena, strbuf_bytes(&raw));
        strbuf_release(&raw);
    }
    asking->texts[asking->text_count++] = text;
    return ok;
}

// Avro where the answer says no type.
static bool
read_language(struct asking *asking, const struct members *answer, struct err *err)
{
    struct bytes type = member_text(members_find(answer, BYTES("schemaType")), asking->arena);
    asking->language = SCHEMA_AVRO;
    return !bytes_present(type) || schema_language_find(type, &asking->language) ||
           err_set(err, ERR_DATA, "the schema registry has it in a language that is not decoded");
}

static bool
ask_all(struct asking *asking, const char *name, struct err *err)
{
    struct members answer;
    const char *path =
        arena_printf(asking->arena, "/schemas/%s/%s", strchr(name, '-') ? "guids" : "ids", name);
    const char *format = "";
    if (!get_json(asking, path, &answer, err) || !read_language(asking, &answer, err))
        return false;
    if (asking->language == SCHEMA_PROTOBUF) {
        format = "?format=serialized";
        path = arena_printf(asking->arena, "%s%s", path, format);
        if (!get_json(asking, path, &answer, err))
            return false;
    }
    struct arena scratch = {0};
    bool ok = take_answer(asking, &answer, format, 0, err) &&
              schema_read(asking->language, asking->texts, asking->text_count, &scratch, err) != NULL;
    arena_release(&scratch);
    return ok;
}

static bool
ask_registry(void *context, const char *name, bool (*is_wanted)(void *wanted), void *wanted,
             struct arena *arena, struct kept_schema *schema, struct err *err)
{
    struct schema_place *place = context;
    struct asking *asking = arena_array(arena, 1, sizeof *asking);
    *asking = (struct asking){.place = place, .is_wanted = is_wanted, .wanted = wanted, .arena = arena};
    if (!ask_all(asking, name, err))
        return false;
    *schema = (struct kept_schema){.name = name,
                                   .language = asking->language,
                                   .texts = asking->texts,
                                   .text_count = asking->text_count,
                                   .origin = "the schema registry"};
    return true;
}

// --- both ---

static bool
read_registry(struct schema_place *place, const struct ingest_words *words, struct arena *arena,
              struct err *err)
{
    struct bytes url = bytes_of(words->schema_registry_url);
    if (!bytes_starts(url, "http://") && !bytes_starts(url, "https://"))
        return err_set(err, ERR_USAGE, "schema_registry_url begins with http:// or https://");
    if (bytes_find(url, BYTES("?"), 0) != SIZE_MAX || bytes_find(url, BYTES("#"), 0) != SIZE_MAX)
        return err_set(err, ERR_USAGE, "schema_registry_url has no ? and no #");
    while (bytes_ends(url, "/"))
        url.len--;
    place->url = arena_text(arena, url);
    place->user = words->schema_registry_user;
    place->ca = words->schema_registry_ca;
    place->source.ask = ask_registry;
    return (!words->schema_registry_password ||
            secret_read(SECRET_FILE, words->schema_registry_password, &place->password, err)) &&
           http_client_begin(err);
}

bool
schema_place_open(struct call *call, const struct topic_rules *rules, struct schema_place **place,
                  const struct schema_source **source, struct err *err)
{
    const struct ingest_words *words = &call->settings.ingest;
    *place = NULL;
    *source = NULL;
    if (!words->schema_files && !words->schema_registry_url)
        return true;
    struct schema_place *made = alloc_bytes(sizeof *made);
    *made = (struct schema_place){.source = {.context = made, .rules = rules}, .folder = words->schema_files};
    if (made->folder)
        made->source.list_files = list_files;
    if (words->schema_registry_url && !read_registry(made, words, &call->settings.arena, err)) {
        schema_place_close(made);
        return false;
    }
    *place = made;
    *source = &made->source;
    return true;
}

void
schema_place_close(struct schema_place *place)
{
    if (!place)
        return;
    if (place->url)
        http_client_end();
    if (place->password.data)
        explicit_bzero(place->password.data, place->password.len);
    strbuf_release(&place->password);
    free(place->told);
    free(place);
}
