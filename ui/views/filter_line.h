// filter_line: the filter of events as views about events read it: the same words everywhere.
#ifndef REDRIVE_UI_VIEWS_FILTER_LINE_H
#define REDRIVE_UI_VIEWS_FILTER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "core/filter/filter.h"

struct app;
struct reply;
struct facet;
struct prompt_request;

// What Tab completes: values of fields and paths of payloads, asked for when the line is opened.
// Zero-initialise.
struct filter_values {
    uint64_t number; // of the request
    struct arena arena;
    const struct facet *list;
    size_t count;
};

// What a filter that is typed now is measured against.
struct filter_context filter_line_context(const struct app *app);
// The text with its @names replaced, if it is a filter. On failure err names the place.
bool filter_line_read(const struct app *app, struct bytes text, struct strbuf *out,
                      struct err *err) MUST_CHECK;
// Fills in what the filter lines of all views have in common; the values are asked for.
void filter_line_begin(struct app *app, struct filter_values *values, struct prompt_request *request);
bool filter_values_receive(struct filter_values *values, struct reply *reply); // true: the reply was for it
void filter_values_release(struct filter_values *values);
// The i-th candidate for the last word of the line, brackets and ! before it included; NULL: no more. In the
// arena of the frame.
const char *filter_line_candidate(struct app *app, const struct filter_values *values, struct bytes text,
                                  size_t i);
// Both together, as one text: in brackets where one has an or. The arena's, or one of the two.
const char *filter_line_both(const char *one, const char *other, struct arena *arena);

#endif
