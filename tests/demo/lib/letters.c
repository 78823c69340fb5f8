// Headers as the classes write them: DeadLetterPublishingRecoverer of Spring for Apache Kafka, and
// DeadLetterQueueReporter of Kafka Connect; core/envelope/formats names the sources.
#include "tests/demo/lib/letters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "core/json/json.h"

// What a queue's message ends with while nothing has failed.
static const char unfailed[] = ", \"error\": null, \"retry_count\": 0}";

static const struct demo_topic *
topic_named(const char *name)
{
    for (size_t i = 0; i < demo_topic_count; i++)
        if (strcmp(demo_topics[i].name, name) == 0)
            return &demo_topics[i];
    return NULL;
}

bool
demo_has_letters(const char *topic)
{
    const struct demo_topic *found = topic_named(topic);
    return found && found->form != DEMO_ROWS;
}

static void
add_text(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    rd_kafka_header_add(headers, name, -1, value, -1);
}

static void
add_number(rd_kafka_headers_t *headers, const char *name, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    add_text(headers, name, text);
}

static void
add_binary(rd_kafka_headers_t *headers, const char *name, int64_t number, size_t size)
{
    char value[8];
    for (size_t i = 0; i < size; i++)
        value[i] = (char)((uint64_t)number >> 8 * (size - 1 - i));
    rd_kafka_header_add(headers, name, -1, value, (ssize_t)size);
}

// The class before the message, where the text begins with one: "a.b.C: message".
static size_t
class_length(const char *error)
{
    size_t len = strcspn(error, ": \n");
    return error[len] == ':' && error[len + 1] == ' ' ? len : 0;
}

static void
add_error(rd_kafka_headers_t *headers, const char *error, const char *class_name, const char *message)
{
    size_t len = class_length(error);
    if (len)
        rd_kafka_header_add(headers, class_name, -1, error, (ssize_t)len);
    add_text(headers, message, len ? error + len + 2 : error);
}

static void
make_spring(rd_kafka_headers_t *headers, const struct demo_letter *letter)
{
    add_text(headers, "__TypeId__", letter->type);
    add_text(headers, "kafka_dlt-original-topic", letter->topic);
    add_binary(headers, "kafka_dlt-original-partition", letter->partition, 4);
    add_binary(headers, "kafka_dlt-original-offset", letter->offset, 8);
    add_binary(headers, "kafka_dlt-original-timestamp", letter->created / 1000, 8);
    add_text(headers, "kafka_dlt-original-timestamp-type", "CreateTime");
    add_text(headers, "kafka_dlt-original-consumer-group", "shop");
    add_text(headers, "kafka_dlt-exception-fqcn",
             "org.springframework.kafka.listener.ListenerExecutionFailedException");
    add_error(headers, letter->error, "kafka_dlt-exception-cause-fqcn", "kafka_dlt-exception-message");
    add_text(headers, "kafka_dlt-exception-stacktrace", letter->stack);
}

static void
make_connect(rd_kafka_headers_t *headers, const struct demo_letter *letter)
{
    add_text(headers, "__connect.errors.topic", letter->topic);
    add_number(headers, "__connect.errors.partition", letter->partition);
    add_number(headers, "__connect.errors.offset", letter->offset);
    add_text(headers, "__connect.errors.connector.name", "warehouse-sink");
    add_text(headers, "__connect.errors.task.id", "0");
    add_text(headers, "__connect.errors.stage", "TASK_PUT");
    add_text(headers, "__connect.errors.class.name", "org.apache.kafka.connect.sink.SinkTask");
    add_error(headers, letter->error, "__connect.errors.exception.class.name",
              "__connect.errors.exception.message");
    add_text(headers, "__connect.errors.exception.stacktrace", letter->stack);
}

static void
make_headers(rd_kafka_headers_t *headers, const struct demo_letter *letter)
{
    add_text(headers, "dlq.original.topic", letter->topic);
    add_number(headers, "dlq.original.partition", letter->partition);
    add_number(headers, "dlq.original.offset", letter->offset);
    add_number(headers, "dlq.original.timestamp", letter->created / 1000);
    add_error(headers, letter->error, "dlq.error.class", "dlq.error.message");
    add_text(headers, "dlq.error.stacktrace", letter->stack);
    add_number(headers, "dlq.retry.count", letter->retries);
    add_text(headers, "dlq.consumer.group", "shop");
}

// The error goes into the message itself. A message without the end that demo_enclose gave it stays as it is.
static void
make_queue(struct strbuf *value, const struct demo_letter *letter)
{
    size_t end = sizeof unfailed - 1;
    struct bytes whole = letter->value;
    if (whole.len < end || memcmp(whole.data + whole.len - end, unfailed, end) != 0) {
        strbuf_add(value, whole);
        return;
    }
    strbuf_add(value, bytes_slice(whole, 0, whole.len - end));
    strbuf_add_text(value, ", \"error\": {\"message\": ");
    json_quote(bytes_of(letter->error), value);
    strbuf_add_text(value, ", \"trace\": ");
    json_quote(bytes_of(letter->stack), value);
    strbuf_printf(value, "}, \"retry_count\": %d}", letter->retries + 1);
}

void
demo_enclose(struct failed_event *event)
{
    const struct demo_topic *topic = topic_named(event->topic);
    if (!topic || topic->form != DEMO_QUEUE)
        return;
    time_t seconds = (time_t)(event->created / US_PER_SECOND);
    struct strbuf message = {0};
    struct tm tm;
    char time[32];
    gmtime_r(&seconds, &tm);
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &tm);
    strbuf_printf(&message,
                  "{\"message_id\": \"%s\", \"type\": \"%s\", \"source\": \"%s\", \"queue\": \"%s\", "
                  "\"timestamp\": \"%s\", \"metadata\": {\"correlation_id\": \"%s\"}, \"data\": ",
                  event->event_id, event->type, event->table, event->topic, time, event->correlation);
    strbuf_add(&message, strbuf_bytes(&event->payload));
    strbuf_add_text(&message, unfailed);
    strbuf_release(&event->payload);
    event->payload = message;
}

static void
put(rd_kafka_t *producer, const char *topic, const struct demo_letter *letter, struct bytes value,
    rd_kafka_headers_t *headers)
{
    union {
        const char *in;
        void *out;
    } key = {.in = letter->key.data}, data = {.in = value.data};
    const rd_kafka_vu_t fields[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {key.out, letter->key.len}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {data.out, value.len}},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
    };
    rd_kafka_error_t *error = rd_kafka_produceva(producer, fields, sizeof fields / sizeof fields[0]);
    if (!error)
        return;
    fprintf(stderr, "demo: %s\n", rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    rd_kafka_headers_destroy(headers);
}

void
demo_letter(rd_kafka_t *producer, const struct demo_letter *letter)
{
    static void (*const makes[])(rd_kafka_headers_t *, const struct demo_letter *) = {
        [DEMO_SPRING] = make_spring, [DEMO_CONNECT] = make_connect, [DEMO_HEADERS] = make_headers};
    const struct demo_topic *topic = topic_named(letter->topic);
    rd_kafka_headers_t *headers =
        letter->headers ? rd_kafka_headers_copy(letter->headers) : rd_kafka_headers_new(16);
    struct strbuf value = {0};
    if (topic->form == DEMO_QUEUE) {
        make_queue(&value, letter);
    } else {
        strbuf_add(&value, letter->value);
        makes[topic->form](headers, letter);
    }
    put(producer, topic->letters, letter, strbuf_bytes(&value), headers);
    strbuf_release(&value);
}
