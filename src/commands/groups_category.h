// groups category: what people decided about the categories of groups: `redrive groups category [KEY
// [CATEGORY|rules]]`.
#ifndef REDRIVE_COMMANDS_GROUPS_CATEGORY_H
#define REDRIVE_COMMANDS_GROUPS_CATEGORY_H

#include "commands/cli/command.h"

int groups_category(struct call *call, struct err *err);

#endif
