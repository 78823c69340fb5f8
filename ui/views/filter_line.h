// filter_line: the filter of events as views about events read it: the same words everywhere.
#ifndef REDRIVE_UI_VIEWS_FILTER_LINE_H
#define REDRIVE_UI_VIEWS_FILTER_LINE_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "core/filter/filter.h"

struct app;

// What a filter that is typed now is measured against.
struct filter_context filter_line_context(const struct app *app);
// The text with its @names replaced, if it is a filter. On failure err names the place.
bool filter_line_read(const struct app *app, struct bytes text, struct strbuf *out,
                      struct err *err) MUST_CHECK;
// Both together, as one text: in brackets where one has an or. The arena's, or one of the two.
const char *filter_line_both(const char *one, const char *other, struct arena *arena);

#endif
