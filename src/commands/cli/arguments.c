#include "commands/cli/arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"

// An option as it was met, checked against the command when that is known.
struct met_option {
    const struct option_row *row;
    const char *value;
};

bool
option_is_allowed(const struct option_row *row, const struct command *command)
{
    return (row->areas & AREA_ALL) != 0 || (row->areas & command->options) != 0;
}

// Of options with one name (--group is a group of events, or a consumer group) the one that the command has;
// NULL: none.
static const struct option_row *
arguments_find(const struct option_row *met, const struct command *command)
{
    if (option_is_allowed(met, command))
        return met;
    for (size_t i = 0; i < option_count; i++)
        if (strcmp(option_rows[i].name, met->name) == 0 && option_is_allowed(&option_rows[i], command))
            return &option_rows[i];
    return NULL;
}

static bool
arguments_take(struct call *call, const struct met_option *met, struct err *err)
{
    const struct option_row *row = arguments_find(met->row, call->command);
    if (!row)
        return err_set(err, ERR_USAGE, "redrive %s has no option %s; see redrive %s --help",
                       call->command->name, met->row->spelling, call->command->name);
    return option_take_value(&call->options, row, met->value, err);
}

// --- words ---

static const struct command *
find_command(const char *word, struct err *err)
{
    const char *names[64];
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, word) == 0)
            return &commands[i];
        names[i] = commands[i].name;
    }
    const char *nearest = text_suggest(word, names, command_count);
    if (nearest != NULL)
        err_set(err, ERR_USAGE, "there is no command \"%s\"; did you mean redrive %s?", word, nearest);
    else
        err_set(err, ERR_USAGE, "there is no command \"%s\"; redrive --help lists them", word);
    return NULL;
}

static bool
refuse_option(int answer, char **argv, struct err *err)
{
    if (answer == ':')
        return err_set(err, ERR_USAGE, "%s needs a value; see redrive --help", argv[optind - 1]);
    if (optopt >= '0' && optopt <= '9')
        return err_set(err, ERR_USAGE, "there is no option -%c; write -- before an id below 0", optopt);
    if (optopt > 0 && optopt < 256)
        return err_set(err, ERR_USAGE, "there is no option -%c; see redrive --help", optopt);
    const char *word = argv[optind - 1];
    if (optopt != 0) // a long option that takes no value was given one
        return err_set(err, ERR_USAGE, "%s takes no value; see redrive --help", word);
    char given[64];
    snprintf(given, sizeof given, "%s", word + strspn(word, "-"));
    given[strcspn(given, "=")] = '\0';
    const char **names = alloc_array(option_count, sizeof *names);
    size_t alike = 0;
    for (size_t i = 0; i < option_count; i++) {
        names[i] = option_rows[i].name;
        alike += strncmp(names[i], given, strlen(given)) == 0;
    }
    const char *nearest = text_suggest(given, names, option_count);
    free(names);
    if (alike > 1)
        return err_set(err, ERR_USAGE, "--%s is the beginning of several options; write it out", given);
    if (nearest != NULL)
        return err_set(err, ERR_USAGE, "there is no option --%s; did you mean --%s?", given, nearest);
    return err_set(err, ERR_USAGE, "there is no option --%s; see redrive --help", given);
}

// The table for getopt_long. Long options answer with 256 + their number, letters with themselves.
struct getopt_rows {
    struct option *rows; // heap
    char letters[2 * 256 + 2];
};

static void
getopt_rows_make(struct getopt_rows *made)
{
    made->rows = alloc_array(option_count + 1, sizeof *made->rows);
    char *letters = made->letters;
    *letters++ = ':';
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        made->rows[i] = (struct option){row->name, row->value != NULL ? required_argument : no_argument, NULL,
                                        256 + (int)i};
        if (row->letter == 0)
            continue;
        *letters++ = (char)row->letter;
        if (row->value != NULL)
            *letters++ = ':';
    }
    *letters = '\0';
}

static const struct option_row *
met_row(int answer)
{
    for (size_t i = 0; answer < 256 && i < option_count; i++)
        if (option_rows[i].letter == answer)
            return &option_rows[i];
    return &option_rows[answer - 256];
}

bool
arguments_parse(int argc, char **argv, struct call *call, struct err *err)
{
    struct getopt_rows known;
    getopt_rows_make(&known);
    struct met_option *met = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    opterr = 0;
    for (int answer; ok && (answer = getopt_long(argc, argv, known.letters, known.rows, NULL)) != -1;) {
        if (answer == '?' || answer == ':') {
            ok = refuse_option(answer, argv, err);
            continue;
        }
        met = alloc_grow(met, count, &capacity, sizeof *met);
        met[count++] = (struct met_option){met_row(answer), optarg};
    }
    free(known.rows);
    bool has_command = ok && optind < argc;
    if (ok)
        call->command = has_command ? find_command(argv[optind], err) : &commands[0];
    ok = ok && call->command != NULL;
    call->args = argv + optind + has_command;
    call->arg_count = (size_t)(argc - optind - has_command);
    for (size_t i = 0; ok && i < count; i++)
        ok = arguments_take(call, &met[i], err);
    free(met);
    return ok;
}
