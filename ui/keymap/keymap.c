#include "ui/keymap/keymap.h"

#include <confuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "settings/config_text.h"
#include "base/text.h"

#define INCLUDE_DEPTH 8
#define UNTOUCHED "\001" // the value of an action that a file does not name; `+=` keeps it, `=` replaces it

struct binding {
    enum context context;
    enum action action;
    struct key_sequence keys;
    size_t file; // of keymap.files
    int line;
};

struct keymap {
    char name[128];
    struct binding *bindings; // in the order of the files
    size_t count;
    size_t capacity;
    char **files; // paths, for messages
    size_t file_count;
    size_t file_capacity;
    bool is_unbound[DO_COUNT]; // left without a key on purpose
};

// A value as it was met, with its line: libconfuse keeps no lines.
struct met {
    const void *option;
    char *value;
    int line;
    bool is_used;
};

struct reading {
    struct keymap *keymap;
    const struct ui_places *places;
    struct strbuf *warnings;
    struct err *err;
    const struct source *sources[INCLUDE_DEPTH]; // being read, outermost first
    size_t depth;
    size_t file;
    struct met *met;
    size_t met_count;
    size_t met_capacity;
    struct config_text text;
};

static bool read_source(struct reading *outer, const char *name);

static const char *
path_of(const struct reading *reading)
{
    return reading->keymap->files[reading->file];
}

static void
say_unknown(struct config_text *text, const cfg_t *section, const char *name, int line)
{
    enum action action;
    bool is_section = section->name && strcmp(section->name, "root") != 0;
    if (is_section && action_by_word(bytes_of(name), &action)) {
        err_set(text->err, ERR_USAGE, "%s:%d: %s has no meaning in %s", text->path, line, name,
                section->name);
        return;
    }
    const char *words[DO_COUNT + CONTEXT_COUNT];
    size_t count = 0;
    for (int i = DO_NONE + 1; is_section && i < DO_COUNT; i++)
        words[count++] = action_row((enum action)i)->word;
    for (int i = 0; !is_section && i < CONTEXT_COUNT; i++)
        words[count++] = context_name((enum context)i);
    const char *nearest = text_suggest(name, words, count);
    err_set(text->err, ERR_USAGE, "%s:%d: there is no %s \"%s\"%s%s%s", text->path, line,
            is_section ? "action" : "section", name, nearest ? "; did you mean " : "", nearest ? nearest : "",
            nearest ? "?" : "");
}

static int
on_value(cfg_t *cfg, cfg_opt_t *option, const char *value, void *result)
{
    struct reading *reading = config_text_current()->reader;
    if (strcmp(value, UNTOUCHED) != 0) {
        reading->met =
            alloc_grow(reading->met, reading->met_count, &reading->met_capacity, sizeof *reading->met);
        reading->met[reading->met_count++] =
            (struct met){.option = option, .value = alloc_text(value), .line = cfg->line};
    }
    *(const char **)result = value;
    return 0;
}

// What is included is read when this file is through, and applied before it.
static bool
read_includes(struct reading *reading)
{
    const struct config_text *text = &reading->text;
    for (size_t i = 0; i < text->include_count; i++)
        if (!read_source(reading, text->includes[i].name))
            return err_context(reading->err, "%s:%d", text->path, text->includes[i].line);
    return true;
}

static int
line_of(struct reading *reading, const cfg_opt_t *option, const char *value)
{
    for (size_t i = 0; i < reading->met_count; i++) {
        struct met *met = &reading->met[i];
        if (met->option == option && !met->is_used && strcmp(met->value, value) == 0) {
            met->is_used = true;
            return met->line;
        }
    }
    return 0;
}

static bool
same_keys(const struct key_sequence *a, const struct key_sequence *b)
{
    return a->count == b->count && memcmp(a->keys, b->keys, (size_t)a->count * sizeof *a->keys) == 0;
}

