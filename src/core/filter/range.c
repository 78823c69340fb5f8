// Numbers, ages and times of a filter as a range with both ends included.
#include "base/text.h"
#include "core/filter/parse.h"

static const int64_t DAY = 86400 * US_PER_SECOND;
static const int64_t MINUTE = 60 * US_PER_SECOND;

// How much of time a text written like this means by itself: a day, a minute, a second, or the instant.
static int64_t
precision(struct bytes text, bool is_date)
{
    if (is_date)
        return DAY;
    size_t colons = 0;
    for (size_t i = 0; i < text.len; i++)
        colons += text.data[i] == ':';
    bool has_fraction = bytes_find(text, BYTES("."), 0) != SIZE_MAX;
    return has_fraction ? 1 : colons < 2 ? MINUTE : US_PER_SECOND;
}

// One number, age or time.
struct range_bound {
    int64_t first;
    int64_t last;   // where it ends as the end of a range: a date goes through its day
    int64_t period; // where it ends as a value by itself
};

static bool
read_bound(struct bytes text, enum filter_kind kind, struct range_bound *bound, struct err *err)
{
    *bound = (struct range_bound){0};
    if (text.len == 0) {
        err_set(err, ERR_USAGE, "expected %s",
                kind == KIND_AGE       ? "an age: 30s, 10m, 2h or 7d"
                : kind == KIND_CREATED ? "a time: 2026-11-20 or 2026-11-20T12:00"
                                       : "a whole number");
        return false;
    }
    bool is_date = false;
    bool ok = kind == KIND_AGE       ? text_parse_duration(text, &bound->first, err)
              : kind == KIND_CREATED ? time_parse_wall(text, &bound->first, &is_date, err)
                                     : text_parse_int(text, &bound->first, err);
    bound->last = is_date ? bound->first + DAY - 1 : bound->first;
    bound->period = kind == KIND_CREATED ? bound->first + precision(text, is_date) - 1 : bound->first;
    return ok;
}

// `a..b`, `a..`, `..b`; the dots are at `dots`.
static bool
read_between(struct bytes text, enum filter_kind kind, size_t dots, struct filter_range *range, size_t *bad,
             struct err *err)
{
    struct bytes left = bytes_slice(text, 0, dots);
    struct bytes right = bytes_slice(text, dots + 2, SIZE_MAX);
    struct range_bound bound;
    if (left.len == 0 && right.len == 0)
        return err_set(err, ERR_USAGE, "expected a value on at least one side of ..");
    if (left.len) {
        if (!read_bound(left, kind, &bound, err))
            return false;
        range->low = bound.first;
    }
    *bad = dots + 2;
    if (right.len) {
        if (!read_bound(right, kind, &bound, err))
            return false;
        range->high = bound.last;
    }
    return range->low <= range->high ||
           err_set(err, ERR_USAGE, "expected the smaller end of the range first: nothing is between these");
}

// `>n`, `>=n`, `<n`, `<=n`.
static void
filter_range_compare(struct filter_range *range, bool is_above, bool is_equal,
                     const struct range_bound *bound)
{
    static const struct filter_range nothing = {.low = 1, .high = 0};
    if (is_above && is_equal)
        range->low = bound->first;
    else if (is_above && bound->last < INT64_MAX)
        range->low = bound->last + 1;
    else if (!is_above && is_equal)
        range->high = bound->last;
    else if (!is_above && bound->first > INT64_MIN)
        range->high = bound->first - 1;
    else
        *range = nothing;
}

bool
filter_range_read(struct bytes text, enum filter_kind kind, struct filter_range *range, size_t *bad,
                  struct err *err)
{
    *range = (struct filter_range){.low = INT64_MIN, .high = INT64_MAX};
    *bad = 0;
    size_t dots = bytes_find(text, BYTES(".."), 0);
    if (dots != SIZE_MAX)
        return read_between(text, kind, dots, range, bad, err);

    bool is_above = bytes_starts(text, ">");
    bool is_below = bytes_starts(text, "<");
    if (kind == KIND_AGE && !is_above && !is_below)
        return err_set(err, ERR_USAGE,
                       "expected < or > before the age: age:<2h is younger, age:>2h older than two hours");
    bool is_equal = (is_above || is_below) && text.len > 1 && text.data[1] == '=';
    struct range_bound bound;
    *bad = (size_t)(is_above || is_below) + is_equal;
    if (!read_bound(bytes_slice(text, *bad, SIZE_MAX), kind, &bound, err))
        return false;
    if (is_above || is_below)
        filter_range_compare(range, is_above, is_equal, &bound);
    else
        *range = (struct filter_range){.low = bound.first, .high = bound.period};
    return true;
}
