// records: the original records of events, kept beside the contract table byte for byte.
#ifndef REDRIVE_STORE_EVENTS_RECORDS_H
#define REDRIVE_STORE_EVENTS_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/event.h"
#include "store/store.h"

// A record as it was read again in Kafka.
struct found_record {
    int64_t id;              // of the event
    int64_t timestamp;       // instant; TIME_ABSENT
    struct bytes key, value; // absent is a null
    const struct event_header *headers;
    uint32_t header_count;
};
// Keeps those that are their event's own (the same JSON value as its row) and that are not kept yet. For
// workers.
bool records_keep(struct store *store, const struct found_record *records, size_t count,
                  struct err *err) MUST_CHECK;

// Is the original record of any event kept?
bool records_exist(struct store *store, bool *exist, struct err *err) MUST_CHECK;

// Ids of events whose dead letter was taken in, ascending; with `queue` of those that were in this dead
// letter queue, and of those whose row names it. The caller frees them.
bool letter_ids(struct store *store, const char *queue, int64_t **ids, size_t *count,
                struct err *err) MUST_CHECK;

// The formats, consumer groups and dead letter queues of the dead letters that were taken in last, by the
// filter's names of fields, most frequent first.
bool letter_values(struct store *store,
                   void (*each)(void *context, const char *field, struct bytes value, int64_t count),
                   void *context, struct err *err) MUST_CHECK;

// What has become of an original record that somebody asked for.
struct record_answer {
    bool is_kept;    // it is here: the event has it with EVENT_RAW
    bool has_worker; // one that can read Kafka is there now
    const char *why; // a worker just tried, and could not have it: in words; NULL: not tried yet
};
// Asks the workers to read the original record of an event and keep it, since the screen has no Kafka.
// Whoever waits calls it again, every second or so: a request ends a minute after it was asked for last.
bool record_want(struct store *store, int64_t id, struct arena *arena, struct record_answer *answer,
                 struct err *err) MUST_CHECK;
// For workers: takes up to `room` of these requests. Another worker takes what is not answered within 10 s.
bool records_wanted(struct store *store, int64_t *ids, size_t room, size_t *count,
                    struct err *err) MUST_CHECK;
// Ends them. whys[i] is "" where the record is kept, else why it is not.
bool records_answer(struct store *store, const int64_t *ids, const char *const *whys, size_t count,
                    struct err *err) MUST_CHECK;

#endif
