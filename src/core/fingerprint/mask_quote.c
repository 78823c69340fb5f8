// Quoted text: a value, unless its context makes it a name or a sentence.
#include "core/fingerprint/maskers.h"

#include <string.h>

#include "core/fingerprint/payload.h"

#define PARTICLE_MAX 6 // bytes of what may hang on a closing quote: 'email'은
#define NAME_DIGITS_MAX 12
#define SIGNATURE_DIGITS_MAX 8
#define ATOM_REACH 48
#define ERROR_REACH 120 // of a quoted sentence, to see whether it is about an error

struct quote_pair {
    const char *open;
    const char *close;
};

static const struct quote_pair pairs[] = {
    {"\"", "\""},
    {"'", "'"},
    {"`", "`"},
    {"\xC2\xAB", "\xC2\xBB"},
    {"\xE2\x80\x98", "\xE2\x80\x99"},
    {"\xE2\x80\x9C", "\xE2\x80\x9D"},
    {"\xE2\x80\x9E", "\xE2\x80\x9C"},
    {"\xE3\x80\x8C", "\xE3\x80\x8D"},
};

#define PAIR_COUNT (sizeof pairs / sizeof pairs[0])

static unsigned
pair_of(const struct mask_scan *scan)
{
    struct bytes rest = scan_slice(scan, scan->at, scan->end);
    for (unsigned i = 0; i < PAIR_COUNT; i++) {
        if (bytes_starts(rest, pairs[i].open))
            return i;
    }
    return 0;
}

// Where the closing mark stands at or behind `from`, or SIZE_MAX.
static size_t
find_close(const struct mask_scan *scan, unsigned pair, size_t from)
{
    struct bytes text = bytes_slice(scan->text, 0, scan->end);
    struct bytes close = bytes_of(pairs[pair].close);
    char opened = pairs[pair].open[0];
    for (size_t at = from; at < text.len; at++) {
        at = bytes_find(text, close, at);
        if (opened == '`') { // Ruby of old closes `name' so
            size_t other = bytes_find(text, BYTES("'"), from);
            return other < at ? other : at;
        }
        if (at == SIZE_MAX)
            return SIZE_MAX;
        bool is_escaped = opened == '"' && at > from && text.data[at - 1] == '\\';
        bool is_apostrophe = opened == '\'' && at + 1 < text.len &&
                             (word_kind(text.data[at + 1]) & (KIND_UPPER | KIND_LOWER | KIND_DIGIT)) != 0;
        if (!is_escaped && !is_apostrophe)
            return at;
    }
    return SIZE_MAX;
}

enum quoted { QUOTED_VALUE, QUOTED_NAME, QUOTED_CODE, QUOTED_TEXT };

static unsigned
count_words(struct bytes content)
{
    unsigned count = 0;
    for (size_t i = 0; i < content.len; i++) {
        bool is_blank = (word_kind(content.data[i]) & KIND_BLANK) != 0;
        bool follows = i > 0 && (word_kind(content.data[i - 1]) & KIND_BLANK) == 0;
        count += (i == 0 && !is_blank) || (is_blank && follows && i + 1 < content.len);
    }
    return count;
}

// $.items[3].sku, /items/3/sku, items[3].sku: a path into a document. With `is_named` also one without an
// index.
static bool
is_document_path(struct bytes content, bool is_named)
{
    if (content.len < 3 || content.len > 200 || word_is_one_of(content.data[0], ".-"))
        return false;
    bool may_be_path =
        content.data[0] == '/' || content.data[0] == '$' || memchr(content.data, '[', content.len) != NULL;
    if (!may_be_path)
        return false;
    bool has_index = is_named;
    bool has_dot = false;
    for (size_t i = 0; i < content.len; i++) {
        char c = content.data[i];
        if (!word_is_alnum(c) && !word_is_one_of(c, "_.$[]/-*"))
            return false;
        bool starts_part = i > 0 && word_is_one_of(content.data[i - 1], "/[");
        bool ends_part = i + 1 == content.len || word_is_one_of(content.data[i + 1], "/]");
        has_index |= starts_part && ends_part && word_is_digit(c);
        has_dot |= c == '.';
    }
    size_t last = content.len;
    while (last > 0 &&
           (word_is_alnum(content.data[last - 1]) || word_is_one_of(content.data[last - 1], "_-")))
        last--;
    struct bytes field = bytes_slice(content, last, content.len);
    if (field.len < 2 || field.len == content.len || word_digits(field) > 0)
        return false;
    return content.data[0] != '/' || (has_index && !has_dot);
}

