#include "settings/mapping_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/embed.h"
#include "core/json/value.h"
#include "settings/comments.h"
#include "settings/config_text.h"

#define MAPPING(symbol, name) EMBED(redrive_mapping_##symbol, "mappings/" name ".mapping");
#include "settings/mappings.def"
#undef MAPPING

static const struct builtin {
    const char *name;
    const char *begin, *end;
} builtins[] = {
#define MAPPING(symbol, name) {name, redrive_mapping_##symbol, redrive_mapping_##symbol##_end},
#include "settings/mappings.def"
#undef MAPPING
};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct config_option mapping_options[] = {
    {.name = "owner", .kind = CONFIG_VALUE},     {.name = "retry", .kind = CONFIG_VALUE},
    {.name = "zone", .kind = CONFIG_VALUE},      {.name = "topic", .kind = CONFIG_VALUE},
    {.name = "id", .kind = CONFIG_LIST},         {.name = "part", .kind = CONFIG_LIST},
    {.name = "type", .kind = CONFIG_LIST},       {.name = "source", .kind = CONFIG_LIST},
    {.name = "source_id", .kind = CONFIG_LIST},  {.name = "payload", .kind = CONFIG_LIST},
    {.name = "error", .kind = CONFIG_LIST},      {.name = "stack", .kind = CONFIG_LIST},
    {.name = "attempts", .kind = CONFIG_LIST},   {.name = "most_attempts", .kind = CONFIG_LIST},
    {.name = "failed", .kind = CONFIG_LIST},     {.name = "state", .kind = CONFIG_LIST},
    {.name = "topic_from", .kind = CONFIG_LIST}, {.name = "pending", .kind = CONFIG_LIST},
    {.name = "resolved", .kind = CONFIG_LIST},   {.name = "discarded", .kind = CONFIG_LIST}};
static const struct config_form mapping_form = {.options = mapping_options,
                                                .count = COUNT_OF(mapping_options)};
static const struct config_option top_options[] = {
    {.name = "mapping", .kind = CONFIG_TITLED, .inside = &mapping_form}};
static const struct config_form top_form = {.options = top_options, .count = 1};

static void
mapping_say_unknown(const char *section, const char *name, struct err *err)
{
    if (section == NULL)
        config_say_unknown(&top_form, name, "there is mapping", err);
    else
        config_say_unknown(&mapping_form, name, "a mapping has id, payload, error, failed, state and more",
                           err);
}

static const struct config_language language = {
    .what = "a mapping", .form = &top_form, .say_unknown = mapping_say_unknown};

enum entry_kind { ENTRY_TEXT, ENTRY_COLUMNS, ENTRY_WORDS };

static enum entry_kind
kind_of(const char *name)
{
    static const char *const texts[] = {"owner", "retry", "zone", "topic"};
    static const char *const words[] = {"pending", "resolved", "discarded"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (strcmp(name, texts[i]) == 0)
            return ENTRY_TEXT;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(name, words[i]) == 0)
            return ENTRY_WORDS;
    return ENTRY_COLUMNS;
}

// One name of "errors.message"; a name with a dot stands in double quotes.
static bool
next_name(const char **at, struct strbuf *name)
{
    strbuf_reset(name);
    if (**at != '"') {
        size_t len = strcspn(*at, ".\"");
        strbuf_add(name, (struct bytes){*at, len});
        *at += len;
    } else {
        size_t len = strcspn(*at + 1, "\"");
        strbuf_add(name, (struct bytes){*at + 1, len});
        *at += len + 1;
        if (**at == '\0')
            return false;
        (*at)++;
    }
    bool goes_on = **at == '.' && (*at)[1] != '\0';
    if (goes_on)
        (*at)++;
    return name->len > 0 && (**at == '\0' || goes_on);
}

static bool
add_column(struct value *choices, const char *text)
{
    struct strbuf name = {0};
    struct value *choice = value_object(), *path = value_array();
    const char *at = text;
    bool ok = next_name(&at, &name);
    value_add_bytes(choice, "column", strbuf_bytes(&name));
    while (ok && *at != '\0') {
        ok = next_name(&at, &name);
        value_add_bytes(path, NULL, strbuf_bytes(&name));
    }
    value_add(choice, "path", path);
    value_add(choices, NULL, choice);
    strbuf_release(&name);
    return ok;
}

