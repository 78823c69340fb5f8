#include "store/query.h"

#include <string.h>
#include "base/alloc.h"

void
query_add(struct query *query, struct query_piece piece)
{
    if (piece.sql)
        strbuf_add_text(&query->pieces, piece.sql);
}

struct params *
query_param(struct query *query, const char *name)
{
    int place = query->params.count;
    if (place == PARAMS_MAX)
        die("a query has more parameters than a statement may have");
    for (int i = 0; i < place; i++) {
        if (strcmp(query->names[i], name) == 0)
            die("the value %s of a query was given twice", name);
    }
    query->names[place] = name;
    return &query->params;
}

static bool
is_name(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

static int
number_of(const struct query *query, struct bytes name)
{
    for (int i = 0; i < query->params.count; i++) {
        if (bytes_equal_text(name, query->names[i]))
            return i + 1;
    }
    die("a query asks for %.*s, and no value has that name", BYTES_ARGS(name));
}

const char *
query_text(struct query *query)
{
    strbuf_reset(&query->text);
    const char *sql = strbuf_text(&query->pieces);
    for (const char *p = sql; *p; p++) {
        bool is_value = *p == ':' && is_name(p[1]) && (p == sql || p[-1] != ':');
        if (!is_value) {
            strbuf_add_char(&query->text, *p);
            continue;
        }
        const char *end = p + 1;
        while (is_name(*end))
            end++;
        strbuf_printf(&query->text, "$%d", number_of(query, (struct bytes){p + 1, (size_t)(end - p - 1)}));
        p = end - 1;
    }
    return strbuf_text(&query->text);
}

void
query_release(struct query *query)
{
    strbuf_release(&query->pieces);
    strbuf_release(&query->text);
    params_release(&query->params);
    *query = (struct query){0};
}
