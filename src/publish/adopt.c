#include "publish/adopt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "broker/producer.h"
#include "broker/scan.h"
#include "publish/turn.h"
#include "store/events/events.h"
#include "store/operations/adoption.h"

#define ADOPT_MS 5000
#define ADOPT_PAGE 1000
#define SCAN_MS 600000
#define PATIENCE (20 * US_PER_SECOND)

struct finding_adoption {
    struct store *store;
    const struct broker_settings *settings;
    const struct plan_settings *plan;
    struct broker *broker;
    struct adoption *adoption;
    const char **topics; // that are searched
    size_t topic_capacity;
    struct turn_slot slots[TURN_SLOTS];
    size_t count;
    const char *groups[2 * TURN_SLOTS]; // of the slots, then of their next generations
    struct marker_reading readings[2 * TURN_SLOTS];
    struct scan scan;
    fetch_tick_fn *tick;
    void *context;
};

// A handle that holds this transactional id: whoever had it can commit no more.
static bool
take_id(struct finding_adoption *finding, const char *txn_id, struct producer **producer, struct err *err)
{
    const struct producer_settings how = {.txn_id = txn_id, .records = 1};
    int64_t start = clock_mono();
    bool is_done = false, is_good = producer_open(producer, finding->settings, &how, err);
    while (is_good && !is_done) {
        is_good = producer_init(*producer, 20, &is_done, err);
        if (is_good && !is_done && clock_mono() - start > PATIENCE)
            is_good = err_set(err, ERR_UNREACHABLE, "Kafka did not give the transactional id %s", txn_id);
    }
    return is_good;
}

// Readings of these groups, each with the nonce that was just written beside it.
static bool
read_present(struct finding_adoption *finding, const char *const *groups, size_t count,
             struct marker_reading *readings, struct err *err)
{
    int64_t start = clock_mono(), nonce = start & INT32_MAX;
    if (!marker_write_nonces(finding->broker, groups, count, nonce, ADOPT_MS, err))
        return false;
    while (clock_mono() - start < PATIENCE) {
        size_t good = 0;
        if (!marker_read_all(finding->broker, groups, count, ADOPT_MS, readings, err))
            return false;
        for (size_t i = 0; i < count; i++)
            good += readings[i].is_stable && readings[i].has_nonce && readings[i].nonce == nonce;
        if (good == count)
            return true;
        clock_sleep(5000);
    }
    return err_set(err, ERR_UNREACHABLE, "Kafka does not show its last markers: another process writes them");
}

// The turn after Kafka's last one, which no database knows yet: every other one stops at its next chunk.
static bool
take_turn_away(struct finding_adoption *finding, struct err *err)
{
    struct adoption *adoption = finding->adoption;
    const char *group = adoption->turn.group;
    struct producer *producer = NULL;
    struct marker_reading reading = {0};
    bool is_done = false;
    bool is_good = take_id(finding, group, &producer, err) && read_present(finding, &group, 1, &reading, err);
    if (is_good) {
        int64_t last = reading.marker.is_present ? reading.marker.seq : 0;
        adoption->kafka.no = (last > adoption->turn.last.no ? last : adoption->turn.last.no) + 1;
        uuid_make(adoption->kafka.id);
        is_good = producer_begin(producer, err) && producer_mark(producer, MARKER_PARTITION, group,
                                                                 adoption->kafka.no, adoption->kafka.id, err);
    }
    for (int64_t start = clock_mono(); is_good && !is_done;)
        is_good = producer_commit(producer, 100, &is_done, err) &&
                  (is_done || clock_mono() - start < PATIENCE ||
                   err_set(err, ERR_UNREACHABLE, "Kafka did not commit the turn in time"));
    producer_destroy(producer);
    return is_good;
}

static bool
fence_slots(struct finding_adoption *finding, struct err *err)
{
    bool is_good = true;
    for (size_t i = 0; is_good && i < finding->count; i++) {
        struct producer *producer = NULL;
        is_good = take_id(finding, finding->slots[i].slot.txn_id, &producer, err);
        producer_destroy(producer);
    }
    return is_good;
}

// What Kafka holds of turns, now or by one plain look.
static bool
read_turn(struct finding_adoption *finding, struct err *err)
{
    struct adoption *adoption = finding->adoption;
    struct marker_reading reading = {0};
    if (!marker_read(finding->broker, adoption->turn.group, ADOPT_MS, &reading, err))
        return false;
    if (reading.marker.is_present) {
        adoption->kafka.no = reading.marker.seq;
        snprintf(adoption->kafka.id, sizeof adoption->kafka.id, "%.*s", (int)sizeof adoption->kafka.id - 1,
                 reading.marker.id);
    }
    return true;
}

