// json: a payload as tokens that keep their bytes. A payload that will be sent again never goes through a
// library that rewrites it (spec payloads.md): numbers, strings, key order, duplicates and white space are
// views into the original text.
//
// The grammar is RFC 8259. Nothing here allocates except what says so; all of it is linear in the text, safe
// on hostile input.
#ifndef REDRIVE_CORE_JSON_H
#define REDRIVE_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

#define JSON_DEPTH 1024 // deeper than this is refused; json_format and views indent down to it

enum json_kind {
    JSON_END,          // of the text; everything before was valid
    JSON_ERROR,        // where the text stops being JSON; nothing comes after
    JSON_OBJECT_BEGIN, // {
    JSON_OBJECT_END,
    JSON_ARRAY_BEGIN, // [
    JSON_ARRAY_END,
    JSON_NAME, // with its quotes
    JSON_COLON,
    JSON_COMMA,
    JSON_STRING, // with its quotes
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

struct json_token {
    enum json_kind kind;
    size_t from, len; // in the text
    int depth;        // containers around it; of a container's own brackets: outside of it
};

// Zero-initialised by json_begin. White space lies between tokens and is not reported.
struct json_scan {
    struct bytes text;
    size_t at;
    int depth;
    int state;
    unsigned char in_object[JSON_DEPTH / 8]; // one bit a level
    const char *expected;                    // after JSON_ERROR: "a value", "a comma or }" …
};
void json_begin(struct json_scan *scan, struct bytes text);
struct json_token json_next(struct json_scan *scan);
struct bytes json_bytes(const struct json_scan *scan, struct json_token token);

// Is it JSON? Otherwise err has line, column and what was expected there.
bool json_check(struct bytes text, struct err *err) MUST_CHECK;
// Line and column (characters), from 1, of a byte offset.
void json_position(struct bytes text, size_t at, int *line, int *column);

// The same tokens with white space of ours (two blanks a level, or none), verbatim otherwise. Where the text
// stops being JSON the rest follows as it is; false then.
bool json_format(struct bytes text, struct strbuf *out);
bool json_minify(struct bytes text, struct strbuf *out);

// A path: $.order.lines[2].sku  $['odd key']  $["odd key"]  $  (a subset of RFC 9535: names and indexes).
struct json_path;
bool json_path_parse(struct json_path **path, struct bytes text,
                     struct err *err) MUST_CHECK; // err->column from 1
void json_path_destroy(struct json_path *path);
// The value it leads to, with all its bytes. Of names that occur twice the last one counts, as in jsonb.
// false: nothing there, or not JSON up to there.
bool json_path_find(const struct json_path *path, struct bytes text, struct json_token *value);

// The content of a string token (quotes and escapes undone) appended as UTF-8. A lone surrogate becomes
// U+FFFD. false: not a string token.
bool json_decode(struct bytes token, struct strbuf *out);

// Numbers by value, of any length: <0, 0, >0. Both must be JSON number tokens. 1.0 equals 1 and 1e2 equals
// 100.
int json_number_compare(struct bytes a, struct bytes b);

// Text with `b` in place of the bytes [from, from + len): everything outside is identical.
void json_splice(struct bytes text, size_t from, size_t len, struct bytes b, struct strbuf *out);

#endif
