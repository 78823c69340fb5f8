#include "core/begin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"

#define DAY_US (86400 * US_PER_SECOND)
#define BEGIN_FORMS "write 02:00 or 2026-11-24T02:00"

// --- reading ---

// A time as it is read; the first mistake ends it.
struct reading {
    struct bytes text;
    size_t at;
    struct err *err;
};

static bool
wrong(struct reading *reading, size_t at, const char *what, const char *suggestion)
{
    err_set(reading->err, ERR_USAGE, "column %zu: %s; %s%s%s", at + 1, what,
            *suggestion ? "did you mean " : BEGIN_FORMS, suggestion, *suggestion ? "?" : "");
    if (reading->err)
        reading->err->column = (int)at + 1;
    return false;
}

static bool
is_digit(const struct reading *reading, size_t at)
{
    return at < reading->text.len && reading->text.data[at] >= '0' && reading->text.data[at] <= '9';
}

static size_t
digits_from(const struct reading *reading, size_t at)
{
    size_t end = at;
    while (is_digit(reading, end))
        end++;
    return end - at;
}

// Two digits, or one where `least` is 1, of a number below `limit`.
static bool
read_part(struct reading *reading, size_t least, int limit, const char *range, int *part)
{
    size_t from = reading->at, count = digits_from(reading, from);
    if (count < least || count > 2)
        return wrong(reading, from + (count > 2 ? 2 : count),
                     count > 2 ? "two digits at most" : "expected a digit", "");
    *part = 0;
    for (; reading->at < from + count; reading->at++)
        *part = *part * 10 + (reading->text.data[reading->at] - '0');
    return *part < limit || wrong(reading, from, range, *part == 24 && limit == 24 ? "00:00" : "");
}

static bool
is_next(const struct reading *reading, char c)
{
    return reading->at < reading->text.len && reading->text.data[reading->at] == c;
}

// "02:00", "2:00:30" to the end of the text. *us: since midnight.
static bool
read_time(struct reading *reading, int64_t *us)
{
    int hour = 0, minute = 0, second = 0;
    if (!read_part(reading, 1, 24, "hours are 00 to 23", &hour))
        return false;
    if (!is_next(reading, ':'))
        return wrong(reading, reading->at, "expected : and the minutes", "");
    reading->at++;
    if (!read_part(reading, 2, 60, "minutes are 00 to 59", &minute))
        return false;
    if (is_next(reading, ':')) {
        reading->at++;
        if (!read_part(reading, 2, 60, "seconds are 00 to 59", &second))
            return false;
    }
    *us = (hour * 3600 + minute * 60 + second) * US_PER_SECOND;
    return reading->at == reading->text.len || wrong(reading, reading->at, "nothing follows the time", "");
}

// A number of one or two digits, which *at moves behind; -1: there is none.
static int
guess_number(const char **at)
{
    int number = -1;
    for (int i = 0; i < 2 && **at >= '0' && **at <= '9'; i++, (*at)++)
        number = (number < 0 ? 0 : number) * 10 + (**at - '0');
    return number;
}

// "2am", "2:30 pm", "0200": what else people write for a time of day. "": it is none of these.
static void
guess_time(struct bytes text, char suggestion[TEXT_SHORT])
{
    char plain[TEXT_SHORT];
    const char *at = plain;
    snprintf(plain, sizeof plain, "%.*s", BYTES_ARGS(text));
    *suggestion = '\0';
    int hour = guess_number(&at);
    bool is_bare = text.len == 4 && strspn(plain, "0123456789") == 4;
    bool has_minute = *at == ':' || is_bare;
    at += *at == ':';
    int minute = has_minute ? guess_number(&at) : 0;
    at += strspn(at, " ");
    bool is_pm = strcmp(at, "pm") == 0;
    if (!is_pm && strcmp(at, "am") != 0 && !is_bare)
        return;
    if (is_pm && hour < 12)
        hour += 12;
    if (!is_pm && *at != '\0' && hour == 12)
        hour = 0;
    if (hour >= 0 && hour < 24 && minute >= 0 && minute < 60)
        snprintf(suggestion, TEXT_SHORT, "%02d:%02d", hour, minute);
}

// A date before a T or a space, and the time of day behind it. *wall: as if it were UTC.
static bool
read_date_and_time(struct reading *reading, size_t end_of_date, int64_t *wall)
{
    int64_t us;
    bool is_date;
    struct bytes date = bytes_slice(reading->text, 0, end_of_date);
    if (!time_parse_wall(date, wall, &is_date, NULL) || !is_date)
        return wrong(reading, 0, "no such date", "");
    reading->at = end_of_date + 1;
    if (reading->at >= reading->text.len)
        return wrong(reading, end_of_date, "expected T and a time of day", "");
    if (!read_time(reading, &us))
        return false;
    *wall += us;
    return true;
}

