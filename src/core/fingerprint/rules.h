// group_rules: operators' decisions about groups: merges, splits, and prefixes of their own code. Applied
// after the key of the text (core/fingerprint/fingerprint); pure, deterministic, the same for all users.
//
// Order: first, a split group takes the key of its longest word that occurs in the root text. Then a merge
// that lists the key applies; else the merge with the longest text that occurs in the record, by name where
// lengths are equal. A merge of listed groups has the smallest of their keys. Own prefixes act earlier: they
// choose the frame; writers say which stacks do not count. The version identifies the rules under which a key
// was computed, so that stored counts can be restarted.
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
// Frames that begin so belong to whoever writes dead letters (core/fingerprint/writers.h).
void group_rules_add_writer(struct group_rules *rules, const char *prefix);
// Either `keys`, at least two, or `text`, at least four bytes of the root text.
bool group_rules_add_merge(struct group_rules *rules, const char *name, const uint64_t *keys, size_t count,
                           const char *text, struct err *err) MUST_CHECK;
bool group_rules_add_split(struct group_rules *rules, const char *name, uint64_t key,
                           const char *const *words, size_t count, struct err *err) MUST_CHECK;
// Sorts the rules and computes their number. Refuses contradictions: a group in two merges, a group split
// twice.
bool group_rules_seal(struct group_rules *rules, struct err *err) MUST_CHECK;

// "10" for no rules (NULL, or no row), else "10-9f31c07a": FINGERPRINT_VERSION, and a hash of the rules that
// does not depend on their order.
#define GROUP_RULES_VERSION 24 // with NUL
const char *group_rules_version(const struct group_rules *rules, char out[GROUP_RULES_VERSION]);

// The same as one positive number.
int32_t group_rules_number(const struct group_rules *rules);

// Is code with this name own code, although its name has the prefix of a library?
bool group_rules_is_own(const struct group_rules *rules, struct bytes name);
bool group_rules_has_writers(const struct group_rules *rules);
bool group_rules_is_writer(const struct group_rules *rules, struct bytes frame);
// The key after merging and splitting. *name (may be NULL) receives the rule that changed it last, or NULL.
// NULL rules change nothing.
uint64_t group_rules_apply(const struct group_rules *rules, uint64_t key, struct bytes root_text,
                           const char **name);

#endif
