// pattern: regular expressions on hostile text. Home of pcre2.
//
// Compiled with UTF, JIT where the system allows it, smart case (a capital letter in the pattern, of any
// script, makes it exact). Every match has limits of steps, depth and heap, and a wall-clock budget of 50 ms
// a text. Beyond them the answer is PATTERN_LIMIT, never "no"; only a text without the required literals is a
// "no". A long text is searched in parts of some milliseconds; a part that has begun may exceed the budget. A
// pattern that keeps reaching its limits gets less and less time for later texts, so that a million texts
// finish too. In text that is not valid UTF-8 each bad byte counts as a character that matches no literal. A
// pattern is used by one thread at a time; another thread takes a twin.
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
// The same expression for another thread. It borrows from this one, which outlives it, and has time limits
// of its own.
struct pattern *pattern_twin(const struct pattern *pattern);
void pattern_destroy(struct pattern *pattern);
// Finds the first match in text from offset `from` on; ^, \b and look-behind also see the text before. *start
// and *len (may be NULL) receive the match.
enum pattern_verdict pattern_find(struct pattern *pattern, struct bytes text, size_t from, size_t *start,
                                  size_t *len);
// As pattern_find in a text that is known to be valid UTF-8, which is not looked at again: all matches of a
// long text are found in linear time. Fills the first `room` groups, the whole match being group 0.
struct pattern_group {
    size_t from, len;
    bool is_set; // the group took part in the match
};
enum pattern_verdict pattern_find_groups(struct pattern *pattern, struct bytes text, size_t from,
                                         struct pattern_group *groups, size_t room);
size_t pattern_group_count(const struct pattern *pattern); // without group 0
// Does this text, which is known to be valid UTF-8, match?
enum pattern_verdict pattern_is_in(struct pattern *pattern, struct bytes text);

// A text that every match contains (core/filter/literal), as written in the pattern; empty: none is known.
struct bytes pattern_holds(const struct pattern *pattern);
// The required literals of every match, as a server can search for them (core/filter/required_literals);
// empty: none is known.
struct bytes pattern_required(const struct pattern *pattern);
// Is every text that fits pattern_required a match?
bool pattern_is_required(const struct pattern *pattern);
bool pattern_is_caseless(const struct pattern *pattern);
// The offset of the first pattern_holds in valid UTF-8 text from `from` on, or SIZE_MAX. Without a literal:
// `from`.
size_t pattern_find_held(struct pattern *pattern, struct bytes text, size_t from);

#endif
