#include "broker/newer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/intern.h"
#include "broker/kafka.h"

#define A_DAY (86400 * US_PER_SECOND) // zones may be set wrongly, so that times differ by hours
enum { BATCH = 1000, RANGE_MS = 2000 };

// A key that some event of the partition has.
struct key_entry {
    struct bytes key;
    size_t part;
    uint32_t next;  // another one with the same hash: index + 1; 0: none
    int64_t newest; // offset of its newest record; -1: none
    int64_t newest_at;
    bool is_deleted;
    int64_t resent; // offset of the newest one that redrive sent; -1: none
};

struct newer_part {
    rd_kafka_topic_t *topic;
    const char *name;
    int32_t partition;
    size_t first, end; // of `order`: its places, by offset
    size_t at;         // those before it have their keys
    int64_t low, high; // the offsets that exist
    bool is_read;      // to its end
    bool is_running;
    enum untold failure; // it cannot be read
};

struct newer_reading {
    rd_kafka_t *reader;
    rd_kafka_queue_t *queue;
    struct trouble trouble;
    char why[TROUBLE_TEXT + 40];
    struct newer_place *places;
    size_t count;
    struct newer_place **order; // by topic, partition and offset
    struct newer_part *parts;
    size_t part_count, opened, running;
    struct keys hashes;
    uint32_t *heads;
    size_t head_capacity;
    struct key_entry *entries;
    size_t entry_count, entry_capacity;
    int64_t records, of;
    struct arena keys;
    rd_kafka_message_t *batch[BATCH];
};

