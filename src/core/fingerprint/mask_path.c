// URLs and paths: a service and the words of its path are names, the rest is volatile.
#include "core/fingerprint/maskers.h"

#include <string.h>

static unsigned
count_char(const struct mask_scan *scan, size_t from, size_t to, char c)
{
    unsigned count = 0;
    for (size_t i = from; i < to; i++)
        count += scan->text.data[i] == c;
    return count;
}

// /rates/EURUSD, /limits/BRL: what a currency is asked of. Other words in capitals are names, /ws/NFE.
static bool
is_currency(struct bytes part)
{
    static const char codes[] = "AUD BRL CAD CHF CNY DKK EUR GBP INR JPY KRW MXN NOK PLN SEK USD ";
    if (part.len != 3 && part.len != 6)
        return false;
    for (size_t from = 0; from < part.len; from += 3) {
        bool is_code = false;
        for (size_t i = 0; i + 3 < sizeof codes && !is_code; i += 4)
            is_code = memcmp(codes + i, part.data + from, 3) == 0;
        if (!is_code)
            return false;
    }
    return true;
}

// The leading parts of a path that are words: /api/v1/orders/12/items → api v1 orders.
static size_t
emit_leading_parts(struct mask_scan *scan, size_t from, size_t to)
{
    size_t first = from;
    while (from < to && scan->text.data[from] == '/') {
        size_t end = from + 1;
        while (end < to && (word_kind(scan->text.data[end]) & (KIND_UPPER | KIND_LOWER | KIND_JOIN)) != 0 &&
               scan->text.data[end] != '%')
            end++;
        bool is_version = end == from + 2 && scan->text.data[from + 1] == 'v' && end < to &&
                          word_is_digit(scan->text.data[end]);
        end += is_version;
        bool is_word =
            end > from + 1 && end - from <= 32 && (end == to || word_is_one_of(scan->text.data[end], "/?#"));
        if (!is_word || (from > first && is_currency(scan_slice(scan, from + 1, end))))
            break;
        scan_emit_name(scan, from + 1, end);
        from = end;
    }
    return from;
}

// The last line is a URL and nothing else: a page about the error, which a driver adds or not.
static bool
is_help_line(const struct mask_scan *scan, size_t from, size_t end)
{
    while (from > 0 && word_is_one_of(scan->text.data[from - 1], " \t\r"))
        from--;
    return from > 0 && scan->text.data[from - 1] == '\n' && scan_skip_blanks(scan, end) == scan->end &&
           scan->depth == 0 && scan->mask->words > 0;
}

bool
mask_url(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    size_t colon = from + bytes_find(scan_slice(scan, from, to), BYTES("://"), 0);
    size_t end = colon;
    while (end < scan->end && (word_kind(scan->text.data[end]) & KIND_STOP) == 0)
        end++;
    scan->at = end > scan->at ? end : scan->at;
    while (end > colon && word_is_one_of(scan->text.data[end - 1], ".,:"))
        end--;
    if (is_help_line(scan, from, end)) {
        scan_leave_out(scan, from, end, MASK_URL);
        return true;
    }

    struct bytes scheme = scan_slice(scan, from, colon);
    size_t host = colon + 3 < end ? colon + 3 : end;
    size_t at_sign = scan_find_char(scan, host, end, '@');
    size_t slash = scan_find_char(scan, host, end, '/');
    if (at_sign < slash)
        host = at_sign + 1;
    bool is_service = bytes_equal_text(scheme, "http") || bytes_equal_text(scheme, "https") ||
                      bytes_equal_text(scheme, "lb") || bytes_equal_text(scheme, "grpc");
    size_t host_end = host;
    while (host_end < end && !word_is_one_of(scan->text.data[host_end], ":/?#"))
        host_end++;
    if (!is_service || host_end == host) {
        scan_emit_hole(scan, from, end, MASK_URL);
        return true;
    }
    if (word_digits(scan_slice(scan, host, host_end)) > 0)
        scan_emit_hole(scan, host, host_end, MASK_HOST);
    else
        scan_emit_name(scan, host, host_end);
    size_t rest = emit_leading_parts(scan, scan_find_char(scan, host_end, end, '/'), end);
    scan_emit_hole(scan, rest + 1 < end ? rest + 1 : end, end, MASK_URL);
    return true;
}

