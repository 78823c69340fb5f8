// topics: what workers learned of the topics that events would be sent to, for those that have no Kafka.
#ifndef REDRIVE_STORE_OPERATIONS_TOPICS_H
#define REDRIVE_STORE_OPERATIONS_TOPICS_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "store/store.h"

enum topic_answer { ANSWER_NONE, ANSWER_KNOWN, ANSWER_MISSING, ANSWER_DENIED };
struct topic_known {
    enum topic_answer answer; // ANSWER_NONE: Kafka was never asked
    int32_t partitions;
    int64_t max_bytes; // -1: not told
    int64_t asked_at;  // instant
};

// Fills known[i] for names[i].
bool topics_known(struct store *store, const char *const *names, size_t count, struct topic_known *known,
                  struct err *err) MUST_CHECK;
// Asks the workers about these. *has_worker: one that can ask Kafka lives, and answers within a second or so.
bool topics_want(struct store *store, const char *const *names, size_t count, bool *has_worker,
                 struct err *err) MUST_CHECK;

#define TOPIC_NAME 250
// For workers: takes up to `room` of those that are asked for; then what Kafka said of them.
bool topics_wanted(struct store *store, char (*names)[TOPIC_NAME], size_t room, size_t *count,
                   struct err *err) MUST_CHECK;
bool topics_answer(struct store *store, const char *cluster, const char *const *names,
                   const struct topic_known *known, size_t count, struct err *err) MUST_CHECK;

#endif
