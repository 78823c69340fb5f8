// required: what every match of a regular expression holds, in the order in which it holds it: pieces of text
// with marks between them, which are no UTF-8. A text that does not fit matches nothing; one that fits may
// match. `after 1\d+ ms|refused` is "after 1", ONE, ANY, " ms", OR, "refused".
//
// It says no more than any server can check by LIKE: where case does not count, that is of ASCII letters
// only. Made by core/filter/literal.
#ifndef REDRIVE_CORE_FILTER_REQUIRED_LITERALS_H
#define REDRIVE_CORE_FILTER_REQUIRED_LITERALS_H

#include <stdbool.h>
#include "base/strbuf.h"

enum required_mark {
    REQUIRED_OR = 0xFD,  // another alternative begins
    REQUIRED_ONE = 0xFE, // one character
    REQUIRED_ANY = 0xFF, // any number of them
};

// What stands between pieces: a mark says nothing before the first and behind the last of them.
void required_add_gap(struct strbuf *required, enum required_mark mark); // ONE or ANY
void required_end_alternative(struct strbuf *required);
void required_begin_alternative(struct strbuf *required); // after the end of another one

// Leaves out what has kin in another case beyond ASCII: k and s (KELVIN SIGN, LONG S) and all that is not
// ASCII. Of `also`, letters in lower case, as well.
void required_ignore_case(struct strbuf *required, const char *also);
// The bytes that some stretch without an ANY has at least, in the alternative where these are the fewest.
size_t required_weight(struct bytes required);
bool required_is_text(struct bytes required); // without any mark
// Does the text fit? An empty required fits everything.
bool required_fits(struct bytes required, bool is_caseless, struct bytes text);
// For reading: … for ANY, · for ONE.
void required_print(struct bytes required, struct strbuf *out);

#endif
