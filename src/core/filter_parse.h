// filter_parse: the inside of a filter, shared by parsing and matching.
#ifndef REDRIVE_CORE_FILTER_PARSE_H
#define REDRIVE_CORE_FILTER_PARSE_H

#include "base/strbuf.h"
#include "core/filter.h"
#include "core/json.h"
#include "core/pattern.h"

enum filter_field {
#define FIELD(id, name, kind, needs, help) FIELD_##id,
#include "core/filter_fields.def"
#undef FIELD
    FIELD_JSON, // $.path
    FIELD_COUNT
};

enum filter_flag { FLAG_EDITED, FLAG_BACK, FLAG_QUARANTINED, FLAG_NEW, FLAG_BUSY, FLAG_STACK, FLAG_RAW };

enum json_test {
    JSON_EQUALS,
    JSON_MATCHES,
    JSON_ABOVE,
    JSON_BELOW,
    JSON_AT_LEAST,
    JSON_AT_MOST,
    JSON_EXISTS
};

struct filter_term {
    enum filter_field field;
    bool is_inverted;
    struct pattern *pattern; // text by regular expression
    struct strbuf exact;     // text exactly, or the value of a JSON test
    bool is_exact;
    int64_t low, high; // numbers, µs of age, wall µs of created; both included
    uint64_t group_low, group_high;
    enum category category;
    unsigned statuses;
    enum filter_flag flag;
    struct strbuf header; // name of the header
    struct json_path *path;
    enum json_test test;
};

struct filter {
    struct filter_term *terms;
    size_t count, capacity;
    struct filter_context context;
    struct strbuf scratch; // decoded JSON strings
};

#endif