static bool
set_at(struct bytes text, int64_t at, int64_t now, struct begin *begin, struct err *err)
{
    char time[TIME_TEXT], zone[TIME_TEXT];
    if (at == TIME_ABSENT)
        return err_set(err, ERR_USAGE, "%.*s does not exist: the clocks skip that hour; write another time",
                       BYTES_ARGS(text));
    if (at <= now)
        return err_set(err, ERR_USAGE, "%.*s is past: it is %s %s; leave the time out to begin now",
                       BYTES_ARGS(text), time_local(now, time), time_zone(now, zone));
    if (at - now > 366 * DAY_US)
        return err_set(err, ERR_USAGE, "%.*s is more than a year away", BYTES_ARGS(text));
    *begin = (struct begin){.at = at};
    return true;
}

// The next instant at which clocks show this time of day.
static int64_t
next_at(int64_t time_of_day, int64_t now)
{
    int64_t wall = time_wall(now);
    int64_t midnight = wall - wall % DAY_US;
    for (int day = 0;; day++) {
        int64_t at = time_instant(midnight + day * DAY_US + time_of_day);
        if (at != TIME_ABSENT && at > now)
            return at;
    }
}

// "30m"; a bare number is a delay only where one is asked for.
static bool
is_delay(struct bytes text)
{
    int64_t delay, number;
    return text_parse_duration(text, &delay, NULL) && !text_parse_int(text, &number, NULL);
}

bool
begin_parse_at(struct bytes text, int64_t now, struct begin *begin, struct err *err)
{
    struct err ignored = {0};
    struct reading reading = {.text = bytes_trim(text), .err = err ? err : &ignored};
    char guessed[TEXT_SHORT];
    int64_t wall;
    size_t date = digits_from(&reading, 0) == 4 ? 10 : 0;
    if (is_delay(reading.text)) {
        snprintf(guessed, sizeof guessed, "--after %.*s",
                 (int)(reading.text.len < 20 ? reading.text.len : 20), reading.text.data);
        return wrong(&reading, 0, "that is a delay, not a time", guessed);
    }
    guess_time(reading.text, guessed);
    if (*guessed)
        return wrong(&reading, digits_from(&reading, 0) == 4 ? 2 : digits_from(&reading, 0),
                     "times are of 24 hours, with a colon", guessed);
    if (date && reading.text.len > 4 && reading.text.data[4] == '-') {
        if (reading.text.len > date && reading.text.data[date] != 'T' && reading.text.data[date] != ' ')
            return wrong(&reading, date, "expected T and a time of day", "");
        return read_date_and_time(&reading, reading.text.len < date ? reading.text.len : date, &wall) &&
               set_at(reading.text, time_instant(wall), now, begin, err);
    }
    return read_time(&reading, &wall) && set_at(reading.text, next_at(wall, now), now, begin, err);
}

bool
begin_parse_after(struct bytes text, struct begin *begin, struct err *err)
{
    struct err why = {0};
    int64_t after;
    text = bytes_trim(text);
    size_t colon = bytes_find(text, BYTES(":"), 0);
    if (colon != SIZE_MAX)
        return err_set(err, ERR_USAGE, "column %zu: that is a time, not a delay; did you mean --at %.*s?",
                       colon + 1, BYTES_ARGS(text));
    if (!text_parse_duration(text, &after, &why))
        return err_set(err, ERR_USAGE, "column 1: %s", why.text);
    if (after < US_PER_SECOND || after > 366 * DAY_US)
        return err_set(err, ERR_USAGE, "column 1: %.*s is not a delay from 1s to a year, such as 30m",
                       BYTES_ARGS(text));
    *begin = (struct begin){.after = after};
    return true;
}

bool
begin_parse(struct bytes text, int64_t now, struct begin *begin, struct err *err)
{
    text = bytes_trim(text);
    *begin = (struct begin){0};
    if (bytes_equal_text(text, "now"))
        return true;
    return is_delay(text) ? begin_parse_after(text, begin, err) : begin_parse_at(text, now, begin, err);
}

// --- saying ---

// "02:00", "02:00:30".
static const char *
clock_text(int64_t at, char out[TIME_TEXT])
{
    time_of_day(at, out);
    if (strcmp(out + 5, ":00") == 0)
        out[5] = '\0';
    return out;
}

const char *
begin_brief(int64_t at, int64_t now, char out[BEGIN_TEXT])
{
    char date[TIME_TEXT], time[TIME_TEXT];
    if (at - now < DAY_US)
        snprintf(out, BEGIN_TEXT, "at %s", clock_text(at, time));
    else
        snprintf(out, BEGIN_TEXT, "%.10s %s", time_local(at, date), clock_text(at, time));
    return out;
}

const char *
begin_words(int64_t at, char out[BEGIN_TEXT])
{
    static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"}; // from 1970-01-01 on
    char date[TIME_TEXT], time[TIME_TEXT], zone[TIME_TEXT];
    const char *day = days[((time_wall(at) / DAY_US) % 7 + 7) % 7];
    snprintf(out, BEGIN_TEXT, "at %s on %s %.10s %.12s", clock_text(at, time), day, time_local(at, date),
             time_zone(at, zone));
    return out;
}
