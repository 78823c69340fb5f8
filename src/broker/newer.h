// broker_newer: reads partitions from the places of events on, for newer records of the same key
// (core/newer.h). In steps, so that a worker does other things between them; all partitions at once.
#ifndef REDRIVE_BROKER_NEWER_H
#define REDRIVE_BROKER_NEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "broker/settings.h"
#include "core/newer.h"

// The record of an event.
struct newer_place {
    const char *topic;
    int32_t partition;
    int64_t offset;
    struct bytes key;   // used where the record itself is no longer there; absent: none is known
    int64_t created_at; // instant: a record that is more than a day younger is not the event's

    // Filled by broker_newer_end:
    enum untold untold; // UNTOLD_NOT: told by
    bool is_stale;      // newer records are there; with
    int64_t newest_at;  // instant of the newest one; TIME_ABSENT
    bool is_deleted;    // which is a tombstone
    bool is_resent;     // not stale, but redrive sent records with its key since
    uint32_t key_no;    // places with the same number have the same key in the same partition; 0: none
    struct bytes found; // the key; lives until broker_newer_destroy
};

struct newer_reading;

// places are borrowed until the end. Reads read_committed, by a connection of its own.
struct newer_reading *broker_newer_begin(const struct broker_settings *settings, struct newer_place *places,
                                         size_t count, struct err *err) MUST_CHECK;
// Waits at most wait_ms for records, and takes what is there. False: every partition was read to the end that
// it had at the beginning, or cannot be read.
bool broker_newer_step(struct newer_reading *reading, int wait_ms);
// So far.
int64_t broker_newer_records(const struct newer_reading *reading, int64_t *of);
// Fills the places, whatever was read. Once.
void broker_newer_end(struct newer_reading *reading);
// Why Kafka could not be read; NULL: it could.
const char *broker_newer_trouble(const struct newer_reading *reading);
void broker_newer_destroy(struct newer_reading *reading);

#endif
