// Spring Cloud Stream, Kafka binder. Reference manual of the binder, "Dead-Letter Topic Processing"; class
// KafkaMessageChannelBinder (X_ORIGINAL_…, X_EXCEPTION_…). Partition has 4 bytes, offset and time 8,
// big-endian. The class is the outer one; its cause is in the stack alone. The topic is error.TOPIC.GROUP.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"x-original-topic", FACT_TOPIC, AS_QUOTED, PROVES},
    {"x-original-partition", FACT_PARTITION, AS_INTEGER, 0},
    {"x-original-offset", FACT_OFFSET, AS_INTEGER, 0},
    {"x-original-timestamp", FACT_TIMESTAMP, AS_TIME_INTEGER, 0},
    {"x-original-timestamp-type", FACT_TIMESTAMP_TYPE, AS_QUOTED, 0},
    {"x-exception-fqcn", FACT_ERROR_CLASS, AS_QUOTED, PROVES},
    {"x-exception-message", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {"x-exception-stacktrace", FACT_STACK, AS_QUOTED, 0},
    {0},
};

const struct envelope_format envelope_spring_cloud_stream = {
    .name = "spring-cloud-stream",
    .title = "Spring Cloud Stream, Kafka binder",
    .headers = headers,
};
