// filter: the line an operator types, the same on the screen and in --filter. The fields are in
// core/filter/fields.def.
//
// A filter is `field:value` terms; the other words, joined by single spaces, are one regular expression on
// the error message. All must match. A filter is parsed once and matched against events in core; it never
// becomes SQL.
//
// `or` between two such sequences takes what either of them matches; brackets hold a sequence, or several;
// `not` before a term or a bracket, and `!` before these and before a word, invert it. Error messages have
// these words and brackets too, so they join only where a term is near:
//   or    where one at its level (the line, or the inside of its brackets) stands beside a term, a bracket or
//         an !; then each `or` of that level joins. `null or empty` is text;
//   ( )   where a word begins, and only if they hold a term or an !. `(a|b)` is an expression;
//   not   before a term or a bracket. `could not connect` is text.
// What is in quotes never joins. The bare words of each sequence are one expression.
//
// Error messages have colons too. So a word before a colon is a field only if it is the name of a field, in
// lower case (Error: is text). A misspelt name is refused with the right one: one letter wrong, missing or
// doubled, but not the first, in a name of four or more; or two letters swapped. Any other word is text:
// host:443, java.lang.Foo: and bind: need no quotes. Text in "…" or /…/ is never a field. A slash begins an
// expression only if its closing slash ends a word: /api/v1 is text.
//
// Within "…" a regular expression keeps its backslashes except in \"; exact text has \" and \\. A filter is
// used by one thread at a time; another thread takes a twin.
#ifndef REDRIVE_CORE_FILTER_FILTER_H
#define REDRIVE_CORE_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "core/event.h"

struct filter;
struct pattern;

// The reference of relative terms (age:, created:, is:new), fixed when the filter is parsed.
struct filter_context {
    int64_t now;       // instant, of the database's clock where there is one
    int64_t zone_us;   // wall minus UTC of the table's zone at now
    int64_t new_after; // is:new: created after this instant; TIME_ABSENT: now - 1 h
};

// On failure err->column is the character (from 1) of the mistake, and the sentence says what was expected.
bool filter_parse(struct filter **filter, struct bytes text, const struct filter_context *context,
                  struct err *err) MUST_CHECK;
// The same filter for another thread. It borrows from this one, which outlives it.
struct filter *filter_twin(const struct filter *filter);
void filter_destroy(struct filter *filter);
bool filter_is_empty(const struct filter *filter); // matches everything

// Can only events of one operation match (operation:N)? Then it is that one, and the caller looks at no
// others.
bool filter_operation(const struct filter *filter, int64_t *no);
// Can only events match whose dead letter was taken in (format: and consumer:)? Then no others are looked at.
bool filter_wants_letter(const struct filter *filter);

// The enum event_fields an event must have filled for filter_match.
unsigned filter_needs(const struct filter *filter);
// The statuses that can match, as a set of 1 << enum event_status; 0: no status: term says which. Where one
// does, the other alternatives of an or take events of every status.
unsigned filter_statuses(const struct filter *filter);

// Has the filter an or at its highest level? Beside other terms it needs brackets.
bool filter_is_choice(const struct filter *filter);

// Does the filter ask for events in quarantine (is:quarantined)? A bulk reprocess leaves them out unless they
// are named. false as well for a text that is no filter, or none (NULL).
bool filter_names_quarantined(const char *text);
// The one rule of a bulk reprocess: events in quarantine are left out unless somebody named them, by their
// ids or by is:quarantined in the filter (may be NULL).
bool quarantine_is_named(bool by_id, const char *filter);

// An absent value matches nothing, except a retry count, which then counts as 0. UNDECIDED: a pattern ran
// into its match limit; such events are counted and listed, never silently "no".
enum filter_verdict { FILTER_NO, FILTER_YES, FILTER_UNDECIDED };
enum filter_verdict filter_match(struct filter *filter, const struct event *event);

// --- term by term, for a search that knows some columns of an event without reading it ---

