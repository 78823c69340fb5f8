// value: builds JSON documents, one object a line for --json. Home of jansson.
//
// Members keep the order in which they were added. Text is made valid: bytes that are not UTF-8 become U+FFFD
// (a payload that is not UTF-8 is given as base64 by value_add_payload). Characters that a terminal must
// not receive are escaped as \u. A NULL or absent text is null.
#ifndef REDRIVE_CORE_JSON_VALUE_H
#define REDRIVE_CORE_JSON_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"

struct value; // an object or an array

struct value *value_object(void);
struct value *value_array(void);
void value_destroy(struct value *value);

// Adds a member to an object; with an array, name is NULL.
void value_add_text(struct value *to, const char *name, const char *text);
void value_add_bytes(struct value *to, const char *name, struct bytes text);
void value_add_int(struct value *to, const char *name, int64_t number);
void value_add_int_or_null(struct value *to, const char *name, bool is_there, int64_t number);
// Rounded to a thousandth, below one to a millionth; null if not finite.
void value_add_real(struct value *to, const char *name, double number);
void value_add_bool(struct value *to, const char *name, bool flag);
void value_add_null(struct value *to, const char *name);
void value_add(struct value *to, const char *name, struct value *member); // takes member over
// An instant as RFC 3339 with this offset (wall minus UTC, µs); TIME_ABSENT is null.
void value_add_time(struct value *to, const char *name, int64_t instant, int64_t offset_us);
// As `name` if the payload is UTF-8, else as name_base64.
void value_add_payload(struct value *to, const char *name, struct bytes payload);

// One line without the line end.
void value_dump(const struct value *value, struct strbuf *out);

#endif
