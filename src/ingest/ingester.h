// ingester: `redrive ingest`: reads dead letter topics and writes what they hold into PostgreSQL, each record
// once, whatever dies when.
//
// Several may run, anywhere: they share the partitions (store/ingest/ingest.h). One that has more than one
// partition writes over two connections. It holds no state that matters. Where PostgreSQL is away nothing is
// read, so nothing piles up: the partitions are given up, and read again from their positions when it is
// back.
#ifndef REDRIVE_INGEST_INGESTER_H
#define REDRIVE_INGEST_INGESTER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "broker/settings.h"
#include "broker/tail.h"
#include "core/topic_rules.h"
#include "ingest/pointers.h"
#include "ingest/schemas.h"
#include "store/store.h"

enum ingest_mode {
    INGEST_SERVICE, // until stopped
    INGEST_ONCE,    // to where each partition ended when it was begun
    INGEST_DRY,     // the same, and nothing is written: only counted
};

struct ingest_settings {
    struct store_settings store; // all borrowed until ingester_run returns
    struct broker_settings broker;
    const char *const *topics;
    size_t topic_count;
    tail_wanted_fn *wanted; // further topics; NULL: none
    void *wanted_context;
    const struct topic_rules *rules;     // NULL: none
    const struct schema_source *schemas; // NULL: those that are kept already
    const char *group;                   // to which positions are written for others to look at; NULL: none
    enum ingest_mode mode;
    const volatile sig_atomic_t *stop; // set: end after the transaction in flight; NULL: never
};

// Letters of one format in one topic.
struct ingest_count {
    const char *topic, *format;
    int64_t letters;
};
struct ingest_report {
    int64_t events;   // new rows
    int64_t attempts; // further dead letters of an event that has its row
    int64_t unfit;    // that the contract table refuses; kept aside (src/store/sql/unfit.sql)
    int64_t alarms;   // holes, and topics made anew
    int32_t topics, partitions;
    int32_t left;                     // partitions that another ingester reads
    struct pointers_report originals; // INGEST_ONCE: of those that the last pass was to read
    struct ingest_count *counts;      // INGEST_DRY; in the arena
    size_t count_count;
};

// True: it ended in order. Otherwise ERR_UNREACHABLE (not as a service: PostgreSQL or Kafka did not answer
// for 25 s), ERR_DENIED, ERR_USAGE, ERR_NOT_FOUND (not as a service: no such topic), ERR_DATA (likewise: a
// record that PostgreSQL does not take).
bool ingester_run(const struct ingest_settings *settings, struct arena *arena, struct ingest_report *report,
                  struct err *err) MUST_CHECK;

#endif
