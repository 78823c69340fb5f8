// Share groups of Kafka 4.4. KIP-1191; class ShareGroupDLQStateManager. All values are text; the topic may be
// named by its UUID. Without errors.deadletterqueue.copy.record.enable, which is off by default, the record
// has neither key nor value: it points at the original, which has to be read before retention removes it.
// Headers of the original are never copied.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"__dlq.errors.topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"__dlq.errors.partition", FACT_PARTITION, AS_DECIMAL, PROVES},
    {"__dlq.errors.offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"__dlq.errors.group", FACT_CONSUMER, AS_TEXT, 0},
    {"__dlq.errors.delivery.count", FACT_ATTEMPTS, AS_DECIMAL, 0},
    {"__dlq.errors.message", FACT_ERROR_MESSAGE, AS_TEXT, 0},
    {0},
};

static void
decode_share_group(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    if (bytes_present(record->value))
        return;
    envelope->pointer = envelope->has_number[FACT_PARTITION] && envelope->has_number[FACT_OFFSET]
                            ? arena_printf(arena, "it is at %.*s/%.*s/%.*s and has to be read from there",
                                           BYTES_ARGS(envelope->facts[FACT_TOPIC]),
                                           BYTES_ARGS(envelope->facts[FACT_PARTITION]),
                                           BYTES_ARGS(envelope->facts[FACT_OFFSET]))
                            : "the record has no copy of it and does not say where it is";
}

const struct envelope_format envelope_share_group = {
    .name = "share-group",
    .title = "Kafka share group, KIP-1191",
    .headers = headers,
    .drops_headers = true,
    .decode = decode_share_group,
};
