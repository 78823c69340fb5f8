// send CONNINFO BROKERS TOPIC…: gives every pending event of dlq_events to Kafka, as fast as that can be done
// on this machine, and does nothing else: the floor under what sending takes, whoever does it.
//
// Reads topic, key and payload in order of id by binary COPY, and sends them with an idempotent producer that
// waits for all replicas. No transactions, and nothing is written down. TOPICs are all those that events
// name. Two lines on standard output: "reading" once the events to send are fixed, whatever becomes of them
// meanwhile; "sent N" when all are confirmed. Anything else ends the program with a failure.
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/bytes.h"

enum { MOST_TOPICS = 64, HEADER = 19 }; // bytes before the first row, where no extension stands there

struct sender {
    rd_kafka_t *producer;
    rd_kafka_topic_t *topics[MOST_TOPICS];
    size_t topic_count, sent, confirmed;
};

static void
on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    struct sender *sender = opaque;
    if (message->err)
        die("send: not sent: %s", rd_kafka_err2str(message->err));
    sender->confirmed++;
}

static void
open_producer(struct sender *sender, const char *brokers)
{
    const char *const settings[][2] = {{"bootstrap.servers", brokers},
                                       {"enable.idempotence", "true"},
                                       {"acks", "all"},
                                       {"linger.ms", "2"},
                                       {"partitioner", "murmur2_random"}};
    char why[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], why, sizeof why) != RD_KAFKA_CONF_OK)
            die("send: %s", why);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_opaque(conf, sender);
    sender->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (!sender->producer)
        die("send: %s", why);
}

// Where their partitions are, before the first record, which else waits for that (librdkafka issue 5032).
static void
open_topics(struct sender *sender, char **names)
{
    for (; *names && sender->topic_count < MOST_TOPICS; names++)
        sender->topics[sender->topic_count++] = rd_kafka_topic_new(sender->producer, *names, NULL);
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t error = rd_kafka_metadata(sender->producer, 0, NULL, &metadata, 5000);
    if (error)
        die("send: %s", rd_kafka_err2str(error));
    rd_kafka_metadata_destroy(metadata);
}

static rd_kafka_topic_t *
topic_of(const struct sender *sender, struct bytes name)
{
    for (size_t i = 0; i < sender->topic_count; i++)
        if (bytes_equal_text(name, rd_kafka_topic_name(sender->topics[i])))
            return sender->topics[i];
    die("send: a topic that was not named: %.*s", BYTES_ARGS(name));
}

static struct bytes
take(struct bytes *rest, size_t len)
{
    if (rest->len < len)
        die("send: a row is cut off");
    struct bytes taken = {rest->data, len};
    *rest = (struct bytes){rest->data + len, rest->len - len};
    return taken;
}

// A field of a row: its length, -1 for NULL, then its bytes (PostgreSQL, COPY, binary format).
static struct bytes
take_field(struct bytes *rest)
{
    uint32_t len;
    memcpy(&len, take(rest, sizeof len).data, sizeof len);
    len = ntohl(len);
    return len == UINT32_MAX ? BYTES_ABSENT : take(rest, len);
}

static void
send_row(struct sender *sender, struct bytes row)
{
    rd_kafka_topic_t *topic = topic_of(sender, take_field(&row));
    struct bytes key = take_field(&row);
    struct bytes value = take_field(&row);
    while (rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                            (void *)(uintptr_t)value.data, // copied, never changed
                            value.len, key.data, key.len, NULL) != 0) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            die("send: %s", rd_kafka_err2str(rd_kafka_last_error()));
        rd_kafka_poll(sender->producer, 10);
    }
    sender->sent++;
    rd_kafka_poll(sender->producer, 0);
}

static void
send_rows(struct sender *sender, PGconn *conn)
{
    PGresult *result = PQexec(conn, "COPY (SELECT kafka_topic, source_id, event_payload::text FROM dlq_events"
                                    " WHERE status = 'PENDING' ORDER BY id) TO STDOUT (FORMAT binary)");
    if (PQresultStatus(result) != PGRES_COPY_OUT)
        die("send: %s", PQerrorMessage(conn));
    PQclear(result);
    puts("reading");
    (void)fflush(stdout);
    char *data;
    int len;
    for (bool is_first = true; (len = PQgetCopyData(conn, &data, 0)) > 0; is_first = false) {
        struct bytes row = {data, (size_t)len};
        if (is_first)
            (void)take(&row, HEADER);
        struct bytes fields = take(&row, 2);
        if (!bytes_equal(fields, BYTES("\xff\xff"))) // the end
            send_row(sender, row);
        PQfreemem(data);
    }
    if (len != -1)
        die("send: %s", PQerrorMessage(conn));
}

int
main(int argc, char **argv)
{
    if (argc < 4)
        die("usage: send CONNINFO BROKERS TOPIC…");
    PGconn *conn = PQconnectdb(argv[1]);
    if (PQstatus(conn) != CONNECTION_OK)
        die("send: %s", PQerrorMessage(conn));
    struct sender sender = {0};
    open_producer(&sender, argv[2]);
    open_topics(&sender, argv + 3);
    send_rows(&sender, conn);
    while (sender.confirmed < sender.sent)
        rd_kafka_poll(sender.producer, 100);
    printf("sent %zu\n", sender.confirmed);
    for (size_t i = 0; i < sender.topic_count; i++)
        rd_kafka_topic_destroy(sender.topics[i]);
    rd_kafka_destroy(sender.producer);
    PQfinish(conn);
    return 0;
}
