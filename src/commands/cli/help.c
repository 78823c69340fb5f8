#include "commands/cli/help.h"

#include <stdio.h>
#include <string.h>
#include "commands/cli/arguments.h"
#include "commands/cli/manual.h"
#include "core/filter/filter.h"

static void
option_line(const struct option_row *row, struct strbuf *out)
{
    char left[64];
    char letter[8] = "    ";
    if (row->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name, row->value ? " " : "",
             row->value ? row->value : "");
    int width = 0; // in characters: HOST:PORT,… holds one of three bytes
    for (const char *c = left; *c != '\0'; c++)
        width += ((unsigned char)*c & 0xC0) != 0x80;
    strbuf_printf(out, "%s%*s%s\n", left, width < 36 ? 36 - width : 1, "", row->help);
}

static void
option_lines(uint64_t areas, const char *title, struct strbuf *out)
{
    bool is_first = true;
    for (size_t i = 0; i < option_count; i++) {
        if ((option_rows[i].areas & areas) == 0)
            continue;
        if (is_first)
            strbuf_printf(out, "\n%s\n", title);
        is_first = false;
        option_line(&option_rows[i], out);
    }
}

void
help_program(struct strbuf *out)
{
    strbuf_add_text(
        out, "redrive: work through a dead letter queue in PostgreSQL\n\n"
             "  redrive [OPTION…]                the full screen\n"
             "  redrive COMMAND [OPTION…]        one action; redrive COMMAND --help says more\n\nCommands\n");
    for (size_t i = 0; i < command_count; i++)
        strbuf_printf(out, "  %-14s%s\n", commands[i].name, commands[i].help);
    option_lines(AREA_ALL, "Everywhere", out);
    option_lines(AREA_SCREEN, "The screen", out);
    strbuf_add_text(
        out, "\nExit status: 0 done, 1 in part, 2 wrong usage, 3 PostgreSQL or Kafka cannot be reached,\n"
             "4 not allowed or not confirmed, 5 nothing to act on, 6 stopped: nothing may be published,\n"
             "130 interrupted.\n");
}

void
help_version(struct strbuf *out)
{
    strbuf_add_text(out, "redrive " REDRIVE_VERSION "\n");
}

static void
filter_help(struct strbuf *out)
{
    strbuf_add_text(
        out,
        "\nA filter is terms such as type:created retries:>2 age:<2h; ! before a term inverts it; what "
        "remains is\na regular expression on the error message. redrive filter --help lists the fields.\n");
}

static void
field_lines(struct strbuf *out)
{
    const char *name;
    const char *sentence;
    strbuf_add_text(
        out,
        "\nA filter is terms and one regular expression on the error message; all must hold. ! before a "
        "term inverts it;\na capital letter makes it exact, = takes the text as it is, \"…\" or /…/ hold "
        "blanks, @NAME stands for a saved filter.\n");
    for (size_t i = 0; filter_join_help(i, &name, &sentence); i++)
        strbuf_printf(out, "  %-14s%s\n", name, sentence);
    for (size_t i = 0; filter_field_help(i, &name, &sentence); i++)
        strbuf_printf(out, "  %-14s%s\n", name, sentence);
}

void
help_command(const struct command *command, struct strbuf *out)
{
    strbuf_printf(out, "redrive %s%s%s [OPTION…]: %s\n", command->name, command->args[0] ? " " : "",
                  command->args, command->help);
    option_lines(command->options & AREA_CHOOSE, "Which events (these narrow each other)", out);
    if ((command->options & AREA_CHOOSE) != 0)
        filter_help(out);
    if ((command->options & AREA_FILTER) != 0)
        field_lines(out);
    option_lines(command->options & ~(AREA_CHOOSE | AREA_SCREEN), "Options", out);
    option_lines(command->options & AREA_SCREEN, "The screen", out);
    option_lines(AREA_ALL, "Everywhere", out);
}

// --- completions ---

static void
bash_words(struct strbuf *out, const struct command *command)
{
    for (size_t i = 0; i < option_count; i++)
        if (option_is_allowed(&option_rows[i], command))
            strbuf_printf(out, " --%s", option_rows[i].name);
}

// The words that may follow the command. They are in small letters, placeholders in capitals.
static void
bash_arguments(struct strbuf *out, const struct command *command)
{
    static const char between[] = " |[]";
    for (const char *at = command->args; *at != '\0';) {
        at += strspn(at, between);
        size_t len = strcspn(at, between);
        if (len > 0 && strspn(at, "abcdefghijklmnopqrstuvwxyz-") == len)
            strbuf_printf(out, " %.*s", (int)len, at);
        at += len;
    }
}

