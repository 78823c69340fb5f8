// group_rules: what people decided about groups: which belong together, which hold two problems, and what is
// their own code. Applied behind the key of the text (core/fingerprint/fingerprint); pure, deterministic,
// shared by all.
//
// Order: a group that is split takes the key of its longest word that the root text holds; then a merge that
// lists the key, then the merge with the longest text that the record holds, by name where lengths are equal.
// A merge of listed groups has the smallest of their keys. Own prefixes act earlier: they choose the frame.
// The version says under which rules a key was made, so that counts kept elsewhere know when to start again.
#ifndef REDRIVE_CORE_FINGERPRINT_RULES_H
#define REDRIVE_CORE_FINGERPRINT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

struct group_rules;

// Building: create, add in any order, then group_rules_seal once. Bytes are copied.
struct group_rules *group_rules_create(void);
void group_rules_destroy(struct group_rules *rules); // NULL is fine
void group_rules_add_own(struct group_rules *rules, const char *prefix);
// Either `keys`, at least two, or `text`, at least four bytes of the root text.
bool group_rules_add_merge(struct group_rules *rules, const char *name, const uint64_t *keys, size_t count,
                           const char *text, struct err *err) MUST_CHECK;
bool group_rules_add_split(struct group_rules *rules, const char *name, uint64_t key,
                           const char *const *words, size_t count, struct err *err) MUST_CHECK;
// Sorts and numbers them. Refuses what contradicts itself: a group in two merges, a group split twice.
bool group_rules_seal(struct group_rules *rules, struct err *err) MUST_CHECK;

// "3" without rules (also NULL, and without a row), else "3-9f31c07a": rule version of the key, and a hash of
// the rules that is the same for the same rules in any order.
#define GROUP_RULES_VERSION 24 // with NUL
const char *group_rules_version(const struct group_rules *rules, char out[GROUP_RULES_VERSION]);

// The same as one positive number.
int32_t group_rules_number(const struct group_rules *rules);

// Is code with this name one's own although a library's prefix is in it?
bool group_rules_is_own(const struct group_rules *rules, struct bytes name);
// The key after merging and splitting. *name (may be NULL) receives the rule that changed it last, or NULL.
// NULL rules change nothing.
uint64_t group_rules_apply(const struct group_rules *rules, uint64_t key, struct bytes root_text,
                           const char **name);

#endif
