#include "broker/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "broker/kafka.h"
#include "broker/leaders.h"

#define WATERMARK_SHELF_LIFE (5 * US_PER_SECOND)
#define LEADER_SHELF_LIFE (30 * US_PER_SECOND)
#define REFUSED_PAUSE 50000 // µs, where a question fails at once
#define MOST_WAIT 3000      // ms, for one answer
#define MOST_SKIPPED 2000   // records read past rather than seeking again

struct fetch_job {
    struct broker *broker;
    struct arena *arena;
    int64_t began;    // clock_mono
    int64_t deadline; // clock_mono, of all
    int64_t patience; // clock_mono, of the broker that is asked now
    fetch_tick_fn *tick;
    void *context;
    bool is_stopped;
};

rd_kafka_t *
kafka_reader(const struct broker_settings *settings, struct trouble *trouble, bool is_committed,
             struct err *err)
{
    rd_kafka_conf_t *conf = kafka_conf(settings, trouble, err);
    if (!conf)
        return NULL;
    kafka_set(conf, "isolation.level", is_committed ? "read_committed" : "read_uncommitted");
    kafka_set(conf, "auto.offset.reset", "error"); // a hole must not become a silent jump
    kafka_set(conf, "enable.partition.eof", "true");
    kafka_set_default(conf, settings, "fetch.wait.max.ms", "20");
    // librdkafka 2.0 rests for a second when either is reached: high enough to be rare.
    kafka_set_default(conf, settings, "queued.min.messages", "100000");
    kafka_set_default(conf, settings, "queued.max.messages.kbytes", "28672");
    return kafka_handle(RD_KAFKA_CONSUMER, conf, err);
}

// Copies what a message holds.
static void
copy_record(const rd_kafka_message_t *message, struct arena *arena, struct record *record)
{
    *record = (struct record){
        .key = arena_copy(arena, (struct bytes){message->key, message->key_len}),
        .value = arena_copy(arena, (struct bytes){message->payload, message->len}),
        .timestamp = TIME_ABSENT,
    };
    rd_kafka_timestamp_type_t type;
    int64_t timestamp = rd_kafka_message_timestamp(message, &type);
    if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && timestamp >= 0)
        record->timestamp = timestamp * 1000;

    rd_kafka_headers_t *headers;
    if (rd_kafka_message_headers(message, &headers))
        return;
    record->header_count = (uint32_t)rd_kafka_header_cnt(headers);
    record->headers = arena_array(arena, record->header_count, sizeof *record->headers);
    for (uint32_t i = 0; i < record->header_count; i++) {
        const char *name;
        const void *value;
        size_t size;
        if (rd_kafka_header_get_all(headers, i, &name, &value, &size))
            continue;
        record->headers[i].name = arena_copy(arena, bytes_of(name));
        record->headers[i].value = arena_copy(arena, (struct bytes){value, size});
    }
}

static void
answer(struct fetch_job *job, struct fetch *fetch, enum fetch_state state, const char *why)
{
    fetch->state = state;
    fetch->why = arena_printf(job->arena, "%s", why);
}

static void
answer_code(struct fetch_job *job, struct fetch *fetch, rd_kafka_resp_err_t code)
{
    switch (kafka_kind(code)) {
    case ERR_NOT_FOUND:
        answer(job, fetch, FETCH_GONE, "its topic or partition is no more");
        return;
    case ERR_DENIED:
        answer(job, fetch, FETCH_DENIED,
               arena_printf(job->arena, "the topic %s may not be read (ACL Read is missing)", fetch->topic));
        return;
    default:
        answer(job, fetch, FETCH_FAILED,
               arena_printf(job->arena, "Kafka did not give it in time: %s",
                            job->broker->reader_trouble.text[0] ? job->broker->reader_trouble.text
                                                                : rd_kafka_err2str(code)));
    }
}

static bool
may_go_on(struct fetch_job *job)
{
    if (!job->is_stopped && job->tick && !job->tick(job->context))
        job->is_stopped = true;
    return !job->is_stopped && clock_mono() < job->deadline && clock_mono() < job->patience;
}

