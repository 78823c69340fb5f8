// Any bytes as a value of a schema. The first byte names the language and the framing; up to the first 0xFE
// is the schema's text, or where that is empty one of a few that have every type; behind it the value.
//
// What is decoded is JSON, not longer than the limit; what is refused changes nothing and says why.
#include <stdint.h>
#include <stdlib.h>
#include "core/json/json.h"
#include "core/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char every_avro_type[] =
    "{\"type\":\"record\",\"name\":\"a.R\",\"fields\":[{\"name\":\"n\",\"type\":[\"null\",\"R\",\"boolean\","
    "\"int\",\"long\",\"float\",\"double\",\"bytes\",\"string\",{\"type\":\"enum\",\"name\":\"E\","
    "\"symbols\":["
    "\"A\",\"B\"]},{\"type\":\"array\",\"items\":\"R\"},{\"type\":\"map\",\"values\":\"R\"},{\"type\":"
    "\"fixed\","
    "\"name\":\"F\",\"size\":3},{\"type\":\"array\",\"items\":\"null\"}]},{\"name\":\"m\",\"type\":{\"type\":"
    "\"map\",\"values\":\"E\"}}]}";

static void
require(bool holds)
{
    if (!holds)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct bytes all = {(const char *)data + 1, size - 1};
    enum schema_language language = data[0] % SCHEMA_LANGUAGES;
    size_t end = bytes_find(all, BYTES("\xFE"), 0);
    struct bytes text = bytes_slice(all, 0, end == SIZE_MAX ? 0 : end);
    struct bytes value = end == SIZE_MAX ? all : bytes_slice(all, end + 1, SIZE_MAX);
    if (text.len == 0 && language == SCHEMA_AVRO)
        text = bytes_of(every_avro_type);

    struct arena arena = {0};
    struct strbuf out = {0};
    struct err err = {0};
    const struct schema *schema = schema_read(language, &text, 1, &arena, &err);
    bool ok = schema && schema_decode(schema, data[0] & 128 ? SCHEMA_FRAMED : SCHEMA_BARE, value, &out, &err);
    require(ok || (err.kind == ERR_DATA && err.text[0] && out.len == 0));
    // One part may be written after the limit was looked at, and it is no longer than six times the value.
    require(out.len <= SCHEMA_JSON_MOST + 6 * value.len + SCHEMA_TEXT_MOST);
    if (ok)
        require(json_check(strbuf_bytes(&out), NULL));
    strbuf_release(&out);
    arena_release(&arena);
    return 0;
}
