#include "broker/tail.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "broker/kafka.h"

struct tail {
    struct broker_settings settings;
    rd_kafka_t *handle;
    rd_kafka_queue_t *queue;
    struct trouble trouble;
    bool has_group;
    const struct tail_start *starts;
    size_t count;
    size_t last; // the place that was found last
};

#define NO_GROUP "redrive.ingest" // a consumer has to have one; without a name nothing is committed to it

static void
on_commit(rd_kafka_t *handle, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t *offsets,
          void *opaque)
{
    (void)handle;
    (void)offsets;
    (void)opaque;
    if (code && code != RD_KAFKA_RESP_ERR__NO_OFFSET)
        log_line(LOG_WARN, "the group's offsets were not written", LOG_TEXT("why", rd_kafka_err2str(code)));
}

bool
tail_open(struct tail **tail, const struct broker_settings *settings, const char *group, struct err *err)
{
    *tail = NULL;
    struct tail *fresh = alloc_bytes(sizeof *fresh);
    fresh->settings = *settings;
    fresh->has_group = group != NULL;
    rd_kafka_conf_t *conf = kafka_conf(&fresh->settings, &fresh->trouble, err);
    if (!conf) {
        free(fresh);
        return false;
    }
    rd_kafka_conf_set_offset_commit_cb(conf, on_commit);
    kafka_set(conf, "group.id", group ? group : NO_GROUP);
    kafka_set(conf, "isolation.level", "read_committed");
    kafka_set(conf, "auto.offset.reset", "error");
    kafka_set(conf, "enable.auto.commit", "false");
    kafka_set(conf, "enable.auto.offset.store", "false");
    kafka_set(conf, "enable.partition.eof", "true");
    kafka_set_default(conf, settings, "check.crcs", "true");
    // Bounds what is held at once: an answer is taken apart whole, and may be compressed. Partitions follow
    // one another in it, so a large part of each would keep whoever reads the next one waiting.
    kafka_set_default(conf, settings, "fetch.message.max.bytes", "65536");
    kafka_set_default(conf, settings, "fetch.max.bytes", "1048576");
    // May not be above fetch.max.bytes, and the one that is given is meant for what is published.
    kafka_set(conf, "message.max.bytes", "1000000");
    kafka_set_default(conf, settings, "fetch.wait.max.ms", "100");
    // librdkafka 2.0 rests for a second when either is reached: enough to be worked on meanwhile.
    kafka_set_default(conf, settings, "queued.min.messages", "100000");
    kafka_set_default(conf, settings, "queued.max.messages.kbytes", "30720");
    fresh->handle = kafka_handle(RD_KAFKA_CONSUMER, conf, err);
    if (!fresh->handle) {
        free(fresh);
        return false;
    }
    rd_kafka_poll_set_consumer(fresh->handle);
    fresh->queue = rd_kafka_queue_get_consumer(fresh->handle);
    *tail = fresh;
    return true;
}

void
tail_close(struct tail *tail)
{
    if (!tail)
        return;
    rd_kafka_assign(tail->handle, NULL);
    rd_kafka_queue_destroy(tail->queue);
    rd_kafka_consumer_close(tail->handle); // which waits for the commits that are under way
    rd_kafka_destroy(tail->handle);
    free(tail);
}

// --- topics ---

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct tail_topic *)a)->name, ((const struct tail_topic *)b)->name);
}

struct topic_list {
    struct arena *arena;
    struct tail_topic *rows;
    size_t count, capacity;
};

