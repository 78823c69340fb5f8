#include "publish/newer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "broker/newer.h"
#include "core/event.h"
#include "store/events/events.h"

enum { EVENTS_AT_ONCE = 5000 };

struct newer_search {
    struct newer_question question;
    struct newer_place *places; // of events that can be looked for
    int64_t *ids;               // of each place
    size_t place_count;
    size_t asked;   // of the question's ids, events that were read
    size_t missing; // of these, deleted since
    struct newer_reading *reading;
    bool is_over;
    int64_t untold[UNTOLD_COUNT]; // of events without a place
    int64_t until;                // clock_mono
    char why[400];
    struct arena arena;
};

struct newer_search *
newer_begin(const struct newer_question *question)
{
    struct newer_search *search = alloc_bytes(sizeof *search);
    search->question = *question;
    size_t most = question->count < NEWER_EVENTS ? question->count : NEWER_EVENTS;
    search->question.count = most;
    search->untold[UNTOLD_CUT] = (int64_t)(question->count - most);
    search->places = alloc_array(most + 1, sizeof *search->places);
    search->ids = alloc_array(most + 1, sizeof *search->ids);
    if (search->question.most_records == 0)
        search->question.most_records = NEWER_RECORDS;
    search->until = clock_mono() + (question->most_time ? question->most_time : NEWER_TIME);
    return search;
}

static enum untold
why_without_place(const struct event *event)
{
    if (!bytes_present(event->topic) || !event->origin.has_partition || !event->origin.has_offset ||
        event->origin.partition < 0 || event->origin.offset < 0)
        return UNTOLD_PLACE;
    if (topic_is_queue(event->topic))
        return UNTOLD_QUEUE;
    return event->known.correction.has_key ? UNTOLD_KEY : UNTOLD_NOT;
}

static void
add_place(struct newer_search *search, const struct event *event)
{
    enum untold why = why_without_place(event);
    if (why) {
        search->untold[why]++;
        return;
    }
    struct bytes key =
        event->record.is_kept ? event_kept_key(event) : plan_key_by_column(search->question.plan, event);
    const struct newer_place *last = search->place_count ? &search->places[search->place_count - 1] : NULL;
    bool is_same = last && bytes_equal_text(event->topic, last->topic);
    search->ids[search->place_count] = event->id;
    search->places[search->place_count++] = (struct newer_place){
        .topic = is_same ? last->topic : arena_text(&search->arena, event->topic),
        .partition = event->origin.partition,
        .offset = event->origin.offset,
        .key = arena_copy(&search->arena, key),
        .created_at = event->created_at,
    };
}

static bool
read_events(struct newer_search *search, struct err *err)
{
    size_t left = search->question.count - search->asked;
    size_t count = left < EVENTS_AT_ONCE ? left : EVENTS_AT_ONCE;
    const struct event_query query = {.fields = EVENT_SENT | EVENT_RAW,
                                      .ids = search->question.ids + search->asked,
                                      .id_count = count,
                                      .limit = count};
    struct event_page page = {0};
    if (!store_events(search->question.store, &query, &page, err))
        return false;
    for (size_t i = 0; i < page.count; i++)
        add_place(search, &page.events[i]);
    search->asked += count;
    search->missing += count - page.count;
    event_page_release(&page);
    return true;
}

static void
cut(struct newer_search *search, const char *why)
{
    snprintf(search->why, sizeof search->why, "%s", why);
    search->is_over = true;
}

static void
read_records(struct newer_search *search, int wait_ms)
{
    int64_t of, step_until = clock_mono() + wait_ms * 1000LL;
    while (!search->is_over) {
        int64_t now = clock_mono();
        if (now >= search->until) {
            cut(search, "the time for it is over");
        } else if (broker_newer_records(search->reading, &of) >= search->question.most_records) {
            cut(search, "that is the most at once");
        } else if (!broker_newer_step(search->reading,
                                      now < step_until ? (int)(step_until - now) / 1000 : 0)) {
            const char *trouble = broker_newer_trouble(search->reading);
            cut(search, trouble ? trouble : "");
        } else if (now >= step_until) {
            return;
        }
    }
    broker_newer_end(search->reading);
}

