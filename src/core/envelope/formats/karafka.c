// Karafka Pro, enhanced dead letter queue. Documentation, "Enhanced Dead Letter Queue". All values are text.
// Before 2.5 the names began with original_. The names are general ones, so topic and offset are asked for.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"source_topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"source_partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"source_offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"source_consumer_group", FACT_CONSUMER, AS_TEXT, 0},
    {"source_attempts", FACT_ATTEMPTS, AS_DECIMAL, 0},
    {"source_trace_id", FACT_CORRELATION_ID, AS_TEXT, 0},
    {"original_topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"original_partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"original_offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"original_consumer_group", FACT_CONSUMER, AS_TEXT, 0},
    {"original_attempts", FACT_ATTEMPTS, AS_DECIMAL, 0},
    {0},
};

static bool
is_karafka(const struct envelope_record *record, const struct members *members)
{
    (void)members;
    for (size_t i = 0; i < record->header_count; i++)
        if (bytes_equal_text(record->headers[i].name, "source_offset") ||
            bytes_equal_text(record->headers[i].name, "original_offset"))
            return true;
    return false;
}

const struct envelope_format envelope_karafka = {
    .name = "karafka",
    .title = "Karafka Pro",
    .headers = headers,
    .recognise = is_karafka,
};
