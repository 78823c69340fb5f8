// path_values: which value each event has at one path of its payload, for the pivot by that path.
//
// 16 bytes an event, and each value once. Events come in any order; asking for them in the order of their
// ids, up or down, is quick. One thread at a time.
#ifndef REDRIVE_CORE_BACKLOG_PATH_VALUES_H
#define REDRIVE_CORE_BACKLOG_PATH_VALUES_H

#include <stdint.h>
#include "core/json/path_value.h"

struct path_values;

struct path_values *path_values_create(void);
void path_values_destroy(struct path_values *values);

// The value of an event, by its token (absent: missing). Replaces the one that it had.
void path_values_put(struct path_values *values, int64_t id, struct bytes token);
// The number of the event's value; PATH_UNREAD: it was not put.
#define PATH_UNREAD UINT32_MAX
uint32_t path_values_of(struct path_values *values, int64_t id);
// The value with this number. *name is the object's.
enum path_kind path_values_value(const struct path_values *values, uint32_t number, struct bytes *name);
// A key of the value that is the same whenever and in whatever order the events were put.
uint64_t path_values_key(const struct path_values *values, uint32_t number);
// Those of the ids (any order) that were not put go to `unread`, with room for all; returns their number.
size_t path_values_unread(struct path_values *values, const int64_t *ids, size_t count, int64_t *unread);
size_t path_values_count(const struct path_values *values); // different values, 1 at least: missing is one

#endif
