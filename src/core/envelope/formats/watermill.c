// Watermill, PoisonQueue middleware. Documentation, "Middleware"; middleware/poison.go. All values are text.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"reason_poisoned", FACT_ERROR_MESSAGE, AS_TEXT, PROVES},
    {"topic_poisoned", FACT_TOPIC, AS_TEXT, PROVES},
    {"handler_poisoned", FACT_CONSUMER, AS_TEXT, 0},
    {"subscriber_poisoned", FACT_NONE, AS_TEXT, 0},
    {0},
};

const struct envelope_format envelope_watermill = {
    .name = "watermill",
    .title = "Watermill, poison queue",
    .headers = headers,
};
