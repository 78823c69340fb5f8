// arrive -d CONNINFO [-r PER_SECOND] [-b BROKERS] [-s SEED]: new failures keep arriving until SIGTERM.
//
// Plays the consumers of the shop, of which some write to a topic (lib/letters). With brokers, each failure's
// original record is in its topic first, so that its exact bytes can be fetched again by topic, partition and
// offset; a broker that does not answer leaves them without an offset.
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/demo/lib/letters.h"

#define TICK (100000)
#define MOST_PER_TICK 2000

static volatile sig_atomic_t is_over;

static void
on_signal(int signal)
{
    (void)signal;
    is_over = 1;
}

static void
write_letter(rd_kafka_t *producer, const struct failed_event *event)
{
    demo_letter(producer, &(struct demo_letter){.topic = event->topic,
                                                .partition = event->partition,
                                                .offset = event->offset,
                                                .key = bytes_of(event->source_id),
                                                .value = strbuf_bytes(&event->payload),
                                                .type = event->type,
                                                .error = strbuf_text(&event->error),
                                                .stack = strbuf_text(&event->stack),
                                                .retries = event->retries,
                                                .created = event->created});
}

static void
let_arrive(PGconn *conn, rd_kafka_t *producer, struct random *random, struct failed_event *events,
           size_t count)
{
    int64_t now = demo_now(conn);
    for (size_t i = 0; i < count; i++) {
        size_t kind;
        do
            kind = failure_choose(random);
        while (!failure_goes_on(kind));
        failure_make(&events[i], kind, random_next(random), now);
        if (producer) {
            demo_enclose(&events[i]);
            demo_produce(producer, &events[i]);
        }
    }
    if (producer)
        rd_kafka_flush(producer, 4000);
    rows_begin(conn);
    for (size_t i = 0; i < count; i++) {
        if (events[i].offset >= 0 && demo_has_letters(events[i].topic))
            write_letter(producer, &events[i]);
        else
            rows_add(conn, &events[i]);
    }
    rows_end(conn);
}

static void
run(PGconn *conn, rd_kafka_t *producer, double rate, uint64_t seed)
{
    struct failed_event *events = alloc_array(MOST_PER_TICK, sizeof *events);
    struct random random = {seed};
    double due = 0;
    int64_t before = clock_mono();
    while (!is_over) {
        clock_sleep(TICK);
        int64_t at = clock_mono();
        due += rate * (double)(at - before) / US_PER_SECOND;
        before = at;
        size_t count = due > MOST_PER_TICK ? MOST_PER_TICK : (size_t)due;
        due -= (double)count;
        if (count)
            let_arrive(conn, producer, &random, events, count);
    }
    for (size_t i = 0; i < MOST_PER_TICK; i++)
        failed_event_release(&events[i]);
    free(events);
}

int
main(int argc, char **argv)
{
    const char *conninfo = "", *brokers = NULL;
    double rate = 1;
    uint64_t seed = (uint64_t)clock_now();
    int option;
    while ((option = getopt(argc, argv, "d:r:b:s:")) != -1) {
        switch (option) {
        case 'd':
            conninfo = optarg;
            break;
        case 'r':
            rate = strtod(optarg, NULL);
            break;
        case 'b':
            brokers = optarg;
            break;
        case 's':
            seed = strtoull(optarg, NULL, 10);
            break;
        default:
            fprintf(stderr, "usage: arrive -d CONNINFO [-r PER_SECOND] [-b BROKERS] [-s SEED]\n");
            return 2;
        }
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    PGconn *conn = demo_connect(conninfo);
    rd_kafka_t *producer = brokers ? demo_producer(brokers, DEMO_PATIENCE) : NULL;
    run(conn, producer, rate, seed);
    if (producer)
        rd_kafka_destroy(producer);
    PQfinish(conn);
    return 0;
}
