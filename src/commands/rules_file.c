#include "commands/rules_file.h"

#include <confuse.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "core/event.h"

struct reading {
    const char *path;
    struct group_rules *rules;
    struct err *err;
};

// libconfuse hands no context to its callbacks; set only while a file is parsed.
static struct reading *current;

// Puts file and line before what `err` says; -1, as libconfuse wants it.
static int
fail_at(const cfg_t *cfg)
{
    err_context(current->err, "%s:%d", current->path, cfg->line);
    return -1;
}

static void
say_unknown(cfg_t *cfg, const char *name)
{
    static const char *const words[] = {"own", "merge", "split"};
    static const char *const merge_words[] = {"groups", "text"};
    static const char *const split_words[] = {"group", "keep"};
    bool is_merge = strcmp(cfg_name(cfg), "merge") == 0;
    bool is_split = strcmp(cfg_name(cfg), "split") == 0;
    const char *nearest = is_merge   ? text_suggest(name, merge_words, 2)
                          : is_split ? text_suggest(name, split_words, 2)
                                     : text_suggest(name, words, 3);
    const char *known = is_merge   ? "a merge has groups or text"
                        : is_split ? "a split has group and keep"
                                   : "there are own, merge and split";
    if (nearest != NULL)
        err_set(current->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; did you mean %s?", current->path,
                cfg->line, name, nearest);
    else
        err_set(current->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; %s", current->path, cfg->line,
                name, known);
}

__attribute__((format(printf, 2, 0))) static void
on_error(cfg_t *cfg, const char *format, va_list args)
{
    if (err_is_set(current->err))
        return;
    char text[300];
    vsnprintf(text, sizeof text, format, args);
    char *name = strchr(text, '\'');
    if (strncmp(text, "no such option", 14) != 0 || name == NULL) {
        err_set(current->err, ERR_USAGE, "%s:%d: %s", current->path, cfg->line, text);
        return;
    }
    name++;
    name[strcspn(name, "'")] = '\0';
    say_unknown(cfg, name);
}

static bool
read_key(const char *text, uint64_t *key)
{
    uint64_t high;
    return strlen(text) == GROUP_TEXT - 1 && group_parse(bytes_of(text), key, &high);
}

static int
check_group(cfg_t *cfg, cfg_opt_t *opt)
{
    uint64_t key;
    const char *text = cfg_opt_getnstr(opt, cfg_opt_size(opt) - 1);
    if (read_key(text, &key))
        return 0;
    err_set(current->err, ERR_USAGE, "\"%s\" is no group; a group is the 16 digits that the list shows",
            text);
    return fail_at(cfg);
}

static uint64_t
key_of(const char *text)
{
    uint64_t key = 0;
    (void)read_key(text, &key); // check_group has looked at it
    return key;
}

static int
add_merge(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    unsigned count = cfg_size(section, "groups");
    uint64_t *keys = alloc_array(count + 1, sizeof *keys);
    for (unsigned i = 0; i < count; i++)
        keys[i] = key_of(cfg_getnstr(section, "groups", i));
    bool ok = group_rules_add_merge(current->rules, cfg_title(section), keys, count,
                                    cfg_getstr(section, "text"), current->err);
    free(keys);
    return ok ? 0 : fail_at(cfg);
}

static int
add_split(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    const char *group = cfg_getstr(section, "group");
    unsigned count = cfg_size(section, "keep");
    const char **words = alloc_array(count + 1, sizeof *words);
    for (unsigned i = 0; i < count; i++)
        words[i] = cfg_getnstr(section, "keep", i);
    bool ok = group != NULL
                  ? group_rules_add_split(current->rules, cfg_title(section), key_of(group), words, count,
                                          current->err)
                  : err_set(current->err, ERR_USAGE, "split \"%s\" needs a group", cfg_title(section));
    free(words);
    return ok ? 0 : fail_at(cfg);
}

static bool
parse(FILE *file)
{
    cfg_opt_t merge[] = {CFG_STR_LIST("groups", NULL, CFGF_NODEFAULT), CFG_STR("text", NULL, CFGF_NODEFAULT),
                         CFG_END()};
    cfg_opt_t split[] = {CFG_STR("group", NULL, CFGF_NODEFAULT), CFG_STR_LIST("keep", NULL, CFGF_NODEFAULT),
                         CFG_END()};
    cfg_opt_t top[] = {CFG_STR_LIST("own", NULL, CFGF_NODEFAULT),
                       CFG_SEC("merge", merge, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                       CFG_SEC("split", split, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES), CFG_END()};
    cfg_t *cfg = cfg_init(top, CFGF_NONE);
    (void)cfg_set_error_function(cfg, on_error);
    cfg_set_validate_func(cfg, "merge|groups", check_group);
    cfg_set_validate_func(cfg, "split|group", check_group);
    cfg_set_validate_func(cfg, "merge", add_merge);
    cfg_set_validate_func(cfg, "split", add_split);
    bool ok = cfg_parse_fp(cfg, file) == CFG_SUCCESS && !err_is_set(current->err);
    if (!ok && !err_is_set(current->err))
        err_set(current->err, ERR_USAGE, "%s: it cannot be read as group rules", current->path);
    for (unsigned i = 0; ok && i < cfg_size(cfg, "own"); i++)
        group_rules_add_own(current->rules, cfg_getnstr(cfg, "own", i));
    cfg_free(cfg);
    return ok;
}

static bool
read_path(const char *path, struct group_rules *rules, struct err *err)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return err_set(err, ERR_USAGE, "%s: group rules cannot be read: %s", path, strerror(errno));
    struct reading reading = {.path = path, .rules = rules, .err = err};
    current = &reading;
    bool ok = parse(file);
    current = NULL;
    fclose(file);
    return ok;
}

bool
rules_file_read(const char *path, struct group_rules **rules, struct err *err)
{
    struct err local = {0};
    *rules = group_rules_create();
    bool ok = path == NULL || read_path(path, *rules, &local);
    if (ok && !group_rules_seal(*rules, &local)) {
        err_context(&local, "%s", path);
        ok = false;
    }
    if (ok)
        return true;
    group_rules_destroy(*rules);
    *rules = NULL;
    if (err != NULL)
        *err = local;
    return false;
}
