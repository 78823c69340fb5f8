// trend: a stretch of time, cut into points of equal length: events that arrived, that left, and how many
// were pending. Pure.
#ifndef REDRIVE_CORE_TREND_H
#define REDRIVE_CORE_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

enum trend_span { TREND_15_MINUTES, TREND_6_HOURS, TREND_24_HOURS, TREND_7_DAYS, TREND_SPANS };
// µs; a point is 1 minute, 6 minutes, 15 minutes, 1 hour long.
int64_t trend_span_length(enum trend_span span);
int64_t trend_span_point(enum trend_span span);
const char *trend_span_name(enum trend_span span); // "15 min"
// "15m", "6h", "24h", "7d", or another duration of that length.
bool trend_span_parse(struct bytes text, enum trend_span *span, struct err *err) MUST_CHECK;

struct trend_point {
    int64_t at;      // its beginning, an instant
    int64_t arrived; // created within it
    int64_t resolved, discarded, reprocessed, gone;
    int64_t restored;
    int64_t pending; // at its end; below 0: nobody looked, a gap
};
int64_t trend_came(const struct trend_point *point); // all that became pending
int64_t trend_left(const struct trend_point *point); // all that left, whatever the outcome

struct trend_mark {
    int64_t at;
    int64_t operation; // its number; 0: somebody set the mark
    const char *text;  // of people, or "reprocess 12,000"
};

struct trend {
    enum trend_span span;
    struct trend_point *points; // oldest first, without holes: one that was not written has pending below 0
    size_t count;
    struct trend_mark *marks; // oldest first
    size_t mark_count;
    int64_t as_of; // the instant of the last point, or within it
};
int64_t trend_first(const struct trend *trend); // where the first of `count` points begins
// Puts points that were read, ascending and with holes, in their places among `count` points of which the
// last one holds as_of. Those outside are left out.
void trend_lay(struct trend *trend, const struct trend_point *read, size_t read_count);
// Folds neighbours, from the newest on, until at most `most` (not 0) points are left: what moved adds up, the
// last known number of pending events stays. folded has room for trend->count. Returns how many are left,
// *length: of each, in µs.
size_t trend_fold(const struct trend *trend, size_t most, struct trend_point *folded, int64_t *length);
// The last mark in [from, to), rather somebody's than an operation's; or NULL.
const struct trend_mark *trend_mark_in(const struct trend *trend, int64_t from, int64_t to);

#endif
