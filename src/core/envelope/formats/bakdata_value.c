// bakdata kafka-error-handling, DeadLetter as JSON. README, "Dead letters"; dead_letter.avsc: input_value is
// the original as text. In Avro or Protobuf it is not opened: the schema's number is shown.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"topic", FACT_TOPIC, AS_TEXT},
    {"partition", FACT_PARTITION, AS_DECIMAL},
    {"offset", FACT_OFFSET, AS_DECIMAL},
    {"input_timestamp", FACT_TIMESTAMP, AS_TIME},
    {"description", FACT_NONE, AS_TEXT},
    {"cause.error_class", FACT_ERROR_CLASS, AS_TEXT},
    {"cause.message", FACT_ERROR_MESSAGE, AS_TEXT},
    {"cause.stack_trace", FACT_STACK, AS_TEXT},
    {0},
};
static const char *const shape[] = {"input_value", "cause", "description", NULL};
static const struct envelope_step steps[] = {{CHANGE_UNWRAP, "$.input_value", NULL}, {0}};

const struct envelope_format envelope_bakdata_value = {
    .name = "bakdata-value",
    .title = "bakdata kafka-error-handling, DeadLetter as JSON",
    .members = members,
    .shape = shape,
    .steps = steps,
    .inexact = "the library writes the original as text",
};
