// Wolverine. Documentation, "Error handling" and "Dead letter storage"; class DeadLetterQueueConstants. All
// values are text; failed-at is milliseconds since 1970; the stack is cut at 8,192 characters. The names are
// general ones, so two of them are asked for.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"exception-type", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"exception-message", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"exception-stack", FACT_STACK, AS_TEXT, 0},
    {"failed-at", FACT_FAILED_AT, AS_TIME, 0},
    {"original-destination", FACT_SOURCE, AS_TEXT, 0},
    {"original-partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"original-offset", FACT_OFFSET, AS_DECIMAL, 0},
    {0},
};

static bool
is_wolverine(const struct envelope_record *record, const struct members *members)
{
    (void)members;
    for (size_t i = 0; i < record->header_count; i++)
        if (bytes_equal_text(record->headers[i].name, "failed-at") ||
            bytes_equal_text(record->headers[i].name, "original-destination"))
            return true;
    return false;
}

// kafka://topic/NAME, as its Kafka transport writes addresses.
static void
decode_wolverine(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    (void)record;
    (void)arena;
    struct bytes address = envelope->facts[FACT_SOURCE];
    size_t slash = bytes_find_last(address, BYTES("/"));
    if (slash != SIZE_MAX && slash + 1 < address.len)
        envelope_say(envelope, FACT_TOPIC, bytes_slice(address, slash + 1, SIZE_MAX));
}

const struct envelope_format envelope_wolverine = {
    .name = "wolverine",
    .title = "Wolverine",
    .headers = headers,
    .recognise = is_wolverine,
    .decode = decode_wolverine,
};
