// worker: the process that carries operations out, and the promise of its Kafka cluster.
#ifndef REDRIVE_CORE_WORKER_H
#define REDRIVE_CORE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker {
    const char *name; // "<host>/<pid>/<start>"
    const char *note; // "idle", "operation 41, slot 2", "Kafka cannot be reached: …"
    bool publishes;   // has Kafka settings
    int64_t seen_at;
    int64_t silent_for; // µs since its last sign, by the database's clock
    double rate;        // events/s over the last seconds
};

// A worker gives a sign every second. After this long without one people are told, µs.
#define WORKER_SILENT (3 * (int64_t)1000000)

// Is there anybody to carry an operation out?
enum attendance {
    WORKERS_THERE,
    WORKERS_SILENT,          // those that could have given no sign for WORKER_SILENT
    WORKERS_NONE,            // none is alive
    WORKERS_WITHOUT_BROKERS, // those that are alive have no Kafka brokers, and the operation needs some
};
// Of these workers. *silent_for: with WORKERS_SILENT, µs since the last sign of any.
enum attendance workers_attendance(const struct worker *workers, size_t count, bool needs_kafka,
                                   int64_t *silent_for);

// The delivery guarantee of a cluster, as the probe found it (src/publish/PROTOCOL.md, "What the guarantee
// assumes").
enum promise { PROMISE_UNKNOWN, PROMISE_EXACTLY_ONCE, PROMISE_AT_LEAST_ONCE };
struct cluster {
    char name[64]; // short, part of Kafka names: the Kafka cluster id
    enum promise promise;
    char words[200];    // for the screen: "exactly once", "demo broker: at least once", …
    char evidence[500]; // what the probe saw
    int64_t checked_at;
};

#endif
