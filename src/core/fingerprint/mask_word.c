// Words with digits or an inner structure: numbers, identities, codes, hosts, paths, URLs, qualified names.
#include "core/fingerprint/scan.h"

#include <string.h>

#define NAME_LONG 64

static size_t
find_char(const struct scan *scan, size_t from, size_t to, char c)
{
    const char *found = memchr(scan->text.data + from, c, to - from);
    return found == NULL ? to : (size_t)(found - scan->text.data);
}

static unsigned
count_char(const struct scan *scan, size_t from, size_t to, char c)
{
    unsigned count = 0;
    for (size_t i = from; i < to; i++)
        count += scan->text.data[i] == c;
    return count;
}

// What kind of volatile word this is; for people only.

static bool
is_uuid(struct bytes word)
{
    if (word.len != 36)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? word.data[i] != '-' : !word_is_hex(word.data[i]))
            return false;
    }
    return true;
}

struct shape {
    unsigned digits, letters, hex, dots, dashes, colons, others;
};

static struct shape
shape_of(struct bytes word)
{
    struct shape shape = {0};
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        shape.digits += word_is_digit(c);
        shape.hex += word_is_hex(c) && !word_is_digit(c);
        shape.letters += word_is_letter(c);
        shape.dots += c == '.';
        shape.dashes += c == '-' || c == '/';
        shape.colons += c == ':';
    }
    shape.others =
        (unsigned)word.len - shape.digits - shape.letters - shape.dots - shape.dashes - shape.colons;
    return shape;
}

static enum mask_rule
rule_of(struct bytes word)
{
    struct shape shape = shape_of(word);
    if (is_uuid(word))
        return MASK_UUID;
    if (word.len > 2 && word.data[0] == '0' && (word.data[1] == 'x' || word.data[1] == 'X'))
        return MASK_HEX;
    if (shape.letters == 0 && shape.dots == 3 && shape.dashes == 0)
        return MASK_IP;
    if (shape.letters <= 2 && (shape.colons >= 1 || shape.dashes == 2) && shape.digits >= 3)
        return MASK_DATE;
    if (shape.letters == 0 && shape.dots == 0 && shape.colons == 0)
        return MASK_NUMBER;
    if (shape.letters == 0 && shape.dots <= 1)
        return MASK_NUMBER;
    if (shape.letters == 0 || (shape.dots >= 1 && word.data[0] == 'v'))
        return MASK_VERSION;
    if (word_is_digit(word.data[0]) && shape.letters <= 2 && shape.dashes == 0 && shape.others == 0)
        return MASK_DURATION;
    if (shape.hex == shape.letters && shape.letters + shape.digits == word.len && word.len >= 8)
        return MASK_HEX;
    if (word_is_host(word) || shape.dots >= 2)
        return MASK_HOST;
    return MASK_ID;
}

static void
emit_volatile(struct scan *scan, size_t from, size_t to)
{
    enum mask_rule rule = MASK_ID;
    struct bytes word = scan_slice(scan, from, to);
    bool is_number = word_digits(word) == word.len;
    if (scan->mask->trail != NULL)
        rule = rule_of(word);
    scan_emit_hole(scan, from, to, rule);
    scan->is_number = is_number || (word_is_digit(word.data[0]) && word_is_digit(word.data[word.len - 1])) ||
                      (word.data[0] == '-' && word.len > 1);
}

// Names

static bool
is_name_role(struct scan *scan, struct bytes word)
{
    if (scan->prev.len == 0 || word.len > NAME_LONG || !word_is_identifier(word))
        return false;
    // Unquoted, so that only digits at a name's end count as its own: fk_2, addr2; order-8812 does not.
    unsigned run = 0;
    for (size_t i = 0; i < word.len; i++) {
        run = word_is_digit(word.data[i]) ? run + 1 : 0;
        if (run > 3 || (run == 1 && i > 0 && word.data[i - 1] == '-'))
            return false;
    }
    unsigned roles = scan_prev_roles(scan);
    bool is_numbered = word_digits(word) > 0;
    if ((roles & ROLE_WEAK_NAME) != 0 && is_numbered &&
        ((roles & ROLE_NAME) == 0 || word_is_digit(word.data[1])))
        return false; // module U3
    return (roles & (ROLE_NAME | ROLE_WEAK_NAME)) != 0 && word_digits(word) <= 4;
}

