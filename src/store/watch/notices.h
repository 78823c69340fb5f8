// notices: what is to be sent about alerts (sql/alerts.sql). A watcher claims the next one, sends it, and
// says how that ended. A claim lapses with its lease; then the next watcher sends the notice again.
#ifndef REDRIVE_STORE_WATCH_NOTICES_H
#define REDRIVE_STORE_WATCH_NOTICES_H

#include "base/arena.h"
#include "core/alerts.h"
#include "store/store.h"

struct notice_queue {
    const char *holder;              // of claims; nobody else has this name
    const char *const *destinations; // that this watcher knows
    size_t count;
    int64_t lease; // µs; longer than a delivery may take
};

// The next notice that is due, in the arena; *is_found false: none is. *dropped: how many its destination has
// lost so far.
bool notice_claim(struct store *store, const struct notice_queue *queue, struct arena *arena,
                  struct alert_notice *notice, bool *is_found, int64_t *dropped, struct err *err) MUST_CHECK;
// The destination has taken it.
bool notice_sent(struct store *store, const struct notice_queue *queue, int64_t no,
                 struct err *err) MUST_CHECK;
// It has not: the notice waits, and so do all others for this destination, longer each time.
bool notice_failed(struct store *store, const struct notice_queue *queue, int64_t no, const char *why,
                   struct err *err) MUST_CHECK;

#endif
