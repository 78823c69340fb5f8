// stats_trend: the backlog over time, as the monitor of the screen draws it: for people a row a point and the
// marks, for programs one object.
#ifndef REDRIVE_COMMANDS_STATS_TREND_H
#define REDRIVE_COMMANDS_STATS_TREND_H

#include "commands/cli/command.h"

bool stats_trend(struct call *call, struct store *store, struct bytes span, struct err *err) MUST_CHECK;

#endif
