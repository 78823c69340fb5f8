// events: reading dlq_events, with what redrive's tables know about each row.
#ifndef REDRIVE_STORE_EVENTS_EVENTS_H
#define REDRIVE_STORE_EVENTS_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/event.h"
#include "core/history.h"
#include "store/store.h"

struct event_query {
    unsigned fields;    // enum event_fields
    unsigned statuses;  // set of 1 << enum event_status; 0: all
    const int64_t *ids; // only these (with id_count); the page keeps their order and omits missing ones
    size_t id_count;
    int64_t after_id;  // only ids above; 0: no bound, unless has_after
    int64_t before_id; // only ids below; 0: no bound, unless has_before
    bool has_after, has_before;
    bool ascending;        // by id; default newest (highest id) first
    size_t limit;          // 0: as many as there are (only with ids)
    size_t cut;            // error, stack and payload read only to that many bytes (at a character); 0: whole
    size_t payload_cut;    // of the payload, where it has a limit of its own; 0: that is `cut`
    size_t most_bytes;     // of texts after which a page ends early, so that few long texts are in memory;
                           // 0: no limit
    bool takes_unreadable; // where PostgreSQL cannot return a payload, the event comes without it and says
                           // why (known.unreadable); else the page fails. Of the other texts it always does
};

enum { EVENT_PAGE_BYTES = 8 << 20 }; // enough for any page of usual texts

struct event_page {
    struct event *events;
    size_t count;
    size_t bytes; // of its texts
    bool is_cut;  // by most_bytes: there may be more
    struct arena arena;
};
void event_page_release(struct event_page *page);
// How many of the query's ids, from the first on, the page answers: all, unless it is cut.
size_t event_page_answers(const struct event_page *page, const struct event_query *query);

// One page, keyset paging by id. Long results are the caller's loop, so that cancel takes effect between
// pages.
bool store_events(struct store *store, const struct event_query *query, struct event_page *page,
                  struct err *err) MUST_CHECK;

// Ids and creation times of all pending events, ascending by id, streamed in batches of up to 10,000: for
// reconciliation. each returns false to stop early (then ERR_CANCELLED); it is also called while nothing
// comes (store/pg.h).
typedef bool event_ids_fn(void *context, const int64_t *ids, size_t count);
bool store_pending_ids(struct store *store, event_ids_fn *each, void *context, struct err *err) MUST_CHECK;

// Ids of events of a type among the newest 20,000 of the table, closed ones first, newest first; on the heap.
// Rows are counted, not ids, so that a gap in them hides nothing.
bool store_ids_of_type(struct store *store, struct bytes type, size_t most, int64_t **ids, size_t *count,
                       struct err *err) MUST_CHECK;

// In one snapshot: the exact number of pending events and the highest id of all events (0 when empty). About
// 60 ms a million.
bool store_pending_count(struct store *store, int64_t *pending, int64_t *highest_id,
                         struct err *err) MUST_CHECK;
// When the last event was closed, and by whom, for "No pending events. The last one was resolved 12m ago."
bool store_last_closed(struct store *store, int64_t *at, char by[64], struct err *err) MUST_CHECK;

// The original payload of an event, without corrections: the record's bytes (*is_kept), else the jsonb's
// text. Absent if the event does not exist.
bool store_original(struct store *store, int64_t id, struct arena *arena, struct bytes *payload,
                    bool *is_kept, struct err *err) MUST_CHECK;

// Is each original the same JSON value as the event_payload of its event? PostgreSQL decides by jsonb
// equality; bytes that are not JSON differ.
bool store_same_json(struct store *store, const int64_t *ids, const struct bytes *originals, size_t count,
                     bool *same, struct err *err) MUST_CHECK;

#endif
