// Words without digits and marks: literal, unless the words around them make them values.
#include "core/fingerprint/maskers.h"

#include <string.h>

// SQL

static bool
begins_statement(const struct mask_scan *scan, struct bytes word, size_t behind)
{
    struct bytes next = scan_peek_word(scan, behind);
    if (word_equals_folded(word, "select"))
        return true;
    if (word_equals_folded(word, "delete"))
        return word_equals_folded(next, "from");
    if (word_equals_folded(word, "update")) {
        struct bytes third = scan_peek_word(scan, (size_t)(next.data - scan->text.data) + next.len);
        return word_equals_folded(third, "set");
    }
    return word_equals_folded(next, "into");
}

// Behind the bracket of SQL that opens at `at`, or 0 where it does not close.
static size_t
row_end(const struct mask_scan *scan, size_t at)
{
    size_t depth = 0;
    bool is_quoted = false;
    for (; at < scan->end; at++) {
        char c = scan->text.data[at];
        if (c == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && c == '(')
            depth++;
        else if (!is_quoted && c == ')' && --depth == 0)
            return at + 1;
    }
    return 0;
}

// Behind the rows of VALUES (1, 'a'), (2, 'b'), or 0 where no bracket follows.
static size_t
rows_end(const struct mask_scan *scan, size_t at)
{
    size_t end = 0;
    for (;;) {
        at = scan_skip_blanks(scan, at);
        size_t behind = at < scan->end && scan->text.data[at] == '(' ? row_end(scan, at) : 0;
        if (behind == 0)
            return end;
        end = behind;
        at = scan_skip_blanks(scan, end);
        if (at >= scan->end || scan->text.data[at] != ',')
            return end;
        at++;
    }
}

// The data of a statement runs to the bracket or quote that encloses it, the end of the line, or the end.
static size_t
statement_end(const struct mask_scan *scan, size_t at)
{
    bool is_quoted = false;
    for (; at < scan->end; at++) {
        if (scan->text.data[at] == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && word_is_one_of(scan->text.data[at], "];\"\n"))
            break;
    }
    return at;
}

// Words without digits and marks

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

// Dates and times

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

static bool
is_capitalised(struct bytes word)
{
    if (word.len < 2)
        return false;
    unsigned char second = (unsigned char)word.data[1];
    if ((unsigned char)word.data[0] == 0xC3) // À to Þ
        return second >= 0x80 && second <= 0x9E;
    return (word_kind(word.data[0]) & KIND_UPPER) != 0 &&
           (word_kind(word.data[1]) & (KIND_LOWER | KIND_HIGH)) != 0;
}

// Behind the last part of a person's or place's name that begins at from: João da Silva.
static size_t
person_end(const struct mask_scan *scan, size_t from)
{
    size_t end = from;
    for (unsigned parts = 0; parts < 8; parts++) {
        struct bytes word = scan_peek_word(scan, end);
        size_t start = (size_t)(word.data - scan->text.data);
        if (word.len == 0)
            break;
        if (is_capitalised(word)) {
            end = start + word.len;
            continue;
        }
        struct bytes next = scan_peek_word(scan, start + word.len);
        if ((word_roles(word) & ROLE_PARTICLE) == 0 || !is_capitalised(next) || parts == 0)
            break;
        end = (size_t)(next.data - scan->text.data) + next.len;
    }
    return end;
}

static bool
is_person(struct mask_scan *scan, struct bytes word)
{
    struct bytes prev = scan->prev;
    if (prev.len < 4 || scan->after > AFTER_COLON || !is_capitalised(word))
        return false;
    if (word_equals_folded(word, "not"))
        return false;
    return (scan_prev_roles(scan) & ROLE_PERSON) != 0 &&
           ((word_kind(prev.data[0]) & KIND_LOWER) != 0 || scan->after == AFTER_COLON ||
            (scan_prev_roles(scan) & ROLE_TITLE) != 0);
}

// "decimal: abc. Path …": the value goes on to the next full stop, comma or semicolon, or the end of the
// line.
static size_t
free_value_end(const struct mask_scan *scan, size_t at)
{
    for (; at < scan->end && scan->text.data[at] != '\n'; at++) {
        bool is_stop = word_is_one_of(scan->text.data[at], ".,;");
        if (is_stop && (at + 1 == scan->end || (word_kind(scan->text.data[at + 1]) & KIND_BLANK) != 0))
            break;
    }
    return at;
}

// com.acme.Order.customer: a property of a class, which is named and no value.
static bool
is_property(struct bytes word)
{
    unsigned dots = 0;
    bool has_class = false;
    for (size_t i = 0; i < word.len; i++) {
        dots += word.data[i] == '.';
        has_class |= i > 0 && word.data[i - 1] == '.' && (word_kind(word.data[i]) & KIND_UPPER) != 0;
    }
    return dots >= 2 && has_class && word_is_code_shaped(word);
}

