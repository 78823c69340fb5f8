// Original records that somebody wants to see: the worker reads them in Kafka and keeps them.
#include "publish/worker_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "publish/originals.h"
#include "store/events/events.h"
#include "store/events/records.h"

enum { RECORDS_AT_ONCE = 50, RECORDS_MS = 5000 };

static bool
keep_records(struct worker_run *run, const int64_t *ids, size_t count, struct err *err)
{
    const struct event_query query = {
        .fields = EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW, .ids = ids, .id_count = count, .limit = count};
    struct event_page page = {0};
    if (!store_events(run->endpoints.store, &query, &page, err))
        return false;
    const struct event **events = arena_array(&page.arena, page.count, sizeof *events);
    struct original *originals = arena_array(&page.arena, page.count, sizeof *originals);
    for (size_t i = 0; i < page.count; i++)
        events[i] = &page.events[i];
    bool ok = originals_find(run->endpoints.store, run->endpoints.broker, events, page.count, RECORDS_MS,
                             NULL, NULL, &page.arena, originals, err) &&
              originals_keep(run->endpoints.store, events, originals, page.count, &page.arena, err);
    event_page_release(&page);
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
    // Whoever wants one asks again where it does not come.
    if (is_there && !keep_records(run, ids, count, &failure))
        log_line(LOG_WARN, "original records not kept", LOG_TEXT("why", failure.text));
    return true;
}
