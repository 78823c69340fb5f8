// clock: times are int64_t microseconds, instants since 1970-01-01 UTC. Deadlines use the monotonic clock.
//
// Decisions that matter (leases, resolved_at, audit) use PostgreSQL's clock, never this one.
#ifndef REDRIVE_BASE_CLOCK_H
#define REDRIVE_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

#define TIME_ABSENT INT64_MIN
#define US_PER_SECOND 1000000LL

int64_t
clock_now(void); // wall clock; REDRIVE_NOW (RFC 3339) in the environment stops it, for tests and screenshots
int64_t clock_mono(void); // monotonic, for durations and deadlines
// For tests, of clock_mono of the calling thread alone: it stands still from now on; it moves on by so much
// at once.
void clock_hold(void);
void clock_skip(int64_t us);
void clock_sleep(int64_t us);

#define TIME_TEXT 40
// "2026-11-21T14:02:11.123456+01:00"; fraction left out when zero. offset_us: wall minus UTC.
const char *time_rfc3339(int64_t instant, int64_t offset_us, char out[TIME_TEXT]);
// "14:02:11" in the process's time zone (TZ).
const char *time_of_day(int64_t instant, char out[TIME_TEXT]);
// The name of that zone at this instant: "UTC", "CET", "-03".
const char *time_zone(int64_t instant, char out[TIME_TEXT]);
// "2026-11-21 14:02:11" in the process's time zone.
const char *time_local(int64_t instant, char out[TIME_TEXT]);
// time_of_day for an instant on the local day of `now`, else time_local, since a reader takes a time without
// a date for one of today.
const char *time_brief(int64_t instant, int64_t now, char out[TIME_TEXT]);
// An instant as wall time in the process's time zone, in µs as if it were UTC; and back. A wall time that the
// clocks skip in spring has no instant: TIME_ABSENT. Of two in autumn the one that the C library prefers.
int64_t time_wall(int64_t instant);
int64_t time_instant(int64_t wall);
// Wall time without zone: 2026-11-20, 2026-11-20T12:00, 2026-11-20 12:00:30.5 → µs as if it were UTC.
// *is_date: no time given.
bool time_parse_wall(struct bytes text, int64_t *wall, bool *is_date, struct err *err) MUST_CHECK;

#endif
