// Error codes: numbers and short words that identify an error, and so stay.
#include "core/fingerprint/maskers.h"

#include <string.h>

#define CODE_DIGITS 5 // longer numbers are ids

static bool
is_upper_code(struct bytes word)
{
    unsigned digits = 0;
    unsigned upper = 0;
    for (size_t i = 0; i < word.len; i++) {
        unsigned kind = word_kind(word.data[i]);
        digits += (kind & KIND_DIGIT) != 0;
        upper += (kind & KIND_UPPER) != 0;
        if ((kind & (KIND_DIGIT | KIND_UPPER)) == 0 && !word_is_one_of(word.data[i], "_-."))
            return false;
    }
    return digits <= CODE_DIGITS && (upper > 0 || digits == word.len) && word.len <= 20;
}

static bool
is_http_failure(struct bytes word)
{
#define BIT(status) (1ULL << ((status) % 100))
    static const uint64_t client = BIT(400) | BIT(401) | BIT(403) | BIT(404) | BIT(405) | BIT(406) |
                                   BIT(408) | BIT(409) | BIT(410) | BIT(411) | BIT(412) | BIT(413) |
                                   BIT(415) | BIT(416) | BIT(422) | BIT(423) | BIT(424) | BIT(425) |
                                   BIT(426) | BIT(428) | BIT(429) | BIT(431) | BIT(451);
    static const uint64_t server = BIT(500) | BIT(501) | BIT(502) | BIT(503) | BIT(504) | BIT(505) |
                                   BIT(507) | BIT(508) | BIT(511) | BIT(520) | BIT(522) | BIT(524);
#undef BIT
    if (word.len != 3 || (word.data[0] != '4' && word.data[0] != '5') || !word_is_digit(word.data[1]) ||
        !word_is_digit(word.data[2]))
        return false;
    unsigned number = (unsigned)(word.data[1] - '0') * 10 + (unsigned)(word.data[2] - '0');
    return number < 64 && ((word.data[0] == '4' ? client : server) >> number & 1) != 0;
}

// "[404] during", "failed (503)", "404 (Not Found)": an HTTP status in brackets of its own, or with its
// reason in them.
static bool
is_bracketed_status(const struct mask_scan *scan, size_t from, size_t to)
{
    if (from == 0 || !is_http_failure(scan_slice(scan, from, to)))
        return false;
    char open = scan->text.data[from - 1];
    char close = scan_char(scan, to);
    bool is_first = from == 1 || word_is_one_of(scan_char(scan, from - 2), "[ :");
    if (close == ' ' && scan_char(scan, to + 1) == '(')
        return (word_kind(scan_char(scan, to + 2)) & KIND_UPPER) != 0;
    return (open == '[' && from <= 2 && close == ']') || (open == '(' && is_first && close == ')');
}

// "GET / HTTP/1.1" 404 153: behind the request line of an access log.
static bool
is_answer_status(const struct mask_scan *scan, size_t from, size_t to)
{
    static const size_t reach = sizeof "HTTP/1.1\" " - 1;
    if (to - from != 3 || from < reach || memcmp(scan->text.data + from - 2, "\" ", 2) != 0)
        return false;
    return bytes_find(scan_slice(scan, from - reach, from), BYTES("HTTP/"), 0) != SIZE_MAX;
}

// "539 - Duplicidade de NF-e", "503 Service Unavailable", "23505: duplicate key": a number that begins the
// text and is then explained.
static bool
is_leading_code(const struct mask_scan *scan, size_t from, size_t to)
{
    if (scan_skip_blanks(scan, 0) != from || scan->depth > 1)
        return false;
    const char *data = scan->text.data;
    if (to - from <= 4 && to + 3 < scan->end && data[to] == ' ' && data[to + 1] == '-' && data[to + 2] == ' ')
        return true;
    if (to - from == 5 && scan_char(scan, to) == ':' && bytes_ends(scan->class_name, "PostgresException"))
        return true;
    struct bytes next = scan_peek_word(scan, to);
    return is_http_failure(scan_slice(scan, from, to)) && next.len > 2 && next.data == data + to + 1 &&
           (word_kind(next.data[0]) & KIND_UPPER) != 0;
}

// "returned 503", "responded with 502.": but not "with 500 items".
static bool
is_told_status(const struct mask_scan *scan, size_t to)
{
    struct bytes next = scan_peek_word(scan, to);
    bool counts = next.len > 0 && next.data == scan->text.data + to + 1 && scan->text.data[to] == ' ' &&
                  (word_kind(next.data[0]) & KIND_UPPER) == 0;
    return !counts || (word_roles(next) & ROLE_ANSWER) != 0;
}

// varchar(20), numeric(10,2): the column has it, not the row.
static bool
is_size_of_type(const struct mask_scan *scan, size_t from)
{
    return from >= 1 && scan->text.data[from - 1] == '(' &&
           scan->prev.data + scan->prev.len == scan->text.data + from - 1;
}

// Unexpected character ('}' (code 125)): the code is that of the quoted character.
static bool
is_code_of_character(const struct mask_scan *scan)
{
    size_t at = (size_t)(scan->prev.data - scan->text.data);
    return at >= 3 && memcmp(scan->prev.data - 3, "' (", 3) == 0;
}

// with reason AC04, reason=R01: letters, then digits, so few that it is no id.
static bool
is_reason_code(struct mask_scan *scan, struct bytes word)
{
    size_t upper = 0;
    if (word.len < 3 || word.len > 5 || (scan_prev_roles(scan) & ROLE_TELLING) == 0)
        return false;
    while (upper < word.len && (word_kind(word.data[upper]) & KIND_UPPER) != 0)
        upper++;
    return upper > 0 && upper <= 3 && word_digits(word) == word.len - upper;
}

static bool
is_code(struct mask_scan *scan, size_t from, size_t to, bool is_number)
{
    struct bytes word = scan_slice(scan, from, to);
    if (word.len > 20)
        return false;
    if (is_number && (is_leading_code(scan, from, to) || is_bracketed_status(scan, from, to) ||
                      is_answer_status(scan, from, to)))
        return true;
    if (!is_number && word_is_error_code(word))
        return true;
    if (scan->prev.len == 0)
        return false;
    if (is_number && is_http_failure(word) && from >= scan->prev.len + 4 && // {:http_error, 503}
        scan->prev.data + scan->prev.len + 2 == word.data && memcmp(word.data - 2, ", ", 2) == 0 &&
        memcmp(scan->prev.data - 2, "{:", 2) == 0)
        return true;

    unsigned roles = scan_prev_roles(scan);
    if ((roles & ROLE_SQLSTATE) != 0)
        return word.len == 5 && is_upper_code(word);
    if (!is_number && is_reason_code(scan, word))
        return true;
    if (is_number && (roles & ROLE_SIZED) != 0 && is_size_of_type(scan, from))
        return true;
    if (is_number && (roles & ROLE_ANSWER) != 0 && is_http_failure(word) && is_told_status(scan, to))
        return true;
    if ((roles & ROLE_CODE) == 0)
        return false;
    if (is_number)
        return word.len <= CODE_DIGITS && !is_code_of_character(scan);
    bool is_negative =
        word.data[0] == '-' && word_digits(word) == word.len - 1 && word.len <= CODE_DIGITS + 1;
    return is_negative || is_upper_code(word);
}

bool
mask_code(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    if (!is_code(scan, from, to, (seen & KIND_WORD) == KIND_DIGIT))
        return false;
    scan_emit_name(scan, from, to);
    return true;
}
