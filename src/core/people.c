#include "core/people.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/text.h"

#define DAY (24 * 3600 * US_PER_SECOND)
enum { SNOOZE_GROWTH = 10 };

static int
compare_cares(const void *a, const void *b)
{
    uint64_t left = ((const struct group_care *)a)->group;
    uint64_t right = ((const struct group_care *)b)->group;
    return (left > right) - (left < right);
}

void
people_sort(struct people *people)
{
    if (people->care_count)
        qsort(people->cares, people->care_count, sizeof *people->cares, compare_cares);
}

const struct group_care *
people_care(const struct people *people, uint64_t group)
{
    const struct group_care key = {.group = group};
    if (!people || !people->care_count)
        return NULL;
    return bsearch(&key, people->cares, people->care_count, sizeof *people->cares, compare_cares);
}

size_t
people_here(const struct people *people)
{
    size_t others = 0;
    for (size_t i = 0; i < people->here_count; i++)
        others += !people->here[i].is_this;
    return others + 1;
}

bool
care_is_taken(const struct group_care *care, int64_t now)
{
    return care && care->taken.who && care->taken.until > now;
}

bool
care_is_snoozed(const struct group_care *care, int64_t now, int64_t events)
{
    return care && care->snooze.who && care->snooze.until > now &&
           (care->snooze.above == 0 || events <= care->snooze.above);
}

int64_t
snooze_above(int64_t events)
{
    return events > 0 && events < INT64_MAX / SNOOZE_GROWTH ? events * SNOOZE_GROWTH : SNOOZE_GROWTH;
}

const char *
until_text(int64_t until, int64_t now, char out[TIME_TEXT])
{
    time_brief(until, now, out);
    out[strlen(out) - strlen(":00")] = '\0';
    return out;
}

// "14:30": the next time that a clock of this zone shows it.
static bool
parse_clock(struct bytes text, int64_t now, int64_t *length)
{
    bool is_clock = (text.len == 4 || text.len == 5) && text.data[text.len - 3] == ':';
    int digits[4] = {0};
    for (size_t i = 0, at = text.len == 4; is_clock && i < text.len; i++) {
        if (i == text.len - 3)
            continue;
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        digits[at++] = text.data[i] - '0';
    }
    int hour = digits[0] * 10 + digits[1];
    int minute = digits[2] * 10 + digits[3];
    if (!is_clock || hour > 23 || minute > 59)
        return false;
    time_t seconds = (time_t)(now / US_PER_SECOND);
    struct tm local;
    localtime_r(&seconds, &local);
    local.tm_hour = hour;
    local.tm_min = minute;
    local.tm_sec = 0;
    local.tm_isdst = -1;
    *length = (int64_t)mktime(&local) * US_PER_SECOND - now;
    if (*length <= 0)
        *length += DAY;
    return true;
}

static bool
parse_date(struct bytes text, int64_t now, int64_t *length)
{
    int64_t wall;
    bool is_date;
    if (bytes_find(text, BYTES("-"), 0) == SIZE_MAX || !time_parse_wall(text, &wall, &is_date, NULL))
        return false;
    time_t seconds = (time_t)(wall / US_PER_SECOND);
    struct tm local;
    gmtime_r(&seconds, &local);
    local.tm_isdst = -1;
    *length = (int64_t)mktime(&local) * US_PER_SECOND - now;
    return true;
}

bool
until_parse(struct bytes text, int64_t now, int64_t *length, struct err *err)
{
    text = bytes_trim(text);
    if (!parse_clock(text, now, length) && !parse_date(text, now, length) &&
        !text_parse_duration(text, length, NULL))
        return err_set(err, ERR_USAGE, "\"%.*s\" is no time: 2h, 14:30, or 2026-11-23 14:30", (int)text.len,
                       text.data);
    return *length > 0 || err_set(err, ERR_USAGE, "\"%.*s\" is over already", (int)text.len, text.data);
}