static int
by_place(const void *a, const void *b)
{
    const struct newer_place *x = *(struct newer_place *const *)a, *y = *(struct newer_place *const *)b;
    int topics = strcmp(x->topic, y->topic);
    if (topics)
        return topics;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void
make_parts(struct newer_reading *reading)
{
    reading->order = alloc_array(reading->count + 1, sizeof(struct newer_place *));
    reading->parts = alloc_array(reading->count + 1, sizeof *reading->parts);
    for (size_t i = 0; i < reading->count; i++)
        reading->order[i] = &reading->places[i];
    if (reading->count)
        qsort(reading->order, reading->count, sizeof(struct newer_place *), by_place);
    for (size_t i = 0; i < reading->count; i++) {
        const struct newer_place *place = reading->order[i];
        bool begins = reading->part_count == 0;
        if (!begins) {
            const struct newer_part *before = &reading->parts[reading->part_count - 1];
            begins = before->partition != place->partition || strcmp(before->name, place->topic) != 0;
        }
        if (begins)
            reading->parts[reading->part_count++] =
                (struct newer_part){.name = place->topic, .partition = place->partition, .first = i, .at = i};
        reading->parts[reading->part_count - 1].end = i + 1;
    }
}

static void
broker_newer_forget(struct newer_place *place)
{
    place->untold = UNTOLD_NOT;
    place->is_stale = place->is_deleted = place->is_resent = false;
    place->newest_at = TIME_ABSENT;
    place->key_no = 0;
    place->found = BYTES_ABSENT;
}

struct newer_reading *
broker_newer_begin(const struct broker_settings *settings, struct newer_place *places, size_t count,
                   struct err *err)
{
    struct newer_reading *reading = alloc_bytes(sizeof *reading);
    *reading = (struct newer_reading){.places = places, .count = count};
    reading->reader = kafka_reader(settings, &reading->trouble, true, err);
    if (!reading->reader) {
        free(reading);
        return NULL;
    }
    reading->queue = rd_kafka_queue_new(reading->reader);
    for (size_t i = 0; i < count; i++)
        broker_newer_forget(&places[i]);
    make_parts(reading);
    return reading;
}

// --- keys

static struct key_entry *
find_key(struct newer_reading *reading, size_t part, struct bytes key, uint32_t index)
{
    for (uint32_t no = reading->heads[index]; no; no = reading->entries[no - 1].next) {
        struct key_entry *entry = &reading->entries[no - 1];
        if (entry->part == part && bytes_equal(entry->key, key))
            return entry;
    }
    return NULL;
}

static uint64_t
key_hash(size_t part, struct bytes key)
{
    return bytes_hash(key) + part * 0x9e3779b97f4a7c15u;
}

static struct key_entry *
known_key(struct newer_reading *reading, size_t part, struct bytes key)
{
    int64_t index = keys_find(&reading->hashes, key_hash(part, key));
    return index < 0 ? NULL : find_key(reading, part, key, (uint32_t)index);
}

static struct key_entry *
add_key(struct newer_reading *reading, size_t part, struct bytes key)
{
    uint32_t index = keys_index(&reading->hashes, key_hash(part, key));
    size_t heads = reading->head_capacity;
    reading->heads = alloc_grow(reading->heads, index, &reading->head_capacity, sizeof *reading->heads);
    for (; heads < reading->head_capacity; heads++)
        reading->heads[heads] = 0;
    struct key_entry *known = find_key(reading, part, key, index);
    if (known)
        return known;
    reading->entries = alloc_grow(reading->entries, reading->entry_count, &reading->entry_capacity,
                                  sizeof *reading->entries);
    reading->entries[reading->entry_count++] = (struct key_entry){
        .key = arena_copy(&reading->keys, key),
        .part = part,
        .next = reading->heads[index],
        .newest = -1,
        .newest_at = TIME_ABSENT,
        .resent = -1,
    };
    reading->heads[index] = (uint32_t)reading->entry_count;
    return &reading->entries[reading->entry_count - 1];
}

static void
give_key(struct newer_reading *reading, size_t part, struct newer_place *place, struct bytes key)
{
    if (bytes_present(key))
        place->key_no = (uint32_t)(add_key(reading, part, key) - reading->entries) + 1;
    else
        place->untold = UNTOLD_KEY;
}

// --- records

static int64_t
time_of(const rd_kafka_message_t *message)
{
    rd_kafka_timestamp_type_t type;
    int64_t at = rd_kafka_message_timestamp(message, &type);
    return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || at < 0 ? TIME_ABSENT : at * 1000;
}

static bool
is_of_redrive(const rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers = NULL;
    const void *value;
    size_t size;
    return !rd_kafka_message_headers(message, &headers) &&
           !rd_kafka_header_get_last(headers, "redrive-event-id", &value, &size);
}

static struct bytes
key_of(const rd_kafka_message_t *message)
{
    return message->key ? (struct bytes){message->key, message->key_len} : BYTES_ABSENT;
}

// Gives keys to the places up to this offset. Is the record one of theirs?
static bool
reach(struct newer_reading *reading, size_t no, int64_t offset, const rd_kafka_message_t *message)
{
    struct newer_part *part = &reading->parts[no];
    bool is_theirs = false;
    for (; part->at < part->end && reading->order[part->at]->offset <= offset; part->at++) {
        struct newer_place *place = reading->order[part->at];
        bool is_here = message && place->offset == offset;
        int64_t at = is_here ? time_of(message) : TIME_ABSENT;
        if (at != TIME_ABSENT && place->created_at != TIME_ABSENT && at - place->created_at > A_DAY) {
            place->untold = UNTOLD_OTHER;
            continue;
        }
        is_theirs |= is_here;
        give_key(reading, no, place, is_here ? key_of(message) : place->key);
    }
    return is_theirs;
}

static void
take_record(struct newer_reading *reading, size_t no, const rd_kafka_message_t *message)
{
    reading->records++;
    if (reach(reading, no, message->offset, message) || !message->key)
        return;
    struct key_entry *entry = known_key(reading, no, key_of(message));
    if (!entry)
        return;
    if (is_of_redrive(message)) {
        entry->resent = message->offset;
        return;
    }
    entry->newest = message->offset;
    entry->newest_at = time_of(message);
    entry->is_deleted = message->payload == NULL;
}

// --- partitions

static void
stop_part(struct newer_reading *reading, struct newer_part *part, bool is_read)
{
    if (!part->is_running)
        return;
    part->is_running = false;
    part->is_read = is_read;
    reading->running--;
    rd_kafka_consume_stop(part->topic, part->partition);
}

static void
fail_part(struct newer_reading *reading, struct newer_part *part, rd_kafka_resp_err_t code)
{
    stop_part(reading, part, false);
    switch (kafka_kind(code)) {
    case ERR_DENIED:
        part->failure = UNTOLD_DENIED;
        break;
    case ERR_NOT_FOUND:
        part->failure = UNTOLD_GONE;
        break;
    default:
        part->failure = UNTOLD_CUT;
        snprintf(reading->why, sizeof reading->why, "Kafka did not answer: %s",
                 reading->trouble.text[0] ? reading->trouble.text : rd_kafka_err2str(code));
    }
}

static void
open_part(struct newer_reading *reading, size_t no)
{
    struct newer_part *part = &reading->parts[no];
    rd_kafka_resp_err_t code =
        kafka_range(reading->reader, part->name, part->partition, RANGE_MS, &part->low, &part->high);
    rd_kafka_poll(reading->reader, 0);
    if (code) {
        fail_part(reading, part, code);
        return;
    }
    int64_t from = reading->order[part->first]->offset;
    if (from < part->low)
        from = part->low;
    if (from >= part->high) {
        part->is_read = true;
        return;
    }
    part->topic = rd_kafka_topic_new(reading->reader, part->name, NULL);
    if (!part->topic || rd_kafka_consume_start_queue(part->topic, part->partition, from, reading->queue)) {
        fail_part(reading, part, rd_kafka_last_error());
        return;
    }
    reading->of += part->high - from;
    part->is_running = true;
    reading->running++;
}

static size_t
part_of(const struct newer_reading *reading, const rd_kafka_message_t *message)
{
    const char *name = message->rkt ? rd_kafka_topic_name(message->rkt) : "";
    size_t low = 0, high = reading->part_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct newer_part *part = &reading->parts[middle];
        int order = strcmp(part->name, name);
        if (order == 0)
            order = (part->partition > message->partition) - (part->partition < message->partition);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return reading->part_count;
}

static void
take_message(struct newer_reading *reading, const rd_kafka_message_t *message)
{
    size_t no = part_of(reading, message);
    if (no == reading->part_count || !reading->parts[no].is_running)
        return;
    struct newer_part *part = &reading->parts[no];
    if (!message->err && message->offset < part->high)
        take_record(reading, no, message);
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF ||
        (!message->err && message->offset >= part->high - 1))
        stop_part(reading, part, true);
    else if (message->err && kafka_kind(message->err) != ERR_UNREACHABLE) // that librdkafka tries again
        fail_part(reading, part, message->err);
}

