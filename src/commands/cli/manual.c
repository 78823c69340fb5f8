#include "commands/cli/manual.h"

#include <string.h>
#include "base/embed.h"
#include "commands/cli/arguments.h"
#include "commands/cli/command.h"
#include "core/filter/filter.h"
#include "core/recipe/recipe.h"
#include "settings/settings.h"

EMBED(manual_redrive, "src/commands/manual/redrive.1");
EMBED(manual_config, "src/commands/manual/redrive-config.5");
EMBED(manual_filter, "src/commands/manual/redrive-filter.7");
EMBED(manual_operations, "src/commands/manual/redrive-operations.7");
EMBED(redrive_service, "src/commands/redrive-work.service");

// A text for troff: a dot or quote at the start of a line, backslashes and hyphens that must stay hyphens.
static void
man_text(struct strbuf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        strbuf_add_text(out, "\\&");
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            strbuf_add_text(out, "\\e");
        else if (*text == '-')
            strbuf_add_text(out, "\\-");
        else
            strbuf_add_char(out, *text);
    }
}

static void
man_option(struct strbuf *out, const struct option_row *row)
{
    strbuf_add_text(out, ".TP\n");
    if (row->letter != 0)
        strbuf_printf(out, "\\fB\\-%c\\fR, ", row->letter);
    strbuf_add_text(out, "\\fB\\-\\-");
    man_text(out, row->name);
    strbuf_add_text(out, "\\fR");
    if (row->value != NULL)
        strbuf_printf(out, " \\fI%s\\fR", row->value);
    strbuf_add_char(out, '\n');
    man_text(out, row->help);
    strbuf_add_char(out, '\n');
}

static void
man_options(struct strbuf *out, uint64_t areas)
{
    for (size_t i = 0; i < option_count; i++)
        if ((option_rows[i].areas & areas) != 0)
            man_option(out, &option_rows[i]);
}

static void
add_version(struct strbuf *out)
{
    strbuf_add_text(out, REDRIVE_VERSION);
}

static void
add_commands(struct strbuf *out)
{
    for (size_t i = 0; i < command_count; i++) {
        strbuf_printf(out, ".SS \"redrive %s", commands[i].name);
        if (commands[i].args[0] != '\0')
            strbuf_printf(out, " %s", commands[i].args);
        strbuf_add_text(out, "\"\n");
        const char *help = commands[i].help;
        man_text(out, help);
        strbuf_add_text(out, help[strlen(help) - 1] == '?' ? "\n" : ".\n"); // it may end with a question
        man_options(out, commands[i].options & ~AREA_CHOOSE & ~AREA_CHANGE);
    }
}

static void
add_choosing(struct strbuf *out)
{
    man_options(out, AREA_CHOOSE);
}

static void
add_changing(struct strbuf *out)
{
    man_options(out, AREA_CHANGE);
}

static void
add_everywhere(struct strbuf *out)
{
    man_options(out, AREA_ALL);
}

static void
add_term(struct strbuf *out, const char *name, const char *sentence)
{
    strbuf_add_text(out, ".TP\n\\fB");
    man_text(out, name);
    strbuf_add_text(out, "\\fR\n");
    man_text(out, sentence);
    strbuf_add_char(out, '\n');
}

static void
add_fields(struct strbuf *out)
{
    const char *name;
    const char *sentence;
    for (size_t i = 0; filter_field_help(i, &name, &sentence); i++)
        add_term(out, name, sentence);
}

static void
add_recipe_words(struct strbuf *out)
{
    const char *word, *arguments, *sentence;
    for (size_t i = 0; (word = recipe_word(i, &arguments, &sentence)); i++) {
        strbuf_add_text(out, ".TP\n\\fB");
        man_text(out, word);
        strbuf_add_text(out, "\\fR \\fI");
        man_text(out, arguments);
        strbuf_add_text(out, "\\fR\n");
        man_text(out, sentence);
        strbuf_add_char(out, '\n');
    }
}

static void
add_settings(struct strbuf *out)
{
    for (int i = 0; i < SETTING_ID_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;
        add_term(out, setting_name(id), setting_help(id));
        if (setting_built_in(id)) {
            strbuf_add_text(out, "(built in: ");
            man_text(out, setting_built_in(id));
            strbuf_add_text(out, ")\n");
        }
    }
}

static void
add_service(struct strbuf *out)
{
    strbuf_add_text(out, ".EX\n");
    for (const char *at = redrive_service; at < redrive_service_end;) {
        const char *end = memchr(at, '\n', (size_t)(redrive_service_end - at));
        if (!end)
            end = redrive_service_end;
        char line[240];
        size_t len = (size_t)(end - at) < sizeof line - 1 ? (size_t)(end - at) : sizeof line - 1;
        memcpy(line, at, len);
        line[len] = '\0';
        man_text(out, line);
        strbuf_add_char(out, '\n');
        at = end + 1;
    }
    strbuf_add_text(out, ".EE\n");
}

static const struct {
    const char *name;
    void (*add)(struct strbuf *out);
} tables[] = {
    {"VERSION", add_version},       {"COMMANDS", add_commands}, {"CHOOSING", add_choosing},
    {"CHANGING", add_changing},     {"FIELDS", add_fields},     {"SETTINGS", add_settings},
    {"EVERYWHERE", add_everywhere}, {"SERVICE", add_service},   {"RECIPE", add_recipe_words},
};

static const struct {
    const char *name, *begin, *end;
} pages[] = {
    {"redrive", manual_redrive, manual_redrive_end},
    {"redrive-config", manual_config, manual_config_end},
    {"redrive-filter", manual_filter, manual_filter_end},
    {"redrive-operations", manual_operations, manual_operations_end},
};

// Replaces the table's name at `at`, between two @. Returns what follows; `at` itself: there is no such
// table.
static const char *
expand(const char *at, const char *end, struct strbuf *out)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t len = strlen(tables[i].name);
        if ((size_t)(end - at) <= len || memcmp(at, tables[i].name, len) != 0 || at[len] != '@')
            continue;
        tables[i].add(out);
        return at + len + 1;
    }
    return at;
}

bool
manual_page(const char *name, struct strbuf *out)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(pages[i].name, name) != 0)
            continue;
        for (const char *at = pages[i].begin; at < pages[i].end;) {
            const char *next = *at == '@' ? expand(at + 1, pages[i].end, out) : at;
            if (*at == '@' && next != at + 1) {
                // A table ends its last line itself.
                at =
                    next < pages[i].end && *next == '\n' && out->data[out->len - 1] == '\n' ? next + 1 : next;
                continue;
            }
            strbuf_add_char(out, *at++);
        }
        return true;
    }
    return false;
}
