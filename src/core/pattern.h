// pattern: regular expressions on hostile text. Home of pcre2.
//
// Compiled with UTF, JIT where the system allows it, smart case (a capital letter in the pattern makes it exact). Every match is held
// to match, depth and heap limits (reliability.md 5.6), and long scans to a wall-clock budget; past them the answer is
// PATTERN_LIMIT, never "no". Text that is not valid UTF-8 is matched with its bad bytes replaced.
#ifndef REDRIVE_CORE_PATTERN_H
#define REDRIVE_CORE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/err.h"

struct pattern;

enum pattern_verdict { PATTERN_NO, PATTERN_YES, PATTERN_LIMIT };

// err->column is the character within `text` (from 1) where pcre2 stopped.
bool pattern_compile(struct pattern **pattern, struct bytes text, struct err *err) MUST_CHECK;
void pattern_destroy(struct pattern *pattern);
// Looks for the pattern in text from `from`; *start and *len (may be NULL) receive where.
enum pattern_verdict pattern_find(struct pattern *pattern, struct bytes text, size_t from, size_t *start, size_t *len);

#endif
