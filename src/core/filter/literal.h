// pattern_literal: finds text that every match of a regular expression contains, in the expression itself.
//
// Conservative: an expression that is not understood gives less text, never too much. Only the top level of
// the expression is read; groups, classes and escapes end a run of literal characters, quantifiers that allow
// zero drop the character before them; options that change the meaning of the rest end the search. Examples:
// `timed out after \d+` holds "timed out after ", `pay-(1|2):443` holds "pay-" and ":443" (the longer one is
// returned), `a|b` and `(?i)abc` hold none.
#ifndef REDRIVE_CORE_FILTER_LITERAL_H
#define REDRIVE_CORE_FILTER_LITERAL_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/strbuf.h"

// Appends the longest literal, if any, to `literal`, and the required literals
// (core/filter/required_literals) to `required`. True: the expression is this literal and nothing else.
bool pattern_literal(struct bytes expression, struct strbuf *literal, struct strbuf *required);

#endif
