// scan: one pass over a text. It knows the current place, the word before it, and how to write the canonical
// text.
//
// The pass itself (mask.c) chooses the masker of a word; a masker (maskers.h) knows this file and no other
// masker. A masker that finds another word or text inside its word gives that part to the pass by scan_again.
#ifndef REDRIVE_CORE_FINGERPRINT_SCAN_H
#define REDRIVE_CORE_FINGERPRINT_SCAN_H

#include "core/fingerprint/mask.h"
#include "core/fingerprint/word.h"

#define SCAN_DEPTH 3 // quoted sentences and documents within one another

// The separator between the previous word and the next one.
enum scan_after { AFTER_BLANK, AFTER_COLON, AFTER_EQUALS, AFTER_OPEN };

// How a part of the text is masked.
enum scan_part {
    PART_WORD,     // one word, whose edges are trimmed
    PART_TEXT,     // a text of its own; counts towards SCAN_DEPTH
    PART_DOCUMENT, // JSON or a dump: one volatile part, but an error document keeps its message
};

struct mask_scan {
    struct mask *mask;
    struct bytes text;
    struct bytes class_name;
    size_t at;
    size_t end;
    struct bytes
        prev; // the literal word before, which may give this one a role; absent behind a volatile part
    unsigned prev_roles; // its roles; read them with scan_prev_roles
    enum scan_after after;
    bool has_gap;      // blanks behind the `=`
    bool may_collapse; // the last part written was volatile, and no bracket opened since
    bool is_number;    // that part was a number, so that a unit may follow
    bool in_sql;
    unsigned seen_roles; // of the words before: what a text speaks of
    uint8_t unclosed;    // quotes known to have no closing mark: a bit for each row of mask_quote.c
    unsigned depth;
    void (*again)(struct mask_scan *scan, size_t from, size_t to,
                  enum scan_part part); // the pass: see scan_again
};

static inline char
scan_char(const struct mask_scan *scan, size_t at)
{
    return at < scan->text.len ? scan->text.data[at] : '\0';
}

static inline struct bytes
scan_slice(const struct mask_scan *scan, size_t from, size_t to)
{
    return (struct bytes){scan->text.data + from, to - from};
}

#define ROLES_KNOWN (1u << 31)

// The roles of the word before, looked up when first needed.
static inline unsigned
scan_prev_roles(struct mask_scan *scan)
{
    if (scan->prev_roles == 0)
        scan->prev_roles = (scan->prev.len > 0 ? word_roles(scan->prev) : 0) | ROLES_KNOWN;
    return scan->prev_roles;
}

// Masks text[from, to) by the rules of the pass, then returns to the caller.
static inline void
scan_again(struct mask_scan *scan, size_t from, size_t to, enum scan_part part)
{
    scan->again(scan, from, to, part);
}

// Writing the canonical text.

void scan_emit_word(struct mask_scan *scan, size_t from, size_t to);
// The same for a word whose roles are known.
void scan_emit_known(struct mask_scan *scan, size_t from, size_t to, unsigned roles);
void scan_emit_name(struct mask_scan *scan, size_t from, size_t to); // counted as named; leaves prev as it is
void scan_emit_hole(struct mask_scan *scan, size_t from, size_t to, enum mask_rule rule);
// Writes a volatile word. The trail gets the rule by its shape; a unit may follow a number.
void scan_emit_volatile(struct mask_scan *scan, size_t from, size_t to);
// The parts of a name or path that hold no digits: items[3].sku → items sku.
void scan_emit_path(struct mask_scan *scan, size_t from, size_t to);
// Skips a part that does not appear in the canonical text; only the trail records it.
void scan_leave_out(struct mask_scan *scan, size_t from, size_t to, enum mask_rule rule);

// Looking ahead.

// The offset of the first character from `at` on that is no blank, or scan->end.
size_t scan_skip_blanks(const struct mask_scan *scan, size_t at);
// The next word from `at` on, behind blanks; empty: none.
struct bytes scan_peek_word(const struct mask_scan *scan, size_t at);
// The word that stands before the last one, blanks between them; of length 0: none.
struct bytes scan_word_before_prev(const struct mask_scan *scan);
// The first c in text[from, to), or `to`.
size_t scan_find_char(const struct mask_scan *scan, size_t from, size_t to, char c);

#endif
