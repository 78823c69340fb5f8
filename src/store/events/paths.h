// event_paths: the value at a path of each payload, without the payloads.
//
// The payload is the one of EVENT_PAYLOAD: of a corrected event that of its newest revision, and an original
// record has the same JSON value as the table's column.
#ifndef REDRIVE_STORE_EVENTS_PATHS_H
#define REDRIVE_STORE_EVENTS_PATHS_H

#include "core/json/json.h"
#include "store/store.h"

// The value as a JSON token, absent where there is none; valid during the call. A token longer than
// PATH_TOKEN_CHARACTERS (core/json/path_value.h) may be cut there. false: stop, ERR_CANCELLED.
typedef bool event_path_fn(void *context, int64_t id, struct bytes token);

// One pass over the pending events in one statement, which the server may run in parallel, in no order.
// Corrected events follow, and come a second time: the last value of an event is the true one.
bool store_path_pass(struct store *store, const struct json_path *path, event_path_fn *each, void *context,
                     struct err *err) MUST_CHECK;
// Of these events, in any status. Those that are gone do not come.
bool store_path_values(struct store *store, const struct json_path *path, const int64_t *ids, size_t count,
                       event_path_fn *each, void *context, struct err *err) MUST_CHECK;

#endif