bool
broker_newer_step(struct newer_reading *reading, int wait_ms)
{
    if (reading->opened < reading->part_count && !reading->why[0]) {
        open_part(reading, reading->opened++);
        return reading->running || reading->opened < reading->part_count;
    }
    if (reading->running == 0)
        return false;
    ssize_t count = rd_kafka_consume_batch_queue(reading->queue, wait_ms, reading->batch, BATCH);
    for (ssize_t i = 0; i < count; i++) {
        take_message(reading, reading->batch[i]);
        rd_kafka_message_destroy(reading->batch[i]);
    }
    rd_kafka_poll(reading->reader, 0);
    return reading->running > 0;
}

int64_t
broker_newer_records(const struct newer_reading *reading, int64_t *of)
{
    *of = reading->of;
    return reading->records;
}

const char *
broker_newer_trouble(const struct newer_reading *reading)
{
    return reading->why[0] ? reading->why : NULL;
}

// --- the end

static void
fill_place(const struct newer_reading *reading, const struct newer_part *part, struct newer_place *place)
{
    if (place->untold)
        return;
    const struct key_entry *entry = place->key_no ? &reading->entries[place->key_no - 1] : NULL;
    place->found = entry ? entry->key : BYTES_ABSENT;
    place->is_stale = entry && entry->newest > place->offset;
    if (place->is_stale) {
        place->newest_at = entry->newest_at;
        place->is_deleted = entry->is_deleted;
    } else if (part->failure) {
        place->untold = part->failure;
    } else if (!part->is_read) {
        place->untold = UNTOLD_CUT;
    } else if (place->offset >= part->high) {
        place->untold = UNTOLD_OTHER; // the topic of then had more records than that of now
    } else if (place->offset + 1 < part->low) {
        place->untold = UNTOLD_GONE;
    } else {
        place->is_resent = entry && entry->resent > place->offset;
    }
}

void
broker_newer_end(struct newer_reading *reading)
{
    for (size_t no = 0; no < reading->part_count; no++) {
        struct newer_part *part = &reading->parts[no];
        bool was_read = part->is_read;
        stop_part(reading, part, false);
        if (was_read && part->low < part->high)
            (void)reach(reading, no, part->high - 1, NULL); // those whose records are gone
        for (size_t i = part->first; i < part->end; i++)
            fill_place(reading, part, reading->order[i]);
    }
}

void
broker_newer_destroy(struct newer_reading *reading)
{
    if (!reading)
        return;
    for (size_t no = 0; no < reading->part_count; no++) {
        stop_part(reading, &reading->parts[no], false);
        if (reading->parts[no].topic)
            rd_kafka_topic_destroy(reading->parts[no].topic);
    }
    rd_kafka_queue_destroy(reading->queue);
    rd_kafka_destroy(reading->reader);
    keys_release(&reading->hashes);
    free(reading->heads);
    free(reading->entries);
    free(reading->order);
    free(reading->parts);
    arena_release(&reading->keys);
    free(reading);
}
