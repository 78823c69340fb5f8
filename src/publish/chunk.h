// chunk: a chunk in flight, from its claim until PostgreSQL has its end: how far it is, and what memory still
// holds of it. Its row in PostgreSQL is struct chunk (store/operations/ledger.h).
//
//     NONE → CLAIMED → SENDING → DELIVERED → COMMITTED → VERIFIED → NONE
//
// Without transactions DELIVERED is followed by NONE. Any other end leads to GIVEN_UP: the publisher drops
// it, and Resolve or the search of Doubt finds out what became of it (PROTOCOL.md). There is one function for
// each change; none of them talks to PostgreSQL or Kafka.
#ifndef REDRIVE_PUBLISH_CHUNK_H
#define REDRIVE_PUBLISH_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "broker/producer.h"
#include "publish/plan.h"
#include "store/operations/ledger.h"

enum flight_state {
    FLIGHT_NONE,      // nothing is claimed
    FLIGHT_CLAIMED,   // PostgreSQL has the claim; Kafka has none of its records
    FLIGHT_SENDING,   // its transaction has begun
    FLIGHT_DELIVERED, // Kafka has confirmed every record
    FLIGHT_COMMITTED, // Kafka has confirmed the commit
    FLIGHT_VERIFIED,  // the marker was read back
    FLIGHT_GIVEN_UP,  // no longer pursued; lasts until its slot has passed Resolve
};

// Where Kafka has stored a record.
struct delivery_place {
    int32_t partition;
    int64_t offset; // -1: not known
};

// The reports so far, from SENDING to DELIVERED.
struct deliveries {
    unsigned char *of_item;        // one per item: 0, or 1 + enum report_kind
    struct delivery_place *places; // one per item, of those that were delivered
    size_t sent, reported, delivered;
    size_t introduced;   // isolating: the item that brought in the newest topic
    bool is_broken;      // a report said that the handle is no longer good
    int64_t rejected_at; // mono: the first report of a failure; 0: none
};

struct flight {
    enum flight_state state;
    struct claim claim;         // from DELIVERED on only the chunk's row and the number of its items
    struct original *originals; // one per item; NULL: none is needed
    struct plan *plans;         // one per item
    const char **topics;        // distinct targets
    size_t topic_count;
    const char **ends; // where these end, before the first record; NULL: not known
    char marker_text[UUID_SIZE +
                     sizeof((struct marker *)0)->topics]; // the chunk's id and these, from SENDING on
    struct deliveries deliveries;
    int64_t claimed_at, begun_at; // mono; begun_at starts the deadline of its transaction
    int64_t bytes;                // of all its payloads, from DELIVERED on
    struct sent_places places;    // of its records, from DELIVERED on
    struct arena arena;           // of its events, until DELIVERED
};

// The claim was answered and has items.
void flight_claim(struct flight *flight, int64_t now);
// Its transaction has begun.
void flight_send(struct flight *flight);
// All reports are in. The events are dropped: from here on the chunk is its row, and a recoverer reads its
// events again.
void flight_deliver(struct flight *flight);
void flight_commit(struct flight *flight);
void flight_verify(struct flight *flight);
// Drops all memory of it, since this publisher pursues it no further. A flight of NONE stays so.
void flight_give_up(struct flight *flight);
// Its end is written down, nothing was claimed, or Resolve has found nothing unfinished.
void flight_end(struct flight *flight);
// Are its events in memory?
bool flight_has_events(const struct flight *flight);
void flight_release(struct flight *flight);

#endif
