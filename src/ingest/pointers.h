// pointers: reads the originals of dead letters that only point at them, as share groups write them, and puts
// what they say into their events (src/store/sql/originals.sql).
//
// It runs beside the ingester, with connections of its own: no dead letter waits for its original. A batch
// has ten seconds. An original that cannot be read now is asked for again later; one that Kafka has no more,
// or whose place has a younger record than the dead letter, is gone, and its event says so. A batch is one
// transaction, so whoever dies in it leaves its originals to the next pass, which reads the same bytes.
#ifndef REDRIVE_INGEST_POINTERS_H
#define REDRIVE_INGEST_POINTERS_H

#include "broker/settings.h"
#include "core/topic_rules.h"
#include "store/store.h"

// What one pass made of them.
struct pointers_report {
    int64_t fetched, gone;
    int64_t waiting; // still to be read
};

struct pointers_settings {
    const struct broker_settings *broker; // borrowed
    const struct topic_rules *rules;      // NULL: none
    bool (*is_wanted)(
        void *wanted); // asked often; false ends it early, which is no failure. NULL: to the end
    void *wanted;
    int64_t most; // us that a pass may take, and ten seconds more; 0: until nothing is to be read now
};

// Each original that is to be read now once. Asks Kafka nothing where there is none.
// cluster: its id, which a pass learns where it is "" and one is to be read.
bool pointers_pass(struct store *store, const struct pointers_settings *settings, char cluster[64],
                   struct pointers_report *report, struct err *err) MUST_CHECK;

// The same on a thread of its own, every second, until it is stopped. Both settings are borrowed until then.
struct pointer_watch;
struct pointer_watch *pointer_watch_start(const struct store_settings *store,
                                          const struct broker_settings *broker,
                                          const struct topic_rules *rules);
void pointer_watch_stop(struct pointer_watch *watch); // NULL is fine

#endif
