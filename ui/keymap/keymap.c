#include "ui/keymap/keymap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "settings/config_text.h"
#include "base/text.h"

struct binding {
    enum context context;
    enum action action;
    struct key_sequence keys;
    size_t file; // of keymap.files.paths
    int line;
};

struct keymap {
    char name[128];
    struct binding *bindings; // in the order of the files
    size_t count;
    size_t capacity;
    struct source_files files;
    bool is_unbound[DO_COUNT]; // left without a key on purpose
};

struct keymap_reading {
    struct keymap *keymap;
    struct strbuf *warnings;
    size_t file;
    struct err *err;
};

static const char *
path_of(const struct keymap_reading *reading)
{
    return reading->keymap->files.paths[reading->file];
}

static void
keymap_say_unknown(const char *section, const char *name, struct err *err)
{
    enum action action;
    if (section && action_by_word(bytes_of(name), &action)) {
        err_set(err, ERR_USAGE, "%s has no meaning in %s", name, section);
        return;
    }
    const char *words[DO_COUNT + CONTEXT_COUNT];
    size_t count = 0;
    for (int i = DO_NONE + 1; section && i < DO_COUNT; i++)
        words[count++] = action_row((enum action)i)->word;
    for (int i = 0; !section && i < CONTEXT_COUNT; i++)
        words[count++] = context_name((enum context)i);
    const char *nearest = text_suggest(name, words, count);
    err_set(err, ERR_USAGE, "there is no %s \"%s\"%s%s%s", section ? "action" : "section", name,
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
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
finish_skipped(struct keymap_reading *reading, const struct binding *wanted, const char *key)
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
                          keymap->files.paths[there->file], there->line);
        remove_binding(keymap, i);
    }
    return true;
}

static bool
keymap_add_key(struct keymap_reading *reading, enum context context, enum action action, const char *key,
               int line)
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
apply_section(struct keymap_reading *reading, const struct config_section *section, bool is_adding)
{
    enum context context = CONTEXT_GLOBAL;
    while (strcmp(context_name(context), section->name) != 0)
        context++;
    for (size_t i = 0; i < section->entry_count; i++) {
        const struct config_entry *entry = &section->entries[i];
        enum action action;
        if (!action_by_word(bytes_of(entry->name), &action))
            continue;
        if (!entry->is_added && !is_adding)
            forget_action(reading->keymap, context, action);
        for (size_t k = 0; is_adding && k < entry->count; k++)
            if (!keymap_add_key(reading, context, action, entry->values[k].text, entry->values[k].line))
                return false;
    }
    return true;
}

static bool
apply_unbound(struct keymap_reading *reading, const struct config_section *top)
{
    const struct config_entry *unbound = config_section_entry(top, "unbound");
    for (size_t i = 0; unbound && i < unbound->count; i++) {
        enum action action;
        const char *word = unbound->values[i].text;
        if (!action_by_word(bytes_of(word), &action))
            return err_set(reading->err, ERR_USAGE, "%s: there is no action \"%s\" to leave unbound",
                           path_of(reading), word);
        reading->keymap->is_unbound[action] = true;
    }
    return true;
}

static bool
keymap_take(void *target, size_t file, const struct config_text *text, struct err *err)
{
    struct keymap_reading *reading = target;
    reading->file = file;
    reading->err = err;
    for (int is_adding = 0; is_adding <= 1; is_adding++)
        for (size_t i = 1; i < text->section_count; i++)
            if (!apply_section(reading, &text->sections[i], is_adding))
                return false;
    return apply_unbound(reading, &text->sections[0]);
}

// The grammar of a keymap: one section a context, in it the actions that have a meaning there.
struct grammar {
    struct config_option actions[CONTEXT_COUNT][DO_COUNT];
    struct config_form contexts[CONTEXT_COUNT];
    struct config_option top[CONTEXT_COUNT + 2];
    struct config_form form;
    struct config_language language;
};