static bool
add_entry(struct value *mapping, const char *path, const struct config_entry *entry, struct err *err)
{
    enum entry_kind kind = kind_of(entry->name);
    if (kind == ENTRY_TEXT) {
        value_add_text(mapping, entry->name, entry->values[0].text);
        return true;
    }
    struct value *list = value_array();
    bool ok = true;
    for (size_t i = 0; ok && i < entry->count; i++) {
        const struct config_value *value = &entry->values[i];
        if (kind == ENTRY_WORDS)
            value_add_text(list, NULL, value->text);
        else
            ok = add_column(list, value->text) ||
                 err_set(err, ERR_USAGE, "%s:%d: %s names a column, or a path in one: errors.message", path,
                         value->line, entry->name);
    }
    value_add(mapping, entry->name, list);
    return ok;
}

static bool
add_mapping(const char *path, const struct config_text *text, struct strbuf *json, struct err *err)
{
    const struct config_section *section = text->section_count == 2 ? &text->sections[1] : NULL;
    if (!section)
        return err_set(err, ERR_USAGE, "%s: the file has one mapping \"NAME\" { … }", path);
    struct value *mapping = value_object();
    value_add_text(mapping, "name", section->title);
    bool ok = true;
    for (size_t i = 0; ok && i < section->entry_count; i++)
        if (section->entries[i].count > 0)
            ok = add_entry(mapping, path, &section->entries[i], err);
    if (ok && config_section_entry(section, "topic") && config_section_entry(section, "topic_from"))
        ok = err_set(err, ERR_USAGE, "%s:%d: a mapping has topic or topic_from, not both", path,
                     section->line);
    if (ok)
        value_dump(mapping, json);
    value_destroy(mapping);
    return ok;
}

static char *
read_file(const char *path, struct err *err)
{
    FILE *stream = fopen(path, "re");
    if (!stream) {
        err_set(err, ERR_USAGE, "%s: the mapping cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    char *source = comments_read(stream);
    if (ferror(stream)) {
        err_set(err, ERR_USAGE, "%s: the mapping cannot be read to its end", path);
        free(source);
        source = NULL;
    }
    fclose(stream);
    return source;
}

static bool
fail_unknown(const char *name, struct err *err)
{
    struct strbuf names = {0};
    for (size_t i = 0; i < COUNT_OF(builtins); i++)
        strbuf_printf(&names, "%s%s", i > 0 ? ", " : "", builtins[i].name);
    err_set(err, ERR_USAGE, "no mapping %.100s is built in, only %s; ./%.100s would be a file", name,
            strbuf_text(&names), name);
    strbuf_release(&names);
    return false;
}

static char *
read_builtin(const char *name, struct err *err)
{
    size_t i = 0;
    while (i < COUNT_OF(builtins) && strcmp(builtins[i].name, name) != 0)
        i++;
    if (i == COUNT_OF(builtins)) {
        (void)fail_unknown(name, err);
        return NULL;
    }
    size_t len = (size_t)(builtins[i].end - builtins[i].begin);
    char *source = alloc_bytes(len + 1);
    memcpy(source, builtins[i].begin, len);
    comments_blank(source, len);
    return source;
}

bool
mapping_file_read(const char *name, struct strbuf *json, struct err *err)
{
    struct config_text text;
    bool is_file = strpbrk(name, "/.") != NULL;
    char *source = is_file ? read_file(name, err) : read_builtin(name, err);
    if (!source)
        return false;
    bool ok = config_text_read(&text, &language, name, source, err);
    free(source);
    if (!ok)
        return false;
    ok = add_mapping(name, &text, json, err);
    config_text_release(&text);
    return ok;
}

const char *
mapping_file_builtin(size_t i)
{
    return i < COUNT_OF(builtins) ? builtins[i].name : NULL;
}
