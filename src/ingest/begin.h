// begin: from where partitions are read, after a look at what Kafka has of them now: a hole, a topic that was
// made anew, records that a new leader does not have. Private to this folder.
//
// A partition whose broker does not answer stops no other one: it is read from where it was left once its
// broker is back.
#ifndef REDRIVE_INGEST_BEGIN_H
#define REDRIVE_INGEST_BEGIN_H

#include "ingest/private.h"

enum { BEGINNING_SILENT = 16 };

// One look at all partitions that are to be read.
struct beginning {
    const struct tail_topic *topics;
    size_t topic_count;
    int64_t short_until;              // clock_mono; so long a partition may be shorter than it was
    int32_t silent[BEGINNING_SILENT]; // brokers that did not answer
    size_t silent_count;
    size_t looked, away; // partitions
};

// Adds it to the parts of the reading. is_changed: where its last record was, there is another one. err is
// also set where true is returned and its broker did not answer (away).
bool begin_part(struct reading *reading, struct beginning *beginning, const struct ingest_position *claimed,
                bool is_changed, struct err *err) MUST_CHECK;

#endif