static struct watermark *
find_watermark(struct broker *broker, const char *topic, int32_t partition)
{
    for (size_t i = 0; i < broker->watermark_count; i++)
        if (broker->watermarks[i].partition == partition && strcmp(broker->watermarks[i].topic, topic) == 0)
            return &broker->watermarks[i];

    broker->watermarks = alloc_grow(broker->watermarks, broker->watermark_count, &broker->watermark_capacity,
                                    sizeof *broker->watermarks);
    struct watermark *fresh = &broker->watermarks[broker->watermark_count++];
    *fresh = (struct watermark){.partition = partition, .asked_at = INT64_MIN / 2, .led_at = INT64_MIN / 2};
    snprintf(fresh->topic, sizeof fresh->topic, "%s", topic);
    return fresh;
}

static bool
is_same_partition(const struct fetch *a, const struct fetch *b)
{
    return a->partition == b->partition && strcmp(a->topic, b->topic) == 0;
}

// Asks until there is an answer: ERR_UNREACHABLE's codes are none.
typedef rd_kafka_resp_err_t ask_fn(struct fetch_job *job, const struct fetch *first, int wait_ms);
static rd_kafka_resp_err_t
ask_leader(struct fetch_job *job, const struct fetch *first, int32_t id, ask_fn *ask)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (leaders_are_left_alone(job->broker, id))
        return code;
    job->patience = leaders_wait(job->broker, id);
    while (may_go_on(job)) {
        int64_t began = clock_mono(), until = job->deadline < job->patience ? job->deadline : job->patience;
        code = ask(job, first, kafka_wait(until, MOST_WAIT) + 1);
        if (!code || kafka_kind(code) != ERR_UNREACHABLE) {
            leaders_note_answer(job->broker, id, clock_mono() - began);
            return code;
        }
        if (clock_mono() - began < REFUSED_PAUSE)
            clock_sleep(REFUSED_PAUSE);
    }
    if (clock_mono() >= job->patience && leaders_note_silence(job->broker, id) && id != LEADERS_ANY)
        find_watermark(job->broker, first->topic, first->partition)->failed_at = clock_mono();
    return code;
}

// Which brokers lead the topic's partitions, by any broker.
static rd_kafka_resp_err_t
ask_who_leads(struct fetch_job *job, const struct fetch *first, int wait_ms)
{
    rd_kafka_t *reader = job->broker->reader;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(reader, first->topic, NULL);
    if (!handle) // a name that Kafka does not allow
        return RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(reader, 0, handle, &metadata, wait_ms);
    rd_kafka_poll(reader, 0);
    rd_kafka_topic_destroy(handle);
    if (code)
        return code;

    const rd_kafka_metadata_topic_t *topic = metadata->topic_cnt == 1 ? &metadata->topics[0] : NULL;
    code = topic ? topic->err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (code == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION) // likewise
        code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    bool is_there = false;
    for (int i = 0; !code && i < topic->partition_cnt; i++) {
        struct watermark *known = find_watermark(job->broker, first->topic, topic->partitions[i].id);
        known->leader = topic->partitions[i].leader;
        known->led_at = clock_mono();
        is_there = is_there || known->partition == first->partition;
    }
    rd_kafka_metadata_destroy(metadata);
    return code || is_there ? code : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

static rd_kafka_resp_err_t
ask_range(struct fetch_job *job, const struct fetch *first, int wait_ms)
{
    struct watermark *range = find_watermark(job->broker, first->topic, first->partition);
    rd_kafka_resp_err_t code =
        kafka_range(job->broker->reader, first->topic, first->partition, wait_ms, &range->low, &range->high);
    rd_kafka_poll(job->broker->reader, 0);
    if (!code)
        range->asked_at = clock_mono();
    return code;
}

static bool
is_left_alone(const struct watermark *known)
{
    return known->failed_at && clock_mono() - known->failed_at < LEADERS_LEFT_ALONE;
}

// Does the partition exist, may it be read, and by whom? Asking for offsets of one that does not exist would
// wait for its whole time.
static rd_kafka_resp_err_t
know_leader(struct fetch_job *job, const struct fetch *first)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    const struct watermark *known = find_watermark(job->broker, first->topic, first->partition);
    if (is_left_alone(known))
        return RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (clock_mono() - known->led_at >= LEADER_SHELF_LIFE)
        code = ask_leader(job, first, LEADERS_ANY, ask_who_leads);
    known = find_watermark(job->broker, first->topic, first->partition);
    return !code && known->leader < 0 ? RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE : code;
}

static bool
is_range_known(const struct fetch_job *job, const struct watermark *known)
{
    return known->asked_at >= job->began || clock_mono() - known->asked_at < WATERMARK_SHELF_LIFE;
}

