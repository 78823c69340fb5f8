#include "ingest/pointers.h"

#include <stdlib.h>
#include <string.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "broker/broker.h"
#include "broker/fetch.h"
#include "core/target.h"
#include "ingest/letter.h"
#include "ingest/schemas.h"
#include "store/ingest/originals.h"

enum {
    KAFKA_MS = 10000, // for a batch, and for the name of the cluster
    FIRST = 4,        // originals in a batch: how large they are is known only afterwards
    MOST = 64,
    BATCH_BYTES = 4 << 20,
};
static const int64_t REST = US_PER_SECOND;

struct pointers {
    const struct pointers_settings *settings;
    struct store *store;
    struct broker *broker;
    char *cluster; // 64 bytes
    struct ingester ingester;
    struct schema_cache *schemas;
    int64_t due_by; // what is asked for again later is left to the next pass
    size_t room;    // of the next batch
    struct pointers_report *report;
};

// What one batch asks for and gets, in the order of the records.
struct pointers_batch {
    struct arena arena;
    struct kept_record records[MOST];
    struct fetch fetches[MOST];
    size_t count;
    struct original_answer answers[MOST]; // those that were tried
    struct ingest_letter letters[MOST];
    size_t answered;
    size_t bytes;
};

static bool
is_wanted(const struct pointers *pointers)
{
    const struct pointers_settings *settings = pointers->settings;
    return !settings->is_wanted || settings->is_wanted(settings->wanted);
}

static bool
pointers_tick(void *pointers)
{
    return is_wanted(pointers);
}

// --- Kafka ---

// A name that no topic can have is never asked for: it would be as good as any other text in a dead letter.
static void
fetch_batch(struct pointers *pointers, struct pointers_batch *batch)
{
    struct fetch asked[MOST];
    size_t places[MOST], count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct envelope_record *place = &batch->records[i].original.record;
        batch->fetches[i] = (struct fetch){.topic = arena_text(&batch->arena, place->topic),
                                           .partition = place->partition,
                                           .offset = place->offset};
        if (target_name_check(place->topic, NULL)) {
            asked[count] = batch->fetches[i];
            places[count++] = i;
        } else {
            batch->fetches[i].state = FETCH_GONE;
            batch->fetches[i].why = "no topic can have that name";
        }
    }
    broker_fetch(pointers->broker, asked, count, KAFKA_MS, pointers_tick, pointers, &batch->arena);
    for (size_t i = 0; i < count; i++)
        batch->fetches[places[i]] = asked[i];
}

static struct kept_original
what_became(const struct kept_record *letter, const struct fetch *fetch, struct arena *arena)
{
    struct kept_original original = {.state = EVENT_ORIGINAL_WAITING, .why = fetch->why};
    switch (fetch->state) {
    case FETCH_FOUND:
        if (fetch_is_younger(&fetch->record, letter->record.timestamp)) {
            original.state = EVENT_ORIGINAL_GONE;
            original.why = FETCH_YOUNGER;
            break;
        }
        original.state = EVENT_ORIGINAL_FETCHED;
        original.record = (struct envelope_record){.topic = letter->original.record.topic,
                                                   .partition = fetch->partition,
                                                   .offset = fetch->offset,
                                                   .timestamp = fetch->record.timestamp,
                                                   .key = fetch->record.key,
                                                   .value = fetch->record.value,
                                                   .headers = fetch->record.headers,
                                                   .header_count = fetch->record.header_count};
        original.record.headers = letter_headers(&original.record, arena);
        break;
    case FETCH_GONE:
        original.state = EVENT_ORIGINAL_GONE;
        break;
    case FETCH_DENIED:
    case FETCH_FAILED:
    case FETCH_NOT_TRIED:
        break;
    }
    return original;
}

// --- the events ---

static uint32_t
crc_of(const struct record *record)
{
    return letter_crc(&(struct envelope_record){.timestamp = record->timestamp,
                                                .key = record->key,
                                                .value = record->value,
                                                .headers = record->headers,
                                                .header_count = record->header_count});
}

