// Words without digits and marks: literal, unless the words around them make them values.
#include "core/fingerprint/maskers.h"

#include <string.h>

#define VALUE_REACH 128 // of a value without quotes, up to the words that end it

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

// $, R$, €
static bool
is_currency_sign(struct bytes word)
{
    static const char *const signs[] = {"\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5", "\xE2\x82\xA9",
                                        "\xE2\x82\xB9"};
    if (word.len == 0 || word.len > 3)
        return false;
    if (word.data[word.len - 1] == '$')
        return true;
    if ((word_kind(word.data[0]) & (KIND_HIGH | KIND_LEAD)) == 0)
        return false;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (bytes_equal_text(word, signs[i]))
            return true;
    }
    return false;
}

static bool
is_currency_code(struct bytes word)
{
    static const char codes[] = "ARS AUD BRL CAD CHF CLP CNY COP CZK DKK EUR GBP HKD HUF INR JPY KRW MXN NOK "
                                "PEN PLN SEK SGD TWD USD UYU ZAR ";
    bool may_be = word.len == 3 && (word_kind(word.data[0]) & word_kind(word.data[1]) & KIND_UPPER) != 0;
    for (size_t i = 0; may_be && i + 3 < sizeof codes; i += 4) {
        if (memcmp(codes + i, word.data, 3) == 0)
            return true;
    }
    return false;
}

// "€ 12.50", "12,50 €", "12.50 EUR", "EUR 12.50": the currency belongs to the amount.
static bool
is_of_amount(const struct mask_scan *scan, size_t to, struct bytes word)
{
    bool is_code = is_currency_code(word);
    if (!is_code && !is_currency_sign(word))
        return false;
    size_t next = scan_skip_blanks(scan, to);
    bool is_before = word_is_digit(scan_char(scan, next)) ||
                     (scan_char(scan, next) == '-' && word_is_digit(scan_char(scan, next + 1)));
    return is_before || (scan->is_number && scan->may_collapse);
}

// "decimal: abc. Path …": the value goes on to the next full stop, comma or semicolon, or the end of the
// line.
static size_t
free_value_end(const struct mask_scan *scan, size_t at)
{
    // "value: null used for required field": nothing goes on behind a missing value.
    struct bytes word = scan_peek_word(scan, at);
    if (word_equals_folded(word, "null") || bytes_equal_text(word, "nil") ||
        bytes_equal_text(word, "undefined"))
        return (size_t)(word.data - scan->text.data) + word.len;
    for (; at < scan->end && scan->text.data[at] != '\n'; at++) {
        bool is_stop = word_is_one_of(scan->text.data[at], ".,;");
        if (is_stop && (at + 1 == scan->end || (word_kind(scan->text.data[at + 1]) & KIND_BLANK) != 0))
            break;
    }
    return at;
}

// com.acme.Order.customer, lines[0].price: a property, which is named and no value.
static bool
is_property(struct bytes word)
{
    unsigned dots = 0;
    bool has_class = false;
    if (word_is_identifier(word) && bytes_find(word, BYTES("]."), 0) != SIZE_MAX)
        return true;
    for (size_t i = 0; i < word.len; i++) {
        dots += word.data[i] == '.';
        has_class |= i > 0 && word.data[i - 1] == '.' && (word_kind(word.data[i]) & KIND_UPPER) != 0;
    }
    return dots >= 2 && has_class && word_is_code_shaped(word);
}

// Not in union ["null","string"]: true (field=referrer): Avro prints the value and then its field. Behind the
// value, or 0.
static size_t
union_value_end(const struct mask_scan *scan, size_t from)
{
    if (from < 3 || memcmp(scan->text.data + from - 3, "]: ", 3) != 0)
        return 0;
    size_t reach = scan->end - from > VALUE_REACH ? VALUE_REACH : scan->end - from;
    size_t at = bytes_find(bytes_slice(scan->text, from, reach), BYTES(" (field="), 0);
    return at == SIZE_MAX ? 0 : from + at;
}

