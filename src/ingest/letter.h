// letter: from a record of a dead letter topic to the row that it gets. Pure.
//
// A record that only points at its original is read with that original where it was fetched: payload, type,
// source and correlation are the original's.
//
// Nothing is refused: a record that no format knows is "unknown", texts that are no UTF-8 get U+FFFD in the
// row (never in the record), and a value that is not JSON is what its schema makes of it, else an object
// {"not_json": why, "bytes": n} in event_payload. Which event it is: what the topic's rule says, else its
// format, else the place of the original, else its own place. A key by the rule is one of its original topic.
#ifndef REDRIVE_INGEST_LETTER_H
#define REDRIVE_INGEST_LETTER_H

#include "base/arena.h"
#include "core/envelope/envelope.h"
#include "core/schema/schema.h"
#include "core/topic_rules.h"
#include "store/ingest/ingest.h"
#include "store/ingest/kept_record.h"

// The schema of that name (core/envelope/schema_id.h); NULL: it is not known now.
typedef const struct schema *letter_schema_fn(void *context, const char *name);

// Where a record is beside what struct envelope_record says, and what a person said of its topic.
struct letter_place {
    const char *cluster;
    const char *topic; // the record's, as text
    int32_t generation;
    const struct topic_rule *rule; // NULL: nothing
    const struct kept_original
        *original;                 // what the record points at, as far as that is known; NULL: not asked
    letter_schema_fn *find_schema; // NULL: none is known
    void *find_context;
};

// The letter's bytes are views of the record, or live in the arena.
void letter_read(const struct envelope_record *record, const struct letter_place *place, struct arena *arena,
                 struct ingest_letter *letter);

// For a letter that was read into an arena of the moment: what is no view of the record is copied into this
// one. Most of what reading takes is not.
void letter_keep(struct ingest_letter *letter, const struct envelope_record *record, struct arena *arena);

// The record's headers as they are kept: names as UTF-8 without NUL, which a text column takes.
const struct event_header *letter_headers(const struct envelope_record *record, struct arena *arena);

// CRC32C of a record: its timestamp in milliseconds as 8 bytes, then key, value, and name and value of each
// header, each as its length in 4 bytes (-1 is a null) and its bytes; numbers are big-endian. With the
// timestamp, since a topic that is made anew may get the same record at the same offset.
uint32_t letter_crc(const struct envelope_record *record);

#endif
