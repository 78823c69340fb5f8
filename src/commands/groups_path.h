// groups_path: `redrive groups --by $.path`: which value each of the chosen events has at a path, and what
// its row says; alone, or beside another pivot, as in --by '$.task_type,error'.
#ifndef REDRIVE_COMMANDS_GROUPS_PATH_H
#define REDRIVE_COMMANDS_GROUPS_PATH_H

#include "core/backlog/backlog.h"
#include "commands/path_read.h"
#include "core/json/value.h"
#include "store/store.h"

enum { GROUPS_OF_PATH = 1000 }; // rows without --limit: the largest

// One of the pivots that --by names.
struct grouped_by {
    enum pivot pivot;
    struct json_path *path; // of PIVOT_PATH, as is the next
    struct path_values *values;
    struct path_ahead *ahead; // that reads them already; NULL: none does
};
enum { GROUPS_BY_MOST = 2 };
// Reads what --by says: one pivot, or two with a comma between, of which a path may have commas of its own.
bool groups_by_parse(const char *text, struct grouped_by by[GROUPS_BY_MOST], size_t *count,
                     struct err *err) MUST_CHECK;
void groups_by_release(struct grouped_by by[GROUPS_BY_MOST]);

// Begins to read the values of all pending events while these are counted, over a connection of its own.
void groups_path_begin(const struct store_settings *settings, struct grouped_by *by);
// Reads the value of each event that the backlog holds one by one. choosing_tick is asked with `progress`;
// false stops with ERR_CANCELLED.
bool groups_path_read(struct store *store, struct grouped_by *by, const struct backlog *backlog,
                      void *progress, struct err *err) MUST_CHECK;
// The members of a row: group, of a path value (its kind) and filter, which chooses exactly its events.
void groups_by_json(const struct grouped_by *by, const struct event_group *group, struct value *object);
// Of a pair: group and second, value and second_value of paths, and filter, where the filter language has a
// term for both of its values.
void groups_pair_json(const struct grouped_by by[GROUPS_BY_MOST], const struct event_group *group,
                      struct value *object);
// What the row is called, in the arena.
const char *groups_by_text(const struct grouped_by *by, const struct event_group *group, struct arena *arena);

#endif
