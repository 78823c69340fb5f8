#include "settings/rules_file.h"

#include <confuse.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "settings/comments.h"
#include "settings/config_text.h"
#include "base/text.h"
#include "core/event.h"

// Puts file and line before what `err` says; -1, as libconfuse wants it.
static int
fail_at(const cfg_t *cfg)
{
    const struct config_text *text = config_text_current();
    err_context(text->err, "%s:%d", text->path, cfg->line);
    return -1;
}

static void
say_unknown(struct config_text *text, const cfg_t *section, const char *name, int line)
{
    static const char *const words[] = {"own", "merge", "split"};
    static const char *const merge_words[] = {"groups", "text"};
    static const char *const split_words[] = {"group", "keep"};
    bool is_merge = strcmp(section->name, "merge") == 0;
    bool is_split = strcmp(section->name, "split") == 0;
    const char *nearest = is_merge   ? text_suggest(name, merge_words, 2)
                          : is_split ? text_suggest(name, split_words, 2)
                                     : text_suggest(name, words, 3);
    const char *known = is_merge   ? "a merge has groups or text"
                        : is_split ? "a split has group and keep"
                                   : "there are own, merge and split";
    if (nearest != NULL)
        err_set(text->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; did you mean %s?", text->path, line,
                name, nearest);
    else
        err_set(text->err, ERR_USAGE, "%s:%d: there is no option \"%s\"; %s", text->path, line, name, known);
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
    err_set(config_text_current()->err, ERR_USAGE,
            "\"%s\" is no group; a group is the 16 digits that the list shows", text);
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
    struct config_text *reading = config_text_current();
    bool ok = group_rules_add_merge(reading->reader, cfg_title(section), keys, count,
                                    cfg_getstr(section, "text"), reading->err);
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
    struct config_text *reading = config_text_current();
    bool ok = group != NULL
                  ? group_rules_add_split(reading->reader, cfg_title(section), key_of(group), words, count,
                                          reading->err)
                  : err_set(reading->err, ERR_USAGE, "split \"%s\" needs a group", cfg_title(section));
    free(words);
    return ok ? 0 : fail_at(cfg);
}

static bool
rules_file_parse(struct config_text *text, const char *source)
{
    cfg_opt_t merge[] = {CFG_STR_LIST("groups", NULL, CFGF_NODEFAULT), CFG_STR("text", NULL, CFGF_NODEFAULT),
                         CFG_END()};
    cfg_opt_t split[] = {CFG_STR("group", NULL, CFGF_NODEFAULT), CFG_STR_LIST("keep", NULL, CFGF_NODEFAULT),
                         CFG_END()};
    merge[0].validcb = check_group;
    split[0].validcb = check_group;
    cfg_opt_t top[] = {CFG_STR_LIST("own", NULL, CFGF_NODEFAULT),
                       CFG_SEC("merge", merge, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                       CFG_SEC("split", split, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES), CFG_END()};
    top[1].validcb = add_merge;
    top[2].validcb = add_split;

    cfg_t *cfg = config_text_parse(text, top, CFGF_NONE, source);
    if (cfg == NULL)
        return false;
    for (unsigned i = 0; i < cfg_size(cfg, "own"); i++)
        group_rules_add_own(text->reader, cfg_getnstr(cfg, "own", i));
    cfg_free(cfg);
    return true;
}

static bool
read_path(const char *path, struct group_rules *rules, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return err_set(err, ERR_USAGE, "%s: group rules cannot be read: %s", path, strerror(errno));
    char *source = comments_read(file);
    struct config_text text = {
        .path = path, .what = "group rules", .reader = rules, .unknown = say_unknown, .err = err};
    bool ok = ferror(file) == 0
                  ? rules_file_parse(&text, source)
                  : err_set(err, ERR_USAGE, "%s: group rules cannot be read to their end", path);
    free(source);
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
