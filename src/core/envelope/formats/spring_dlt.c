// Spring for Apache Kafka, DeadLetterPublishingRecoverer. Reference manual, "Publishing Dead-letter Records";
// class KafkaHeaders (DLT_…). Partition has 4 bytes, offset and time 8, big-endian. exception-fqcn is mostly
// the listener's wrapper; the cause is the root cause since 3.1, the direct one in 2.8 to 3.0, absent before.
// The topic is the original's with -dlt, before 3.3 with .DLT.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"kafka_dlt-original-topic", FACT_TOPIC, AS_QUOTED, PROVES},
    {"kafka_dlt-original-partition", FACT_PARTITION, AS_INTEGER, 0},
    {"kafka_dlt-original-offset", FACT_OFFSET, AS_INTEGER, 0},
    {"kafka_dlt-original-timestamp", FACT_TIMESTAMP, AS_TIME_INTEGER, 0},
    {"kafka_dlt-original-timestamp-type", FACT_TIMESTAMP_TYPE, AS_QUOTED, 0},
    {"kafka_dlt-original-consumer-group", FACT_CONSUMER, AS_QUOTED, 0},
    {"kafka_dlt-exception-cause-fqcn", FACT_ERROR_CLASS, AS_QUOTED, 0},
    {"kafka_dlt-exception-fqcn", FACT_ERROR_CLASS, AS_QUOTED, PROVES},
    {"kafka_dlt-key-exception-fqcn", FACT_ERROR_CLASS, AS_QUOTED, PROVES},
    {"kafka_dlt-exception-message", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {"kafka_dlt-key-exception-message", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {"kafka_dlt-exception-stacktrace", FACT_STACK, AS_QUOTED, 0},
    {"kafka_dlt-key-exception-stacktrace", FACT_STACK, AS_QUOTED, 0},
    {"kafka_deliveryAttempt", FACT_ATTEMPTS, AS_INTEGER, 0},
    {"springDeserializerException*", FACT_NONE, AS_OPAQUE, 0},
    {"__TypeId__", FACT_EVENT_TYPE, AS_QUOTED, KEPT},
    {0},
};

const struct envelope_format envelope_spring_dlt = {
    .name = "spring-dlt",
    .title = "Spring for Apache Kafka, DeadLetterPublishingRecoverer",
    .headers = headers,
};
