// link: addresses elsewhere about an event, made from templates of the settings: its trace, its logs, a
// runbook.
//
//     trace    https://jaeger.example/trace/{header:trace-id}
//     logs     https://logs.example/search?q={correlation_id}
//     runbook  https://wiki.example/dlq/{error_class}
//
// A row is a name and an address of http or https. {FIELD} stands for a value of the event, percent-encoded
// but for the unreserved characters of RFC 3986 (2.3), so that no value begins another part of the address.
// Host and port are the template's own: a value never decides where a link leads. An event without one of its
// values has no such link.
#ifndef REDRIVE_CORE_LINK_H
#define REDRIVE_CORE_LINK_H

#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/event.h"

struct link_template {
    const char *name;
    const char *address;
};
struct link_list {
    struct link_template *items;
    size_t count;
};

// Rows of the setting, one a line; NULL: none. ERR_USAGE with the row and what is wrong with it.
bool link_list_read(const char *rows, struct arena *arena, struct link_list *list,
                    struct err *err) MUST_CHECK;

// The address for the event, in the arena; NULL: a value is absent, empty, longer than 1,024 bytes, or
// nothing but dots. Only what the event was read with counts; what all events of a group share is a link of
// the group, by an event that has nothing else (its id 0 is no value).
const char *link_address(const struct link_template *template, const struct event *event,
                         struct arena *arena);

#endif
