// fingerprint: the group key of one record, so that every machine puts it into the same group.
//
//     key = hash64(version, root class, 0x1f, masked root text, 0x1f, frame or nothing)
//
// A pure function of message, stack, class and the operators' rules; no learning, no state, no locale; linear
// in the input; safe from several threads. The rules are in the .def files beside this one. Their version is
// part of the hash: golden values in tests/cases/fingerprint.
#ifndef REDRIVE_CORE_FINGERPRINT_FINGERPRINT_H
#define REDRIVE_CORE_FINGERPRINT_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"

#define FINGERPRINT_VERSION 10

struct group_rules;

struct fingerprint_input {
    struct bytes message;
    struct bytes stack;              // may be absent
    struct bytes error_class;        // may be absent: then it is found in stack or message
    const struct group_rules *rules; // of the operators (core/fingerprint/rules.h); NULL: none
};

// Only the key: fast, no allocation.
uint64_t fingerprint_key(const struct fingerprint_input *input);

// Where one stack was taken, and what was said beside it: what writers.h learns from.
struct fingerprint_site {
    uint64_t stack_key;   // of the stack alone, with its frame
    uint64_t message_key; // of the message alone
    char frame[256];      // the newest own frame, without its end
    size_t frame_len;
};
// False where the stack might well belong to the message: it has several causes, no own frame, or words of
// the message; where the message names nothing; and where the message decides already.
bool fingerprint_site(const struct fingerprint_input *input, struct fingerprint_site *site);

// The key with its parts, for the first record of a group and for `x` "why this group". All bytes live in the
// arena.
struct fingerprint {
    uint64_t key;
    uint64_t text_key;       // before the operators' rules
    const char *rule;        // the operators' rule that changed the key, or NULL; as long as the rules
    struct bytes root_class; // absent where the record has none
    struct bytes root_text;  // the root cause's text, unchanged
    struct bytes pattern; // the root text masked, on one line, with typed placeholders: <n> <uuid> <ip> …
                          // (mask_rules.def)
    struct bytes frame;   // the frame that took part in the key, or absent
    struct bytes frame_reason; // why a frame took part, or why none did: a sentence
    bool is_cut;               // a limit was reached, and the rest did not take part
    struct fingerprint_mask {
        struct bytes text; // the masked part
        const char *rule;  // that masked it
    } * masks;
    uint32_t mask_count;
};
struct fingerprint fingerprint_explain(const struct fingerprint_input *input, struct arena *arena);

// The root class and masked root text alone, for categories: cheap, into the arena.
// (fingerprint_explain fills the same members; this leaves masks and reasons out.)
struct fingerprint fingerprint_parts(const struct fingerprint_input *input, struct arena *arena);

#endif
