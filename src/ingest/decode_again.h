// decode_again: `redrive ingest --decode-again`: pending events that came from a topic of dead letters get
// what their records are by the settings of now, read as letters are that come (letter.h). Asks no Kafka.
//
// With an event's record its further dead letters are read, of whatever topic they are; and of other events
// those that are of this topic.
//
// A page is a transaction. Where it ends early, a further run does the rest: what is done is unchanged then.
#ifndef REDRIVE_INGEST_DECODE_AGAIN_H
#define REDRIVE_INGEST_DECODE_AGAIN_H

#include <signal.h>
#include "core/topic_rules.h"
#include "store/ingest/decode_again.h"

struct decode_again {
    const char *topic;
    const struct topic_rules *rules;   // NULL: none
    bool is_dry;                       // only counted; each page for itself
    const volatile sig_atomic_t *stop; // set: end after the page in flight; NULL: never
};
// ERR_NOT_FOUND: nothing was ever read of such a topic. The counts are also set where it fails, of the pages
// that were written.
bool decode_again_run(struct store *store, const struct decode_again *again,
                      struct decode_again_counts *counts, struct err *err) MUST_CHECK;

#endif