static bool
read_markers(struct finding_adoption *finding, bool is_for_real, struct err *err)
{
    if (!turn_slots(finding->store, finding->adoption->cluster, finding->slots, TURN_SLOTS, &finding->count,
                    err))
        return false;
    for (size_t i = 0; i < finding->count; i++) {
        finding->groups[i] = finding->slots[i].slot.txn_id;
        finding->groups[finding->count + i] = finding->slots[i].next_txn_id;
    }
    if (is_for_real && (!take_turn_away(finding, err) || !fence_slots(finding, err) ||
                        !read_present(finding, finding->groups, finding->count, finding->readings, err)))
        return false;
    if (!is_for_real && !read_turn(finding, err))
        return false;
    size_t first = is_for_real ? finding->count : 0;
    return marker_read_all(finding->broker, finding->groups + first, 2 * finding->count - first, ADOPT_MS,
                           finding->readings + first, err);
}

// The slots that are ahead. Where a marker is missing that was written, or the turn, any slot may be.
static void
note_slots(struct finding_adoption *finding, int32_t *searched, size_t *searched_count)
{
    struct adoption *adoption = finding->adoption;
    *searched_count = 0;
    for (size_t i = 0; i < finding->count; i++) {
        const struct turn_slot *slot = &finding->slots[i];
        const struct marker *marker = &finding->readings[i].marker;
        bool has_next = finding->readings[finding->count + i].marker.is_present;
        bool is_ahead = turn_is_ahead(slot, marker);
        if (is_ahead || has_next)
            adoption->slots[adoption->slot_count++] = slot->slot.no;
        if (has_next)
            adoption->slots[adoption->slot_count++] = slot->slot.no;
        if (is_ahead || has_next || (slot->slot.is_provisioned && !marker->is_present))
            searched[(*searched_count)++] = slot->slot.no;
    }
}

