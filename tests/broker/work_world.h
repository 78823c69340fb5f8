// work_world: workers of a test, each in a process of its own, so that they can be killed like real ones.
#ifndef REDRIVE_TESTS_BROKER_WORK_WORLD_H
#define REDRIVE_TESTS_BROKER_WORK_WORLD_H

#include <signal.h>
#include <sys/wait.h>
#include "base/log.h"
#include "engine/worker.h"
#include "tests/broker/kafka_world.h"

struct work_how {
    const char *brokers; // NULL: REDRIVE_TEST_KAFKA
    int64_t operation;   // 0: once
    size_t chunk;
    const char *kill; // REDRIVE_KILL
    const char *key;
    bool is_key_only;
    int64_t doubt_wait;
    int64_t lives; // a service that ends after so many idle µs; 0: not a service
};

static volatile sig_atomic_t work_stop;

static UNUSED void
work_signal(int signal)
{
    (void)signal;
    work_stop = 1;
}

static UNUSED bool
work_here(const struct world *world, const struct work_how *how, struct err *err)
{
    const struct worker_settings settings = {
        .store = {.conninfo = world->conninfo, .table = "public.dlq_events", .program = "test-worker"},
        .broker = {.brokers = how->brokers ? how->brokers : test_kafka()},
        .plan = {.key = how->key, .is_key_only = how->is_key_only},
        .mode = how->operation ? WORKER_OPERATION
                : how->lives   ? WORKER_SERVICE
                               : WORKER_ONCE,
        .operation = how->operation,
        .chunk = how->chunk,
        .idle_exit = how->lives,
        .doubt_wait = how->doubt_wait,
        .stop = &work_stop,
    };
    return worker_run(&settings, err);
}

// A worker in a process of its own. Its exit status is the err_kind it ended with.
static UNUSED pid_t
work_start(const struct world *world, const struct work_how *how)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;

    signal(SIGTERM, work_signal);
    if (how->kill)
        setenv("REDRIVE_KILL", how->kill, 1);
    if (getenv("REDRIVE_TEST_LOG"))
        log_to(stderr, LOG_DEBUG, false);
    struct err err = {0};
    bool is_good = work_here(world, how, &err);
    if (!is_good)
        fprintf(stderr, "worker: %s\n", err.text);
    _exit(is_good ? 0 : (int)err.kind);
}

// Waits for it; its status, or minus the signal that ended it.
static UNUSED int
work_wait(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static UNUSED int
work_run(const struct world *world, const struct work_how *how)
{
    return work_wait(work_start(world, how));
}

// As if the leases of those who died had passed: a test need not wait half a minute for each.
static UNUSED void
expire_leases(const struct world *world)
{
    test_sql(world->admin, "UPDATE redrive.slot SET lease_until = '-infinity' WHERE holder IS NOT NULL");
}

// PostgreSQL's side of "each event exactly once": all done, nothing left over.
static UNUSED void
assert_all_done(struct world *world, int64_t operation, int64_t total)
{
    struct operation found = get_operation(world, operation);
    if (found.state != OPERATION_DONE || found.done != total)
        fail_msg("operation %lld: %s, %lld of %lld done, %lld refused, %lld held", (long long)operation,
                 operation_state_name(found.state), (long long)found.done, (long long)total,
                 (long long)found.refused, (long long)found.held);
    assert_int_equal(
        test_number(world->admin,
                    "SELECT count(*) FROM redrive.operation_item WHERE state IN ('queued','claimed','held')"),
        0);
    assert_int_equal(
        test_number(world->admin, "SELECT count(*) FROM redrive.chunk WHERE state IN ('claimed','in doubt')"),
        0);
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM redrive.slot WHERE quarantined"), 0);
}

#endif
