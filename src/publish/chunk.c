#include "publish/chunk.h"

#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "publish/sent_places.h"

static void
change(struct flight *flight, enum flight_state from, enum flight_state to)
{
    if (flight->state != from)
        die("a chunk in flight changes from state %d to %d", (int)flight->state, (int)to);
    flight->state = to;
}

static void
forget(struct flight *flight, enum flight_state state)
{
    struct arena arena = flight->arena;
    arena_release(&flight->places.arena);
    arena_reset(&arena);
    *flight = (struct flight){.state = state, .arena = arena};
}

void
flight_claim(struct flight *flight, int64_t now)
{
    change(flight, FLIGHT_NONE, FLIGHT_CLAIMED);
    flight->claimed_at = flight->begun_at = now;
}

// "id topic,topic": as many whole names as fit.
static void
write_marker_text(struct flight *flight)
{
    char *text = flight->marker_text;
    size_t room = sizeof flight->marker_text;
    size_t len = (size_t)snprintf(text, room, "%s", flight->claim.chunk.id);
    for (size_t i = 0; i < flight->topic_count && len + 1 + strlen(flight->topics[i]) < room; i++)
        len += (size_t)snprintf(text + len, room - len, "%c%s", i ? ',' : ' ', flight->topics[i]);
}

void
flight_send(struct flight *flight)
{
    change(flight, FLIGHT_CLAIMED, FLIGHT_SENDING);
    write_marker_text(flight);
    flight->deliveries.of_item = arena_array(&flight->arena, flight->claim.count, 1);
    flight->deliveries.places =
        arena_array(&flight->arena, flight->claim.count, sizeof *flight->deliveries.places);
}

void
flight_deliver(struct flight *flight)
{
    change(flight, FLIGHT_SENDING, FLIGHT_DELIVERED);
    struct flight kept = {
        .state = FLIGHT_DELIVERED,
        .claim = {.chunk = flight->claim.chunk, .count = flight->claim.count},
        .claimed_at = flight->claimed_at,
        .begun_at = flight->begun_at,
    };
    memcpy(kept.marker_text, flight->marker_text, sizeof kept.marker_text);
    for (size_t i = 0; i < flight->claim.count; i++)
        kept.bytes += (int64_t)flight->plans[i].value.len;
    sent_places_make(&kept.places, flight);
    forget(flight, FLIGHT_DELIVERED);
    kept.arena = flight->arena;
    *flight = kept;
}

void
flight_commit(struct flight *flight)
{
    change(flight, FLIGHT_DELIVERED, FLIGHT_COMMITTED);
}

void
flight_verify(struct flight *flight)
{
    change(flight, FLIGHT_COMMITTED, FLIGHT_VERIFIED);
}

void
flight_give_up(struct flight *flight)
{
    forget(flight, flight->state == FLIGHT_NONE ? FLIGHT_NONE : FLIGHT_GIVEN_UP);
}

void
flight_end(struct flight *flight)
{
    forget(flight, FLIGHT_NONE);
}

bool
flight_has_events(const struct flight *flight)
{
    return flight->state == FLIGHT_CLAIMED || flight->state == FLIGHT_SENDING;
}

void
flight_release(struct flight *flight)
{
    arena_release(&flight->places.arena);
    arena_release(&flight->arena);
    *flight = (struct flight){0};
}
