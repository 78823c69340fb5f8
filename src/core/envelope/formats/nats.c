// NATS JetStream, an advisory that deliveries are exhausted. NATS documentation, "JetStream", "Monitoring",
// schema io.nats.jetstream.advisory.v1.max_deliver. It points at a message of a stream, which Kafka has not.
#include "core/envelope/format.h"

static const struct envelope_member_row members[] = {
    {"id", FACT_EVENT_ID, AS_TEXT},         {"type", FACT_ERROR_MESSAGE, AS_TEXT},
    {"stream", FACT_SOURCE, AS_TEXT},       {"consumer", FACT_CONSUMER, AS_TEXT},
    {"stream_seq", FACT_NONE, AS_DECIMAL},  {"deliveries", FACT_ATTEMPTS, AS_DECIMAL},
    {"timestamp", FACT_FAILED_AT, AS_TIME}, {0},
};
static const char *const shape[] = {"type", "stream", "stream_seq", "deliveries", NULL};

static bool
is_advisory(const struct envelope_record *record, const struct members *at)
{
    (void)record;
    return bytes_equal_text(members_find(at, BYTES("type")), "\"io.nats.jetstream.advisory.v1.max_deliver\"");
}

const struct envelope_format envelope_nats = {
    .name = "nats",
    .title = "NATS JetStream, advisory of exhausted deliveries",
    .members = members,
    .shape = shape,
    .lost = "it points at a message of a NATS stream, which redrive does not read",
    .recognise = is_advisory,
};
