#include "commands/cli/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"

const struct option_row option_rows[OPTION_COUNT] = {
#define OPTION(id, name, letter, value, scope, help) {name, value, help, letter, scope},
#include "commands/cli/options.def"
#undef OPTION
};

// An option as it was met, checked against the command when that is known.
struct met {
    enum option_id id;
    const char *value;
};

bool
option_is_allowed(const struct option_row *row, const struct command *command)
{
    return (row->scope & AREA_ALL) != 0 || (row->scope & command->options) != 0;
}

static const char *
spelling(enum option_id id)
{
    static const char *const spelled[OPTION_COUNT] = {
#define OPTION(id, name, letter, value, scope, help) "--" name,
#include "commands/cli/options.def"
#undef OPTION
    };
    return spelled[id];
}

// --- options that are settings ---

static const struct {
    enum option_id option;
    enum setting_id setting;
    const char *value; // where the option takes none
} setting_options[] = {
    {OPTION_DATABASE, SETTING_ID_database, NULL},   {OPTION_HOST, SETTING_ID_host, NULL},
    {OPTION_PORT, SETTING_ID_port, NULL},           {OPTION_USER, SETTING_ID_user, NULL},
    {OPTION_BROKERS, SETTING_ID_brokers, NULL},     {OPTION_TABLE, SETTING_ID_table, NULL},
    {OPTION_ZONE, SETTING_ID_zone, NULL},           {OPTION_RULES, SETTING_ID_rules, NULL},
    {OPTION_READ_ONLY, SETTING_ID_read_only, "on"}, {OPTION_NO_COLOR, SETTING_ID_color, "mono"},
    {OPTION_THEME, SETTING_ID_theme, NULL},         {OPTION_KEYMAP, SETTING_ID_keymap, NULL},
    {OPTION_COLOR, SETTING_ID_color, NULL},         {OPTION_ASCII, SETTING_ID_ascii, "on"},
    {OPTION_MOUSE, SETTING_ID_mouse, "on"},         {OPTION_NO_MOUSE, SETTING_ID_mouse, "off"},
    {OPTION_REFRESH, SETTING_ID_refresh, NULL},
};

static bool
take_setting(struct arguments *arguments, const struct met *met)
{
    for (size_t i = 0; i < sizeof setting_options / sizeof *setting_options; i++) {
        if (setting_options[i].option != met->id)
            continue;
        arguments->settings = alloc_grow(arguments->settings, arguments->setting_count,
                                         &arguments->setting_capacity, sizeof *arguments->settings);
        arguments->settings[arguments->setting_count++] = (struct settings_option){
            .id = setting_options[i].setting,
            .option = spelling(met->id),
            .value = setting_options[i].value != NULL ? setting_options[i].value : met->value,
        };
        return true;
    }
    return false;
}

// --- numbers and ids ---

static bool
whole(const struct met *met, int64_t low, int64_t *number, struct err *err)
{
    if (text_parse_int(bytes_of(met->value), number, NULL) && *number >= low)
        return true;
    return err_set(err, ERR_USAGE, "%s takes a whole number from %" PRId64 ", not \"%s\"", spelling(met->id),
                   low, met->value);
}

static bool
add_id(struct options *options, struct bytes text, struct err *err)
{
    int64_t id = 0;
    if (!text_parse_int(text, &id, NULL) || id <= 0)
        return err_set(err, ERR_USAGE,
                       "--id takes the number of an event, or - for standard input, not \"%.*s\"",
                       BYTES_ARGS(text));
    options->ids = alloc_grow(options->ids, options->id_count, &options->id_capacity, sizeof *options->ids);
    options->ids[options->id_count++] = id;
    return true;
}

static bool
is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

// Ids from standard input, separated by blanks, commas or line ends.
static bool
read_ids(struct options *options, struct err *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len = 0;
    bool ok = true;
    while (ok && (len = getline(&line, &room, stdin)) >= 0) {
        struct bytes rest = {line, (size_t)len};
        while (ok && rest.len > 0) {
            size_t word = 0;
            while (word < rest.len && !is_separator(rest.data[word]))
                word++;
            if (word > 0)
                ok = add_id(options, bytes_slice(rest, 0, word), err);
            rest = bytes_slice(rest, word + 1, SIZE_MAX);
        }
    }
    free(line);
    if (ok && ferror(stdin))
        return err_set(err, ERR_USAGE, "--id -: standard input cannot be read: %s", strerror(errno));
    return ok;
}

