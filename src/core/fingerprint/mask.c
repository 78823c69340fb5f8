#include "core/fingerprint/mask.h"

#include <string.h>

#include "base/utf8.h"
#include "core/fingerprint/mask_repeat.h"
#include "core/fingerprint/maskers.h"
#include "core/fingerprint/payload.h"

#define BRACKET_REACH 512
#define LEADING_VALUE_MAX 64
#define WORD_LONG 72 // letters of ASCII; longer ones are no words

const char *
mask_placeholder(enum mask_rule rule)
{
    static const char *const placeholders[] = {
#define MASK_RULE(word, placeholder, sentence) placeholder,
#include "core/fingerprint/mask_rules.def"
#undef MASK_RULE
    };
    return placeholders[rule];
}

const char *
mask_sentence(enum mask_rule rule)
{
    static const char *const sentences[] = {
#define MASK_RULE(word, placeholder, sentence) sentence,
#include "core/fingerprint/mask_rules.def"
#undef MASK_RULE
    };
    return sentences[rule];
}

// Words

// Behind the word that begins at `at`; collects the kinds of its bytes.
static size_t
word_end(const struct mask_scan *scan, size_t at, unsigned *seen)
{
    const char *data = scan->text.data;
    size_t end = scan->end;
    unsigned kinds = 0;
    for (;;) {
        unsigned kind = 0;
        for (; at < end; at++) {
            kind = word_kind(data[at]);
            if ((kind & KIND_WORD) == 0)
                break;
            kinds |= kind;
        }
        if (at >= end || (kind & KIND_LEAD) == 0)
            break;
        size_t len = 0;
        enum word_lead lead = word_lead((struct bytes){data, end}, at, &len);
        if (lead != LEAD_LETTER && lead != LEAD_DIGIT)
            break;
        kinds |= lead == LEAD_DIGIT ? KIND_DIGIT : KIND_HIGH;
        at += len;
    }
    *seen = kinds;
    return at;
}

// Marks at the edges of a word are separators.
static bool
is_edge(char c)
{
    return (word_kind(c) & (KIND_MARK | KIND_JOIN)) != 0 && c != '_' && c != '$';
}

static bool
is_wide_digit(const struct mask_scan *scan, size_t at)
{
    size_t len = 0;
    return word_lead(scan->text, at, &len) == LEAD_DIGIT;
}

// The maskers

// Which marks the word holds.
static unsigned
marks_of(const struct mask_scan *scan, size_t from, size_t to)
{
    const char *data = scan->text.data;
    unsigned marks = HAS_MARK;
    for (size_t i = from; i < to; i++) {
        if ((word_kind(data[i]) & KIND_MARK) == 0)
            continue;
        char next = i + 1 < to ? data[i + 1] : ' ';
        if (data[i] == '/' || data[i] == '\\')
            marks |= HAS_SLASH;
        else if (data[i] == '.')
            marks |= next == '.' ? HAS_DOTS : 0;
        else if (data[i] == '@')
            marks |= HAS_AT_SIGN;
        else
            marks |= next == '/' && i + 2 < to && data[i + 2] == '/' ? HAS_COLON | HAS_SCHEME : HAS_COLON;
    }
    return marks;
}

