// events_sort: `redrive events --sort '$.path'`: chosen events in the order of the value at a path of their
// payloads, and that value beside each.
#ifndef REDRIVE_COMMANDS_EVENTS_SORT_H
#define REDRIVE_COMMANDS_EVENTS_SORT_H

#include "core/backlog/path_values.h"
#include "store/store.h"

struct events_sort {
    const char *title; // of its column: the path; NULL: --sort was not given; borrowed from the option
    struct json_path *path;
    struct path_values *values;
    bool is_reversed;
};
// Reads what --sort says; NULL: nothing.
bool events_sort_parse(const char *text, struct events_sort *sort, struct err *err) MUST_CHECK;
void events_sort_release(struct events_sort *sort);

// Brings the ids into order: by the value (search/order.h), and where that is equal as they are. The first
// `limit` stay; 0: all. choosing_tick is asked with `progress`.
bool events_sort_ids(struct store *store, struct events_sort *sort, int64_t limit, int64_t *ids,
                     size_t *count, void *progress, struct err *err) MUST_CHECK;
// The value of the event for a person; false: there is none.
bool events_sort_value(struct events_sort *sort, int64_t id, struct strbuf *text);

#endif
