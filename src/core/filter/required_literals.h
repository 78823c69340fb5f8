// required: literals that every match of a regular expression contains, in their order, with marks between
// them that are not UTF-8. A text that does not fit is no match; a text that fits may be one. `after 1\d+
// ms|refused` is "after 1", ONE, ANY, " ms", OR, "refused".
//
// A server can check all of this by LIKE; without regard to case, therefore, only ASCII letters are required.
// core/filter/literal fills it.
#ifndef REDRIVE_CORE_FILTER_REQUIRED_LITERALS_H
#define REDRIVE_CORE_FILTER_REQUIRED_LITERALS_H

#include <stdbool.h>
#include "base/strbuf.h"

enum required_mark {
    REQUIRED_OR = 0xFD,  // another alternative begins
    REQUIRED_ONE = 0xFE, // one character
    REQUIRED_ANY = 0xFF, // any number of characters
};

// Marks between literals; a mark before the first or behind the last literal has no effect.
void required_add_gap(struct strbuf *required, enum required_mark mark); // ONE or ANY
void required_end_alternative(struct strbuf *required);
void required_begin_alternative(struct strbuf *required); // after the end of another one

// Replaces characters whose other case is outside ASCII: k and s (KELVIN SIGN, LONG S), and all that are not
// ASCII; likewise the lower-case letters in `also`.
void required_ignore_case(struct strbuf *required, const char *also);
// The length in bytes of the longest run without ANY, in the alternative where this run is shortest.
size_t required_weight(struct bytes required);
bool required_is_text(struct bytes required); // without any mark
// Does the text fit? An empty required fits everything.
bool required_fits(struct bytes required, bool is_caseless, struct bytes text);
// Appends it in readable form: … for ANY, · for ONE.
void required_print(struct bytes required, struct strbuf *out);

#endif
