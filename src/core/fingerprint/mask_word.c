// Words with digits: numbers, names that end in one, and everything else that changes with the record.
#include "core/fingerprint/maskers.h"

#include <string.h>

#define NAME_LONG 64 // of a name without a dot: a class in its package may well be longer

// field PID-3, element NM1-03: how standards number their fields.
static bool
is_numbered_name(struct mask_scan *scan, struct bytes word)
{
    if (word.len < 5 || word.len > 6 || word.data[3] != '-' ||
        (scan_prev_roles(scan) & (ROLE_NAME | ROLE_WEAK_NAME)) != ROLE_NAME)
        return false;
    return (word_kind(word.data[0]) & word_kind(word.data[1]) & KIND_UPPER) != 0 &&
           (word_kind(word.data[2]) & (KIND_UPPER | KIND_DIGIT)) != 0 &&
           word_digits(bytes_slice(word, 4, word.len)) == word.len - 4;
}

static bool
is_name_role(struct mask_scan *scan, struct bytes word)
{
    if (is_numbered_name(scan, word))
        return true;
    bool is_long = word.len > NAME_LONG && memchr(word.data, '.', word.len) == NULL;
    if (scan->prev.len == 0 || is_long || !word_is_identifier(word))
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

// The rows below would come to the same. Most words with digits are numbers, so they are spared the
// questions.
bool
mask_number(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    scan_emit_volatile(scan, from, to);
    return true;
}

// com.acme.Order#12: the class is kept.
bool
mask_object(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    size_t hash = scan_find_char(scan, from, to, '#');
    if (hash == from || hash == to || !word_is_letter(scan->text.data[from]))
        return false;
    scan_again(scan, from, hash, PART_WORD);
    scan_emit_hole(scan, hash, to, MASK_ID);
    return true;
}

bool
mask_named(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    struct bytes word = scan_slice(scan, from, to);
    if (word_is_kept(word) || word_is_numbered_class(word))
        scan_emit_word(scan, from, to);
    else if (is_name_role(scan, word))
        scan_emit_name(scan, from, to);
    else
        return false;
    return true;
}

// 订单12345不存在: text without blanks. Only the number in it is volatile. One or two characters behind it (a
// particle, a counter) are masked too, because they change with the number.
bool
mask_unspaced(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    if (word_digits(scan_slice(scan, from, to)) == 0)
        return false;
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

bool
mask_id(struct mask_scan *scan, size_t from, size_t to, unsigned seen)
{
    (void)seen;
    scan_emit_volatile(scan, from, to);
    return true;
}
