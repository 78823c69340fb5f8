// RabbitMQ through a source connector. RabbitMQ, "Dead Letter Exchanges": x-death is an array of tables, the
// newest first, with queue, reason, count, time, exchange and routing-keys; x-first-death-* repeat the first.
// Connectors write headers as JSON; Confluent's RabbitMQ source puts "rabbitmq." in front of every name.
// `count` stays 1 in 3.13 (rabbitmq-server issue 11331).
#include "core/envelope/format.h"
#include "core/json/json.h"

static const struct envelope_header_row headers[] = {
    {"x-death", FACT_NONE, AS_TEXT, PROVES},
    {"rabbitmq.x-death", FACT_NONE, AS_TEXT, PROVES},
    {"x-first-death-queue", FACT_SOURCE, AS_QUOTED, PROVES},
    {"rabbitmq.x-first-death-queue", FACT_SOURCE, AS_QUOTED, PROVES},
    {"x-first-death-reason", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {"rabbitmq.x-first-death-reason", FACT_ERROR_MESSAGE, AS_QUOTED, 0},
    {"x-first-death-exchange", FACT_NONE, AS_QUOTED, 0},
    {"rabbitmq.x-first-death-exchange", FACT_NONE, AS_QUOTED, 0},
    {"x-last-death-*", FACT_NONE, AS_QUOTED, 0},
    {"rabbitmq.x-last-death-*", FACT_NONE, AS_QUOTED, 0},
    {"rabbitmq.message.id", FACT_EVENT_ID, AS_QUOTED, KEPT},
    {"rabbitmq.correlation.id", FACT_CORRELATION_ID, AS_QUOTED, KEPT},
    {"rabbitmq.type", FACT_EVENT_TYPE, AS_QUOTED, KEPT},
    {0},
};

static void
read_death(struct bytes table, struct arena *arena, struct envelope *envelope)
{
    struct members members;
    if (!members_read(table, arena, &members))
        return;
    envelope_say(envelope, FACT_SOURCE, member_text(members_find(&members, BYTES("queue")), arena));
    envelope_say(envelope, FACT_ERROR_MESSAGE, member_text(members_find(&members, BYTES("reason")), arena));
    envelope_say(envelope, FACT_ATTEMPTS, member_text(members_find(&members, BYTES("count")), arena));
    envelope_say(envelope, FACT_FAILED_AT, member_text(members_find(&members, BYTES("time")), arena));
}

static void
decode_rabbitmq(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    for (size_t i = record->header_count; i-- > 0;) {
        struct json_children children;
        struct json_token first;
        struct bytes name = record->headers[i].name, value = bytes_trim(record->headers[i].value);
        if (bytes_ends(name, "x-death") && json_children(&children, value) && !children.is_object &&
            json_child(&children, NULL, &first))
            read_death(bytes_slice(value, first.from, first.len), arena, envelope);
    }
}

const struct envelope_format envelope_rabbitmq = {
    .name = "rabbitmq",
    .title = "RabbitMQ, through a connector",
    .headers = headers,
    .decode = decode_rabbitmq,
};
