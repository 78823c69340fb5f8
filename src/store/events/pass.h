// event_pass: one pass over the whole table in one statement, which the server may run in parallel, to choose
// ids by short columns and groups. Reading page by page (store/events/events) takes three times as long.
#ifndef REDRIVE_STORE_EVENTS_PASS_H
#define REDRIVE_STORE_EVENTS_PASS_H

#include "core/event.h"
#include "store/store.h"

// fields: of EVENT_BARE (always), EVENT_COUNTED and EVENT_GROUP. statuses: a set of 1 << enum event_status;
// 0: all; more may come. Events come in no order and are valid during the call; false: stop, ERR_CANCELLED.
typedef bool event_pass_fn(void *context, const struct event *event);
bool store_pass(struct store *store, unsigned fields, unsigned statuses, event_pass_fn *each, void *context,
                struct err *err) MUST_CHECK;

#endif
