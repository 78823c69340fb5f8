// syntax_scan: reads JSON from any place of a buffer on, in pieces that may end within a token, and takes up
// again behind errors.
//
// core/json reads a whole text in one go and ends at the first error; an editor needs the state at the cursor
// of a document that is broken just now. Up to the first error both say the same, which the tests compare.
#ifndef REDRIVE_UI_EDITOR_SYNTAX_SCAN_H
#define REDRIVE_UI_EDITOR_SYNTAX_SCAN_H

#include "core/json/json.h"
#include "ui/editor/buffer.h"
#include "ui/editor/syntax.h"

#define SCAN_NONE UINT32_MAX
#define SCAN_OBJECT 0x80000000u // in scan_level.open: it is an object
#define SCAN_REACH 8            // bytes behind a state that it may depend on

// What may come next, as in core/json.
enum scan_state {
    SCAN_VALUE,
    SCAN_VALUE_OR_END,
    SCAN_NAME,
    SCAN_NAME_OR_END,
    SCAN_COLON,
    SCAN_COMMA_OR_END,
    SCAN_DONE,
};

// The token that the state is within.
enum scan_token {
    SCAN_BETWEEN,
    SCAN_STRING,
    SCAN_NUMBER,
    SCAN_JUNK,
    SCAN_QUOTED, // junk that began with a single quote
    SCAN_REST,   // deeper than can be read: all that follows is an error
};

struct scan_level {
    uint32_t open; // where its bracket is, and SCAN_OBJECT
    uint32_t
        place; // of the child that is being read: where its name begins (SCAN_NONE: none yet), or its index
};

struct scan_head {
    size_t at;      // everything before was read
    size_t value;   // where the value at path_depth began; SIZE_MAX: not yet
    int depth;      // containers around `at`
    int path_depth; // of the last token, as in struct json_token
    int lowest;     // least depth since somebody set it
    enum scan_state state;
    enum scan_token token;
    int phase;          // of a number
    bool is_name;       // the string is a name
    bool is_recovering; // an error was reported, and nothing fitted since
};

struct syntax_scan {
    struct scan_head head;
    struct scan_level levels[JSON_DEPTH]; // `depth` of them
};

// A token or a part of it: strings come in runs and escapes, and tokens are cut at the limit of a call.
struct syntax_piece {
    enum json_kind kind; // JSON_ERROR: what does not belong there
    enum syntax_class class;
    size_t from, len;     // len may be 0 where something is missing
    int depth;            // as in struct json_token
    bool begins;          // it is the first of its token
    const char *expected; // an error to report, at `from`; else NULL
};

void scan_begin(struct syntax_scan *scan);
// Reads the next piece that begins before `limit`; it ends there, or a few bytes behind in the middle of a
// character, an escape or a literal. false: there is none, and at >= limit.
bool scan_next(struct syntax_scan *scan, const struct buffer *buffer, size_t limit,
               struct syntax_piece *piece);
// What is missing where the document ends here; NULL: nothing.
const char *scan_missing(const struct syntax_scan *scan);
// Does the piece begin a value?
bool scan_is_value(const struct syntax_piece *piece);

#endif
