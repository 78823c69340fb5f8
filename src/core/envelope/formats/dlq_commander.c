// DLQCommander: records that were sent again by it. README, "Headers". All values are text.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"x-dlq-commander-source-topic", FACT_TOPIC, AS_TEXT, PROVES},
    {"x-dlq-commander-source-partition", FACT_PARTITION, AS_DECIMAL, 0},
    {"x-dlq-commander-source-offset", FACT_OFFSET, AS_DECIMAL, 0},
    {"x-dlq-commander-requeued-at", FACT_NONE, AS_TIME, 0},
    {0},
};

const struct envelope_format envelope_dlq_commander = {
    .name = "dlq-commander",
    .title = "DLQCommander, sent again",
    .headers = headers,
};
