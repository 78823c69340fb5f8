// A message of a queue that keeps its own error and count: message_id, queue, data, error, retry_count. Sent
// again with error null and retry_count 0 to its queue; every other byte stays.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"message_id", FACT_EVENT_ID, AS_TEXT},
    {"type", FACT_EVENT_TYPE, AS_TEXT},
    {"source", FACT_SOURCE, AS_TEXT},
    {"queue", FACT_TOPIC, AS_TEXT},
    {"timestamp", FACT_TIMESTAMP, AS_TIME},
    {"metadata.correlation_id", FACT_CORRELATION_ID, AS_TEXT},
    {"error.message", FACT_ERROR_MESSAGE, AS_TEXT},
    {"error.code", FACT_NONE, AS_TEXT},
    {"error.trace", FACT_STACK, AS_TEXT},
    {"retry_count", FACT_ATTEMPTS, AS_DECIMAL},
    {0},
};
static const char *const shape[] = {"message_id", "queue", "data", "error", "retry_count", NULL};
static const struct envelope_step steps[] = {
    {CHANGE_SET, "$.error", "null"}, {CHANGE_SET, "$.retry_count", "0"}, {0}};

const struct envelope_format envelope_queue_message = {
    .name = "queue-message",
    .title = "a queue's message with error and retry_count",
    .members = members,
    .shape = shape,
    .steps = steps,
    .data_at = "data",
    .metadata_at = "metadata",
};