static bool
take_id(struct options *options, const struct met *met, struct err *err)
{
    options->has_ids = true;
    if (strcmp(met->value, "-") == 0)
        return read_ids(options, err);
    return add_id(options, bytes_of(met->value), err);
}

// --- the others ---

static bool
take_flag(struct options *options, enum option_id id)
{
    bool *const flags[OPTION_COUNT] = {
        [OPTION_JSON] = &options->json,
        [OPTION_QUIET] = &options->quiet,
        [OPTION_NO_COLOR] = &options->no_color,
        [OPTION_HELP] = &options->help,
        [OPTION_VERSION] = &options->version,
        [OPTION_ALL] = &options->all,
        [OPTION_YES] = &options->yes,
        [OPTION_DRY_RUN] = &options->dry_run,
        [OPTION_DETACH] = &options->detach,
        [OPTION_MERGED] = &options->merged,
        [OPTION_RAW] = &options->raw,
        [OPTION_AS_SENT] = &options->as_sent,
        [OPTION_ONCE] = &options->once,
        [OPTION_PRINT] = &options->print,
        [OPTION_ROLES] = &options->roles,
        [OPTION_WITH_INDEXES] = &options->with_indexes,
        [OPTION_ADOPT] = &options->adopt,
        [OPTION_CHECK] = &options->check,
        [OPTION_RECORD] = &options->record,
        [OPTION_EXPLAIN] = &options->explain,
        [OPTION_DUMP_KEYMAP] = &options->dump_keymap,
    };
    if (flags[id] == NULL)
        return false;
    *flags[id] = true;
    return true;
}

static bool
arguments_take_text(struct options *options, const struct met *met)
{
    const char **const texts[OPTION_COUNT] = {
        [OPTION_GENERATE] = &options->generate,
        [OPTION_GROUP] = &options->group,
        [OPTION_FILTER] = &options->filter,
        [OPTION_QUEUE] = &options->queue,
        [OPTION_STATUS] = &options->status,
        [OPTION_REASON] = &options->reason,
        [OPTION_TO] = &options->to,
        [OPTION_RAMP] = &options->ramp,
        [OPTION_SETTLE_FOR] = &options->settle_for,
        [OPTION_HALT_ABOVE] = &options->halt_above,
        [OPTION_BY] = &options->by,
        [OPTION_SAVE] = &options->save,
        [OPTION_FORGET] = &options->forget,
        [OPTION_SCRIPT] = &options->script,
        [OPTION_SCRIPT_OUT] = &options->script_out,
    };
    if (texts[met->id] == NULL)
        return false;
    *texts[met->id] = met->value;
    return true;
}

static bool
take_other(struct call *call, struct arguments *arguments, const struct met *met, struct err *err)
{
    struct options *options = &call->options;
    switch ((int)met->id) {
    case OPTION_PROFILE:
        arguments->request.profile = met->value;
        return true;
    case OPTION_NO_PASSWORD:
        arguments->request.no_password = true;
        return true;
    case OPTION_ASK_PASSWORD:
        arguments->request.ask_password = true;
        return true;
    case OPTION_KAFKA:
        arguments->kafka = alloc_grow(arguments->kafka, arguments->kafka_count, &arguments->kafka_capacity,
                                      sizeof *arguments->kafka);
        arguments->kafka[arguments->kafka_count++] = met->value;
        return true;
    case OPTION_KAFKA_FILE:
        arguments->kafka_files = alloc_grow(arguments->kafka_files, arguments->kafka_file_count,
                                            &arguments->kafka_file_capacity, sizeof *arguments->kafka_files);
        arguments->kafka_files[arguments->kafka_file_count++] = met->value;
        return true;
    case OPTION_ID:
        return take_id(options, met, err);
    case OPTION_LIMIT:
        return whole(met, 1, &options->limit, err);
    case OPTION_CONFIRM:
        options->has_confirm = true;
        return whole(met, 0, &options->confirm, err);
    case OPTION_CANARY:
        return whole(met, 1, &options->canary, err);
    case OPTION_RATE:
        options->has_rate = true;
        if (!whole(met, 0, &options->rate, err))
            return false;
        if (options->rate > INT32_MAX)
            return err_set(err, ERR_USAGE, "--rate takes at most %d events a second", INT32_MAX);
        return true;
    default:
        die("option %s is in options.def and nobody takes it", spelling(met->id));
    }
}

