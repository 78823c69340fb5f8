// groups_describe: what the groups of a backlog are called, learned from a sample of each.
#ifndef REDRIVE_COMMANDS_GROUPS_DESCRIBE_H
#define REDRIVE_COMMANDS_GROUPS_DESCRIBE_H

#include "core/backlog/backlog.h"
#include "core/fingerprint/rules.h"
#include "store/store.h"

bool groups_describe(struct store *store, const struct group_rules *rules, struct backlog *backlog,
                     struct err *err) MUST_CHECK;

#endif
