// ledger: slots, fences and chunks: PostgreSQL's half of the publish protocol. The steps named here are
// headings of src/publish/PROTOCOL.md.
//
// Every function is one transaction by one SQL function of the schema; every write carries the slot's fence
// and touches nothing when the fence has moved: then ERR_CONFLICT, and the caller begins again at Acquire.
// ERR_UNREACHABLE at a commit means "unknown": the caller begins again as well.
#ifndef REDRIVE_STORE_OPERATIONS_LEDGER_H
#define REDRIVE_STORE_OPERATIONS_LEDGER_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/uuid.h"
#include "core/event.h"
#include "core/monitor.h"
#include "core/worker.h"
#include "store/store.h"

// What this login found out about a cluster. ERR_NOT_FOUND: nothing; what others say of it is not believed.
bool cluster_get(struct store *store, const char *name, struct cluster *cluster, struct err *err) MUST_CHECK;
bool cluster_put(struct store *store, const struct cluster *cluster, struct err *err) MUST_CHECK;
bool cluster_latest(struct store *store, struct cluster *cluster,
                    struct err *err) MUST_CHECK; // last checked; ERR_NOT_FOUND

struct slot {
    int32_t no;
    int32_t generation; // part of the slot's names; retiring a slot raises it
    int64_t fence;
    char cluster[64];
    char txn_id[200];            // transactional id, and the name of the marker group
    int64_t finished_seq;        // 0: the provisioning marker (0, install id)
    char finished_id[UUID_SIZE]; // chunk id that finished_seq's marker carries; the install id for 0
    bool is_provisioned;         // its first marker was written
    int64_t marker_at;           // when the marker was last written
    bool is_marker_old;          // a day or more ago by PostgreSQL's clock: must be written again
};

enum chunk_state { CHUNK_CLAIMED, CHUNK_COMMITTED, CHUNK_ABORTED, CHUNK_IN_DOUBT };
struct chunk {
    bool exists;
    char id[UUID_SIZE];
    int64_t seq;
    int64_t operation;
    int32_t count;
    enum chunk_state state;
    int64_t created_at;
};

// Acquire. Takes a free slot: without a holder, or whose holder's lease or session has ended. Therefore
// `store` must stay connected while the slot is held. Slots with an unfinished chunk come first, then those
// with an old marker. Creates the pool (16 slots) on first use of a cluster. `mine`: slots that this worker
// already holds are not taken again. ERR_NOT_FOUND: no slot is free now.
bool slot_acquire(struct store *store, const char *cluster, const char *worker, const int32_t *mine,
                  size_t mine_count, struct slot *slot, struct err *err) MUST_CHECK;
// For the search that decides chunks in doubt ("Doubt"): takes a suspended slot with such a chunk.
// ERR_NOT_FOUND: no such slot.
bool slot_acquire_in_doubt(struct store *store, const char *cluster, const char *worker, const int32_t *mine,
                           size_t mine_count, struct slot *slot, struct err *err) MUST_CHECK;
// Check. Reads the slot again, and its unfinished chunk, if the fence still holds.
bool slot_check(struct store *store, struct slot *slot, struct chunk *unfinished, struct err *err) MUST_CHECK;
// Every lease/3 while something is in flight.
bool slot_heartbeat(struct store *store, const struct slot *slot, struct err *err) MUST_CHECK;
bool slot_provisioned(struct store *store, struct slot *slot,
                      struct err *err) MUST_CHECK; // its marker (finished_seq, finished_id) is in Kafka now
bool slot_release(struct store *store, const struct slot *slot,
                  struct err *err) MUST_CHECK; // lease ends now; only without unfinished chunk
bool slot_suspend(struct store *store, const struct slot *slot, const char *evidence,
                  struct err *err) MUST_CHECK;
bool slot_retire(struct store *store, struct slot *slot, const char *why,
                 struct err *err) MUST_CHECK; // next generation, new names

