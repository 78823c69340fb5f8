// policies_yaml: reads a policy that a team wrote down in YAML, and says it as our files do. Home of libyaml.
//
//     dlq_policy:
//       retry:     {max_attempts: 3, backoff_multiplier: 2, initial_delay_ms: 1000}
//       reprocess: {enabled: true, max_attempts: 3, schedule: "0 0 * * *"}
//       retention: {days: 30, archive_enabled: true}
//       alerting:  {high_rate_threshold: 10/min, backlog_threshold: 1000}
//
// Any part may be missing. The result is a file of policies (policies_file.h). What belongs elsewhere, as
// alerts, is in its comments; and so is what a policy cannot do, deleting without an archive.
#ifndef REDRIVE_SETTINGS_POLICIES_YAML_H
#define REDRIVE_SETTINGS_POLICIES_YAML_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

// `name` is for mistakes, which say "name:line:column: …".
bool policies_yaml_print(const char *name, struct bytes yaml, struct strbuf *out, struct err *err) MUST_CHECK;

#endif