static bool
is_among(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

static bool
fail_unproved(const struct finding_adoption *finding, const struct turn_slot *slot,
              const struct marker *marker, struct err *err)
{
    return err_set(
        err, ERR_DATA,
        "Kafka committed chunk %s of slot %d, and its records were found in none of the %zu topics "
        "searched%s%s: which events were sent is not proved; give Read on its topic, or go on with "
        "--as-copy, which sends nothing by itself",
        marker->id, (int)slot->slot.no, finding->scan.topic_count, marker->topics[0] ? "; it went to " : "",
        marker->topics);
}

// Each marker ahead names a chunk, whose records must be among those that were found. That of a new name,
// number 0, has none.
static bool
check_named(const struct finding_adoption *finding, const char *const *unknown, size_t count, struct err *err)
{
    for (size_t i = 0; i < finding->count; i++) {
        const struct turn_slot *slot = &finding->slots[i];
        const struct marker *marker = &finding->readings[i].marker;
        const struct marker *next = &finding->readings[finding->count + i].marker;
        if (turn_is_ahead(slot, marker) && !is_among(unknown, count, marker->id))
            return fail_unproved(finding, slot, marker, err);
        if (next->is_present && next->seq > 0 && !is_among(unknown, count, next->id))
            return fail_unproved(finding, slot, next, err);
    }
    return true;
}

static int
adopt_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The events that were sent by chunks which this database does not know.
static bool
take_hits(struct finding_adoption *finding, struct err *err)
{
    struct adoption *adoption = finding->adoption;
    struct scan *scan = &finding->scan;
    const char **ids = arena_array(&adoption->arena, scan->hit_count + 1, sizeof *ids);
    size_t count = 0;
    for (size_t i = 0; i < scan->hit_count; i++)
        if (strlen(scan->hits[i].chunk) == UUID_SIZE - 1)
            ids[count++] = scan->hits[i].chunk;
    if (count)
        qsort(ids, count, sizeof *ids, adopt_by_text);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (!distinct || strcmp(ids[distinct - 1], ids[i]) != 0)
            ids[distinct++] = ids[i];

    const char **unknown = NULL;
    if (!history_unknown(finding->store, ids, distinct, &adoption->arena, &unknown, &adoption->chunks, err) ||
        !check_named(finding, unknown, adoption->chunks, err))
        return false;
    if (adoption->chunks)
        qsort(unknown, adoption->chunks, sizeof *unknown, adopt_by_text);
    int64_t *events = arena_array(&adoption->arena, scan->hit_count + 1, sizeof *events);
    const char **sources = arena_array(&adoption->arena, scan->hit_count + 1, sizeof *sources);
    count = 0;
    for (size_t i = 0; i < scan->hit_count; i++) {
        const char *chunk = scan->hits[i].chunk;
        if (adoption->chunks && bsearch(&chunk, unknown, adoption->chunks, sizeof *unknown, adopt_by_text)) {
            events[count] = scan->hits[i].event;
            sources[count++] = scan->hits[i].source;
        }
    }
    return history_sent(finding->store, events, sources, count, &adoption->arena, &adoption->sent,
                        &adoption->sent_count, err);
}

static bool
is_searched(const struct finding_adoption *finding, struct bytes name)
{
    for (size_t i = 0; i < finding->scan.topic_count; i++)
        if (bytes_equal_text(name, finding->topics[i]))
            return true;
    return false;
}

static void
add_topic(struct finding_adoption *finding, struct bytes name)
{
    if (is_searched(finding, name))
        return;
    finding->topics = alloc_grow(finding->topics, finding->scan.topic_count, &finding->topic_capacity,
                                 sizeof *finding->topics);
    finding->topics[finding->scan.topic_count++] = arena_text(&finding->adoption->arena, name);
    finding->scan.topics = finding->topics;
}

// Those of the database, and those that markers name.
static void
choose_topics(struct finding_adoption *finding, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_topic(finding, bytes_of(known[i]));
    for (size_t i = 0; i < 2 * finding->count; i++)
        for (const char *name = finding->readings[i].marker.topics; *name;) {
            size_t len = strcspn(name, ",");
            add_topic(finding, (struct bytes){name, len});
            name += len + (name[len] == ',');
        }
}

// One that does not exist has nothing that could be found, and takes nothing a second time.
static bool
add_planned(struct finding_adoption *finding, const struct event *event, struct err *err)
{
    struct arena arena = {0};
    struct plan plan;
    struct topic topic;
    const struct plan_input input = {.event = event};
    plan_place(finding->plan, &input, &arena, &plan);
    bool is_good = true;
    if (!plan.refusal && !is_searched(finding, bytes_of(plan.topic))) {
        is_good = broker_topic(finding->broker, plan.topic, ADOPT_MS, &topic, err);
        if (is_good && topic.state != TOPIC_MISSING)
            add_topic(finding, bytes_of(plan.topic));
    }
    arena_release(&arena);
    return is_good;
}

// Of events whose rows do not say where they are sent, the dead letters are asked.
static bool
add_by_letters(struct finding_adoption *finding, const int64_t *ids, size_t count, struct err *err)
{
    bool is_good = true;
    for (size_t at = 0; is_good && at < count;) {
        const struct event_query query = {.takes_unreadable = true,
                                          .fields = EVENT_PLANNED,
                                          .ids = ids + at,
                                          .id_count = count - at,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(finding->store, &query, &page, err))
            return false;
        at += event_page_answers(&page, &query);
        for (size_t i = 0; is_good && i < page.count; i++)
            is_good = add_planned(finding, &page.events[i], err);
        event_page_release(&page);
    }
    return is_good;
}

static bool
goes_on(const struct finding_adoption *finding, struct err *err)
{
    return !finding->tick || finding->tick(finding->context) ||
           err_set(err, ERR_CANCELLED, "stopped while it was looked where events are sent");
}

// What was sent of events that wait here went where they would be sent now: to topics that their dead letters
// name, the setting consumers, or a correction. The marker of a slot names those of its last chunk only.
static bool
choose_planned(struct finding_adoption *finding, struct err *err)
{
    int64_t unplaced[ADOPT_PAGE], last = 0;
    bool is_good = true, is_last = false;
    while (is_good && !is_last) {
        const struct event_query query = {.fields = EVENT_SENT | EVENT_RAW,
                                          .statuses = 1u << EVENT_PENDING,
                                          .after_id = last,
                                          .has_after = last != 0,
                                          .ascending = true,
                                          .limit = ADOPT_PAGE,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!goes_on(finding, err) || !store_events(finding->store, &query, &page, err))
            return false;
        size_t count = 0;
        for (size_t i = 0; is_good && i < page.count; i++) {
            const struct event *event = &page.events[i];
            last = event->id;
            if (plan_is_placed(finding->plan, event->topic, event->known.correction.has_topic))
                is_good = add_planned(finding, event, err);
            else
                unplaced[count++] = event->id;
        }
        is_last = page.count < ADOPT_PAGE && !page.is_cut;
        event_page_release(&page);
        is_good = is_good && add_by_letters(finding, unplaced, count, err);
    }
    return is_good;
}

static bool
search(struct finding_adoption *finding, struct err *err)
{
    struct adoption *adoption = finding->adoption;
    int32_t searched[TURN_SLOTS];
    size_t searched_count, topic_count;
    const char **topics = NULL;
    note_slots(finding, searched, &searched_count);
    if (searched_count == 0)
        return true;
    if (!history_range(finding->store, adoption->cluster, searched, searched_count, &adoption->arena, &topics,
                       &topic_count, &finding->scan.since, err))
        return false;
    choose_topics(finding, topics, topic_count);
    if (!choose_planned(finding, err) ||
        !broker_scan(finding->broker, &finding->scan, SCAN_MS, finding->tick, finding->context, err))
        return false;
    adoption->records = finding->scan.records;
    if (!finding->scan.is_complete)
        return err_set(
            err, ERR_DATA,
            "what was sent is not proved, since not everything could be read: %s; mend that and try "
            "again, or go on with --as-copy, which sends nothing by itself",
            finding->scan.why);
    return take_hits(finding, err);
}

bool
adoption_find(struct store *store, const struct broker_settings *settings, const struct plan_settings *plan,
              bool is_for_real, fetch_tick_fn *tick, void *context, struct adoption *adoption,
              struct err *err)
{
    *adoption = (struct adoption){0};
    struct finding_adoption *finding = alloc_bytes(sizeof *finding);
    finding->store = store;
    finding->settings = settings;
    finding->plan = plan;
    finding->adoption = adoption;
    finding->tick = tick;
    finding->context = context;
    bool is_good = broker_open(&finding->broker, settings, err) &&
                   broker_cluster_id(finding->broker, ADOPT_MS, adoption->cluster, err) &&
                   turn_read(store, adoption->cluster, &adoption->turn, err);
    if (is_good && adoption->turn.stop == STOP_NONE && !store_info(store)->is_copy)
        is_good = err_set(err, ERR_NOT_FOUND, "this database is not stopped: there is nothing to adopt");
    if (is_good && !adoption->turn.group[0])
        snprintf(adoption->turn.group, sizeof adoption->turn.group, "redrive.%s.lease",
                 store_info(store)->install);
    is_good = is_good && read_markers(finding, is_for_real, err) && search(finding, err);
    scan_release(&finding->scan);
    broker_close(finding->broker);
    free(finding->topics);
    free(finding);
    return is_good;
}

void
adoption_release(struct adoption *adoption)
{
    arena_release(&adoption->arena);
    *adoption = (struct adoption){0};
}

bool
history_compare(struct store *store, struct broker *broker, const char *cluster, bool *is_same,
                char words[300], struct err *err)
{
    struct turn turn;
    struct turn_slot before[TURN_SLOTS], slots[TURN_SLOTS];
    struct marker_reading last = {0}, markers[TURN_SLOTS];
    const char *groups[TURN_SLOTS];
    size_t count = 0, after = 0, ahead = 0;
    if (!turn_read(store, cluster, &turn, err) ||
        !turn_slots(store, cluster, before, TURN_SLOTS, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        groups[i] = before[i].slot.txn_id;
    char group[sizeof turn.group];
    snprintf(group, sizeof group, "redrive.%s.lease", store_info(store)->install);
    // What the database knows is read after Kafka: others may be at work.
    if (!marker_read(broker, group, ADOPT_MS, &last, err) ||
        !marker_read_all(broker, groups, count, ADOPT_MS, markers, err) ||
        !turn_read(store, cluster, &turn, err) || !turn_slots(store, cluster, slots, TURN_SLOTS, &after, err))
        return false;
    for (size_t i = 0; i < count && i < after; i++)
        ahead += strcmp(groups[i], slots[i].slot.txn_id) == 0 && turn_is_ahead(&slots[i], &markers[i].marker);
    enum turn_verdict verdict = turn_judge(&turn, &last.marker);
    *is_same = (verdict == TURN_AGREES || verdict == TURN_CONTINUES) && ahead == 0;
    snprintf(words, 300,
             "Kafka's last turn is %" PRId64 ", that of this database is %" PRId64
             "; %zu slots are ahead in Kafka",
             last.marker.is_present ? last.marker.seq : 0, turn.last.no, ahead);
    return true;
}