bool
mask_free_value(struct mask_scan *scan, size_t from)
{
    size_t end = union_value_end(scan, from);
    if (end == 0 && (scan_prev_roles(scan) & ROLE_FREE_VALUE) == 0)
        return false;
    // "to decimal: . Path 'total'": the value is empty, and the sentence is over.
    const char *colon = end == 0 ? memchr(scan->prev.data + scan->prev.len, ':',
                                          (size_t)(scan->text.data + from - scan->prev.data) - scan->prev.len)
                                 : NULL;
    if (colon != NULL && scan->text.data[from - 1] == ' ' && from >= 2 && scan->text.data[from - 2] == '.') {
        scan_emit_hole(scan, from, from, MASK_VALUE);
        return false;
    }
    end = end != 0 ? end : free_value_end(scan, from);
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

// "is locked by user bob", where the text or the sentence ends. What is done by user action is no login's
// doing.
static bool
is_held_by(const struct mask_scan *scan, size_t user, size_t to)
{
    static const char *const held[] = {" locked by ",   " held by ",    " processed by ",
                                       " edited by ",   " opened by ",  " reserved by ",
                                       " modified by ", " changed by ", " claimed by "};
    char behind = scan_char(scan, to);
    size_t next = scan_skip_blanks(scan, to + 1);
    bool ends = to >= scan->end || (word_is_one_of(behind, ".,;)") && (next > to + 1 || next >= scan->end));
    struct bytes before = scan_slice(scan, 0, user);
    for (size_t i = 0; ends && i < sizeof held / sizeof held[0]; i++) {
        if (bytes_ends(before, held[i]))
            return true;
    }
    return false;
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
    return is_login_end(scan, to, start >= 4 && memcmp(prev.data - 4, "for ", 4) == 0) ||
           is_held_by(scan, start, to);
}

// "durch Benutzer MUELLER gesperrt", "por usuario ana": by whom it was done. Only English says "by user
// action".
static bool
is_agent(struct mask_scan *scan)
{
    static const char *const by[] = {" durch Benutzer", " von Benutzer",        " por usuario",
                                     " por el usuario", " pelo usu\xC3\xA1rio", " par l'utilisateur",
                                     " door gebruiker", " dall'utente"};
    struct bytes prev = scan->prev;
    if (scan->after != AFTER_BLANK || prev.len < 6 || (scan_prev_roles(scan) & ROLE_LOGIN) == 0)
        return false;
    struct bytes before = scan_slice(scan, 0, (size_t)(prev.data - scan->text.data) + prev.len);
    for (size_t i = 0; i < sizeof by / sizeof by[0]; i++) {
        if (bytes_ends(before, by[i]))
            return true;
    }
    return false;
}

// [8812, "Ana Lima", null]: no word, but a value among values.
static bool
is_listed_scalar(const struct mask_scan *scan, size_t from, size_t to)
{
    struct bytes word = scan_slice(scan, from, to);
    if (word.len > 5 || !word_is_one_of(word.data[0], "ntfNTF") ||
        !word_is_one_of(scan_char(scan, to), ",])"))
        return false;
    static const char *const scalars[] = {"null", "nil", "none", "true", "false"};
    if (from < 2 || scan->text.data[from - 1] != ' ' || scan->text.data[from - 2] != ',')
        return false;
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        if (word_equals_folded(word, scalars[i]))
            return true;
    }
    return false;
}

// Is text[from, to) a value of a few words, none of which is an article, a type or another name?
static bool
is_operand(const struct mask_scan *scan, size_t from, size_t to)
{
    static const unsigned told = ROLE_TYPE | ROLE_VALUE | ROLE_NAME | ROLE_WEAK_NAME | ROLE_CODE;
    static const char *const others[] = {"a",    "an",    "the",  "list", "dict",      "tuple", "bytes",
                                         "null", "nil",   "none", "nan",  "undefined", "map",   "struct",
                                         "type", "slice", "from", "it",   "this",      "empty", "infinity"};
    for (unsigned i = 0; i < 4; i++) {
        from = scan_skip_blanks(scan, from);
        if (from >= to)
            return i > 0;
        struct bytes word = scan_peek_word(scan, from);
        if (word.len > 0 && (word_roles(word) & told) != 0)
            return false;
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            if (word_equals_folded(word, others[k]))
                return false;
        }
        while (from < to && (word_kind(scan->text.data[from]) & KIND_BLANK) == 0)
            from++;
    }
    return false;
}

