// broken -d CONNINFO -b BROKERS [-T TOPIC]: the failures whose payloads themselves are wrong, each with its
// original record in Kafka, in its own topic or all in TOPIC. Run it once, on the table that seed made.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/demo/lib/failures.h"

#define BETWEEN (45 * US_PER_SECOND) // two failures

static void
let_fail(PGconn *conn, rd_kafka_t *producer, size_t kind, size_t count, const char *topic)
{
    struct failed_event *events = alloc_array(count, sizeof *events);
    struct random random = {kind};
    int64_t now = demo_now(conn);
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct failed_event){0};
        failure_make(&events[i], kind, random_next(&random), now - (int64_t)(count - i) * BETWEEN);
        if (topic) {
            events[i].topic = topic;
            events[i].partition = RD_KAFKA_PARTITION_UA;
        }
        demo_produce(producer, &events[i]);
    }
    rd_kafka_flush(producer, 20000);
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
    rd_kafka_t *producer = demo_producer(brokers);
    size_t kind, count;
    for (size_t i = 0; failure_broken(i, &kind, &count); i++)
        let_fail(conn, producer, kind, count, topic);
    rd_kafka_destroy(producer);
    PQfinish(conn);
    return 0;
}
