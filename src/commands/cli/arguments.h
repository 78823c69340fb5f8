// arguments: the command line, read into a call.
#ifndef REDRIVE_COMMANDS_CLI_ARGUMENTS_H
#define REDRIVE_COMMANDS_CLI_ARGUMENTS_H

#include "commands/cli/command.h"

enum option_id {
#define OPTION(id, name, letter, value, scope, help) OPTION_##id,
#include "commands/cli/options.def"
#undef OPTION
    OPTION_COUNT
};

struct option_row {
    const char *name;
    const char *value; // what its value is called; NULL: takes none
    const char *help;
    int letter;     // 0: none
    unsigned scope; // set of enum option_area
};
extern const struct option_row option_rows[OPTION_COUNT];

// What the settings are asked for with; heap, the caller frees the arrays with arguments_release.
struct arguments {
    struct settings_request request;
    struct settings_option *settings;
    size_t setting_count, setting_capacity;
    const char **kafka;
    size_t kafka_count, kafka_capacity;
    const char **kafka_files;
    size_t kafka_file_count, kafka_file_capacity;
};

// Options may stand before or after the command; "--" ends them. No command: the screen. Sets call->command,
// options, args; reads ids from standard input where --id - asks for it.
bool arguments_parse(int argc, char **argv, struct call *call, struct arguments *arguments,
                     struct err *err) MUST_CHECK;
void arguments_release(struct arguments *arguments);

bool option_is_allowed(const struct option_row *row, const struct command *command);

#endif
