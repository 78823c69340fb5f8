// mapping_file: reads how the columns of another program's table are to be understood.
//
//     mapping "tickets" {
//         id      = "ticket"                    the key; with part, columns of a unique index
//         type    = "kind"                      source, source_id, payload, error, stack: likewise
//         error   = "errors.message"            a path within a column of json; of a list, the last element
//         failed  = {"failed_at", "failedat"}   the first that the table has
//         attempts = "tries"                    most_attempts: likewise
//         state   = "state"                     with the words of it that count, others are left out
//         pending = {"dead"}    resolved = {"done"}    discarded = {"dropped"}
//         topic   = "orders"                    or topic_from = "column": where a reprocess sends to
//         zone    = "UTC"                       of times without a zone
//         owner   = "Tickets"    retry = "..."  whose table it is, and how that program tries a row again
//     }
//
// Mappings for job queues that many use are built in (mappings/ in the repository, mappings.def here).
#ifndef REDRIVE_SETTINGS_MAPPING_FILE_H
#define REDRIVE_SETTINGS_MAPPING_FILE_H

#include "base/err.h"
#include "base/strbuf.h"

// Appends the mapping of that built-in name, or of the file of that name where it has a slash or a dot, as a
// line of JSON: {"name": …, "id": [{"column": …, "path": []}], …, "pending": ["dead"], …}. A fault is
// ERR_USAGE with file and line. Nothing in it is SQL, and nobody makes SQL of it but _mapping_apply.
bool mapping_file_read(const char *name, struct strbuf *json, struct err *err) MUST_CHECK;
// The i-th built-in name; NULL past the last.
const char *mapping_file_builtin(size_t i);

#endif
