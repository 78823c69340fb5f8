// Headers dlq.original.*, dlq.error.*, dlq.retry.count and dlq.consumer.*, which hand-written consumers put
// on a copy of the record. All values are text.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"dlq.original.topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"dlq.original.partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"dlq.original.offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"dlq.original.timestamp", FACT_TIMESTAMP, AS_TIME, 0},
    {"dlq.original.key", FACT_KEY, AS_TEXT, 0},
    {"dlq.error.class", FACT_ERROR_CLASS, AS_TEXT, 0},
    {"dlq.error.message", FACT_ERROR_MESSAGE, AS_TEXT, PROVES},
    {"dlq.error.stacktrace", FACT_STACK, AS_TEXT, 0},
    {"dlq.error.timestamp", FACT_FAILED_AT, AS_TIME, 0},
    {"dlq.retry.count", FACT_ATTEMPTS, AS_DECIMAL, 0},
    {"dlq.consumer.group", FACT_CONSUMER, AS_TEXT, 0},
    {"dlq.consumer.id", FACT_NONE, AS_TEXT, 0},
    {"reprocess.count", FACT_REPROCESSED, AS_DECIMAL, 0},
    {0},
};

const struct envelope_format envelope_dlq_headers = {
    .name = "dlq-headers",
    .title = "headers dlq.original.* and dlq.error.*",
    .headers = headers,
};
