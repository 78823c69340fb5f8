// Words with marks in them (dots, colons, @), values behind a `=`, and values of several words: lists of
// hosts, keys whose parts are joined.
#include "core/fingerprint/maskers.h"

#include <string.h>

#include "core/fingerprint/payload.h"

#define JOINED_PARTS_MAX 8
#define BODY_REACH 2048
#define ADDRESS_LONG 64 // of an IPv6 address with its zone and port

static bool
is_hex_run(struct bytes word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (!word_is_hex(word.data[i]))
            return false;
    }
    return word.len > 0;
}

bool
mask_at_sign(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    if (scan->text.data[from] == '/')
        return false;
    size_t sign = scan_find_char(scan, from, to, '@');
    struct bytes right = scan_slice(scan, sign + 1, to);
    if (sign == from) { // an annotation
        scan_again(scan, sign + 1, to, PART_WORD);
    } else if (is_hex_run(right) && word_is_letter(scan->text.data[from])) { // com.acme.Order@6d06d69c
        scan_again(scan, from, sign, PART_WORD);
        scan_emit_hole(scan, sign, to, MASK_HEX);
    } else {
        size_t colon = sign;
        while (colon > from && scan->text.data[colon - 1] != ':')
            colon--;
        if (colon > from + 1) { // cart:ana@example.org
            scan_again(scan, from, colon - 1, PART_WORD);
            from = colon;
        }
        scan_emit_hole(scan, from, to, MASK_EMAIL);
    }
    return true;
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

// 2001:db8::9: so many colons that it is no pair of a name and a number.
static bool
is_address(struct bytes word)
{
    unsigned colons = 0;
    if (word.len > ADDRESS_LONG)
        return false;
    for (size_t i = 0; i < word.len; i++)
        colons += word.data[i] == ':';
    return (colons >= 3 || bytes_find(word, BYTES("::"), 0) != SIZE_MAX) && is_colon_value(word);
}

// java.net.UnknownHostException: api.partner.com
static bool
is_about_host(const struct mask_scan *scan)
{
    return scan->mask->words == 0 && bytes_present(scan->class_name) &&
           bytes_ends(scan->class_name, "UnknownHostException");
}

// edge-7.acme.asia:443
static bool
is_host_and_port(struct bytes word)
{
    size_t colon = bytes_find(word, BYTES(":"), 0);
    struct bytes port = bytes_slice(word, colon + 1, word.len);
    return port.len > 0 && port.len <= 5 && word_digits(port) == port.len &&
           word_is_host_of_port(bytes_slice(word, 0, colon));
}

bool
mask_colons(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    struct bytes word = scan_slice(scan, from, to);
    if ((seen & KIND_DIGIT) != 0 && is_colon_value(word)) {
        scan_emit_volatile(scan, from, to);
        scan->is_number = true;
        return true;
    }
    if (is_hardware_address(word)) {
        scan_emit_hole(scan, from, to, MASK_HEX);
        return true;
    }
    if ((scan_prev_roles(scan) & ROLE_HOST) == 0 && !is_about_host(scan) && is_host_and_port(word)) {
        scan_emit_hole(scan, from, to, MASK_HOST);
        scan->is_number = true;
        return true;
    }
    if ((seen & KIND_DIGIT) == 0 && bytes_find(word, BYTES("::"), 0) != SIZE_MAX) {
        scan_emit_word(scan, from, to);
        return true;
    }
    for (;;) {
        size_t colon = scan_find_char(scan, from, to, ':');
        if (colon > from)
            scan_again(scan, from, colon, PART_WORD);
        if (colon >= to)
            break;
        scan->after = AFTER_COLON;
        from = colon + 1;
        if (from < to && is_address(scan_slice(scan, from, to))) { // peer:fe80::1
            scan_emit_hole(scan, from, to, MASK_IP);
            break;
        }
    }
    return true;
}

// com.acme.Currency.X-17: what is asked of a class is volatile, the class is not. Takes it and returns true.
static bool
take_member(struct mask_scan *scan, size_t from, size_t to)
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

// No enum constant com.acme.Status.on hold: what was looked for may be anything. Takes it, to the end of the
// line, and returns true.
static bool
take_enum_constant(struct mask_scan *scan, size_t from, size_t to)
{
    if (scan->prev.len != strlen("constant") || !bytes_equal_text(scan->prev, "constant") ||
        !bytes_ends(scan_slice(scan, 0, (size_t)(scan->prev.data - scan->text.data)), "enum "))
        return false;
    struct bytes word = scan_slice(scan, from, to);
    size_t dot = bytes_find_last(word, BYTES("."));
    struct bytes head = bytes_slice(word, 0, dot == SIZE_MAX ? 0 : dot);
    if (head.len == 0 || !word_is_class(head))
        return false;
    size_t end = scan_find_char(scan, to, scan->end, '\n');
    scan_emit_word(scan, from, from + head.len);
    scan_emit_hole(scan, from + head.len + 1, end, MASK_VALUE);
    scan->at = end > scan->at ? end : scan->at;
    return true;
}

// billing.invoices-4: a partition's number behind its topic, whose name has dots. Takes it and returns true.
static bool
take_partition(struct mask_scan *scan, size_t from, size_t to)
{
    size_t dash = to;
    while (dash > from && word_is_digit(scan->text.data[dash - 1]))
        dash--;
    if (dash == to || to - dash > 4 || dash <= from + 1 || scan->text.data[dash - 1] != '-')
        return false;
    struct bytes topic = scan_slice(scan, from, dash - 1);
    bool has_dot = false;
    for (size_t i = 0; i < topic.len; i++) {
        char c = topic.data[i];
        if ((word_kind(c) & KIND_LOWER) == 0 && !word_is_one_of(c, "._-"))
            return false;
        has_dot |= c == '.';
    }
    if (!has_dot || word_is_host(topic) || word_is_host(scan_slice(scan, from, to)))
        return false;
    scan_emit_word(scan, from, from + topic.len);
    scan_emit_hole(scan, dash, to, MASK_NUMBER);
    return true;
}

bool
mask_dots(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    if (take_enum_constant(scan, from, to))
        return true;
    struct bytes word = scan_slice(scan, from, to);
    unsigned roles = scan_prev_roles(scan);
    if ((seen & KIND_DIGIT) != 0) {
        if (!word_is_indexed_path(word))
            return take_member(scan, from, to) || take_partition(scan, from, to);
        scan_emit_path(scan, from, to);
    } else if ((roles & ROLE_LOGIN) != 0 && (seen & KIND_UPPER) == 0) { // user maria.souza
        scan_emit_hole(scan, from, to, MASK_PERSON);
    } else if (word_is_host(word) && (roles & ROLE_HOST) == 0 && !is_about_host(scan)) {
        scan_emit_hole(scan, from, to, MASK_HOST);
    } else {
        scan_emit_word(scan, from, to);
    }
    return true;
}

// "program......0": a line of dots parts words.
bool
mask_dot_line(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    struct bytes word = scan_slice(scan, from, to);
    size_t dots = bytes_find(word, BYTES(".."), 0);
    if (dots == SIZE_MAX || word.data[0] == '.' || word.data[0] == '/')
        return false;
    size_t behind = dots;
    while (behind < word.len && word.data[behind] == '.')
        behind++;
    scan_again(scan, from, from + dots, PART_WORD);
    scan_again(scan, from + behind, to, PART_WORD);
    return true;
}

// GenericMessage [payload=order 9 of Ana, headers={…}]: Spring prints the body as it came.
static bool
take_message_body(struct mask_scan *scan, size_t from)
{
    if (scan->prev.len != strlen("payload") || !bytes_equal_text(scan->prev, "payload"))
        return false;
    size_t reach = scan->end - from > BODY_REACH ? from + BODY_REACH : scan->end;
    size_t headers = bytes_find(scan_slice(scan, from, reach), BYTES(", headers="), 0);
    if (headers == SIZE_MAX)
        return false;
    scan_emit_hole(scan, from, from + headers, MASK_PAYLOAD);
    scan->at = from + headers > scan->at ? from + headers : scan->at;
    return true;
}

// size = 12 MB: behind the unit of the number that ends at `to`, or `to`.
static size_t
unit_end(const struct mask_scan *scan, size_t to)
{
    if (scan_char(scan, to) != ' ')
        return to;
    struct bytes word = scan_peek_word(scan, to + 1);
    bool is_unit = word.len > 0 && word.data == scan->text.data + to + 1 &&
                   (word_roles(word) & ROLE_UNIT) != 0 && scan_char(scan, to + 1 + word.len) != '=';
    return is_unit ? to + 1 + word.len : to;
}

// field=54, tag=40: FIX and its like name their fields by number.
static bool
is_numbered_field(const struct mask_scan *scan, struct bytes word)
{
    return word.len <= 4 && word_digits(word) == word.len &&
           (word_equals_folded(scan->prev, "field") || word_equals_folded(scan->prev, "tag"));
}

bool
mask_value(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    if (take_message_body(scan, from))
        return true;
    struct bytes word = scan_slice(scan, from, to);
    unsigned roles = scan_prev_roles(scan);
    char behind = scan_char(scan, to);
    scan->after = AFTER_BLANK;
    if (scan->has_gap && behind == '=' &&
        scan_char(scan, to + 1) != '=') { // `logname= uid=0`: that value was empty
        scan_again(scan, from, to, PART_WORD);
        return true;
    }
    bool has_digit = (seen & KIND_DIGIT) != 0;
    bool is_named = (roles & (ROLE_NAME | ROLE_WEAK_NAME)) != 0 && word_is_identifier(word) && !has_digit;
    bool is_told = (roles & (ROLE_CODE | ROLE_SQLSTATE | ROLE_TELLING)) != 0;
    is_named |= is_numbered_field(scan, word);
    if (is_named || (!has_digit && word_is_class(word)) ||
        (is_told && (seen & (KIND_DIGIT | KIND_MARK)) == 0)) {
        scan_emit_name(scan, from, to);
        if ((roles & ROLE_TELLING) != 0) { // `desc = customer "Ana Lima"`: a sentence begins
            scan->prev = word;
            scan->prev_roles = 0;
        }
    } else if (is_told || bytes_find(word, BYTES("://"), 0) != SIZE_MAX) {
        return false;
    } else {
        size_t end = behind == '{' ? payload_object_end(bytes_slice(scan->text, 0, scan->end), to) : 0;
        end = end != 0 ? end : has_digit && (seen & KIND_LETTER) == 0 ? unit_end(scan, to) : to;
        scan_emit_hole(scan, from, end, MASK_VALUE);
        scan->at = end > scan->at ? end : scan->at;
    }
    return true;
}

// Behind the list of numbers in the bracket at `open`, or 0 where it holds anything else, or one number,
// which is an index.
static size_t
numbers_end(const struct mask_scan *scan, size_t open)
{
    const char *data = scan->text.data;
    size_t at = open + 1;
    unsigned numbers = 0;
    for (; at < scan->end && (word_is_digit(data[at]) || word_is_one_of(data[at], "-, \\")); at++)
        numbers += word_is_digit(data[at]) && !word_is_digit(data[at - 1]);
    return at < scan->end && data[at] == ']' && numbers >= 2 ? at + 1 : 0;
}

bool
mask_host_list(struct mask_scan *scan, size_t from, size_t to)
{
    const char *data = scan->text.data;
    size_t open = scan_char(scan, to) == '-' ? to + 1 : to;
    bool is_prefix = open > to || (to >= from + 3 && data[to - 2] == '-' && word_is_letter(data[to - 1]));
    if (!is_prefix || scan_char(scan, open) != '[')
        return false;
    size_t end = numbers_end(scan, open);
    if (end == 0)
        return false;
    scan_emit_hole(scan, from, end, MASK_HOST);
    scan->at = end > scan->at ? end : scan->at;
    return true;
}

// Behind `null`, or a package of three parts and more, that begins at `from`, or 0.
static size_t
joined_part_end(const struct mask_scan *scan, size_t from)
{
    unsigned dots = 0;
    size_t at = from;
    while ((word_kind(scan_char(scan, at)) & KIND_LOWER) != 0) {
        at++;
        if (scan_char(scan, at) == '.') {
            dots++;
            at++;
        }
    }
    bool is_part = dots >= 2 || bytes_equal_text(scan_slice(scan, from, at), "null");
    return is_part && scan_char(scan, at) == '|' ? at : 0;
}

bool
mask_joined(struct mask_scan *scan)
{
    size_t from = scan->at + 1;
    size_t next = from;
    for (unsigned parts = 0; parts < JOINED_PARTS_MAX; parts++) {
        size_t end = joined_part_end(scan, next);
        if (end == 0)
            break;
        next = end + 1;
    }
    if (next == from || next >= scan->end || !word_is_digit(scan->text.data[next]))
        return false;
    scan_emit_hole(scan, from, next - 1, MASK_ID);
    scan->at = next - 1;
    return true;
}