// "Cannot convert red blue to a BigInt", "with value order 9 due to": behind what is converted, up to the
// words that end it; or 0.
static size_t
converted_end(struct mask_scan *scan, size_t from)
{
    static const char *const ends[] = {" due to", " supplied to"};
    static const char *const into[] = {" to decimal",   " to a BigInt", " to a number", " to an integer",
                                       " to integer",   " to int",      " to a date",   " as decimal",
                                       " as a decimal", " as a number", " as number",   " as date",
                                       " as a date",    " as int",      " as integer"};
    unsigned before = scan_prev_roles(scan);
    bool is_value = (before & ROLE_VALUE) != 0 && word_equals_folded(scan->prev, "value");
    bool is_converted = (before & ROLE_OPERAND) != 0 && scan->prev.len <= 7;
    if (scan->after != AFTER_BLANK || (!is_value && !is_converted))
        return 0;
    size_t reach = scan->end - from > VALUE_REACH ? VALUE_REACH : scan->end - from;
    struct bytes rest = bytes_slice(scan->text, from, reach);
    const char *const *list = is_value ? ends : into;
    size_t count = is_value ? sizeof ends / sizeof ends[0] : sizeof into / sizeof into[0];
    for (size_t i = 0; i < count; i++) {
        size_t at = bytes_find(rest, bytes_of(list[i]), 0);
        if (at == SIZE_MAX || word_is_alnum(scan_char(scan, from + at + strlen(list[i]))))
            continue;
        return is_operand(scan, from, from + at) ? from + at : 0;
    }
    return 0;
}

// Illegal character á, unexpected token h, at position 0 (h): one letter.
static bool
is_told_character(const struct mask_scan *scan, struct bytes word)
{
    if (word.len != 1 && (word.len != 2 || (word_kind(word.data[0]) & KIND_HIGH) == 0))
        return false;
    if (scan->after == AFTER_OPEN) {
        size_t from = (size_t)(word.data - scan->text.data);
        return from >= 2 && scan->text.data[from - 1] == '(' && scan->text.data[from - 2] == ' ' &&
               scan_char(scan, from + word.len) == ')';
    }
    return scan->after == AFTER_BLANK &&
           ((scan->prev.len == 9 && word_equals_folded(scan->prev, "character")) ||
            (scan->prev.len == 5 && word_equals_folded(scan->prev, "token")));
}

// to PT, from BR: a country by its code.
static bool
is_country(const struct mask_scan *scan, struct bytes word)
{
    static const char codes[] =
        "AR AU BR CA CH CL CN CO DE DK ES FI FR GB HK IE JP KR MX NL PE PL PT SE SG TR TW UK "
        "US UY ZA ";
    static const char *const before[] = {"to", "from", "in", "for", "country", "para", "nach", "vers"};
    bool may_be = (word_kind(word.data[0]) & word_kind(word.data[1]) & KIND_UPPER) != 0;
    if (!may_be || scan->after > AFTER_COLON || scan->prev.len < 2)
        return false;
    size_t i = 0;
    while (i < sizeof before / sizeof before[0] && !bytes_equal_text(scan->prev, before[i]))
        i++;
    for (size_t k = 0; i < sizeof before / sizeof before[0] && k + 2 < sizeof codes; k += 3) {
        if (memcmp(codes + k, word.data, 2) == 0)
            return true;
    }
    return false;
}

// pt_PT, en-US: a language and a country.
static bool
is_locale(struct bytes word)
{
    return word.len == 5 && (word.data[2] == '_' || word.data[2] == '-') &&
           (word_kind(word.data[0]) & word_kind(word.data[1]) & KIND_LOWER) != 0 &&
           (word_kind(word.data[3]) & word_kind(word.data[4]) & KIND_UPPER) != 0;
}

