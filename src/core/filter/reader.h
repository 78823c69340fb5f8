// filter_reader: the line being read. Private part of parsing, shared by the grammar (parse.c), the words
// that join terms (operators.c) and the reading of one term (read_term.c).
#ifndef REDRIVE_CORE_FILTER_READER_H
#define REDRIVE_CORE_FILTER_READER_H

#include "core/filter/parse.h"

// A value as it is meant, and for each of its bytes where that stands in the line.
struct spelled {
    struct strbuf text;
    size_t *at;
    size_t capacity;
};

// The line being read. Positions are bytes of it; errors give characters.
struct filter_reader {
    struct bytes text;
    size_t at;
    struct filter *filter;
    struct err *err;
    int brackets;                   // open around `at`
    size_t plain_from, plain_until; // no bracket that begins here holds a term
};

void spelled_add(struct spelled *value, char c, size_t at);
void spelled_release(struct spelled *value);

// Always false: the mistake is at this byte of the line.
bool filter_wrong(struct filter_reader *reader, size_t at, const char *sentence);
// At a blank, at the end of the line, or at the bracket that closes the ones around.
bool filter_ends_word(const struct filter_reader *reader, size_t at);

// How the escapes within quotes are meant: an expression has its own, so that only \" or \/ is undone.
enum filter_form { FORM_EXACT, FORM_EXPRESSION };

// A value at reader->at: "…", /…/ or up to the end of the word. *own: brackets of an expression that earlier
// words of it have opened; NULL: none.
bool filter_read_value(struct filter_reader *reader, enum filter_form form, int *own, struct spelled *value);
bool filter_compile(struct filter_reader *reader, struct filter_term *term, const struct spelled *expression);
struct filter_term *filter_add_term(struct filter_reader *reader, enum filter_field field, bool is_inverted);
// What stands behind the colon of a field, or a $.path and its test.
bool filter_read_term(struct filter_reader *reader, enum filter_field field, bool is_inverted);

// --- operators.c: what joins terms, and what is text ---

// The name before a colon at `at`, lower-case letters and dashes; len 0: there is none.
struct bytes filter_field_name(struct bytes text, size_t at);
// The end of an unquoted word, or of the unquoted part of a value.
size_t filter_word_end(const struct filter_reader *reader, size_t at, int *own);
// Does the slash at `at` begin an expression, that is, does its closing slash end a word? /api/v1 is text.
bool filter_is_expression(const struct filter_reader *reader, size_t at);
// Does the bracket at `at`, where a word begins, hold a term, or a word with `!`? Else it belongs to a
// regular expression.
bool filter_is_bracket(struct filter_reader *reader, size_t at);
bool filter_has_term(struct bytes text); // would it, around this text
// Is this the word at `at`?
bool filter_is_word(const struct filter_reader *reader, size_t at, const char *word);
// Is the word at `at` a `not` before a term or a bracket? *next: where that begins.
bool filter_is_not(struct filter_reader *reader, size_t at, size_t *next);
// Does `or` join at this level, from reader->at to its end: does one stand beside a term, a bracket or an !?
bool filter_or_joins(struct filter_reader *reader);

#endif