// The one place that calls maskers: row by row, until one takes the word. The last row of either sort takes
// whatever is left. The compiler leaves out the rows that a sort of word cannot meet.
#define TRY_ROW(can_be, needs, name)                                                                         \
    if (((needs) & ~(unsigned)(can_be)) == 0 && ((needs) & ~met) == 0 && mask_##name(scan, from, to, seen))  \
        return;

static void
mask_marked(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    unsigned met = scan->after == AFTER_EQUALS ? BEHIND_EQUALS : 0;
    met |= (seen & KIND_DIGIT) != 0 ? HAS_DIGIT : 0;
    met |= (seen & KIND_WORD) == KIND_DIGIT ? IS_NUMBER : 0;
    met |= (seen & KIND_JOIN) != 0 ? HAS_JOIN : 0;
    met |= (seen & KIND_HIGH) != 0 ? HAS_HIGH : 0;
    met |= (seen & KIND_MARK) != 0 ? marks_of(scan, from, to) : 0;
#define MASKER(name, needs, example, canonical) TRY_ROW(~IS_LETTERS, needs, name)
#include "core/fingerprint/maskers.def"
#undef MASKER
}

// Most words are letters, so their road is short.
static inline void
mask_word(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    if ((seen & (KIND_DIGIT | KIND_MARK)) != 0) {
        mask_marked(scan, from, to, seen);
        return;
    }
    unsigned met = scan->after == AFTER_EQUALS ? IS_LETTERS | BEHIND_EQUALS : IS_LETTERS;
    if (to - from > WORD_LONG && (seen & KIND_HIGH) == 0)
        met |= IS_LONG;
#define MASKER(name, needs, example, canonical) TRY_ROW(IS_LETTERS | IS_LONG | BEHIND_EQUALS, needs, name)
#include "core/fingerprint/maskers.def"
#undef MASKER
}

static void
take_piece(struct mask_scan *scan, size_t from, size_t to)
{
    const char *data = scan->text.data;
    size_t end = to;
    if (data[from] == '/' && mask_success(scan, from))
        return;
    while (to > from && is_edge(data[to - 1]))
        to--;
    while (from < to && is_edge(data[from]) && data[from] != '/' && data[from] != '\\' && data[from] != '@')
        from++;

    unsigned seen = 0;
    for (size_t i = from; i < to; i++) {
        unsigned kind = word_kind(data[i]);
        if ((kind & KIND_LEAD) != 0)
            kind = is_wide_digit(scan, i) ? KIND_HIGH | KIND_DIGIT : KIND_HIGH;
        seen |= kind;
    }
    if (from < to && scan->after == AFTER_COLON && mask_free_value(scan, from))
        return;
    if ((scan_char(scan, end) == '[' || scan_char(scan, end + 1) == '[') && from < to &&
        (seen & KIND_MARK) == 0 && mask_host_list(scan, from, to))
        return;
    size_t at = scan->at;
    if (from < to)
        mask_word(scan, from, to, seen);
    for (size_t i = to; i < end && scan->at == at; i++) {
        if (data[i] == ':')
            scan->after = AFTER_COLON;
    }
}

static void
take_word(struct mask_scan *scan)
{
    unsigned seen = 0;
    size_t from = scan->at;
    size_t to = word_end(scan, from, &seen);
    scan->at = to;
    if ((seen & (KIND_DIGIT | KIND_MARK | KIND_JOIN)) == 0 && scan->after != AFTER_COLON)
        mask_word(scan, from, to, seen);
    else
        take_piece(scan, from, to);
}

// Separators

static void
take_equals(struct mask_scan *scan)
{
    char before = scan->at > 0 ? scan->text.data[scan->at - 1] : ' ';
    char behind = scan_char(scan, scan->at + 1);
    if (behind == '=' || behind == '>' || word_is_one_of(before, "!<>=")) {
        scan->at += behind == '=' || behind == '>' ? 2 : 1;
        return;
    }
    scan->after = AFTER_EQUALS;
    scan->has_gap = (word_kind(behind) & KIND_BLANK) != 0;
    scan->at++;
    if (scan->at >= scan->end)
        scan->after = AFTER_BLANK;
}

// <code>E17</code>: directly behind it stands what the tag names.
static bool
is_telling_tag(struct mask_scan *scan, size_t at)
{
    size_t from = at - scan->prev.len;
    return scan->prev.len > 0 && at > scan->prev.len && scan->prev.data == scan->text.data + from &&
           scan->text.data[from - 1] == '<' && word_is_alnum(scan_char(scan, at + 1)) &&
           (scan_prev_roles(scan) & (ROLE_CODE | ROLE_TELLING)) != 0;
}

// `must be >= 0` and `must be <= 9` differ; tags and arrows do not count.
static void
take_comparison(struct mask_scan *scan)
{
    size_t at = scan->at;
    bool is_free = at > 0 && (word_kind(scan->text.data[at - 1]) & KIND_BLANK) != 0;
    size_t behind = at + 1 + (scan_char(scan, at + 1) == '=');
    if (is_free && word_equals_folded(scan->prev, "token")) { // Unexpected token < in JSON
        scan_emit_hole(scan, at, at + 1, MASK_VALUE);
        scan->at++;
        return;
    }
    if (is_free && (word_kind(scan_char(scan, behind)) & KIND_BLANK) != 0 && behind < scan->end) {
        scan_emit_word(scan, at, behind);
    } else if (scan->text.data[at] == '>' &&
               !is_telling_tag(
                   scan, at)) { // `<class 'float'>, 'x'`: the word in the tag says nothing of what follows
        scan->prev = BYTES_ABSENT;
        scan->prev_roles = ROLES_KNOWN;
    }
    scan->at = behind;
}

// The duplicate key value is (8812, Ana Lima)
static bool
is_told_value(const struct mask_scan *scan)
{
    static const char *const copulas[] = {"is", "was", "es", "est", "ist"};
    if (scan->prev.len < 2 || scan->prev.len > 3)
        return false;
    for (size_t i = 0; i < sizeof copulas / sizeof copulas[0]; i++) {
        if (!bytes_equal_text(scan->prev, copulas[i]))
            continue;
        return (word_roles(scan_word_before_prev(scan)) & ROLE_VALUE) != 0;
    }
    return false;
}

// Behind what an opening bracket at `at` holds, if all of it is one value; else 0.
static size_t
value_bracket_end(struct mask_scan *scan, size_t at)
{
    // value: {:error, :timeout}: Elixir's answer, whose atoms tell the cause
    if (scan->text.data[at] == '{' && scan_char(scan, at + 1) == ':')
        return 0;
    // args:(8812,) kwargs:{}: what a task of Celery was called with
    bool is_args = scan->after == AFTER_COLON &&
                   (bytes_equal_text(scan->prev, "args") || bytes_equal_text(scan->prev, "kwargs"));
    bool is_value = is_args || scan->after == AFTER_EQUALS || (scan_prev_roles(scan) & ROLE_VALUE) != 0 ||
                    is_told_value(scan);
    if (!is_value)
        return 0;
    size_t reach = scan->end - at > BRACKET_REACH ? BRACKET_REACH : scan->end - at;
    size_t end = payload_balance(bytes_slice(scan->text, at, reach), 0);
    return end == 0 ? 0 : at + end;
}

// 1165 bytes (1.13 KB): the same quantity again. Behind the bracket, or 0 where it holds something else.
static size_t
same_quantity_end(const struct mask_scan *scan, size_t at)
{
    if (!word_equals_folded(scan->prev, "bytes") && !word_equals_folded(scan->prev, "byte"))
        return 0;
    size_t number = at + 1;
    size_t unit = number;
    while (unit < scan->end &&
           (word_is_digit(scan->text.data[unit]) || word_is_one_of(scan->text.data[unit], ".,")))
        unit++;
    struct bytes word = scan_peek_word(scan, unit);
    size_t close = (size_t)(word.data - scan->text.data) + word.len;
    bool is_quantity = unit > number && word.len > 0 && scan_char(scan, close) == ')' && close < scan->end &&
                       (word_roles(word) & ROLE_UNIT) != 0;
    return is_quantity ? close + 1 : 0;
}

static void
take_open(struct mask_scan *scan, size_t len)
{
    size_t at = scan->at;
    struct bytes text = bytes_slice(scan->text, 0, scan->end);
    char c = text.data[at];
    size_t quantity = c == '(' ? same_quantity_end(scan, at) : 0;
    if (quantity != 0) {
        scan_leave_out(scan, at, quantity, MASK_DURATION);
        scan->at = quantity;
        return;
    }
    size_t end = len == 1 ? payload_end(text, at) : 0;
    if (end != 0) {
        bool is_source = bytes_starts(bytes_slice(text, at, 8), "[Source:");
        mask_payload(scan, at, end, is_source ? MASK_SOURCE : MASK_PAYLOAD);
        return;
    }
    end = len == 1 ? value_bracket_end(scan, at) : 0;
    if (end == 0) {
        size_t inner = scan_skip_blanks(scan, at + len);
        char close = c == '(' ? ')' : c == '[' ? ']' : '}';
        end = len == 1 && scan_char(scan, inner) == close && inner < scan->end ? inner + 1 : 0;
    }
    scan->may_collapse = false;
    if (end != 0) {
        scan_emit_hole(scan, at, end, scan->after == AFTER_EQUALS ? MASK_VALUE : MASK_EMPTY);
        scan->at = end;
        return;
    }
    scan->after = AFTER_OPEN;
    scan->at += len;
}

static void
take_lead(struct mask_scan *scan)
{
    size_t len = 0;
    switch (word_lead(bytes_slice(scan->text, 0, scan->end), scan->at, &len)) {
    case LEAD_LETTER:
    case LEAD_DIGIT:
        take_word(scan);
        break;
    case LEAD_OPEN_QUOTE:
        mask_quote(scan, len);
        break;
    case LEAD_OPEN:
        take_open(scan, len);
        break;
    case LEAD_SEPARATOR:
    case LEAD_BLANK:
    case LEAD_CLOSE_QUOTE:
        if (bytes_starts(bytes_slice(scan->text, scan->at, 3), "\xEF\xBC\x9A"))
            scan->after = AFTER_COLON;
        scan->at += len;
        break;
    }
}

static void
take_separator(struct mask_scan *scan, char c)
{
    switch (c) {
    case '"':
    case '\'':
    case '`':
        mask_quote(scan, 1);
        break;
    case '=':
        take_equals(scan);
        break;
    case '<':
    case '>':
        take_comparison(scan);
        break;
    case '(':
    case '[':
    case '{':
        take_open(scan, 1);
        break;
    case '|':
        if (!scan->may_collapse || !mask_joined(scan))
            scan->at++;
        scan->after = AFTER_BLANK;
        break;
    case ';':
        scan->in_sql = false;
        scan->after = AFTER_BLANK;
        scan->at++;
        break;
    default:
        scan->after = AFTER_BLANK;
        scan->at++;
        break;
    }
}

static void
scan_all(struct mask_scan *scan)
{
    while (scan->at < scan->end) {
        char c = scan->text.data[scan->at];
        unsigned kind = word_kind(c);
        if ((kind & KIND_BLANK) != 0)
            scan->at++;
        else if ((kind & KIND_LEAD) != 0)
            take_lead(scan);
        else if ((kind & KIND_WORD) != 0)
            take_word(scan);
        else
            take_separator(scan, c);
    }
}

// A text within the text. Its final state (the word before, a number) applies to the text behind it.
static void
take_text(struct mask_scan *scan, size_t from, size_t to)
{
    struct mask_scan inner = *scan;
    inner.at = from;
    inner.end = to;
    inner.depth++;
    inner.unclosed = 0;
    scan_all(&inner);
    scan->prev = inner.prev;
    scan->prev_roles = inner.prev_roles;
    scan->may_collapse = inner.may_collapse;
    scan->is_number = inner.is_number;
    scan->after = AFTER_BLANK;
}

static void
take_part(struct mask_scan *scan, size_t from, size_t to, enum scan_part part)
{
    switch (part) {
    case PART_WORD:
        take_piece(scan, from, to);
        break;
    case PART_TEXT:
        take_text(scan, from, to);
        break;
    case PART_DOCUMENT:
        mask_payload(scan, from, to, MASK_PAYLOAD);
        break;
    }
}

static bool
is_document(struct bytes text)
{
    struct bytes trimmed = bytes_trim(text);
    if (trimmed.len < 2 || (trimmed.data[0] != '{' && trimmed.data[0] != '['))
        return false;
    bool is_python = bytes_starts(trimmed, "{'") || bytes_starts(trimmed, "[{'");
    return (is_python || memchr(trimmed.data, '"', trimmed.len) != NULL) &&
           payload_end(trimmed, 0) == trimmed.len;
}

// PostgreSQL tells the values in lines of their own below the error (documentation, "Error and Notice Message
// Fields"). Clients may leave them out, so they take no part. Where they begin, or text.len.
static size_t
find_detail(struct bytes text)
{
    static const char *const words[] = {"Detail: ", "DETAIL: ", "Detalhe: ", "DETALHE: "};
    const char *end = text.data + text.len;
    for (const char *p = memchr(text.data, '\n', text.len); p != NULL;
         p = memchr(p + 1, '\n', (size_t)(end - p - 1))) {
        size_t at = (size_t)(p - text.data) + 1;
        while (at < text.len && text.data[at] == ' ')
            at++;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (bytes_starts(bytes_slice(text, at, text.len), words[i]))
                return (size_t)(p - text.data);
        }
    }
    return text.len;
}

