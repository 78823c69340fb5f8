// json: reads a payload as tokens that keep their bytes. A payload that will be sent again never passes
// through a library that rewrites it: jansson turns 0.1 into 0.10000000000000001 and refuses 30 digits, jsonb
// drops duplicate keys. Here numbers, strings, key order, duplicates and white space are views into the
// original text.
//
// The grammar is RFC 8259. Scanning allocates nothing; everything is linear in the text unless stated
// otherwise, and safe on hostile input.
#ifndef REDRIVE_CORE_JSON_JSON_H
#define REDRIVE_CORE_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

#define JSON_DEPTH 512       // deeper than this is refused: jsonb takes about 10,000
#define JSON_BYTES (4 << 20) // limits of json_fits, because lines, warnings and edits are held at once
#define JSON_TOKENS 500000
#define JSON_INDENTED 64 // most levels of indentation, else a small text could become gigabytes

enum json_kind {
    JSON_END,          // of the text; everything before was valid
    JSON_ERROR,        // the text stops being JSON here; the last token
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
    int depth;        // containers around it; a container's own brackets count as outside
};

// Zero-initialised by json_begin. White space between tokens is not reported.
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
// The same for loops over all tokens: a token that is returned is copied, and the copy waits until it is
// written.
void json_read(struct json_scan *scan, struct json_token *token);
// Behind a name, or behind its colon: reads over the whole value, however large, and says nothing of it. What
// is wrong there is the next token.
void json_pass(struct json_scan *scan);
// Where a member, or the comma before it, is next: reads over members that nobody asks for, in the same way.
// `lengths` are those of the names that somebody asks for: json_length_bit of each. true: *name is the next
// one of such a length; its colon was read too. false: read on as ever, the next member may still be asked
// for. It reads over nothing but values that are no containers, and members in which nothing is escaped or
// beyond ASCII.
bool json_pass_members(struct json_scan *scan, uint64_t lengths, struct json_token *name);
static inline uint64_t
json_length_bit(size_t len)
{
    return UINT64_C(1) << (len < 63 ? len : 63);
}
struct bytes json_bytes(const struct json_scan *scan, struct json_token token);

// Is it JSON? Otherwise err has line, column and the expected token.
bool json_check(struct bytes text, struct err *err) MUST_CHECK;

// Where a text stops being JSON. Its path: json_path_at.
struct json_fault {
    size_t at;        // byte, from 0; the length of the text where it ends too early
    int line, column; // from 1, in characters
    const char *expected;
    bool is_too_deep; // nested deeper than JSON_DEPTH: it may be JSON, and is not read further
    size_t tokens;    // before it
};
// false: the text is JSON; then only `tokens` is set, to all there are.
bool json_find_fault(struct bytes text, struct json_fault *fault);

// Line and column of a byte, from 1. A line ends with \n; a column is a character, and so is a byte that is
// not UTF-8. Behind the text: the place where the next byte would stand.
void json_position(struct bytes text, size_t at, int *line, int *column);
// The byte of a line and column. A column behind the end of its line is that end, before \r\n or \n; a line
// behind the last is the end of the text; below 1 is 1.
size_t json_offset(struct bytes text, int line, int column);

// Is it small enough to be formatted, edited and checked for risks while a person waits? Otherwise err says
// how large it is and what the limit is; such a text is shown as it is.
bool json_fits(struct bytes text, struct err *err) MUST_CHECK;

// Valid JSON that some readers change or refuse.
enum json_risk {
    JSON_RISK_DUPLICATE, // a name that the same object had before; the last one counts
    JSON_RISK_NUMBER,    // a whole number beyond 2^53, or one that a double cannot represent
    JSON_RISK_NUL,       // \u0000
    JSON_RISK_SURROGATE, // half of a \uXXXX\uXXXX pair
    JSON_RISK_COUNT,
};
struct json_warning {
    enum json_risk risk;
    size_t from, len; // the token, or the escape within it
    int line, column; // from 1, in characters
};
const char *json_risk_sentence(enum json_risk risk); // names the risk
// The number of warnings in text, up to the place where it stops being JSON; writes the first `room`, in
// order. Takes n log n time, and memory for the names of the objects around a token.
size_t json_warnings(struct bytes text, struct json_warning *warnings, size_t room);

// Appends the same tokens with new white space: two blanks a level down to the 64th, or none. If the text
// stops being JSON, the rest follows unchanged, and the result is false.
bool json_format(struct bytes text, struct strbuf *out);
bool json_minify(struct bytes text, struct strbuf *out);

// Appends the tokens of `after` with the white space that `before` has around the same tokens, compared like
// lines of a text; a token that is new has the white space of the one it replaces, or what `before` has
// behind its first comma or colon. For a document that was formatted to be edited: what was not edited goes
// back byte for byte. false: one of them is not JSON; out is untouched.
bool json_respace(struct bytes before, struct bytes after, struct strbuf *out);

