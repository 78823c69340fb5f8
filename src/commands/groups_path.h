// groups_path: `redrive groups --by $.path`: which value each of the chosen events has at a path, and what
// its row says.
#ifndef REDRIVE_COMMANDS_GROUPS_PATH_H
#define REDRIVE_COMMANDS_GROUPS_PATH_H

#include "core/backlog/backlog.h"
#include "core/json/value.h"
#include "store/store.h"

enum { GROUPS_OF_PATH = 1000 }; // rows without --limit: the largest

// Is this a path rather than the name of a pivot?
bool groups_path_is(const char *by);
// Reads the value of each event that the backlog holds one by one. `tick` is asked after each thousand; false
// stops with ERR_CANCELLED.
bool groups_path_read(struct store *store, const struct json_path *path, struct backlog *backlog,
                      struct path_values *values, bool (*tick)(void *context, int64_t events), void *context,
                      struct err *err) MUST_CHECK;
// The members of a row that only this pivot has: group, value (its kind) and filter, which chooses exactly
// its events.
void groups_path_json(const struct json_path *path, const struct event_group *group, struct value *object);
// What the row is called, in the arena.
const char *groups_path_text(const struct event_group *group, struct arena *arena);

#endif
