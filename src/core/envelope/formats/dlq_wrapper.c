// A JSON object around the original: originalTopic, originalKey, originalValue and errorClass, errorMessage,
// errorStacktrace, as hand-written consumers make it. The value is a string: its content is the original.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"originalTopic", FACT_TOPIC, AS_TEXT},
    {"originalPartition", FACT_PARTITION, AS_DECIMAL},
    {"originalOffset", FACT_OFFSET, AS_DECIMAL},
    {"originalTimestamp", FACT_TIMESTAMP, AS_TIME},
    {"originalKey", FACT_KEY, AS_TEXT},
    {"errorClass", FACT_ERROR_CLASS, AS_TEXT},
    {"errorMessage", FACT_ERROR_MESSAGE, AS_TEXT},
    {"errorStacktrace", FACT_STACK, AS_TEXT},
    {"errorTimestamp", FACT_FAILED_AT, AS_TIME},
    {"retryCount", FACT_ATTEMPTS, AS_DECIMAL},
    {"consumerGroup", FACT_CONSUMER, AS_TEXT},
    {"consumerId", FACT_NONE, AS_TEXT},
    {"reprocessCount", FACT_REPROCESSED, AS_DECIMAL},
    {"lastReprocessError", FACT_NONE, AS_TEXT},
    {0},
};
static const char *const shape[] = {"originalTopic", "originalValue", NULL};
static const struct envelope_step steps[] = {{CHANGE_UNWRAP, "$.originalValue", NULL}, {0}};

const struct envelope_format envelope_dlq_wrapper = {
    .name = "dlq-wrapper",
    .title = "a JSON object around the original, in originalValue",
    .members = members,
    .shape = shape,
    .steps = steps,
};
