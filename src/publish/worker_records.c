// Original records that somebody wants to see: the worker reads them in Kafka and keeps them.
#include "publish/worker_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "publish/originals.h"
#include "store/events/events.h"
#include "store/events/records.h"

enum { RECORDS_AT_ONCE = 50, RECORDS_MS = 5000 };

// Why the record of an event is not kept; "": it is.
static const char *
why_not(const struct original *original)
{
    switch (original->state) {
    case ORIGINAL_NOT_ASKED: // it is kept already
    case ORIGINAL_FOUND:
        break;
    case ORIGINAL_OTHER:
        return "the record in its place is another one";
    case ORIGINAL_GONE:
    case ORIGINAL_UNREADABLE:
    case ORIGINAL_FAILED:
        return original->why;
    }
    return "";
}

static bool
keep_records(struct worker_run *run, const int64_t *ids, size_t count, const char **whys, struct arena *arena,
             struct err *err)
{
    const struct event_query query = {
        .fields = EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW, .ids = ids, .id_count = count, .limit = count};
    struct event_page page = {0};
    if (!store_events(run->endpoints.store, &query, &page, err))
        return false;
    const struct event **events = arena_array(arena, page.count, sizeof *events);
    struct original *originals = arena_array(arena, page.count, sizeof *originals);
    for (size_t i = 0; i < page.count; i++)
        events[i] = &page.events[i];
    bool ok = originals_find(run->endpoints.store, run->endpoints.broker, events, page.count, RECORDS_MS,
                             worker_sign_meanwhile, run, arena, originals, err) &&
              originals_keep(run->endpoints.store, events, originals, page.count, arena, err);
    for (size_t i = 0; ok && i < page.count; i++)
        for (size_t k = 0; k < count; k++)
            if (ids[k] == events[i]->id)
                whys[k] = why_not(&originals[i]);
    event_page_release(&page);
    return ok;
}

// Nothing is answered where the time was used up by others: the requests are taken once more, and those of a
// partition that does not answer are then over at once.
static bool
answer_requests(struct worker_run *run, const int64_t *ids, size_t count, bool is_there, struct err *err)
{
    struct arena arena = {0};
    const char *whys[RECORDS_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        whys[i] = is_there ? "the event is no more" : run->trouble.text;
    bool ok = (!is_there || keep_records(run, ids, count, whys, &arena, err)) &&
              records_answer(run->endpoints.store, ids, whys, count, err);
    arena_release(&arena);
    return ok;
}

bool
worker_keep_records(struct worker_run *run, struct err *err)
{
    if (!broker_settings_present(&run->settings->broker) || clock_mono() < run->due.records)
        return true;
    run->due.records = clock_mono() + US_PER_SECOND / 2;
    int64_t ids[RECORDS_AT_ONCE];
    size_t count;
    struct err failure = {0};
    if (!records_wanted(run->endpoints.store, ids, RECORDS_AT_ONCE, &count, &failure))
        return worker_store_failed(run, &failure, err);
    bool is_there = false;
    if (count == 0)
        return true;
    if (!worker_need_kafka(run, &is_there, err))
        return false;
    if (!answer_requests(run, ids, count, is_there, &failure))
        log_line(LOG_WARN, "original records not kept", LOG_TEXT("why", failure.text));
    return true;
}
