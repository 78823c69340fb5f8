// row_filter: a regular expression over the rows a view already has: groups, operations, the audit. (Lists of
// events have the whole filter language, matched by the backend; see events.c.)
//
// Smart case as everywhere; a leading `!` inverts. A row's text is what the view says it is: all that a
// person reads in it, parts separated by newlines, and ^ and $ are the ends of a part. A pattern that runs
// into its limits keeps the row: it is never silently left out.
#ifndef REDRIVE_UI_VIEWS_ROW_FILTER_H
#define REDRIVE_UI_VIEWS_ROW_FILTER_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

struct app;

// Zero-initialise: everything matches.
struct row_filter {
    struct strbuf text;   // in force
    struct strbuf before; // in force when the prompt was opened
    struct pattern *pattern;
    bool is_inverted;
    void (*show)(void *view); // while the prompt is open
    void *view;
};

// On failure what was in force stays.
bool row_filter_set(struct row_filter *filter, struct bytes text, struct err *err) MUST_CHECK;
bool row_filter_is_on(const struct row_filter *filter);
bool row_filter_match(const struct row_filter *filter, struct bytes row);
// Everything matches again; false: it already did.
bool row_filter_clear(struct row_filter *filter);
// Opens the prompt on the filter. `show` is called with `view` after each change; Esc brings back what was in
// force. The view that asks owns both.
void row_filter_ask(struct app *app, struct row_filter *filter, void (*show)(void *view), void *view);
void row_filter_release(struct row_filter *filter);

// The filter that finds the rows with just this part: "^java\.lang\.Error$".
void row_filter_exact(struct strbuf *out, const char *part);
// Appends a part of a row's text; NULL adds nothing.
void row_text_add(struct strbuf *row, const char *part);

#endif
