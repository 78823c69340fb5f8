#include "broker/producer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "broker/kafka.h"

#define MARK_MS 10000
#define COMMIT_LEAST_MS 10000

struct topic_handle {
    char *name;
    rd_kafka_topic_t *handle;
};

struct producer {
    rd_kafka_t *handle;
    rd_kafka_queue_t *queue; // delivery reports and errors
    rd_kafka_event_t *event; // a batch of reports that is being handed out
    size_t event_left;       // reports in it
    struct topic_handle *topics;
    size_t topic_count, topic_capacity;
    bool is_transactional;
    bool is_initialised;
    struct trouble trouble;
};

static void
set_limits(rd_kafka_conf_t *conf, const struct broker_settings *settings, const struct producer_settings *how)
{
    int64_t timeout = how->message_ms ? how->message_ms : how->timeout_ms ? how->timeout_ms : 30000;
    int64_t batch = how->batch_bytes ? how->batch_bytes : 1000000;
    uint64_t kilobytes = (how->bytes ? how->bytes : 32u << 20) / 1024 * 2 + 1024;

    kafka_set_number(conf, "message.timeout.ms", timeout);
    kafka_set_default(conf, settings, "message.max.bytes", "100000000"); // the topic's own limit decides
    kafka_set_number(conf, "batch.size", batch < 1 ? 1 : batch);
    kafka_set_number(conf, "batch.num.messages", how->is_isolating ? 1 : 10000);
    kafka_set_number(conf, "queue.buffering.max.messages", how->records ? 2LL * how->records : 20000);
    kafka_set_number(conf, "queue.buffering.max.kbytes", kilobytes > 2097151 ? 2097151 : (int64_t)kilobytes);
    kafka_set_default(conf, settings, "linger.ms", "2");
    kafka_set_default(conf, settings, "partitioner", "murmur2_random"); // what the Java clients do
    kafka_set(conf, "connections.max.idle.ms", "0");
}

static rd_kafka_conf_t *
make_conf(struct producer *producer, const struct broker_settings *settings,
          const struct producer_settings *how, struct err *err)
{
    rd_kafka_conf_t *conf = kafka_conf(settings, &producer->trouble, err);
    if (!conf)
        return NULL;

    set_limits(conf, settings, how);
    kafka_set(conf, "enable.idempotence", "true");
    kafka_set(conf, "acks", "all");
    if (how->txn_id) {
        kafka_set(conf, "transactional.id", how->txn_id);
        kafka_set_number(conf, "transaction.timeout.ms", how->timeout_ms ? how->timeout_ms : 30000);
    }
    // The event interface: reports are fetched when we want them, never served within another call.
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
    return conf;
}

bool
producer_open(struct producer **producer, const struct broker_settings *settings,
              const struct producer_settings *how, struct err *err)
{
    *producer = NULL;
    struct producer *fresh = alloc_bytes(sizeof *fresh);
    rd_kafka_conf_t *conf = make_conf(fresh, settings, how, err);
    fresh->handle = conf ? kafka_handle(RD_KAFKA_PRODUCER, conf, err) : NULL;
    if (!fresh->handle) {
        free(fresh);
        return false;
    }
    fresh->queue = rd_kafka_queue_get_main(fresh->handle);
    fresh->is_transactional = how->txn_id != NULL;
    *producer = fresh;
    return true;
}

void
producer_destroy(struct producer *producer)
{
    if (!producer)
        return;

    if (producer->event)
        rd_kafka_event_destroy(producer->event);
    rd_kafka_queue_destroy(producer->queue);
    for (size_t i = 0; i < producer->topic_count; i++) {
        rd_kafka_topic_destroy(producer->topics[i].handle);
        free(producer->topics[i].name);
    }
    free(producer->topics);
    // Gives up what is queued or in flight. Its outcome becomes unknowable, which is what recovery is for.
    rd_kafka_destroy(producer->handle);
    free(producer);
}

static void
hold_reports(struct producer *producer, rd_kafka_event_t *event)
{
    producer->event_left = rd_kafka_event_message_count(event);
    producer->event = event;
    if (producer->event_left == 0) {
        rd_kafka_event_destroy(event);
        producer->event = NULL;
    }
}

static void
note_trouble(struct producer *producer, rd_kafka_event_t *event)
{
    kafka_note_trouble(&producer->trouble, rd_kafka_event_error(event), rd_kafka_event_error_string(event));
}

// Notes what the events say about the connection, without taking reports away.
static void
drain_errors(struct producer *producer)
{
    rd_kafka_event_t *event;
    while (!producer->event && (event = rd_kafka_queue_poll(producer->queue, 0))) {
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) {
            hold_reports(producer, event);
            continue;
        }
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR)
            note_trouble(producer, event);
        rd_kafka_event_destroy(event);
    }
}

// An error object that only says "not yet": destroyed, and *done false.
static bool
is_pending(rd_kafka_error_t *error)
{
    return !rd_kafka_error_is_fatal(error) && !rd_kafka_error_txn_requires_abort(error) &&
           rd_kafka_error_is_retriable(error);
}

