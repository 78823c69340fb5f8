#include "core/filter/path_term.h"

#include "core/json/match.h"

static void
print_quoted(struct bytes text, struct strbuf *out)
{
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, text.data[i]);
    }
    strbuf_add_char(out, '"');
}

void
path_term_print(const struct json_path *path, enum path_kind kind, struct bytes name, struct strbuf *out)
{
    bool is_text = kind == PATH_TEXT;
    if (kind == PATH_MISSING)
        strbuf_add_char(out, '!');
    if (!is_text || path_text_is_ambiguous(name)) {
        json_path_print(path, NULL, out);
        strbuf_printf(out, "?%s", kind == PATH_MISSING ? "" : path_kind_name(kind));
    }
    if (!is_text && kind != PATH_NUMBER && kind != PATH_BOOLEAN)
        return;
    if (!is_text || path_text_is_ambiguous(name))
        strbuf_add_char(out, ' ');
    json_path_print(path, NULL, out);
    strbuf_add_char(out, '=');
    if (is_text)
        print_quoted(name, out);
    else
        strbuf_add(out, name);
}
