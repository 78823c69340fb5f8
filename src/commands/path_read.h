// path_read: the values of chosen events at a path of their payloads.
#ifndef REDRIVE_COMMANDS_PATH_READ_H
#define REDRIVE_COMMANDS_PATH_READ_H

#include "core/backlog/path_values.h"
#include "store/store.h"

// A pass over the pending events that runs while the caller finds out which they are.
struct path_ahead;

// Begins it, over a connection of its own. `path` and `values` are the pass's until its end.
struct path_ahead *path_ahead_start(const struct store_settings *settings, const struct json_path *path,
                                    struct path_values *values);
// Waits for its end and frees it; NULL is fine. False: it read nothing, or only a part.
bool path_ahead_end(struct path_ahead *ahead);
// Stops it and frees it; NULL is fine.
void path_ahead_stop(struct path_ahead *ahead);

// Into `values`. Few events are read one by one; of many, one pass over the pending ones reads them: `ahead`,
// which it ends, or where that is NULL or failed one of its own. choosing_tick is asked with `progress` after
// each thousand; false stops with ERR_CANCELLED.
bool path_read(struct store *store, const struct json_path *path, const int64_t *ids, size_t count,
               struct path_values *values, struct path_ahead *ahead, void *progress,
               struct err *err) MUST_CHECK;

#endif
