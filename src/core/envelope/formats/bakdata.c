// bakdata kafka-error-handling, ErrorHeaderProcessor. README, "Dead letters"; the prefix is that of Kafka
// Streams, the names are others. All values are text.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"__streams.errors.topic", FACT_TOPIC, AS_TEXT, 0},
    {"__streams.errors.partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"__streams.errors.offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"__streams.errors.exception.class.name", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"__streams.errors.exception.message", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"__streams.errors.exception.stack_trace", FACT_STACK, AS_TEXT, 0},
    {"__streams.errors.description", FACT_NONE, AS_TEXT, 0},
    {"__streams.errors.processor.node.id", FACT_NONE, AS_TEXT, 0},
    {"__streams.errors.task.id", FACT_NONE, AS_TEXT, 0},
    {0},
};

const struct envelope_format envelope_bakdata = {
    .name = "bakdata",
    .title = "bakdata kafka-error-handling, headers",
    .headers = headers,
};
