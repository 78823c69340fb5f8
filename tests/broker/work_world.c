#include "tests/broker/work_world.h"

#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"
#include "publish/worker.h"

#define WAIT_MOST (90 * US_PER_SECOND)

static volatile sig_atomic_t work_stop;

static void
work_signal(int signal)
{
    (void)signal;
    work_stop = 1;
}

bool
work_here(const struct world *world, const struct work_how *how, struct err *err)
{
    struct arena arena = {0};
    const struct topic_rules *rules = topic_rules_read(how->consumers, &arena, err);
    const struct worker_settings settings = {
        .store = {.conninfo = how->conninfo ? how->conninfo : world->conninfo,
                  .table = "public.dlq_events",
                  .program = "test-worker"},
        .broker = {.brokers = how->brokers ? how->brokers : test_kafka(),
                   .properties = how->properties,
                   .property_count = how->property_count},
        .plan = {.rules = rules, .key = how->key, .is_key_only = how->is_key_only},
        .consumers = how->consumers,
        .mode = how->operation ? WORKER_OPERATION
                : how->lives   ? WORKER_SERVICE
                               : WORKER_ONCE,
        .operation = how->operation,
        .chunk = how->chunk,
        .idle_exit = how->lives,
        .doubt_wait = how->doubt_wait,
        .stop = &work_stop,
    };
    bool ok = rules && worker_run(&settings, err);
    arena_release(&arena);
    return ok;
}

pid_t
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

int
work_wait(pid_t pid)
{
    int status;
    pid_t ended = 0;
    for (int64_t end = clock_mono() + WAIT_MOST; (ended = waitpid(pid, &status, WNOHANG)) == 0;) {
        if (clock_mono() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            fail_msg("the worker did not come to an end within %d s", (int)(WAIT_MOST / US_PER_SECOND));
        }
        clock_sleep(5000);
    }
    assert_int_equal(ended, pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int
work_run(const struct world *world, const struct work_how *how)
{
    return work_wait(work_start(world, how));
}

void
expire_leases(const struct world *world)
{
    test_sql(world->admin, "UPDATE redrive.slot SET lease_until = '-infinity' WHERE holder IS NOT NULL");
}

void
assert_all_done(struct world *world, int64_t operation, int64_t total)
{
    struct operation found = get_operation(world, operation);
    if (found.state != OPERATION_DONE || found.done != total)
        fail_msg("operation %lld: %s, %lld of %lld done, %lld refused, %lld held", (long long)operation,
                 operation_state_name(found.state), (long long)found.done, (long long)total,
                 (long long)found.refused, (long long)found.in_doubt);
    assert_int_equal(
        test_number(world->admin,
                    "SELECT count(*) FROM redrive.item WHERE state IN ('queued','claimed','in doubt')"),
        0);
    assert_int_equal(
        test_number(world->admin, "SELECT count(*) FROM redrive.chunk WHERE state IN ('claimed','in doubt')"),
        0);
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM redrive.slot WHERE is_suspended"), 0);
}
