// Kafka Streams with errors.dead.letter.queue.topic.name. KIP-1034; class ExceptionHandlerUtils, Kafka 4.2.
// All values are text. The KIP's text has class and message in one value, "class: message"; Kafka has the
// class alone.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"__streams.errors.topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"__streams.errors.partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"__streams.errors.offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"__streams.errors.exception", FACT_ERROR_CLASS, AS_TEXT, PROVES},
    {"__streams.errors.message", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {"__streams.errors.stacktrace", FACT_STACK, AS_TEXT, 0},
    {0},
};

static void
decode_streams(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    (void)record;
    (void)arena;
    struct bytes both = envelope->facts[FACT_ERROR_CLASS];
    size_t colon = bytes_find(both, BYTES(": "), 0);
    if (colon == SIZE_MAX || memchr(both.data, ' ', colon))
        return;
    envelope->facts[FACT_ERROR_CLASS] = bytes_slice(both, 0, colon);
    envelope_say(envelope, FACT_ERROR_MESSAGE, bytes_slice(both, colon + 2, SIZE_MAX));
}

const struct envelope_format envelope_streams = {
    .name = "streams",
    .title = "Kafka Streams, KIP-1034",
    .headers = headers,
    .decode = decode_streams,
};
