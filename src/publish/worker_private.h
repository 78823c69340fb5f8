// worker_inside: what the files of the worker share.
#ifndef REDRIVE_PUBLISH_WORKER_PRIVATE_H
#define REDRIVE_PUBLISH_WORKER_PRIVATE_H

#include "broker/broker.h"
#include "core/worker.h"
#include "publish/publisher.h"
#include "publish/worker.h"
#include "store/store.h"

#define WORKER_SLOTS 3    // chunks in flight at the same time
#define WORKER_HOLDERS 2  // of which so many have their events in memory
#define LOOK_EVERY 500000 // µs, for new work when there is none

struct lane;

// What the publisher's tables are bound to: those of the worker itself, and of each publisher.
struct endpoints {
    const struct broker_settings *broker_settings;
    struct store *store;
    struct broker *broker; // NULL: not connected
    struct cluster cluster;
    char worker[128];

    // Of a publisher's only: the call that its lane makes now, which owns `store` until it is done.
    struct lane *lane;
    void (*call)(void *argument);
    void *argument;
    bool is_running;
};

extern const struct publisher_ledger endpoints_ledger;
extern const struct publisher_broker endpoints_broker;
extern const struct publisher_world endpoints_world;

// Connects to Kafka and finds out what the cluster promises: from PostgreSQL where it was tried within a day,
// else by trying. May take some seconds. On failure nothing is kept.
bool endpoints_connect(struct endpoints *endpoints, struct err *err) MUST_CHECK;
void endpoints_close(struct endpoints *endpoints); // Kafka's half

// Endpoints of one publisher: a lane with a connection to PostgreSQL of its own, for long calls; Kafka is
// that of `shared`, which outlives it. On failure there is nothing to close.
bool endpoints_open_lane(struct endpoints *own, const struct endpoints *shared,
                         const struct store_settings *settings, struct err *err) MUST_CHECK;
// Waits for the call in flight. Endpoints that were never opened are fine.
void endpoints_close_lane(struct endpoints *own);
// One asynchronous call, as in struct publisher_world.
void endpoints_start(void *context, void (*call)(void *argument), void *argument);
bool endpoints_is_done(void *context, int wait_ms);
bool
endpoints_is_connected(const struct endpoints *own); // true also while that is not known: a call is in flight

// Operation by operation, how many events may be sent now.
struct pace {
    int64_t operation; // 0: free
    int32_t rate;
    double tokens;
    int64_t at; // clock_mono of the last refill
};
#define PACES 16
struct paces {
    struct pace rows[PACES];
};
// At most `most` events; 0: not yet, *wait_us tells how long to wait.
size_t pace_allow(struct paces *paces, int64_t operation, int32_t rate, size_t most, int64_t now,
                  int64_t *wait_us);
void pace_spend(struct paces *paces, int64_t operation, size_t count);

// Events per second over the last five seconds.
struct meter {
    int64_t counts[6];
    int64_t second; // of the newest
};
void meter_add(struct meter *meter, int64_t now, int64_t count);
double meter_rate(struct meter *meter, int64_t now);

// Looks into one chunk in doubt (PROTOCOL.md, "Doubt"). `wait`: µs by which a chunk without
// transactions must be old, so that no request of its owner is still on its way.
enum doubt_outcome { DOUBT_NONE, DOUBT_EARLY, DOUBT_DECIDED, DOUBT_STAYS };
bool doubt_look(struct endpoints *endpoints, int64_t wait, enum doubt_outcome *outcome,
                struct err *err) MUST_CHECK;

// The worker while it runs.
struct run {
    const struct worker_settings *settings;
    struct plan_settings plan;
    struct endpoints endpoints;
    struct publisher *publishers[WORKER_SLOTS];
    struct endpoints lanes[WORKER_SLOTS]; // of these
    bool is_driven[WORKER_SLOTS];         // on its way, with a chunk in flight, or recovering one
    int64_t operations[WORKER_SLOTS];     // what each was given; 0: nothing
    size_t turn;                          // who is given something next
    struct paces paces;
    struct meter meter;
    size_t limit; // of a chunk, adapted to how long they take

    char note[200];
    char noted[200];                                                  // told to PostgreSQL last
    int64_t beat_at, look_at, recover_at, doubt_at, show_at, tidy_at; // clock_mono when due
    int64_t work_at;                                                  // clock_mono: something was done last
    bool has_old_markers; // seen at the last look at what others left
    int64_t recovered_at; // clock_mono: what others left was looked for last

    // Trouble.
    int64_t kafka_at;    // clock_mono before which Kafka is not tried again
    int64_t kafka_since; // clock_mono since which it fails; 0: it does not
    int kafka_attempts;
    int64_t store_since;
    int store_attempts;
    struct err trouble; // the last of it

    bool is_waiting;    // operations wait for their rate, for Kafka, or for a moment to call them back
    bool is_observing;  // operations wait to see what comes back
    int64_t operation;  // in flight; 0: none
    struct arena arena; // of the operation that is shown
    struct operation shown;
    bool has_shown;
};

// worker.c
void worker_note(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool worker_must_stop(const struct run *run);
bool worker_is_foreground(const struct run *run);
// A failed call to PostgreSQL outside of the publishers. False: the worker ends with err.
bool worker_store_failed(struct run *run, const struct err *failure, struct err *err) MUST_CHECK;

// worker_publish.c; false always means that the worker ends with err.
size_t worker_most(const struct run *run); // events in a chunk
// Is there a Kafka to publish to now? Connects where that is due.
bool worker_need_kafka(struct run *run, bool *is_there, struct err *err) MUST_CHECK;
// Gives the operation's next events to the publisher whose turn it is. *wait: 0, or the µs that its rate does
// not allow any.
bool worker_publish(struct run *run, int64_t operation, int32_t rate, int64_t *wait,
                    struct err *err) MUST_CHECK;
// One step of each publisher that is on its way.
bool worker_publish_step(struct run *run, struct err *err) MUST_CHECK;
bool worker_is_publishing(const struct run *run); // any of them
bool worker_has_free_publisher(struct run *run);  // `turn` is one that could be given something now
// Chunks that somebody left. *is_wanted: there is something to do.
bool worker_recover(struct run *run, bool *is_wanted, struct err *err) MUST_CHECK;
bool worker_refresh(struct run *run, bool *is_wanted, struct err *err) MUST_CHECK; // an idle slot's marker
bool worker_keep_slots(struct run *run, struct err *err) MUST_CHECK;
bool worker_let_go(struct run *run, struct err *err) MUST_CHECK;
void worker_finish_all(struct run *run);
void worker_log_tally(const struct run *run);
void worker_drop_publishers(struct run *run);

#endif
