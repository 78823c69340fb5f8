// turn: proves that this database is the one that published last, before a worker publishes
// (src/publish/PROTOCOL.md, "Turn").
//
// Kafka and PostgreSQL keep the number and id of the last turn. Every start of a worker, and every return of
// PostgreSQL, is a turn:
//
//     take      PostgreSQL: one worker of this database at a time; the others wait, and share its turn
//     fence     Kafka: init_transactions on the turns' own transactional id, so no other turn can commit
//     read      Kafka: the last turn, and the markers of all slots: an older database is found before it
//               disturbs anybody
//     write     PostgreSQL: compare and set to the next turn
//     commit    Kafka: the next turn; then read back, and noted in PostgreSQL
//     fence     Kafka: init_transactions on every slot, so that nothing of an earlier turn can commit
//     compare   the markers of all slots with PostgreSQL
//     finish    PostgreSQL: the workers of this database may publish
//
// The order carries the proof: a publisher reads the turn after the init_transactions of its slot. One that
// fenced its slot before the turn did is fenced by it, one that does so later reads the new turn.
//
// A state machine over the tables of publisher.h, so that the simulator runs this very code: one call of
// turner_step makes at most one request that can block. Any error throws its handles away and begins again
// at take.
#ifndef REDRIVE_PUBLISH_TURN_H
#define REDRIVE_PUBLISH_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "publish/publisher.h"
#include "store/operations/turns.h"

// What Kafka's turn means to a database. Pure.
enum turn_verdict {
    TURN_AGREES,    // Kafka holds the last turn of this database; or neither has had one
    TURN_CONTINUES, // Kafka holds the one before: a turn ended between its two writes
    TURN_PASSED,    // Kafka's is older than the last: read again, another worker's commit is on its way
    TURN_ELSEWHERE, // Kafka's is one that this database does not know
    TURN_GONE,      // Kafka holds none, and this database has seen one there
};
enum turn_verdict turn_judge(const struct turn *turn, const struct marker *kafka);

// Is the marker of a slot ahead of PostgreSQL, whose slot was read after the marker? Pure.
bool turn_is_ahead(const struct turn_slot *slot, const struct marker *marker);

enum turner_status {
    TURNER_BUSY,    // step again
    TURNER_WAITING, // for Kafka, or for another worker's turn: step again after a while
    TURNER_DONE,    // the turn is taken; publishers may start. Stays so until turner_begin
    TURNER_FAILED,  // see err; step again after a while
    TURNER_STOPPED, // a stop is written in PostgreSQL, err tells it; only a person ends it
};

struct turner;

// settings: of which ledger, broker, world and context are used.
struct turner *turner_create(const struct publisher_settings *settings);
void turner_destroy(struct turner *turner);       // like a crash
void turner_begin(struct turner *turner);         // a new turn is due
int64_t turner_took(const struct turner *turner); // µs since it began
enum turner_status turner_step(struct turner *turner, int wait_ms, struct err *err);

#endif
