// runbook_file: reads the team's file of causes and first things to do (core/runbook.h).
//
//     cause "a slow dependency" {
//         class = "Timeout|SocketException"
//         category = "transient"
//         filter = "topic:payments"
//         first = "check the dependency; when it answers again, reprocess with a canary"
//         link = "https://wiki.example/timeouts"
//     }
//
// All conditions that an entry has must hold; the first entry that matches counts. It is the file of the
// setting `runbook`, else `runbook` in the configuration folder where that exists.
#ifndef REDRIVE_SETTINGS_RUNBOOK_FILE_H
#define REDRIVE_SETTINGS_RUNBOOK_FILE_H

#include "base/err.h"
#include "core/runbook.h"

// NULL as path, or an empty file: a runbook without entries. A fault names file and line, and what was
// probably meant. The caller destroys.
bool runbook_file_read(const char *path, struct runbook **runbook, struct err *err) MUST_CHECK;

#endif