// Partitions whose range is to be asked for and whose leader may answer.
static rd_kafka_topic_partition_list_t *
list_wanted(struct fetch_job *job, struct fetch *const *order, size_t count)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && is_same_partition(order[i - 1], order[i]))
            continue;
        if (know_leader(job, order[i]))
            continue;
        const struct watermark *known = find_watermark(job->broker, order[i]->topic, order[i]->partition);
        if (is_range_known(job, known) || leaders_are_left_alone(job->broker, known->leader))
            continue;
        rd_kafka_topic_partition_list_add(list, order[i]->topic, order[i]->partition);
        (void)leaders_wait(job->broker, known->leader); // its time to connect begins
    }
    return list;
}

// Twice, since the first may have waited for connections.
static bool
ask_ends(struct fetch_job *job, rd_kafka_topic_partition_list_t *list, bool is_high)
{
    for (int i = 0; i < 2 && may_go_on(job); i++) {
        rd_kafka_resp_err_t code =
            kafka_ends(job->broker->reader, list, is_high, kafka_wait(job->deadline, MOST_WAIT));
        rd_kafka_poll(job->broker->reader, 0);
        if (!code)
            return true;
    }
    return false;
}

// The ranges of several partitions in two round trips rather than two for each, while their leaders connect
// at the same time. Where that fails, each is asked for by itself.
static void
ask_ranges(struct fetch_job *job, struct fetch *const *order, size_t count)
{
    rd_kafka_topic_partition_list_t *low = list_wanted(job, order, count);
    rd_kafka_topic_partition_list_t *high = rd_kafka_topic_partition_list_copy(low);
    job->patience = job->deadline;
    bool is_good = low->cnt > 1 && ask_ends(job, low, false) && ask_ends(job, high, true);
    for (int i = 0; is_good && i < low->cnt; i++) {
        const rd_kafka_topic_partition_t *from = &low->elems[i], *to = &high->elems[i];
        if (from->err || to->err || from->offset < 0 || to->offset < 0)
            continue;
        struct watermark *known = find_watermark(job->broker, from->topic, from->partition);
        known->low = from->offset;
        known->high = to->offset;
        known->asked_at = clock_mono();
        leaders_note_answer(job->broker, known->leader, 0);
    }
    rd_kafka_topic_partition_list_destroy(low);
    rd_kafka_topic_partition_list_destroy(high);
}

// The range of offsets that exist; asked again when it is old.
static rd_kafka_resp_err_t
prepare(struct fetch_job *job, const struct fetch *first)
{
    rd_kafka_resp_err_t code = know_leader(job, first);
    const struct watermark *known = find_watermark(job->broker, first->topic, first->partition);
    if (!code && !is_range_known(job, known))
        code = ask_leader(job, first, known->leader, ask_range);

    struct watermark *range = find_watermark(job->broker, first->topic, first->partition);
    if (!code)
        range->failed_at = 0;
    else // it may have moved
        range->led_at = INT64_MIN / 2;
    return code;
}

// A run: fetches of one partition in ascending order, all within its watermarks, that `at` walks over.
struct fetch_run {
    struct fetch_job *job;
    struct fetch **fetches;
    size_t count;
    size_t at;
    int32_t leader;
};

// Takes one record; false when there is a gap that is quicker to seek over.
static bool
take_message(struct fetch_run *run, const rd_kafka_message_t *message)
{
    while (run->at < run->count && run->fetches[run->at]->offset < message->offset)
        answer(run->job, run->fetches[run->at++], FETCH_GONE,
               "it was removed by compaction, or it is no record");
    while (run->at < run->count && run->fetches[run->at]->offset == message->offset) {
        struct fetch *fetch = run->fetches[run->at++];
        fetch->state = FETCH_FOUND;
        copy_record(message, run->job->arena, &fetch->record);
    }
    return run->at < run->count && run->fetches[run->at]->offset - message->offset <= MOST_SKIPPED;
}

// Handles a message without a record; false ends this reading.
static bool
take_trouble(struct fetch_run *run, const rd_kafka_message_t *message)
{
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF ||
        message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
        message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
        while (run->at < run->count)
            answer(run->job, run->fetches[run->at++], FETCH_GONE, "it is no longer there");
        return false;
    }
    if (kafka_kind(message->err) == ERR_UNREACHABLE)
        return true; // librdkafka tries again by itself until our deadline
    while (run->at < run->count)
        answer_code(run->job, run->fetches[run->at++], message->err);
    return false;
}

