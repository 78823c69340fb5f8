// publisher_private: what the files of the publisher share. Acquire, Fence and Check are in acquire.c,
// Resolve in resolve.c, Claim and the plan in claim.c, the records and their reports in send.c, the commit,
// Verify and Finish in commit.c. The words are the headings of PROTOCOL.md.
#ifndef REDRIVE_PUBLISH_PUBLISHER_PRIVATE_H
#define REDRIVE_PUBLISH_PUBLISHER_PRIVATE_H

#include "publish/chunk.h"
#include "publish/publisher.h"

// The step it is at. A line without a word belongs to the step above.
enum publisher_place {
    AT_ACQUIRE,    // Acquire
    AT_OPEN,       // Fence: a new handle
    AT_INIT,       // and its init_transactions
    AT_TURN,       // Turn: Kafka's last one
    AT_KNOWN,      // which PostgreSQL must know
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
    AT_ENDS, // where its topics end
    AT_NOTE_ENDS,
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

// How far the slot's marker is known in this tenure.
enum marker_trust {
    MARKER_NOT_READ,
    MARKER_REWRITTEN, // written without a chunk, not yet read back
    MARKER_VERIFIED,  // read back as the pair in struct tenure
};

// The slot from Acquire until it is let go. Nothing of it outlives an error.
struct tenure {
    bool is_held;
    struct slot slot;
    int32_t no;      // its number, readable while a running call writes `slot`
    int64_t beat_at; // mono: the lease was extended last
    enum marker_trust marker;
    int64_t verified_seq;
    char verified_id[UUID_SIZE];
};

struct epoch {
    struct producer *producer; // NULL: none
    int64_t init_at;           // mono: its fencing began
    int64_t batch_bytes;       // largest batch of this handle
    bool is_isolating;         // this handle sends one record a batch, and one topic after the other
};

// How the next attempt differs after a failed chunk. A finished one resets it.
struct lessons {
    bool isolates;   // the next handle shall isolate
    int late_rounds; // chunks in a row of which only a part was taken in time
};

struct resolve {
    struct chunk unfinished;
    int64_t read_at;      // mono: first try of this reading
    int64_t provision_at; // mono: the transaction of a marker without a chunk began
    bool was_nudged;
    int64_t nonce;
    int64_t nonce_at; // mono: it was written
};

// Kafka's last turn, read after Fence.
struct turn_look {
    struct marker kafka;
    int64_t read_at; // mono: first try of this reading
};

// A long call that may run on another thread. Until it is done, the slot, the flight and the handle are its
// own, and so is `answer`.
enum call_answer { ANSWER_FAILED, ANSWER_NOT_YET, ANSWER_DONE };
struct publisher_call {
    bool is_running;
    enum call_answer answer;
    struct err err; // of ANSWER_FAILED
};

struct assignment {
    int64_t operation;
    size_t limit;
    char chunk_id[UUID_SIZE]; // the id of the next claim, or of the one in flight
};

// Events that leave the operation once the abort is proved. They outlive the flight.
struct refusals {
    struct refusal *rows;
    size_t count, capacity;
    int64_t operation;
    struct arena arena; // of their reasons
};

// The arguments of publisher_step, and what it measures.
struct step {
    const int32_t *others;
    size_t other_count;
    int wait_ms;
    int64_t waiting_at; // mono: this place began to wait; 0: it does not
    bool is_alone;      // it failed for what this operation needs: others may succeed
};

struct publisher {
    struct publisher_settings settings;
    enum publisher_place at;
    struct step step;
    struct tenure tenure;
    struct epoch epoch;
    struct turn_look turn;
    struct resolve resolve;
    struct publisher_call call;
    struct assignment assigned;
    struct flight flight;
    struct refusals refusals;
    struct lessons lessons;
    struct {
        size_t count;
        int64_t took;
    } last;          // finished chunk
    struct err stop; // of STOPPED
    struct publisher_tally tally;
};

int64_t publisher_mono(const struct publisher *publisher);

// The only changes of `at`: to a step, to Fence with a new handle, or back to Acquire.
enum publisher_status publisher_go(struct publisher *publisher, enum publisher_place place); // BUSY
enum publisher_status publisher_fence_again(struct publisher *publisher);                    // BUSY
// An error whose effect is not known: everything is thrown away. FAILED.
enum publisher_status publisher_begin_again(struct publisher *publisher);
// After a failed call to PostgreSQL: at Acquire in any case; BUSY where another publisher took the slot,
// which is no failure.
enum publisher_status publisher_ledger_failed(struct publisher *publisher, struct err *err);
// To the reading of the marker, whose patience begins now. BUSY.
enum publisher_status publisher_go_read(struct publisher *publisher, enum publisher_place place);

// Starts the call, or looks after the one that runs. True: it is done, and `call` holds its answer.
bool publisher_call_is_done(struct publisher *publisher, void (*call)(void *publisher));
void publisher_answer(struct publisher *publisher, bool is_good); // by the call itself

// Throws the handle away; its open transaction is aborted by the next init_transactions.
void publisher_drop_producer(struct publisher *publisher);
void publisher_destroy_producer(struct publisher *publisher); // the same where BROKEN_SAME_EPOCH keeps it

// The marker was seen, or was just committed, as this pair.
void publisher_note_verified(struct publisher *publisher, int64_t seq, const char id[UUID_SIZE]);

// The event of this item leaves the operation once the abort is proved.
void publisher_reject(struct publisher *publisher, size_t item, const char *reason);
void publisher_forget_refusals(struct publisher *publisher);

// The transaction with refused events: Fence ends it, Resolve proves the abort, then they are refused. BUSY.
enum publisher_status publisher_drop_transaction(struct publisher *publisher);
// Kafka failed before it was handed any record of the chunk. FAILED.
enum publisher_status publisher_fail_unsent(struct publisher *publisher);

// Without transactions, or where the evidence proves nothing: the unfinished chunk is in doubt until a scan
// or a person decides (PROTOCOL.md, "Doubt").
enum publisher_status publisher_put_in_doubt(struct publisher *publisher, const char *evidence,
                                             struct err *err);

// One function per place; each ends by one of the changes above, or stays.
typedef enum publisher_status publisher_step_fn(struct publisher *publisher, struct err *err);
publisher_step_fn publisher_acquire, publisher_open, publisher_init, publisher_check;
publisher_step_fn publisher_read_turn, publisher_know_turn;
publisher_step_fn publisher_read, publisher_nudge, publisher_write_nonce, publisher_read_with_nonce;
publisher_step_fn publisher_provision, publisher_refuse;
publisher_step_fn publisher_claim, publisher_find_originals, publisher_plan;
publisher_step_fn publisher_ask_ends, publisher_note_ends;
publisher_step_fn publisher_send, publisher_take_reports;
publisher_step_fn publisher_mark, publisher_commit, publisher_verify, publisher_open_ahead, publisher_finish;

#endif
