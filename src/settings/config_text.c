#include "settings/config_text.h"

#include <confuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"

#define INCLUDES 8 // of one text

// Names that no person types. SCOPE carries what libconfuse hands to no callback: each table of options has
// an option of that name, and its struct config_scope hangs on it. UNTOUCHED is the value of a list that the
// text has not set: += keeps it, = replaces it, so that an emptied list differs from one that is not named.
#define SCOPE "\002"
#define UNTOUCHED "\001"

// A value, or a free name, as libconfuse reported it: it keeps no lines itself.
struct sighting {
    const cfg_t *section;
    const char *name;
    int line;
};

struct config_reading {
    const struct config_language *language;
    struct config_text *text;
    const char *path;
    const cfg_t *root;
    struct sighting *sightings; // of sections that are still open
    size_t sighting_count, sighting_capacity;
    size_t section_capacity;
    struct err *err;
};

// The section that libconfuse's callbacks are in.
struct config_scope {
    struct config_reading *reading;
    const struct config_form *form;
};

static const struct config_scope *
scope_of(const cfg_t *section)
{
    const cfg_opt_t *option = section->opts;
    while (strcmp(option->name, SCOPE) != 0)
        option++;
    return (const struct config_scope *)(const void *)option->simple_value.ptr;
}

static const char *
keep(struct config_reading *reading, const char *text)
{
    return text == NULL ? NULL : arena_text(&reading->text->arena, bytes_of(text));
}

static void
see(struct config_reading *reading, const cfg_t *section, const char *name)
{
    reading->sightings = alloc_grow(reading->sightings, reading->sighting_count, &reading->sighting_capacity,
                                    sizeof *reading->sightings);
    reading->sightings[reading->sighting_count++] =
        (struct sighting){.section = section, .name = keep(reading, name), .line = section->line};
}

// --- what libconfuse calls while it reads ---

// Also called for the free names of a section that takes them, although reading continues.
__attribute__((format(printf, 2, 0))) static void
on_error(cfg_t *section, const char *format, va_list args)
{
    struct config_reading *reading = scope_of(section)->reading;
    char said[300];
    vsnprintf(said, sizeof said, format, args);
    char *name = strchr(said, '\'');
    struct err trouble = {0};
    if (strncmp(said, "no such option", 14) == 0 && name != NULL) {
        name++;
        name[strcspn(name, "'")] = '\0';
        const char *free_names = scope_of(section)->form->free_names;
        if (free_names != NULL && strncmp(name, free_names, strlen(free_names)) == 0) {
            see(reading, section, name);
            return;
        }
        reading->language->say_unknown(section == reading->root ? NULL : section->name, name, &trouble);
    } else if (strcmp(said, "premature end of file") == 0) {
        err_set(&trouble, ERR_USAGE, "the file ends too early: a value, a closing quote or a } is missing");
    } else {
        err_set(&trouble, ERR_USAGE, "%s", said);
    }
    err_set(reading->err, ERR_USAGE, "%s:%d: %s", reading->path, section->line, trouble.text);
}

static int
on_value(cfg_t *section, cfg_opt_t *option, const char *value, void *result)
{
    if (strcmp(value, UNTOUCHED) != 0)
        see(scope_of(section)->reading, section, cfg_opt_name(option));
    *(const char **)result = value;
    return 0;
}

static int
on_include(cfg_t *section, cfg_opt_t *option, int count, const char **names)
{
    (void)option;
    struct config_reading *reading = scope_of(section)->reading;
    struct config_text *text = reading->text;
    if (count == 1 && text->include_count < INCLUDES) {
        text->includes[text->include_count++] =
            (struct config_value){.text = keep(reading, names[0]), .line = section->line};
        return 0;
    }
    if (count == 1)
        err_set(reading->err, ERR_USAGE, "%s:%d: too many files are included", reading->path, section->line);
    else
        err_set(reading->err, ERR_USAGE, "%s:%d: include takes one name: include(\"%s\")", reading->path,
                section->line, reading->language->include_example);
    return -1;
}

static int
on_scope(cfg_t *section, cfg_opt_t *option, int count, const char **names)
{
    (void)section;
    (void)option;
    (void)count;
    (void)names;
    return -1; // a control character that somebody wrote as a name
}

// --- from libconfuse's tables to ours ---

static const char *
spelled_by_form(struct config_reading *reading, const struct config_form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++) {
        const char *row = form->options[i].name;
        size_t at = 0;
        while (name[at] != '\0' && (name[at] == row[at] || (name[at] == '-' && row[at] == '_')))
            at++;
        if (name[at] == '\0' && row[at] == '\0')
            return row;
    }
    return keep(reading, name);
}

