// event_texts: one long column of many pending events, for a search that keeps it (engine/text_cache).
#ifndef REDRIVE_STORE_EVENT_TEXTS_H
#define REDRIVE_STORE_EVENT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "store/store.h"

enum event_text {
    EVENT_TEXT_ERROR,
    EVENT_TEXT_STACK,
    EVENT_TEXT_PAYLOAD, // as EVENT_PAYLOAD: newest revision, else raw bytes, else the jsonb's text
    EVENT_TEXT_COUNT
};

// Pending events with ids above after_id and below before_id, highest first or lowest first, at most `limit`.
// The bytes are valid during the call.
struct event_texts_query {
    enum event_text text;
    int64_t after_id, before_id;
    bool ascending;
    size_t limit;
};
typedef void event_text_fn(void *context, int64_t id, struct bytes text);
bool store_event_texts(struct store *store, const struct event_texts_query *query, event_text_fn *each,
                       void *context, struct err *err) MUST_CHECK;

// A number that changes when a row of the contract table, or what its payload may come from, was changed or
// added to; late by up to some seconds (pg_stat_all_tables). Arrivals and deletions do not change it.
bool store_change_count(struct store *store, int64_t *count, struct err *err) MUST_CHECK;

// Does the table have a trigram index (pg_trgm) on this column? *name (may be NULL) receives it, "" without.
bool store_trigram_index(struct store *store, enum event_text text, char name[64],
                         struct err *err) MUST_CHECK;

#endif
