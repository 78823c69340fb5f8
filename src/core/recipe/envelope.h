// envelope: what a dead-letter handler put around a message or into it, and the recipe that takes it off
// again before the message is sent: a splice, as any correction.
//
//   message_id, queue, data, error, retry_count   set $.error null · set $.retry_count 0
//   dlq_metadata                                  remove $.dlq_metadata
//   originalTopic, originalValue                  unwrap $.originalValue
#ifndef REDRIVE_CORE_RECIPE_ENVELOPE_H
#define REDRIVE_CORE_RECIPE_ENVELOPE_H

#include "base/bytes.h"
#include "base/strbuf.h"

// Appends the recipe, one operation a line. false: the payload is not such a message, or nothing is left on
// it.
bool envelope_recipe(struct bytes payload, struct strbuf *recipe);

#endif
