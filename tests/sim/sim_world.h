// sim_world: a PostgreSQL and a Kafka in memory, a clock, and the processes between them. The only fake of
// the publisher's two ends: the simulator lets chance choose among all harm (sim.h), unit tests set up single
// situations (test_publisher.c) and schedules with refusals (test_schedules.c).
//
// Every field may be set between two steps. A world that asks for nothing does no harm, and each choice of it
// is the harmless one.
#ifndef REDRIVE_TESTS_SIM_WORLD_H
#define REDRIVE_TESTS_SIM_WORLD_H

#include "publish/publisher.h"
#include "publish/turn.h"
#include "tests/sim/sim.h"

enum { SIM_SLOTS = 3, SIM_EVENTS = 40, SIM_PROCESSES = 3, SIM_REQUESTS = 24 }; // at most

enum sim_fate { SIM_QUEUED, SIM_CLAIMED, SIM_RESOLVED, SIM_REFUSED, SIM_IN_DOUBT };
struct sim_event {
    enum sim_fate fate;
    int64_t chunk;
    int copies; // that a read_committed consumer sees, or is bound to see
    struct {
        int64_t chunk, at, offset; // `at`: by the clock of the host that sent it
    } record;                      // the last one that was appended
};

enum sim_transaction { SIM_EMPTY, SIM_ONGOING };

// One group in its coordinator.
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
    bool is_suspended;
    int64_t ends; // of the topics, before the chunk's first record; -1: not known

    // The transaction coordinator and the partitions' leaders
    int64_t epoch;
    enum sim_transaction transaction;
    int64_t open_since;
    int64_t records[SIM_EVENTS * 2]; // of the open transaction
    size_t record_count;
    uint64_t appended; // bit per event: its sequence number in this epoch was seen

    // The group's coordinator. Pending offsets are unstable until the end of their transaction has reached
    // it, which may be later than elsewhere.
    struct sim_offsets offsets;
    struct marker pending;
    bool is_pending, is_ended, is_committed;

    // The group's coordinator of yesterday: cut off, it continues to answer.
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
    char id[UUID_SIZE];
    bool is_commit; // SIM_END
    const char *sender;
};

// All that PostgreSQL holds: a backup, or one of two databases while the other is used.
struct sim_database {
    struct {
        struct slot row;
        char holder[16];
        int64_t next_seq;
        struct chunk chunk;
        bool is_suspended;
    } slots[SIM_SLOTS];
    struct {
        enum sim_fate fate;
        int64_t chunk;
    } events[SIM_EVENTS + 1];
    struct turn turn;
    char turn_holder[16];
};

// What makes two histories of one.
enum sim_fork { SIM_NO_FORK, SIM_COPY, SIM_PUT_BACK };

struct sim;
struct sim_process {
    struct sim *sim;
    char name[16];
    int life;
    int database; // that it works on: 0, or 1, the copy
    struct turner *turner;
    bool has_turn, is_stopped;
    bool is_away;     // its connection is to a database that was replaced
    bool has_noticed; // that
    int64_t skew;     // µs by which its host's clock is ahead
    struct publisher *publisher;
    enum publisher_status last;
    void (*call)(void *argument); // asynchronous
    void *argument;
};

// What a test asks of Kafka, beside the harm that is chosen.
struct sim_wishes {
    bool has_no_transactions; // these brokers failed the probe
    int64_t rejected;         // this event is refused by the broker, with its batch; 0: none
    int64_t late;             // this event is taken, and reported as if it were not; 0: none
    int64_t forbidden;        // events above go to a topic that may not be written to; 0: none
    bool has_no_forbidden;    // that topic does not exist at all
    int64_t limit;            // the smallest max.message.bytes, learnt when a topic is looked at; 0: none
    int failing_opens;        // so many handles are not made
    int failing_begins;       // so many transactions are not begun
    int failing_claims;       // so many claims PostgreSQL refuses: others keep the rows locked
    bool has_originals;       // the events say where they were
    int late_originals;       // so many times Kafka does not give these records in time
    bool tells_no_ends;       // where a topic ends
    bool stops_reads;         // a marker is never stable
    bool stalls_commits;      // a commit is never done
    bool stalls_init;         // no transactional id is given
    bool forgets_commits;     // commits are confirmed and lost
    bool takes_records;       // harm meets the answers of a handle, never its single records
    int64_t skew;             // µs by which the hosts' clocks are ahead of PostgreSQL's
    bool dallies;             // handles and commits are done at a later call, queues are full now and then
};

