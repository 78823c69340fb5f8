// Spring for Apache Kafka, non-blocking retries. Reference manual, "Non-Blocking Retries"; classes
// RetryTopicHeaders and KafkaHeaders (ORIGINAL_…, EXCEPTION_…). kafka_original-* is written once, at the
// first hop; retry_topic-* at each (spring-kafka issue 2549). Partition and attempts have 4 bytes, offset and
// time 8, big-endian; some releases of 2.7 wrote the attempts as one byte. Times of retry_topic-* are
// BigInteger.toByteArray(). The JSON mapper of headers may put texts in quotes.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"kafka_original-topic", FACT_TOPIC, AS_QUOTED, PROVES},
    {"kafka_original-partition", FACT_PARTITION, AS_INTEGER, 0},
    {"kafka_original-offset", FACT_OFFSET, AS_INTEGER, 0},
    {"kafka_original-timestamp", FACT_TIMESTAMP, AS_TIME_INTEGER, 0},
    {"retry_topic-original-timestamp", FACT_TIMESTAMP, AS_TIME_SHORTEST, 0},
    {"kafka_original-timestamp-type", FACT_TIMESTAMP_TYPE, AS_QUOTED, 0},
    {"kafka_dlt-original-consumer-group", FACT_CONSUMER, AS_QUOTED, 0},
    {"kafka_exception-cause-fqcn", FACT_ERROR_CLASS, AS_QUOTED, 0},
    {"kafka_exception-fqcn", FACT_ERROR_CLASS, AS_QUOTED, PROVES},
    {"kafka_key-exception-fqcn", FACT_ERROR_CLASS, AS_QUOTED, PROVES},
    {"kafka_exception-message", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {"kafka_key-exception-message", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {"kafka_exception-stacktrace", FACT_STACK, AS_QUOTED, 0},
    {"kafka_key-exception-stacktrace", FACT_STACK, AS_QUOTED, 0},
    {"retry_topic-attempts", FACT_ATTEMPTS, AS_COUNT, PROVES},
    {"retry_topic-backoff-timestamp", FACT_NONE, AS_TIME_SHORTEST, 0},
    {"kafka_deliveryAttempt", FACT_NONE, AS_INTEGER, 0},
    {"springDeserializerException*", FACT_NONE, AS_OPAQUE, 0},
    {"__TypeId__", FACT_EVENT_TYPE, AS_QUOTED, KEPT},
    {0},
};

const struct envelope_format envelope_spring_retry = {
    .name = "spring-retry",
    .title = "Spring for Apache Kafka, non-blocking retries",
    .headers = headers,
};
