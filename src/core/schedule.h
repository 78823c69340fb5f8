// schedule: when something that repeats is due next: "every 10m", or the five fields of cron. Pure.
//
// Minute, hour, day of the month, month, day of the week (0 and 7: Sunday); each "*", numbers, ranges and
// steps: "0 2 * * *", "*/15 8-18 * * 1-5". Where both kinds of days are narrowed, either suffices, as in
// cron. Times of the day are those of a zone that the caller names by its offset.
#ifndef REDRIVE_CORE_SCHEDULE_H
#define REDRIVE_CORE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

struct policy_schedule {
    int64_t every; // µs; 0: by the fields
    uint64_t minutes;
    uint32_t hours, days, months, weekdays; // sets of 1 << number
    bool any_day, any_weekday;              // "*"
};

// A part of every day, perhaps over midnight; from == to: all of it.
struct day_window {
    int from, to; // minutes since midnight; to is not in it
};

// A schedule that is never due (30 February) is refused.
bool schedule_parse(struct bytes text, struct policy_schedule *schedule, struct err *err) MUST_CHECK;
// "22:00-06:00".
bool day_window_parse(struct bytes text, struct day_window *window, struct err *err) MUST_CHECK;
// Is an instant in the window? zone_us: wall minus UTC.
bool day_window_has(const struct day_window *window, int64_t instant, int64_t zone_us);

// The first instant after `after` that is due and in the window; TIME_ABSENT: none within eight years. For
// "every": `after` and that long, or else the next beginning of the window.
int64_t schedule_next(const struct policy_schedule *schedule, const struct day_window *window, int64_t after,
                      int64_t zone_us);

#endif
