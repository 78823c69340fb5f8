// operation_line: one operation as a line, the same for operations, operation N and the end of every change.
#ifndef REDRIVE_COMMANDS_OPERATION_LINE_H
#define REDRIVE_COMMANDS_OPERATION_LINE_H

#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "core/json/value.h"
#include "core/operation.h"

// The line at the end of a change: operation, action, state, total, done, refused, skipped, returned.
bool operation_result(const struct call *call, const struct operation *operation, struct err *err) MUST_CHECK;
// As a row of the list of operations.
struct value *operation_object(const struct operation *operation, int64_t zone_us);
#define OPERATION_LINE_COLUMNS 9
extern const struct output_column operation_line_columns[OPERATION_LINE_COLUMNS];
void operation_row(struct output_table *table, const struct operation *operation);

// Adds to the error of an operation that is not there which command lists those that are.
void operation_unknown_remedy(struct err *err);
// The exit status of an action that left its operation in this state; STATUS_PART too where events returned.
int operation_status(const struct operation *operation);

#endif
