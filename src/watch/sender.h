// sender: a thread that sends the notices of one table to their destinations (notify/delivery.h), one after
// the other, with a connection of its own. A notice that could not be sent stays in the database, and the
// next sender, here or in another process, tries again.
#ifndef REDRIVE_WATCH_SENDER_H
#define REDRIVE_WATCH_SENDER_H

#include "core/alerts.h"
#include "store/store.h"

struct sender;

// Borrows the settings and the destinations. NULL: there are none.
struct sender *sender_start(const struct store_settings *settings,
                            const struct alert_destination *destinations, size_t count);
void sender_stop(struct sender *sender); // gives up what it sends now; NULL is fine

#endif
