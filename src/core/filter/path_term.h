// path_term: the term that chooses exactly the events with one value at a path.
#ifndef REDRIVE_CORE_FILTER_PATH_TERM_H
#define REDRIVE_CORE_FILTER_PATH_TERM_H

#include "core/json/path_value.h"

// Appends the term, or two that must both hold: $.a="text", $.a?number $.a=5, $.a?null, !$.a?
void path_term_print(const struct json_path *path, enum path_kind kind, struct bytes name,
                     struct strbuf *out);

#endif
