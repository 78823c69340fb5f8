// outline: what every match of a regular expression holds, in the order in which it holds it: pieces of text
// with marks between them, which are no UTF-8. A text that does not fit matches nothing; one that fits may
// match. `after 1\d+ ms|refused` is "after 1", ONE, ANY, " ms", OR, "refused".
//
// It says no more than any server can check by LIKE: where case does not count, that is of ASCII letters
// only. Made by core/filter/literal.
#ifndef REDRIVE_CORE_FILTER_REQUIRED_LITERALS_H
#define REDRIVE_CORE_FILTER_REQUIRED_LITERALS_H

#include <stdbool.h>
#include "base/strbuf.h"

enum outline_mark {
    OUTLINE_OR = 0xFD,  // another alternative begins
    OUTLINE_ONE = 0xFE, // one character
    OUTLINE_ANY = 0xFF, // any number of them
};

// What stands between pieces: a mark says nothing before the first and behind the last of them.
void outline_add_gap(struct strbuf *outline, enum outline_mark mark); // ONE or ANY
void outline_end_alternative(struct strbuf *outline);
void outline_begin_alternative(struct strbuf *outline); // after the end of another one

// Leaves out what has kin in another case beyond ASCII: k and s (KELVIN SIGN, LONG S) and all that is not
// ASCII. Of `also`, letters in lower case, as well.
void outline_ignore_case(struct strbuf *outline, const char *also);
// The bytes that some stretch without an ANY has at least, in the alternative where these are the fewest.
size_t outline_weight(struct bytes outline);
bool outline_is_text(struct bytes outline); // without any mark
// Does the text fit? An empty outline fits everything.
bool outline_fits(struct bytes outline, bool is_caseless, struct bytes text);
// For reading: … for ANY, · for ONE.
void outline_print(struct bytes outline, struct strbuf *out);

#endif