// inventory/10.0.3.4:8080: whom Java was connected to.
static bool
is_peer(const struct mask_scan *scan, size_t from, size_t to)
{
    size_t slash = scan_find_char(scan, from, to, '/');
    return slash > from && slash + 1 < to && word_is_digit(scan->text.data[slash + 1]) &&
           word_digits(scan_slice(scan, from, slash)) == 0 && scan_find_char(scan, slash, to, '.') < to;
}

// What a word with slashes is; for people only.
static enum mask_rule
rule_of_path(struct bytes word)
{
    if (word_is_slashed_date(word))
        return MASK_DATE;
    if (word_is_grouped_number(word))
        return MASK_NUMBER;
    return word.len > 1 && word_is_digit(word.data[1]) ? MASK_IP : MASK_PATH;
}

// "GET /orders/12 HTTP/1.1" 200, "GET /orders/12 HTTP/1.1" status: 200: a request that succeeded.
static bool
is_of_success(const struct mask_scan *scan, size_t to)
{
    static const char version[] = " HTTP/1.1\"";
    struct bytes behind = bytes_slice(scan->text, to, scan->text.len);
    if (!bytes_starts(behind, " HTTP/") || behind.len < sizeof version + 3 ||
        behind.data[sizeof version - 2] != '"')
        return false;
    size_t status = to + sizeof version - 1; // outside the quotes that scan->end closes
    status += scan_char(scan, status) == ' ';
    if (bytes_starts(bytes_slice(scan->text, status, scan->text.len), "status: "))
        status += strlen("status: ");
    return scan_char(scan, status) == '2' && word_is_digit(scan_char(scan, status + 1)) &&
           word_is_digit(scan_char(scan, status + 2));
}

bool
mask_success(struct mask_scan *scan, size_t from)
{
    if (scan_char(scan, from) != '/' || scan->after != AFTER_BLANK ||
        (scan_prev_roles(scan) & ROLE_VERB) == 0)
        return false;
    // Of the bytes of a path and its query, not all are bytes of a word.
    size_t to = from;
    while (to < scan->end && (word_kind(scan->text.data[to]) & KIND_BLANK) == 0)
        to++;
    if (!is_of_success(scan, to))
        return false;
    scan_emit_hole(scan, from, to, MASK_PATH);
    scan->at = to > scan->at ? to : scan->at;
    return true;
}

bool
mask_path(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    struct bytes word = scan_slice(scan, from, to);
    unsigned slashes = count_char(scan, from, to, '/');
    bool is_rooted = word.data[0] == '/' || word.data[0] == '~' || word.data[0] == '.' ||
                     word.data[0] == '\\' || (word.len > 2 && word.data[1] == ':');
    unsigned roles = scan_prev_roles(scan);
    if (word.data[0] == '/' && (roles & ROLE_VERB) != 0) {
        size_t rest = emit_leading_parts(scan, from, to);
        scan_emit_hole(scan, rest, to, MASK_PATH);
        return true;
    }
    if (scan->after == AFTER_COLON && (roles & ROLE_ID) != 0) { // time-zone ID: America/Lima
        scan_emit_hole(scan, from, to, MASK_IDENTITY);
        return true;
    }
    // infNFe/det[3]/prod/NCM continues behind its index.
    bool goes_on = from > 0 && scan->text.data[from - 1] == ']';
    bool is_named = goes_on || ((roles & ROLE_NAME) != 0 && count_char(scan, from, to, '.') == 0);
    if (is_named || word_is_indexed_path(word)) {
        scan_emit_path(scan, from, to);
        return true;
    }
    if (!is_rooted && slashes == 1 && is_peer(scan, from, to)) {
        size_t slash = scan_find_char(scan, from, to, '/');
        scan_again(scan, from, slash, PART_WORD);
        scan_emit_hole(scan, slash + 1, to, MASK_IP);
        return true;
    }
    if (!is_rooted && (seen & KIND_DIGIT) == 0 && (slashes == 1 || word_is_class(word))) {
        scan_emit_word(scan, from, to);
        return true;
    }
    if (word_is_kept(word) || bytes_starts(word, "application/"))
        scan_emit_word(scan, from, to);
    else
        scan_emit_hole(scan, from, to, rule_of_path(word));
    // 12/3.5 MB
    scan->is_number |= word_is_digit(word.data[0]) && (seen & KIND_LETTER) == 0;
    return true;
}
