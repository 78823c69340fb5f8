#include "publish/originals.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "publish/undoing.h"
#include "store/events/events.h"
#include "store/events/records.h"

// Events whose record is looked for, beside what was found.
struct wanted_records {
    const struct event *const *events;
    struct original *originals;
    size_t *positions; // in events
    struct fetch *fetches;
    size_t count;
};

static void
choose(struct wanted_records *wanted, size_t count, bool can_fetch, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const struct event *event = wanted->events[i];
        wanted->originals[i] = (struct original){.state = ORIGINAL_NOT_ASKED};
        bool is_pointer = undoing_is_pointer(event);
        if ((event->record.is_kept && !is_pointer) || !can_fetch)
            continue;
        if (!plan_wants_original(event)) {
            wanted->originals[i].state = ORIGINAL_GONE;
            wanted->originals[i].why = "the event does not say where it was";
            continue;
        }
        wanted->fetches[wanted->count] = (struct fetch){
            .topic = arena_text(arena, event->topic),
            .partition = event->origin.partition,
            .offset = event->origin.offset,
        };
        wanted->positions[wanted->count++] = i;
    }
}

static void
take_answer(const struct fetch *fetch, struct original *original)
{
    static const enum original_state states[] = {
        [FETCH_FOUND] = ORIGINAL_FOUND,       [FETCH_GONE] = ORIGINAL_GONE,
        [FETCH_DENIED] = ORIGINAL_UNREADABLE, [FETCH_FAILED] = ORIGINAL_FAILED,
        [FETCH_NOT_TRIED] = ORIGINAL_FAILED,
    };
    *original = (struct original){.state = states[fetch->state], .record = fetch->record, .why = fetch->why};
}

static void
judge_pointed(const struct event *event, struct original *original)
{
    if (!fetch_is_younger(&original->record, event->record.timestamp))
        return;
    original->state = ORIGINAL_OTHER;
    original->why = FETCH_YOUNGER;
}

// Those that were found stand only where PostgreSQL says that they are the event's own.
static bool
originals_compare(struct store *store, const struct wanted_records *wanted, struct err *err)
{
    int64_t *ids = alloc_array(wanted->count, sizeof *ids);
    struct bytes *values = alloc_array(wanted->count, sizeof *values);
    struct original **found = alloc_array(wanted->count, sizeof(struct original *));
    bool *same = alloc_array(wanted->count, sizeof *same);
    size_t count = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        struct original *original = &wanted->originals[wanted->positions[i]];
        if (original->state != ORIGINAL_FOUND)
            continue;
        if (undoing_is_pointer(wanted->events[wanted->positions[i]])) {
            judge_pointed(wanted->events[wanted->positions[i]], original);
            continue;
        }
        if (!bytes_present(original->record.value)) {
            original->state = ORIGINAL_OTHER;
            continue;
        }
        ids[count] = wanted->events[wanted->positions[i]]->id;
        values[count] = original->record.value;
        found[count++] = original;
    }

    bool is_good = count == 0 || store_same_json(store, ids, values, count, same, err);
    for (size_t i = 0; is_good && i < count; i++)
        if (!same[i])
            found[i]->state = ORIGINAL_OTHER;
    free(ids);
    free(values);
    free(found);
    free(same);
    return is_good;
}

bool
originals_find(struct store *store, struct broker *broker, const struct event *const *events, size_t count,
               int timeout_ms, fetch_tick_fn *tick, void *context, struct arena *arena,
               struct original *originals, struct err *err)
{
    struct wanted_records wanted = {
        .events = events,
        .originals = originals,
        .positions = alloc_array(count ? count : 1, sizeof *wanted.positions),
        .fetches = alloc_array(count ? count : 1, sizeof *wanted.fetches),
    };
    choose(&wanted, count, broker != NULL, arena);
    bool is_good = true;
    if (wanted.count) {
        broker_fetch(broker, wanted.fetches, wanted.count, timeout_ms, tick, context, arena);
        for (size_t i = 0; is_good && i < wanted.count; i++) {
            take_answer(&wanted.fetches[i], &originals[wanted.positions[i]]);
            if (wanted.fetches[i].state == FETCH_NOT_TRIED)
                is_good = err_set(err, ERR_UNREACHABLE, "Kafka did not give all original records within %d s",
                                  timeout_ms / 1000);
        }
        is_good = is_good && originals_compare(store, &wanted, err);
    }
    free(wanted.positions);
    free(wanted.fetches);
    return is_good;
}

bool
originals_keep(struct store *store, const struct event *const *events, const struct original *originals,
               size_t count, struct arena *arena, struct err *err)
{
    struct found_record *kept = arena_array(arena, count, sizeof *kept);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &originals[i].record;
        if (originals[i].state == ORIGINAL_FOUND)
            kept[found++] = (struct found_record){
                .id = events[i]->id,
                .timestamp = record->timestamp,
                .key = record->key,
                .value = record->value,
                .headers = record->headers,
                .header_count = record->header_count,
            };
    }
    return found == 0 || records_keep(store, kept, found, err);
}
