// MassTransit. Documentation, "Exceptions" and "Message headers"; class MessageHeaders. On Kafka texts are
// text and other types JSON. Its Kafka rider has no queue for errors (issue 4244): applications write these.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"MessageId", FACT_EVENT_ID, AS_QUOTED, KEPT},
    {"MT-Fault-MessageType", FACT_EVENT_TYPE, AS_QUOTED, 0},
    {"MT-MessageType", FACT_EVENT_TYPE, AS_QUOTED, KEPT},
    {"MT-Source-Address", FACT_SOURCE, AS_QUOTED, KEPT},
    {"CorrelationId", FACT_CORRELATION_ID, AS_QUOTED, KEPT},
    {"ConversationId", FACT_CORRELATION_ID, AS_QUOTED, KEPT},
    {"MT-Fault-ExceptionType", FACT_ERROR_CLASS, AS_QUOTED, PROVES},
    {"MT-Fault-Message", FACT_ERROR_MESSAGE, AS_QUOTED, PROVES},
    {"MT-Fault-StackTrace", FACT_STACK, AS_QUOTED, 0},
    {"MT-Fault-RetryCount", FACT_ATTEMPTS, AS_QUOTED, 0},
    {"MT-Fault-RedeliveryCount", FACT_NONE, AS_QUOTED, 0},
    {"MT-Fault-Timestamp", FACT_FAILED_AT, AS_QUOTED, 0},
    {"MT-Fault-ConsumerType", FACT_CONSUMER, AS_QUOTED, 0},
    {"MT-Fault-InputAddress", FACT_NONE, AS_QUOTED, 0},
    {"MT-Reason", FACT_NONE, AS_QUOTED, 0},
    {"MT-*", FACT_NONE, AS_QUOTED, KEPT},
    {0},
};
// Of its JSON envelope, where the headers do not say so.
static const struct envelope_member_row members[] = {
    {"messageId", FACT_EVENT_ID, AS_TEXT},
    {"correlationId", FACT_CORRELATION_ID, AS_TEXT},
    {"sourceAddress", FACT_SOURCE, AS_TEXT},
    {0},
};

const struct envelope_format envelope_masstransit = {
    .name = "masstransit",
    .title = "MassTransit",
    .headers = headers,
    .members = members,
};