static bool
is_kept_word(struct bytes word)
{
    return word.len <= 12 && word_digits(word) <= 4 && (word_roles(word) & ROLE_KEEP) != 0;
}

// items.3.sku: a path into a document, whose indexes are parts of their own.
static bool
is_indexed_path(struct bytes word)
{
    bool has_index = false;
    size_t from = 0;
    for (size_t i = 0; i <= word.len; i++) {
        if (i < word.len && word.data[i] != '.' && word.data[i] != '/')
            continue;
        struct bytes part = bytes_slice(word, from, i - from);
        unsigned digits = word_digits(part);
        if (part.len == 0 ? from != 0 : digits != 0 && digits != part.len)
            return false;
        if (digits != 0 && (digits > 3 || i == word.len))
            return false;
        if (digits == 0 && part.len == 1 && i == word.len)
            return false;
        has_index |= digits != 0;
        from = i + 1;
    }
    return has_index && (word_is_letter(word.data[0]) || word.data[0] == '/');
}

// 订单12345不存在: text without blanks. Only the number in it is volatile. What hangs on it in one or two
// characters (a particle, a counter) goes with it, because it changes with the number.
static bool
take_unspaced(struct scan *scan, size_t from, size_t to)
{
    size_t first = from;
    while (first < to && (word_kind(scan->text.data[first]) & (KIND_HIGH | KIND_LEAD)) != 0)
        first++;
    size_t last = to;
    while (last > first && (word_kind(scan->text.data[last - 1]) & (KIND_HIGH | KIND_LEAD)) != 0)
        last--;
    bool has_head = first - from >= 6 && (unsigned char)scan->text.data[from] >= 0xE3;
    bool has_tail = to - last >= 9 && (unsigned char)scan->text.data[last] >= 0xE3;
    if (!has_head && !has_tail)
        return false;

    if (has_head)
        scan_emit_word(scan, from, first);
    size_t hole_from = has_head ? first : from;
    size_t hole_to = has_tail ? last : to;
    if (hole_from < hole_to)
        scan_emit_hole(scan, hole_from, hole_to, MASK_ID);
    if (has_tail)
        scan_emit_word(scan, last, to);
    return true;
}

static void
take_digits(struct scan *scan, size_t from, size_t to, unsigned seen)
{
    struct bytes word = scan_slice(scan, from, to);
    bool is_number = (seen & KIND_WORD) == KIND_DIGIT;
    if (scan_is_code(scan, from, to, is_number)) {
        scan_emit_name(scan, from, to);
        return;
    }
    if (is_number) {
        emit_volatile(scan, from, to);
        return;
    }
    size_t hash = (seen & KIND_JOIN) != 0 ? find_char(scan, from, to, '#') : to;
    if (hash > from && hash < to && word_is_letter(word.data[0])) { // com.acme.Order#12
        scan_take_piece(scan, from, hash);
        scan_emit_hole(scan, hash, to, MASK_ID);
    } else if (is_kept_word(word) || word_is_numbered_class(word))
        scan_emit_word(scan, from, to);
    else if (is_name_role(scan, word))
        scan_emit_name(scan, from, to);
    else if ((seen & KIND_HIGH) == 0 || word_digits(word) == 0 || !take_unspaced(scan, from, to))
        emit_volatile(scan, from, to);
}

// URLs and paths

// The leading parts of a path that are words: /api/v1/orders/12/items → api v1 orders.
static size_t
emit_leading_parts(struct scan *scan, size_t from, size_t to)
{
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
        if (!is_word)
            break;
        scan_emit_name(scan, from + 1, end);
        from = end;
    }
    return from;
}

