// Operations whose step failed while PostgreSQL and Kafka are there: the worker tries them again later and
// smaller, and their rows say why.
#include "publish/worker_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "store/operations/operations.h"

#define FOREGROUND_TRIES 4 // then the person who waits is told

void
worker_name_failure(const struct err *failure, struct err *named)
{
    bool is_named = failure->sqlstate[0] || failure->kind == ERR_USAGE || failure->kind == ERR_STOPPED ||
                    strstr(failure->text, "PostgreSQL") || strncmp(failure->text, "Kafka ", 6) == 0;
    *named = *failure;
    if (!is_named)
        snprintf(named->text, sizeof named->text, "Kafka failed: %.*s",
                 (int)(sizeof named->text - sizeof "Kafka failed: "), failure->text);
}

const char *
worker_failure_line(const struct err *failure)
{
    return failure->sqlstate[0]        ? "PostgreSQL refused"
           : failure->kind == ERR_DATA ? "nothing is published"
                                       : "Kafka failed";
}

static int
tries_of(const struct worker_run *run, int64_t operation)
{
    for (size_t i = 0; i < SETBACKS; i++)
        if (run->setbacks.rows[i].operation == operation)
            return run->setbacks.rows[i].tries;
    return 0;
}

bool
worker_set_back(struct worker_run *run, int64_t operation, size_t limit, const struct err *failure,
                struct err *err)
{
    int64_t now = clock_mono();
    run->trouble = *failure;
    setback_add(&run->setbacks, operation, limit, now, failure->text);
    log_line(LOG_WARN, "operation set back", LOG_INT("operation", operation), LOG_TEXT("why", failure->text),
             LOG_INT("retry_ms", setback_wait(&run->setbacks, operation, now) / 1000),
             LOG_INT("events", setback_limit(&run->setbacks, operation, worker_most(run))));
    if (worker_is_foreground(run) && tries_of(run, operation) >= FOREGROUND_TRIES)
        return err_set(err, failure->kind, "%s", failure->text);
    return true;
}

bool
worker_set_back_empty(struct worker_run *run, int64_t operation, int64_t queued, struct err *err)
{
    static const char why[] = "none of its events can be found, although some wait; cancel it and ask again";
    for (size_t i = 0; i < WORKER_SLOTS; i++) // what is left may hang on what another one has in flight
        if (run->publishers[i].is_driven && run->publishers[i].operation == operation)
            return true;
    setback_empty(&run->setbacks, operation, queued, clock_mono(), why);
    if (worker_is_foreground(run) && tries_of(run, operation) >= FOREGROUND_TRIES)
        return err_set(err, ERR_DATA, "operation %" PRId64 ": %s", operation, why);
    return true;
}

size_t
worker_set_back_list(const struct worker_run *run, int64_t *operations)
{
    size_t count = 0;
    for (size_t i = 0; i < SETBACKS; i++)
        if (setback_wait(&run->setbacks, run->setbacks.rows[i].operation, clock_mono()) > 0)
            operations[count++] = run->setbacks.rows[i].operation;
    return count;
}

static void
describe_setback(const struct worker_run *run, const struct setback *setback, char *text, size_t room)
{
    int64_t wait = setback->until - clock_mono();
    long long seconds = wait > US_PER_SECOND ? (wait + US_PER_SECOND - 1) / US_PER_SECOND : 1;
    size_t most = worker_most(run);
    if (setback->limit < most)
        snprintf(text, room, "%s; failed %d times, next try within %llds with at most %zu events",
                 setback->why, setback->tries, seconds, setback->limit);
    else
        snprintf(text, room, "%s; next try within %llds", setback->why, seconds);
}

bool
worker_tell_setbacks(struct worker_run *run, struct err *err)
{
    const struct setback *setback = setback_tell(&run->setbacks, clock_mono());
    if (!setback)
        return true;
    char text[300];
    struct err failure = {0};
    describe_setback(run, setback, text, sizeof text);
    worker_note(run, "operation %" PRId64 ": %.150s", setback->operation, text);
    return work_note(run->endpoints.store, setback->operation, text, &failure) ||
           worker_store_failed(run, &failure, err);
}
