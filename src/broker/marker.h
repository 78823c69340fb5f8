// marker: the committed offset that names the chunk that a slot published last (src/publish/PROTOCOL.md, "The
// marker" and "The nonce").
//
// The marker of a slot is the offset of partition 0 of the topic redrive.marker in the consumer group named
// like the slot's transactional id: the offset is the chunk's sequence number, the metadata its uuid, a blank
// and its topics. Turns have a marker of their own (src/publish/turn.h). It is
// written inside the chunk's transaction (producer_mark), so it exists exactly if the chunk's records do.
// Partition 1 takes nonces: a read that shows a nonce written just before comes from a coordinator that still
// has the in-sync replicas, and only such a read can prove that something was NOT committed. All reads
// require stable offsets; call them only after init_transactions of the same transactional id.
#ifndef REDRIVE_BROKER_MARKER_H
#define REDRIVE_BROKER_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "broker/broker.h"

#define MARKER_TOPIC "redrive.marker"
enum marker_partition { MARKER_PARTITION, NONCE_PARTITION };

struct marker {
    bool is_present;
    int64_t seq;
    char id[64];      // uuid; other texts are cut to fit
    char topics[200]; // those of the chunk, with commas between, cut to fit; "": not told
};

// From the metadata of a committed offset: "id topic,topic".
void marker_parse(struct bytes text, int64_t seq, struct marker *marker);

// Both partitions, read in one request.
struct marker_reading {
    bool is_stable; // false: a transaction is open or ends just now; read again, decide nothing
    struct marker marker;
    bool has_nonce;
    int64_t nonce;
};

bool marker_read(struct broker *broker, const char *group, int timeout_ms, struct marker_reading *reading,
                 struct err *err) MUST_CHECK;
// Commits `nonce` (0 …) on partition 1; needs the in-sync replicas.
bool marker_write_nonce(struct broker *broker, const char *group, int64_t nonce, int timeout_ms,
                        struct err *err) MUST_CHECK;
// Both for several groups at once, whose requests are all under way together. The readings are in the order
// of the groups. The first failure fails all.
bool marker_read_all(struct broker *broker, const char *const *groups, size_t count, int timeout_ms,
                     struct marker_reading *readings, struct err *err) MUST_CHECK;
bool marker_write_nonces(struct broker *broker, const char *const *groups, size_t count, int64_t nonce,
                         int timeout_ms, struct err *err) MUST_CHECK;
// Creates a missing topic with the cluster's default replication, and waits until it is known. ERR_DENIED
// with the command for an administrator.
struct topic_wish {
    const char *name;
    int partitions;
    bool is_stamped; // its records bear the broker's time (LogAppendTime), not the sender's
};
bool topic_ensure(struct broker *broker, const struct topic_wish *wish, int timeout_ms,
                  struct err *err) MUST_CHECK;
// redrive.marker with its 2 partitions.
bool marker_topic_ensure(struct broker *broker, int timeout_ms, struct err *err) MUST_CHECK;

#endif
