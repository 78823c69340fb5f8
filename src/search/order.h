// order: pending events in the order of one of their columns, by values in memory: the backlog, the text
// cache, or the values at a path of the payload. The sort is stable. Texts are compared by byte, their first
// ORDER_BYTES; unknown values come last, in both directions.
#ifndef REDRIVE_SEARCH_ORDER_H
#define REDRIVE_SEARCH_ORDER_H

#include "async/message.h"
#include "core/backlog/path_values.h"
#include "search/text_cache.h"

#define ORDER_BYTES 64

// The text that the cache has to hold for this order; EVENT_TEXT_COUNT: none.
enum event_text list_order_text(enum list_order order);

// By which values, borrowed. What the order does not need may be NULL.
struct list_ordering {
    enum list_order order;
    bool is_reversed;
    const struct backlog *backlog;
    struct text_cache *cache;
    // ORDER_PATH: numbers by size, then texts by byte, booleans, what is too long to be kept, arrays,
    // objects. Null, missing and unread values are unknown.
    struct path_values *values;
};
void list_order_ids(const struct list_ordering *by, int64_t *ids, size_t count);

#endif