static bool
finish_call(struct producer *producer, rd_kafka_error_t *error, const char *tried, bool *done,
            struct err *err)
{
    drain_errors(producer);
    *done = !error;
    if (!error)
        return true;
    if (is_pending(error)) {
        rd_kafka_error_destroy(error);
        return true;
    }
    return kafka_fail_error(err, error, &producer->trouble, tried);
}

bool
producer_init(struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    if (!producer->is_transactional || producer->is_initialised) {
        *done = true;
        return true;
    }
    rd_kafka_error_t *error = rd_kafka_init_transactions(producer->handle, wait_ms);
    if (!finish_call(producer, error, "taking the transactional id", done, err))
        return false;
    producer->is_initialised = *done;
    return true;
}

static rd_kafka_topic_t *
topic_of(struct producer *producer, const char *name)
{
    for (size_t i = 0; i < producer->topic_count; i++)
        if (strcmp(producer->topics[i].name, name) == 0)
            return producer->topics[i].handle;

    rd_kafka_topic_t *handle = rd_kafka_topic_new(producer->handle, name, NULL);
    if (!handle)
        return NULL;
    producer->topics = alloc_grow(producer->topics, producer->topic_count, &producer->topic_capacity,
                                  sizeof *producer->topics);
    producer->topics[producer->topic_count++] =
        (struct topic_handle){.name = alloc_text(name), .handle = handle};
    return handle;
}

bool
producer_write_nonces(struct producer *const *producers, const char *const *groups, size_t count,
                      int64_t nonce, int timeout_ms, struct err *err)
{
    struct arena arena = {0};
    rd_kafka_t **handles = arena_array(&arena, count, sizeof(rd_kafka_t *));
    for (size_t i = 0; i < count; i++)
        handles[i] = producers[i]->handle;
    bool is_good = kafka_write_nonces(handles, groups, count, nonce, timeout_ms, err);
    arena_release(&arena);
    return is_good;
}

bool
producer_warm(struct producer *producer, const char *const *topics, size_t count, int timeout_ms,
              struct err *err)
{
    size_t known = producer->topic_count;
    for (size_t i = 0; i < count; i++)
        if (!topic_of(producer, topics[i]))
            return err_set(err, ERR_DATA, "%s is not a name that Kafka allows for a topic", topics[i]);
    if (producer->topic_count == known)
        return true;

    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(producer->handle, 0, NULL, &metadata, timeout_ms);
    drain_errors(producer);
    if (code)
        return kafka_fail(err, code, &producer->trouble, "asking where the partitions are");
    rd_kafka_metadata_destroy(metadata);
    return true;
}

bool
producer_begin(struct producer *producer, struct err *err)
{
    if (!producer->is_transactional)
        return true;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(producer->handle);
    return !error || kafka_fail_error(err, error, &producer->trouble, "beginning a transaction");
}

static rd_kafka_headers_t *
make_headers(const struct producer_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct event_header *header = &record->headers[i];
        // The pointer distinguishes a null value from an empty one; -1 would mean "measure the text".
        rd_kafka_header_add(headers, header->name.data, (ssize_t)header->name.len, header->value.data,
                            (ssize_t)header->value.len);
    }
    return headers;
}

static rd_kafka_error_t *
produce(struct producer *producer, rd_kafka_topic_t *topic, const struct producer_record *record,
        size_t index, rd_kafka_headers_t *headers)
{
    // librdkafka's union has no const members; it reads these only.
    union {
        const char *in;
        void *out;
    } key = {.in = record->key.data}, value = {.in = record->value.data};
    rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = record->partition},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {.ptr = value.out, .size = record->value.len}},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {.ptr = key.out, .size = record->key.len}},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE,
         .u.ptr = (void *)(uintptr_t)index}, // NOLINT(performance-no-int-to-ptr)
    };
    return rd_kafka_produceva(producer->handle, arguments, sizeof arguments / sizeof *arguments);
}

bool
producer_send(struct producer *producer, const struct producer_record *record, size_t index, bool *is_full,
              struct err *err)
{
    *is_full = false;
    rd_kafka_topic_t *topic = topic_of(producer, record->topic);
    if (!topic)
        return err_set(err, ERR_DATA, "%s is not a name that Kafka allows for a topic", record->topic);

    rd_kafka_headers_t *headers = make_headers(record);
    rd_kafka_error_t *error = produce(producer, topic, record, index, headers);
    if (!error)
        return true;

    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    // For an unknown partition librdkafka has already freed the headers (its issue 4627).
    if (code != RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION && code != RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
        rd_kafka_headers_destroy(headers);
    switch (code) {
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
        *is_full = true;
        rd_kafka_error_destroy(error);
        return true;
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        err_set(err, ERR_DATA, "the topic %s has no partition %d", record->topic, (int)record->partition);
        break;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        err_set(err, ERR_DATA, "a record of %zu bytes is above message.max.bytes of these Kafka settings",
                record->value.len);
        break;
    default:
        err_set(err, code == RD_KAFKA_RESP_ERR__STATE ? ERR_CONFLICT : kafka_kind(code),
                "handing a record over: %s", rd_kafka_error_string(error));
    }
    rd_kafka_error_destroy(error);
    return false;
}

static enum report_kind
kind_of(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        return REPORT_DELIVERED;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        return REPORT_TOPIC;
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return REPORT_REFUSED;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
        return REPORT_BATCH;
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        return REPORT_LATE;
    default:
        return REPORT_BROKEN;
    }
}

