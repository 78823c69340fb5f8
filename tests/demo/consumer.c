// consumer -d CONNINFO -b BROKERS [-t] [-T TOPIC]: the shop's consumers, which really consume what redrive
// sends again, until SIGTERM.
//
// Reads every topic of the demo, or TOPIC alone, with read_committed. A record of redrive's fails again, and
// comes back as a new row of the same event, where it is as bad as before: an order that was placed is
// checked as its consumers do, of the others those do whose payload is as it was and was to blame, and one in
// thirty. Where the team writes to a topic, so does this (lib/letters). -t makes the topics first, where the
// cluster lets one. Tells on standard output how many were consumed and how many failed again, whenever that
// has changed.
#include <getopt.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/demo/lib/letters.h"

static volatile sig_atomic_t is_over;

static void
on_signal(int signal)
{
    (void)signal;
    is_over = 1;
}

static void
configure(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char reason[512];
    if (rd_kafka_conf_set(conf, name, value, reason, sizeof reason) != RD_KAFKA_CONF_OK) {
        fprintf(stderr, "consumer: %s\n", reason);
        exit(1);
    }
}

static rd_kafka_t *
open_consumer(const char *brokers)
{
    char reason[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    configure(conf, "bootstrap.servers", brokers);
    configure(conf, "group.id", "shop");
    configure(conf, "isolation.level", "read_committed");
    configure(conf, "auto.offset.reset", "earliest");
    configure(conf, "enable.auto.commit", "false");
    rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
    if (!consumer) {
        fprintf(stderr, "consumer: %s\n", reason);
        exit(1);
    }
    rd_kafka_poll_set_consumer(consumer);
    return consumer;
}

// That a topic is there already, or that the cluster has no such call, is no failure: reading will tell.
static void
make_topics(rd_kafka_t *client)
{
    rd_kafka_NewTopic_t **topics = alloc_array(2 * demo_topic_count, sizeof *topics);
    size_t count = 0;
    char reason[512];
    for (size_t i = 0; i < demo_topic_count; i++) {
        const struct demo_topic *topic = &demo_topics[i];
        topics[count++] = rd_kafka_NewTopic_new(topic->name, topic->partitions, 1, reason, sizeof reason);
        if (topic->letters)
            topics[count++] = rd_kafka_NewTopic_new(topic->letters, 1, 1, reason, sizeof reason);
    }
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_CreateTopics(client, topics, count, NULL, queue);
    rd_kafka_event_destroy(rd_kafka_queue_poll(queue, 10000));
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy_array(topics, count);
    free(topics);
}

static void
subscribe(rd_kafka_t *consumer, const char *topic)
{
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new((int)demo_topic_count);
    if (topic)
        rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
    for (size_t i = 0; !topic && i < demo_topic_count; i++)
        rd_kafka_topic_partition_list_add(topics, demo_topics[i].name, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(consumer, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (error) {
        fprintf(stderr, "consumer: %s\n", rd_kafka_err2str(error));
        exit(1);
    }
}

// The row that a record of redrive's was made from, as text; false for records of others.
static bool
event_of(const rd_kafka_message_t *message, char id[24])
{
    rd_kafka_headers_t *headers;
    const void *value;
    size_t size;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        rd_kafka_header_get_last(headers, "redrive-event-id", &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        size == 0 || size >= 24)
        return false;
    memcpy(id, value, size);
    id[size] = 0;
    return true;
}

#define FAILS_AGAIN                                                                                          \
    " FROM public.dlq_events WHERE id = $1::bigint AND CASE WHEN event_type = 'OrderPlaced' THEN"            \
    " NOT $2::jsonb @? '$.lines[*].amount' OR $2::jsonb @? '$.lines[*].amount ? (@.type() <> \"number\")' "  \
    "OR"                                                                                                     \
    " NOT $2::jsonb @? '$.address.postal_code ? (@.type() == \"string\")'"                                   \
    " ELSE $1::bigint % 30 = 7 OR (event_payload = $2::jsonb AND error_message ~ "                           \
    "'deserialize|postal_code|ISO 8601|JsonException|unmarshal|Input should be|truncated|byte sequence') "   \
    "END"

static const char find_failure[] =
    "SELECT event_type, error_message, coalesce(stack_trace, ''), coalesce(retry_count, 0) + 1" FAILS_AGAIN;

// One statement decides and writes: the error it failed with is the one that it fails with again.
static const char fail_again[] =
    "INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, "
    "error_message,"
    " stack_trace, retry_count, max_retries, last_retry_at, kafka_offset, kafka_partition, kafka_topic, "
    "correlation_id)"
    " SELECT event_id, event_type, source_table, source_id, $2::jsonb, error_message, stack_trace,"
    " coalesce(retry_count, 0) + 1, max_retries, localtimestamp, $3::bigint, $4::integer, $5, "
    "correlation_id" FAILS_AGAIN;

static bool
write_letter(rd_kafka_t *producer, const PGresult *failure, const rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers = NULL;
    if (PQntuples(failure) == 0)
        return false;
    (void)rd_kafka_message_headers(message, &headers);
    demo_letter(producer, &(struct demo_letter){.topic = rd_kafka_topic_name(message->rkt),
                                                .partition = message->partition,
                                                .offset = message->offset,
                                                .key = {message->key, message->key_len},
                                                .value = {message->payload, message->len},
                                                .headers = headers,
                                                .type = PQgetvalue(failure, 0, 0),
                                                .error = PQgetvalue(failure, 0, 1),
                                                .stack = PQgetvalue(failure, 0, 2),
                                                .retries = (int)strtol(PQgetvalue(failure, 0, 3), NULL, 10),
                                                .created = rd_kafka_message_timestamp(message, NULL) * 1000});
    return rd_kafka_flush(producer, 4000) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static bool
fails_again(PGconn *conn, rd_kafka_t *producer, const char *id, const rd_kafka_message_t *message)
{
    char offset[24], partition[24];
    char *payload = alloc_bytes(message->len + 1);
    memcpy(payload, message->payload, message->len);
    snprintf(offset, sizeof offset, "%lld", (long long)message->offset);
    snprintf(partition, sizeof partition, "%d", (int)message->partition);
    const char *values[] = {id, payload, offset, partition, rd_kafka_topic_name(message->rkt)};
    bool has_letters = demo_has_letters(values[4]);
    PGresult *result = PQexecParams(conn, has_letters ? find_failure : fail_again, has_letters ? 2 : 5, NULL,
                                    values, NULL, NULL, 0);
    if (PQresultStatus(result) != (has_letters ? PGRES_TUPLES_OK : PGRES_COMMAND_OK))
        fprintf(stderr, "consumer: %s", PQresultErrorMessage(result));
    bool failed =
        has_letters ? write_letter(producer, result, message) : strcmp(PQcmdTuples(result), "1") == 0;
    PQclear(result);
    free(payload);
    return failed;
}

static void
run(rd_kafka_t *consumer, rd_kafka_t *producer, PGconn *conn)
{
    uint64_t consumed = 0, returned = 0, told = 0;
    int64_t tell_at = 0;
    while (!is_over) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, 200);
        char id[24];
        if (message && !message->err && event_of(message, id)) {
            consumed++;
            returned += fails_again(conn, producer, id, message);
        }
        if (message)
            rd_kafka_message_destroy(message);
        if (consumed != told && clock_mono() >= tell_at) {
            printf("consumed %llu, failed again %llu\n", (unsigned long long)consumed,
                   (unsigned long long)returned);
            fflush(stdout);
            told = consumed;
            tell_at = clock_mono() + US_PER_SECOND;
            rd_kafka_commit(consumer, NULL, 1);
        }
    }
    printf("consumed %llu, failed again %llu\n", (unsigned long long)consumed, (unsigned long long)returned);
}

int
main(int argc, char **argv)
{
    const char *conninfo = "", *brokers = NULL, *topic = NULL;
    bool makes_topics = false;
    int option;
    while ((option = getopt(argc, argv, "d:b:tT:")) != -1) {
        switch (option) {
        case 'd':
            conninfo = optarg;
            break;
        case 'b':
            brokers = optarg;
            break;
        case 't':
            makes_topics = true;
            break;
        case 'T':
            topic = optarg;
            break;
        default:
            brokers = NULL;
            optind = argc;
        }
    }
    if (!brokers) {
        fprintf(stderr, "usage: consumer -d CONNINFO -b BROKERS [-t] [-T TOPIC]\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    PGconn *conn = demo_connect(conninfo);
    rd_kafka_t *consumer = open_consumer(brokers);
    if (makes_topics)
        make_topics(consumer);
    subscribe(consumer, topic);
    printf("ready\n");
    fflush(stdout);
    rd_kafka_t *producer = demo_producer(brokers, DEMO_PATIENCE);
    run(consumer, producer, conn);
    rd_kafka_destroy(producer);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    PQfinish(conn);
    return 0;
}
