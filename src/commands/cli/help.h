// help: --help, --version and the completions, all from commands.def and options.def.
#ifndef REDRIVE_COMMANDS_CLI_HELP_H
#define REDRIVE_COMMANDS_CLI_HELP_H

#include "base/strbuf.h"
#include "commands/cli/command.h"

void help_program(struct strbuf *out);
void help_command(const struct command *command, struct strbuf *out);
void help_version(struct strbuf *out);
// Completions (bash, zsh, fish) or a manual page by its name (commands/cli/manual.h).
bool help_generate(const char *what, struct strbuf *out, struct err *err) MUST_CHECK;

#endif
