// Is a text JSON, and is it small enough to be worked on while a person waits?
#include "base/text.h"
#include "core/json/json.h"

bool
json_check(struct bytes text, struct err *err)
{
    struct json_fault fault;
    if (!json_find_fault(text, &fault))
        return true;
    err_set(err, ERR_DATA, "this is not JSON: line %d, column %d: expected %s", fault.line, fault.column,
            fault.expected);
    if (err) {
        err->line = fault.line;
        err->column = fault.column;
    }
    return false;
}

bool
json_fits(struct bytes text, struct err *err)
{
    char is[TEXT_SHORT];
    char most[TEXT_SHORT];
    if (text.len > JSON_BYTES) {
        err_set(err, ERR_DATA, "this payload has %s; up to %s are taken apart as JSON",
                text_size(text.len, is), text_size(JSON_BYTES, most));
        return false;
    }
    struct json_scan scan;
    json_begin(&scan, text);
    for (int64_t count = 0; count < JSON_TOKENS; count++) {
        enum json_kind kind = json_next(&scan).kind;
        if (kind == JSON_END || kind == JSON_ERROR)
            return true;
    }
    err_set(err, ERR_DATA, "this payload has more than %s JSON tokens", text_count(JSON_TOKENS, most));
    return false;
}
