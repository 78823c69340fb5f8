#include "ingest/ingester.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "broker/broker.h"
#include "ingest/private.h"

#define PATIENCE (25 * US_PER_SECOND) // of a run to the end
#define TELL_EVERY (10 * US_PER_SECOND)
#define AGAIN_EVERY (600 * US_PER_SECOND)
#define ORIGINALS_MOST (20 * US_PER_SECOND)

bool
reading_is_stopped(const struct reading *reading)
{
    return reading->settings->stop && *reading->settings->stop;
}

static bool
reading_is_wanted(void *reading)
{
    return !reading_is_stopped(reading);
}

static bool
open_all(struct reading *reading, struct err *err)
{
    struct broker *broker = NULL;
    const struct ingest_settings *settings = reading->settings;
    if (!store_open(&reading->store, &settings->store, err) || !broker_open(&broker, &settings->broker, err))
        return false;
    bool ok = broker_cluster_id(broker, KAFKA_MS, reading->cluster, err) &&
              tail_open(&reading->tail, &settings->broker,
                        settings->mode == INGEST_DRY ? NULL : settings->group, err);
    broker_close(broker);
    return ok;
}

static void
close_all(struct reading *reading)
{
    struct err ignored = {0};
    if (!writing_finish(reading, &ignored))
        log_line(LOG_WARN, "letters that were read are not written; they are read again",
                 LOG_TEXT("why", ignored.text));
    for (size_t i = 0; i < WRITERS; i++)
        chunk_empty(&reading->writings[i].chunk);
    chunks_drop(reading);
    partitions_release(reading);
    tail_close(reading->tail);
    store_close(reading->store);
    store_close(reading->beside);
    reading->tail = NULL;
    reading->store = reading->beside = NULL;
}

static void
tell(struct reading *reading)
{
    int64_t letters = reading->report->events + reading->report->attempts, behind = 0;
    if (clock_mono() - reading->times.told_at < TELL_EVERY || letters == reading->told_letters)
        return;
    for (size_t i = 0; i < reading->part_count; i++)
        if (reading->parts[i].end > reading->parts[i].position.next)
            behind += reading->parts[i].end - reading->parts[i].position.next;
    log_line(LOG_INFO, "took in dead letters", LOG_INT("letters", letters - reading->told_letters),
             LOG_INT("events", reading->report->events), LOG_INT("attempts", reading->report->attempts),
             LOG_INT("behind", behind));
    reading->times.told_at = clock_mono();
    reading->told_letters = letters;
}

// What the contract table refused may have been put right meanwhile.
static bool
try_again(struct reading *reading, struct err *err)
{
    struct ingest_taken taken;
    bool is_due =
        reading->times.tried_again_at == 0 || clock_mono() - reading->times.tried_again_at >= AGAIN_EVERY;
    if (!is_due || reading->settings->mode == INGEST_DRY)
        return true;
    if (!writing_finish(reading, err) || !ingest_again(reading->store, &reading->ingester, &taken, err))
        return false;
    reading->times.tried_again_at = clock_mono();
    reading->report->events += taken.events;
    reading->report->attempts += taken.attempts;
    reading->report->unfit += taken.unfit;
    return true;
}

// One chunk, or a moment without any.
static bool
turn(struct reading *reading, struct err *err)
{
    bool is_full = false;
    if (!partitions_tend(reading, err) || !try_again(reading, err))
        return false;
    while (!is_full && !reading_is_stopped(reading))
        if (!chunks_read(reading, &is_full, err))
            return false;
    if (!chunks_take(reading, err))
        return false;
    tell(reading);
    return true;
}

// What dead letters point at. They are taken in already: what cannot be read now is left to the next run, or
// to the worker that sends it.
static void
read_originals(struct reading *reading)
{
    const struct ingest_settings *settings = reading->settings;
    const struct pointers_settings pointers = {.broker = &settings->broker,
                                               .rules = settings->rules,
                                               .is_wanted = reading_is_wanted,
                                               .wanted = reading,
                                               .most = ORIGINALS_MOST};
    struct err failure = {0};
    if (!pointers_pass(reading->store, &pointers, reading->cluster, &reading->report->originals, &failure))
        log_line(LOG_WARN,
                 "originals that dead letters point at are not read; the next run asks for them again",
                 LOG_TEXT("why", failure.text));
}

