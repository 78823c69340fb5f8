#include "commands/correcting.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/log.h"
#include "commands/cli/interrupt.h"
#include "commands/publishing.h"
#include "publish/originals.h"
#include "store/operations/operations.h"

enum { ORIGINALS_MS = 20000 };

static bool
is_going_on(void *context)
{
    (void)context;
    return !interrupt_is_set();
}

struct correct_limits
correcting_limits(const struct call *call)
{
    const struct process_settings *process = &call->settings.process;
    return (struct correct_limits){
        .checks = process->checks,
        .check = {.time = process->check_time,
                  .start = 10 * US_PER_SECOND,
                  .memory = process->check_memory,
                  .processes = (size_t)process->check_processes},
        .jq_time = process->jq_time,
        .jq_memory = process->jq_memory,
        .is_wanted = is_going_on,
    };
}

// --- original records ---

static void
take_original(const struct original *original, struct event *event)
{
    event->record = (struct event_record){
        .is_kept = true,
        .key = original->record.key,
        .headers = original->record.headers,
        .header_count = original->record.header_count,
    };
    if (!event->known.correction.has_payload)
        event->payload = original->record.value;
}

bool
correcting_find_originals(void *context, struct store *store, struct event *events, size_t count,
                          bool is_kept_for_good, struct arena *arena, const char **troubles, struct err *err)
{
    const struct correcting_originals *from = context;
    bool is_wanted = false;
    const struct event **wanted = arena_array(arena, count, sizeof *wanted);
    struct original *originals = arena_array(arena, count, sizeof *originals);
    for (size_t i = 0; i < count; i++) {
        wanted[i] = &events[i];
        is_wanted = is_wanted || plan_wants_original(&events[i]);
    }
    if (!from->broker || !is_wanted)
        return true;
    if (!originals_find(store, from->broker, wanted, count, ORIGINALS_MS, NULL, NULL, arena, originals, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (originals[i].state != ORIGINAL_FAILED)
            continue;
        if (is_kept_for_good) // by a worker, which tries again
            return err_set(err, ERR_UNREACHABLE,
                           "the original record of event %" PRId64 " could not be read: %s", events[i].id,
                           originals[i].why);
        troubles[i] =
            arena_printf(arena, "the original record could not be read: %s; try again", originals[i].why);
    }
    if (is_kept_for_good && !originals_keep(store, wanted, originals, count, arena, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (originals[i].state == ORIGINAL_FOUND)
            take_original(&originals[i], &events[i]);
    return true;
}

// --- the worker ---

static void
make_corrector(struct correcting_worker *worker, const struct work *work)
{
    struct correct_limits limits = correcting_limits(worker->call);
    limits.is_forced = work->is_forced;
    struct err err = {0};
    char name[64];
    snprintf(name, sizeof name, "operation %" PRId64, work->no);
    corrector_destroy(worker->corrector);
    worker->operation = work->no;
    if (corrector_create(&worker->corrector, name, bytes_of(work->recipe ? work->recipe : ""), &limits, &err))
        return;
    log_line(LOG_WARN, "recipe cannot be used", LOG_INT("operation", work->no), LOG_TEXT("why", err.text));
    worker->corrector = corrector_create_useless(err.text);
}

bool
correcting_apply(void *context, struct store *store, struct broker *broker, const struct work *work,
                 int64_t *applied, int64_t *left, struct err *err)
{
    struct correcting_worker *worker = context;
    worker->originals.broker = broker;
    if (!worker->corrector || worker->operation != work->no)
        make_corrector(worker, work);
    corrector_set_originals(worker->corrector, broker ? correcting_find_originals : NULL, &worker->originals);
    if (!worker->ahead) {
        const struct store_settings settings = publishing_store(worker->call);
        worker->ahead = store_create(&settings);
    }
    struct store *ahead = work->queued > CORRECT_FEW ? worker->ahead : NULL;
    if (correct_step(worker->corrector, store, ahead, work->no, applied, left, err))
        return true;
    if (err->kind != ERR_CANCELLED)
        return false;
    corrector_destroy(worker->corrector); // its checks owe answers
    worker->corrector = NULL;
    return false;
}

void
correcting_worker_release(struct correcting_worker *worker)
{
    corrector_destroy(worker->corrector);
    store_close(worker->ahead);
    *worker = (struct correcting_worker){.call = worker->call};
}
