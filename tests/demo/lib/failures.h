// failures: what goes wrong in a believable shop, as rows for the table of dead letters.
//
// failures.def says what fails; here an event of one of these kinds gets its own ids, amounts, hosts and
// times. The same seed gives the same event on every machine.
#ifndef REDRIVE_TESTS_DEMO_FAILURES_H
#define REDRIVE_TESTS_DEMO_FAILURES_H

#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"

// How the consumers of a topic write what failed: as rows, or to a topic in one of these forms.
enum demo_form { DEMO_ROWS, DEMO_SPRING, DEMO_CONNECT, DEMO_HEADERS, DEMO_QUEUE };

struct demo_topic {
    const char *name;
    int partitions;
    enum demo_form form;
    const char *letters; // the topic for dead letters; NULL with DEMO_ROWS
};
extern const struct demo_topic demo_topics[];
extern const size_t demo_topic_count;

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t n);
double random_unit(struct random *random); // [0, 1)

// Which kind fails next, by weight.
size_t failure_choose(struct random *random);
// Whether new ones still come: the others were an outage that is over, or belong to the night.
bool failure_goes_on(size_t kind);
// How long before now an event of this kind may have failed, in microseconds. now: wall time, for what
// happens at night.
int64_t failure_age(struct random *random, size_t kind, int64_t now);

enum demo_status { DEMO_PENDING, DEMO_RESOLVED, DEMO_DISCARDED };

// The kinds of placed orders, which are not chosen by weight: the index-th (from 0), how many events of it
// the demo has, and whether people have closed them. Those were as they should be; the payloads of the others
// are wrong themselves. false: behind the last.
bool failure_placed(size_t index, size_t *kind, size_t *count, enum demo_status *status);

struct failed_event {
    char event_id[51];
    char correlation[37];
    char source_id[51];
    const char *type, *table, *topic;
    struct strbuf payload, error, stack;
    int retries;
    int64_t created; // wall time of the table, µs
    enum demo_status status;
    int64_t resolved;
    const char *resolved_by;
    int partition;
    int64_t offset; // -1: not known
};
// Fills event; its buffers are used again from call to call.
void failure_make(struct failed_event *event, size_t kind, uint64_t seed, int64_t created);
void failed_event_release(struct failed_event *event);

// Rows by COPY: begin, one line each, end. On failure the reason is on stderr and the program ends.
void rows_begin(PGconn *conn);
void rows_add(PGconn *conn, const struct failed_event *event);
void rows_end(PGconn *conn);

// A producer, or a sentence on stderr and the end. After `patience` (ms) it gives up what Kafka did not take:
// a topic that is made first takes seconds where the machine is busy.
enum { DEMO_PATIENCE = 3000 }; // of what goes on while the screen is open
rd_kafka_t *demo_producer(const char *brokers, int patience);
// The original record of an event, which gets its partition and offset when it is delivered (rd_kafka_flush),
// and lives until then. A partition of RD_KAFKA_PARTITION_UA is chosen by the key.
void demo_produce(rd_kafka_t *producer, struct failed_event *event);

// A connection, or a sentence on stderr and the end.
PGconn *demo_connect(const char *conninfo);
PGresult *demo_run(PGconn *conn, const char *sql);
// The wall time that the table's times are written in, µs.
int64_t demo_now(PGconn *conn);

#endif
