// probe: what this cluster can promise, found by trying it (PROTOCOL.md, "What the guarantee assumes"), and
// what about its settings endangers the promise.
//
// Never trusts a name or version: a transaction is left open, fenced, committed and aborted on names of the
// probe's own, and each time the marker and the records must show what the protocol rests on. librdkafka's
// mock cluster fails it.
#ifndef REDRIVE_BROKER_PROBE_PROBE_H
#define REDRIVE_BROKER_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "broker/broker.h"
#include "core/worker.h"

#define PROBE_REMEDY 600
#define PROBE_TOPIC "redrive.probe"

// One thing that was looked at, for `redrive doctor`.
struct finding {
    bool is_ok;
    char sentence[300];
    char remedy[PROBE_REMEDY]; // the command or setting that mends it; "" when nothing is to be done
};

#define PROBE_FINDINGS 60
struct probe {
    struct cluster cluster; // name, promise, words, evidence; checked_at is left to PostgreSQL's clock
    struct finding findings[PROBE_FINDINGS];
    size_t count;
    struct {
        bool is_known;  // a broker has put its own time on a record of the probe
        int32_t broker; // which one
        int64_t ahead;  // µs that its clock is ahead of this host's
        int64_t give;   // µs that this may be wrong by, either way
    } clock;
};

// `install` is the install id, part of the names that it uses. Takes one to five seconds. False only when
// nothing could be found out (ERR_UNREACHABLE); a missing ACL or an unfit broker is a finding and makes the
// promise "at least once".
bool probe_run(struct broker *broker, const struct broker_settings *settings, const char *install,
               struct probe *probe, struct err *err) MUST_CHECK;
// Settings of brokers and topics that endanger the promise: replication, min.insync.replicas, unclean
// election, offset retention, transaction timeout, the marker topic; of `topics` (where events go) as well.
// Adds findings, each with the command that mends it; what may not be read is said so.
void probe_cluster_settings(struct broker *broker, const struct broker_settings *settings,
                            const char *const *topics, size_t count, struct probe *probe);

// What the clock that the probe met says beside this host's, and beside PostgreSQL's, which is
// `postgresql_ahead` µs ahead of this host's (TIME_ABSENT: not known). One finding.
void probe_clocks(const struct broker_settings *settings, int64_t postgresql_ahead, struct probe *probe);

// May these topics be written to and read? One finding each, with the ACL that is missing. Writes nothing.
// Only for a cluster that passed: it rests on fencing.
bool probe_targets(struct broker *broker, const struct broker_settings *settings, const char *install,
                   const char *const *topics, size_t count, struct probe *probe, struct err *err) MUST_CHECK;

// Adds one that is worth knowing, although nothing is wrong.
void probe_note(struct probe *probe, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Adds one; returns is_ok. The remedy is kept only for what is not.
bool probe_found(struct probe *probe, bool is_ok, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