// The members of an object or the elements of an array, in order.
struct json_children {
    struct json_scan scan;
    bool is_object;
    bool is_whole; // after the last child: the container was closed
    size_t count;  // children returned so far
};
// `container` is the whole text of an object or array; children are offsets into it. false: not a container.
bool json_children(struct json_children *children, struct bytes container);
// false: no more children, or the text stops being JSON. name may be NULL; it is not set for an element.
bool json_child(struct json_children *children, struct json_token *name, struct json_token *value);

// A path: $.order.lines[2].sku  $['odd key']  $["odd key"]  $  (a subset of RFC 9535: names and indexes). In
// quotes \n \t \b \f \r and \uXXXX are what they are in JSON, and a backslash takes any other character as
// it is. Paths with [*], and all values that a path leads to: core/json/match.h.
struct json_path;
bool json_path_parse(struct json_path **path, struct bytes text,
                     struct err *err) MUST_CHECK; // err->column from 1, in characters
void json_path_destroy(struct json_path *path);
// The value at the path, with all its bytes; with [*] the first. Of duplicate names the last one counts, as
// in jsonb. false: no such value, or not JSON.
bool json_path_find(const struct json_path *path, struct bytes text, struct json_token *value);
// Appends the path of the value at offset `at`, for the cursor of an editor; between values, the path of the
// previous value or of the container. false: `at` is behind the place where the text stops being JSON; then
// appends the path of that place.
bool json_path_at(struct bytes text, size_t at, struct strbuf *out);
// Appends the step that leads to the member of that name token: .name or ['odd name'].
void json_path_add_name(struct bytes token, struct strbuf *out);

// Edits are splices: everything outside is identical. A path with [*] edits every place it leads to, in one
// pass; of duplicate names on the way the last one counts. false: there was nothing to edit, or the text is
// not JSON; out is untouched. Values are JSON, which is not checked here.
//
// Text with `b` in place of the bytes [from, from + len).
void json_splice(struct bytes text, size_t from, size_t len, struct bytes b, struct strbuf *out);
// Text with `value` at path: replaces the value there, or adds a last member if only the last name is
// missing, spaced like the member before it.
bool json_set(const struct json_path *path, struct bytes text, struct bytes value, struct strbuf *out);
// Text without the element at path, or without every member of that name in that object (else an earlier
// duplicate would take effect), and without its comma.
bool json_remove(const struct json_path *path, struct bytes text, struct strbuf *out);
// Text with `name` (its content, without quotes) in place of the last name of the path, for every member of
// that name in that object. Also false where one of the objects has a member of the new name: two of the same
// name would be read as one. The name that it has already changes no byte, and is true.
bool json_rename(const struct json_path *path, struct bytes text, struct bytes name, struct strbuf *out);
// Text with `value` as the element `index` of the array at this path, spaced like its neighbours; the
// elements from there on move up. As many as there are, or JSON_LAST, appends.
#define JSON_LAST SIZE_MAX
bool json_insert(const struct json_path *array, struct bytes text, size_t index, struct bytes value,
                 struct strbuf *out);

// The content of a string token (quotes and escapes undone) appended as UTF-8. A lone surrogate becomes
// U+FFFD. false: not a string token.
bool json_decode(struct bytes token, struct strbuf *out);
// As json_decode. places, with room for token.len, receives where each byte of the content comes from, as an
// offset in the token (of an escape, where it begins), and behind the last one the offset of the end quote.
bool json_decode_places(struct bytes token, struct strbuf *out, size_t *places);
// Appends content as a string token, with only the escapes that JSON requires. Bad bytes become U+FFFD.
void json_quote(struct bytes content, struct strbuf *out);

// How many halves of surrogate pairs stand alone in a string token: json_decode makes another content of
// them.
size_t json_lone_surrogates(struct bytes token);

// JSON within a string: `originalValue` of a wrapper, a field that somebody serialised twice.
//
// Is the content of the token a JSON object or array? Then appends it, to be shown or edited.
bool json_embedded(struct bytes token, struct strbuf *text);
// Appends the token with `content` in place of its own. The content's own begin and end, as far as they are
// what they were, keep the bytes that they had: an unchanged content gives the identical token. Between the
// first and the last change each character is spelled like the first of its kind in the token (a solidus as
// \/, é as \u00e9, A to F in upper case), else with the escapes that JSON requires. Where token is no string:
// json_quote. false: between the first and the last change a lone surrogate became U+FFFD.
bool json_requote(struct bytes token, struct bytes content, struct strbuf *out);

// Numbers by value, of any length: <0, 0, >0. Both must be JSON number tokens. 1.0 equals 1 and 1e2 equals
// 100.
int json_number_compare(struct bytes a, struct bytes b);

#endif
