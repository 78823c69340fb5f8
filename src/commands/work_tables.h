// work_tables: a worker as a service for several tables of dead letters: a process of its own for each.
//
// One process could not: what ends a worker of one table (librdkafka may abort the process when a transaction
// is fenced; a stop; a right that was taken) must not end those of the others. The first process starts the
// others, starts one again that fails, and stops them all when it is stopped itself.
#ifndef REDRIVE_COMMANDS_WORK_TABLES_H
#define REDRIVE_COMMANDS_WORK_TABLES_H

#include "commands/cli/command.h"

// Carries the operations of one table on, the one that call->table names.
typedef int work_table_fn(struct call *call, struct err *err);

// Returns in each of the new processes too, with what `run` said there. In the first one: STATUS_DONE, or the
// first status of a table that was given up (STATUS_USAGE and STATUS_STOPPED, as the unit file does).
int work_tables(struct call *call, const char *const *tables, size_t count, work_table_fn *run,
                struct err *err);

#endif