static void
add_answer(struct pointers *pointers, struct pointers_batch *batch, size_t i)
{
    struct kept_record *kept = &batch->records[i];
    struct original_answer *answer = &batch->answers[batch->answered];
    const char *topic = arena_text(&batch->arena, kept->record.topic);
    kept->original = what_became(kept, &batch->fetches[i], &batch->arena);
    *answer = (struct original_answer){.id = kept->id, .original = kept->original};
    if (kept->original.state == EVENT_ORIGINAL_FETCHED) {
        answer->crc = crc_of(&batch->fetches[i].record);
        batch->bytes += kept->original.record.value.len;
    }
    const struct letter_place place = {.cluster = pointers->cluster,
                                       .topic = topic,
                                       .generation = kept->generation,
                                       .rule = topic_rule_of(pointers->settings->rules, topic),
                                       .original = &kept->original,
                                       .find_schema = schema_cache_find,
                                       .find_context = pointers->schemas};
    letter_read(&kept->record, &place, &batch->arena, &batch->letters[batch->answered++]);
}

static void
count_answers(const struct pointers *pointers, const struct pointers_batch *batch)
{
    for (size_t i = 0; i < batch->answered; i++) {
        pointers->report->fetched += batch->answers[i].original.state == EVENT_ORIGINAL_FETCHED;
        pointers->report->gone += batch->answers[i].original.state == EVENT_ORIGINAL_GONE;
    }
}

// Twice as many as before, as far as those of this batch fit into a few MB.
static void
choose_room(struct pointers *pointers, const struct pointers_batch *batch)
{
    size_t fit = BATCH_BYTES / (batch->bytes / batch->answered + 1), wanted = 2 * pointers->room;
    wanted = wanted < fit ? wanted : fit;
    pointers->room = wanted < 1 ? 1 : wanted < MOST ? wanted : MOST;
}

// *is_last: there is nothing more to be read now.
static bool
take_batch(struct pointers *pointers, struct pointers_batch *batch, bool *is_last, struct err *err)
{
    *is_last = true;
    if (!originals_waiting(pointers->store, pointers->cluster, pointers->due_by, &batch->arena,
                           batch->records, pointers->room, &batch->count, err))
        return false;
    if (batch->count == 0)
        return true;
    fetch_batch(pointers, batch);
    if (!is_wanted(pointers)) // then what was not answered was not given the time
        return true;
    schema_cache_begin(pointers->schemas, pointers->store);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->fetches[i].state != FETCH_NOT_TRIED)
            add_answer(pointers, batch, i);
    *is_last = batch->answered == 0;
    if (*is_last)
        return true;
    if (!originals_take(pointers->store, &pointers->ingester, batch->answers, batch->letters, batch->answered,
                        err))
        return false;
    count_answers(pointers, batch);
    choose_room(pointers, batch);
    return true;
}

static bool
take_batches(struct pointers *pointers, struct err *err)
{
    int64_t most = pointers->settings->most, until = clock_mono() + most;
    struct pointers_batch *batch = alloc_bytes(sizeof *batch);
    bool ok = true;
    for (bool is_last = false;
         ok && !is_last && is_wanted(pointers) && (most == 0 || clock_mono() < until);) {
        *batch = (struct pointers_batch){0};
        ok = take_batch(pointers, batch, &is_last, err);
        arena_release(&batch->arena);
    }
    free(batch);
    return ok;
}

// --- a pass ---

static bool
run_pass(struct pointers *pointers, struct err *err)
{
    struct err ignored = {0};
    if (!broker_cluster_id(pointers->broker, KAFKA_MS, pointers->cluster, err) ||
        !store_now(pointers->store, &pointers->due_by, err) ||
        !ingest_begin(pointers->store, pointers->cluster, &pointers->ingester, err))
        return false;
    pointers->schemas = schema_cache_create();
    bool ok = take_batches(pointers, err);
    schema_cache_destroy(pointers->schemas);
    (void)!ingest_end(pointers->store, &pointers->ingester, &ignored); // or it is buried after 15 s
    return ok && originals_left(pointers->store, pointers->cluster, &pointers->report->waiting, err);
}

