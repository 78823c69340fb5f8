#include "ui/theme/theme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "settings/config_text.h"
#include "base/text.h"

#define PAGE_DARK 0x14171a
#define PAGE_LIGHT 0xffffff
#define INK_DARK 0xd4d7da
#define INK_LIGHT 0x1d2021

enum section { SECTION_PALETTE, SECTION_ROLE, SECTION_ROLE_16, SECTION_ROLE_MONO, SECTION_COUNT };
static const char *const section_names[SECTION_COUNT] = {"palette", "role", "role-16", "role-mono"};

// A line of a theme: what it says stays text until all files are read, since roles name palette entries that
// may come later.
struct theme_line {
    enum section section;
    char *name;
    char *value;
    size_t file;
    int number;
};

struct theme {
    char name[128];
    char background[16];
    struct theme_line *lines; // later ones win
    size_t count;
    size_t capacity;
    struct source_files files;
    struct look looks[COLOR_TRUE + 1][ROLE_COUNT];
    struct color page; // palette's bg, if it has one
};

struct theme_reading {
    struct theme *theme;
    struct strbuf *warnings;
};

static void
add_section(struct theme *theme, const struct config_section *section, size_t file)
{
    enum section kind = SECTION_PALETTE;
    while (strcmp(section_names[kind], section->name) != 0)
        kind++;
    for (size_t i = 0; i < section->entry_count; i++) {
        const struct config_entry *entry = &section->entries[i];
        theme->lines = alloc_grow(theme->lines, theme->count, &theme->capacity, sizeof *theme->lines);
        theme->lines[theme->count++] = (struct theme_line){.section = kind,
                                                           .name = alloc_text(entry->name),
                                                           .value = alloc_text(entry->values[0].text),
                                                           .file = file,
                                                           .number = entry->values[0].line};
    }
}

// Included files are taken before the file itself, so that its own lines win.
static bool
theme_take(void *target, size_t file, const struct config_text *text, struct err *err)
{
    (void)err;
    struct theme_reading *reading = target;
    struct theme *theme = reading->theme;
    for (size_t i = 1; i < text->section_count; i++)
        add_section(theme, &text->sections[i], file);
    const char *background = config_section_value(&text->sections[0], "background");
    if (!background)
        return true;
    if (strcmp(background, "dark") == 0 || strcmp(background, "light") == 0 || strcmp(background, "any") == 0)
        snprintf(theme->background, sizeof theme->background, "%s", background);
    else
        strbuf_printf(reading->warnings, "%s: background is dark, light or any, not \"%s\"\n",
                      theme->files.paths[file], background);
    return true;
}

static void
theme_say_unknown(const char *section, const char *name, struct err *err)
{
    (void)section; // they take any name
    const char *nearest = text_suggest(name, section_names, SECTION_COUNT);
    err_set(err, ERR_USAGE, "a theme has no \"%s\"%s%s%s", name, nearest ? "; did you mean " : "",
            nearest ? nearest : "", nearest ? "?" : "");
}

static const struct config_form section_form = {.free_names = ""};
static const struct config_option top_options[] = {
    {.name = "palette", .kind = CONFIG_SECTION, .inside = &section_form},
    {.name = "role", .kind = CONFIG_SECTION, .inside = &section_form},
    {.name = "role-16", .kind = CONFIG_SECTION, .inside = &section_form},
    {.name = "role-mono", .kind = CONFIG_SECTION, .inside = &section_form},
    {.name = "name", .kind = CONFIG_VALUE},
    {.name = "background", .kind = CONFIG_VALUE},
};
static const struct config_form top_form = {.options = top_options,
                                            .count = sizeof top_options / sizeof *top_options};
static const struct config_language language = {
    .what = "a theme", .form = &top_form, .include_example = "roles.theme", .say_unknown = theme_say_unknown};

static const struct theme_line *
find_line(const struct theme *theme, enum section section, struct bytes name)
{
    for (size_t i = theme->count; i-- > 0;) {
        const struct theme_line *line = &theme->lines[i];
        if (line->section == section && line->value && bytes_equal_text(name, line->name))
            return line;
    }
    return NULL;
}

