// rules_file: reads the file of rules that merge and split groups (core/fingerprint/rules.h).
//
//     own = { "com.acme." }
//     merge "the gateway does not answer" {
//         groups = { "00c7918f6f1b7231", "059f44877325e3bd" }
//     }
//     merge "everything of the old importer" {
//         text = "legacy import"
//     }
//     split "by country" {
//         group = "39072ada3d5e2aaf"
//         keep = { "BR", "KR" }
//     }
//
// Everything is optional. It is the file of the setting `rules`, else `rules` in the configuration folder
// where that exists.
#ifndef REDRIVE_SETTINGS_RULES_FILE_H
#define REDRIVE_SETTINGS_RULES_FILE_H

#include "base/err.h"
#include "core/fingerprint/rules.h"

// NULL as path, or an empty file, gives rules that change nothing. A fault names file and line, and what was
// probably meant. The caller destroys.
bool rules_file_read(const char *path, struct group_rules **rules, struct err *err) MUST_CHECK;

#endif
