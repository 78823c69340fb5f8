// readers: who else reads the topics that events are sent to, in words, for commands.
#ifndef REDRIVE_COMMANDS_READERS_H
#define REDRIVE_COMMANDS_READERS_H

#include "broker/broker.h"
#include "commands/cli/command.h"
#include "core/consumers.h"
#include "core/operation.h"
#include "store/store.h"

// The groups of these topics: from Kafka where the call has brokers, within some seconds; else what a worker
// has kept. `broker` may be NULL: it is opened. False: neither is to be had.
bool readers_find(struct call *call, struct store *store, struct broker *broker, const char *const *topics,
                  size_t count, struct arena *arena, struct topic_consumers **found);
// Appends "; read by billing (lag 12), audit: all of them get these again" for the preview's topics.
void readers_describe(struct call *call, struct store *store, struct broker *broker,
                      const struct preview *preview, struct strbuf *out);

#endif