// The line that decides about a role: the nearest along its dots, those of a special depth first.
static const struct theme_line *
deciding_line(const struct theme *theme, enum role role, enum color_depth depth)
{
    struct bytes name = bytes_of(role_name(role));
    for (;;) {
        const struct theme_line *line = NULL;
        if (depth == COLOR_16)
            line = find_line(theme, SECTION_ROLE_16, name);
        if (depth == COLOR_MONO)
            line = find_line(theme, SECTION_ROLE_MONO, name);
        if (!line)
            line = find_line(theme, SECTION_ROLE, name);
        if (line)
            return line;
        size_t dot = bytes_find_last(name, BYTES("."));
        if (dot == SIZE_MAX)
            return bytes_equal_text(name, "text") ? NULL : find_line(theme, SECTION_ROLE, BYTES("text"));
        name.len = dot;
    }
}

static bool
find_color(const struct theme *theme, struct bytes word, struct color *color)
{
    const struct theme_line *line = find_line(theme, SECTION_PALETTE, word);
    if (!line)
        return color_parse(word, color);
    if (!color_parse(bytes_of(line->value), color)) // told where the palette says it
        *color = color_default;
    return true;
}

static unsigned
attribute_of(struct bytes word)
{
    static const struct {
        const char *word;
        unsigned attribute;
    } rows[] = {{"bold", LOOK_BOLD},     {"dim", LOOK_DIM},         {"underline", LOOK_UNDERLINE},
                {"italic", LOOK_ITALIC}, {"reverse", LOOK_REVERSE}, {"blink", LOOK_BLINK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bytes_equal_text(word, rows[i].word))
            return rows[i].attribute;
    return 0;
}

// "fg [on bg] [bold …]". What cannot be read is left out; the first such word is told.
static struct look
parse_look(const struct theme *theme, struct bytes text, struct bytes *bad)
{
    struct look look = {.foreground = color_default, .background = color_default};
    bool is_behind = false;
    *bad = BYTES_ABSENT;
    for (size_t at = 0; at < text.len;) {
        size_t end = bytes_find(text, BYTES(" "), at);
        struct bytes word = bytes_slice(text, at, (end == SIZE_MAX ? text.len : end) - at);
        at += word.len + 1;
        if (word.len == 0)
            continue;
        struct color *color = is_behind ? &look.background : &look.foreground;
        struct color found;
        if (bytes_equal_text(word, "on"))
            is_behind = true;
        else if (attribute_of(word))
            look.attributes |= attribute_of(word);
        else if (find_color(theme, word, &found))
            *color = found;
        else if (!bytes_present(*bad))
            *bad = word;
    }
    return look;
}

static void
derive_looks(struct theme *theme)
{
    struct bytes bad;
    for (int depth = COLOR_MONO; depth <= COLOR_TRUE; depth++) {
        for (int role = 0; role < ROLE_COUNT; role++) {
            const struct theme_line *line = deciding_line(theme, (enum role)role, (enum color_depth)depth);
            struct look *look = &theme->looks[depth][role];
            *look = parse_look(theme, bytes_of(line ? line->value : "default"), &bad);
            if (depth == COLOR_MONO)
                look->foreground = look->background = color_default;
        }
    }
    struct color page;
    if (find_color(theme, BYTES("bg"), &page))
        theme->page = page;
}

// A role, or what several begin with: "event" of event.returned.
static bool
is_role(const char *name)
{
    size_t len = strlen(name);
    for (int role = 0; role < ROLE_COUNT; role++) {
        const char *other = role_name((enum role)role);
        if (strncmp(name, other, len) == 0 && (other[len] == '\0' || other[len] == '.'))
            return true;
    }
    return false;
}

// Every line that has no effect, or not the one its writer had in mind.
static void
check_lines(const struct theme *theme, struct strbuf *warnings)
{
    const char *roles[ROLE_COUNT];
    for (int i = 0; i < ROLE_COUNT; i++)
        roles[i] = role_name((enum role)i);
    for (size_t i = 0; i < theme->count; i++) {
        const struct theme_line *line = &theme->lines[i];
        const char *path = theme->files.paths[line->file];
        struct bytes value = bytes_of(line->value ? line->value : "");
        struct bytes bad = BYTES_ABSENT;
        struct color color;
        if (line->section == SECTION_PALETTE && !color_parse(value, &color))
            bad = value;
        if (line->section != SECTION_PALETTE)
            (void)parse_look(theme, value, &bad);
        if (bytes_present(bad))
            strbuf_printf(warnings, "%s:%d: %s: \"%.*s\" is neither a colour nor an attribute\n", path,
                          line->number, line->name, BYTES_ARGS(bad));
        if (line->section == SECTION_PALETTE || is_role(line->name))
            continue;
        const char *nearest = text_suggest(line->name, roles, ROLE_COUNT);
        strbuf_printf(warnings, "%s:%d: there is no role \"%s\"%s%s%s\n", path, line->number, line->name,
                      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    }
}

struct theme *
theme_load(const char *name, const struct ui_places *places, struct strbuf *warnings, struct err *err)
{
    struct theme *theme = alloc_bytes(sizeof *theme);
    name = strcmp(name, THEME_AUTO) == 0 ? "default" : name;
    struct strbuf unheard = {0};
    struct err trouble = {0};
    struct theme_reading reading = {.theme = theme, .warnings = warnings ? warnings : &unheard};
    struct source_reader reader = {.kind = &source_themes,
                                   .language = &language,
                                   .places = places,
                                   .files = &theme->files,
                                   .take = theme_take,
                                   .target = &reading};
    snprintf(theme->name, sizeof theme->name, "%s", name);
    theme->page = color_default;
    bool ok = source_read(&reader, name, err ? err : &trouble);
    if (ok) {
        derive_looks(theme);
        check_lines(theme, reading.warnings);
    }
    strbuf_release(&unheard);
    if (ok)
        return theme;
    theme_destroy(theme);
    return NULL;
}

void
theme_destroy(struct theme *theme)
{
    if (!theme)
        return;
    for (size_t i = 0; i < theme->count; i++) {
        free(theme->lines[i].name);
        free(theme->lines[i].value);
    }
    source_files_release(&theme->files);
    free(theme->lines);
    free(theme);
}

static bool
has_background(const struct look *look)
{
    const struct color *behind = &look->background;
    return behind->has_rgb || behind->index_256 != COLOR_DEFAULT || behind->index_16 != COLOR_DEFAULT;
}

bool
look_is_seen_on_blanks(const struct look *look)
{
    return has_background(look) || (look->attributes & (LOOK_REVERSE | LOOK_UNDERLINE));
}

const struct look *
theme_look(const struct theme *theme, enum role role, enum color_depth depth)
{
    return &theme->looks[depth][role];
}

struct look
theme_look_on_cursor(const struct theme *theme, enum role role, enum color_depth depth)
{
    const struct look *cursor = theme_look(theme, ROLE_CURSOR, depth);
    struct look look = *theme_look(theme, role, depth);
    if (has_background(&look) || (look.attributes & LOOK_REVERSE))
        return look;
    if (depth == COLOR_MONO || (cursor->attributes & LOOK_REVERSE) || !has_background(cursor))
        return *cursor;
    look.background = cursor->background;
    return look;
}

const char *
theme_name(const struct theme *theme)
{
    return theme->name;
}

const char *
theme_background(const struct theme *theme)
{
    return theme->background[0] ? theme->background : "any";
}

void
theme_page(const struct theme *theme, uint32_t *foreground, uint32_t *background)
{
    bool is_light = strcmp(theme->background, "light") == 0;
    *background = color_rgb(&theme->page, is_light ? PAGE_LIGHT : PAGE_DARK);
    *foreground = color_rgb(&theme->looks[COLOR_TRUE][ROLE_TEXT].foreground, is_light ? INK_LIGHT : INK_DARK);
}

void
theme_list(const struct ui_places *places, struct strbuf *out)
{
    source_list(&source_themes, places, out);
}

void
theme_roles(struct strbuf *out)
{
    for (int role = 0; role < ROLE_COUNT; role++)
        strbuf_printf(out, "%-20s %s\n", role_name((enum role)role), role_help((enum role)role));
}
