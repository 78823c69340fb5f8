// NServiceBus. "Message Headers", "Recoverability: Error handling" and "Messaging bridge" of Particular's
// documentation. All values are text, on any transport. Times are "yyyy-MM-dd HH:mm:ss:ffffff Z", with a
// colon before the microseconds. The stack trace begins with the message of the exception.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"NServiceBus.MessageId", FACT_EVENT_ID, AS_TEXT, KEPT},
    {"NServiceBus.EnclosedMessageTypes", FACT_EVENT_TYPE, AS_TEXT, KEPT},
    {"NServiceBus.OriginatingEndpoint", FACT_SOURCE, AS_TEXT, KEPT},
    {"NServiceBus.CorrelationId", FACT_CORRELATION_ID, AS_TEXT, KEPT},
    {"NServiceBus.ConversationId", FACT_CORRELATION_ID, AS_TEXT, KEPT},
    {"NServiceBus.ExceptionInfo.InnerExceptionType", FACT_ERROR_CLASS, AS_TEXT, 0},
    {"NServiceBus.ExceptionInfo.ExceptionType", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"NServiceBus.ExceptionInfo.Message", FACT_ERROR_MESSAGE, AS_TEXT, PROVES},
    {"NServiceBus.ExceptionInfo.StackTrace", FACT_STACK, AS_TEXT, 0},
    {"NServiceBus.MessagingBridge.ExceptionInfo.InnerExceptionType", FACT_ERROR_CLASS, AS_TEXT, 0},
    {"NServiceBus.MessagingBridge.ExceptionInfo.ExceptionType", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"NServiceBus.MessagingBridge.ExceptionInfo.Message", FACT_ERROR_MESSAGE, AS_TEXT, PROVES},
    {"NServiceBus.MessagingBridge.ExceptionInfo.StackTrace", FACT_STACK, AS_TEXT, 0},
    {"NServiceBus.FailedQ", FACT_TOPIC, AS_TEXT, PROVES},
    {"NServiceBus.ProcessingEndpoint", FACT_CONSUMER, AS_TEXT, 0},
    {"NServiceBus.Retries", FACT_ATTEMPTS, AS_DECIMAL, 0},
    {"NServiceBus.TimeOfFailure", FACT_FAILED_AT, AS_TIME, 0},
    {"NServiceBus.TimeSent", FACT_TIMESTAMP, AS_TIME, KEPT},
    {"NServiceBus.ContentType", FACT_NONE, AS_TEXT, KEPT},
    {"$.diagnostics.*", FACT_NONE, AS_TEXT, KEPT},
    {0},
};

// "queue@machine": of MSMQ and of SQL Server's transport.
static void
decode_nservicebus(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    (void)record;
    (void)arena;
    struct bytes queue = envelope->facts[FACT_TOPIC];
    size_t at = bytes_find(queue, BYTES("@"), 0);
    if (at != SIZE_MAX && at > 0)
        envelope->facts[FACT_TOPIC] = bytes_slice(queue, 0, at);
}

const struct envelope_format envelope_nservicebus = {
    .name = "nservicebus",
    .title = "NServiceBus",
    .headers = headers,
    .decode = decode_nservicebus,
};
