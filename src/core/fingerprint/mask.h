// mask: removes the volatile parts of a text, in one pass.
//
// The result is the canonical text, which is hashed: words, each with a blank before it, and `*` for each run
// of volatile parts, without separators. The trail records for people which parts were masked by which rule.
#ifndef REDRIVE_CORE_FINGERPRINT_MASK_H
#define REDRIVE_CORE_FINGERPRINT_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"

struct mask_repeat;

#define MASK_TEXT_MAX ((size_t)4096) // of a root text; longer ones are cut
#define MASK_WORD_MAX 256
#define MASK_CANONICAL_MAX (MASK_TEXT_MAX * 2)

enum mask_rule {
#define MASK_RULE(word, placeholder, sentence) MASK_##word,
#include "core/fingerprint/mask_rules.def"
#undef MASK_RULE
    MASK_RULE_COUNT
};
const char *mask_placeholder(enum mask_rule rule); // "<n>"
const char *mask_sentence(enum mask_rule rule);    // "a number"

struct mask_span {
    uint32_t from; // in the original text
    uint32_t len;
    enum mask_rule rule;
};

// For people; grows in its arena.
struct mask_trail {
    struct arena *arena;
    struct mask_span *spans;
    uint32_t count;
    uint32_t capacity;
};

struct mask {
    char *out; // canonical text, MASK_CANONICAL_MAX bytes of the caller's
    size_t len;
    uint32_t words; // literal words
    uint32_t names; // named things and error codes among them
    uint32_t holes; // runs of volatile parts
    bool is_cut;
    struct mask_repeat *repeat; // finds lists; set while the text is masked
    struct mask_trail *trail;   // NULL: nothing is recorded
};

// Appends the masked text. class_name (may be absent) is a hint: behind KeyError, 'email' is a name and
// stays.
void mask_text(struct mask *mask, struct bytes text, struct bytes class_name);

#endif
