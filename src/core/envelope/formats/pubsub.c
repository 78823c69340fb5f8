// Google Cloud Pub/Sub through a connector. Google Cloud, "Handle message failures", "Track delivery
// attempts" and dead-letter attributes. All are text.
#include "core/envelope/format.h"

static const struct envelope_header_row headers[] = {
    {"CloudPubSubDeadLetterSourceDeliveryCount", FACT_ATTEMPTS, AS_QUOTED, PROVES},
    {"CloudPubSubDeadLetterSourceSubscription", FACT_CONSUMER, AS_QUOTED, PROVES},
    {"CloudPubSubDeadLetterSourceSubscriptionProject", FACT_NONE, AS_QUOTED, 0},
    {"CloudPubSubDeadLetterSourceTopicPublishTime", FACT_TIMESTAMP, AS_QUOTED, 0},
    {"CloudPubSubDeadLetterSourceDeliveryErrorMessage", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {0},
};

const struct envelope_format envelope_pubsub = {
    .name = "pubsub",
    .title = "Google Cloud Pub/Sub, through a connector",
    .headers = headers,
};
