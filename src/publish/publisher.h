// publisher: the publish protocol of PROTOCOL.md as a state machine for one slot: acquire, fence, check,
// resolve, claim, publish, verify, finish.
//
// The only code that publishes; recovery is its first half, so there is no second path that could rot. It
// sees PostgreSQL and Kafka only through the two tables below: the worker binds them to the real ones, a
// simulator to its own. One call of publisher_step makes at most one request that can block, so that several
// publishers share a thread and a test can stop between any two requests.
//
// The rule that everything rests on: after an error whose effect is not known, the handle and all that is
// remembered of the slot are thrown away, and it begins again at Acquire like any other recoverer.
#ifndef REDRIVE_PUBLISH_PUBLISHER_H
#define REDRIVE_PUBLISH_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "broker/broker.h"
#include "broker/marker.h"
#include "broker/producer.h"
#include "publish/plan.h"
#include "store/operations/ledger.h"
#include "store/operations/turns.h"

// PostgreSQL's half; the contract of each is that of the function in store/operations/ledger.h, or turns.h,
// with the same name.
struct publisher_ledger {
    bool (*acquire)(void *context, const int32_t *mine, size_t mine_count, struct slot *slot,
                    struct err *err);
    bool (*check)(void *context, struct slot *slot, struct chunk *unfinished, struct err *err);
    bool (*heartbeat)(void *context, const struct slot *slot, struct err *err);
    bool (*provisioned)(void *context, struct slot *slot, struct err *err);
    bool (*release)(void *context, const struct slot *slot, struct err *err);
    bool (*suspend)(void *context, const struct slot *slot, const char *evidence, struct err *err);
    bool (*retire)(void *context, struct slot *slot, const char *why, struct err *err);
    bool (*claim)(void *context, struct slot *slot, int64_t operation, const char *chunk_id, size_t limit,
                  uint64_t max_bytes, struct arena *arena, struct claim *claim, struct err *err);
    bool (*ends)(void *context, const struct slot *slot, const char *chunk_id, const char *const *ends,
                 size_t count, struct err *err); // chunk_ends
    bool (*finish)(void *context, struct slot *slot, const struct chunk *chunk, enum chunk_state outcome,
                   const char *evidence, struct err *err);
    bool (*published)(void *context, struct slot *slot, const struct chunk *chunk,
                      const struct sent_places *places, const char *evidence,
                      struct err *err); // chunk_published
    bool (*finish_scanned)(void *context, struct slot *slot, const struct chunk *chunk,
                           const int64_t *published, size_t count, const char *evidence, struct err *err);
    bool (*refuse)(void *context, const struct slot *slot, int64_t operation, const struct refusal *refusals,
                   size_t count, struct err *err);
    // The original records of these events (publish/originals.h).
    bool (*originals)(void *context, const struct event *const *events, size_t count, struct arena *arena,
                      struct original *originals, struct err *err);
    const struct publisher_turns *turns;
};

// PostgreSQL's half of a turn (publish/turn.h).
struct publisher_turns {
    bool (*take)(void *context, int64_t since, struct turn *turn, struct err *err);
    bool (*write)(void *context, const struct turn_mark *kafka, const char *id, struct turn *turn,
                  struct err *err);
    bool (*confirm)(void *context, int64_t no, struct err *err);
    bool (*finish)(void *context, int64_t no, struct err *err);
    bool (*stop)(void *context, enum stop_reason reason, const char *detail, struct err *err);
    bool (*read)(void *context, struct turn *turn, struct err *err);
    bool (*slots)(void *context, struct turn_slot *slots, size_t room, size_t *count, struct err *err);
};

// Kafka's half; the contract of each is that of the function in broker/*.h with the same name. A handle knows
// where it came from, so only the others take the context.
struct publisher_broker {
    bool (*open)(void *context, const struct producer_settings *how, struct producer **producer,
                 struct err *err);
    void (*destroy)(struct producer *producer);
    bool (*init)(struct producer *producer, int wait_ms, bool *done, struct err *err);
    bool (*warm)(struct producer *producer, const char *const *topics, size_t count, struct err *err);
    bool (*begin)(struct producer *producer, struct err *err);
    bool (*send)(struct producer *producer, const struct producer_record *record, size_t index, bool *is_full,
                 struct err *err);
    bool (*serve)(struct producer *producer, int wait_ms, struct report *reports, size_t room, size_t *count,
                  struct err *err);
    bool (*why)(struct producer *producer, struct err *err);
    bool (*mark)(struct producer *producer, enum marker_partition partition, const char *group, int64_t seq,
                 const char *id, struct err *err);
    bool (*commit)(struct producer *producer, int wait_ms, bool *done, struct err *err);
    bool (*read_marker)(void *context, const char *group, struct marker_reading *reading, struct err *err);
    bool (*write_nonce)(void *context, const char *group, int64_t nonce, struct err *err);
    // Those of several groups at once.
    bool (*read_markers)(void *context, const char *const *groups, size_t count,
                         struct marker_reading *readings, struct err *err);
    bool (*write_nonces)(void *context, struct producer *const *producers, const char *const *groups,
                         size_t count, int64_t nonce, struct err *err);
    bool (*topic)(void *context, const char *name, struct topic *topic, struct err *err);
    bool (*ends)(void *context, const char *topic, struct strbuf *text, struct err *err);
    int64_t (*smallest_limit)(void *context, int64_t otherwise);
    void (*deny_topic)(void *context, const char *name);
    void (*forget_topics)(void *context);
};