static void
bash_completion(struct strbuf *out)
{
    strbuf_add_text(out,
                    "# completion of redrive for bash\n_redrive()\n{\n"
                    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
                    "    for ((i = 1; i < COMP_CWORD; i++)); do\n        case ${COMP_WORDS[i]} in\n        ");
    for (size_t i = 0; i < command_count; i++)
        strbuf_printf(out, "%s%s", i > 0 ? "|" : "", commands[i].name);
    strbuf_add_text(
        out,
        ") command=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n    case $before in\n"
        "    --by) COMPREPLY=($(compgen -W 'error type source topic category hour' -- \"$word\")); return "
        ";;\n"
        "    --status) COMPREPLY=($(compgen -W 'pending resolved discarded all' -- \"$word\")); return ;;\n"
        "    --generate) COMPREPLY=($(compgen -W 'redrive redrive-config redrive-filter redrive-operations "
        "bash zsh fish' -- \"$word\")); return ;;\n"
        "    -F|--kafka-file) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n    esac\n"
        "    case $command in\n    '') COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < command_count; i++)
        strbuf_printf(out, "%s ", commands[i].name);
    bash_words(out, &commands[0]);
    strbuf_add_text(out, "' -- \"$word\")) ;;\n");
    for (size_t i = 0; i < command_count; i++) {
        strbuf_printf(out, "    %s) COMPREPLY=($(compgen -W '", commands[i].name);
        bash_arguments(out, &commands[i]);
        bash_words(out, &commands[i]);
        strbuf_add_text(out, "' -- \"$word\")) ;;\n");
    }
    strbuf_add_text(out, "    esac\n}\ncomplete -F _redrive redrive\n");
}

// A help sentence within '…' of a shell.
static void
quoted(struct strbuf *out, const char *text, const char *escaped)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            strbuf_add_text(out, "'\\''");
        else if (strchr(escaped, *text) != NULL)
            strbuf_printf(out, "\\%c", *text);
        else
            strbuf_add_char(out, *text);
    }
}

static void
zsh_options(struct strbuf *out, const struct command *command)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (!option_is_allowed(row, command))
            continue;
        strbuf_printf(out, " \\\n            '*--%s[", row->name);
        quoted(out, row->help, "[]:\\");
        strbuf_add_char(out, ']');
        if (row->value != NULL) {
            strbuf_add_char(out, ':');
            quoted(out, row->value, "[]:\\");
            strbuf_add_char(out, ':');
        }
        strbuf_add_char(out, '\'');
    }
}

static void
zsh_completion(struct strbuf *out)
{
    strbuf_add_text(out, "#compdef redrive\n_redrive() {\n    local -a names\n    names=(\n");
    for (size_t i = 0; i < command_count; i++) {
        strbuf_printf(out, "        '%s:", commands[i].name);
        quoted(out, commands[i].help, ":\\");
        strbuf_add_text(out, "'\n");
    }
    strbuf_add_text(out, "    )\n    local word command=screen\n    for word in ${words[2,CURRENT-1]}; do\n"
                         "        [[ -n ${names[(r)$word:*]} ]] && command=$word && break\n    done\n"
                         "    case $command in\n");
    for (size_t i = 0; i < command_count; i++) {
        strbuf_printf(out, "        %s) _arguments", commands[i].name);
        zsh_options(out, &commands[i]);
        strbuf_add_text(out, i == 0 ? " '1:command:{_describe command names}' ;;\n" : " '*::: :' ;;\n");
    }
    strbuf_add_text(out, "    esac\n}\n_redrive \"$@\"\n");
}

static void
fish_option(struct strbuf *out, const struct option_row *row, const char *condition)
{
    strbuf_printf(out, "complete -c redrive%s -l %s", condition, row->name);
    if (row->letter != 0)
        strbuf_printf(out, " -s %c", row->letter);
    if (row->value != NULL)
        strbuf_add_text(out, " -r");
    strbuf_add_text(out, " -d '");
    for (const char *c = row->help; *c != '\0'; c++) {
        if (*c == '\'' || *c == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *c);
    }
    strbuf_add_text(out, "'\n");
}

static void
fish_completion(struct strbuf *out)
{
    strbuf_add_text(out, "# completion of redrive for fish\ncomplete -c redrive -f\n");
    for (size_t i = 0; i < command_count; i++)
        strbuf_printf(out, "complete -c redrive -n __fish_use_subcommand -a %s -d '%s'\n", commands[i].name,
                      commands[i].help);
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        if ((row->areas & AREA_ALL) != 0)
            fish_option(out, row, "");
        for (size_t c = 0; (row->areas & AREA_ALL) == 0 && c < command_count; c++) {
            char condition[80];
            snprintf(condition, sizeof condition, " -n '__fish_seen_subcommand_from %s'", commands[c].name);
            if (option_is_allowed(row, &commands[c]))
                fish_option(out, row, condition);
        }
    }
}

bool
help_generate(const char *what, struct strbuf *out, struct err *err)
{
    static const struct {
        const char *name;
        void (*print)(struct strbuf *out);
    } rows[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, what) == 0) {
            rows[i].print(out);
            return true;
        }
    return manual_page(what, out) ||
           err_set(err, ERR_USAGE,
                   "--generate makes bash, zsh, fish or a manual page (redrive, redrive-config, "
                   "redrive-filter, redrive-operations), not \"%s\"",
                   what);
}
