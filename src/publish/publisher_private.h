// publisher_private: what the files of the publisher share. Acquire, Fence and Check are in publisher.c,
// Resolve in publisher_resolve.c, Claim and Publish up to the last report in publisher_chunk.c, commit,
// Verify and Finish in publisher_commit.c. The words are the headings of PROTOCOL.md.
#ifndef REDRIVE_PUBLISH_PUBLISHER_PRIVATE_H
#define REDRIVE_PUBLISH_PUBLISHER_PRIVATE_H

#include "publish/publisher.h"

// The step it is at. A line without a word belongs to the step above.
enum publisher_place {
    AT_ACQUIRE,    // Acquire
    AT_OPEN,       // Fence: a new handle
    AT_INIT,       // and its init_transactions
    AT_CHECK,      // Check
    AT_READ,       // Resolve: the marker, for what it proves by itself
    AT_NUDGE,      // it stays unstable
    AT_NONCE,      // the write that makes anything else believable
    AT_READ_NONCE, // both together
    AT_PROVISION,  // a slot of new names gets its first marker
    AT_PROVISION_COMMIT,
    AT_REFUSE, // Refused events: they leave the operation
    AT_READY,
    AT_CLAIM,     // Claim
    AT_ORIGINALS, // Publish: records to send once more
    AT_PLAN,
    AT_SEND,
    AT_REPORTS,
    AT_MARK,
    AT_COMMIT,
    AT_VERIFY, // Verify
    AT_AHEAD,  // Fence of the next chunk
    AT_FINISH, // Finish
    AT_STOPPED,
    AT_COUNT
};

struct publisher {
    struct publisher_settings settings;
    enum publisher_place at;
    struct publisher_tally tally;

    // The tenure: from Acquire until the slot is let go. Nothing of it outlives an error.
    bool has_slot;
    struct slot slot;
    int32_t slot_no;  // its number, for whoever asks while a call aside writes the slot anew
    int64_t beat_at;  // mono: the lease was extended last
    bool is_verified; // in this tenure the marker was seen to say what `verified_` says
    int64_t verified_seq;
    char verified_id[UUID_TEXT];
    bool is_refreshed; // in this tenure the marker was written again

    // The epoch.
    struct producer *producer;
    int64_t init_at;     // mono: its fencing began
    int64_t batch_bytes; // of its handle
    bool is_isolating;   // its handle sends one record a batch, and one topic after the other
    bool isolates_next;  // the next handle shall
    int late_rounds;     // chunks in a row of which only a part was taken in time

    // Resolve.
    struct chunk unfinished;
    int64_t read_at; // mono: first try of this reading
    bool was_nudged;
    int64_t nonce;

    // A call that is made aside; until it is back, the slot, the claim, the arena and the handle are its own.
    bool is_call_running;
    bool call_is_good;   // what it answered
    struct err call_err; // and why not
    bool is_committed;   // what a commit answered: false, not yet
    int64_t waiting_at;  // mono: the step in flight began to wait; 0: it does not

    // What was assigned, and the chunk in flight.
    int64_t operation;
    size_t limit;
    char chunk_id[UUID_TEXT]; // that it is, or shall be, claimed under
    bool has_chunk; // something was claimed whose fate is not finished; stays true until it is READY again,
                    // after Resolve
    int32_t rate;
    int64_t claimed_at; // mono
    size_t last_count;
    int64_t last_took;
    struct claim claim;
    struct original *originals; // one per item; NULL: none is needed
    struct plan *plans;         // one per item
    const char **topics;        // distinct targets
    size_t topic_count;
    unsigned char *reported; // one per item: 1 + enum report_kind
    size_t sent_count, report_count, delivered_count;
    int64_t sent_bytes;  // of the chunk, once all of it is delivered
    size_t introduced;   // isolating: the item that brought in the newest topic
    bool is_broken;      // a report said that the handle is no longer good
    int64_t begun_at;    // mono
    int64_t rejected_at; // mono: the first report of a failure; 0: none
    struct arena arena;  // of the chunk
    struct arena poison; // of refusals, which outlive the chunk
    struct refusal *refusals;
    size_t refusal_count, refusal_capacity;
    int64_t refusal_operation;

    const int32_t *others; // during a step
    size_t other_count;
    int wait_ms;
};

int64_t publisher_mono(const struct publisher *publisher);
// Begins the call, or looks after it. True: it is back, and call_is_good and call_err are its answer.
bool publisher_call_is_done(struct publisher *publisher, void (*call)(void *publisher));
// An error whose effect is not known: everything is thrown away, and it begins again at Acquire.
enum publisher_status publisher_begin_again(struct publisher *publisher);
// After a failed call to PostgreSQL: at Acquire in any case; BUSY where somebody else took the slot, which is
// no failure.
enum publisher_status publisher_ledger_failed(struct publisher *publisher, struct err *err);
// Throws the handle away; what it had open is aborted by whoever initialises next.
void publisher_drop_producer(struct publisher *publisher);
void publisher_forget_chunk(struct publisher *publisher);
// The event of this item leaves the operation once the abort is proved.
void publisher_reject(struct publisher *publisher, size_t item, const char *reason);

// Without transactions, or where the evidence proves nothing: the chunk is in doubt until a scan or a person
// decides (PROTOCOL.md, "Doubt").
enum publisher_status publisher_put_in_doubt(struct publisher *publisher, const char *evidence,
                                             struct err *err);

// One function per place, from Resolve to Finish; each moves `at`.
enum publisher_status publisher_read(struct publisher *publisher, struct err *err);
enum publisher_status publisher_nudge(struct publisher *publisher, struct err *err);
enum publisher_status publisher_write_nonce(struct publisher *publisher, struct err *err);
enum publisher_status publisher_read_with_nonce(struct publisher *publisher, struct err *err);
enum publisher_status publisher_provision(struct publisher *publisher, struct err *err);
enum publisher_status publisher_claim(struct publisher *publisher, struct err *err);
enum publisher_status publisher_find_originals(struct publisher *publisher, struct err *err);
enum publisher_status publisher_plan(struct publisher *publisher, struct err *err);
enum publisher_status publisher_send(struct publisher *publisher, struct err *err);
enum publisher_status publisher_take_reports(struct publisher *publisher, struct err *err);
enum publisher_status publisher_mark(struct publisher *publisher, struct err *err);
enum publisher_status publisher_commit(struct publisher *publisher, struct err *err);
enum publisher_status publisher_verify(struct publisher *publisher, struct err *err);
enum publisher_status publisher_open_ahead(struct publisher *publisher, struct err *err);
enum publisher_status publisher_finish(struct publisher *publisher, struct err *err);

#endif
