// A JSON object that got one more member, dlq_metadata. Without it, it is the original byte for byte.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"dlq_metadata.error_type", FACT_ERROR_CLASS, AS_TEXT},
    {"dlq_metadata.original_error", FACT_ERROR_MESSAGE, AS_TEXT},
    {"dlq_metadata.retry_count", FACT_ATTEMPTS, AS_DECIMAL},
    {"dlq_metadata.last_failure_timestamp", FACT_FAILED_AT, AS_TIME},
    {"dlq_metadata.dlq_published_at", FACT_NONE, AS_TIME},
    {0},
};
static const char *const shape[] = {"dlq_metadata", NULL};
static const struct envelope_step steps[] = {{CHANGE_REMOVE, "$.dlq_metadata", NULL}, {0}};

const struct envelope_format envelope_dlq_metadata = {
    .name = "dlq-metadata",
    .title = "the original with a member dlq_metadata",
    .members = members,
    .shape = shape,
    .steps = steps,
};
