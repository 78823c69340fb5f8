// worker: who carries operations out, and what the Kafka cluster behind it can promise.
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

// What a cluster can promise, as found by the probe (PROTOCOL.md, "What the guarantee assumes").
enum promise { PROMISE_UNKNOWN, PROMISE_EXACTLY_ONCE, PROMISE_AT_LEAST_ONCE };
struct cluster {
    char name[64]; // short, part of Kafka names: the Kafka cluster id
    enum promise promise;
    char words[200];    // for the screen: "exactly once", "demo broker: at least once", …
    char evidence[500]; // what the probe saw
    int64_t checked_at;
};

#endif
