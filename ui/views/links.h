// links: the menu of addresses elsewhere about an event or a group (core/link.h), to open or to copy.
#ifndef REDRIVE_UI_VIEWS_LINKS_H
#define REDRIVE_UI_VIEWS_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include "core/event.h"

struct app;

// Offers the links that the event has all values for; says why where there are none.
void links_ask(struct app *app, const struct event *event,
               void (*chosen)(struct app *app, void *state, size_t index));
// The i-th link that the event has all values for; false: no more. The address lives as the arena.
struct link_list;
struct arena;
bool links_of(const struct link_list *links, const struct event *event, size_t i, struct arena *arena,
              const char **name, const char **address);
// Opens that link by $BROWSER, or copies it where there is none.
void links_go(struct app *app, const struct event *event, size_t i);

// For `chosen`, with the same event: opens or copies the address.
void links_take(struct app *app, const struct event *event, size_t index);

#endif
