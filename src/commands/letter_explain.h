// letter_explain: explains dead letters that are given as lines of JSON, or read from a topic: which format
// each has and why, every field that it has, and what would be sent instead of it.
#ifndef REDRIVE_COMMANDS_LETTER_EXPLAIN_H
#define REDRIVE_COMMANDS_LETTER_EXPLAIN_H

#include "commands/cli/command.h"

// name: a file, "-" for standard input, or a place as commands/letter_fetch.h reads it. An exit status.
int letter_explain(struct call *call, const char *name, struct err *err);

#endif