// One item to publish. The event has SENT, PAYLOAD and RAW filled.
struct claimed_item {
    int64_t event_id;
    int32_t attempt;         // of this event in all operations, from 1
    int32_t reprocess_count; // the value for the header reprocess.count
    struct event event;
};
struct claim {
    struct chunk chunk;
    const char *requested_by;
    const char *target_topic;   // NULL: each event's own
    struct claimed_item *items; // in source order: topic, partition, offset
    size_t count;
    int32_t rate;    // of the operation now, events/s
    int64_t skipped; // items of events that others closed, skipped in the same transaction
};
// Claim. Claims up to `limit` queued items (and at most about `max_bytes` of payload, but one item at least)
// under a new sequence number. count 0: nothing left to claim, nothing was written but skipped items.
bool chunk_claim(struct store *store, struct slot *slot, int64_t operation, const char *chunk_id,
                 size_t limit, uint64_t max_bytes, struct arena *arena, struct claim *claim,
                 struct err *err) MUST_CHECK;

// Finish. COMMITTED: events RESOLVED, items done, finished_seq moves. ABORTED: items queued again, except
// `refused`, which end as refused. IN_DOUBT: items in doubt, slot suspended. evidence: how it was proved, for
// the audit.
struct refusal {
    int64_t event_id;
    const char *reason;
};
bool chunk_finish(struct store *store, struct slot *slot, const struct chunk *chunk, enum chunk_state outcome,
                  const char *evidence, struct err *err) MUST_CHECK;
// Where Kafka keeps the records of a chunk, by topic, partition and consumer group.
struct sent_row {
    const char *topic;
    int32_t partition;
    const char *consumer; // the consumer group that the dead letters name; "": none
    int64_t low;          // offset of the first record
    int32_t count;        // of `ids` and `offsets`, which have those of all rows, one after the other
};
struct sent_places {
    struct sent_row *rows;
    size_t row_count;
    int64_t *ids;     // in the order of their offsets
    int32_t *offsets; // above the low of their row
    size_t count;
    struct arena arena; // of all of it
};
// The same for a chunk that its own publisher saw committed, so that it is seen who takes its events.
bool chunk_published(struct store *store, struct slot *slot, const struct chunk *chunk,
                     const struct sent_places *places, const char *evidence, struct err *err) MUST_CHECK;
// Refuses items that cannot be published, with their reasons: found before a claim is published, or rejected
// records after the abort is proved. Only queued items of `operation`.
bool items_refuse(struct store *store, const struct slot *slot, int64_t operation,
                  const struct refusal *refusals, size_t count, struct err *err) MUST_CHECK;
// "Without transactions" and "Doubt": finishes a chunk in doubt by a complete header scan: the ids that it
// found were published, the others are queued again. The slot gets its next generation (new names, not
// provisioned, no longer suspended), because the marker under the old names is not reliable.
bool chunk_finish_scanned(struct store *store, struct slot *slot, const struct chunk *chunk,
                          const int64_t *published, size_t count, const char *evidence,
                          struct err *err) MUST_CHECK;

// How many slots there are, of all clusters.
bool slots_count(struct store *store, struct monitor_slots *slots, struct err *err) MUST_CHECK;
// Counts recovery work on slots of a cluster ("": of any) that no other worker holds now: unfinished chunks,
// chunks in doubt, and idle slots whose marker Kafka would drop after a week. `mine`: slots that this worker
// holds, whose chunks are not counted. One cheap read.
struct recovery_wanted {
    int64_t unfinished;
    int64_t in_doubt;
    int64_t old_markers;
};
bool recovery_wanted(struct store *store, const char *cluster, const char *worker, const int32_t *mine,
                     size_t mine_count, struct recovery_wanted *wanted, struct err *err) MUST_CHECK;
// Keeps where the chunk's topics end (broker/ends.h), before its first record is sent.
bool chunk_ends(struct store *store, const struct slot *slot, const char *chunk_id, const char *const *ends,
                size_t count, struct err *err) MUST_CHECK;
// What was kept; none: not known.
bool chunk_ends_read(struct store *store, const struct chunk *chunk, struct arena *arena, const char ***ends,
                     size_t *count, struct err *err) MUST_CHECK;
// The distinct topics of the chunk's events at the time of the claim. None: not recorded.
bool chunk_topics(struct store *store, const struct chunk *chunk, struct arena *arena, const char ***topics,
                  size_t *count, struct err *err) MUST_CHECK;

#endif
