#include "ui/theme/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "settings/comments.h"
#include "base/text.h"

#define INCLUDE_DEPTH 8
#define FILE_LIMIT (1 << 20) // a theme or keymap larger than this is something else

const struct source_kind source_themes = {"themes", ".theme", "roles"};
const struct source_kind source_keymaps = {"keymaps", ".keymap", NULL};

struct source {
    char path[512];
    char *text;                  // without comments, line ends kept; heap
    const struct source *within; // the one that includes it; NULL: none
    size_t depth;                // sources around it
};

// An include must not find a file that is being read.
static bool
is_taken(const struct source *source)
{
    for (const struct source *outer = source->within; outer; outer = outer->within)
        if (strcmp(outer->path, source->path) == 0)
            return true;
    return false;
}

static void
source_take_text(struct source *source, struct bytes text)
{
    struct strbuf copy = {0};
    strbuf_add(&copy, text);
    strbuf_add_char(&copy, '\n');
    source->text = strbuf_detach(&copy);
    for (size_t i = 0; i < text.len; i++)
        if (source->text[i] == '\0')
            source->text[i] = ' '; // the reader of the syntax stops at a NUL
    comments_blank(source->text, text.len);
}

// false with err unset: there is no such file.
static bool
read_file(struct source *source, struct err *err)
{
    FILE *stream = fopen(source->path, "re");
    if (!stream && (errno == ENOENT || errno == ENOTDIR))
        return false;
    if (!stream)
        return err_set(err, ERR_USAGE, "%s cannot be read: %s", source->path, strerror(errno));

    struct strbuf text = {0};
    char part[4096];
    size_t len = 0;
    while (text.len <= FILE_LIMIT && (len = fread(part, 1, sizeof part, stream)) > 0)
        strbuf_add(&text, (struct bytes){part, len});
    bool is_broken = ferror(stream) != 0;
    (void)fclose(stream);
    if (is_broken || text.len > FILE_LIMIT) {
        strbuf_release(&text);
        return err_set(err, ERR_USAGE, "%s cannot be read: %s", source->path,
                       is_broken ? "it is not a file" : "it is larger than 1 MiB");
    }
    source_take_text(source, strbuf_bytes(&text));
    strbuf_release(&text);
    return true;
}

// "default" or "default.theme" → "default.theme"
static void
file_name(const struct source_kind *kind, const char *name, char out[256])
{
    bool has_suffix = bytes_ends(bytes_of(name), kind->suffix);
    snprintf(out, 256, "%.200s%s", name, has_suffix ? "" : kind->suffix);
}

static bool
read_built_in(struct source *source, const char *file)
{
    struct bytes text = builtin_file(file);
    if (!bytes_present(text))
        return false;
    source_take_text(source, text);
    return true;
}

static bool
unknown(const struct source_kind *kind, const char *name, const struct ui_places *places, struct err *err)
{
    const char *words[64];
    char names[64][64];
    size_t count = 0;
    for (size_t i = 0; builtin_name(i) && count < 64; i++) {
        struct bytes file = bytes_of(builtin_name(i));
        if (!bytes_ends(file, kind->suffix))
            continue;
        snprintf(names[count], sizeof names[count], "%.*s", (int)(file.len - strlen(kind->suffix)),
                 file.data);
        words[count] = names[count];
        count++;
    }
    const char *nearest = text_suggest(name, words, count);
    return err_set(err, ERR_USAGE,
                   "there is no %.*s \"%s\"%s%s%s; it was looked for in %s%s%s and among the built-in ones",
                   (int)strlen(kind->folder) - 1, kind->folder, name, nearest ? ", did you mean " : "",
                   nearest ? nearest : "", nearest ? "?" : "",
                   places && places->config_home ? places->config_home : "",
                   places && places->config_home ? "/" : "", kind->folder);
}