static void
make_grammar(struct grammar *grammar)
{
    size_t top = 0;
    for (int c = 0; c < CONTEXT_COUNT; c++) {
        size_t count = 0;
        for (int i = DO_NONE + 1; i < DO_COUNT; i++)
            if (action_allowed((enum action)i, (enum context)c))
                grammar->actions[c][count++] =
                    (struct config_option){.name = action_row((enum action)i)->word, .kind = CONFIG_LIST};
        grammar->contexts[c] = (struct config_form){.options = grammar->actions[c], .count = count};
        grammar->top[top++] = (struct config_option){
            .name = context_name((enum context)c), .kind = CONFIG_SECTION, .inside = &grammar->contexts[c]};
    }
    grammar->top[top++] = (struct config_option){.name = "name", .kind = CONFIG_VALUE};
    grammar->top[top++] = (struct config_option){.name = "unbound", .kind = CONFIG_LIST};
    grammar->form = (struct config_form){.options = grammar->top, .count = top};
    grammar->language = (struct config_language){.what = "a keymap",
                                                 .form = &grammar->form,
                                                 .include_example = "default.keymap",
                                                 .say_unknown = keymap_say_unknown};
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
                          keymap->files.paths[longer->file], longer->line, strbuf_text(&keys),
                          context_name(longer->context), action_row(shorter->action)->word,
                          keymap->files.paths[shorter->file], shorter->line);
            strbuf_release(&keys);
        }
    }
    char text[32];
    if (!*keymap_key_text(keymap, CONTEXT_GLOBAL, DO_QUIT, text) &&
        !*keymap_key_text(keymap, CONTEXT_GLOBAL, DO_BACK, text))
        strbuf_printf(warnings, "%s: no key leaves the program; only SIGTERM does\n", keymap->files.paths[0]);
}

struct keymap *
keymap_load(const char *name, const struct ui_places *places, struct strbuf *warnings, struct err *err)
{
    struct keymap *keymap = alloc_bytes(sizeof *keymap);
    struct strbuf unheard = {0};
    struct err trouble = {0};
    struct keymap_reading reading = {.keymap = keymap, .warnings = warnings ? warnings : &unheard};
    struct grammar *grammar = alloc_bytes(sizeof *grammar);
    make_grammar(grammar);
    struct source_reader reader = {.kind = &source_keymaps,
                                   .language = &grammar->language,
                                   .places = places,
                                   .files = &keymap->files,
                                   .take = keymap_take,
                                   .target = &reading};
    snprintf(keymap->name, sizeof keymap->name, "%s", name);
    bool ok = source_read(&reader, name, err ? err : &trouble);
    if (ok)
        check_reach(keymap, reading.warnings);
    free(grammar);
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
    source_files_release(&keymap->files);
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
            strbuf_printf(&origins, "%s%s:%d", last ? ", " : "", keymap->files.paths[binding->file],
                          binding->line);
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

bool
keymap_own_keys(const struct keymap *keymap, enum context context, enum action action, size_t i,
                struct key_sequence *keys)
{
    for (size_t at = 0; at < keymap->count; at++) {
        if (keymap->bindings[at].context != context || keymap->bindings[at].action != action || i-- > 0)
            continue;
        *keys = keymap->bindings[at].keys;
        return true;
    }
    return false;
}

void
keymap_describe(const struct keymap *keymap, struct strbuf *out)
{
    for (int c = 0; c < CONTEXT_COUNT; c++) {
        bool is_titled = false;
        for (int a = DO_NONE + 1; a < DO_COUNT; a++) {
            struct strbuf keys = {0};
            struct key_sequence sequence;
            for (size_t i = 0; keymap_own_keys(keymap, (enum context)c, (enum action)a, i, &sequence); i++) {
                strbuf_add_text(&keys, keys.len ? " " : "");
                key_print_sequence(&sequence, &keys);
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
