// fingerprint_scan: the state of one pass over a text, shared by the mask's three files: the pass itself
// (fingerprint_mask.c), words with an inner structure (fingerprint_mask_word.c), quoted text
// (fingerprint_mask_quote.c).
#ifndef REDRIVE_CORE_FINGERPRINT_SCAN_H
#define REDRIVE_CORE_FINGERPRINT_SCAN_H

#include "core/fingerprint/mask.h"
#include "core/fingerprint/word.h"

#define SCAN_DEPTH 3 // quoted sentences and documents within one another

// What stands between the word before and the one that comes.
enum scan_after { AFTER_BLANK, AFTER_COLON, AFTER_EQUALS, AFTER_OPEN };

struct scan {
    struct mask *mask;
    struct bytes text;
    struct bytes class_name;
    size_t at;
    size_t end;
    struct bytes prev;   // the literal word before, which may tell what this one is; absent behind a hole
    unsigned prev_roles; // of it, once somebody asked: see scan_prev_roles
    enum scan_after after;
    bool has_gap;      // blanks behind the `=`
    bool may_collapse; // a volatile part was the last that was emitted, and no bracket opened since
    bool is_number;    // that part was a number, so that a unit may follow
    bool in_sql;
    uint8_t unclosed; // quotes that are known to have no partner further on, by enum quote
    unsigned depth;
};

static inline char
scan_char(const struct scan *scan, size_t at)
{
    return at < scan->text.len ? scan->text.data[at] : '\0';
}

static inline struct bytes
scan_slice(const struct scan *scan, size_t from, size_t to)
{
    return (struct bytes){scan->text.data + from, to - from};
}

#define ROLES_KNOWN (1u << 31)

// What the word before says.
static inline unsigned
scan_prev_roles(struct scan *scan)
{
    if (scan->prev_roles == 0)
        scan->prev_roles = (scan->prev.len > 0 ? word_roles(scan->prev) : 0) | ROLES_KNOWN;
    return scan->prev_roles;
}

void scan_emit_word(struct scan *scan, size_t from, size_t to);
// The same where the roles of that word were asked for already.
void scan_emit_known(struct scan *scan, size_t from, size_t to, unsigned roles);
void scan_emit_name(struct scan *scan, size_t from, size_t to); // counted as named; leaves prev as it is
void scan_emit_hole(struct scan *scan, size_t from, size_t to, enum mask_rule rule);
// The parts of a name or path that hold no digits: items[3].sku → items sku.
void scan_emit_path(struct scan *scan, size_t from, size_t to);

// Masks text[from, to) as a text of its own and returns.
void scan_range(struct scan *scan, size_t from, size_t to);

// The first character at or behind `at` that is no blank; where it stands, or scan->end.
size_t scan_skip_blanks(const struct scan *scan, size_t at);
// The word that begins at or behind `at` past blanks; empty where none does.
struct bytes scan_peek_word(const struct scan *scan, size_t at);

// A run of word bytes: trims what separates, and takes the rest as one word. Leaves scan->at alone unless
// more is taken.
void scan_take_piece(struct scan *scan, size_t from, size_t to);
// A word without digits and marks.
void scan_take_plain(struct scan *scan, size_t from, size_t to, unsigned seen);
// Behind "value:" and the like: one volatile part up to the next full stop. False where no such word stands
// before.
bool scan_take_free_value(struct scan *scan, size_t from);
// A word with digits or marks in it. `seen` are the kinds of its bytes.
void scan_take_marked(struct scan *scan, size_t from, size_t to, unsigned seen);
// Is this word an error code: by its form, its place or the word before?
bool scan_is_code(struct scan *scan, size_t from, size_t to, bool is_number);
// A word behind `name=`.
void scan_take_value(struct scan *scan, size_t from, size_t to, unsigned seen);
// Quoted text whose opening mark (`len` bytes) stands at scan->at.
void scan_take_quote(struct scan *scan, size_t len);
// JSON, a dump, SQL data: one volatile part, but what an error document tells is kept.
void scan_take_payload(struct scan *scan, size_t from, size_t to, enum mask_rule rule);
void scan_take_members(struct scan *scan, size_t from, size_t to);

#endif