static bool
begins_with(const struct key_sequence *longer, const struct key_sequence *shorter)
{
    return longer->count > shorter->count &&
           memcmp(longer->keys, shorter->keys, (size_t)shorter->count * sizeof *shorter->keys) == 0;
}

static void
remove_binding(struct keymap *keymap, size_t i)
{
    memmove(keymap->bindings + i, keymap->bindings + i + 1,
            (keymap->count - i - 1) * sizeof *keymap->bindings);
    keymap->count--;
}

static void
forget_action(struct keymap *keymap, enum context context, enum action action)
{
    for (size_t i = keymap->count; i-- > 0;)
        if (keymap->bindings[i].context == context && keymap->bindings[i].action == action)
            remove_binding(keymap, i);
}

// The key belongs to somebody already: an error within one file, a move from an included one.
static bool
finish_skipped(struct reading *reading, const struct binding *wanted, const char *key)
{
    struct keymap *keymap = reading->keymap;
    for (size_t i = keymap->count; i-- > 0;) {
        const struct binding *there = &keymap->bindings[i];
        if (there->context != wanted->context || !same_keys(&there->keys, &wanted->keys))
            continue;
        if (there->file == wanted->file)
            return err_set(reading->err, ERR_USAGE, "%s:%d: %s does %s in %s already, by line %d",
                           path_of(reading), wanted->line, key, action_row(there->action)->word,
                           context_name(there->context), there->line);
        if (there->action != wanted->action)
            strbuf_printf(reading->warnings, "%s:%d: %s now does %s in %s; it did %s (%s:%d)\n",
                          path_of(reading), wanted->line, key, action_row(wanted->action)->word,
                          context_name(wanted->context), action_row(there->action)->word,
                          keymap->files[there->file], there->line);
        remove_binding(keymap, i);
    }
    return true;
}

static bool
keymap_add_key(struct reading *reading, enum context context, enum action action, const char *key, int line)
{
    struct keymap *keymap = reading->keymap;
    struct binding binding = {.context = context, .action = action, .file = reading->file, .line = line};
    if (!key_parse_sequence(bytes_of(key), &binding.keys, reading->err))
        return err_context(reading->err, "%s:%d", path_of(reading), line);
    if (!finish_skipped(reading, &binding, key))
        return false;
    keymap->bindings =
        alloc_grow(keymap->bindings, keymap->count, &keymap->capacity, sizeof *keymap->bindings);
    keymap->bindings[keymap->count++] = binding;
    return true;
}

// One section of the file. First what it replaces, then what it adds, so that keys may be swapped.
static bool
apply_section(struct reading *reading, cfg_t *section, enum context context, bool is_adding)
{
    for (unsigned i = 0; i < cfg_num(section); i++) {
        cfg_opt_t *option = cfg_getnopt(section, i);
        enum action action;
        if (!action_by_word(bytes_of(cfg_opt_name(option)), &action))
            continue;
        unsigned count = cfg_opt_size(option);
        bool keeps = count > 0 && strcmp(cfg_opt_getnstr(option, 0), UNTOUCHED) == 0;
        if (!keeps && !is_adding)
            forget_action(reading->keymap, context, action);
        for (unsigned k = keeps ? 1 : 0; is_adding && k < count; k++) {
            const char *key = cfg_opt_getnstr(option, k);
            if (!keymap_add_key(reading, context, action, key, line_of(reading, option, key)))
                return false;
        }
    }
    return true;
}

static bool
apply_unbound(struct reading *reading, cfg_t *cfg)
{
    for (unsigned i = 0; i < cfg_size(cfg, "unbound"); i++) {
        enum action action;
        const char *word = cfg_getnstr(cfg, "unbound", i);
        if (!action_by_word(bytes_of(word), &action))
            return err_set(reading->err, ERR_USAGE, "%s: there is no action \"%s\" to leave unbound",
                           path_of(reading), word);
        reading->keymap->is_unbound[action] = true;
    }
    return true;
}

