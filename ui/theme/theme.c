#include "ui/theme/theme.h"

#include <confuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "settings/config_text.h"
#include "base/text.h"

#define INCLUDE_DEPTH 8
#define PAGE_DARK 0x14171a
#define PAGE_LIGHT 0xffffff
#define INK_DARK 0xd4d7da
#define INK_LIGHT 0x1d2021

enum section { SECTION_PALETTE, SECTION_ROLE, SECTION_ROLE_16, SECTION_ROLE_MONO, SECTION_COUNT };
static const char *const section_names[SECTION_COUNT] = {"palette", "role", "role-16", "role-mono"};

// A line of a theme: what it says stays text until all files are read, since roles name palette entries that
// may come later.
struct line {
    enum section section;
    char *name;
    char *value;
    size_t file;
    int number;
};

struct theme {
    char name[128];
    char background[16];
    struct line *lines; // later ones win
    size_t count;
    size_t capacity;
    char **files;
    size_t file_count;
    size_t file_capacity;
    struct look looks[COLOR_TRUE + 1][ROLE_COUNT];
    struct color page; // palette's bg, if it has one
};

struct reading {
    struct theme *theme;
    const struct ui_places *places;
    struct strbuf *warnings;
    struct err *err;
    const struct source *sources[INCLUDE_DEPTH]; // being read, outermost first
    size_t depth;
    size_t file;
    size_t first_line; // of theme.lines, of this file
    struct config_text text;
};

static const char *
path_of(const struct reading *reading)
{
    return reading->theme->files[reading->file];
}

static void
theme_add_line(struct reading *reading, enum section section, const char *name, int number)
{
    struct theme *theme = reading->theme;
    theme->lines = alloc_grow(theme->lines, theme->count, &theme->capacity, sizeof *theme->lines);
    theme->lines[theme->count++] =
        (struct line){.section = section, .name = alloc_text(name), .file = reading->file, .number = number};
}

