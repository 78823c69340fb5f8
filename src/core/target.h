// target: the topic that an event is sent to, and why nothing is sent to some. Pure: dry run, dialog,
// commands, `show --as-sent` and the worker ask here, so that what was promised is what is done.
#ifndef REDRIVE_CORE_TARGET_H
#define REDRIVE_CORE_TARGET_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

enum { TARGET_MOST = 249 }; // bytes in the name of a topic (org.apache.kafka.common.internals.Topic)

// --to wins over a correction, and both over the event's own topic; absent arguments say nothing. Absent: the
// event names none.
struct bytes target_of(struct bytes own, struct bytes corrected, const char *to);
// Why nothing is sent to this topic, or to none where it is absent: words of the arena that name the remedy;
// NULL: it may be. The same for each event of a topic, since outcomes are counted by their words.
const char *target_refusal(struct bytes topic, struct arena *arena);
// Is it a name that Kafka allows? ERR_USAGE.
bool target_name_check(struct bytes topic, struct err *err) MUST_CHECK;
// As target_refusal, for a topic that a person names; names that Kafka allows only. ERR_USAGE.
bool target_check(struct bytes topic, struct err *err) MUST_CHECK;

#endif
