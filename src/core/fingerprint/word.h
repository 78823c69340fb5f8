// word: classes of bytes and words for the mask. No state, no locale.
//
// Words that give their neighbour a role ("column", "código", "코드") are rows of words.def and part of the
// rule version.
#ifndef REDRIVE_CORE_FINGERPRINT_WORD_H
#define REDRIVE_CORE_FINGERPRINT_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/bytes.h"

// The classes of a byte; a word is a run of bytes of KIND_WORD.
enum word_kind {
    KIND_DIGIT = 1 << 0,
    KIND_UPPER = 1 << 1,
    KIND_LOWER = 1 << 2,
    KIND_HIGH = 1 << 3, // part of a character outside ASCII
    KIND_JOIN = 1 << 4, // - _ $ # % + ~ &
    KIND_MARK = 1 << 5, // . / \ : @, which give a word an inner structure
    KIND_LEAD = 1 << 6, // starts a character outside ASCII that may be a blank, a quote or a digit
    KIND_BLANK = 1 << 7,
    KIND_HEX = 1 << 8, // 0-9 a-f A-F
    KIND_PART =
        1 << 9, // may be part of an identifier: letters, digits, _ $ . - # : ( ) [ ] < > ? and backslash
    KIND_STOP = 1 << 10, // ends a URL: blanks, quotes, brackets, | ;
    KIND_LETTER = KIND_UPPER | KIND_LOWER | KIND_HIGH,
    KIND_WORD = KIND_DIGIT | KIND_LETTER | KIND_JOIN | KIND_MARK,
};

extern const uint16_t word_kinds[256];

static inline unsigned
word_kind(char c)
{
    return word_kinds[(unsigned char)c];
}

static inline bool
word_is_digit(char c)
{
    return (word_kind(c) & KIND_DIGIT) != 0;
}

static inline bool
word_is_letter(char c)
{
    return (word_kind(c) & (KIND_LETTER | KIND_LEAD)) != 0;
}

static inline bool
word_is_alnum(char c)
{
    return (word_kind(c) & (KIND_LETTER | KIND_LEAD | KIND_DIGIT)) != 0;
}

// Makes an ASCII capital lower case. A-Z and a-z differ in bit 5, and KIND_UPPER is bit 1.
static inline char
word_fold(char c)
{
    return (char)((unsigned char)c | (word_kind(c) & KIND_UPPER) << 4);
}

static inline bool
word_is_hex(char c)
{
    return (word_kind(c) & KIND_HEX) != 0;
}

static inline bool
word_is_one_of(char c, const char *set)
{
    while (*set != '\0' && *set != c)
        set++;
    return *set != '\0';
}

// A character behind a KIND_LEAD byte.
enum word_lead {
    LEAD_LETTER,
    LEAD_BLANK,
    LEAD_DIGIT,
    LEAD_OPEN_QUOTE,
    LEAD_CLOSE_QUOTE,
    LEAD_OPEN,
    LEAD_SEPARATOR
};
enum word_lead word_lead(struct bytes text, size_t at, size_t *len);

// The role that a word gives the word beside it.
enum word_role {
    ROLE_NAME = 1 << 0,        // names a thing: column, constraint, método, 필드
    ROLE_WEAK_NAME = 1 << 1,   // names a thing, unless the thing looks like a number: key, name
    ROLE_CODE = 1 << 2,        // an error code follows
    ROLE_SQLSTATE = 1 << 3,    // five letters and digits follow
    ROLE_ID = 1 << 4,          // an identifier without meaning follows, even one without a digit
    ROLE_VALUE = 1 << 5,       // a value follows, even in brackets
    ROLE_TELLING = 1 << 6,     // a sentence follows: reason=, message=
    ROLE_PERSON = 1 << 7,      // a person's or a place's name follows
    ROLE_UNIT = 1 << 8,        // belongs to the preceding number
    ROLE_DATE = 1 << 9,        // month or weekday
    ROLE_KEEP = 1 << 10,       // holds a digit but is a word: utf8, int64
    ROLE_HOST = 1 << 11,       // a host that matters follows: lookup, ENOTFOUND
    ROLE_SQL = 1 << 12,        // begins a statement
    ROLE_SQL_DATA = 1 << 13,   // data follows in a statement
    ROLE_VERB = 1 << 14,       // HTTP method
    ROLE_PARTICLE = 1 << 15,   // between the parts of a person's name
    ROLE_BODY = 1 << 16,       // member of an error document that is worth keeping
    ROLE_ERROR_BODY = 1 << 17, // member that makes a document an error document
    ROLE_LOGIN = 1 << 20,      // a login name may follow
    ROLE_FREE_VALUE = 1 << 18, // behind its colon a value follows up to the next full stop or comma
    ROLE_DEMAND = 1 << 21,     // behind the name of something required, missing or forbidden
    ROLE_ANSWER = 1 << 22,     // an HTTP status may follow: returned 503
    ROLE_SIZED = 1 << 23,      // a size that belongs to a type follows in brackets: varchar(20)
    ROLE_TYPE = 1 << 24,       // names a type if it is in quotes: 'decimal'
    ROLE_ZONE = 1 << 25,       // in capitals, a time zone: behind a time it belongs to the time
    ROLE_OPERAND = 1 << 26,    // a value without quotes may follow: convert, parse, character
    ROLE_ITEM = 1 << 27, // a thing's own number or name follows, if it does not look like a word: SKU, coupon
    ROLE_SORT = 1 << 28, // a value of this sort follows in quotes: currency, amount
    ROLE_TITLE = 1 << 19, // with ROLE_PERSON: also at the beginning of a sentence, because it is no part of a
                          // name itself
};
unsigned word_roles(struct bytes word);

// Shapes.
bool
word_is_identifier(struct bytes word); // letters first, then letters, digits, _ $ . # :: () [] and no blank
bool
word_is_code_shaped(struct bytes word); // an identifier with a dot, an underscore or a hump, and no digit
bool word_is_class(struct bytes word);  // qualified, its last part in capitals: com.acme.Order, App\Order
bool word_is_kept(struct bytes word);   // a word although it holds digits: utf8, int64
// items.3.sku, /items/3/sku: a path into a document, whose indexes are parts of their own. It has one sort of
// separator, and three indexes in a row are a version: /opt/app/1.1.13/bin
bool word_is_indexed_path(struct bytes word);
bool word_is_grouped_number(struct bytes word); // 1.234.567, 123.456.789-09, 12.345.678/0001-95
bool word_is_slashed_date(struct bytes word);   // 15/01/2024, 1/1/24, 2024/01/15
bool word_is_host(struct bytes word);           // labels with a known ending: node-7.acme.net, Ana-PC.local
bool word_is_host_of_port(struct bytes word);   // the same before `:443`, where further endings mean a host
bool word_is_error_code(struct bytes word);     // ORA-00001, E11000, 0x80131500: a code by its form alone
bool word_is_numbered_class(struct bytes word); // System.Int32, Http2Exception: the digits belong to the name
bool word_is_random(struct bytes word);         // letters of both sizes in no order: kZxAbQwRty
unsigned word_digits(struct bytes word);        // number of digits
bool word_equals_folded(struct bytes word, const char *lower); // ASCII case ignored

#endif