// The settings that a person gave, but with less read ahead: originals lie apart, and what is read behind one
// is mostly thrown away.
static void
read_less_ahead(const struct broker_settings *settings, struct arena *arena, struct broker_settings *frugal)
{
    static const char name[] = "queued.max.messages.kbytes";
    size_t count = settings->property_count;
    struct broker_property *properties = arena_array(arena, count + 1, sizeof *properties);
    *frugal = *settings;
    for (size_t i = 0; i < count; i++) {
        properties[i] = settings->properties[i];
        if (strcmp(properties[i].name, name) == 0)
            return;
    }
    properties[count] = (struct broker_property){.name = name, .value = "8192"};
    frugal->properties = properties;
    frugal->property_count = count + 1;
}

bool
pointers_pass(struct store *store, const struct pointers_settings *settings, char cluster[64],
              struct pointers_report *report, struct err *err)
{
    struct pointers pointers = {
        .settings = settings, .store = store, .cluster = cluster, .room = FIRST, .report = report};
    struct broker_settings frugal;
    struct arena arena = {0};
    bool are_due;
    *report = (struct pointers_report){0};
    if (!originals_due(store, cluster, &are_due, err) || !are_due)
        return !err_is_set(err);
    read_less_ahead(settings->broker, &arena, &frugal);
    bool ok = broker_open(&pointers.broker, &frugal, err) && run_pass(&pointers, err);
    broker_close(pointers.broker);
    arena_release(&arena);
    return ok;
}

// --- on a thread ---

struct pointer_watch {
    struct lane *lane;
    struct pointers_settings settings;
    char cluster[64]; // "": not known yet
};

static bool
watch_is_wanted(void *watch)
{
    return lane_is_wanted(((struct pointer_watch *)watch)->lane);
}

static void
tell_pass(const struct pointers_report *report)
{
    if (report->fetched + report->gone > 0)
        log_line(LOG_INFO, "read originals that dead letters point at", LOG_INT("fetched", report->fetched),
                 LOG_INT("gone", report->gone), LOG_INT("waiting", report->waiting));
}

static void
watch_pointers(struct lane *lane, void *job)
{
    struct pointer_watch *watch = job;
    int failed = 0;
    do {
        struct err err = {0};
        struct pointers_report report = {0};
        struct store *store = lane_connection(lane);
        bool ok = store_connect(store, &err) &&
                  pointers_pass(store, &watch->settings, watch->cluster, &report, &err);
        if (!ok && failed == 0 && lane_is_wanted(lane))
            log_line(LOG_WARN, "originals that dead letters point at are not read; they are asked for again",
                     LOG_TEXT("why", err.text));
        tell_pass(&report);
        failed = ok ? 0 : failed + 1;
    } while (lane_sleep(lane, failed > 0 ? store_backoff(failed - 1) : REST));
}

struct pointer_watch *
pointer_watch_start(const struct store_settings *store, const struct broker_settings *broker,
                    const struct topic_rules *rules)
{
    struct pointer_watch *watch = alloc_bytes(sizeof *watch);
    *watch = (struct pointer_watch){
        .settings = {.broker = broker, .rules = rules, .is_wanted = watch_is_wanted, .wanted = watch}};
    watch->lane = lane_create(&(struct lane_settings){.name = "pointers",
                                                      .work = watch_pointers,
                                                      .connection = store_create(store),
                                                      .interrupt = store_lane_interrupt,
                                                      .close = store_lane_close,
                                                      .jobs = 1});
    (void)!lane_give(watch->lane, watch, 0);
    return watch;
}

void
pointer_watch_stop(struct pointer_watch *watch)
{
    if (!watch)
        return;
    lane_destroy(watch->lane);
    free(watch);
}
