// letter_topics: how far redrive ingest is behind the topics that it reads or has read, for the monitor.
#ifndef REDRIVE_STORE_INGEST_LETTER_TOPICS_H
#define REDRIVE_STORE_INGEST_LETTER_TOPICS_H

#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/letter_topic.h"
#include "store/store.h"

// Those with most letters left first. Names and alarms are untrusted and live in the arena.
bool letter_topics_list(struct store *store, struct arena *arena, struct letter_topic **topics, size_t *count,
                        struct err *err) MUST_CHECK;

#endif
