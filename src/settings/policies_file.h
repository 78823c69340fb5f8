// policies_file: reads the file of policies (core/policy.h).
//
//     policy "timeouts" {
//         category = "transient"    filter = "topic:orders"
//         action = "reprocess"      schedule = "every 10m"    window = "06:00-22:00"
//         attempts = 3    backoff = "1m"    factor = 2    at_most = "1h"
//         rate = 20       canary = 5        halt_above = "20%"    limit = 500
//         enabled = "yes"
//     }
//     policy "expiry" { older_than = "90d"    action = "discard"    schedule = "0 3 * * *" }
//     policy "retention" { older_than = "90d"    action = "archive"    schedule = "0 4 * * *" }
//
// It is the file of the setting `policies`, else `policies` in the configuration folder. Without one there
// are no policies: none is built in.
#ifndef REDRIVE_SETTINGS_POLICIES_FILE_H
#define REDRIVE_SETTINGS_POLICIES_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/policy.h"

struct policies_file {
    struct policy *policies; // in the order of the file, those that are not enabled too
    size_t count;
    struct arena arena; // all of the above
};

// NULL as path: no policies. A fault names file and line, and what was probably meant; then there is nothing
// to release.
bool policies_file_read(const char *path, struct policies_file *file, struct err *err) MUST_CHECK;
const struct policy *policies_file_find(const struct policies_file *file, const char *name); // or NULL
void policies_file_release(struct policies_file *file);

#endif
