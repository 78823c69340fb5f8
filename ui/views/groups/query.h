// group_query: what the events of a group are found by.
#ifndef REDRIVE_UI_VIEWS_GROUPS_QUERY_H
#define REDRIVE_UI_VIEWS_GROUPS_QUERY_H

#include "async/message.h"

// As a list of the backend; its filter is the arena's. within: the group by error it is part of, or NULL.
// filter: that its events match, or NULL.
struct list_query group_query(enum pivot pivot, const uint64_t *within, const struct event_group *group,
                              const char *filter, struct arena *arena);
// The same for all that match a filter, in that group or anywhere.
struct list_query group_query_matching(const uint64_t *within, struct bytes filter, struct arena *arena);
// As a term of the filter language, for the words of an operation and its headless twin; NULL: there is none.
// FIELD:="VALUE"
const char *group_exact_term(const char *field, const char *value, struct arena *arena);
const char *group_term(enum pivot pivot, const struct event_group *group, struct arena *arena);

#endif