// In words. Not rd_kafka_message_errstr: for a record of ours that is its payload.
static const char *
reason_of(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return "not allowed (ACL Write is missing)";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        return "larger than the topic allows (max.message.bytes)";
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        return "it does not exist";
    default:
        return rd_kafka_err2str(code);
    }
}

static void
next_report(struct producer *producer, struct report *report)
{
    const rd_kafka_message_t *message = rd_kafka_event_message_next(producer->event);
    *report = (struct report){.index = (size_t)(uintptr_t)message->_private, .kind = kind_of(message->err)};
    report->cause = message->err ? kafka_kind(message->err) : ERR_NONE;
    report->broker = rd_kafka_message_broker_id(message);
    report->partition = message->partition;
    report->offset = message->err ? -1 : message->offset;
    rd_kafka_timestamp_type_t type;
    int64_t stamp = rd_kafka_message_timestamp(message, &type);
    report->stamped_at = type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? stamp * 1000 : TIME_ABSENT;
    if (message->err)
        snprintf(report->reason, sizeof report->reason, "%s", reason_of(message->err));

    // Until its event is destroyed a message counts as outstanding, and a commit would wait for it.
    if (--producer->event_left == 0) {
        rd_kafka_event_destroy(producer->event);
        producer->event = NULL;
    }
}

static bool
take_event(struct producer *producer, rd_kafka_event_t *event, struct err *err)
{
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) {
        hold_reports(producer, event);
        return true;
    }
    bool is_fatal = false;
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
        note_trouble(producer, event);
        is_fatal = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__FATAL;
    }
    rd_kafka_event_destroy(event);
    if (!is_fatal)
        return true;

    char text[256];
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(producer->handle, text, sizeof text);
    return err_set(err, kafka_kind(code), "publishing: %s", text);
}

bool
producer_serve(struct producer *producer, int wait_ms, struct report *reports, size_t room, size_t *count,
               struct err *err)
{
    *count = 0;
    while (*count < room) {
        if (producer->event) {
            next_report(producer, &reports[(*count)++]);
            continue;
        }
        rd_kafka_event_t *event = rd_kafka_queue_poll(producer->queue, *count ? 0 : wait_ms);
        if (!event)
            return true;
        if (!take_event(producer, event, err))
            return false;
    }
    return true;
}

static bool
send_offset(struct producer *producer, enum marker_partition partition, const char *group, int64_t seq,
            const char *id, int wait_ms, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *offset =
        rd_kafka_topic_partition_list_add(list, MARKER_TOPIC, (int32_t)partition);
    offset->offset = seq;
    offset->metadata = alloc_text(id); // freed with the list
    offset->metadata_size = strlen(id);

    rd_kafka_consumer_group_metadata_t *metadata = rd_kafka_consumer_group_metadata_new(group);
    rd_kafka_error_t *error = rd_kafka_send_offsets_to_transaction(producer->handle, list, metadata, wait_ms);
    rd_kafka_consumer_group_metadata_destroy(metadata);
    rd_kafka_topic_partition_list_destroy(list);
    drain_errors(producer);
    return !error ||
           kafka_fail_error(err, error, &producer->trouble, "putting the marker into the transaction");
}

bool
producer_mark(struct producer *producer, enum marker_partition partition, const char *group, int64_t seq,
              const char *id, struct err *err)
{
    return send_offset(producer, partition, group, seq, id, MARK_MS, err);
}

bool
producer_why(struct producer *producer, struct err *err)
{
    if (!producer->is_transactional)
        return err_set(err, ERR_UNREACHABLE, "publishing: %s",
                       producer->trouble.text[0] ? producer->trouble.text : "records were given up");

    // Any call returns the error of the transaction. This one leaves nothing behind: the transaction is
    // never committed.
    if (send_offset(producer, NONCE_PARTITION, "redrive", 0, "", 0, err))
        err_set(err, ERR_UNREACHABLE, "publishing: records were given up");
    return false;
}

bool
producer_commit(struct producer *producer, int wait_ms, bool *done, struct err *err)
{
    // A call whose time is over before librdkafka's own thread has looked at it forgets that a commit is
    // under way; the broker's answer is then taken for one to an abort, which ends the process (2.0.2
    // to 2.12, rd_kafka_txn_endtxn_complete).
    int wait = wait_ms > COMMIT_LEAST_MS ? wait_ms : COMMIT_LEAST_MS;
    rd_kafka_error_t *error = rd_kafka_commit_transaction(producer->handle, wait);
    return finish_call(producer, error, "committing", done, err);
}
