// broken -d CONNINFO -b BROKERS [-T TOPIC]: orders whose payloads themselves are wrong, and before them,
// closed since last week, others as they should be, which a real backlog has too: they teach what is wrong.
// Each has its original record in Kafka, in its own topic or all in TOPIC. Run it once, on the table that
// seed made.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/demo/lib/failures.h"

#define BETWEEN (45 * US_PER_SECOND) // two failures
#define PATIENCE 60000               // ms, with Kafka just started
#define WEEK (7 * 24 * 3600 * US_PER_SECOND)

static void
let_fail(PGconn *conn, rd_kafka_t *producer, size_t kind, size_t count, int64_t until, const char *topic)
{
    struct failed_event *events = alloc_array(count, sizeof *events);
    struct random random = {kind};
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct failed_event){0};
        failure_make(&events[i], kind, random_next(&random), until - (int64_t)(count - i) * BETWEEN);
        if (topic) {
            events[i].topic = topic;
            events[i].partition = RD_KAFKA_PARTITION_UA;
        }
        demo_produce(producer, &events[i]);
    }
    rd_kafka_flush(producer, PATIENCE);
    rows_begin(conn);
    for (size_t i = 0; i < count; i++) {
        if (events[i].offset < 0) {
            fprintf(stderr, "broken: Kafka did not take the original records\n");
            exit(1);
        }
        rows_add(conn, &events[i]);
        failed_event_release(&events[i]);
    }
    rows_end(conn);
    free(events);
}

int
main(int argc, char **argv)
{
    const char *conninfo = "", *brokers = NULL, *topic = NULL;
    int option;
    while ((option = getopt(argc, argv, "d:b:T:")) != -1) {
        switch (option) {
        case 'd':
            conninfo = optarg;
            break;
        case 'b':
            brokers = optarg;
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
        fprintf(stderr, "usage: broken -d CONNINFO -b BROKERS [-T TOPIC]\n");
        return 2;
    }
    PGconn *conn = demo_connect(conninfo);
    rd_kafka_t *producer = demo_producer(brokers, PATIENCE);
    int64_t now = demo_now(conn);
    size_t kind, count;
    enum demo_status status;
    for (size_t i = 0; failure_placed(i, &kind, &count, &status); i++)
        let_fail(conn, producer, kind, count, status == DEMO_PENDING ? now : now - WEEK, topic);
    rd_kafka_destroy(producer);
    PQfinish(conn);
    return 0;
}
