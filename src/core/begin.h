// begin: when an operation begins, where that is later: a time of day, a date with a time, or a delay. Times
// are those of the process's time zone.
#ifndef REDRIVE_CORE_BEGIN_H
#define REDRIVE_CORE_BEGIN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct begin {
    int64_t at;    // instant; 0: none
    int64_t after; // µs after it was confirmed, by PostgreSQL's clock; 0: none
};                 // both 0: at once

// "02:00", "2:00", "02:00:30": the next such time after `now`; "2026-11-24T02:00", with a space as well: that
// one, which must not be past. A mistake has its column and, where one can be guessed, what was meant.
bool begin_parse_at(struct bytes text, int64_t now, struct begin *begin, struct err *err) MUST_CHECK;
// "30m", "90s", "2h": at most a year.
bool begin_parse_after(struct bytes text, struct begin *begin, struct err *err) MUST_CHECK;
// One of these, or "now".
bool begin_parse(struct bytes text, int64_t now, struct begin *begin, struct err *err) MUST_CHECK;

#define BEGIN_TEXT 128
// "at 02:00" within a day of `now`, else "2026-11-26 02:00"; with seconds where they are not 0.
const char *begin_brief(int64_t at, int64_t now, char out[BEGIN_TEXT]);
// "at 02:00 on Tue 2026-11-24 CET".
const char *begin_words(int64_t at, char out[BEGIN_TEXT]);

#endif
