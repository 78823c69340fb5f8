// worker: the process that carries operations out, and the promise of its Kafka cluster.
#ifndef REDRIVE_CORE_WORKER_H
#define REDRIVE_CORE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct worker {
    const char *name; // "<host>/<pid>/<start>"
    const char *note; // "idle", "operation 41, slot 2", "Kafka cannot be reached: …"
    bool publishes;   // has Kafka settings
    int64_t seen_at;
    double rate; // events/s over the last seconds
};

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
