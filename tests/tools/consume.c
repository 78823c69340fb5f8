// consume BROKERS TOPIC PARTITIONS [read_committed|read_uncommitted]: every record of a topic, as a consumer
// of that isolation level sees it, one a line for COPY: event id, key and value as bytea.
//
// The event id is the header redrive-event-id; records without it are passed over. Reads each partition to
// its end, and waits for an open transaction to end; fails after 60 s in which nothing comes.
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 60000

static int
fail(const char *what, const char *why)
{
    fprintf(stderr, "consume: %s: %s\n", what, why);
    return 1;
}

static void
print_bytes(const void *bytes, size_t len)
{
    if (!bytes) {
        fputs("\\N", stdout);
        return;
    }
    fputs("\\\\x", stdout);
    for (size_t i = 0; i < len; i++)
        printf("%02x", ((const unsigned char *)bytes)[i]);
}

static void
print_record(const rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers;
    const void *id;
    size_t len;
    if (rd_kafka_message_headers(message, &headers) ||
        rd_kafka_header_get_last(headers, "redrive-event-id", &id, &len))
        return;
    printf("%.*s\t%d\t", (int)len, (const char *)id, (int)message->partition);
    print_bytes(message->key, message->key_len);
    putchar('\t');
    print_bytes(message->payload, message->len);
    putchar('\n');
}

// The end as of now by a question of its own: the end that a read_committed consumer meets first may lie
// before a transaction that is still open.
static int
read_partition(rd_kafka_t *client, rd_kafka_topic_t *topic, const char *name, int32_t partition)
{
    int64_t low, high;
    rd_kafka_resp_err_t code =
        rd_kafka_query_watermark_offsets(client, name, partition, &low, &high, PATIENCE_MS);
    if (code)
        return fail(name, rd_kafka_err2str(code));
    if (rd_kafka_consume_start(topic, partition, RD_KAFKA_OFFSET_BEGINNING))
        return fail(name, "a partition cannot be read");
    int status = 0;
    for (int64_t at = low; at < high && status == 0;) {
        rd_kafka_message_t *message = rd_kafka_consume(topic, partition, PATIENCE_MS);
        if (!message)
            status = fail(name, "nothing more came: a transaction stays open?");
        else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
            at = message->offset > at ? message->offset : at;
        else if (message->err)
            status = fail(name, rd_kafka_message_errstr(message));
        else {
            print_record(message);
            at = message->offset + 1;
        }
        if (message)
            rd_kafka_message_destroy(message);
    }
    rd_kafka_consume_stop(topic, partition);
    return status;
}

int
main(int argc, char **argv)
{
    if (argc < 4)
        return fail("usage", "consume BROKERS TOPIC PARTITIONS [ISOLATION]");
    char why[512];
    const char *settings[][2] = {
        {"bootstrap.servers", argv[1]},
        {"isolation.level", argc > 4 ? argv[4] : "read_committed"},
        {"enable.partition.eof", "true"},
        {"fetch.wait.max.ms", "10"},
    };
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], why, sizeof why) != RD_KAFKA_CONF_OK)
            return fail(settings[i][0], why);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    if (!client)
        return fail("the client", why);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argv[2], NULL);
    int status = 0;
    for (int32_t i = 0; i < strtol(argv[3], NULL, 10) && status == 0; i++)
        status = read_partition(client, topic, argv[2], i);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(client);
    return fflush(stdout) ? fail("writing", "standard output") : status;
}
