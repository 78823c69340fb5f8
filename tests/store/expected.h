// expected: a table of dead letters that is hard to search, terms of every field of the filter language, and
// for each term which events it matches, said by PostgreSQL in a predicate of its own rather than by a
// filter.
#ifndef REDRIVE_TESTS_STORE_EXPECTED_H
#define REDRIVE_TESTS_STORE_EXPECTED_H

#include "world.h"

#include "core/backlog/backlog.h"
#include "core/filter/filter.h"

enum { EXPECTED_EVENTS = 1000, EXPECTED_TERMS = 180 };

struct expected {
    struct world world;
    struct category_rules *rules;
    struct store_settings settings; // with these rules, in a zone that is not the server's
    struct store *store;
    struct backlog *backlog;
    struct event_page page; // everything of every event, highest id first
    int64_t *ids;           // of pending events, newest first
    size_t count;
    // By term and id: a verdict of enum filter_verdict.
    unsigned char says[EXPECTED_TERMS][EXPECTED_EVENTS + 1];
    size_t terms;
};

void expected_begin(struct expected *expected);
void expected_begin_alone(
    struct expected *expected); // no records and no corrected payloads are kept beside the table
void expected_end(struct expected *expected);

const char *expected_term(size_t i); // as it is typed, without its !
struct filter *expected_parse(const struct expected *expected, const char *text);
const struct event *expected_event(const struct expected *expected, int64_t id);

// How the terms of a filter are joined.
enum expected_join {
    EXPECTED_ALL,       // one two three
    EXPECTED_ANY,       // one or two or three
    EXPECTED_ANY_FIRST, // (one or two) three
    EXPECTED_NOT_ALL,   // not (one two three)
    EXPECTED_JOINS
};

// A filter of some of these terms, each as it is or inverted.
struct expected_filter {
    enum expected_join join;
    char text[500];
    size_t terms[4];
    bool inverted[4];
    size_t count;
};
// Left out where it would run together with one that is there.
void expected_add(struct expected_filter *filter, size_t term, bool is_inverted);
enum filter_verdict expected_says(const struct expected *expected, const struct expected_filter *filter,
                                  int64_t id);

#endif
