#include "settings/config_text.h"

#include <confuse.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

// libconfuse hands no context to its callbacks; set only while a text is parsed.
static struct config_text *current;

struct config_text *
config_text_current(void)
{
    return current;
}

// libconfuse also calls this for the free names of a section that takes them, although parsing goes on.
__attribute__((format(printf, 2, 0))) static void
on_error(cfg_t *section, const char *format, va_list args)
{
    char said[300];
    vsnprintf(said, sizeof said, format, args);
    char *name = strchr(said, '\'');
    if (strncmp(said, "no such option", 14) == 0 && name != NULL) {
        name++;
        name[strcspn(name, "'")] = '\0';
        current->unknown(current, section, name, section->line);
        return;
    }
    bool is_cut = strcmp(said, "premature end of file") == 0;
    err_set(current->err, ERR_USAGE, "%s:%d: %s", current->path, section->line,
            is_cut ? "the file ends too early: a value, a closing quote or a } is missing" : said);
}

int
config_text_include(cfg_t *section, cfg_opt_t *option, int count, const char **names)
{
    (void)option;
    if (count == 1 && current->include_count < CONFIG_TEXT_INCLUDES) {
        current->includes[current->include_count++] =
            (struct config_include){.name = alloc_text(names[0]), .line = section->line};
        return 0;
    }
    if (count == 1)
        err_set(current->err, ERR_USAGE, "%s:%d: too many files are included", current->path, section->line);
    else
        err_set(current->err, ERR_USAGE, "%s:%d: include takes one name: include(\"%s\")", current->path,
                section->line, current->include_example);
    return -1;
}

cfg_t *
config_text_parse(struct config_text *text, cfg_opt_t *options, int flags, const char *source)
{
    cfg_t *cfg = cfg_init(options, (cfg_flag_t)flags);
    if (cfg == NULL)
        die("out of memory while reading %s", text->path);
    (void)cfg_set_error_function(cfg, on_error);

    current = text;
    bool is_parsed = cfg_parse_buf(cfg, source) == CFG_SUCCESS;
    current = NULL;
    if (is_parsed && !err_is_set(text->err))
        return cfg;
    err_set(text->err, ERR_USAGE, "%s: it cannot be read as %s", text->path, text->what);
    cfg_free(cfg);
    return NULL;
}

void
config_text_release(struct config_text *text)
{
    for (size_t i = 0; i < text->include_count; i++)
        free(text->includes[i].name);
    text->include_count = 0;
}
