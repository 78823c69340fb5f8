// password: asking for one at the terminal, echo off.
#ifndef REDRIVE_COMMANDS_CLI_PASSWORD_H
#define REDRIVE_COMMANDS_CLI_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

// Asks on the controlling terminal, whatever standard input is. Without one: ERR_USAGE. The caller wipes
// `out`.
bool password_ask(const char *question, char *out, size_t room, struct err *err) MUST_CHECK;

#endif