static bool
keymap_apply(struct reading *reading, cfg_t *cfg)
{
    for (int is_adding = 0; is_adding <= 1; is_adding++) {
        for (int c = 0; c < CONTEXT_COUNT; c++) {
            const char *name = context_name((enum context)c);
            for (unsigned i = 0; i < cfg_size(cfg, name); i++)
                if (!apply_section(reading, cfg_getnsec(cfg, name, i), (enum context)c, is_adding))
                    return false;
        }
    }
    return apply_unbound(reading, cfg);
}

// The options of a section: the actions that have a meaning there.
static cfg_opt_t *
section_options(enum context context)
{
    cfg_opt_t *options = alloc_array(DO_COUNT + 1, sizeof *options);
    size_t count = 0;
    static char untouched[] = "{\"" UNTOUCHED "\"}"; // libconfuse takes it without const
    for (int i = DO_NONE + 1; i < DO_COUNT; i++) {
        cfg_opt_t option = CFG_STR_LIST_CB(action_row((enum action)i)->word, untouched, CFGF_NONE, on_value);
        if (action_allowed((enum action)i, context))
            options[count++] = option;
    }
    options[count] = (cfg_opt_t)CFG_END();
    return options;
}

static bool
keymap_parse(struct reading *reading, const char *source)
{
    cfg_opt_t *sections[CONTEXT_COUNT];
    cfg_opt_t top[CONTEXT_COUNT + 4];
    int count = 0;
    for (; count < CONTEXT_COUNT; count++) {
        sections[count] = section_options((enum context)count);
        top[count] = (cfg_opt_t)CFG_SEC(context_name((enum context)count), sections[count], CFGF_MULTI);
    }
    top[count++] = (cfg_opt_t)CFG_FUNC("include", config_text_include);
    top[count++] = (cfg_opt_t)CFG_STR("name", NULL, CFGF_NODEFAULT);
    top[count++] = (cfg_opt_t)CFG_STR_LIST("unbound", NULL, CFGF_NODEFAULT);
    top[count] = (cfg_opt_t)CFG_END();

    cfg_t *cfg = config_text_parse(&reading->text, top, CFGF_NONE, source);
    bool ok = cfg != NULL && read_includes(reading) && keymap_apply(reading, cfg);
    if (cfg != NULL)
        cfg_free(cfg);
    for (int i = 0; i < CONTEXT_COUNT; i++)
        free(sections[i]);
    return ok;
}

static bool
read_source(struct reading *outer, const char *name)
{
    if (outer->depth == INCLUDE_DEPTH)
        return err_set(outer->err, ERR_USAGE, "files include each other more than %d deep", INCLUDE_DEPTH);
    struct source source;
    if (!source_find(&source, &source_keymaps, name, outer->places, outer->sources, outer->depth, outer->err))
        return false;

    struct keymap *keymap = outer->keymap;
    struct reading inner = *outer;
    inner.sources[inner.depth++] = &source;
    inner.met = NULL;
    inner.met_count = inner.met_capacity = 0;
    keymap->files =
        alloc_grow(keymap->files, keymap->file_count, &keymap->file_capacity, sizeof *keymap->files);
    inner.file = keymap->file_count;
    keymap->files[keymap->file_count++] = alloc_text(source.path);
    inner.text = (struct config_text){.path = source.path,
                                      .what = "a keymap",
                                      .reader = &inner,
                                      .unknown = say_unknown,
                                      .include_example = "default.keymap",
                                      .err = outer->err};
    bool ok = keymap_parse(&inner, source.text);
    for (size_t i = 0; i < inner.met_count; i++)
        free(inner.met[i].value);
    free(inner.met);
    config_text_release(&inner.text);
    source_release(&source);
    return ok;
}