// Signatures: public void com.acme.Listener.on(com.acme.Order), Map.get(Object, int)
static bool
is_signature(struct bytes content)
{
    return content.len > 3 && memchr(content.data, '(', content.len) != NULL &&
           memchr(content.data, '.', content.len) != NULL &&
           (bytes_ends(content, ")") || bytes_ends(content, ";"));
}

// With quotes, = or more than a few digits in it, what looks like a signature is a sentence that ends in a
// bracket.
static bool
holds_data(struct bytes content)
{
    unsigned run = 0;
    if (word_digits(content) > SIGNATURE_DIGITS_MAX)
        return true;
    for (size_t i = 0; i < content.len; i++) {
        run = word_is_digit(content.data[i]) ? run + 1 : 0;
        if (run > 3 || word_is_one_of(content.data[i], "'\"="))
            return true;
    }
    return false;
}

static bool
is_plain_phrase(struct bytes content)
{
    if (content.len > 40)
        return false;
    for (size_t i = 0; i < content.len; i++) {
        if (!word_is_letter(content.data[i]) && !word_is_one_of(content.data[i], " _-."))
            return false;
    }
    return true;
}

// Classes whose whole text is the name that was looked for.
static bool
is_about_name(const struct mask_scan *scan, struct bytes content)
{
    static const char *const classes[] = {"KeyError", "NameError", "AttributeError", "KeyNotFoundException"};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (bytes_ends(scan->class_name, classes[i]) && bytes_present(scan->class_name))
            return scan->mask->words == 0 && word_is_identifier(content) && word_digits(content) == 0;
    }
    return false;
}

static bool
is_request_line(struct bytes content)
{
    size_t blank = bytes_find(content, BYTES(" /"), 0);
    return blank != SIZE_MAX && blank <= 7 && (word_roles(bytes_slice(content, 0, blank)) & ROLE_VERB) != 0;
}

// `503 Service Unavailable`: what a server answered.
static bool
is_status_line(struct bytes content)
{
    return content.len > 5 && (content.data[0] == '4' || content.data[0] == '5') &&
           word_is_digit(content.data[1]) && word_is_digit(content.data[2]) && content.data[3] == ' ' &&
           (word_kind(content.data[4]) & KIND_UPPER) != 0;
}

// property `taxId` = 'DE811907980', argument $3: 'today', column age: 'old': the name stands before the sign
// already.
static bool
is_behind_name(const struct mask_scan *scan, struct bytes content, enum scan_after sign)
{
    if (scan->after != sign || scan->prev.len == 0)
        return false;
    for (const char *p = scan->prev.data + scan->prev.len; p < content.data; p++) {
        if (word_is_alnum(*p))
            return true;
    }
    return false;
}

// 'Gateway Timeout, status code 504', "connection refused by stock": a sentence about an error, while names,
// notes and addresses hold no such word.
static bool
is_about_error(struct bytes content)
{
    static const char *const words[] = {
        "error",     "failed",   "failure", "cannot",       "invalid",   "unknown",     "refused",
        "timeout",   "expired",  "denied",  "missing",      "must",      "required",    "exceeded",
        "exception", "rejected", "timed",   "unauthorized", "forbidden", "unavailable", "reset",
        "aborted",   "not",      "blank",   "unsupported",  "conflict",  "gateway"};
    if (count_words(content) < 3)
        return false;
    size_t at = 0;
    while (at < content.len && at < ERROR_REACH) {
        size_t end = at;
        while (end < content.len && word_is_letter(content.data[end]))
            end++;
        struct bytes word = bytes_slice(content, at, end - at);
        for (size_t i = 0; word.len >= 3 && i < sizeof words / sizeof words[0]; i++) {
            if (word_equals_folded(word, words[i]))
                return true;
        }
        at = end + 1;
    }
    return false;
}

