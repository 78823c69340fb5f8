// list_order: pending events in the order of one of their columns, by values in memory: the backlog and the
// text cache. The sort is stable. Texts are compared by byte, their first ORDER_BYTES; unknown values come
// last.
#ifndef REDRIVE_SEARCH_ORDER_H
#define REDRIVE_SEARCH_ORDER_H

#include "async/message.h"
#include "search/text_cache.h"

#define ORDER_BYTES 64

// The text that the cache has to hold for this order; EVENT_TEXT_COUNT: none.
enum event_text list_order_text(enum list_order order);
void list_order_ids(const struct backlog *backlog, struct text_cache *cache, enum list_order order,
                    bool is_reversed, int64_t *ids, size_t count);

#endif
