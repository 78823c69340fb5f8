// Azure Service Bus through a connector. Azure, "Overview of Service Bus dead-letter queues": properties
// DeadLetterReason, DeadLetterErrorDescription and DeadLetterSource.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"DeadLetterReason", FACT_ERROR_CLASS, AS_QUOTED, PROVES},
    {"DeadLetterErrorDescription", FACT_ERROR_MESSAGE, AS_QUOTED, PROVES},
    {"DeadLetterSource", FACT_SOURCE, AS_QUOTED, 0},
    {0},
};

const struct envelope_format envelope_service_bus = {
    .name = "service-bus",
    .title = "Azure Service Bus, through a connector",
    .headers = headers,
};
