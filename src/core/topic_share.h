// topic_share: how many of the messages that were written to a topic became dead letters. Pure.
//
// A topic is known where a worker asked Kafka often enough how much is written to it; what is said is about
// the minutes in which that is so (sql/written.sql).
#ifndef REDRIVE_CORE_TOPIC_SHARE_H
#define REDRIVE_CORE_TOPIC_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"

struct topic_share {
    const char *topic;
    int64_t written, arrived; // messages, and events that came from them
    int64_t covered;          // seconds about which this is; 0: its rate is not known
    const char *note;         // why Kafka does not tell how much is written now; NULL: it does
};

struct topic_shares {
    struct topic_share *topics; // those with most events first; those that are not known last
    size_t count;
    int64_t window;  // µs
    int64_t read_at; // when Kafka told something last; TIME_ABSENT: never
};

// In percent; below 0: not known, as where nothing was written.
double topic_share_percent(const struct topic_share *share);
// All known topics together.
struct topic_share topic_shares_sum(const struct topic_shares *shares);
size_t topic_shares_known(const struct topic_shares *shares);

// "0.41%", "12%", "<0.01%", or "not known".
void topic_share_add(const struct topic_share *share, struct strbuf *out);

#endif