bool
mask_free_value(struct mask_scan *scan, size_t from)
{
    if ((scan_prev_roles(scan) & ROLE_FREE_VALUE) == 0)
        return false;
    size_t end = free_value_end(scan, from);
    if (is_property(scan_slice(scan, from, end)))
        return false;
    scan_emit_hole(scan, from, end, MASK_VALUE);
    scan->at = end > scan->at ? end : scan->at;
    return true;
}

// "user bob from", "user bob 10.0.0.1", "user bob(uid=0)", "user bob [preauth]"
static bool
is_login_end(const struct mask_scan *scan, size_t to, bool is_after_for)
{
    size_t next = scan_skip_blanks(scan, to);
    if (next == scan->end)
        return is_after_for;
    if (next == to)
        return is_after_for && scan->text.data[to] == '(';
    if (word_is_digit(scan->text.data[next]) || scan->text.data[next] == '[')
        return true;
    struct bytes word = scan_peek_word(scan, next);
    return word_equals_folded(word, "from") || word_equals_folded(word, "by") ||
           word_equals_folded(word, "on");
}

// "for bob from 10.0.0.1"
static bool
is_visitor(const struct mask_scan *scan, size_t to)
{
    struct bytes word = scan_peek_word(scan, to);
    if (!bytes_equal_text(word, "from"))
        return false;
    size_t origin = scan_skip_blanks(scan, (size_t)(word.data - scan->text.data) + word.len);
    return word_is_digit(scan_char(scan, origin));
}

// A login name, known by the words around it.
static bool
is_login(struct mask_scan *scan, size_t to)
{
    struct bytes prev = scan->prev;
    if (scan->after != AFTER_BLANK || prev.len < 3)
        return false;
    if (prev.len == 3)
        return memcmp(prev.data, "for", 3) == 0 && is_visitor(scan, to);
    if ((scan_prev_roles(scan) & ROLE_LOGIN) == 0)
        return false;
    size_t start = (size_t)(prev.data - scan->text.data);
    return is_login_end(scan, to, start >= 4 && memcmp(prev.data - 4, "for ", 4) == 0);
}

// "for user bob", "id: abc", "42 ms": the word before makes this one volatile.
static bool
take_by_neighbour(struct mask_scan *scan, size_t from, size_t to, unsigned roles)
{
    struct bytes word = scan_slice(scan, from, to);
    if ((roles & ROLE_ZONE) != 0 && scan->may_collapse && is_zone_of_time(scan, from, to)) {
        scan_emit_hole(scan, from, to, MASK_DATE);
        return true;
    }
    if (scan->is_number && scan->may_collapse && word.len <= 12 && (roles & ROLE_UNIT) != 0) {
        scan_emit_hole(scan, from, to, MASK_DURATION);
        return true;
    }
    if (scan->after == AFTER_COLON && (scan_prev_roles(scan) & ROLE_ID) != 0) {
        scan_emit_hole(scan, from, to, MASK_IDENTITY);
        return true;
    }
    if (is_login(scan, to)) {
        scan_emit_hole(scan, from, to, MASK_PERSON);
        return true;
    }
    if ((roles & ROLE_DATE) != 0 && is_date_word(scan, from, to)) {
        size_t end = date_end(scan, to);
        scan_emit_hole(scan, from, end, MASK_DATE);
        scan->at = end > scan->at ? end : scan->at;
        return true;
    }
    if (is_person(scan, word)) {
        size_t end = person_end(scan, from);
        scan_emit_hole(scan, from, end, MASK_PERSON);
        scan->at = end > scan->at ? end : scan->at;
        return true;
    }
    return false;
}

bool
mask_long_word(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    scan_emit_hole(scan, from, to, MASK_LONG);
    return true;
}

bool
mask_literal(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    struct bytes word = scan_slice(scan, from, to);
    unsigned roles = word_roles(word);
    if (take_by_neighbour(scan, from, to, roles))
        return true;

    if (!scan->in_sql) {
        scan->in_sql = (roles & ROLE_SQL) != 0 && begins_statement(scan, word, to);
    } else if ((roles & ROLE_SQL_DATA) != 0) {
        size_t end = word_equals_folded(word, "values") ? rows_end(scan, to) : 0;
        if (end == 0)
            end = statement_end(scan, to);
        scan_emit_hole(scan, from, end, MASK_SQL);
        scan->at = end;
        scan->in_sql = false;
        return true;
    }
    // 1 order, 2 orders; but not "at least 2, lines 4 and 7"
    bool is_counted =
        scan->is_number && scan->may_collapse && from >= 2 && word_is_alnum(scan->text.data[from - 2]);
    bool is_plural = is_counted && word.len > 3 && word.data[word.len - 1] == 's';
    if (is_plural)
        scan_emit_word(scan, from, to - 1);
    else
        scan_emit_known(scan, from, to, roles);
    return true;
}
