// The contract table's name, from a setting to SQL: the only text besides constants that ever becomes part of
// a statement.
#include "store/pg.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"

enum { NAME_MAX_BYTES = 63 }; // the server's NAMEDATALEN - 1; it would cut longer names silently

static bool
is_bare(char c, bool first)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
    return letter || (!first && ((c >= '0' && c <= '9') || c == '$'));
}

static void
read_bare(const char **at, struct strbuf *name)
{
    for (; is_bare(**at, name->len == 0); (*at)++)
        strbuf_add_char(name, **at >= 'A' && **at <= 'Z' ? (char)(**at - 'A' + 'a') : **at);
}

static bool
read_quoted(const char **at, struct strbuf *name)
{
    for ((*at)++; **at; (*at)++) {
        if (**at == '"' && *++*at != '"')
            return true;
        strbuf_add_char(name, **at);
    }
    return false;
}

static char *
read_name(const char **at)
{
    struct strbuf name = {0};
    bool ok = true;
    if (**at == '"')
        ok = read_quoted(at, &name);
    else
        read_bare(at, &name);
    if (ok && name.len > 0 && name.len <= NAME_MAX_BYTES && utf8_valid(strbuf_bytes(&name)))
        return strbuf_detach(&name);
    strbuf_release(&name);
    return NULL;
}

bool
pg_parse_table(const char *text, char **schema, char **name, struct err *err)
{
    const char *at = text;
    *schema = read_name(&at);
    *name = NULL;
    if (*schema && *at == '.') {
        at++;
        *name = read_name(&at);
    } else if (*schema && !*at) {
        *name = *schema;
        *schema = alloc_text("public");
    }
    if (*name && !*at)
        return true;
    free(*schema);
    free(*name);
    *schema = *name = NULL;
    return err_set(err, ERR_USAGE,
                   "%.200s is not the name of a table: expected schema.name, such as public.dlq_events",
                   text);
}

static void
add_quoted(struct strbuf *out, const char *name)
{
    strbuf_add_char(out, '"');
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            strbuf_add_char(out, '"');
        strbuf_add_char(out, *c);
    }
    strbuf_add_char(out, '"');
}

const char *
store_quote_name(const char *name, struct arena *arena)
{
    struct strbuf quoted = {0};
    add_quoted(&quoted, name);
    const char *text = arena_text(arena, strbuf_bytes(&quoted));
    strbuf_release(&quoted);
    return text;
}

void
pg_quote_table(struct strbuf *out, const char *schema, const char *name)
{
    add_quoted(out, schema);
    strbuf_add_char(out, '.');
    add_quoted(out, name);
}

static void
add_shown(struct strbuf *out, const char *name)
{
    for (const char *c = name; *c; c++) {
        if (!is_bare(*c, c == name) || (*c >= 'A' && *c <= 'Z')) {
            add_quoted(out, name);
            return;
        }
    }
    strbuf_add_text(out, name);
}

void
pg_show_table(struct strbuf *out, const char *schema, const char *name)
{
    add_shown(out, schema);
    strbuf_add_char(out, '.');
    add_shown(out, name);
}