static bool
arguments_take(struct call *call, struct arguments *arguments, const struct met *met, struct err *err)
{
    const struct option_row *row = &option_rows[met->id];
    if (!option_is_allowed(row, call->command))
        return err_set(err, ERR_USAGE, "redrive %s has no option --%s; see redrive %s --help",
                       call->command->name, row->name, call->command->name);
    bool is_setting = take_setting(arguments, met);
    if (take_flag(&call->options, met->id) || arguments_take_text(&call->options, met) || is_setting)
        return true;
    return take_other(call, arguments, met, err);
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
    if (optopt > 0 && optopt < 256)
        return err_set(err, ERR_USAGE, "there is no option -%c; see redrive --help", optopt);
    const char *word = argv[optind - 1];
    if (optopt != 0) // a long option that takes no value was given one
        return err_set(err, ERR_USAGE, "%s takes no value; see redrive --help", word);
    const char *names[OPTION_COUNT];
    char given[64];
    snprintf(given, sizeof given, "%s", word + strspn(word, "-"));
    given[strcspn(given, "=")] = '\0';
    size_t alike = 0;
    for (int i = 0; i < OPTION_COUNT; i++) {
        names[i] = option_rows[i].name;
        alike += strncmp(names[i], given, strlen(given)) == 0;
    }
    const char *nearest = text_suggest(given, names, OPTION_COUNT);
    if (alike > 1)
        return err_set(err, ERR_USAGE, "--%s is the beginning of several options; write it out", given);
    if (nearest != NULL)
        return err_set(err, ERR_USAGE, "there is no option --%s; did you mean --%s?", given, nearest);
    return err_set(err, ERR_USAGE, "there is no option --%s; see redrive --help", given);
}

// Long options answer with 256 + their number, letters with themselves.
static void
getopt_rows(struct option *rows, char *letters)
{
    *letters++ = ':';
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        rows[i] =
            (struct option){row->name, row->value != NULL ? required_argument : no_argument, NULL, 256 + i};
        if (row->letter == 0)
            continue;
        *letters++ = (char)row->letter;
        if (row->value != NULL)
            *letters++ = ':';
    }
    *letters = '\0';
    rows[OPTION_COUNT] = (struct option){0};
}

static enum option_id
met_id(int answer)
{
    for (int i = 0; answer < 256 && i < OPTION_COUNT; i++)
        if (option_rows[i].letter == answer)
            return (enum option_id)i;
    return (enum option_id)(answer - 256);
}

bool
arguments_parse(int argc, char **argv, struct call *call, struct arguments *arguments, struct err *err)
{
    struct option rows[OPTION_COUNT + 1];
    char letters[2 * OPTION_COUNT + 2];
    getopt_rows(rows, letters);
    struct met *met = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    opterr = 0;
    for (int answer; ok && (answer = getopt_long(argc, argv, letters, rows, NULL)) != -1;) {
        if (answer == '?' || answer == ':') {
            ok = refuse_option(answer, argv, err);
            continue;
        }
        met = alloc_grow(met, count, &capacity, sizeof *met);
        met[count++] = (struct met){met_id(answer), optarg};
    }
    bool has_command = ok && optind < argc;
    if (ok)
        call->command = has_command ? find_command(argv[optind], err) : &commands[0];
    ok = ok && call->command != NULL;
    call->args = argv + optind + has_command;
    call->arg_count = (size_t)(argc - optind - has_command);
    for (size_t i = 0; ok && i < count; i++)
        ok = arguments_take(call, arguments, &met[i], err);
    free(met);

    arguments->request.options = arguments->settings;
    arguments->request.option_count = arguments->setting_count;
    arguments->request.kafka = arguments->kafka;
    arguments->request.kafka_count = arguments->kafka_count;
    arguments->request.kafka_files = arguments->kafka_files;
    arguments->request.kafka_file_count = arguments->kafka_file_count;
    return ok;
}

void
arguments_release(struct arguments *arguments)
{
    free(arguments->settings);
    free(arguments->kafka);
    free(arguments->kafka_files);
    *arguments = (struct arguments){0};
}