// The data that decides a term.
enum filter_from {
    FILTER_FROM_ROW, // id, status, type, source, topic, retries, times, group, category, class
    FILTER_FROM_ERROR,
    FILTER_FROM_STACK,
    FILTER_FROM_PAYLOAD,
    FILTER_FROM_EVENT, // other fields: see filter_term_needs
};
size_t filter_terms(const struct filter *filter);
enum filter_from filter_term_from(const struct filter *filter, size_t i);
unsigned filter_term_needs(const struct filter *filter, size_t i); // enum event_fields
bool filter_term_is_inverted(const struct filter *filter, size_t i);
const char *filter_term_name(const struct filter *filter, size_t i); // of its field
// The regular expression the term looks for in its column's text; NULL: another kind of term. Borrowed.
struct pattern *filter_term_pattern(const struct filter *filter, size_t i);
// The text that a term of a text column wants exactly; absent: another kind of term. Borrowed.
struct bytes filter_term_exact(const struct filter *filter, size_t i);
// Must this term match, whatever the others say?
bool filter_term_is_part(const struct filter *filter, size_t i);
// Matches one term, with its !.
enum filter_verdict filter_match_term(struct filter *filter, size_t i, const struct event *event);
// Matches a term of FILTER_FROM_ROW on an event whose created_at is cut to the second and whose empty type,
// source or topic is absent. false: the full event has to decide.
bool filter_match_second(struct filter *filter, size_t i, const struct event *event,
                         enum filter_verdict *verdict);

// --- the terms together ---

// What is known of the terms for one event: sets of 1 << term, of a filter with 64 terms at most.
struct filter_known {
    uint64_t yes, no, undecided;
};
void filter_know(struct filter_known *known, uint64_t terms, enum filter_verdict verdict);
// The verdict of the filter by what is known. *open: the terms whose verdicts may still change it; 0: it is
// final.
enum filter_verdict filter_decide(const struct filter *filter, const struct filter_known *known,
                                  uint64_t *open);

// The parts that must all match: terms, and what or joins.
size_t filter_parts(const struct filter *filter);
bool filter_part_term(const struct filter *filter, size_t part, size_t *term); // true: it is this term
// The i-th term of a part; false: it has fewer.
bool filter_part_terms(const struct filter *filter, size_t part, size_t i, size_t *term);
bool filter_part_is_choice(const struct filter *filter, size_t part); // of terms: one of them is enough
enum filter_verdict filter_match_part(struct filter *filter, size_t part, const struct event *event);

// The filter as an outline: the i-th row, or false. Terms that must all match have no row above them.
enum filter_join { JOIN_NONE, JOIN_ALL, JOIN_ANY };
struct filter_row {
    int depth;
    enum filter_join join; // of the rows below it; JOIN_NONE: a term
    size_t term;
};
bool filter_row(const struct filter *filter, size_t i, struct filter_row *row);

// The matches of the filter's positive patterns in one column's text, for highlighting. Returns their number.
enum filter_column {
    FILTER_COLUMN_ERROR,
    FILTER_COLUMN_STACK,
    FILTER_COLUMN_PAYLOAD,
    FILTER_COLUMN_KEY,
    FILTER_COLUMN_TYPE,
    FILTER_COLUMN_TOPIC,
    FILTER_COLUMN_SOURCE,
    FILTER_COLUMN_EVENT_ID
};
struct filter_span {
    size_t from;
    size_t len;
};
size_t filter_spans(struct filter *filter, enum filter_column column, struct bytes text,
                    struct filter_span *spans, size_t room);

// Completion of field names and of fixed values (category:, status:, is:, has:) at the end of `text`: the
// i-th candidate that replaces the last word (with its ! where it has one), or NULL. For the prompt.
const char *filter_complete(struct bytes text, size_t i);

// The fields with a sentence each, for help: the i-th, or false.
bool filter_field_help(size_t i, const char **name, const char **sentence);
// The same for what joins terms.
bool filter_join_help(size_t i, const char **name, const char **sentence);

#endif
