// topic_name: the topic that a dead letter topic belongs to, by its name alone.
//
//     orders-dlq  orders.dlq  orders_dlq  orders.DLQ  orders-dlt  orders.DLT  orders-dead-letter  dlq.orders
//     error.orders.GROUP (Spring Cloud Stream)
#ifndef REDRIVE_CORE_ENVELOPE_TOPIC_NAME_H
#define REDRIVE_CORE_ENVELOPE_TOPIC_NAME_H

#include "base/bytes.h"

// Absent: the name does not say. A part of it otherwise. `group`: of the consumers that failed, where it is
// known; without it, what stands behind the last dot.
struct bytes topic_name_original(struct bytes name, struct bytes group);

#endif