static void
add_topic(struct topic_list *list, const struct rd_kafka_metadata_topic *topic)
{
    if (topic->err || topic->partition_cnt <= 0)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].name, topic->topic) == 0)
            return;
    int32_t *leaders = arena_array(list->arena, (size_t)topic->partition_cnt, sizeof *leaders);
    for (int i = 0; i < topic->partition_cnt; i++)
        leaders[i] = -1;
    for (int i = 0; i < topic->partition_cnt; i++) {
        const struct rd_kafka_metadata_partition *partition = &topic->partitions[i];
        if (partition->id >= 0 && partition->id < topic->partition_cnt)
            leaders[partition->id] = partition->leader;
    }
    list->rows = alloc_grow(list->rows, list->count, &list->capacity, sizeof *list->rows);
    list->rows[list->count++] = (struct tail_topic){.name = arena_text(list->arena, bytes_of(topic->topic)),
                                                    .partitions = topic->partition_cnt,
                                                    .leaders = leaders};
}

static bool
ask_topic(struct tail *tail, const char *name, int timeout_ms, struct topic_list *list, struct err *err)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(tail->handle, name, NULL);
    if (!topic)
        return kafka_fail(err, rd_kafka_last_error(), &tail->trouble, "looking for the topic %s", name);
    rd_kafka_resp_err_t code = rd_kafka_metadata(tail->handle, 0, topic, &metadata, timeout_ms);
    if (!code && metadata) {
        for (int i = 0; i < metadata->topic_cnt; i++)
            add_topic(list, &metadata->topics[i]);
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(topic);
    return !code || kafka_fail(err, code, &tail->trouble, "looking for the topic %s", name);
}

static bool
ask_all_topics(struct tail *tail, tail_wanted_fn *wanted, void *context, int timeout_ms,
               struct topic_list *list, struct err *err)
{
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(tail->handle, 1, NULL, &metadata, timeout_ms);
    if (code)
        return kafka_fail(err, code, &tail->trouble, "looking for topics");
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (wanted(context, metadata->topics[i].topic))
            add_topic(list, &metadata->topics[i]);
    rd_kafka_metadata_destroy(metadata);
    return true;
}

bool
tail_topics(struct tail *tail, const char *const *names, size_t count, tail_wanted_fn *wanted, void *context,
            int timeout_ms, struct arena *arena, struct tail_topic **topics, size_t *topic_count,
            struct err *err)
{
    int64_t deadline = clock_mono() + timeout_ms * 1000LL;
    struct topic_list list = {.arena = arena};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = ask_topic(tail, names[i], kafka_wait(deadline, timeout_ms) + 1, &list, err);
    if (ok && wanted)
        ok = ask_all_topics(tail, wanted, context, kafka_wait(deadline, timeout_ms) + 1, &list, err);
    if (list.count > 0)
        qsort(list.rows, list.count, sizeof *list.rows, by_name);
    *topics = arena_array(arena, list.count + 1, sizeof **topics);
    if (list.count > 0)
        memcpy(*topics, list.rows, list.count * sizeof *list.rows);
    *topic_count = list.count;
    free(list.rows);
    return ok;
}

bool
tail_range(struct tail *tail, const char *topic, int32_t partition, int timeout_ms, int64_t *low,
           int64_t *high, struct err *err)
{
    rd_kafka_resp_err_t code = kafka_range(tail->handle, topic, partition, timeout_ms, low, high);
    return !code || kafka_fail(err, code, &tail->trouble, "asking where partition %d of %s begins and ends",
                               (int)partition, topic);
}

// --- records ---

bool
tail_assign(struct tail *tail, const struct tail_start *starts, size_t count, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, starts[i].topic, starts[i].partition)->offset =
            starts[i].offset;
    rd_kafka_resp_err_t code = rd_kafka_assign(tail->handle, count > 0 ? list : NULL);
    rd_kafka_topic_partition_list_destroy(list);
    tail->starts = starts;
    tail->count = count;
    tail->last = 0;
    return !code || kafka_fail(err, code, &tail->trouble, "beginning to read");
}

static bool
is_of(const struct tail_start *start, const char *topic, int32_t partition)
{
    return start->partition == partition && strcmp(start->topic, topic) == 0;
}

