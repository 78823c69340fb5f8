// SmallRye Reactive Messaging (Quarkus). "Kafka connector", "Failure Management": strategies
// dead-letter-queue and delayed-retry-topic; class KafkaDelayedRetryTopic. All values are text. Topic,
// partition and offset of a delayed retry are those of the last hop: of a repeated header the first is the
// origin.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"dead-letter-cause-class-name", FACT_ERROR_CLASS, AS_TEXT, 0},
    {"dead-letter-exception-class-name", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"dead-letter-reason", FACT_ERROR_MESSAGE, AS_TEXT, PROVES},
    {"dead-letter-cause", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"dead-letter-topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"dead-letter-partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"dead-letter-offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"delayed-retry-cause-class-name", FACT_ERROR_CLASS, AS_TEXT, 0},
    {"delayed-retry-exception-class-name", FACT_ERROR_CLASS, AS_TEXT, 0},
    {"delayed-retry-reason", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"delayed-retry-cause", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"delayed-retry-count", FACT_ATTEMPTS, AS_DECIMAL, PROVES},
    {"delayed-retry-topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"delayed-retry-partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"delayed-retry-offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"delayed-retry-original-timestamp", FACT_TIMESTAMP, AS_TIME, 0},
    {"delayed-retry-first-processing-timestamp", FACT_NONE, AS_TIME, 0},
    {0},
};

const struct envelope_format envelope_smallrye = {
    .name = "smallrye",
    .title = "SmallRye Reactive Messaging, Quarkus",
    .headers = headers,
};
