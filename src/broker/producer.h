// producer: a handle that publishes one chunk and is then destroyed: one transaction per producer epoch
// (src/publish/PROTOCOL.md, "Publish" and "What can go wrong").
//
// Order of calls: open, init until done, begin, send …, serve until all reports are in, mark, commit until
// done, destroy. After any error only destroy may be called; recovery finds out the outcome of the chunk.
// There is no abort, on purpose: destroying the handle and initialising a new one aborts with a bumped epoch,
// after which nothing late can arrive. Without a transactional id (PROTOCOL.md, "Without transactions") it is
// an idempotent producer with acks=all: init and begin do nothing, mark and commit are not allowed.
#ifndef REDRIVE_BROKER_PRODUCER_H
#define REDRIVE_BROKER_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "broker/marker.h"
#include "broker/settings.h"
#include "core/event.h"

struct producer;

struct producer_settings {
    const char *txn_id;  // NULL: no transactions
    int32_t timeout_ms;  // of the transaction; 0: 30,000
    int32_t message_ms;  // of each record; 0: as the transaction
    int64_t batch_bytes; // largest batch; 0: 1,000,000
    bool is_isolating;   // one record a batch, so that a refused batch identifies the rejected record
    uint32_t records;    // most records that will be sent
    uint64_t bytes;      // most bytes of them in all; 0: 32 MiB
};

bool producer_open(struct producer **producer, const struct broker_settings *settings,
                   const struct producer_settings *how, struct err *err) MUST_CHECK;
// Waits for no answer and never aborts: gives up what is queued or in flight. NULL is fine.
void producer_destroy(struct producer *producer);

// Fences every earlier holder of the transactional id. Continues in the background between calls, so that
// one thread can serve another handle meanwhile. Waits at most wait_ms; *done tells whether it has ended.
bool producer_init(struct producer *producer, int wait_ms, bool *done, struct err *err) MUST_CHECK;

// Fetches the metadata of these topics in one round trip. Without it the first record of a topic waits up to
// a second (librdkafka issue 5032).
bool producer_warm(struct producer *producer, const char *const *topics, size_t count, int timeout_ms,
                   struct err *err) MUST_CHECK;

bool producer_begin(struct producer *producer, struct err *err) MUST_CHECK;

// A record to send. All bytes are borrowed until its report is in or the producer is destroyed.
struct producer_record {
    const char *topic;
    int32_t partition; // -1: by key (murmur2, as the Java clients do)
    struct bytes key, value;
    const struct event_header *headers;
    size_t header_count;
};
// The report returns `index`. *is_full: not queued; serve reports, then send again.
bool producer_send(struct producer *producer, const struct producer_record *record, size_t index,
                   bool *is_full, struct err *err) MUST_CHECK;

// The outcome of a record, by the action that it requires.
enum report_kind {
    REPORT_DELIVERED,
    REPORT_REFUSED, // this record: permanent
    REPORT_TOPIC,   // every record to this topic: permanent
    REPORT_BATCH,  // permanent, but another record of the batch may be the rejected one: send again isolating
    REPORT_LATE,   // no answer in time
    REPORT_BROKEN, // the handle is unusable (fenced, fatal, purged)
};
struct report {
    size_t index;
    enum report_kind kind;
    enum err_kind cause; // REPORT_TOPIC: ERR_DENIED, or ERR_NOT_FOUND
    char reason[160];    // in words, "" when delivered
    int32_t broker;      // that stored the record; -1: unknown
    int32_t partition;   // where it stored it
    int64_t offset;      // of a delivered one; -1: unknown
    int64_t stamped_at;  // by that broker's clock; TIME_ABSENT: the topic keeps the sender's time
};
// Waits at most wait_ms for reports, fills at most `room` of them.
bool producer_serve(struct producer *producer, int wait_ms, struct report *reports, size_t room,
                    size_t *count, struct err *err) MUST_CHECK;

// Sets err to the cause of a failed transaction, after a REPORT_BROKEN: a topic that could not join the
// transaction fails the records of all topics, and their reports do not have the cause. ERR_DENIED,
// ERR_NOT_FOUND: one of the topics; ERR_CONFLICT: fenced. Afterwards the producer is unusable. Always false.
bool producer_why(struct producer *producer, struct err *err);

// marker_write_nonces, each group's over the producer at its place, between its init and begin: all at once,
// where a broker takes those of one connection one after the other, 6 ms each (Kafka 4.1 gathers writes for 5
// ms). After an error only destroy may be called.
bool producer_write_nonces(struct producer *const *producers, const char *const *groups, size_t count,
                           int64_t nonce, int timeout_ms, struct err *err) MUST_CHECK;

// Puts an offset of the marker topic into the transaction. All reports must be in. Waits up to ten seconds.
// Unlike init and commit it cannot be resumed: a second call would send it again, and a late copy breaks the
// next transaction. So every error is final.
bool producer_mark(struct producer *producer, enum marker_partition partition, const char *group, int64_t seq,
                   const char *id, struct err *err) MUST_CHECK;
// Waits for wait_ms or ten seconds, whichever is more, and continues in the background between calls. After
// an error it is unknown whether the transaction was committed.
bool producer_commit(struct producer *producer, int wait_ms, bool *done, struct err *err) MUST_CHECK;

#endif
