// arguments: the command line, read into a call.
#ifndef REDRIVE_COMMANDS_CLI_ARGUMENTS_H
#define REDRIVE_COMMANDS_CLI_ARGUMENTS_H

#include "commands/cli/command.h"

// Options may stand before or after the command; "--" ends them. No command: the screen. Sets call->command,
// options, args; reads ids from standard input where --id - asks for it.
bool arguments_parse(int argc, char **argv, struct call *call, struct err *err) MUST_CHECK;

bool option_is_allowed(const struct option_row *row, const struct command *command);

#endif
