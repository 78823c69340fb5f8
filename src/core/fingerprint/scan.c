#include "core/fingerprint/scan.h"

#include <string.h>

#include "base/utf8.h"
#include "core/fingerprint/mask_repeat.h"

#define PATH_DIGITS 3 // of a name within a path

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

// The end of a word or text that is too long.
static size_t
cut_word(struct mask *mask, const char *data, size_t len)
{
    mask->is_cut = true;
    if (len > MASK_WORD_MAX)
        len = utf8_cut((struct bytes){data, len}, MASK_WORD_MAX);
    return mask->len + len + 1 > (size_t)MASK_CANONICAL_MAX ? 0 : len;
}

static inline void
append_word(struct mask_scan *scan, const char *data, size_t len)
{
    struct mask *mask = scan->mask;
    size_t from = mask->len;
    if (len > MASK_WORD_MAX || from + len + 1 > (size_t)MASK_CANONICAL_MAX) {
        len = cut_word(mask, data, len);
        if (len == 0)
            return;
    }
    char *out = mask->out + from;
    *out++ = ' ';
    copy_word(out, data, len);
    mask->len = from + len + 1;
    if (mask_repeat_note(mask->repeat, data, len, from))
        mask->len = mask_repeat_drop(mask->repeat, mask->out, mask->len);
}

static inline void
append_kept(struct mask_scan *scan, size_t from, size_t to)
{
    append_word(scan, scan->text.data + from, to - from);
    scan->mask->words++;
    scan->may_collapse = false;
    scan->is_number = false;
    scan->after = AFTER_BLANK;
}

void
scan_emit_word(struct mask_scan *scan, size_t from, size_t to)
{
    append_kept(scan, from, to);
    scan->prev = scan_slice(scan, from, to);
    scan->prev_roles = 0;
}

void
scan_emit_known(struct mask_scan *scan, size_t from, size_t to, unsigned roles)
{
    scan_emit_word(scan, from, to);
    scan->prev_roles = roles | ROLES_KNOWN;
}

void
scan_emit_name(struct mask_scan *scan, size_t from, size_t to)
{
    append_kept(scan, from, to);
    scan->mask->names++;
}

void
scan_leave_out(struct mask_scan *scan, size_t from, size_t to, enum mask_rule rule)
{
    struct mask_trail *trail = scan->mask->trail;
    if (trail == NULL)
        return;
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
scan_emit_hole(struct mask_scan *scan, size_t from, size_t to, enum mask_rule rule)
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
    scan_leave_out(scan, from, to, rule);
}

// The rule of a volatile word; for people only.

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

// Directly behind a number, m and d are units too; as words of their own they need not be.
static bool
is_unit(struct bytes word)
{
    return (word.len == 1 && word_is_one_of(word_fold(word.data[0]), "md")) ||
           (word_roles(word) & ROLE_UNIT) != 0;
}

// 12ms, 3h20m: numbers with units. 4d46723 begins like one.
static bool
is_duration(struct bytes word)
{
    size_t at = 0;
    while (at < word.len) {
        size_t unit = at;
        while (unit < word.len && (word_is_digit(word.data[unit]) || word_is_one_of(word.data[unit], ".,")))
            unit++;
        size_t end = unit;
        while (end < word.len && word_is_letter(word.data[end]))
            end++;
        if (unit == at || end == unit || !is_unit(bytes_slice(word, unit, end - unit)))
            return false;
        at = end;
    }
    return word.len > 0;
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
    if (shape.letters == 0 && (shape.dots <= 1 || word_is_grouped_number(word)))
        return MASK_NUMBER;
    if (shape.letters == 0 || (shape.dots >= 1 && word.data[0] == 'v'))
        return MASK_VERSION;
    if (is_duration(word))
        return MASK_DURATION;
    if (shape.hex == shape.letters && shape.letters + shape.digits == word.len && word.len >= 8)
        return MASK_HEX;
    if (word_is_host(word) || shape.dots >= 2)
        return MASK_HOST;
    return MASK_ID;
}

void
scan_emit_volatile(struct mask_scan *scan, size_t from, size_t to)
{
    enum mask_rule rule = MASK_ID;
    struct bytes word = scan_slice(scan, from, to);
    bool is_number = word_digits(word) == word.len;
    if (scan->mask->trail != NULL)
        rule = rule_of(word);
    scan_emit_hole(scan, from, to, rule);
    scan->is_number = is_number || (word_is_digit(word.data[0]) && word_is_digit(word.data[word.len - 1])) ||
                      (word_is_one_of(word.data[0], "-$") && word.len > 1);
}

void
scan_emit_path(struct mask_scan *scan, size_t from, size_t to)
{
    while (from < to) {
        while (from < to && !word_is_alnum(scan->text.data[from]) && scan->text.data[from] != '_')
            from++;
        size_t end = from;
        while (end < to &&
               (word_is_alnum(scan->text.data[end]) || word_is_one_of(scan->text.data[end], "_-$")))
            end++;
        unsigned digits = word_digits(scan_slice(scan, from, end));
        if (end > from && digits < end - from && digits <= PATH_DIGITS)
            scan_emit_name(scan, from, end);
        from = end;
    }
}

size_t
scan_skip_blanks(const struct mask_scan *scan, size_t at)
{
    while (at < scan->end && (word_kind(scan->text.data[at]) & KIND_BLANK) != 0)
        at++;
    return at;
}

struct bytes
scan_word_before_prev(const struct mask_scan *scan)
{
    size_t end = (size_t)(scan->prev.data - scan->text.data);
    while (end > 0 && scan->text.data[end - 1] == ' ')
        end--;
    size_t from = end;
    while (from > 0 && word_is_alnum(scan->text.data[from - 1]))
        from--;
    return scan_slice(scan, from, end);
}

struct bytes
scan_peek_word(const struct mask_scan *scan, size_t at)
{
    size_t from = scan_skip_blanks(scan, at);
    size_t to = from;
    while (to < scan->end && to - from < MASK_WORD_MAX &&
           (word_is_alnum(scan->text.data[to]) || scan->text.data[to] == '_'))
        to++;
    return scan_slice(scan, from, to);
}

size_t
scan_find_char(const struct mask_scan *scan, size_t from, size_t to, char c)
{
    const char *found = memchr(scan->text.data + from, c, to - from);
    return found == NULL ? to : (size_t)(found - scan->text.data);
}
