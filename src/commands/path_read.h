// path_read: the values of chosen events at a path of their payloads.
#ifndef REDRIVE_COMMANDS_PATH_READ_H
#define REDRIVE_COMMANDS_PATH_READ_H

#include "core/backlog/path_values.h"
#include "store/store.h"

// Into `values`. Few events are read one by one; of many, one pass over the pending ones reads them.
// choosing_tick is asked with `progress` after each thousand; false stops with ERR_CANCELLED.
bool path_read(struct store *store, const struct json_path *path, const int64_t *ids, size_t count,
               struct path_values *values, void *progress, struct err *err) MUST_CHECK;

#endif
