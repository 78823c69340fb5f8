// pattern_literal: the text that every match of a regular expression holds, taken out of the expression
// itself.
//
// Conservative: what is not understood gives nothing, never too much. Only the top level of the expression is
// read; groups, classes and escapes end a run of literal characters, quantifiers that allow none drop the
// character before them, options that change the meaning of what follows give up. Examples: `timed out after
// \d+` holds "timed out after ", `pay-(1|2):443` holds "pay-" and ":443" (the longer one is given), `a|b` and
// `(?i)abc` hold nothing that is known.
#ifndef REDRIVE_CORE_FILTER_LITERAL_H
#define REDRIVE_CORE_FILTER_LITERAL_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/strbuf.h"

// Appends the longest one to `literal`, nothing where there is none, and the required
// (core/filter/required_literals). True: the expression is this literal and nothing else.
bool pattern_literal(struct bytes expression, struct strbuf *literal, struct strbuf *required);

#endif
