// look: the screen's own files, read without a screen.
#ifndef REDRIVE_COMMANDS_LOOK_H
#define REDRIVE_COMMANDS_LOOK_H

#include "commands/cli/command.h"

// Can the keymap and the theme of the settings be read? Prints their warnings on standard error.
bool look_check(const struct call *call, struct err *err) MUST_CHECK;

#endif