static void
take_url(struct scan *scan, size_t from, size_t colon)
{
    size_t end = colon;
    while (end < scan->end && (word_kind(scan->text.data[end]) & KIND_STOP) == 0)
        end++;
    scan->at = end > scan->at ? end : scan->at;
    while (end > colon && word_is_one_of(scan->text.data[end - 1], ".,:"))
        end--;

    struct bytes scheme = scan_slice(scan, from, colon);
    size_t host = colon + 3 < end ? colon + 3 : end;
    size_t at_sign = find_char(scan, host, end, '@');
    size_t slash = find_char(scan, host, end, '/');
    if (at_sign < slash)
        host = at_sign + 1;
    bool is_service = bytes_equal_text(scheme, "http") || bytes_equal_text(scheme, "https") ||
                      bytes_equal_text(scheme, "lb") || bytes_equal_text(scheme, "grpc");
    size_t host_end = host;
    while (host_end < end && !word_is_one_of(scan->text.data[host_end], ":/?#"))
        host_end++;
    if (!is_service || host_end == host || word_digits(scan_slice(scan, host, host_end)) > 0) {
        scan_emit_hole(scan, from, end, MASK_URL);
        return;
    }
    scan_emit_name(scan, host, host_end);
    size_t rest = emit_leading_parts(scan, find_char(scan, host_end, end, '/'), end);
    scan_emit_hole(scan, rest + 1 < end ? rest + 1 : end, end, MASK_URL);
}

// inventory/10.0.3.4:8080: whom Java was connected to.
static bool
is_peer(const struct scan *scan, size_t from, size_t to)
{
    size_t slash = find_char(scan, from, to, '/');
    return slash > from && slash + 1 < to && word_is_digit(scan->text.data[slash + 1]) &&
           word_digits(scan_slice(scan, from, slash)) == 0 && find_char(scan, slash, to, '.') < to;
}

static void
take_path(struct scan *scan, size_t from, size_t to, unsigned seen)
{
    struct bytes word = scan_slice(scan, from, to);
    unsigned slashes = count_char(scan, from, to, '/');
    bool is_rooted = word.data[0] == '/' || word.data[0] == '~' || word.data[0] == '.' ||
                     word.data[0] == '\\' || (word.len > 2 && word.data[1] == ':');
    unsigned roles = scan_prev_roles(scan);
    if (word.data[0] == '/' && (roles & ROLE_VERB) != 0) {
        size_t rest = emit_leading_parts(scan, from, to);
        scan_emit_hole(scan, rest, to, MASK_PATH);
        return;
    }
    // infNFe/det[3]/prod/NCM goes on behind its index.
    bool goes_on = from > 0 && scan->text.data[from - 1] == ']';
    bool is_named = goes_on || ((roles & ROLE_NAME) != 0 && count_char(scan, from, to, '.') == 0);
    if (is_named || is_indexed_path(word)) {
        scan_emit_path(scan, from, to);
        return;
    }
    if (!is_rooted && slashes == 1 && is_peer(scan, from, to)) {
        size_t slash = find_char(scan, from, to, '/');
        scan_take_piece(scan, from, slash);
        scan_emit_hole(scan, slash + 1, to, MASK_IP);
        return;
    }
    if (!is_rooted && (seen & KIND_DIGIT) == 0 && (slashes == 1 || word_is_class(word))) {
        scan_emit_word(scan, from, to);
        return;
    }
    if (is_kept_word(word) || bytes_starts(word, "application/"))
        scan_emit_word(scan, from, to);
    else
        scan_emit_hole(scan, from, to, word_is_digit(scan_char(scan, from + 1)) ? MASK_IP : MASK_PATH);
    // 12/3.5 MB
    scan->is_number |= word_is_digit(word.data[0]) && (seen & KIND_LETTER) == 0;
}

// Marks

static bool
is_hex_run(struct bytes word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (!word_is_hex(word.data[i]))
            return false;
    }
    return word.len > 0;
}

