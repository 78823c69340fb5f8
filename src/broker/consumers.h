// broker_consumers: the consumer groups of topics, and how far they have read.
#ifndef REDRIVE_BROKER_CONSUMERS_H
#define REDRIVE_BROKER_CONSUMERS_H

#include "base/arena.h"
#include "base/err.h"
#include "broker/broker.h"
#include "core/consumers.h"

// One entry for each topic, in their order, with every group that has committed on it and that may be seen; a
// group of redrive's own is left out. A group shows itself by its committed offsets only. All groups of the
// cluster are looked at every half minute, at most 500; between that only those that had committed.
//
// Live is a group with members, or one that had read all records older than a day; where none is, all count
// as live. A note says which right is missing; Kafka hides groups without the right to Describe them, so that
// no group at all may mean either.
bool broker_consumers(struct broker *broker, const char *const *topics, size_t count, int timeout_ms,
                      struct arena *arena, struct topic_consumers *found, struct err *err) MUST_CHECK;

#endif