// "weight" is required, 'street' is a required property: within three words something is demanded of it.
static bool
is_demanded(const struct mask_scan *scan, size_t behind)
{
    if (scan->mask->words > 0 && scan->after != AFTER_COLON)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        struct bytes word = scan_peek_word(scan, behind);
        if (word.len == 0)
            return false;
        if ((word_roles(word) & ROLE_DEMAND) != 0)
            return true;
        behind = (size_t)(word.data - scan->text.data) + word.len;
    }
    return false;
}

static enum quoted
judge_phrase(const struct mask_scan *scan, struct bytes content, unsigned roles, size_t behind)
{
    if (is_request_line(content) || is_status_line(content) || is_about_error(content))
        return QUOTED_TEXT;
    if (is_signature(content) && word_is_letter(content.data[0]))
        return holds_data(content) ? QUOTED_TEXT : QUOTED_NAME;
    if ((roles & (ROLE_VALUE | ROLE_ID)) != 0)
        return QUOTED_VALUE;
    if ((roles & ROLE_TELLING) != 0)
        return QUOTED_TEXT;
    if ((roles & ROLE_NAME) != 0 && (is_signature(content) || is_plain_phrase(content)))
        return QUOTED_NAME;
    if (is_plain_phrase(content) && count_words(content) <= 3 &&
        is_demanded(scan, behind)) // 'Vat Number' must
        return QUOTED_NAME;
    bool is_whole = scan->mask->words == 0 && scan->mask->holes == 0;
    return (scan->after == AFTER_COLON || is_whole) && count_words(content) >= 3 ? QUOTED_TEXT : QUOTED_VALUE;
}

static bool
is_weak_name(struct bytes content)
{
    unsigned run = 0;
    for (size_t i = 0; i < content.len; i++) {
        run = word_is_digit(content.data[i]) ? run + 1 : 0;
        if (run > 3 || (run == 1 && i > 0 && content.data[i - 1] == '-'))
            return false;
        if (content.data[i] == ':')
            return false;
    }
    return true;
}

// com.acme.Order["items"]: what stands directly in brackets behind a word.
static bool
is_member(const struct mask_scan *scan, struct bytes content, size_t behind)
{
    size_t at = (size_t)(content.data - scan->text.data);
    return at >= 3 && scan->text.data[at - 2] == '[' && word_is_alnum(scan->text.data[at - 3]) &&
           scan_char(scan, behind) == ']' && word_is_identifier(content) && word_digits(content) <= 2;
}

// "SHOP"."PAYMENTS"."IBAN", `shop`.`holds`: parts of one qualified name.
static bool
is_qualified(const struct mask_scan *scan, struct bytes content, size_t behind)
{
    size_t at = (size_t)(content.data - scan->text.data);
    char quote = content.data[-1];
    bool is_after = at >= 3 && scan->text.data[at - 2] == '.' && scan->text.data[at - 3] == quote;
    return is_after || (scan_char(scan, behind) == '.' && scan_char(scan, behind + 1) == quote);
}

// "FABRIC", 'ORDER_SPLIT': constants and folded names of a database.
static bool
is_constant(struct bytes content)
{
    for (size_t i = 0; i < content.len; i++) {
        if ((word_kind(content.data[i]) & KIND_UPPER) == 0 && content.data[i] != '_')
            return false;
    }
    return content.len >= 4;
}

// A name without a digit, for what stands around it or for its own shape.
static bool
is_plain_name(const struct mask_scan *scan, struct bytes content, size_t behind)
{
    return is_qualified(scan, content, behind) || is_constant(content) ||
           (word_roles(content) & ROLE_TYPE) != 0 || is_demanded(scan, behind);
}

// user 'ana.lima'
static bool
is_login(struct bytes content, unsigned roles)
{
    if ((roles & ROLE_LOGIN) == 0 || memchr(content.data, '.', content.len) == NULL)
        return false;
    for (size_t i = 0; i < content.len; i++) {
        if ((word_kind(content.data[i]) & KIND_LOWER) == 0 && content.data[i] != '.')
            return false;
    }
    return true;
}

