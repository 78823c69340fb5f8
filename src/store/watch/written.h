// written: how many messages are written to the topics that events come from, and how many of these became
// dead letters (sql/written.sql). One worker at a time asks Kafka; everybody else reads what it wrote down.
#ifndef REDRIVE_STORE_WATCH_WRITTEN_H
#define REDRIVE_STORE_WATCH_WRITTEN_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/topic_share.h"
#include "store/store.h"

// For a worker of this cluster: its turn, and the topics whose ends it should ask for now. None: another one
// has just asked, or nothing came from a topic.
bool written_wanted(struct store *store, const char *cluster, struct arena *arena, int64_t *turn,
                    const char ***topics, size_t *count, struct err *err) MUST_CHECK;

// What Kafka told of a topic.
struct written_ends {
    const char *topic;
    const int64_t *ends; // of partition 0, 1, …
    size_t count;        // 0: it did not tell
    const char *note;    // why; NULL: it did
};
// Writes them down, unless another worker has had a turn since.
bool written_keep(struct store *store, const char *cluster, int64_t turn, const struct written_ends *topics,
                  size_t count, struct err *err) MUST_CHECK;

// What is known of the last `window` (µs): at most WRITTEN_TOPICS topics, of which the last may be "other",
// the rest of them. Up to two hours by minutes, up to a week by hours, else by days: the first of them counts
// whole.
#define WRITTEN_TOPICS 50
bool written_read(struct store *store, int64_t window, struct arena *arena, struct topic_shares *shares,
                  struct err *err) MUST_CHECK;

#endif