static void
take_at(struct scan *scan, size_t from, size_t sign, size_t to)
{
    struct bytes right = scan_slice(scan, sign + 1, to);
    if (sign == from) { // an annotation
        scan_take_piece(scan, sign + 1, to);
    } else if (is_hex_run(right) && word_is_letter(scan->text.data[from])) { // com.acme.Order@6d06d69c
        scan_take_piece(scan, from, sign);
        scan_emit_hole(scan, sign, to, MASK_HEX);
    } else {
        scan_emit_hole(scan, from, to, MASK_EMAIL);
    }
}

// Times, IPv6 and hardware addresses are one thing; other colons part words.
static bool
is_colon_value(struct bytes word)
{
    unsigned colons = 0;
    unsigned digits = 0;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        if (c == ':')
            colons++;
        else if (!word_is_hex(c) && !word_is_one_of(c, ".,/-+TZ%"))
            return false;
        digits += word_is_digit(c);
    }
    return digits > 0 && (colons >= 2 || word_is_digit(word.data[0]));
}

// aa:bb:cc:dd:ee:ff, which may hold no digit.
static bool
is_hardware_address(struct bytes word)
{
    if (word.len != 17)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        if (i % 3 == 2 ? word.data[i] != ':' : !word_is_hex(word.data[i]))
            return false;
    }
    return true;
}

static void
take_colons(struct scan *scan, size_t from, size_t to, unsigned seen)
{
    struct bytes word = scan_slice(scan, from, to);
    if ((seen & KIND_DIGIT) != 0 && is_colon_value(word)) {
        emit_volatile(scan, from, to);
        scan->is_number = true;
        return;
    }
    if (is_hardware_address(word)) {
        scan_emit_hole(scan, from, to, MASK_HEX);
        return;
    }
    if ((seen & KIND_DIGIT) == 0 && bytes_find(word, BYTES("::"), 0) != SIZE_MAX) {
        scan_emit_word(scan, from, to);
        return;
    }
    for (;;) {
        size_t colon = find_char(scan, from, to, ':');
        if (colon > from)
            scan_take_piece(scan, from, colon);
        if (colon >= to)
            break;
        scan->after = AFTER_COLON;
        from = colon + 1;
    }
}

// java.net.UnknownHostException: api.partner.com
static bool
is_about_host(const struct scan *scan)
{
    return scan->mask->words == 0 && bytes_present(scan->class_name) &&
           bytes_ends(scan->class_name, "UnknownHostException");
}

// com.acme.Currency.X-17: what is asked of a class is volatile, the class is not. Takes it and returns true.
static bool
take_member(struct scan *scan, size_t from, size_t to)
{
    struct bytes word = scan_slice(scan, from, to);
    size_t dot = bytes_find_last(word, BYTES("."));
    struct bytes head = bytes_slice(word, 0, dot == SIZE_MAX ? 0 : dot);
    if (head.len == 0 || word_digits(head) > 0 || !word_is_class(head) || word_is_numbered_class(word))
        return false;
    scan_emit_word(scan, from, from + head.len);
    scan_emit_hole(scan, from + head.len + 1, to, MASK_ID);
    return true;
}

static void
take_dots(struct scan *scan, size_t from, size_t to, unsigned seen)
{
    struct bytes word = scan_slice(scan, from, to);
    unsigned roles = scan_prev_roles(scan);
    if ((seen & KIND_DIGIT) != 0) {
        if (is_indexed_path(word))
            scan_emit_path(scan, from, to);
        else if (!take_member(scan, from, to))
            take_digits(scan, from, to, seen);
    } else if ((roles & ROLE_LOGIN) != 0 && (seen & KIND_UPPER) == 0) { // user maria.souza
        scan_emit_hole(scan, from, to, MASK_PERSON);
    } else if (word_is_host(word) && (roles & ROLE_HOST) == 0 && !is_about_host(scan)) {
        scan_emit_hole(scan, from, to, MASK_HOST);
    } else {
        scan_emit_word(scan, from, to);
    }
}