// Until it is stopped, or all is read, or something fails.
static bool
read_on(struct reading *reading, int64_t *well_at, struct err *err)
{
    const struct ingest_settings *settings = reading->settings;
    bool is_to_end = settings->mode != INGEST_SERVICE;
    bool ok = open_all(reading, err);
    while (ok && !reading_is_stopped(reading)) {
        ok = turn(reading, err);
        int64_t well = writing_is_under_way(reading) ? reading->times.moved_at : clock_mono();
        if (ok && well > *well_at)
            *well_at = well;
        if (ok && is_to_end && partitions_are_done(reading))
            break;
        if (ok && is_to_end && clock_mono() - reading->times.moved_at > PATIENCE) {
            *well_at = reading->times.moved_at;
            ok = partitions_tell_unread(reading, err);
        }
    }
    ok = ok && writing_finish(reading, err);
    if (ok && settings->mode == INGEST_ONCE)
        read_originals(reading);
    if (ok && settings->mode == INGEST_ONCE && settings->schemas)
        ok = schemas_pass(reading->store, settings->schemas, reading_is_wanted, reading, err);
    struct err ignored = {0};
    if (ok && reading->is_registered && !ingest_end(reading->store, &reading->ingester, &ignored))
        log_line(LOG_WARN, "the partitions are free in 15 seconds", LOG_TEXT("why", ignored.text));
    close_all(reading);
    return ok;
}

// May it be tried again?
static bool
is_passing(const struct reading *reading, const struct err *failure, int64_t well_at)
{
    switch (failure->kind) {
    case ERR_CONFLICT:
    case ERR_CANCELLED: // a time limit of PostgreSQL
    case ERR_UNREACHABLE:
        return reading->settings->mode == INGEST_SERVICE || clock_mono() - well_at < PATIENCE;
    case ERR_DATA:
    case ERR_INTERNAL:
        return reading->settings->mode == INGEST_SERVICE;
    default:
        return false;
    }
}

bool
ingester_run(const struct ingest_settings *settings, struct arena *arena, struct ingest_report *report,
             struct err *err)
{
    // Arrays of some megabytes are made by one thread and freed by another, a few times a second.
    alloc_share_heap();
    alloc_return_large();
    struct reading reading = {.settings = settings,
                              .arena = arena,
                              .report = report,
                              .times = {.told_at = clock_mono(), .moved_at = clock_mono()}};
    struct schema_watch *watch = settings->schemas && settings->mode == INGEST_SERVICE
                                     ? schema_watch_start(&settings->store, settings->schemas)
                                     : NULL;
    struct pointer_watch *pointers =
        settings->mode == INGEST_SERVICE
            ? pointer_watch_start(&settings->store, &settings->broker, settings->rules)
            : NULL;
    int64_t well_at = clock_mono();
    bool ok = false;
    reading.schemas = schema_cache_create();
    writing_begin(&reading);
    for (int attempt = 0; !ok;) {
        struct err failure = {0};
        int64_t before = well_at;
        ok = read_on(&reading, &well_at, &failure);
        if (ok || reading_is_stopped(&reading)) {
            ok = true;
        } else if (!is_passing(&reading, &failure, well_at)) {
            *err = failure;
            break;
        } else {
            attempt = well_at != before ? 0 : attempt + 1;
            log_line(LOG_WARN, "taking in dead letters is interrupted; it resumes by itself",
                     LOG_TEXT("why", failure.text));
            for (int64_t until = clock_mono() + store_backoff(attempt);
                 clock_mono() < until && !reading_is_stopped(&reading);)
                clock_sleep(50000);
        }
    }
    pointer_watch_stop(pointers);
    schema_watch_stop(watch);
    schema_cache_destroy(reading.schemas);
    writing_end(&reading);
    for (size_t i = 0; i < WRITERS; i++)
        chunk_release(&reading.chunks[i]);
    arena_release(&reading.read_arena);
    free(reading.items);
    return ok;
}
