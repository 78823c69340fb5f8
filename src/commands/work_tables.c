#include "commands/work_tables.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/ready.h"

static const int64_t LOOK_EVERY = US_PER_SECOND / 5;
static const int64_t AGAIN_AFTER = 2 * US_PER_SECOND;

struct table_worker {
    const char *table;
    pid_t pid;        // 0: none runs
    int64_t start_at; // clock_mono
    bool is_given_up;
    int status;
};

static int
exit_status(int ended)
{
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

static void
note_end(struct table_worker *worker, int status)
{
    worker->pid = 0;
    worker->start_at = clock_mono() + AGAIN_AFTER;
    worker->is_given_up = status == STATUS_USAGE || status == STATUS_STOPPED;
    worker->status = worker->is_given_up ? status : STATUS_DONE;
    log_line(worker->is_given_up ? LOG_ERROR : LOG_WARN,
             worker->is_given_up ? "the worker of a table ended; the others continue"
                                 : "the worker of a table ended; it is started again",
             LOG_TEXT("of", worker->table), LOG_INT("status", status));
}

// Only those of ours: nobody else's child is waited for.
static bool
collect_ends(struct table_worker *workers, size_t count, bool is_stopping)
{
    bool is_one_there = false;
    for (size_t i = 0; i < count; i++) {
        int ended;
        if (workers[i].pid && waitpid(workers[i].pid, &ended, WNOHANG) == workers[i].pid) {
            if (is_stopping)
                workers[i] = (struct table_worker){.is_given_up = true, .status = exit_status(ended)};
            else
                note_end(&workers[i], exit_status(ended));
        }
        is_one_there = is_one_there || workers[i].pid || !workers[i].is_given_up;
    }
    return is_one_there;
}

static void
stop_all(struct table_worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (workers[i].pid)
            (void)kill(workers[i].pid, SIGTERM);
        else
            workers[i].is_given_up = true;
    }
}

// True in the new process.
static bool
start_one(struct call *call, struct table_worker *worker, pid_t first)
{
    pid_t pid = fork();
    if (pid < 0) {
        log_line(LOG_WARN, "no process for a table", LOG_TEXT("of", worker->table),
                 LOG_TEXT("why", strerror(errno)));
        worker->start_at = clock_mono() + AGAIN_AFTER;
        return false;
    }
    worker->pid = pid;
    if (pid > 0)
        return false;
    // What outlives the first process would not be stopped by a second start of the service.
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != first)
        (void)kill(getpid(), SIGTERM);
    ready_mute();
    call->table = worker->table;
    log_always("table", worker->table);
    return true;
}

int
work_tables(struct call *call, const char *const *tables, size_t count, work_table_fn *run, struct err *err)
{
    struct table_worker *workers = arena_array(&call->settings.arena, count, sizeof *workers);
    pid_t first = getpid();
    bool is_stopping = false, was_told_ready = false;
    for (size_t i = 0; i < count; i++)
        workers[i] = (struct table_worker){.table = tables[i]};
    interrupt_catch();
    while (collect_ends(workers, count, is_stopping)) {
        if (interrupt_is_set() && !is_stopping) {
            is_stopping = true;
            ready_tell_stopping();
            stop_all(workers, count);
            continue;
        }
        for (size_t i = 0; i < count && !is_stopping; i++)
            if (!workers[i].pid && !workers[i].is_given_up && clock_mono() >= workers[i].start_at &&
                start_one(call, &workers[i], first))
                return run(call, err);
        if (!was_told_ready && !is_stopping)
            ready_tell(); // each of them connects by itself, and again where that fails
        was_told_ready = true;
        clock_sleep(LOOK_EVERY);
    }
    int status = STATUS_DONE;
    for (size_t i = 0; i < count && status == STATUS_DONE; i++)
        status = workers[i].status;
    return status;
}