// abc (type <class 'str'>) do not match …, abc (String) has invalid type for :weight, abc (of class
// java.lang.String): a text that begins with the value, whatever that is. Where its bracket opens, or 0.
static size_t
leading_value_end(struct bytes text)
{
    static const char *const behind[] = {"(type <class '", "(of class ", "(String) has invalid type"};
    size_t reach = text.len < LEADING_VALUE_MAX ? text.len : LEADING_VALUE_MAX;
    const char *open = memchr(text.data, '(', reach);
    size_t at = open == NULL ? 0 : (size_t)(open - text.data);
    if (at < 2 || text.data[at - 1] != ' ')
        return 0;
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        if (bytes_starts(bytes_slice(text, at, text.len), behind[i]))
            return at;
    }
    return 0;
}

// `repeat` finds lists while the text is masked.
static void
mask_whole(struct mask *mask, struct mask_repeat *repeat, struct bytes text, struct bytes class_name)
{
    mask_repeat_begin(repeat);
    mask->repeat = repeat;
    struct mask_scan scan = {
        .mask = mask, .text = text, .class_name = class_name, .end = text.len, .again = take_part};
    if (is_document(text)) {
        mask_members(&scan, 0, text.len);
    } else {
        scan.end = find_detail(text);
        size_t value = leading_value_end(text);
        if (value != 0) {
            scan_emit_hole(&scan, 0, value - 1, MASK_VALUE);
            scan.at = value;
        }
        scan_all(&scan);
        if (scan.end < text.len)
            scan_leave_out(&scan, scan.end, text.len, MASK_DETAIL);
    }
    mask->repeat = NULL;
}

void
mask_text(struct mask *mask, struct bytes text, struct bytes class_name)
{
    if (text.len > MASK_TEXT_MAX) {
        text.len = utf8_cut(text, MASK_TEXT_MAX);
        mask->is_cut = true;
    }
    struct mask_repeat repeat;
    mask_whole(mask, &repeat, text, class_name);
}
