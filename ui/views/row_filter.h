// row_filter: a regular expression over the rows a view already has: operations, the audit. (Groups and lists
// of events have the filter language, matched by the backend; see filter_line.h.)
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
// Opens the prompt on the filter; its label says what is filtered. `show` is called with `view` after each
// change; Esc brings back what was in force. The view that asks owns both.
void row_filter_ask(struct app *app, struct row_filter *filter, const char *label, void (*show)(void *view),
                    void *view);
void row_filter_release(struct row_filter *filter);

// Appends a part of a row's text; NULL adds nothing.
void row_text_add(struct strbuf *row, const char *part);

#endif
