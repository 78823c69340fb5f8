#include "base/clock.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
static int64_t
days_from_civil(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static bool
number(const char **at, const char *end, int digits, int *n)
{
    if (end - *at < digits)
        return false;
    *n = 0;
    for (int i = 0; i < digits; i++) {
        char c = (*at)[i];
        if (c < '0' || c > '9')
            return false;
        *n = *n * 10 + (c - '0');
    }
    *at += digits;
    return true;
}

static bool
literal(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    (*at)++;
    return true;
}

static bool
parse_date(const char **at, const char *end, int64_t *us)
{
    static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!number(at, end, 4, &year) || !literal(at, end, '-') || !number(at, end, 2, &month) ||
        !literal(at, end, '-') || !number(at, end, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > month_days[month - 1])
        return false;
    *us = days_from_civil(year, month, day) * 86400 * US_PER_SECOND;
    return true;
}

static bool
parse_time(const char **at, const char *end, int64_t *us)
{
    int hour, minute, second = 0;
    if (!number(at, end, 2, &hour) || !literal(at, end, ':') || !number(at, end, 2, &minute))
        return false;
    int64_t fraction = 0;
    if (literal(at, end, ':')) {
        if (!number(at, end, 2, &second))
            return false;
        if (literal(at, end, '.')) {
            int64_t scale = US_PER_SECOND;
            const char *from = *at;
            while (*at < end && **at >= '0' && **at <= '9') {
                if (scale > 1) {
                    scale /= 10;
                    fraction += (**at - '0') * scale;
                }
                (*at)++;
            }
            if (*at == from)
                return false;
        }
    }
    if (hour > 23 || minute > 59 || second > 60)
        return false;
    *us = (int64_t)(hour * 3600 + minute * 60 + second) * US_PER_SECOND + fraction;
    return true;
}

bool
time_parse_wall(struct bytes text, int64_t *wall, bool *is_date, struct err *err)
{
    const char *at = text.data;
    const char *end = text.data ? text.data + text.len : at;
    int64_t date = 0;
    int64_t time_us = 0;
    bool ok = at && parse_date(&at, end, &date);
    bool date_only = ok && at == end;
    if (ok && !date_only)
        ok =
            (literal(&at, end, 'T') || literal(&at, end, ' ')) && parse_time(&at, end, &time_us) && at == end;
    if (!ok)
        return err_set(err, ERR_USAGE, "\"%.*s\" is not a time; write 2026-11-20 or 2026-11-20T12:00",
                       BYTES_ARGS(text));
    *wall = date + time_us;
    *is_date = date_only;
    return true;
}

// REDRIVE_NOW as an instant, or TIME_ABSENT. Read once: tests set it before the program starts. Threads that
// ask at the same time may all read it, and find the same.
static int64_t
frozen_now(void)
{
    enum { NOT_READ = 0 };
    static _Atomic int64_t frozen = NOT_READ;
    int64_t known = atomic_load(&frozen);
    if (known != NOT_READ)
        return known;

    int64_t read = TIME_ABSENT;
    const char *text = getenv("REDRIVE_NOW");
    if (text) {
        struct bytes b = bytes_of(text);
        if (bytes_ends(b, "Z"))
            b.len--;
        bool is_date;
        if (!time_parse_wall(b, &read, &is_date, NULL))
            read = TIME_ABSENT;
    }
    atomic_store(&frozen, read);
    return read;
}

static int64_t
read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

int64_t
clock_now(void)
{
    int64_t frozen = frozen_now();
    return frozen != TIME_ABSENT ? frozen : read_clock(CLOCK_REALTIME);
}

// Of this thread's monotonic clock: where it stands still (0: it runs), and how much it is ahead.
static _Thread_local int64_t held_at, skipped;

int64_t
clock_mono(void)
{
    return (held_at ? held_at : read_clock(CLOCK_MONOTONIC)) + skipped;
}

void
clock_hold(void)
{
    held_at = read_clock(CLOCK_MONOTONIC);
}

void
clock_skip(int64_t us)
{
    skipped += us;
}

void
clock_sleep(int64_t us)
{
    if (us <= 0)
        return;
    struct timespec wait = {.tv_sec = us / US_PER_SECOND, .tv_nsec = us % US_PER_SECOND * 1000};
    nanosleep(&wait, NULL);
}

static int64_t
floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

const char *
time_rfc3339(int64_t instant, int64_t offset_us, char out[TIME_TEXT])
{
    int64_t wall = instant + offset_us;
    time_t seconds = (time_t)floor_div(wall, US_PER_SECOND);
    int64_t fraction = wall - (int64_t)seconds * US_PER_SECOND;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t at = strftime(out, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
    if (fraction)
        at += (size_t)snprintf(out + at, TIME_TEXT - at, ".%06" PRId64, fraction);
    int64_t minutes = offset_us / (60 * US_PER_SECOND);
    if (minutes == 0)
        snprintf(out + at, TIME_TEXT - at, "Z");
    else
        snprintf(out + at, TIME_TEXT - at, "%c%02" PRId64 ":%02" PRId64, minutes < 0 ? '-' : '+',
                 (minutes < 0 ? -minutes : minutes) / 60, (minutes < 0 ? -minutes : minutes) % 60);
    return out;
}

static struct tm
local(int64_t instant)
{
    time_t seconds = (time_t)floor_div(instant, US_PER_SECOND);
    struct tm tm;
    localtime_r(&seconds, &tm);
    return tm;
}

const char *
time_of_day(int64_t instant, char out[TIME_TEXT])
{
    struct tm tm = local(instant);
    strftime(out, TIME_TEXT, "%H:%M:%S", &tm);
    return out;
}

const char *
time_zone(int64_t instant, char out[TIME_TEXT])
{
    struct tm tm = local(instant);
    strftime(out, TIME_TEXT, "%Z", &tm);
    return out;
}

const char *
time_local(int64_t instant, char out[TIME_TEXT])
{
    struct tm tm = local(instant);
    strftime(out, TIME_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
    return out;
}

const char *
time_brief(int64_t instant, int64_t now, char out[TIME_TEXT])
{
    struct tm at = local(instant), today = local(now);
    bool is_today = at.tm_year == today.tm_year && at.tm_yday == today.tm_yday;
    return is_today ? time_of_day(instant, out) : time_local(instant, out);
}

int64_t
time_wall(int64_t instant)
{
    struct tm tm = local(instant);
    return (int64_t)timegm(&tm) * US_PER_SECOND +
           (instant - floor_div(instant, US_PER_SECOND) * US_PER_SECOND);
}

int64_t
time_instant(int64_t wall)
{
    time_t seconds = (time_t)floor_div(wall, US_PER_SECOND);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    tm.tm_isdst = -1;
    int64_t instant = (int64_t)mktime(&tm) * US_PER_SECOND + (wall - (int64_t)seconds * US_PER_SECOND);
    return time_wall(instant) == wall ? instant : TIME_ABSENT;
}