static size_t
find_start(struct tail *tail, const char *topic, int32_t partition)
{
    if (tail->last < tail->count && is_of(&tail->starts[tail->last], topic, partition))
        return tail->last;
    size_t low = 0, high = tail->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(tail->starts[middle].topic, topic);
        if (order == 0 && tail->starts[middle].partition == partition)
            return tail->last = middle;
        if (order < 0 || (order == 0 && tail->starts[middle].partition < partition))
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

static void
read_headers(const rd_kafka_message_t *message, struct arena *arena, struct envelope_record *record)
{
    rd_kafka_headers_t *list;
    if (rd_kafka_message_headers(message, &list))
        return;
    size_t count = rd_kafka_header_cnt(list);
    struct event_header *headers = arena_array(arena, count, sizeof *headers);
    for (size_t i = 0; i < count; i++) {
        const char *name;
        const void *value;
        size_t size;
        if (rd_kafka_header_get_all(list, i, &name, &value, &size))
            continue;
        headers[i] = (struct event_header){.name = bytes_of(name), .value = {value, value ? size : 0}};
    }
    record->headers = headers;
    record->header_count = count;
}

static void
read_record(const rd_kafka_message_t *message, struct arena *arena, struct envelope_record *record)
{
    *record = (struct envelope_record){
        .topic = bytes_of(rd_kafka_topic_name(message->rkt)),
        .partition = message->partition,
        .offset = message->offset,
        .timestamp = TIME_ABSENT,
        .key = {message->key, message->key_len},
        .value = {message->payload, message->len},
    };
    rd_kafka_timestamp_type_t type;
    int64_t ms = rd_kafka_message_timestamp(message, &type);
    if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && ms >= 0 && ms < INT64_MAX / 1000)
        record->timestamp = ms * 1000;
    read_headers(message, arena, record);
}

static enum tail_kind
kind_of(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        return TAIL_END;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        return TAIL_OUT_OF_RANGE;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return TAIL_GONE;
    default:
        return TAIL_TROUBLE;
    }
}

static void
read_item(struct tail *tail, rd_kafka_message_t *message, struct arena *arena, struct tail_item *item)
{
    *item = (struct tail_item){.at = SIZE_MAX, .offset = message->offset, .message = message};
    if (message->rkt)
        item->at = find_start(tail, rd_kafka_topic_name(message->rkt), message->partition);
    if (!message->err) {
        item->kind = TAIL_RECORD;
        read_record(message, arena, &item->record);
        return;
    }
    item->kind = kind_of(message->err);
    if (item->kind == TAIL_TROUBLE)
        kafka_fail(&item->err, message->err, &tail->trouble, "reading %s",
                   message->rkt ? rd_kafka_topic_name(message->rkt) : "from Kafka");
}

size_t
tail_read(struct tail *tail, int timeout_ms, struct arena *arena, struct tail_item *items, size_t room,
          size_t bytes)
{
    int64_t until = clock_mono() + timeout_ms * 1000LL;
    size_t count = 0;
    for (size_t len = 0; count < room && len < bytes;) {
        // One by one: a batch would be as many bytes as its records have. The clock is asked only where none
        // waits.
        rd_kafka_message_t *message = rd_kafka_consume_queue(tail->queue, 0);
        int64_t left = message ? 0 : until - clock_mono();
        if (left >= 1000)
            message = rd_kafka_consume_queue(tail->queue, (int)(left / 1000));
        if (!message)
            break;
        len += message->len + message->key_len;
        read_item(tail, message, arena, &items[count++]);
    }
    return count;
}

void
tail_free(void *const *messages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rd_kafka_message_destroy(messages[i]);
}

void
tail_commit(struct tail *tail, const struct tail_start *positions, size_t count)
{
    if (!tail->has_group || count == 0)
        return;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, positions[i].topic, positions[i].partition)->offset =
            positions[i].offset;
    rd_kafka_resp_err_t code = rd_kafka_commit(tail->handle, list, 1);
    rd_kafka_topic_partition_list_destroy(list);
    if (code)
        log_line(LOG_WARN, "the group's offsets were not written", LOG_TEXT("why", rd_kafka_err2str(code)));
}