// Keys that can never be reached, and a map nobody can leave.
static void
check_reach(const struct keymap *keymap, struct strbuf *warnings)
{
    for (size_t i = 0; i < keymap->count; i++) {
        const struct binding *longer = &keymap->bindings[i];
        for (size_t j = 0; j < keymap->count; j++) {
            const struct binding *shorter = &keymap->bindings[j];
            if (shorter->context != longer->context || !begins_with(&longer->keys, &shorter->keys))
                continue;
            struct strbuf keys = {0};
            key_print_sequence(&longer->keys, &keys);
            strbuf_printf(warnings, "%s:%d: %s cannot be reached in %s: its beginning does %s (%s:%d)\n",
                          keymap->files[longer->file], longer->line, strbuf_text(&keys),
                          context_name(longer->context), action_row(shorter->action)->word,
                          keymap->files[shorter->file], shorter->line);
            strbuf_release(&keys);
        }
    }
    char text[32];
    if (!*keymap_key_text(keymap, CONTEXT_GLOBAL, DO_QUIT, text) &&
        !*keymap_key_text(keymap, CONTEXT_GLOBAL, DO_BACK, text))
        strbuf_printf(warnings, "%s: no key leaves the program; only SIGTERM does\n", keymap->files[0]);
}

struct keymap *
keymap_load(const char *name, const struct ui_places *places, struct strbuf *warnings, struct err *err)
{
    struct keymap *keymap = alloc_bytes(sizeof *keymap);
    struct strbuf unheard = {0};
    struct err trouble = {0};
    struct reading reading = {.keymap = keymap,
                              .places = places,
                              .warnings = warnings ? warnings : &unheard,
                              .err = err ? err : &trouble};
    snprintf(keymap->name, sizeof keymap->name, "%s", name);
    bool ok = read_source(&reading, name);
    if (ok)
        check_reach(keymap, reading.warnings);
    strbuf_release(&unheard);
    if (ok)
        return keymap;
    keymap_destroy(keymap);
    return NULL;
}

void
keymap_destroy(struct keymap *keymap)
{
    if (!keymap)
        return;
    for (size_t i = 0; i < keymap->file_count; i++)
        free(keymap->files[i]);
    free(keymap->files);
    free(keymap->bindings);
    free(keymap);
}

enum keymap_answer
keymap_find(const struct keymap *keymap, enum context context, const struct key_sequence *keys,
            enum action *action)
{
    for (enum context c = context; c != CONTEXT_COUNT; c = context_parent(c)) {
        bool is_beginning = false;
        for (size_t i = 0; i < keymap->count; i++) {
            const struct binding *binding = &keymap->bindings[i];
            if (binding->context != c)
                continue;
            if (same_keys(&binding->keys, keys)) {
                *action = binding->action;
                return KEYMAP_ACTION;
            }
            is_beginning |= begins_with(&binding->keys, keys);
        }
        if (is_beginning)
            return KEYMAP_MORE;
    }
    return KEYMAP_NONE;
}

bool
keymap_keys(const struct keymap *keymap, enum context context, enum action action, size_t i,
            struct key_sequence *keys)
{
    for (enum context c = context; c != CONTEXT_COUNT; c = context_parent(c)) {
        for (size_t b = 0; b < keymap->count; b++) {
            const struct binding *binding = &keymap->bindings[b];
            enum action reached;
            if (binding->context != c || binding->action != action ||
                keymap_find(keymap, context, &binding->keys, &reached) != KEYMAP_ACTION || reached != action)
                continue;
            if (i-- == 0) {
                *keys = binding->keys;
                return true;
            }
        }
    }
    return false;
}

const char *
keymap_key_text(const struct keymap *keymap, enum context context, enum action action, char out[32])
{
    struct key_sequence keys;
    out[0] = '\0';
    if (!keymap_keys(keymap, context, action, 0, &keys))
        return out;
    struct strbuf text = {0};
    key_print_sequence(&keys, &text);
    snprintf(out, 32, "%s", strbuf_text(&text));
    strbuf_release(&text);
    return out;
}