static struct config_entry
make_entry(struct config_reading *reading, const cfg_t *section, cfg_opt_t *option)
{
    const char *name = cfg_opt_name(option);
    unsigned size = cfg_opt_size(option);
    bool is_added = size > 0 && strcmp(cfg_opt_getnstr(option, 0), UNTOUCHED) == 0;
    size_t count = size - is_added;
    struct config_value *values = arena_array(&reading->text->arena, count + 1, sizeof *values);
    // The last `count` sightings are those of the values that are left.
    size_t left = count;
    for (size_t i = reading->sighting_count; left > 0 && i-- > 0;)
        if (reading->sightings[i].section == section && strcmp(reading->sightings[i].name, name) == 0)
            values[--left].line = reading->sightings[i].line;
    for (size_t i = 0; i < count; i++)
        values[i].text = keep(reading, cfg_opt_getnstr(option, (unsigned)i + is_added));
    return (struct config_entry){.name = spelled_by_form(reading, scope_of(section)->form, name),
                                 .values = values,
                                 .count = count,
                                 .is_added = is_added};
}

static bool
is_seen(const struct config_reading *reading, const cfg_t *section, const char *name, size_t from)
{
    for (size_t i = from; i < reading->sighting_count; i++)
        if (reading->sightings[i].section == section && strcmp(reading->sightings[i].name, name) == 0)
            return true;
    return false;
}

static cfg_opt_t *
find_option(cfg_t *section, const char *name)
{
    for (unsigned i = 0; i < cfg_num(section); i++)
        if (strcmp(cfg_opt_name(cfg_getnopt(section, i)), name) == 0)
            return cfg_getnopt(section, i);
    return NULL;
}

// No value of `list = {}` is ever seen.
static bool
is_emptied(cfg_opt_t *option)
{
    return option->type == CFGT_STR && (option->flags & CFGF_LIST) != 0 && cfg_opt_size(option) == 0;
}

static void
forget_sightings(struct config_reading *reading, const cfg_t *section)
{
    size_t left = 0;
    for (size_t i = 0; i < reading->sighting_count; i++)
        if (reading->sightings[i].section != section)
            reading->sightings[left++] = reading->sightings[i];
    reading->sighting_count = left;
}

static struct config_section
collect(struct config_reading *reading, cfg_t *section, const cfg_t *parent)
{
    const char *title = cfg_title(section);
    if (title == NULL && parent != NULL)
        title = parent->title;
    struct config_entry *entries =
        arena_array(&reading->text->arena, reading->sighting_count + cfg_num(section) + 1, sizeof *entries);
    size_t count = 0;
    for (unsigned i = 0; i < cfg_num(section); i++)
        if (is_emptied(cfg_getnopt(section, i)))
            entries[count++] = make_entry(reading, section, cfg_getnopt(section, i));
    for (size_t i = 0; i < reading->sighting_count; i++) {
        const struct sighting *sighting = &reading->sightings[i];
        cfg_opt_t *option = sighting->section == section ? find_option(section, sighting->name) : NULL;
        if (option != NULL && !is_seen(reading, section, sighting->name, i + 1))
            entries[count++] = make_entry(reading, section, option);
    }
    forget_sightings(reading, section);
    return (struct config_section){.name = parent == NULL ? NULL : keep(reading, section->name),
                                   .title = keep(reading, title),
                                   .line = section->line,
                                   .entries = entries,
                                   .entry_count = count};
}

// A section is collected at its end: libconfuse drops it when a later one takes its place.
static int
on_section(cfg_t *parent, cfg_opt_t *option)
{
    struct config_reading *reading = scope_of(parent)->reading;
    struct config_text *text = reading->text;
    cfg_t *section = cfg_opt_getnsec(option, cfg_opt_size(option) - 1);
    text->sections =
        alloc_grow(text->sections, text->section_count, &reading->section_capacity, sizeof *text->sections);
    text->sections[text->section_count++] = collect(reading, section, parent);
    return 0;
}

static const cfg_flag_t kind_flags[] = {
    [CONFIG_VALUE] = CFGF_NODEFAULT,
    [CONFIG_LIST] = CFGF_NONE,
    [CONFIG_SECTION] = CFGF_MULTI,
    [CONFIG_TITLED] = CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES,
    [CONFIG_RETITLED] = CFGF_MULTI | CFGF_TITLE,
};

static cfg_opt_t *make_options(struct config_reading *reading, const struct config_form *form, bool is_top);

