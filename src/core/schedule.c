#include "core/schedule.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/text.h"

enum { MINUTES_A_DAY = 24 * 60, DAYS_AHEAD = 8 * 366 };
static const int64_t MINUTE = 60 * US_PER_SECOND;
static const int64_t DAY = MINUTES_A_DAY * 60 * US_PER_SECOND;

// --- fields ---

// A number of at most three digits; moves *text behind it.
static bool
schedule_number(const char **text, int *n)
{
    int digits = 0;
    for (*n = 0; **text >= '0' && **text <= '9' && digits < 3; digits++)
        *n = *n * 10 + (*(*text)++ - '0');
    return digits > 0;
}

// One of the items between commas: "*", "5", "1-5", each with "/STEP".
static bool
schedule_item(const char **text, int low, int high, uint64_t *set)
{
    int from = low, to = high, step = 1;
    bool is_one = false;
    if (**text == '*')
        (*text)++;
    else {
        if (!schedule_number(text, &from))
            return false;
        is_one = **text != '-';
        to = from;
        if (!is_one && ((*text)++, !schedule_number(text, &to)))
            return false;
    }
    if (**text == '/') {
        (*text)++;
        if (!schedule_number(text, &step) || step == 0)
            return false;
        to = is_one ? high : to;
    }
    for (int n = from; n <= to; n += step)
        *set |= UINT64_C(1) << (n & 63);
    return from >= low && to <= high && from <= to;
}

static bool
schedule_field(const char **text, int low, int high, uint64_t *set, bool *is_any)
{
    *is_any = **text == '*' && ((*text)[1] == ' ' || (*text)[1] == '\0');
    for (;;) {
        if (!schedule_item(text, low, high, set))
            return false;
        if (**text != ',')
            break;
        (*text)++;
    }
    if (**text != ' ' && **text != '\0')
        return false;
    *text += strspn(*text, " ");
    return true;
}

static bool
schedule_fields(const char *text, struct policy_schedule *schedule)
{
    static const struct {
        int low, high;
    } fields[] = {{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}};
    uint64_t sets[5] = {0};
    bool is_any[5];
    for (size_t i = 0; i < 5; i++)
        if (!schedule_field(&text, fields[i].low, fields[i].high, &sets[i], &is_any[i]))
            return false;
    *schedule = (struct policy_schedule){.minutes = sets[0],
                                         .hours = (uint32_t)sets[1],
                                         .days = (uint32_t)sets[2],
                                         .months = (uint32_t)sets[3],
                                         .weekdays = (uint32_t)(sets[4] | sets[4] >> 7),
                                         .any_day = is_any[2],
                                         .any_weekday = is_any[4]};
    return *text == '\0';
}

static bool
schedule_every(const char *text, struct policy_schedule *schedule)
{
    *schedule = (struct policy_schedule){0};
    return text_parse_duration(bytes_of(text), &schedule->every, NULL) && schedule->every >= US_PER_SECOND;
}

bool
schedule_parse(struct bytes text, struct policy_schedule *schedule, struct err *err)
{
    static const char every[] = "every ";
    char copy[100];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(text.len < sizeof copy ? text.len : sizeof copy - 1),
                   text.len ? text.data : "");
    bool is_every = strncmp(copy, every, sizeof every - 1) == 0;
    bool ok = text.len < sizeof copy && (is_every ? schedule_every(copy + sizeof every - 1, schedule)
                                                  : schedule_fields(copy, schedule));
    if (!ok)
        return err_set(
            err, ERR_USAGE,
            "\"%s\" is no schedule; write \"every 10m\", or minute, hour, day, month and weekday as "
            "cron takes them: \"0 2 * * *\"",
            copy);
    return schedule_next(schedule, &(struct day_window){0}, 0, 0) != TIME_ABSENT ||
           err_set(err, ERR_USAGE, "\"%s\" is never due: no month has that day", copy);
}

// --- windows ---

static bool
window_time(const char **text, int *minutes)
{
    int hour, minute;
    if (!schedule_number(text, &hour) || *(*text)++ != ':' || !schedule_number(text, &minute))
        return false;
    *minutes = hour * 60 + minute;
    return minute < 60 && *minutes <= MINUTES_A_DAY;
}

bool
day_window_parse(struct bytes text, struct day_window *window, struct err *err)
{
    char copy[40];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(text.len < sizeof copy ? text.len : sizeof copy - 1),
                   text.len ? text.data : "");
    const char *at = copy;
    if (text.len < sizeof copy && window_time(&at, &window->from) && *at++ == '-' &&
        window_time(&at, &window->to) && *at == '\0' && window->from != window->to)
        return true;
    return err_set(err, ERR_USAGE, "\"%s\" is no part of a day; write it as 22:00-06:00", copy);
}

// µs since the beginning of the day.
static int64_t
of_day(int64_t wall)
{
    int64_t rest = wall % DAY;
    return rest < 0 ? rest + DAY : rest;
}

bool
day_window_has(const struct day_window *window, int64_t instant, int64_t zone_us)
{
    int minute = (int)(of_day(instant + zone_us) / MINUTE);
    if (window->from == window->to)
        return true;
    if (window->from < window->to)
        return minute >= window->from && minute < window->to;
    return minute >= window->from || minute < window->to;
}

// --- next ---

static bool
schedule_has_day(const struct policy_schedule *schedule, int64_t midnight)
{
    time_t seconds = (time_t)(midnight / US_PER_SECOND);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    if (!(schedule->months >> (tm.tm_mon + 1) & 1))
        return false;
    bool has_day = schedule->days >> tm.tm_mday & 1, has_weekday = schedule->weekdays >> tm.tm_wday & 1;
    if (schedule->any_day || schedule->any_weekday)
        return has_day && has_weekday;
    return has_day || has_weekday;
}

// The first minute of that day from `from` on that is due and in the window; -1: none.
static int
schedule_minute(const struct policy_schedule *schedule, const struct day_window *window, int from)
{
    for (int minute = from; minute < MINUTES_A_DAY; minute++)
        if ((schedule->hours >> (minute / 60) & 1) && (schedule->minutes >> (minute % 60) & 1) &&
            day_window_has(window, minute * MINUTE, 0))
            return minute;
    return -1;
}

static int64_t
next_by_fields(const struct policy_schedule *schedule, const struct day_window *window, int64_t wall)
{
    int from = (int)(of_day(wall) / MINUTE) + 1;
    int64_t midnight = wall - of_day(wall);
    for (int day = 0; day <= DAYS_AHEAD; day++, midnight += DAY, from = 0) {
        int minute = schedule_has_day(schedule, midnight) ? schedule_minute(schedule, window, from) : -1;
        if (minute >= 0)
            return midnight + minute * MINUTE;
    }
    return TIME_ABSENT;
}

int64_t
schedule_next(const struct policy_schedule *schedule, const struct day_window *window, int64_t after,
              int64_t zone_us)
{
    if (!schedule->every) {
        int64_t wall = next_by_fields(schedule, window, after + zone_us);
        return wall == TIME_ABSENT ? wall : wall - zone_us;
    }
    int64_t next = after + schedule->every;
    if (day_window_has(window, next, zone_us))
        return next;
    int64_t wall = next + zone_us, begins = wall - of_day(wall) + window->from * MINUTE;
    return (begins >= wall ? begins : begins + DAY) - zone_us;
}
