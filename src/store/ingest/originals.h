// originals: the records that dead letters without a copy point at, as redrive ingest reads them from Kafka
// (src/store/sql/originals.sql).
#ifndef REDRIVE_STORE_INGEST_ORIGINALS_H
#define REDRIVE_STORE_INGEST_ORIGINALS_H

#include "store/ingest/ingest.h"
#include "store/ingest/kept_record.h"

// Is there any of that cluster to be read now? "": of any cluster.
bool originals_due(struct store *store, const char *cluster, bool *are_due, struct err *err) MUST_CHECK;

// The dead letters of that cluster whose originals are to be read, `original` with topic, partition and
// offset of the place: at most `room` that were to be read by that instant (store_now), those that wait
// longest first.
bool originals_waiting(struct store *store, const char *cluster, int64_t due_by, struct arena *arena,
                       struct kept_record *records, size_t room, size_t *count, struct err *err) MUST_CHECK;

// How many of that cluster are still to be read.
bool originals_left(struct store *store, const char *cluster, int64_t *count, struct err *err) MUST_CHECK;

// What became of one. The letter is the dead letter as it is read then.
struct original_answer {
    int64_t id;
    struct kept_original original; // FETCHED; GONE; WAITING: it could not be read now, `why` says why
    uint32_t crc;                  // of the original, with FETCHED: letter_crc (src/ingest/letter.h)
};
// All of it, or nothing. Those that another ingester was faster with are left as they are.
bool originals_take(struct store *store, const struct ingester *ingester,
                    const struct original_answer *answers, const struct ingest_letter *letters, size_t count,
                    struct err *err) MUST_CHECK;

#endif
