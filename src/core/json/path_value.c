#include "core/json/path_value.h"

#include <inttypes.h>
#include <string.h>
#include "core/json/number.h"

static const char *const path_kind_names[PATH_KINDS] = {
    [PATH_MISSING] = "missing", [PATH_NULL] = "null", [PATH_BOOLEAN] = "boolean", [PATH_NUMBER] = "number",
    [PATH_TEXT] = "text",       [PATH_LONG] = "long", [PATH_OBJECT] = "object",   [PATH_ARRAY] = "array"};

const char *
path_kind_name(enum path_kind kind)
{
    return path_kind_names[kind];
}

bool
path_kind_parse(struct bytes word, enum path_kind *kind)
{
    for (int i = PATH_NULL; i < PATH_KINDS; i++) {
        if (!bytes_equal_text(word, path_kind_names[i]))
            continue;
        *kind = (enum path_kind)i;
        return true;
    }
    return false;
}

static size_t
characters(struct bytes text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

// A token that was cut has no closing quote.
static enum path_kind
name_text(struct bytes token, struct strbuf *name)
{
    struct json_scan scan;
    json_begin(&scan, token);
    bool is_whole = json_next(&scan).kind == JSON_STRING && json_decode(token, name);
    struct bytes content = strbuf_bytes(name);
    if (is_whole && characters(content) <= PATH_CHARACTERS && !memchr(content.data, '\0', content.len))
        return PATH_TEXT;
    strbuf_reset(name);
    return PATH_LONG;
}

// 0.<digits> × 10^exponent, as plain digits where those are few.
static void
print_number(const char *digits, size_t count, int64_t exponent, struct strbuf *name)
{
    enum { PLAIN = 21 };
    const struct bytes all = {digits, count};
    if (exponent > 0 && exponent <= PLAIN) {
        size_t whole = count < (size_t)exponent ? count : (size_t)exponent;
        strbuf_add(name, bytes_slice(all, 0, whole));
        for (size_t i = whole; i < (size_t)exponent; i++)
            strbuf_add_char(name, '0');
        if (count > whole)
            strbuf_add_char(name, '.');
        strbuf_add(name, bytes_slice(all, whole, SIZE_MAX));
    } else if (exponent <= 0 && exponent > -6) {
        strbuf_add_text(name, "0.");
        for (int64_t i = exponent; i < 0; i++)
            strbuf_add_char(name, '0');
        strbuf_add(name, all);
    } else {
        strbuf_add_char(name, digits[0]);
        if (count > 1)
            strbuf_add_char(name, '.');
        strbuf_add(name, bytes_slice(all, 1, SIZE_MAX));
        strbuf_printf(name, "e%" PRId64, exponent - 1);
    }
}

static enum path_kind
name_number(struct bytes token, struct strbuf *name)
{
    char digits[PATH_CHARACTERS];
    int64_t exponent;
    size_t count = json_number_digits(token, digits, sizeof digits, &exponent);
    if (count > sizeof digits || exponent > PATH_EXPONENT || exponent < -PATH_EXPONENT)
        return PATH_LONG;
    if (count == 0) {
        strbuf_add_char(name, '0');
        return PATH_NUMBER;
    }
    if (token.data[0] == '-')
        strbuf_add_char(name, '-');
    print_number(digits, count, exponent, name);
    return PATH_NUMBER;
}

enum path_kind
path_value_of(struct bytes token, struct strbuf *name)
{
    strbuf_reset(name);
    switch (token.len ? token.data[0] : '\0') {
    case '\0':
        return PATH_MISSING;
    case '{':
        return PATH_OBJECT;
    case '[':
        return PATH_ARRAY;
    case 'n':
        return PATH_NULL;
    case 't':
    case 'f':
        strbuf_add(name, token);
        return PATH_BOOLEAN;
    case '"':
        return name_text(token, name);
    default:
        // Where a number was cut its size is unknown; jsonb prints one with a name in fewer.
        return token.len < PATH_TOKEN_CHARACTERS ? name_number(token, name) : PATH_LONG;
    }
}

bool
path_value_is(struct bytes token, enum path_kind kind)
{
    struct strbuf name = {0};
    enum path_kind own = path_value_of(token, &name);
    strbuf_release(&name);
    bool is_text = token.len && token.data[0] == '"';
    return own == kind ||
           (own == PATH_LONG && ((kind == PATH_TEXT && is_text) || (kind == PATH_NUMBER && !is_text)));
}

bool
path_text_is_ambiguous(struct bytes content)
{
    struct json_scan scan;
    json_begin(&scan, content);
    enum json_kind first = json_next(&scan).kind;
    return first != JSON_ERROR && first != JSON_STRING;
}

void
path_value_print(enum path_kind kind, struct bytes name, struct strbuf *out)
{
    bool is_text = kind == PATH_TEXT;
    bool is_quoted = is_text && (name.len == 0 || memchr(" (\"", name.data[0], 3) ||
                                 name.data[name.len - 1] == ' ' || path_text_is_ambiguous(name));
    if (is_quoted)
        json_quote(name, out);
    else if (is_text || kind == PATH_NUMBER || kind == PATH_BOOLEAN)
        strbuf_add(out, name);
    else
        strbuf_printf(out, "(%s)", path_kind_name(kind));
}
