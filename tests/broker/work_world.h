// work_world: workers of a test, each in a process of its own, so that they can be killed like real ones.
#ifndef REDRIVE_TESTS_BROKER_WORK_WORLD_H
#define REDRIVE_TESTS_BROKER_WORK_WORLD_H

#include <signal.h>
#include <sys/types.h>
#include "tests/broker/kafka_world.h"

struct work_how {
    const char *brokers; // NULL: REDRIVE_TEST_KAFKA
    const struct broker_property *properties;
    size_t property_count;
    const char *conninfo; // NULL: the world's
    int64_t operation;    // 0: once
    size_t chunk;
    const char *kill; // REDRIVE_KILL
    const char *key;
    bool is_key_only;
    const char *consumers; // the setting
    int64_t doubt_wait;
    int64_t lives; // a service that ends after so many idle µs; 0: not a service
};

bool work_here(const struct world *world, const struct work_how *how, struct err *err);

// A worker in a process of its own. Its exit status is the err_kind it ended with.
pid_t work_start(const struct world *world, const struct work_how *how);

// Waits for it, a minute and a half at most; its status, or minus the signal that ended it.
int work_wait(pid_t pid);

int work_run(const struct world *world, const struct work_how *how);

// As if the leases of dead workers had passed: a test need not wait half a minute for each.
void expire_leases(const struct world *world);

// PostgreSQL's side of "each event exactly once": all done, nothing left over.
void assert_all_done(struct world *world, int64_t operation, int64_t total);

#endif
