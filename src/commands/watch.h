// watch: what redrive watch reads besides the settings, for who starts it.
#ifndef REDRIVE_COMMANDS_WATCH_H
#define REDRIVE_COMMANDS_WATCH_H

#include "commands/cli/command.h"

// Is all that redrive watch would read sound: the files of alerts and policies with their secrets, the
// certificate, the token?
bool watch_check_files(const struct call *call, struct err *err) MUST_CHECK;

#endif
