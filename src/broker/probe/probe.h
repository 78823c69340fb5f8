// probe: tests by trial which delivery guarantee this cluster can give (src/publish/PROTOCOL.md, "What the
// guarantee assumes"), and finds settings that endanger it.
//
// Trusts no name or version: it leaves a transaction open, fences it, commits one and aborts one, on names of
// its own. Each time the marker and the records must show the behaviour on which the protocol relies.
// librdkafka's mock cluster fails.
#ifndef REDRIVE_BROKER_PROBE_PROBE_H
#define REDRIVE_BROKER_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "broker/broker.h"
#include "core/worker.h"

#define PROBE_REMEDY 600
#define PROBE_TOPIC "redrive.probe"

// One result of a check, for `redrive doctor`.
struct finding {
    bool is_ok;
    char sentence[300];
    char remedy[PROBE_REMEDY]; // the command or setting that solves it; "": nothing to do
};

#define PROBE_FINDINGS 60
struct probe {
    struct cluster cluster; // name, promise, words, evidence; checked_at is left to PostgreSQL's clock
    struct finding findings[PROBE_FINDINGS];
    size_t count;
    struct {
        bool is_known;  // a broker stamped a record of the probe with its own time
        int32_t broker; // that stamped it
        int64_t ahead;  // µs that its clock is ahead of this host's
        int64_t give;   // possible error of `ahead` in µs, either way
    } clock;
};

// `install` is the install id, part of the names that the probe uses. Takes one to five seconds. False only
// without any result (ERR_UNREACHABLE); a missing ACL or an unfit broker is a finding and makes the promise
// "at least once".
bool probe_run(struct broker *broker, const struct broker_settings *settings, const char *install,
               struct probe *probe, struct err *err) MUST_CHECK;
// Settings of brokers and topics that endanger the promise: replication, min.insync.replicas, unclean
// election, offset retention, transaction timeout, the marker topic; and those of `topics`, the target
// topics. Adds findings, each with the command that solves it, also for settings that may not be read.
void probe_cluster_settings(struct broker *broker, const struct broker_settings *settings,
                            const char *const *topics, size_t count, struct probe *probe);

// Topics of dead letters, by their names: retention, cleanup.policy, copies, min.insync.replicas, partitions,
// and that each topic has one of its own. Adds a finding for each thing that is wrong, with the command that
// mends it; of those that are well the first ten are named and the rest counted. At most 200 topics are
// looked at, by name, and it is said how many were not. oldest: age in µs of the oldest pending event; 0:
// none.
void probe_queues(struct broker *broker, const struct broker_settings *settings, int64_t oldest,
                  struct probe *probe);

// Compares the broker's clock with this host's and with PostgreSQL's, which is `postgresql_ahead` µs ahead of
// this host's (TIME_ABSENT: unknown). Adds one finding.
void probe_clocks(const struct broker_settings *settings, int64_t postgresql_ahead, struct probe *probe);

// May these topics be written and read? Adds one finding each, with the missing ACL. Writes nothing. Only for
// a cluster that passed the probe, because it relies on fencing.
bool probe_targets(struct broker *broker, const struct broker_settings *settings, const char *install,
                   const char *const *topics, size_t count, struct probe *probe, struct err *err) MUST_CHECK;

// Adds a finding that is worth knowing, although nothing is wrong.
void probe_note(struct probe *probe, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Adds a finding; returns is_ok. The remedy is kept only if it is not ok.
bool probe_found(struct probe *probe, bool is_ok, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
