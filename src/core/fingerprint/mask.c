#include "core/fingerprint/mask.h"

#include <string.h>

#include "base/utf8.h"
#include "core/fingerprint/payload.h"
#include "core/fingerprint/scan.h"

#define BRACKET_REACH 512

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

// Canonical text

// memcpy without the call, which costs more than the bytes of a word.
static inline void
copy_word(char *out, const char *data, size_t len)
{
    if (len > 16) {
        memcpy(out, data, len);
    } else if (len >= 8) {
        memcpy(out, data, 8);
        memcpy(out + len - 8, data + len - 8, 8);
    } else if (len >= 4) {
        memcpy(out, data, 4);
        memcpy(out + len - 4, data + len - 4, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            out[i] = data[i];
    }
}

static inline void
append_word(struct scan *scan, const char *data, size_t len)
{
    struct mask *mask = scan->mask;
    if (len > MASK_WORD_MAX) {
        len = utf8_cut((struct bytes){data, len}, MASK_WORD_MAX);
        mask->is_cut = true;
    }
    if (mask->len + len + 1 > (size_t)MASK_CANONICAL_MAX) {
        mask->is_cut = true;
        return;
    }
    char *out = mask->out + mask->len;
    *out++ = ' ';
    copy_word(out, data, len);
    mask->len += len + 1;
}

static inline void
append_kept(struct scan *scan, size_t from, size_t to)
{
    append_word(scan, scan->text.data + from, to - from);
    scan->mask->words++;
    scan->may_collapse = false;
    scan->is_number = false;
    scan->after = AFTER_BLANK;
}

void
scan_emit_word(struct scan *scan, size_t from, size_t to)
{
    append_kept(scan, from, to);
    scan->prev = scan_slice(scan, from, to);
    scan->prev_roles = 0;
}

void
scan_emit_known(struct scan *scan, size_t from, size_t to, unsigned roles)
{
    scan_emit_word(scan, from, to);
    scan->prev_roles = roles | ROLES_KNOWN;
}

void
scan_emit_name(struct scan *scan, size_t from, size_t to)
{
    append_kept(scan, from, to);
    scan->mask->names++;
}

static void
trail_add(struct mask_trail *trail, size_t from, size_t to, enum mask_rule rule)
{
    if (trail->count == trail->capacity) {
        uint32_t capacity = trail->capacity == 0 ? 32 : trail->capacity * 2;
        struct mask_span *spans = arena_array(trail->arena, capacity, sizeof *spans);
        if (trail->count > 0)
            memcpy(spans, trail->spans, trail->count * sizeof *spans);
        trail->spans = spans;
        trail->capacity = capacity;
    }
    trail->spans[trail->count++] =
        (struct mask_span){.from = (uint32_t)from, .len = (uint32_t)(to - from), .rule = rule};
}

void
scan_emit_hole(struct scan *scan, size_t from, size_t to, enum mask_rule rule)
{
    if (!scan->may_collapse) {
        append_word(scan, "*", 1);
        scan->mask->holes++;
    }
    scan->may_collapse = true;
    scan->is_number = rule == MASK_NUMBER || rule == MASK_VERSION || rule == MASK_DATE;
    scan->after = AFTER_BLANK;
    scan->prev = BYTES_ABSENT;
    scan->prev_roles = ROLES_KNOWN;
    if (scan->mask->trail != NULL)
        trail_add(scan->mask->trail, from, to, rule);
}

void
scan_emit_path(struct scan *scan, size_t from, size_t to)
{
    while (from < to) {
        while (from < to && !word_is_alnum(scan->text.data[from]) && scan->text.data[from] != '_')
            from++;
        size_t end = from;
        while (end < to &&
               (word_is_alnum(scan->text.data[end]) || word_is_one_of(scan->text.data[end], "_-$")))
            end++;
        if (end > from && word_digits(scan_slice(scan, from, end)) < end - from)
            scan_emit_name(scan, from, end);
        from = end;
    }
}

size_t
scan_skip_blanks(const struct scan *scan, size_t at)
{
    while (at < scan->end && (word_kind(scan->text.data[at]) & KIND_BLANK) != 0)
        at++;
    return at;
}

struct bytes
scan_peek_word(const struct scan *scan, size_t at)
{
    size_t from = scan_skip_blanks(scan, at);
    size_t to = from;
    while (to < scan->end && to - from < MASK_WORD_MAX &&
           (word_is_alnum(scan->text.data[to]) || scan->text.data[to] == '_'))
        to++;
    return scan_slice(scan, from, to);
}

// Documents

void
scan_take_members(struct scan *scan, size_t from, size_t to)
{
    struct bytes json = scan_slice(scan, from, to);
    struct payload_walk walk = {.json = json};
    struct payload_member member;
    size_t done = from;
    while (payload_next(&walk, &member)) {
        size_t value = (size_t)(member.value.data - scan->text.data);
        if (done < value)
            scan_emit_hole(scan, done, value, MASK_PAYLOAD);
        if (bytes_present(member.name)) {
            size_t name = (size_t)(member.name.data - scan->text.data);
            scan_emit_word(scan, name, name + member.name.len);
        }
        scan->after = AFTER_COLON;
        scan_range(scan, value, value + member.value.len);
        done = value + member.value.len;
    }

    size_t at = 0;
    struct bytes name = BYTES_ABSENT;
    while (done == from && payload_next_name(json, &at, &name)) {
        size_t start = (size_t)(name.data - scan->text.data);
        scan_range(scan, start, start + name.len);
    }
    if (done < to)
        scan_emit_hole(scan, done, to, MASK_PAYLOAD);
}

// Behind what tells that a payload was cut off: {…}[truncated 120 bytes], {…}...
static size_t
truncation_end(const struct scan *scan, size_t at)
{
    struct bytes rest = scan_slice(scan, at, scan->end);
    size_t dots = 0;
    while (dots < rest.len && rest.data[dots] == '.')
        dots++;
    rest = bytes_slice(rest, dots, rest.len);
    size_t close = bytes_starts(rest, "[truncated") ? bytes_find(rest, BYTES("]"), 0) : SIZE_MAX;
    return close == SIZE_MAX ? at : at + dots + close + 1;
}

void
scan_take_payload(struct scan *scan, size_t from, size_t to, enum mask_rule rule)
{
    if (rule == MASK_PAYLOAD && scan->depth < SCAN_DEPTH && payload_is_error(scan_slice(scan, from, to)))
        scan_take_members(scan, from, to);
    else
        scan_emit_hole(scan, from, to, rule);
    scan->at = truncation_end(scan, to);
}

// Words

// Behind the word that begins at `at`; collects the kinds of its bytes.
static size_t
word_end(const struct scan *scan, size_t at, unsigned *seen)
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
is_wide_digit(const struct scan *scan, size_t at)
{
    size_t len = 0;
    return word_lead(scan->text, at, &len) == LEAD_DIGIT;
}

void
scan_take_piece(struct scan *scan, size_t from, size_t to)
{
    const char *data = scan->text.data;
    size_t end = to;
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
    size_t at = scan->at;
    if (from < to && scan_take_free_value(scan, from))
        return;
    if (from < to && (seen & (KIND_DIGIT | KIND_MARK)) == 0)
        scan_take_plain(scan, from, to, seen);
    else if (from < to)
        scan_take_marked(scan, from, to, seen);
    for (size_t i = to; i < end && scan->at == at; i++) {
        if (data[i] == ':')
            scan->after = AFTER_COLON;
    }
}

static void
take_word(struct scan *scan)
{
    unsigned seen = 0;
    size_t from = scan->at;
    size_t to = word_end(scan, from, &seen);
    scan->at = to;
    if ((seen & (KIND_DIGIT | KIND_MARK | KIND_JOIN)) == 0 && scan->after != AFTER_COLON)
        scan_take_plain(scan, from, to, seen);
    else
        scan_take_piece(scan, from, to);
}

// Separators

static void
take_equals(struct scan *scan)
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

// `must be >= 0` and `must be <= 9` differ; tags and arrows do not count.
static void
take_comparison(struct scan *scan)
{
    size_t at = scan->at;
    bool is_free = at > 0 && (word_kind(scan->text.data[at - 1]) & KIND_BLANK) != 0;
    size_t behind = at + 1 + (scan_char(scan, at + 1) == '=');
    if (is_free && (word_kind(scan_char(scan, behind)) & KIND_BLANK) != 0 && behind < scan->end)
        scan_emit_word(scan, at, behind);
    scan->at = behind;
}

// Behind what an opening bracket at `at` holds, if all of it is one value; else 0.
static size_t
value_bracket_end(struct scan *scan, size_t at)
{
    bool is_value = scan->after == AFTER_EQUALS || (scan_prev_roles(scan) & ROLE_VALUE) != 0;
    if (!is_value)
        return 0;
    size_t reach = scan->end - at > BRACKET_REACH ? BRACKET_REACH : scan->end - at;
    size_t end = payload_balance(bytes_slice(scan->text, at, reach), 0);
    return end == 0 ? 0 : at + end;
}

static void
take_open(struct scan *scan, size_t len)
{
    size_t at = scan->at;
    struct bytes text = bytes_slice(scan->text, 0, scan->end);
    char c = text.data[at];
    size_t end = len == 1 ? payload_end(text, at) : 0;
    if (end != 0) {
        bool is_source = bytes_starts(bytes_slice(text, at, 8), "[Source:");
        scan_take_payload(scan, at, end, is_source ? MASK_SOURCE : MASK_PAYLOAD);
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
take_lead(struct scan *scan)
{
    size_t len = 0;
    switch (word_lead(bytes_slice(scan->text, 0, scan->end), scan->at, &len)) {
    case LEAD_LETTER:
    case LEAD_DIGIT:
        take_word(scan);
        break;
    case LEAD_OPEN_QUOTE:
        scan_take_quote(scan, len);
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
take_separator(struct scan *scan, char c)
{
    switch (c) {
    case '"':
    case '\'':
    case '`':
        scan_take_quote(scan, 1);
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
mask_scan_all(struct scan *scan)
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

void
scan_range(struct scan *scan, size_t from, size_t to)
{
    struct scan inner = *scan;
    inner.at = from;
    inner.end = to;
    inner.depth++;
    inner.unclosed = 0;
    mask_scan_all(&inner);
    scan->prev = inner.prev;
    scan->prev_roles = inner.prev_roles;
    scan->may_collapse = inner.may_collapse;
    scan->is_number = inner.is_number;
    scan->after = AFTER_BLANK;
}

static bool
is_document(struct bytes text)
{
    struct bytes trimmed = bytes_trim(text);
    if (trimmed.len < 2 || (trimmed.data[0] != '{' && trimmed.data[0] != '['))
        return false;
    return memchr(trimmed.data, '"', trimmed.len) != NULL && payload_end(trimmed, 0) == trimmed.len;
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

void
mask_text(struct mask *mask, struct bytes text, struct bytes class_name)
{
    if (text.len > MASK_TEXT_MAX) {
        text.len = utf8_cut(text, MASK_TEXT_MAX);
        mask->is_cut = true;
    }
    struct scan scan = {.mask = mask, .text = text, .class_name = class_name, .end = text.len};
    if (is_document(text)) {
        scan_take_members(&scan, 0, text.len);
        return;
    }
    scan.end = find_detail(text);
    mask_scan_all(&scan);
    if (scan.end < text.len && mask->trail != NULL)
        trail_add(mask->trail, scan.end, text.len, MASK_DETAIL);
}