// `SEDEX` is not a valid enum value, 'B2B' is not one of ['card', 'pix']: what was given, whatever it looks
// like. A field that is not a valid column stays.
static bool
is_refused(const struct mask_scan *scan, size_t behind)
{
    static const char one_of[] = " is not one of ";
    static const char valid[] = " is not a valid ";
    struct bytes rest = scan_slice(scan, behind, scan->end);
    if (bytes_starts(rest, one_of))
        return true;
    if (!bytes_starts(rest, valid))
        return false;
    size_t at = behind + sizeof valid - 1;
    for (unsigned i = 0; i < 2; i++) {
        struct bytes word = scan_peek_word(scan, at);
        if (word.len > 0 && (word_roles(word) & (ROLE_VALUE | ROLE_TYPE)) != 0)
            return true;
        at = (size_t)(word.data - scan->text.data) + word.len;
    }
    return false;
}

// 'currency', "gift_card"
static bool
is_lower_word(struct bytes content)
{
    for (size_t i = 0; i < content.len; i++) {
        if ((word_kind(content.data[i]) & KIND_LOWER) == 0 && content.data[i] != '_')
            return false;
    }
    return content.len >= 3;
}

// {:rate, "abc"}, {:status, 418, "teapot"}: what Elixir puts behind an atom
static bool
is_behind_atom(const struct mask_scan *scan, struct bytes content)
{
    size_t at = (size_t)(content.data - scan->text.data);
    if (at < 6 || scan->text.data[at - 2] != ' ' || scan->text.data[at - 3] != ',')
        return false;
    size_t limit = at > ATOM_REACH ? at - ATOM_REACH : 0;
    for (at -= 3; at > limit && !word_is_one_of(scan->text.data[at], "}\"'"); at--) {
        if (scan->text.data[at] == ':' && scan->text.data[at - 1] == '{')
            return true;
    }
    return false;
}

// Behind a word: " is not a valid currency", but not of a column or a field?
static bool
is_no_valid(const struct mask_scan *scan, size_t behind)
{
    static const char valid[] = " is not a valid ";
    if (scan_char(scan, behind + 1) != 'i' || !bytes_starts(scan_slice(scan, behind, scan->end), valid))
        return false;
    struct bytes word = scan_peek_word(scan, behind + sizeof valid - 1);
    return word.len > 0 && (word_roles(word) & ROLE_NAME) == 0;
}

// Does the text say of this word that it is a value? parsing "today", invalid value for Float(): "twelve",
// currency 'euro', 'twelve' is not of type 'number'. If not, it names something: two causes in one group cost
// more than two groups for one cause.
static bool
is_told_value(struct mask_scan *scan, struct bytes content, unsigned roles, size_t behind)
{
    static const char *const refusals[] = {" is not of type",    " does not match",   " is not valid JSON",
                                           " is too ",           " value ",           " is not in ",
                                           " could not be ",     " cannot be parsed", " cannot be converted",
                                           " was not recognized"};
    if ((roles & ROLE_DEMAND) != 0)
        return false;
    if ((roles & (ROLE_LOGIN | ROLE_PERSON | ROLE_SORT | ROLE_ITEM)) != 0 ||
        (scan->seen_roles & ROLE_OPERAND) != 0)
        return true;
    if (scan->after == AFTER_COLON &&
        ((scan->seen_roles & ROLE_VALUE) != 0 || is_behind_name(scan, content, AFTER_COLON)))
        return true;
    struct bytes rest = scan_slice(scan, behind, scan->end);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (bytes_starts(rest, refusals[i]))
            return true;
    }
    return false;
}

// PT-SETUBAL: in capitals, names have underscores.
static bool
is_area_code(struct bytes content)
{
    bool has_dash = false;
    for (size_t i = 0; i < content.len; i++) {
        if ((word_kind(content.data[i]) & KIND_UPPER) == 0 && content.data[i] != '-')
            return false;
        has_dash |= content.data[i] == '-';
    }
    return has_dash;
}

