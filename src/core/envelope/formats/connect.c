// Kafka Connect, sink connectors with errors.deadletterqueue.context.headers.enable. KIP-298; class
// DeadLetterQueueReporter. All values are text; a message that is null is a header without value. Key, value,
// headers and time are the original's. Releases that found a header left it alone, so the first set is read.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"__connect.errors.topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"__connect.errors.partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"__connect.errors.offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"__connect.errors.connector.name", FACT_CONSUMER, AS_TEXT, 0},
    {"__connect.errors.task.id", FACT_NONE, AS_DECIMAL, 0},
    {"__connect.errors.stage", FACT_NONE, AS_TEXT, 0},
    {"__connect.errors.class.name", FACT_NONE, AS_TEXT, 0},
    {"__connect.errors.exception.class.name", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"__connect.errors.exception.message", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"__connect.errors.exception.stacktrace", FACT_STACK, AS_TEXT, 0},
    {0},
};

// A sink connector reads with the group connect-NAME unless it is told otherwise
// (consumer.override.group.id).
static void
decode_connect(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    (void)record;
    struct bytes name = envelope->facts[FACT_CONSUMER];
    if (bytes_present(name))
        envelope->facts[FACT_CONSUMER] = bytes_of(arena_printf(arena, "connect-%.*s", BYTES_ARGS(name)));
}

const struct envelope_format envelope_connect = {
    .name = "connect",
    .title = "Kafka Connect, sink connector",
    .headers = headers,
    .reads_first = true,
    .decode = decode_connect,
};
