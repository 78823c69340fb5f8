// Amazon SQS through a connector. Amazon SQS API Reference, ReceiveMessage, MessageSystemAttributeNames: all
// are text, times in milliseconds. DeadLetterQueueSourceArn is there once SQS moved the message itself.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"DeadLetterQueueSourceArn", FACT_SOURCE, AS_QUOTED, PROVES},
    {"ApproximateReceiveCount", FACT_ATTEMPTS, AS_QUOTED, KEPT},
    {"SentTimestamp", FACT_TIMESTAMP, AS_QUOTED, KEPT},
    {"ApproximateFirstReceiveTimestamp", FACT_NONE, AS_QUOTED, KEPT},
    {"MessageDeduplicationId", FACT_NONE, AS_QUOTED, KEPT},
    {"MessageGroupId", FACT_NONE, AS_QUOTED, KEPT},
    {"SequenceNumber", FACT_NONE, AS_QUOTED, KEPT},
    {"AWSTraceHeader", FACT_CORRELATION_ID, AS_QUOTED, KEPT},
    {0},
};

const struct envelope_format envelope_sqs = {
    .name = "sqs",
    .title = "Amazon SQS, through a connector",
    .headers = headers,
};