static enum quoted
judge_word(struct mask_scan *scan, struct bytes content, unsigned roles, size_t behind)
{
    bool is_identifier = word_is_identifier(content);
    unsigned digits = word_digits(content);
    if (!is_identifier && bytes_find(content, BYTES("://"), 0) != SIZE_MAX)
        return QUOTED_TEXT;
    if (is_login(content, roles))
        return QUOTED_VALUE;
    if (is_behind_name(scan, content, AFTER_EQUALS))
        return word_is_class(content) ? QUOTED_NAME : QUOTED_VALUE;
    bool is_lower = is_lower_word(content);
    if (is_lower && is_behind_atom(scan, content))
        return QUOTED_VALUE;
    bool is_weak = (roles & ROLE_WEAK_NAME) != 0;
    if (is_weak && is_area_code(content))
        return QUOTED_VALUE;
    if ((roles & ROLE_NAME) != 0 && is_identifier && digits <= NAME_DIGITS_MAX &&
        (!is_weak || is_weak_name(content)))
        return QUOTED_NAME;
    if (is_weak && is_identifier && digits == 0)
        return QUOTED_NAME;
    if (is_member(scan, content, behind))
        return QUOTED_NAME;
    if ((roles & ROLE_HOST) != 0 && digits == 0)
        return QUOTED_NAME;
    bool is_reason = (roles & ROLE_TELLING) != 0 && digits == content.len;
    if ((is_reason || (roles & (ROLE_CODE | ROLE_SQLSTATE)) != 0) && digits <= 5 && content.len <= 24 &&
        (is_identifier || digits == content.len))
        return QUOTED_CODE;
    if (is_document_path(content, (roles & (ROLE_NAME | ROLE_WEAK_NAME)) != 0))
        return QUOTED_NAME;
    if ((roles & ROLE_VALUE) != 0 || (roles & ROLE_ID) != 0)
        return QUOTED_VALUE;
    if (is_about_name(scan, content))
        return QUOTED_NAME;
    if (scan->after == AFTER_EQUALS)
        return (roles & ROLE_TELLING) != 0 ? QUOTED_TEXT
               : word_is_class(content)    ? QUOTED_NAME
                                           : QUOTED_VALUE;
    if ((roles & ROLE_TELLING) != 0 && scan->after == AFTER_COLON && is_identifier && digits == 0)
        return QUOTED_NAME;
    if (is_identifier && digits == 0 && scan->after != AFTER_EQUALS && is_plain_name(scan, content, behind))
        return QUOTED_NAME;
    size_t part = bytes_find_last(content, BYTES("_"));
    if (part != SIZE_MAX && word_is_random(bytes_slice(content, part + 1, content.len)))
        return QUOTED_VALUE;
    if (word_is_code_shaped(content) ||
        (digits > 0 && word_is_numbered_class(content) && memchr(content.data, '.', content.len)))
        return word_is_host(content) ? QUOTED_VALUE : QUOTED_NAME;
    if (is_identifier && digits <= 2 && is_weak_name(content) &&
        (word_roles(scan_peek_word(scan, behind)) & ROLE_NAME) != 0)
        return QUOTED_NAME;
    return is_lower && !is_told_value(scan, content, roles, behind) ? QUOTED_NAME : QUOTED_VALUE;
}

// unknown variant `LOST`, expected one of …: what was found instead, whatever it looks like.
static bool
is_unexpected(const struct mask_scan *scan, struct bytes content, size_t behind, unsigned roles)
{
    if (!word_is_one_of(scan_char(scan, behind), ",; ") || scan_char(scan, behind + 2) != 'e')
        return false;
    struct bytes word = scan_peek_word(scan, behind + 2);
    if (!bytes_equal_text(word, "expected") && !bytes_equal_text(word, "expecting"))
        return false;
    bool is_named = (roles & (ROLE_NAME | ROLE_WEAK_NAME | ROLE_CODE | ROLE_TELLING | ROLE_HOST)) != 0 &&
                    !bytes_equal_text(scan->prev, "variant") && !is_behind_name(scan, content, AFTER_COLON);
    return !is_named && (word_roles(content) & ROLE_TYPE) == 0;
}

// invalid input value for enum status: "lost": behind the colon stands the value that the text speaks of,
// because what it is for has been named.
static bool
is_value_of_named(const struct mask_scan *scan)
{
    if (scan->after != AFTER_COLON || (scan->seen_roles & ROLE_VALUE) == 0 || scan->prev.len == 0)
        return false;
    struct bytes word = scan_word_before_prev(scan);
    return word.len > 0 && (word_roles(word) & ROLE_NAME) != 0;
}