static bool
is_place_code(const struct mask_scan *scan, size_t at)
{
    for (size_t i = 0; i < 3; i++) {
        if ((word_kind(scan_char(scan, at + i)) & KIND_UPPER) == 0)
            return false;
    }
    return !word_is_alnum(scan_char(scan, at + 3));
}

// from LIS to GRU: behind both codes of places, or 0.
static size_t
route_end(const struct mask_scan *scan, size_t from)
{
    static const char to[] = " to ";
    if (!bytes_equal_text(scan->prev, "from") || !is_place_code(scan, from) ||
        !bytes_starts(scan_slice(scan, from + 3, scan->end), to))
        return 0;
    size_t other = from + 3 + sizeof to - 1;
    return other + 3 <= scan->end && is_place_code(scan, other) ? other + 3 : 0;
}

// SKU MUG-BLUE, coupon SUMMER, zone PT-N, id kZxAbQwRty: a thing's own name, unless it is a word of the
// sentence: SKU NOT FOUND, id must.
static bool
is_item_id(struct mask_scan *scan, struct bytes word)
{
    static const char *const sentence[] = {"NOT", "IS",      "HAS",     "WAS",      "ALREADY", "NO",
                                           "AND", "MISSING", "INVALID", "REQUIRED", "EXPIRED", "UNKNOWN",
                                           "OUT", "MUST",    "CANNOT",  "NULL",     "DOES",    "INACTIVE"};
    unsigned before = scan_prev_roles(scan);
    unsigned roles = before & (ROLE_ITEM | ROLE_ID | ((before & ROLE_CODE) == 0 ? ROLE_SORT : 0));
    if (roles == 0 || scan->after > AFTER_COLON || word.len < 3)
        return false;
    if (word_is_random(word))
        return true;
    unsigned upper = 0;
    unsigned lower = 0;
    unsigned dashes = 0;
    for (size_t i = 0; i < word.len; i++) {
        upper += (word_kind(word.data[i]) & KIND_UPPER) != 0;
        lower += (word_kind(word.data[i]) & (KIND_LOWER | KIND_HIGH)) != 0;
        dashes += word.data[i] == '-' && i > 0;
    }
    if (upper == 0)
        return dashes > 0 && (roles & ROLE_ITEM) != 0;
    for (size_t i = 0; i < sizeof sentence / sizeof sentence[0]; i++) {
        if (bytes_equal_text(word, sentence[i]))
            return false;
    }
    return lower == 0 && (dashes > 0 || (roles & ROLE_ITEM) != 0);
}

// A capital may begin a name.
static inline bool
may_begin_party(struct bytes word)
{
    return (word_kind(word.data[0]) & KIND_UPPER) != 0 || (unsigned char)word.data[0] == 0xC3;
}

// Most words are plain ones behind plain ones, so they are told first.
static inline bool
is_plain(struct mask_scan *scan, struct bytes word, unsigned roles)
{
    static const unsigned may_take =
        ROLE_LOGIN | ROLE_PERSON | ROLE_ID | ROLE_OPERAND | ROLE_VALUE | ROLE_ITEM | ROLE_SORT;
    bool is_long = word.len > 5 || (word.len > 3 && !scan->may_collapse && word.data[2] != '_');
    return roles == 0 && !may_begin_party(word) && is_long && scan->prev.len != 3 &&
           (scan_prev_roles(scan) & may_take) == 0;
}