const char *
keymap_name(const struct keymap *keymap)
{
    return keymap->name;
}

// "half-down = {"<C-d>"}" with where each key came from.
static void
dump_action(const struct keymap *keymap, enum context context, enum action action, struct strbuf *out)
{
    struct strbuf origins = {0};
    size_t start = out->len;
    size_t count = 0;
    const struct binding *last = NULL;
    for (size_t i = 0; i < keymap->count; i++) {
        const struct binding *binding = &keymap->bindings[i];
        if (binding->context != context || binding->action != action)
            continue;
        if (count++ == 0)
            strbuf_printf(out, "    %-18s = {", action_row(action)->word);
        struct strbuf keys = {0};
        key_print_sequence(&binding->keys, &keys);
        strbuf_add_text(out, count > 1 ? ", \"" : "\"");
        for (size_t k = 0; k < keys.len; k++) {
            if (keys.data[k] == '"' || keys.data[k] == '\\')
                strbuf_add_char(out, '\\');
            strbuf_add_char(out, keys.data[k]);
        }
        strbuf_add_char(out, '"');
        if (!last || last->file != binding->file || last->line != binding->line)
            strbuf_printf(&origins, "%s%s:%d", last ? ", " : "", keymap->files[binding->file], binding->line);
        last = binding;
        strbuf_release(&keys);
    }
    if (count > 0) {
        strbuf_add_char(out, '}');
        size_t width = out->len - start;
        strbuf_printf(out, "%*s# %s\n", (int)(width < 60 ? 60 - width : 1), "", strbuf_text(&origins));
    }
    strbuf_release(&origins);
}

void
keymap_dump(const struct keymap *keymap, struct strbuf *out)
{
    strbuf_printf(out, "# keymap %s, as it is in force\n", keymap->name);
    for (int c = 0; c < CONTEXT_COUNT; c++) {
        size_t before = out->len;
        strbuf_printf(out, "\n%s {\n", context_name((enum context)c));
        size_t empty = out->len;
        for (int a = DO_NONE + 1; a < DO_COUNT; a++)
            dump_action(keymap, (enum context)c, (enum action)a, out);
        if (out->len == empty)
            strbuf_splice(out, before, out->len - before, BYTES(""));
        else
            strbuf_add_text(out, "}\n");
    }
}

void
keymap_describe(const struct keymap *keymap, struct strbuf *out)
{
    for (int c = 0; c < CONTEXT_COUNT; c++) {
        bool is_titled = false;
        for (int a = DO_NONE + 1; a < DO_COUNT; a++) {
            struct strbuf keys = {0};
            for (size_t i = 0; i < keymap->count; i++) {
                if (keymap->bindings[i].context != (enum context)c ||
                    keymap->bindings[i].action != (enum action)a)
                    continue;
                strbuf_add_text(&keys, keys.len ? " " : "");
                key_print_sequence(&keymap->bindings[i].keys, &keys);
            }
            if (keys.len && !is_titled)
                strbuf_printf(out, "%s%s\n", out->len ? "\n" : "", context_name((enum context)c));
            is_titled |= keys.len > 0;
            if (keys.len)
                strbuf_printf(out, "  %-24s %-18s %s\n", strbuf_text(&keys), action_row((enum action)a)->word,
                              action_row((enum action)a)->help);
            strbuf_release(&keys);
        }
    }
}

void
keymap_missing(const struct keymap *keymap, struct strbuf *out)
{
    for (int a = DO_NONE + 1; a < DO_COUNT; a++) {
        bool is_there = keymap->is_unbound[a];
        for (size_t i = 0; i < keymap->count && !is_there; i++)
            is_there = keymap->bindings[i].action == (enum action)a;
        if (!is_there)
            strbuf_printf(out, "%s\n", action_row((enum action)a)->word);
    }
}

void
keymap_list(const struct ui_places *places, struct strbuf *out)
{
    source_list(&source_keymaps, places, out);
}
