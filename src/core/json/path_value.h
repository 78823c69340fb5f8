// path_value: what stands at a path of a payload, as something to count events by and to choose them by.
//
// Two values are the same if their kind and name are: texts with the same content, however they are escaped;
// numbers of the same value, however they are written; all objects; all arrays; all long ones. So a value can
// always be chosen by a term of the filter language (core/filter/path_term.h), whatever bytes it has.
#ifndef REDRIVE_CORE_JSON_PATH_VALUE_H
#define REDRIVE_CORE_JSON_PATH_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "core/json/json.h"

enum path_kind {
    PATH_MISSING, // no value there, no payload, or one that is not JSON
    PATH_NULL,
    PATH_BOOLEAN,
    PATH_NUMBER,
    PATH_TEXT,
    PATH_LONG, // a text of more than PATH_CHARACTERS or with a NUL, a number of more digits: without a name
    PATH_OBJECT,
    PATH_ARRAY,
    PATH_KINDS
};
enum {
    PATH_CHARACTERS = 200,
    PATH_EXPONENT = 1000, // a number from 10 to this power on, or below 10 to minus this power, is long
    // No token that jsonb prints for a value with a name is longer: a character of a text takes at most 6,
    // and a number is printed without an exponent. A longer token may be cut here.
    PATH_TOKEN_CHARACTERS = 6 * PATH_CHARACTERS + 100,
};

const char *path_kind_name(enum path_kind kind); // "missing", "null", "boolean", "number", "text", …
bool path_kind_parse(struct bytes word, enum path_kind *kind); // not "missing"

// The kind of a value by its token (absent: PATH_MISSING), and into `name`, which is emptied first, what it
// is called: the content of a text, a number in its shortest form, true or false; else nothing.
enum path_kind path_value_of(struct bytes token, struct strbuf *name);
// Is the value of this kind? A long one is a text or a number too.
bool path_value_is(struct bytes token, enum path_kind kind);

// The value for a person: a text as it is, in quotes where it could be taken for something else; (null),
// (missing) and so on for what has no name.
void path_value_print(enum path_kind kind, struct bytes name, struct strbuf *out);
// Would a text with this content be taken for a value of another kind?
bool path_text_is_ambiguous(struct bytes content);

#endif
