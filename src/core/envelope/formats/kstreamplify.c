// Michelin kstreamplify, KafkaError as JSON. README, "Error Handling"; KafkaError.avsc: value is the original
// as text, byteValue its bytes. In Avro it is not opened: the schema's number is shown.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"topic", FACT_TOPIC, AS_TEXT},         {"partition", FACT_PARTITION, AS_DECIMAL},
    {"offset", FACT_OFFSET, AS_DECIMAL},    {"applicationId", FACT_CONSUMER, AS_TEXT},
    {"cause", FACT_ERROR_MESSAGE, AS_TEXT}, {"contextMessage", FACT_NONE, AS_TEXT},
    {"stack", FACT_STACK, AS_TEXT},         {"processorNodeId", FACT_NONE, AS_TEXT},
    {"taskId", FACT_NONE, AS_TEXT},         {0},
};
static const char *const shape[] = {"cause", "contextMessage", "stack", "value", NULL};
static const struct envelope_step steps[] = {{CHANGE_UNWRAP, "$.value", NULL}, {0}};

const struct envelope_format envelope_kstreamplify = {
    .name = "kstreamplify",
    .title = "Michelin kstreamplify, KafkaError as JSON",
    .members = members,
    .shape = shape,
    .steps = steps,
    .inexact = "the library writes the original as text",
};