static bool
source_find(struct source *source, const struct source_kind *kind, const char *name,
            const struct ui_places *places, struct err *err)
{
    if (strchr(name, '/')) {
        snprintf(source->path, sizeof source->path, "%s", name);
        struct err trouble = {0};
        if (!is_taken(source) && read_file(source, &trouble))
            return true;
        if (err_is_set(&trouble))
            return err_set(err, ERR_USAGE, "%s", trouble.text);
        return err_set(err, ERR_USAGE, "there is no file %s", name);
    }

    char file[256];
    file_name(kind, name, file);
    const char *folders[] = {places ? places->config_home : NULL, places ? places->share : NULL};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (!folders[i])
            continue;
        snprintf(source->path, sizeof source->path, "%.200s/%s/%.200s", folders[i], kind->folder, file);
        struct err trouble = {0};
        if (!is_taken(source) && read_file(source, &trouble))
            return true;
        if (err_is_set(&trouble))
            return err_set(err, ERR_USAGE, "%s", trouble.text);
    }
    snprintf(source->path, sizeof source->path, "built-in %.200s", file);
    if (!is_taken(source) && read_built_in(source, file))
        return true;
    return unknown(kind, name, places, err);
}

static bool read_within(const struct source_reader *reader, const char *name, const struct source *outer,
                        struct err *err);

static bool
read_includes(const struct source_reader *reader, const struct source *source, const struct config_text *text,
              struct err *err)
{
    for (size_t i = 0; i < text->include_count; i++)
        if (!read_within(reader, text->includes[i].text, source, err))
            return err_context(err, "%s:%d", source->path, text->includes[i].line);
    return true;
}

static bool
read_within(const struct source_reader *reader, const char *name, const struct source *outer, struct err *err)
{
    struct source source = {.within = outer, .depth = outer ? outer->depth + 1 : 0};
    if (source.depth == INCLUDE_DEPTH)
        return err_set(err, ERR_USAGE, "files include each other more than %d deep", INCLUDE_DEPTH);
    if (!source_find(&source, reader->kind, name, reader->places, err))
        return false;

    struct source_files *files = reader->files;
    files->paths = alloc_grow(files->paths, files->count, &files->capacity, sizeof *files->paths);
    size_t file = files->count++;
    files->paths[file] = alloc_text(source.path);
    struct config_text text;
    bool ok = config_text_read(&text, reader->language, source.path, source.text, err);
    if (ok) {
        ok = read_includes(reader, &source, &text, err) && reader->take(reader->target, file, &text, err);
        config_text_release(&text);
    }
    free(source.text);
    return ok;
}

bool
source_read(const struct source_reader *reader, const char *name, struct err *err)
{
    return read_within(reader, name, NULL, err);
}

void
source_files_release(struct source_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct source_files){0};
}

struct listing {
    const struct source_kind *kind;
    source_each_fn *each;
    void *context;
    struct strbuf seen;
};

// One name of the list, unless a file found earlier has it.
static void
list_one(struct listing *listing, struct bytes file, const char *where)
{
    const struct source_kind *kind = listing->kind;
    if (!bytes_ends(file, kind->suffix))
        return;
    struct bytes name = bytes_slice(file, 0, file.len - strlen(kind->suffix));
    if (kind->common && bytes_equal_text(name, kind->common))
        return;
    char marked[300];
    int len = snprintf(marked, sizeof marked, "\n%.*s\n", BYTES_ARGS(name));
    if (bytes_find(strbuf_bytes(&listing->seen), (struct bytes){marked, (size_t)len}, 0) != SIZE_MAX)
        return;
    strbuf_add(&listing->seen, (struct bytes){marked, (size_t)len});
    listing->each(listing->context, name, where);
}

static void
list_folder(struct listing *listing, const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%.400s/%s", folder, listing->kind->folder);
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        list_one(listing, bytes_of(entries[i]->d_name), path);
        free(entries[i]);
    }
    free(entries);
}

void
source_each(const struct source_kind *kind, const struct ui_places *places, source_each_fn *each,
            void *context)
{
    struct listing listing = {.kind = kind, .each = each, .context = context};
    if (places && places->config_home)
        list_folder(&listing, places->config_home);
    if (places && places->share)
        list_folder(&listing, places->share);
    for (size_t i = 0; builtin_name(i); i++)
        list_one(&listing, bytes_of(builtin_name(i)), "built in");
    strbuf_release(&listing.seen);
}

static void
add_line(void *context, struct bytes name, const char *where)
{
    struct strbuf *out = context;
    text_visible(out, name, false);
    strbuf_printf(out, "%*s  %s\n", (int)(name.len < 24 ? 24 - name.len : 0), "", where);
}

void
source_list(const struct source_kind *kind, const struct ui_places *places, struct strbuf *out)
{
    source_each(kind, places, add_line, out);
}
