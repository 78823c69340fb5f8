// decode_again: redrive ingest --decode-again TOPIC: decodes the pending events of a topic by the settings of
// now, and says what became of how many.
#ifndef REDRIVE_COMMANDS_DECODE_AGAIN_H
#define REDRIVE_COMMANDS_DECODE_AGAIN_H

#include "commands/cli/command.h"

// An exit status.
int decode_again(struct call *call, const char *topic, struct err *err);

#endif