// "for user bob", "id: abc", "42 ms": the word before makes this one volatile.
static bool
take_by_neighbour(struct mask_scan *scan, size_t from, size_t to, unsigned roles)
{
    struct bytes word = scan_slice(scan, from, to);
    if (is_plain(scan, word, roles))
        return false;
    if ((roles & (ROLE_DATE | ROLE_ZONE)) != 0 && mask_date(scan, from, to, roles))
        return true;
    if (scan->is_number && scan->may_collapse && word.len <= 12 && (roles & ROLE_UNIT) != 0) {
        scan_emit_hole(scan, from, to, MASK_DURATION);
        return true;
    }
    if (scan->after == AFTER_COLON && (scan_prev_roles(scan) & ROLE_ID) != 0) {
        scan_emit_hole(scan, from, to, MASK_IDENTITY);
        return true;
    }
    if (is_login(scan, to) || is_agent(scan)) {
        scan_emit_hole(scan, from, to, MASK_PERSON);
        return true;
    }
    if (scan->may_collapse && is_listed_scalar(scan, from, to)) {
        scan_emit_hole(scan, from, to, MASK_VALUE);
        return true;
    }
    if ((scan_prev_roles(scan) & ROLE_PERSON) != 0 && word.len >= 9 &&
        bytes_find(word, BYTES("\xEB\x8B\x98"), 3) != SIZE_MAX) { // 고객 김민준님의
        scan_emit_hole(scan, from, to, MASK_PERSON);
        return true;
    }
    if (is_told_character(scan, word)) {
        scan_emit_hole(scan, from, to, MASK_VALUE);
        return true;
    }
    size_t converted = converted_end(scan, from);
    if (converted != 0) {
        scan_emit_hole(scan, from, converted, MASK_VALUE);
        scan->at = converted > scan->at ? converted : scan->at;
        return true;
    }
    if (may_begin_party(word) && mask_party(scan, from, to, roles))
        return true;
    size_t route = word.len == 3 ? route_end(scan, from) : 0;
    if (route != 0) {
        scan_emit_hole(scan, from, route, MASK_IDENTITY);
        scan->at = route > scan->at ? route : scan->at;
        return true;
    }
    if ((word.len == 2 && is_country(scan, word)) || is_locale(word) || is_item_id(scan, word)) {
        scan_emit_hole(scan, from, to, MASK_IDENTITY);
        return true;
    }
    if (word.len <= 3 && is_of_amount(scan, to, word)) {
        scan_emit_hole(scan, from, to, MASK_NUMBER);
        return true;
    }
    return false;
}

// Currency code, postal code: of a thing, and no error's. What it is follows in quotes, or behind the colon
// of "unknown currency code: euro". 0: it is another word.
static unsigned
roles_of_data_code(const struct mask_scan *scan, struct bytes word)
{
    static const char *const things[] = {"currency", "country", "postal",   "zip",      "product", "coupon",
                                         "voucher",  "promo",   "discount", "language", "account", "customer",
                                         "tracking", "airport", "tax",      "supplier", "item"};
    static const char *const refusals[] = {"nknown ", "nvalid ", "nsupported "};
    if (word.len != 4 || scan->prev.len < 3 || scan->after != AFTER_BLANK ||
        !word_equals_folded(word, "code"))
        return 0;
    size_t i = 0;
    while (i < sizeof things / sizeof things[0] && !word_equals_folded(scan->prev, things[i]))
        i++;
    if (i == sizeof things / sizeof things[0])
        return 0;
    struct bytes before = scan_slice(scan, 0, (size_t)(scan->prev.data - scan->text.data));
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        if (bytes_ends(before, refusals[k]))
            return ROLE_VALUE | ROLE_ID;
    }
    return ROLE_VALUE;
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
        // of an index: VALUES ( 12 )
        bool may_be_rows = (roles & ROLE_SQL_DATA) != 0 && bytes_equal_text(word, "VALUES");
        size_t end = may_be_rows ? rows_end(scan, to) : 0;
        if (end != 0) {
            scan_emit_hole(scan, from, end, MASK_SQL);
            scan->at = end;
            return true;
        }
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
    unsigned other = (roles & ROLE_CODE) != 0 ? roles_of_data_code(scan, word) : 0;
    roles = other != 0 ? other : roles;
    scan->seen_roles |= roles;
    if (is_plural)
        scan_emit_word(scan, from, to - 1);
    else
        scan_emit_known(scan, from, to, roles);
    return true;
}