bool
newer_step(struct newer_search *search, int wait_ms, bool *is_over, struct err *err)
{
    if (!search->is_over && search->asked < search->question.count) {
        if (!read_events(search, err))
            return false;
    } else if (!search->is_over) {
        if (!search->reading)
            search->reading =
                broker_newer_begin(search->question.broker, search->places, search->place_count, err);
        if (!search->reading)
            return false;
        read_records(search, wait_ms);
    }
    *is_over = search->is_over;
    return true;
}

// --- the result

static int
newer_by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int
newest_first(const void *a, const void *b)
{
    const struct newer_key *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? 1 : -1;
    return bytes_compare(x->key, y->key);
}

struct stale_one {
    int64_t id, at;
};

// One of each key. Places of one key have the same newest record.
static void
list_keys(const struct newer_search *search, struct arena *arena, struct newer *newer)
{
    struct newer_key *keys = alloc_array(newer->stale_count + 1, sizeof *keys);
    uint32_t most = 0;
    for (size_t i = 0; i < search->place_count; i++)
        most = search->places[i].key_no > most ? search->places[i].key_no : most;
    bool *is_listed = alloc_array((size_t)most + 1, sizeof *is_listed);
    for (size_t i = 0; i < search->place_count; i++) {
        const struct newer_place *place = &search->places[i];
        if (!place->is_stale || is_listed[place->key_no])
            continue;
        is_listed[place->key_no] = true;
        keys[newer->key_count++] =
            (struct newer_key){.key = place->found, .at = place->newest_at, .is_deleted = place->is_deleted};
    }
    if (newer->key_count)
        qsort(keys, (size_t)newer->key_count, sizeof *keys, newest_first);
    newer->shown = newer->key_count < NEWER_KEYS ? (size_t)newer->key_count : NEWER_KEYS;
    newer->keys = arena_array(arena, newer->shown + 1, sizeof *newer->keys);
    for (size_t i = 0; i < newer->shown; i++) {
        newer->keys[i] = keys[i];
        newer->keys[i].key = arena_copy(arena, keys[i].key);
    }
    free(is_listed);
    free(keys);
}

static void
list_stale(const struct newer_search *search, struct arena *arena, struct newer *newer)
{
    struct stale_one *found = alloc_array(search->place_count + 1, sizeof *found);
    for (size_t i = 0; i < search->place_count; i++) {
        const struct newer_place *place = &search->places[i];
        newer->untold[place->untold] += place->untold != UNTOLD_NOT;
        newer->resent += place->is_resent;
        if (place->is_stale)
            found[newer->stale_count++] = (struct stale_one){search->ids[i], place->newest_at};
    }
    if (newer->stale_count)
        qsort(found, newer->stale_count, sizeof *found, newer_by_id); // the id comes first
    newer->stale = arena_array(arena, newer->stale_count + 1, sizeof *newer->stale);
    newer->stale_at = arena_array(arena, newer->stale_count + 1, sizeof *newer->stale_at);
    for (size_t i = 0; i < newer->stale_count; i++) {
        newer->stale[i] = found[i].id;
        newer->stale_at[i] = found[i].at;
    }
    free(found);
}

void
newer_result(const struct newer_search *search, struct arena *arena, struct newer *newer)
{
    *newer = (struct newer){.is_over = search->is_over,
                            .events = (int64_t)(search->question.count - search->missing) +
                                      search->untold[UNTOLD_CUT]};
    if (search->reading)
        newer->records = broker_newer_records(search->reading, &newer->of);
    if (!search->is_over)
        return;
    memcpy(newer->untold, search->untold, sizeof newer->untold);
    newer->why = search->why[0] ? arena_printf(arena, "%s", search->why) : NULL;
    list_stale(search, arena, newer);
    list_keys(search, arena, newer);
}

void
newer_end(struct newer_search *search)
{
    if (!search)
        return;
    broker_newer_destroy(search->reading);
    free(search->places);
    free(search->ids);
    arena_release(&search->arena);
    free(search);
}