// Time and chance, and a thread for long calls.
struct publisher_world {
    int64_t (*mono)(void *context); // monotonic, µs
    int64_t (*now)(void *context);  // this host's wall clock, an instant
    void (*sleep)(void *context, int64_t us);
    void (*uuid)(void *context, char out[UUID_SIZE]);
    int64_t (*random)(void *context); // 0 … INT64_MAX
    // An asynchronous call, one at a time: the long ones to PostgreSQL and Kafka, so that several publishers
    // of one thread have theirs at the same time. is_done waits at most wait_ms for its end. Both NULL: such
    // calls are made at once.
    void (*start)(void *context, void (*call)(void *argument), void *argument);
    bool (*is_done)(void *context, int wait_ms);
};

struct publisher_settings {
    const struct publisher_ledger *ledger;
    const struct publisher_broker *broker;
    const struct publisher_world *world;
    void *context; // of all three tables
    const struct plan_settings *plan;
    const char *turn_group; // group of the turns' marker, store/operations/turns.h; borrowed
    bool is_transactional;  // the cluster passed the probe; else PROTOCOL.md, "Without transactions"
    int64_t lease;          // µs, of which a third passes between heartbeats; 0: 30 s
    int64_t deadline; // µs for one chunk from begin to commit, below the transaction timeout of 30 s; 0: 15 s
    uint64_t chunk_bytes; // 0: 16 MiB
};

enum publisher_status {
    PUBLISHER_BUSY,     // something was done; step again
    PUBLISHER_WAITING,  // the other end works in the background; attend to another slot, then step again
    PUBLISHER_READY,    // fenced, nothing unfinished: publisher_assign gives it work
    PUBLISHER_FINISHED, // the assigned chunk is published, verified and finished; step again for the next
                        // epoch
    PUBLISHER_EMPTY,    // the assigned operation has nothing left to claim; then as READY
    PUBLISHER_REQUEUED, // the chunk was proved not to be published; its events are queued again, and rejected
                        // ones are refused; step again
    PUBLISHER_NO_SLOT,  // none is free now
    PUBLISHER_FAILED,   // see err; it is at Acquire again and holds nothing: step again after a while
    PUBLISHER_TURN, // Kafka's last turn is not one that PostgreSQL knows: it is at Acquire again, and a turn
                    // decides (publish/turn.h)
    PUBLISHER_STOPPED, // what Kafka holds contradicts what PostgreSQL holds: a stop is written there, and
                       // nothing may be published until a person has decided
};

struct publisher;

struct publisher *publisher_create(const struct publisher_settings *settings);
void publisher_destroy(struct publisher *publisher); // like a crash: what is in flight is left to recovery

// Waits at most wait_ms for Kafka in this call. `others`: the slot numbers that publishers of the same worker
// have.
enum publisher_status publisher_step(struct publisher *publisher, const int32_t *others, size_t other_count,
                                     int wait_ms, struct err *err);

// Only when READY: publish up to `limit` items of this operation.
void publisher_assign(struct publisher *publisher, int64_t operation, size_t limit);

// How many events its last finished chunk had, and how long it took from claim to finished, µs.
size_t publisher_last_count(const struct publisher *publisher);
int64_t publisher_last_took(const struct publisher *publisher);
// Is a chunk in flight whose fate is not yet finished, or being claimed?
bool publisher_is_busy(const struct publisher *publisher);
// Does PostgreSQL work for it now, on another thread? Else it waits for Kafka, where it waits.
bool publisher_is_calling(const struct publisher *publisher);
// Did the last step fail for something that only its operation needs: an original record that Kafka did not
// give in time, a target without a leader?
bool publisher_failed_alone(const struct publisher *publisher);
// Does it hold events in memory, or is it about to? From the claim until Kafka has them all.
bool publisher_has_events(const struct publisher *publisher);
// The slot it holds, 0 …; -1: none.
int32_t publisher_slot(const struct publisher *publisher);
// Lets go of the slot and its handle. Only when not busy.
bool publisher_release(struct publisher *publisher, struct err *err) MUST_CHECK;

// Totals since it was created.
struct publisher_tally {
    int64_t chunks, sent, refused, skipped, bytes;
    int64_t requeued;    // chunks proved not to be published
    int64_t recovered;   // chunks of others, or of an earlier life, that it finished
    int64_t fenced;      // times another publisher took its slot
    int64_t in_doubt;    // chunks put in doubt
    int64_t step_us[16]; // time per enum publisher_phase, waiting included
};
enum publisher_phase {
    PHASE_FENCE,
    PHASE_CLAIM,
    PHASE_PLAN,
    PHASE_SEND,
    PHASE_REPORTS,
    PHASE_COMMIT,
    PHASE_VERIFY,
    PHASE_FINISH,
    PHASE_DESTROY,
    PHASE_COUNT
};
const struct publisher_tally *publisher_tally(const struct publisher *publisher);

// Is this host's clock (`here`) near PostgreSQL's, read at the same moment? Records bear this host's time,
// and a search for those of a chunk trusts times where nothing better is known. ERR_DATA.
bool publisher_check_clock(int64_t postgresql, int64_t here, struct err *err) MUST_CHECK;

// The meaning of a marker for a slot. Pure; the heart of Resolve.
enum marker_verdict {
    VERDICT_COMMITTED, // the unfinished chunk was published: proof by itself
    VERDICT_FINISHED, // it names what was finished last: with an unfinished chunk and a nonce this proves the
                      // abort
    VERDICT_ABSENT,
    VERDICT_AHEAD,   // of everything PostgreSQL knows: PostgreSQL lost commits
    VERDICT_FOREIGN, // anything else
};
enum marker_verdict marker_judge(const struct slot *slot, const struct chunk *unfinished,
                                 const struct marker *marker);

#endif