static enum quoted
judge(struct mask_scan *scan, struct bytes content, size_t behind)
{
    unsigned roles = scan_prev_roles(scan);
    if (is_unexpected(scan, content, behind, roles) || is_refused(scan, behind) ||
        is_no_valid(scan, behind) || is_value_of_named(scan))
        return QUOTED_VALUE;
    for (size_t i = 0; i < content.len; i++) {
        if ((word_kind(content.data[i]) & KIND_BLANK) != 0)
            return judge_phrase(scan, content, roles, behind);
    }
    return judge_word(scan, content, roles, behind);
}

// Behind the name in reports.trigger-538499, logs-2026-01-13, prices_2026: a number of four digits and more,
// or a date, that a dash or an underscore parts from it is none of its own.
static size_t
own_end(const struct mask_scan *scan, size_t from, size_t to)
{
    const char *data = scan->text.data;
    size_t end = to;
    unsigned run = 0;
    unsigned longest = 0;
    while (end > from && (word_is_digit(data[end - 1]) || word_is_one_of(data[end - 1], "-._"))) {
        end--;
        run = word_is_digit(data[end]) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    bool is_parted = end < to && (data[end] == '-' || data[end] == '_');
    return longest >= 4 && end > from + 1 && is_parted ? end : to;
}

// A name's arguments and indexes change with the data; the name does not.
static void
take_name(struct mask_scan *scan, size_t from, size_t to)
{
    struct bytes content = scan_slice(scan, from, to);
    if (is_document_path(content, true)) {
        scan_emit_path(scan, from, to);
        return;
    }
    if (bytes_ends(content, "()"))
        to -= 2;
    size_t own = own_end(scan, from, to);
    scan_emit_name(scan, from, own);
    if (own < to)
        scan_emit_hole(scan, own, to, MASK_ID);
}

// Behind the particle that hangs on a closing quote: 'email'은, '홍길동'이. It changes with the word before.
static size_t
skip_particle(const struct mask_scan *scan, size_t at)
{
    size_t end = at;
    while (end < scan->end && (unsigned char)scan->text.data[end] >= 0x80 && end - at <= PARTICLE_MAX)
        end++;
    bool is_hangul =
        end > at && (unsigned char)scan->text.data[at] >= 0xEA && (unsigned char)scan->text.data[at] <= 0xED;
    return is_hangul && end - at <= PARTICLE_MAX ? end : at;
}

static void
take_content(struct mask_scan *scan, size_t from, size_t to, size_t behind)
{
    struct bytes content = scan_slice(scan, from, to);
    size_t first = scan_skip_blanks(scan, from);
    bool is_document = first < to && (scan->text.data[first] == '{' || scan->text.data[first] == '[') &&
                       payload_end(bytes_slice(scan->text, 0, to), first) != 0;
    if (bytes_trim(content).len == 0) {
        scan_emit_hole(scan, from, to, MASK_QUOTED);
        return;
    }
    if (is_document && scan->depth < SCAN_DEPTH) {
        scan_again(scan, from, to, PART_DOCUMENT);
        return;
    }

    switch (judge(scan, content, behind)) {
    case QUOTED_VALUE:
        scan_emit_hole(scan, from, to, scan->after == AFTER_EQUALS ? MASK_VALUE : MASK_QUOTED);
        break;
    case QUOTED_NAME:
        take_name(scan, from, to);
        break;
    case QUOTED_CODE:
        scan_emit_name(scan, from, to);
        break;
    case QUOTED_TEXT:
        if (scan->depth < SCAN_DEPTH)
            scan_again(scan, from, to, PART_TEXT);
        else
            scan_emit_hole(scan, from, to, MASK_QUOTED);
        break;
    }
}

void
mask_quote(struct mask_scan *scan, size_t len)
{
    size_t at = scan->at;
    unsigned pair = pair_of(scan);
    bool is_apostrophe = at > 0 && word_is_alnum(scan->text.data[at - 1]) && scan->text.data[at] != '"' &&
                         scan->text.data[at] != '`';
    scan->at = at + len;
    if (is_apostrophe || (scan->unclosed >> pair & 1) != 0)
        return;
    size_t close = find_close(scan, pair, at + len);
    if (close == SIZE_MAX) {
        scan->unclosed |= (uint8_t)(1u << pair);
        return;
    }

    size_t behind = close + strlen(pairs[pair].close);
    take_content(scan, at + len, close, behind);
    scan->at = skip_particle(scan, behind);
}
