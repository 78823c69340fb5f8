#include "core/schema/schema.h"

#include "base/utf8.h"
#include "core/json/json.h"
#include "core/schema/avro.h"
#include "core/schema/proto.h"

struct schema {
    enum schema_language language;
    const struct avro_type *avro;
    const struct proto_named *proto;
};

static const struct {
    const char *name, *word, *registry;
} languages[SCHEMA_LANGUAGES] = {
    [SCHEMA_AVRO] = {"Avro", "avro", "AVRO"},
    [SCHEMA_PROTOBUF] = {"Protobuf", "protobuf", "PROTOBUF"},
    [SCHEMA_JSON] = {"JSON Schema", "json", "JSON"},
};

const char *
schema_language_name(enum schema_language language)
{
    return languages[language].name;
}

const char *
schema_language_word(enum schema_language language)
{
    return languages[language].word;
}

bool
schema_language_find(struct bytes word, enum schema_language *language)
{
    for (size_t i = 0; i < SCHEMA_LANGUAGES; i++) {
        if (bytes_equal_text(word, languages[i].word) || bytes_equal_text(word, languages[i].registry)) {
            *language = (enum schema_language)i;
            return true;
        }
    }
    return false;
}

static bool
fits(const struct bytes *texts, size_t count, struct err *err)
{
    size_t len = 0;
    if (count == 0 || count > SCHEMA_TEXTS_MOST)
        return err_set(err, ERR_DATA, "a schema has 1 to %d texts, this one %zu", SCHEMA_TEXTS_MOST, count);
    for (size_t i = 0; i < count; i++) {
        if (texts[i].len > SCHEMA_TEXT_MOST - len)
            return err_set(err, ERR_DATA, "the schema is longer than %d bytes", SCHEMA_TEXT_MOST);
        len += texts[i].len;
    }
    return true;
}

const struct schema *
schema_read(enum schema_language language, const struct bytes *texts, size_t count, struct arena *arena,
            struct err *err)
{
    struct schema *schema = arena_array(arena, 1, sizeof *schema);
    bool ok = fits(texts, count, err);
    schema->language = language;
    switch (language) {
    case SCHEMA_AVRO:
        for (size_t i = 0; ok && i < count; i++)
            ok = utf8_valid(texts[i]) || err_set(err, ERR_DATA, "the Avro schema is no text");
        ok = ok && (schema->avro = avro_read(texts, count, arena, err)) != NULL;
        break;
    case SCHEMA_PROTOBUF:
        ok = ok && (schema->proto = proto_read(texts, count, arena, err)) != NULL;
        break;
    case SCHEMA_JSON:
    case SCHEMA_LANGUAGES:
        break;
    }
    return ok ? schema : NULL;
}

enum schema_language
schema_language_of(const struct schema *schema)
{
    return schema->language;
}

// The JSON itself, which is neither changed nor checked by its schema.
static bool
copy_json(struct decoding *decoding)
{
    struct json_fault fault;
    if (json_find_fault(decoding->value, &fault) || !utf8_valid(decoding->value))
        return decoding_fail(decoding, "no JSON is behind the schema's number");
    strbuf_add(decoding->out, decoding->value);
    decoding->at = decoding->value.len;
    return true;
}

bool
schema_decode(const struct schema *schema, enum schema_framing framing, struct bytes value,
              struct strbuf *out, struct err *err)
{
    struct decoding decoding;
    bool ok = false;
    decoding_begin(&decoding, value, out, err);
    if (!bytes_present(value))
        return err_set(err, ERR_DATA, "there is no value");
    switch (schema->language) {
    case SCHEMA_AVRO:
        ok = avro_decode(schema->avro, &decoding);
        break;
    case SCHEMA_JSON:
        ok = copy_json(&decoding);
        break;
    case SCHEMA_PROTOBUF:
        ok = proto_decode(schema->proto, framing, &decoding);
        break;
    case SCHEMA_LANGUAGES:
        break;
    }
    if (ok && decoding.at < value.len)
        ok = decoding_fail(&decoding, "%zu bytes are left behind the value", value.len - decoding.at);
    if (!ok)
        strbuf_splice(out, decoding.begin, out->len - decoding.begin, BYTES(""));
    return ok;
}