// "program......0": a line of dots parts words.
static bool
take_dot_line(struct scan *scan, size_t from, size_t to)
{
    struct bytes word = scan_slice(scan, from, to);
    size_t dots = bytes_find(word, BYTES(".."), 0);
    if (dots == SIZE_MAX || word.data[0] == '.' || word.data[0] == '/')
        return false;
    size_t behind = dots;
    while (behind < word.len && word.data[behind] == '.')
        behind++;
    scan_take_piece(scan, from, from + dots);
    scan_take_piece(scan, from + behind, to);
    return true;
}

// Which marks a word holds, and where what decides first stands.
struct marks {
    bool has_slash;
    bool has_colon;
    bool has_dot_line;
    size_t scheme; // SIZE_MAX: none
    size_t at_sign;
};

static struct marks
find_marks(const struct scan *scan, size_t from, size_t to)
{
    const char *data = scan->text.data;
    struct marks marks = {.scheme = SIZE_MAX, .at_sign = SIZE_MAX};
    for (size_t i = from; i < to; i++) {
        if ((word_kind(data[i]) & KIND_MARK) == 0)
            continue;
        char next = i + 1 < to ? data[i + 1] : ' ';
        if (data[i] == '/' || data[i] == '\\') {
            marks.has_slash = true;
        } else if (data[i] == '.') {
            marks.has_dot_line |= next == '.';
        } else if (data[i] == '@') {
            marks.at_sign = marks.at_sign == SIZE_MAX ? i : marks.at_sign;
        } else {
            marks.has_colon = true;
            if (marks.scheme == SIZE_MAX && next == '/' && i + 2 < to && data[i + 2] == '/')
                marks.scheme = i;
        }
    }
    return marks;
}

void
scan_take_marked(struct scan *scan, size_t from, size_t to, unsigned seen)
{
    if (scan->after == AFTER_EQUALS) {
        scan_take_value(scan, from, to, seen);
        return;
    }
    if ((seen & KIND_MARK) == 0) {
        take_digits(scan, from, to, seen);
        return;
    }

    struct marks marks = find_marks(scan, from, to);
    if (marks.scheme != SIZE_MAX)
        take_url(scan, from, marks.scheme);
    else if (marks.has_dot_line && take_dot_line(scan, from, to))
        return;
    else if (marks.at_sign != SIZE_MAX && scan->text.data[from] != '/')
        take_at(scan, from, marks.at_sign, to);
    else if (marks.has_slash)
        take_path(scan, from, to, seen);
    else if (marks.has_colon)
        take_colons(scan, from, to, seen);
    else
        take_dots(scan, from, to, seen);
}

void
scan_take_value(struct scan *scan, size_t from, size_t to, unsigned seen)
{
    struct bytes word = scan_slice(scan, from, to);
    unsigned roles = scan_prev_roles(scan);
    char behind = scan_char(scan, to);
    scan->after = AFTER_BLANK;
    if (scan->has_gap && behind == '=' &&
        scan_char(scan, to + 1) != '=') { // `logname= uid=0`: that value was empty
        scan_take_piece(scan, from, to);
        return;
    }
    bool has_digit = (seen & KIND_DIGIT) != 0;
    bool is_named = (roles & (ROLE_NAME | ROLE_WEAK_NAME)) != 0 && word_is_identifier(word) && !has_digit;
    bool is_told = (roles & (ROLE_CODE | ROLE_SQLSTATE | ROLE_TELLING)) != 0;
    if (is_named || (!has_digit && word_is_class(word)) ||
        (is_told && (seen & (KIND_DIGIT | KIND_MARK)) == 0)) {
        scan_emit_name(scan, from, to);
    } else if (is_told || bytes_find(word, BYTES("://"), 0) != SIZE_MAX) {
        scan_take_marked(scan, from, to, seen);
    } else {
        scan_emit_hole(scan, from, to, MASK_VALUE);
    }
}
