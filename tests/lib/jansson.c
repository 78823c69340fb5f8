#include "tests/lib/jansson.h"

#include <jansson.h>

static json_t *
read_any(struct bytes text)
{
    json_error_t error;
    return json_loadb(text.data, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
}

bool
jansson_reads(struct bytes text)
{
    json_t *json = read_any(text);
    json_decref(json);
    return json != NULL;
}

char *
jansson_format(struct bytes text)
{
    json_t *json = read_any(text);
    char *printed = json ? json_dumps(json, JSON_INDENT(2) | JSON_ENCODE_ANY) : NULL;
    json_decref(json);
    return printed;
}
