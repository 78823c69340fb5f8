// filter_parse: private part of filters, shared by parsing (parse.c, operators.c, read_term.c, range.c), the
// words of the language (words.c, fields.def) and matching (filter.c, terms.c, tree.c).
#ifndef REDRIVE_CORE_FILTER_PARSE_H
#define REDRIVE_CORE_FILTER_PARSE_H

#include "base/strbuf.h"
#include "core/filter/filter.h"
#include "core/json/json.h"
#include "core/json/path_value.h"
#include "core/filter/pattern.h"

enum filter_field {
#define FIELD(id, name, kind, needs, help) FIELD_##id,
#include "core/filter/fields.def"
#undef FIELD
    FIELD_JSON, // $.path
};

// The form of the value behind the colon.
enum filter_kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_AGE,
    KIND_CREATED,
    KIND_GROUP,
    KIND_CATEGORY,
    KIND_STATUS,
    KIND_OUTCOME,
    KIND_FLAG,
    KIND_HEADER,
    KIND_JSON
};

enum filter_flag { FLAG_EDITED, FLAG_RETURNED, FLAG_QUARANTINED, FLAG_NEW, FLAG_BUSY, FLAG_STACK, FLAG_RAW };

#define FILTER_ALL_STATUSES                                                                                  \
    (1u << EVENT_PENDING | 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED | 1u << EVENT_OTHER)

enum json_test {
    JSON_EQUALS,
    JSON_MATCHES,
    JSON_ABOVE,
    JSON_BELOW,
    JSON_AT_LEAST,
    JSON_AT_MOST,
    JSON_EXISTS
};

// Numbers, µs of age, wall µs of created; both ends included.
struct filter_range {
    int64_t low, high;
};

struct filter_term {
    enum filter_field field;
    bool is_inverted;
    struct pattern *pattern; // text by regular expression
    struct strbuf exact;     // text exactly, or the value of a JSON test
    bool is_exact;
    bool is_number; // the value of a JSON test is a number
    struct filter_range range;
    struct filter_group { // from low to high, both included
        uint64_t low, high;
    } * groups; // heap; ascending, none within another
    size_t group_count;
    enum category category;
    unsigned statuses; // or set of enum event_outcome
    enum filter_flag flag;
    struct strbuf header; // name of the header
    struct json_path *path;
    enum json_test test;
    enum path_kind wanted; // with JSON_EXISTS: of this kind; PATH_MISSING: of any
};

// What joins the terms. An inversion is in the terms, so there are only these two.
#define FILTER_NO_NODE SIZE_MAX
struct filter_node {
    enum filter_join join;
    size_t term;        // with JOIN_NONE: its index
    size_t first, next; // children, cheap ones first, none with the join of their parent; FILTER_NO_NODE
    int cost;
};

struct filter {
    bool is_twin;              // owns only the patterns of its terms
    struct filter_term *terms; // in the order of the line, a bare expression behind the terms beside it
    size_t count, capacity;
    struct filter_node *nodes;
    size_t node_count, node_capacity;
    size_t root; // FILTER_NO_NODE: matches everything
    struct filter_context context;
    struct strbuf scratch; // decoded JSON strings
};

static inline bool
filter_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The field with exactly this name, which a colon follows.
bool filter_field_find(struct bytes name, enum filter_field *field);
// The field that `name` misspells, or NULL: then `name:` is text.
const char *filter_field_near(struct bytes name);
enum filter_kind filter_field_kind(enum filter_field field);

// The fixed words of category: status: is: and has:. The value is an enum category, a set of 1 << enum
// event_status, or an enum filter_flag.
bool filter_value_find(enum filter_field field, struct bytes word, unsigned *value);
// Appends the allowed words and the nearest one to the sentence.
void filter_value_expected(enum filter_field field, struct bytes word, struct strbuf *sentence);

// `n`, `>n`, `>=n`, `<n`, `<=n`, `a..b`, `a..`, `..b` of KIND_NUMBER, KIND_AGE or KIND_CREATED. A date that
// ends a range includes its day; a single time means its day, minute or second, as precise as it is written.
// On failure *bad is the offset of the mistake.
bool filter_range_read(struct bytes text, enum filter_kind kind, struct filter_range *range, size_t *bad,
                       struct err *err) MUST_CHECK;

#endif
