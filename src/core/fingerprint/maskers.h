// maskers: the functions that mask a word or keep it. Their rows, in order: maskers.def.
//
// A masker gets a word, text[from, to), and the kinds of its bytes (`seen`). It either writes the canonical
// form of the word and returns true, or returns false, and the next row gets the word. A masker that consumes
// more than the word moves scan->at. No masker calls another one: see scan_again.
#ifndef REDRIVE_CORE_FINGERPRINT_MASKERS_H
#define REDRIVE_CORE_FINGERPRINT_MASKERS_H

#include "core/fingerprint/scan.h"

// The properties of a word that a row of maskers.def requires.
enum masker_needs {
    IS_LETTERS = 1 << 0, // letters and - _ $ # % + ~ & only
    IS_LONG = 1 << 1,    // longer than any word of ASCII letters
    IS_NUMBER = 1 << 2,  // digits only
    HAS_DIGIT = 1 << 3,
    HAS_MARK = 1 << 4, // . / \ : @
    HAS_SCHEME = 1 << 5,
    HAS_DOTS = 1 << 6, // two in a row
    HAS_AT_SIGN = 1 << 7,
    HAS_SLASH = 1 << 8,
    HAS_COLON = 1 << 9,
    HAS_JOIN = 1 << 10, // - _ $ # % + ~ &
    HAS_HIGH = 1 << 11, // letters outside ASCII
    BEHIND_EQUALS = 1 << 12,
};

#define MASKER(name, needs, example, canonical)                                                              \
    bool mask_##name(struct mask_scan *scan, size_t from, size_t to, unsigned seen);
#include "core/fingerprint/maskers.def"
#undef MASKER

// Maskers of more than a word.

// Behind "value:" and similar words, masks one volatile part from `from` to the next full stop. False: no
// such word precedes it.
bool mask_free_value(struct mask_scan *scan, size_t from);
// The name of a person, a company or a place whose first word, with a capital, this is: one volatile part.
// False: it is none.
// roles: of the word.
bool mask_party(struct mask_scan *scan, size_t from, size_t to, unsigned roles);
// A date whose first word this is, or the zone of the time before it: one volatile part. False: it is none.
// roles: of the word, which has ROLE_DATE or ROLE_ZONE.
bool mask_date(struct mask_scan *scan, size_t from, size_t to, unsigned roles);
// The target of a request that succeeded, whatever it is: one volatile part. False: no such target begins at
// `from`.
bool mask_success(struct mask_scan *scan, size_t from);
// node-[104-127], rack-B[0,5]: hosts as the managers of clusters list them, one volatile part. False: the
// word is not followed by such a list. items[0] is a path into a document, and ids[1, 2] keeps its name.
bool mask_host_list(struct mask_scan *scan, size_t from, size_t to);
// 0|aero.gate.seats|12|null|7: at a bar behind a volatile part, the packages and missing parts of a key up to
// its next number, one volatile part. False: anything else follows; a word there, 7|LOCKED|9, tells the
// cause.
bool mask_joined(struct mask_scan *scan);
// Quoted text whose opening mark (`len` bytes) is at scan->at.
void mask_quote(struct mask_scan *scan, size_t len);
// JSON, a dump, SQL data: one volatile part, but an error document keeps its message. Moves scan->at.
void mask_payload(struct mask_scan *scan, size_t from, size_t to, enum mask_rule rule);
// A document of which names and error texts count.
void mask_members(struct mask_scan *scan, size_t from, size_t to);

#endif