// The turns' own transactional id and group, as Kafka has them; PostgreSQL's half of it is not used.
#define SIM_TURNS SIM_SLOTS
#define SIM_TURN_GROUP "redrive.lease"

struct sim {
    struct sim_slot slots[SIM_SLOTS + 1];
    struct turn turn; // PostgreSQL's
    char turn_holder[16];
    bool has_turns; // workers take turns
    enum sim_fork fork;
    bool is_saved, is_forked;
    struct sim_database backup, aside;         // aside: the one of the two that is not used now
    int database;                              // in use
    struct sim_event events[SIM_EVENTS + 1];   // by id, from 1
    struct sim_request requests[SIM_REQUESTS]; // still on their way
    size_t request_count;
    struct sim_process processes[SIM_PROCESSES];
    int slot_count, process_count, chunk_limit;
    int64_t event_count;
    int fault_rate, crash_rate, expiry_rate, stay_rate, lag_rate, cut_rate, clock_rate,
        expiry_of_markers; // of 256
    bool is_quiet;         // no more harm
    bool is_strict;        // that a slot is suspended or retired, or a chunk in doubt, breaks an invariant
    struct sim_wishes wishes;

    uint64_t word;    // choices left of this step
    uint64_t endless; // instead of it: each choice is made by this generator; 0: by the word
    int64_t now, chunks, nonces;
    bool has_expired; // a marker: a chunk may be in doubt, a slot suspended
    int64_t log_end;
    int64_t skew; // µs by which PostgreSQL's clock is ahead
    int64_t tick; // µs that pass at each look at the clock
    bool is_limit_known;
    int beats;  // heartbeats
    int nudges; // transactions that were only begun to end another one's
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
// The fate of a request and its answer.
enum sim_luck { SIM_ANSWERED, SIM_LOST, SIM_UNANSWERED, SIM_LATE, SIM_TWICE };
enum sim_luck sim_luck(struct sim *sim, bool can_travel);

void sim_say(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The invariant broke. The first one is kept.
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Never twice, never lost, never open again when it was published.
void sim_check(struct sim *sim);
bool sim_is_finished(const struct sim *sim); // every event has its end

// The names of a slot at which Kafka knows nothing.
void sim_name_slot(struct sim_slot *slot, int32_t generation);
// The database of this process, where there are two.
void sim_use(struct sim *sim, int database);
void sim_save(const struct sim *sim, struct sim_database *database);
void sim_put_back(struct sim *sim, const struct sim_database *database);
void sim_process_start(struct sim *sim, int which);
void sim_process_end(struct sim *sim, int which); // like a crash; one that does not run is fine
// One step; READY is given up to chunk_limit events.
enum publisher_status sim_process_step(struct sim_process *process, struct err *err);
// No more harm: the first process alone brings every event to its end, or an invariant breaks.
void sim_run_out(struct sim *sim);
void sim_end(struct sim *sim);
// splitmix64, for what a seed decides.
uint64_t sim_mix(uint64_t *state);

// Kafka's own life between requests.
void sim_kafka_begin(struct sim *sim);
void sim_kafka_moves(struct sim *sim);
void sim_kafka_calms(struct sim *sim); // every request under way arrives, no coordinator is cut off
// The marker of a slot's unfinished chunk expires, if there is one and its transaction is over.
void sim_marker_expires(struct sim *sim, struct sim_slot *slot);
// As doubt.c does for a worker: a chunk in doubt is searched for in the topics, and the slot goes on.
void sim_doubt_search(struct sim *sim);
void sim_deliver(struct sim *sim, const struct sim_request *request);

extern const struct publisher_ledger sim_ledger;
extern const struct publisher_broker sim_broker;

#endif
