// links: the menu of addresses elsewhere about an event or a group (core/link.h), to open or to copy.
#ifndef REDRIVE_UI_VIEWS_LINKS_H
#define REDRIVE_UI_VIEWS_LINKS_H

#include <stddef.h>
#include "core/event.h"

struct app;

// Offers the links that the event has all values for; says why where there are none.
void links_ask(struct app *app, const struct event *event,
               void (*chosen)(struct app *app, void *state, size_t index));
// For `chosen`, with the same event: opens or copies the address.
void links_take(struct app *app, const struct event *event, size_t index);

#endif
