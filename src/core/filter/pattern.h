// pattern: regular expressions on hostile text. Home of pcre2.
//
// Compiled with UTF, JIT where the system allows it, smart case (a capital letter in the pattern, of any
// script, makes it exact). Every match is held to match, depth and heap limits and to a wall-clock budget of
// 50 ms a text (a slice that has begun may go over it); past them the answer is PATTERN_LIMIT,
// never "no", but for a text without what every match holds: there it is "no". Slices are cut so
// that one takes some milliseconds at most. A pattern that keeps running into its limits is given less and
// less time for the texts that follow, so that a million of them come to an end too. In text that is not
// valid UTF-8 each bad byte is a character that nobody asks for. One pattern, one thread at a time: for
// another thread there are twins.
#ifndef REDRIVE_CORE_FILTER_PATTERN_H
#define REDRIVE_CORE_FILTER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

struct pattern;

enum pattern_verdict { PATTERN_NO, PATTERN_YES, PATTERN_LIMIT };

// err->column is the character within `text` (from 1) where pcre2 stopped.
bool pattern_compile(struct pattern **pattern, struct bytes text, struct err *err) MUST_CHECK;
// The same expression for another thread. It borrows from this one, which outlives it, and has a patience of
// its own.
struct pattern *pattern_twin(const struct pattern *pattern);
void pattern_destroy(struct pattern *pattern);
// Looks for the pattern in text from the first character at or behind `from`, with all before it in sight of
// ^, \b and look-behind; *start and *len (may be NULL) receive where.
enum pattern_verdict pattern_find(struct pattern *pattern, struct bytes text, size_t from, size_t *start,
                                  size_t *len);
// Is it in this text, which is known to be valid UTF-8?
enum pattern_verdict pattern_is_in(struct pattern *pattern, struct bytes text);

// The text that every match holds (core/filter/literal), as it stands in the pattern; empty: none is known.
struct bytes pattern_holds(const struct pattern *pattern);
// What every match holds as a server can look for it (core/filter/required_literals); empty: nothing is
// known. Where it is all there is, what fits matches.
struct bytes pattern_required(const struct pattern *pattern);
bool pattern_is_required(const struct pattern *pattern);
bool pattern_is_caseless(const struct pattern *pattern);
// The first place at or behind `from` where valid UTF-8 text holds it, or SIZE_MAX. Without a literal:
// `from`.
size_t pattern_find_held(struct pattern *pattern, struct bytes text, size_t from);

#endif
