// poison-queue-cli. README, "Dead Letter Queue (DLQ) Message Structure": a JSON object with id,
// correlationId, payload, and metadata that has all the rest.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"id", FACT_EVENT_ID, AS_TEXT},
    {"correlationId", FACT_CORRELATION_ID, AS_TEXT},
    {"metadata.source", FACT_SOURCE, AS_TEXT},
    {"metadata.failureReason", FACT_ERROR_MESSAGE, AS_TEXT},
    {"metadata.retryCount", FACT_ATTEMPTS, AS_DECIMAL},
    {"metadata.movedToDlqAt", FACT_FAILED_AT, AS_TIME},
    {"metadata.originalTopic", FACT_TOPIC, AS_TEXT},
    {0},
};
static const char *const shape[] = {"payload", "metadata.failureReason", "metadata.originalTopic", NULL};
static const struct envelope_step steps[] = {{CHANGE_UNWRAP, "$.payload", NULL}, {0}};

const struct envelope_format envelope_poison_queue = {
    .name = "poison-queue",
    .title = "poison-queue-cli",
    .members = members,
    .shape = shape,
    .steps = steps,
    .inexact = "the payload was printed again when the dead letter was made",
};
