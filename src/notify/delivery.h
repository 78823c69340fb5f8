// delivery: takes a notice to its destination: over HTTP, or to a command. It waits for the answer, at most
// twenty seconds.
#ifndef REDRIVE_NOTIFY_DELIVERY_H
#define REDRIVE_NOTIFY_DELIVERY_H

#include <stdbool.h>
#include "base/err.h"
#include "core/alerts.h"

#define DELIVERY_LONGEST 20000000 // µs

// Asked now and then: false gives the delivery up, with ERR_CANCELLED. NULL: it is always wanted.
typedef bool delivery_wanted_fn(void *context);

// True: the destination has taken it. Over HTTP http_client_begin was called before. The error says nothing
// secret.
bool delivery_make(const struct alert_destination *destination, const struct alert_notice *notice,
                   delivery_wanted_fn *is_wanted, void *context, struct err *err) MUST_CHECK;

#endif
