// corrections: the outcomes of a recipe, kept event by event (core/recipe). For workers.
#ifndef REDRIVE_STORE_OPERATIONS_CORRECTIONS_H
#define REDRIVE_STORE_OPERATIONS_CORRECTIONS_H

#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"
#include "core/revision.h"
#include "store/store.h"

// What a recipe made of one event.
struct corrected {
    int64_t id;
    int32_t parent;      // the newest revision when the event was read
    const char *outcome; // "changed", "forced", "unchanged", "not_applicable"; every other word is a refusal
    const char *detail;  // the reason; NULL where it changed
    struct correction correction; // of "changed" and "forced": all parts that differ from the original
};

// The next events of the operation that wait for its recipe, in the order in which work_correct takes them.
struct correct_queue {
    int64_t *ids; // ascending; on the heap
    size_t count;
    size_t *pages; // how many events each page has; on the heap
    size_t page_count;
};
void correct_queue_release(struct correct_queue *queue);
// At most `limit` events, in pages of at most `page`. None: nothing may be applied now.
bool work_correct_next(struct store *store, int64_t no, size_t limit, size_t page,
                       struct correct_queue *queue, struct err *err) MUST_CHECK;

// Writes revisions and outcomes of exactly these events in one transaction: the first page of the queue, then
// the next. A first part of a page costs more, then the rest of that page is next. An event that was closed
// or corrected since it was read is skipped. *applied is 0 where other events are next, because another
// worker was quicker; *left: how many are still queued. The payloads go through `room`, whose memory serves
// the next page again.
bool work_correct(struct store *store, int64_t no, const struct corrected *events, size_t count,
                  struct strbuf *room, int64_t *applied, int64_t *left, struct err *err) MUST_CHECK;

// The pending events of the operation whose newest revision is the operation's, ascending, on the heap: what
// it corrected and nobody sent, corrected again or reverted since.
bool operation_corrected_ids(struct store *store, int64_t no, int64_t **ids, size_t *count,
                             struct err *err) MUST_CHECK;

#endif
