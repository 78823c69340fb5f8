#include "broker/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "broker/ends.h"
#include "broker/kafka.h"

#define MARGIN (600 * US_PER_SECOND) // clocks of brokers and database may differ

struct scan_pass {
    rd_kafka_t *reader;
    struct trouble trouble;
    struct scan *scan;
    int64_t deadline;
    bool (*tick)(void *context);
    void *context;
    size_t capacity;
};

static bool
incomplete(struct scan *scan, const char *topic, int32_t partition, const char *why)
{
    if (scan->is_complete)
        snprintf(scan->why, sizeof scan->why, "%.100s/%d: %.150s", topic, (int)partition, why);
    scan->is_complete = false;
    return false;
}

static struct bytes
header_of(const rd_kafka_headers_t *headers, const char *name)
{
    const void *value = NULL;
    size_t size = 0;
    if (!headers || rd_kafka_header_get_last(headers, name, &value, &size))
        return BYTES_ABSENT;
    return (struct bytes){value, size};
}

static void
add_hit(struct scan_pass *pass, int64_t event, struct bytes chunk, struct bytes source)
{
    struct scan *scan = pass->scan;
    scan->hits = alloc_grow(scan->hits, scan->hit_count, &pass->capacity, sizeof *scan->hits);
    struct scan_hit *hit = &scan->hits[scan->hit_count++];
    *hit = (struct scan_hit){.event = event,
                             .source = arena_text(&scan->arena, source.data ? source : BYTES(""))};
    snprintf(hit->chunk, sizeof hit->chunk, "%.*s", BYTES_ARGS(chunk));
}

static void
look_at(struct scan_pass *pass, const rd_kafka_message_t *message)
{
    pass->scan->records++;
    rd_kafka_headers_t *headers = NULL;
    if (rd_kafka_message_headers(message, &headers))
        return;
    struct bytes chunk = header_of(headers, "redrive-chunk-id");
    if (!chunk.data || (pass->scan->chunk_id && !bytes_equal_text(chunk, pass->scan->chunk_id)))
        return;

    int64_t id;
    if (!text_parse_int(header_of(headers, "redrive-event-id"), &id, NULL))
        return;
    if (!pass->scan->chunk_id) {
        add_hit(pass, id, chunk, header_of(headers, "redrive-source"));
        return;
    }
    pass->scan->found =
        alloc_grow(pass->scan->found, pass->scan->found_count, &pass->capacity, sizeof *pass->scan->found);
    pass->scan->found[pass->scan->found_count++] = id;
}

// Takes one message; false ends the reading of the partition, *is_at_end: at its end.
static bool
take_message(struct scan_pass *pass, const char *topic, const rd_kafka_message_t *message, int64_t end,
             bool *is_at_end)
{
    if (!message->err) {
        look_at(pass, message);
        *is_at_end = message->offset >= end - 1;
        return !*is_at_end;
    }
    *is_at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (*is_at_end ||
        kafka_kind(message->err) == ERR_UNREACHABLE) // librdkafka tries the latter again by itself
        return !*is_at_end;
    return incomplete(pass->scan, topic, message->partition, rd_kafka_err2str(message->err));
}

// Reads [from, end) of one partition.
static bool
read_partition(struct scan_pass *pass, rd_kafka_topic_t *topic, int32_t partition, int64_t from, int64_t end)
{
    const char *name = rd_kafka_topic_name(topic);
    if (rd_kafka_consume_start(topic, partition, from))
        return incomplete(pass->scan, name, partition, "it cannot be read");

    bool is_at_end = false, goes_on = true;
    for (unsigned n = 0; goes_on; n++) {
        rd_kafka_message_t *message = rd_kafka_consume(topic, partition, kafka_wait(pass->deadline, 500));
        if (message) {
            goes_on = take_message(pass, name, message, end, &is_at_end);
            rd_kafka_message_destroy(message);
        }
        if (!goes_on || (message && n % 500))
            continue;
        rd_kafka_poll(pass->reader, 0);
        if (clock_mono() >= pass->deadline || (pass->tick && !pass->tick(pass->context)))
            goes_on = incomplete(pass->scan, name, partition, "it could not be read to its end in time");
    }
    rd_kafka_consume_stop(topic, partition);
    return is_at_end;
}

