// worker: carries operations out: reprocess through the publisher, the others as plain SQL in chunks. Several
// may run, anywhere.
//
// It holds no state that matters: when it is killed, another one or its own next start continues.
#ifndef REDRIVE_PUBLISH_WORKER_H
#define REDRIVE_PUBLISH_WORKER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "broker/settings.h"
#include "core/operation.h"
#include "publish/plan.h"
#include "store/store.h"

enum worker_mode {
    WORKER_SERVICE,   // until stopped, or idle for idle_exit
    WORKER_ONCE,      // until nothing more can be carried out now
    WORKER_OPERATION, // until `operation` has ended; carries out whatever else waits meanwhile
};

struct worker_progress {
    const struct operation *operation; // the one in flight; NULL: none
    const char *note; // what it does or waits for: "operation 41, slot 2", "Kafka cannot be reached: …"
};
typedef void worker_progress_fn(void *context, const struct worker_progress *progress);

// Applies the recipe of an operation (ACTION_CORRECT) to its next events; the caller has the room for that.
// `broker` NULL: none is configured. *applied is 0 where nothing may be applied now; *left: still queued.
// ERR_CANCELLED: the worker is to stop.
struct work;
struct broker;
typedef bool worker_correct_fn(void *context, struct store *store, struct broker *broker,
                               const struct work *work, int64_t *applied, int64_t *left, struct err *err);

struct worker_settings {
    struct store_settings store; // all borrowed until worker_run returns
    struct store *opened; // connected by `store`, to begin with; worker_run closes it. NULL: it connects
    struct broker_settings broker; // without brokers it carries out only what needs no Kafka
    struct plan_settings plan;
    const char *consumers; // rows of core/topic_rules.h; NULL: none
    enum worker_mode mode;
    int64_t operation;  // WORKER_OPERATION
    size_t chunk;       // most events in a transaction; 0: 5,000
    int64_t idle_exit;  // µs without work after which a service ends; 0: never
    int64_t patience;   // µs for which one that is no service waits for Kafka or PostgreSQL; 0: about 20 s
    int64_t doubt_wait; // µs after which a chunk of uncertain end is looked for by its headers, on brokers
                        // without transactions; 0: message timeout + request timeout + 60 s
    worker_correct_fn *correct; // NULL: leaves recipes to other workers
    void *correct_context;
    worker_progress_fn *progress; // about five times a second while something is in flight; NULL: not wanted
    void *progress_context;
    const volatile sig_atomic_t
        *stop; // set by SIGTERM, SIGHUP, SIGINT: finish what is in flight, then return; NULL: never
};

// True: it ended in order (stopped services included). Otherwise ERR_UNREACHABLE (WORKER_OPERATION and
// WORKER_ONCE: Kafka or PostgreSQL did not answer within 25 s, or the patience of the settings; the operation
// stays for the next worker),
// ERR_CANCELLED (WORKER_OPERATION stopped before the operation ended; what was in flight is finished),
// ERR_DENIED, ERR_USAGE (settings that Kafka or PostgreSQL refuse), ERR_STOPPED (this database may not
// publish, store/operations/turns.h).
bool worker_run(const struct worker_settings *settings, struct err *err) MUST_CHECK;

// Starts this very program with these arguments (without its name, NULL-terminated; no secrets: everybody can
// read them) as a process of its own that outlives the terminal; the environment is inherited. Its output
// goes to worker.log in the folder state_home.
bool worker_start_detached(const char *const *arguments, const char *state_home, struct err *err) MUST_CHECK;

#endif
