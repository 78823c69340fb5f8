// Azkarra Streams, DeadLetterTopicExceptionHandler. Documentation, "Exception handling"; class
// ExceptionHeader. All values are text.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"errors.exception.class.name", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"errors.exception.message", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"errors.exception.stacktrace", FACT_STACK, AS_TEXT, 0},
    {"errors.timestamp", FACT_FAILED_AT, AS_TIME, 0},
    {"errors.record.topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"errors.record.partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"errors.record.offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"errors.application.id", FACT_CONSUMER, AS_TEXT, KEPT},
    {0},
};

const struct envelope_format envelope_azkarra = {
    .name = "azkarra",
    .title = "Azkarra Streams",
    .headers = headers,
};