// The first offset at or after the time; the end where there is none; low where the broker cannot say.
static int64_t
offset_at(struct scan_pass *pass, const char *topic, int32_t partition, int64_t low, int64_t high)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = (pass->scan->since - MARGIN) / 1000;
    rd_kafka_resp_err_t code =
        rd_kafka_offsets_for_times(pass->reader, list, kafka_wait(pass->deadline, 5000) + 1);
    int64_t offset = code || list->elems[0].err ? low : list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);

    // "No record that late" is -1 and "end"; the mock cluster says so always, therefore everything is read
    // then.
    if (offset < low || offset > high)
        offset = low;
    return offset;
}

// Where the partition ended before the first record that is searched; -1: not known.
static int64_t
known_start(const struct scan *scan, const char *topic, int32_t partition)
{
    for (size_t i = 0; i < scan->end_count; i++) {
        int64_t end = ends_of(scan->ends[i], topic, partition);
        if (end >= 0)
            return end;
    }
    return -1;
}

static bool
scan_partition(struct scan_pass *pass, rd_kafka_topic_t *topic, int32_t partition)
{
    const char *name = rd_kafka_topic_name(topic);
    int64_t low, high;
    rd_kafka_resp_err_t code =
        kafka_range(pass->reader, name, partition, kafka_wait(pass->deadline, 5000) + 1, &low, &high);
    rd_kafka_poll(pass->reader, 0);
    if (code)
        return incomplete(pass->scan, name, partition, rd_kafka_err2str(code));
    int64_t start = known_start(pass->scan, name, partition);
    if (start > high)
        return incomplete(pass->scan, name, partition, "it was created again since");
    if (start >= low)
        return start == high || read_partition(pass, topic, partition, start, high);
    if (low == high)
        return low == 0 ||
               incomplete(pass->scan, name, partition, "retention has removed everything from it");

    int64_t from = offset_at(pass, name, partition, low, high);
    if (from == low && low > 0)
        incomplete(pass->scan, name, partition, "retention may have removed records from it");
    return read_partition(pass, topic, partition, from, high);
}

static void
scan_topic(struct scan_pass *pass, struct broker *broker, const char *name)
{
    struct topic topic;
    struct err err = {0};
    if (!broker_topic(broker, name, kafka_wait(pass->deadline, 5000) + 1, &topic, &err)) {
        incomplete(pass->scan, name, 0, err.text);
        return;
    }
    if (topic.state != TOPIC_KNOWN) {
        incomplete(pass->scan, name, 0,
                   topic.state == TOPIC_DENIED ? "it may not be read (ACL Read)" : "it does not exist");
        return;
    }

    rd_kafka_topic_t *handle = rd_kafka_topic_new(pass->reader, name, NULL);
    for (int32_t i = 0; handle && i < topic.partitions; i++)
        scan_partition(pass, handle, i);
    if (handle)
        rd_kafka_topic_destroy(handle);
}

static int
scan_by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void
drop_doubles(struct scan *scan)
{
    if (!scan->found_count)
        return;
    qsort(scan->found, scan->found_count, sizeof *scan->found, scan_by_number);
    size_t kept = 1;
    for (size_t i = 1; i < scan->found_count; i++)
        if (scan->found[i] != scan->found[kept - 1])
            scan->found[kept++] = scan->found[i];
    scan->found_count = kept;
}

bool
broker_scan(struct broker *broker, struct scan *scan, int timeout_ms, bool (*tick)(void *context),
            void *context, struct err *err)
{
    struct scan_pass pass = {
        .scan = scan,
        .deadline = clock_mono() + timeout_ms * 1000LL,
        .tick = tick,
        .context = context,
    };
    scan->is_complete = true;
    pass.reader = kafka_reader(&broker->settings, &pass.trouble, true, err);
    if (!pass.reader)
        return false;

    for (size_t i = 0; i < scan->topic_count; i++)
        scan_topic(&pass, broker, scan->topics[i]);
    rd_kafka_destroy(pass.reader);
    drop_doubles(scan);
    return true;
}

void
scan_release(struct scan *scan)
{
    free(scan->found);
    free(scan->hits);
    arena_release(&scan->arena);
    scan->found = NULL;
    scan->hits = NULL;
    scan->found_count = scan->hit_count = 0;
}
