// fake: the publisher's two ends in memory, for its unit tests: a PostgreSQL and a Kafka with true semantics.
// Fences and transactions on one side; producer epochs, open transactions, pending markers and lost answers
// on the other. A test may set every field; what is left to chance hangs on the seed.
//
// The simulator (tests/sim) has ends of its own: smaller, with requests that are late or come twice, and a
// choice for every byte. Here are the roads that it has not: refusals, quarantine, brokers without
// transactions.
#ifndef REDRIVE_TESTS_UNIT_FAKE_H
#define REDRIVE_TESTS_UNIT_FAKE_H

#include "publish/publisher.h"

enum { FAKE_SLOTS = 3, FAKE_ITEMS = 40 };

enum fate { QUEUED, CLAIMED, DONE, REFUSED, HELD };
struct item {
    enum fate fate;
    char chunk[UUID_TEXT];
    int copies; // that a read_committed consumer sees
};

struct pending {
    int64_t ids[FAKE_ITEMS];
    size_t count;
    struct marker marker;
    bool is_nudge;
};

struct fake_slot {
    struct slot pg;
    char holder[32];
    int64_t next_seq;
    bool is_quarantined;
    struct chunk chunk;
    // Kafka
    int64_t epoch;
    bool is_open; // a transaction holds offsets or records
    struct pending pending;
    struct marker marker;
    bool has_nonce;
    int64_t nonce;
    // A coordinator that was cut off answers reads from here until somebody writes.
    bool is_stale;
    struct marker stale;
    // An EndTxn that is still on its way.
    bool is_commit_late;
    int64_t late_epoch;
};

struct fake {
    struct fake_slot slots[FAKE_SLOTS];
    struct item items[FAKE_ITEMS + 1]; // by event id, from 1
    uint64_t seed, state;
    int64_t now;
    int fault_percent, expiry_percent;
    bool is_transactional;
    int64_t poison;     // this event is refused by the broker, with its batch; 0: none
    int64_t late;       // this event is taken, and reported as if it were not; 0: none
    int64_t forbidden;  // events above go to a topic that may not be written to; 0: none
    bool has_forbidden; // false: that topic does not exist at all
    int64_t limit;      // the smallest max.message.bytes, learnt when a topic is looked at; 0: none
    bool is_limit_known;
    int64_t chunks;
    int beats;            // heartbeats
    int nudges;           // transactions that were only begun to end another one's
    bool stops_reads;     // not stable for ever
    int failing_opens;    // so many handles are not made
    int failing_begins;   // so many transactions are not begun
    bool stalls_commits;  // never done
    bool stalls_init;     // no transactional id is given
    bool forgets_commits; // they are confirmed and lost
};

struct process {
    struct fake *fake;
    char name[32];
    struct publisher *publisher;
    void (*call)(void *argument); // made aside
    void *argument;
};

uint64_t fake_chance(struct fake *fake, uint64_t below);
// What happens to a request: nothing, or it is lost before or after it took effect.
enum fault { NO_FAULT, FAULT_BEFORE, FAULT_AFTER };
enum fault fake_fault(struct fake *fake);
bool fake_lost(struct err *err); // the answer that does not come; false
struct fake *fake_of(void *context);

extern const struct publisher_ledger fake_ledger;
extern const struct publisher_broker fake_broker;
// The next generation of a slot's names, of which Kafka knows nothing yet.
void fake_rename_slot(struct fake_slot *slot);
// An EndTxn that was delayed takes effect only while its epoch is the newest and its transaction open.
void fake_deliver_late(struct fake *fake);

void fake_begin_run(struct fake *fake, uint64_t seed);
// Never twice, never lost, never open again when it was published.
void fake_check_invariants(struct fake *fake);
bool fake_is_finished(const struct fake *fake);
// One process alone, without faults, until everything has its end.
void fake_run_out(struct fake *fake);

void process_start(struct process *process, struct fake *fake);
// One step; READY is given up to seven events.
enum publisher_status process_step(struct process *process, struct err *err);

#endif
