// private_file: small files that only their owner may read: drafts, texts for another program.
//
// A file is written beside the old one, mode 0600, and renamed over it, so that a reader sees one or the
// other. Links are not followed.
#ifndef REDRIVE_BASE_PRIVATE_FILE_H
#define REDRIVE_BASE_PRIVATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

// Makes the folder with mode 0700 below one that exists. Refused where it is a link or another user's; closed
// to others where it was open to them.
bool private_folder_make(const char *folder, struct err *err) MUST_CHECK;
bool private_file_write(const char *folder, const char *name, struct bytes content,
                        struct err *err) MUST_CHECK;
// One part behind the other, so that a large text is not copied beside its head.
bool private_file_write_parts(const char *folder, const char *name, const struct bytes *parts, size_t count,
                              struct err *err) MUST_CHECK;
// Appends the content to `out`. ERR_NOT_FOUND: there is no such file; ERR_DATA: it is longer than `most`.
bool private_file_read(const char *folder, const char *name, size_t most, struct strbuf *out,
                       struct err *err) MUST_CHECK;
void private_file_remove(const char *folder, const char *name);
// Removes the files of the folder whose names end in `suffix` and that were written before `before` (µs since
// 1970). Returns how many.
size_t private_files_age(const char *folder, const char *suffix, int64_t before);

#endif
