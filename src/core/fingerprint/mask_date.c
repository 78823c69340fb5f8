// Dates and times that words belong to: "Jan 12", "Thu Jun 16 15:43:49 EDT 2005".
#include "core/fingerprint/maskers.h"

// In "Jan 12" and "Sun Jul 10" the words belong to the date.
static bool
is_date_word(const struct mask_scan *scan, size_t from, size_t to)
{
    if ((word_kind(scan->text.data[from]) & KIND_UPPER) == 0 || to - from < 3)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        size_t next = scan_skip_blanks(scan, to);
        if (scan_char(scan, next) == ',')
            next = scan_skip_blanks(scan, next + 1);
        bool is_number = next < scan->end && word_is_digit(scan->text.data[next]);
        if (!is_number &&
            (i > 0 || next >= scan->end || (word_kind(scan->text.data[next]) & KIND_UPPER) == 0))
            return false;
        if ((word_roles(scan_slice(scan, from, to)) & ROLE_DATE) == 0)
            return false;
        if (is_number)
            return true;
        from = next;
        to = next + scan_peek_word(scan, next).len;
        if (to - from < 3)
            return false;
    }
    return false;
}

// Behind hh:mm:ss or hh:mm and a fraction of it, or `at` where none begins.
static size_t
time_end(const struct mask_scan *scan, size_t at)
{
    size_t end = at;
    for (unsigned parts = 0; parts < 3; parts++) {
        size_t digits = end + (parts > 0 && scan_char(scan, end) == ':');
        size_t to = digits;
        while (to < scan->end && to - digits < 2 && word_is_digit(scan->text.data[to]))
            to++;
        if (to == digits || (parts > 0 && (digits == end || to - digits != 2)))
            return parts < 2 ? at : end;
        end = to;
    }
    size_t fraction = end + 1;
    while (fraction < scan->end && word_is_one_of(scan->text.data[end], ".,") &&
           word_is_digit(scan->text.data[fraction]))
        fraction++;
    return fraction > end + 1 ? fraction : end;
}

static size_t
skip_digits_back(const struct mask_scan *scan, size_t at)
{
    while (at > 0 && word_is_digit(scan->text.data[at - 1]))
        at--;
    return at;
}

// Does a time end at `at`? What has only one colon may be a port.
static bool
is_behind_time(const struct mask_scan *scan, size_t at)
{
    const char *data = scan->text.data;
    size_t from = skip_digits_back(scan, at);
    if (from < at && from > 0 && word_is_one_of(data[from - 1], ".,")) {
        at = from - 1;
        from = skip_digits_back(scan, at);
    }
    unsigned colons = 0;
    for (; from > 0 && data[from - 1] == ':' && at - from == 2; colons++) {
        at = from - 1;
        from = skip_digits_back(scan, at);
    }
    bool is_whole = from == 0 || (word_kind(data[from - 1]) & (KIND_WORD | KIND_LEAD)) == 0 ||
                    (data[from - 1] == 'T' && from > 1 && word_is_digit(data[from - 2]));
    return colons == 2 && at > from && at - from <= 2 && is_whole;
}

// Behind the time zone that begins at `at`, or `at`. One that no row names counts only where `is_sure`.
static size_t
zone_end(const struct mask_scan *scan, size_t at, bool is_sure)
{
    struct bytes word = scan_peek_word(scan, at);
    if (word.len < 3 || word.len > 5 || word.data != scan->text.data + at)
        return at;
    for (size_t i = 0; i < word.len; i++) {
        if ((word_kind(word.data[i]) & KIND_UPPER) == 0)
            return at;
    }
    if (!is_sure && (word_roles(word) & ROLE_ZONE) == 0)
        return at;
    size_t end = at + word.len;
    if (word.len == 3 && word_is_one_of(scan_char(scan, end), "+-")) { // GMT+02:00
        size_t offset = time_end(scan, end + 1);
        end = offset > end + 1 ? offset : end;
    }
    return end;
}

// "15:43:49 EDT", "3:43:49 PM EDT": a zone directly behind a time.
static bool
is_zone_of_time(const struct mask_scan *scan, size_t from, size_t to)
{
    if (zone_end(scan, from, false) < to || from < 2 || scan->text.data[from - 1] != ' ')
        return false;
    size_t at = from - 1;
    bool is_half = at > 3 && scan->text.data[at - 3] == ' ' && scan->text.data[at - 1] == 'M' &&
                   word_is_one_of(scan->text.data[at - 2], "AP");
    return is_behind_time(scan, is_half ? at - 3 : at);
}

// Behind the year that begins at `at`, or `at`.
static size_t
year_end(const struct mask_scan *scan, size_t at)
{
    struct bytes word = scan_peek_word(scan, at);
    bool is_year = word.len == 4 && word.data == scan->text.data + at && word_digits(word) == 4 &&
                   (bytes_starts(word, "19") || bytes_starts(word, "20"));
    return is_year ? at + word.len : at;
}

static size_t
skip_comma(const struct mask_scan *scan, size_t at)
{
    at = scan_skip_blanks(scan, at);
    return scan_char(scan, at) == ',' && at < scan->end ? scan_skip_blanks(scan, at + 1) : at;
}

// "Jun 16 15:43:49", "Thu Jun 16 15:43:49 EDT 2005": behind a whole date whose first word ends at `to`, or
// `to`.
static size_t
date_end(const struct mask_scan *scan, size_t to)
{
    size_t day = skip_comma(scan, to);
    struct bytes month = scan_peek_word(scan, day);
    bool has_weekday = month.len > 0 && word_is_letter(month.data[0]);
    if (has_weekday)
        day = skip_comma(scan, day + month.len);
    struct bytes digits = scan_peek_word(scan, day);
    if (digits.len == 0 || digits.len > 2 || word_digits(digits) != digits.len)
        return to;
    size_t time = scan_skip_blanks(scan, day + digits.len);
    size_t end = time_end(scan, time);
    if (end == time || (word_kind(scan_char(scan, end)) & (KIND_WORD | KIND_LEAD)) != 0)
        return to;

    size_t next = scan_skip_blanks(scan, end);
    size_t zone = zone_end(scan, next, false);
    if (zone == next && has_weekday) {
        size_t other = zone_end(scan, next, true);
        size_t year = scan_skip_blanks(scan, other);
        zone = year_end(scan, year) > year ? other : next;
    }
    end = zone > next ? zone : end;
    next = scan_skip_blanks(scan, end);
    size_t year = year_end(scan, next);
    return year > next ? year : end;
}

bool
mask_date(struct mask_scan *scan, size_t from, size_t to, unsigned roles)
{
    size_t end = to;
    if ((roles & ROLE_DATE) != 0 && is_date_word(scan, from, to))
        end = date_end(scan, to);
    else if ((roles & ROLE_ZONE) == 0 || !scan->may_collapse || !is_zone_of_time(scan, from, to))
        return false;
    scan_emit_hole(scan, from, end, MASK_DATE);
    scan->at = end > scan->at ? end : scan->at;
    return true;
}
