// sim_inside: what the simulator's two ends and its clockwork share.
#ifndef REDRIVE_TESTS_SIM_INSIDE_H
#define REDRIVE_TESTS_SIM_INSIDE_H

#include "publish/publisher.h"
#include "tests/sim/sim.h"

enum { SIM_SLOTS = 2, SIM_EVENTS = 5, SIM_PROCESSES = 3, SIM_REQUESTS = 24 };

enum sim_fate { SIM_QUEUED, SIM_CLAIMED, SIM_RESOLVED, SIM_REFUSED };
struct sim_event {
    enum sim_fate fate;
    int64_t chunk;
    int copies; // that a read_committed consumer sees, or is bound to see
};

enum sim_transaction { SIM_EMPTY, SIM_ONGOING };

// What a group coordinator holds of one group.
struct sim_offsets {
    struct marker marker;
    bool has_nonce;
    int64_t nonce;
};

struct sim_slot {
    // PostgreSQL
    struct slot row;
    char holder[16];
    int64_t next_seq;
    struct chunk chunk;

    // The transaction coordinator and the partitions' leaders
    int64_t epoch;
    enum sim_transaction transaction;
    int64_t open_since;
    int64_t records[SIM_EVENTS * 2]; // of the open transaction
    size_t record_count;
    uint32_t appended; // bit per event: its sequence number in this epoch was seen

    // The group's coordinator. Pending offsets are unstable until the end of their transaction has come
    // through to it, which may be later than everybody else knows of it.
    struct sim_offsets offsets;
    struct marker pending;
    bool is_pending, is_ended, is_committed;

    // The group's coordinator of yesterday: cut off, it goes on answering whoever asks it.
    bool is_cut;
    struct sim_offsets yesterday;
};

enum sim_request_kind { SIM_PRODUCE, SIM_MARK, SIM_END, SIM_NONCE };
struct sim_request {
    enum sim_request_kind kind;
    int slot;
    int64_t epoch;
    int64_t event;  // SIM_PRODUCE
    int64_t number; // SIM_MARK: seq; SIM_NONCE
    char id[UUID_TEXT];
    bool is_commit; // SIM_END
    const char *sender;
};

struct sim;
struct sim_process {
    struct sim *sim;
    char name[16];
    int life;
    struct publisher *publisher;
    enum publisher_status last;
    void (*call)(void *argument); // made aside
    void *argument;
};

struct sim {
    struct sim_slot slots[SIM_SLOTS];
    struct sim_event events[SIM_EVENTS + 1];   // by id, from 1
    struct sim_request requests[SIM_REQUESTS]; // still on their way
    size_t request_count;
    struct sim_process processes[SIM_PROCESSES];
    int slot_count, process_count, chunk_limit;
    int fault_rate, crash_rate, expiry_rate, stay_rate, lag_rate, cut_rate; // of 256
    bool is_quiet;                                                          // no more harm

    uint64_t word; // choices left of this step
    int64_t now, chunks, nonces;
    FILE *story;
    char said[400]; // last
    int repeats;
    struct sim_sights *sights;
    struct sim_result *result;
};

// Of the context that the publisher hands to its two ends.
static inline struct sim *
sim_of(void *context)
{
    return ((struct sim_process *)context)->sim;
}

static inline const char *
sim_who(void *context)
{
    return ((struct sim_process *)context)->name;
}

// The next choice: 0 … below-1, 0 being the harmless one.
unsigned sim_choose(struct sim *sim, unsigned below);
// True with `rate` in 256.
bool sim_happens(struct sim *sim, int rate);
// What becomes of a request and its answer.
enum sim_luck { SIM_ANSWERED, SIM_LOST, SIM_UNANSWERED, SIM_LATE, SIM_TWICE };
enum sim_luck sim_luck(struct sim *sim, bool can_travel);

void sim_say(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The invariant broke. The first one is kept.
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_check(struct sim *sim);

// Kafka's own life between requests.
void sim_kafka_begin(struct sim *sim);
void sim_kafka_moves(struct sim *sim);
void sim_kafka_calms(struct sim *sim); // everything under way arrives, nobody is cut off
void sim_deliver(struct sim *sim, const struct sim_request *request);

extern const struct publisher_ledger sim_ledger;
extern const struct publisher_broker sim_broker;

#endif