static cfg_opt_t
make_option(struct config_reading *reading, const struct config_option *row)
{
    static char untouched[] = "{\"" UNTOUCHED "\"}"; // libconfuse takes it without const
    cfg_flag_t flags = kind_flags[row->kind];
    cfg_opt_t option = CFG_END();
    switch (row->kind) {
    case CONFIG_VALUE:
        option = (cfg_opt_t)CFG_STR_CB(row->name, NULL, flags, on_value);
        break;
    case CONFIG_LIST:
        option = (cfg_opt_t)CFG_STR_LIST_CB(row->name, untouched, flags, on_value);
        break;
    case CONFIG_SECTION:
    case CONFIG_TITLED:
    case CONFIG_RETITLED:
        if (row->inside->free_names != NULL)
            flags |= CFGF_KEYSTRVAL;
        option = (cfg_opt_t)CFG_SEC(row->name, make_options(reading, row->inside, false), flags);
        option.validcb = on_section;
        break;
    }
    return option;
}

static cfg_opt_t *
make_options(struct config_reading *reading, const struct config_form *form, bool is_top)
{
    struct arena *arena = &reading->text->arena;
    cfg_opt_t *options = arena_array(arena, 2 * form->count + 3, sizeof *options);
    size_t count = 0;
    for (size_t i = 0; i < form->count; i++) {
        options[count++] = make_option(reading, &form->options[i]);
        if (!form->takes_dashes || strchr(form->options[i].name, '_') == NULL)
            continue;
        cfg_opt_t dashed = options[count - 1];
        struct bytes name = arena_copy(arena, bytes_of(dashed.name));
        char *spelled = arena_alloc(arena, name.len + 1);
        for (size_t c = 0; c < name.len; c++)
            spelled[c] = name.data[c] == '_' ? '-' : name.data[c];
        dashed.name = spelled;
        options[count++] = dashed;
    }
    if (is_top && reading->language->include_example != NULL)
        options[count++] = (cfg_opt_t)CFG_FUNC("include", on_include);
    struct config_scope *scope = arena_alloc(arena, sizeof *scope);
    *scope = (struct config_scope){.reading = reading, .form = form};
    options[count] = (cfg_opt_t)CFG_FUNC(SCOPE, on_scope);
    options[count++].simple_value.ptr = (void **)(void *)scope;
    options[count] = (cfg_opt_t)CFG_END();
    return options;
}

bool
config_text_read(struct config_text *text, const struct config_language *language, const char *path,
                 const char *source, struct err *err)
{
    *text = (struct config_text){0};
    struct err trouble = {0};
    struct config_reading reading = {.language = language, .text = text, .path = path, .err = &trouble};
    text->includes = arena_array(&text->arena, INCLUDES, sizeof *text->includes);
    text->sections =
        alloc_grow(text->sections, text->section_count++, &reading.section_capacity, sizeof *text->sections);

    cfg_flag_t flags = language->form->free_names != NULL ? CFGF_KEYSTRVAL : CFGF_NONE;
    cfg_t *root = cfg_init(make_options(&reading, language->form, true), flags);
    if (root == NULL)
        die("out of memory while reading %s", path);
    reading.root = root;
    (void)cfg_set_error_function(root, on_error);
    bool is_read = cfg_parse_buf(root, source) == CFG_SUCCESS && !err_is_set(&trouble);
    if (is_read)
        text->sections[0] = collect(&reading, root, NULL);
    cfg_free(root);
    free(reading.sightings);
    if (is_read)
        return true;
    config_text_release(text);
    err_set(&trouble, ERR_USAGE, "%s: it cannot be read as %s", path, language->what);
    return err_set(err, ERR_USAGE, "%s", trouble.text);
}

void
config_text_release(struct config_text *text)
{
    free(text->sections);
    arena_release(&text->arena);
    *text = (struct config_text){0};
}

void
config_say_unknown(const struct config_form *form, const char *name, const char *otherwise, struct err *err)
{
    const char **words = alloc_array(form->count + 1, sizeof *words);
    for (size_t i = 0; i < form->count; i++)
        words[i] = form->options[i].name;
    const char *nearest = text_suggest(name, words, form->count);
    free(words);
    if (nearest != NULL)
        err_set(err, ERR_USAGE, "there is no option \"%s\"; did you mean %s?", name, nearest);
    else
        err_set(err, ERR_USAGE, "there is no option \"%s\"; %s", name, otherwise);
}

const struct config_entry *
config_section_entry(const struct config_section *section, const char *name)
{
    for (size_t i = 0; i < section->entry_count; i++)
        if (strcmp(section->entries[i].name, name) == 0)
            return &section->entries[i];
    return NULL;
}

const char *
config_section_value(const struct config_section *section, const char *name)
{
    const struct config_entry *entry = config_section_entry(section, name);
    return entry == NULL || entry->count == 0 ? NULL : entry->values[0].text;
}