static void
read_on(struct fetch_run *run, rd_kafka_topic_t *topic, int32_t partition)
{
    bool goes_on = true;
    while (goes_on && run->at < run->count && may_go_on(run->job)) {
        // One by one: asking for a batch would wait until it is full.
        rd_kafka_message_t *message = rd_kafka_consume(topic, partition, kafka_wait(run->job->deadline, 500));
        if (!message) {
            rd_kafka_poll(run->job->broker->reader, 0);
            continue;
        }
        run->job->patience = leaders_wait(run->job->broker, run->leader);
        goes_on = message->err ? take_trouble(run, message) : take_message(run, message);
        rd_kafka_message_destroy(message);
    }
}

static void
read_run(struct fetch_run *run)
{
    const char *name = run->fetches[0]->topic;
    int32_t partition = run->fetches[0]->partition;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(run->job->broker->reader, name, NULL);
    run->job->patience = leaders_wait(run->job->broker, run->leader);
    while (topic && run->at < run->count && may_go_on(run->job)) {
        if (rd_kafka_consume_start(topic, partition, run->fetches[run->at]->offset))
            break;
        read_on(run, topic, partition);
        rd_kafka_consume_stop(topic, partition);
    }
    if (topic)
        rd_kafka_topic_destroy(topic);
    if (run->at < run->count && clock_mono() >= run->job->patience)
        find_watermark(run->job->broker, name, partition)->failed_at = clock_mono();
    while (run->at < run->count)
        answer_code(run->job, run->fetches[run->at++], RD_KAFKA_RESP_ERR__TIMED_OUT);
}

// All fetches of one partition, ascending.
static void
fetch_partition(struct fetch_job *job, struct fetch **fetches, size_t count)
{
    job->broker->reader_trouble.text[0] = '\0';
    rd_kafka_resp_err_t code = prepare(job, fetches[0]);
    if (code) {
        for (size_t i = 0; i < count; i++)
            answer_code(job, fetches[i], code);
        return;
    }

    const struct watermark *range = find_watermark(job->broker, fetches[0]->topic, fetches[0]->partition);
    size_t first = 0;
    for (; first < count && fetches[first]->offset < range->low; first++)
        answer(job, fetches[first], FETCH_GONE, "retention has removed it");
    size_t end = first;
    while (end < count && fetches[end]->offset < range->high)
        end++;
    for (size_t i = end; i < count; i++)
        answer(job, fetches[i], FETCH_GONE, "the partition does not reach that far");

    struct fetch_run run = {
        .job = job, .fetches = fetches + first, .count = end - first, .leader = range->leader};
    if (run.count)
        read_run(&run);
}

static int
by_coordinates(const void *a, const void *b)
{
    const struct fetch *x = *(struct fetch *const *)a, *y = *(struct fetch *const *)b;
    int topic = strcmp(x->topic, y->topic);
    if (topic)
        return topic;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

bool
fetch_is_younger(const struct record *record, int64_t letter_at)
{
    return letter_at > 0 && record->timestamp > letter_at; // either may be missing
}

void
broker_fetch(struct broker *broker, struct fetch *fetches, size_t count, int timeout_ms, fetch_tick_fn *tick,
             void *context, struct arena *arena)
{
    struct fetch_job job = {
        .broker = broker,
        .arena = arena,
        .began = clock_mono(),
        .deadline = clock_mono() + timeout_ms * 1000LL,
        .tick = tick,
        .context = context,
    };
    struct err err = {0};
    if (!broker->reader)
        broker->reader = kafka_reader(&broker->settings, &broker->reader_trouble, false, &err);

    struct fetch **order = alloc_array(count, sizeof(struct fetch *));
    for (size_t i = 0; i < count; i++) {
        order[i] = &fetches[i];
        order[i]->state = FETCH_FAILED;
    }
    if (count)
        qsort(order, count, sizeof(struct fetch *), by_coordinates);

    if (broker->reader)
        ask_ranges(&job, order, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && is_same_partition(order[i], order[end]);)
            end++;
        for (size_t j = i; !broker->reader && j < end; j++)
            answer(&job, order[j], FETCH_FAILED, err.text);
        for (size_t j = i; broker->reader && clock_mono() >= job.deadline && j < end; j++)
            answer(&job, order[j], FETCH_NOT_TRIED, "the time was used up by others");
        if (broker->reader && order[i]->state != FETCH_NOT_TRIED)
            fetch_partition(&job, &order[i], end - i);
    }
    free(order);
}
