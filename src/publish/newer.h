// newer: would a reprocess of these events turn time back (core/newer.h)? Reads the partitions that they came
// from, in steps. The worker asks for screens, a command that has Kafka for itself.
#ifndef REDRIVE_PUBLISH_NEWER_H
#define REDRIVE_PUBLISH_NEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "broker/settings.h"
#include "core/newer.h"
#include "publish/plan.h"
#include "store/store.h"

#define NEWER_RECORDS 5000000           // read at most
#define NEWER_TIME (60 * US_PER_SECOND) // for at most so long
enum { NEWER_EVENTS = 200000 };         // of more events, the first ones

struct newer_question {
    struct store *store; // for the events; asked in pages
    const struct broker_settings *broker;
    const struct plan_settings *plan;
    const int64_t *ids; // ascending; borrowed until the end
    size_t count;
    int64_t most_records; // 0: NEWER_RECORDS
    int64_t most_time;    // µs; 0: NEWER_TIME
};

struct newer_search;

struct newer_search *newer_begin(const struct newer_question *question);
// Takes at most about wait_ms, unless PostgreSQL or Kafka is slow. *is_over: the result is final. False: an
// event could not be read.
bool newer_step(struct newer_search *search, int wait_ms, bool *is_over, struct err *err) MUST_CHECK;
// What is known so far; everything is in the arena. The counts of events only at the end.
void newer_result(const struct newer_search *search, struct arena *arena, struct newer *newer);
void newer_end(struct newer_search *search); // NULL is fine

#endif
