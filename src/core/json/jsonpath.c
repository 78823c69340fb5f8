// PostgreSQL documentation, "The SQL/JSON Path Language": strings are those of JavaScript, in double quotes.
#include "core/json/jsonpath.h"

#include <stdint.h>
#include <string.h>
#include "base/utf8.h"
#include "core/json/path.h"

static bool
print_name(struct bytes name, struct strbuf *out)
{
    if (!utf8_valid(name) || memchr(name.data, '\0', name.len))
        return false;
    strbuf_add_text(out, ".\"");
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.data[i];
        if (c < 0x20 || c == '"' || c == '\\')
            strbuf_printf(out, "\\u%04x", c);
        else
            strbuf_add_char(out, (char)c);
    }
    strbuf_add_char(out, '"');
    return true;
}

bool
jsonpath_print(const struct json_path *path, struct strbuf *out)
{
    strbuf_add_text(out, "strict $");
    for (size_t i = 0; i < path->count; i++) {
        const struct json_step *step = &path->steps[i];
        if (step->kind == JSON_STEP_NAME) {
            if (!print_name(strbuf_bytes(&step->name), out))
                return false;
        } else if (step->kind == JSON_STEP_EVERY) {
            strbuf_add_text(out, "[*]");
        } else if (step->index > INT32_MAX) {
            return false;
        } else {
            strbuf_printf(out, "[%zu]", step->index);
        }
    }
    return true;
}

size_t
jsonpath_names(const struct json_path *path, const char **names, size_t most)
{
    if (path->count > most)
        return 0;
    for (size_t i = 0; i < path->count; i++) {
        if (path->steps[i].kind != JSON_STEP_NAME)
            return 0;
        names[i] = strbuf_text(&path->steps[i].name);
    }
    return path->count;
}
