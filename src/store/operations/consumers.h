// consumers: what workers find out about the consumer groups of topics, kept so that screens without Kafka
// know it too, and so that it is known which sent events were taken.
#ifndef REDRIVE_STORE_OPERATIONS_CONSUMERS_H
#define REDRIVE_STORE_OPERATIONS_CONSUMERS_H

#include "base/arena.h"
#include "core/consumers.h"
#include "store/store.h"

// For workers: the topics whose groups should be asked for now; none: nothing is watched, or another worker
// has just asked. *is_urgent: something was sent lately, or a step waits for it.
bool consumers_wanted(struct store *store, const char *cluster, struct arena *arena, const char ***topics,
                      size_t *count, bool *is_urgent, struct err *err) MUST_CHECK;
// Takes the answers, and counts the events of this cluster's operations that were taken.
bool consumers_keep(struct store *store, const char *cluster, const struct topic_consumers *topics,
                    size_t count, struct err *err) MUST_CHECK;

// Asks workers who reads these topics, at most 100; they answer within some seconds. *has_worker: one lives.
bool consumers_ask(struct store *store, const char *const *topics, size_t count, bool *has_worker,
                   struct err *err) MUST_CHECK;
// What is known of these topics, one each in their order; offsets are not kept.
bool consumers_read(struct store *store, const char *const *topics, size_t count, struct arena *arena,
                    struct topic_consumers **found, struct err *err) MUST_CHECK;

#endif