// The sections take free names: only here their lines are told.
static void
meet_name(struct config_text *text, const cfg_t *section, const char *name, int line)
{
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (strcmp(section->name, section_names[i]) == 0) {
            theme_add_line(text->reader, (enum section)i, name, line);
            return;
        }
    }
    const char *nearest = text_suggest(name, section_names, SECTION_COUNT);
    err_set(text->err, ERR_USAGE, "%s:%d: a theme has no \"%s\"%s%s%s", text->path, line, name,
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

// The values of the lines that meet_name collected.
static void
take_values(struct reading *reading, cfg_t *cfg)
{
    struct theme *theme = reading->theme;
    for (size_t i = reading->first_line; i < theme->count; i++) {
        struct line *line = &theme->lines[i];
        const char *section = section_names[line->section];
        for (unsigned s = 0; s < cfg_size(cfg, section); s++) {
            cfg_opt_t *option = cfg_getopt(cfg_getnsec(cfg, section, s), line->name);
            const char *value = option && cfg_opt_size(option) ? cfg_opt_getnstr(option, 0) : NULL;
            if (value) {
                free(line->value);
                line->value = alloc_text(value);
            }
        }
    }
    const char *background = cfg_getstr(cfg, "background");
    if (background && strcmp(background, "dark") != 0 && strcmp(background, "light") != 0 &&
        strcmp(background, "any") != 0)
        strbuf_printf(reading->warnings, "%s: background is dark, light or any, not \"%s\"\n",
                      path_of(reading), background);
    else if (background && !theme->background[0]) // the outermost file says it
        snprintf(theme->background, sizeof theme->background, "%s", background);
}

static bool
theme_parse(struct reading *reading, const char *source)
{
    cfg_opt_t none[] = {CFG_END()};
    cfg_opt_t top[] = {
        CFG_SEC("palette", none, CFGF_MULTI | CFGF_KEYSTRVAL),
        CFG_SEC("role", none, CFGF_MULTI | CFGF_KEYSTRVAL),
        CFG_SEC("role-16", none, CFGF_MULTI | CFGF_KEYSTRVAL),
        CFG_SEC("role-mono", none, CFGF_MULTI | CFGF_KEYSTRVAL),
        CFG_STR("name", NULL, CFGF_NODEFAULT),
        CFG_STR("background", NULL, CFGF_NODEFAULT),
        CFG_FUNC("include", config_text_include),
        CFG_END(),
    };
    cfg_t *cfg = config_text_parse(&reading->text, top, CFGF_NONE, source);
    if (cfg == NULL)
        return false;
    take_values(reading, cfg);
    cfg_free(cfg);
    return true;
}

static bool read_source(struct reading *outer, const char *name);

// What is included is read when this file is through; its lines stand before those of the file that includes
// it.
static bool
read_includes(struct reading *reading)
{
    struct theme *theme = reading->theme;
    const struct config_text *text = &reading->text;
    for (size_t i = 0; i < text->include_count; i++) {
        size_t own_end = theme->count;
        if (!read_source(reading, text->includes[i].name))
            return err_context(reading->err, "%s:%d", text->path, text->includes[i].line);

        size_t own = own_end - reading->first_line;
        size_t added = theme->count - own_end;
        struct line *swap = alloc_array(own, sizeof *swap);
        memcpy(swap, theme->lines + reading->first_line, own * sizeof *swap);
        memmove(theme->lines + reading->first_line, theme->lines + own_end, added * sizeof *swap);
        memcpy(theme->lines + reading->first_line + added, swap, own * sizeof *swap);
        free(swap);
        reading->first_line += added;
    }
    return true;
}

static bool
read_source(struct reading *outer, const char *name)
{
    if (outer->depth == INCLUDE_DEPTH)
        return err_set(outer->err, ERR_USAGE, "files include each other more than %d deep", INCLUDE_DEPTH);
    struct source source;
    if (!source_find(&source, &source_themes, name, outer->places, outer->sources, outer->depth, outer->err))
        return false;

    struct theme *theme = outer->theme;
    struct reading inner = *outer;
    inner.sources[inner.depth++] = &source;
    inner.first_line = theme->count;
    theme->files = alloc_grow(theme->files, theme->file_count, &theme->file_capacity, sizeof *theme->files);
    inner.file = theme->file_count;
    theme->files[theme->file_count++] = alloc_text(source.path);
    inner.text = (struct config_text){.path = source.path,
                                      .what = "a theme",
                                      .reader = &inner,
                                      .unknown = meet_name,
                                      .include_example = "roles.theme",
                                      .err = outer->err};
    bool ok = theme_parse(&inner, source.text) && read_includes(&inner);
    config_text_release(&inner.text);
    source_release(&source);
    return ok;
}

static const struct line *
find_line(const struct theme *theme, enum section section, struct bytes name)
{
    for (size_t i = theme->count; i-- > 0;) {
        const struct line *line = &theme->lines[i];
        if (line->section == section && line->value && bytes_equal_text(name, line->name))
            return line;
    }
    return NULL;
}

// The line that decides about a role: the nearest along its dots, those of a special depth first.
static const struct line *
deciding_line(const struct theme *theme, enum role role, enum color_depth depth)
{
    struct bytes name = bytes_of(role_name(role));
    for (;;) {
        const struct line *line = NULL;
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
    const struct line *line = find_line(theme, SECTION_PALETTE, word);
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
settle_looks(struct theme *theme)
{
    struct bytes bad;
    for (int depth = COLOR_MONO; depth <= COLOR_TRUE; depth++) {
        for (int role = 0; role < ROLE_COUNT; role++) {
            const struct line *line = deciding_line(theme, (enum role)role, (enum color_depth)depth);
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

// A role, or what several begin with: "event" of event.back.
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
        const struct line *line = &theme->lines[i];
        const char *path = theme->files[line->file];
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
    struct strbuf unheard = {0};
    struct err trouble = {0};
    struct reading reading = {.theme = theme,
                              .places = places,
                              .warnings = warnings ? warnings : &unheard,
                              .err = err ? err : &trouble};
    snprintf(theme->name, sizeof theme->name, "%s", name);
    theme->page = color_default;
    bool ok = read_source(&reading, name);
    if (ok) {
        settle_looks(theme);
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
    for (size_t i = 0; i < theme->file_count; i++)
        free(theme->files[i]);
    free(theme->lines);
    free(theme->files);
    free(theme);
}

bool
look_is_seen_on_blanks(const struct look *look)
{
    const struct color *behind = &look->background;
    bool is_colored =
        behind->has_rgb || behind->index_256 != COLOR_DEFAULT || behind->index_16 != COLOR_DEFAULT;
    return is_colored || (look->attributes & (LOOK_REVERSE | LOOK_UNDERLINE));
}

const struct look *
theme_look(const struct theme *theme, enum role role, enum color_depth depth)
{
    return &theme->looks[depth][role];
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
