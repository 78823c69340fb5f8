// jsonpath: a path as PostgreSQL's language of paths writes it, in strict mode: a name leads into objects
// alone and an index into arrays alone, as json_path_find has it.
//
//     $.lines[2].sku    strict $."lines"[2]."sku"
#ifndef REDRIVE_CORE_JSON_JSONPATH_H
#define REDRIVE_CORE_JSON_JSONPATH_H

#include "core/json/json.h"

// Appends it. A [*] stands for every element. false: jsonb cannot have such a value (a name with a NUL or not
// UTF-8, an index that is too high); out is then unfinished.
bool jsonpath_print(const struct json_path *path, struct strbuf *out);
// Its names, where names alone lead from $ to the value, at most so many; 0: they do not. Borrowed.
size_t jsonpath_names(const struct json_path *path, const char **names, size_t most);

#endif
