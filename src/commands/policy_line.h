// policy_line: what a file says of policies and what the database knows of them, as one list; and a policy as
// JSON.
#ifndef REDRIVE_COMMANDS_POLICY_LINE_H
#define REDRIVE_COMMANDS_POLICY_LINE_H

#include "core/policy.h"
#include "settings/policies_file.h"
#include "store/store.h"

// Those that the database knows, by name, then those of the file that no process has taken in yet; in the
// arena.
bool policy_line_rows(struct store *store, const struct policies_file *file, struct arena *arena,
                      struct policy_row **rows, size_t *count, struct err *err) MUST_CHECK;
bool policy_line_json(const struct policy_row *row, int64_t zone_us, struct err *err) MUST_CHECK;

#endif
