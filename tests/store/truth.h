// truth: a table of dead letters that is hard to search, terms of every field of the filter language, and for
// each term which events it matches, said by PostgreSQL in a predicate of its own rather than by a filter.
#ifndef REDRIVE_TESTS_STORE_TRUTH_H
#define REDRIVE_TESTS_STORE_TRUTH_H

#include "world.h"

#include "core/backlog/backlog.h"
#include "core/filter/filter.h"

enum { TRUTH_EVENTS = 1000, TRUTH_TERMS = 180 };

struct truth {
    struct world world;
    struct category_rules *rules;
    struct store_settings settings; // with these rules, in a zone that is not the server's
    struct store *store;
    struct backlog *backlog;
    struct event_page page; // everything of every event, highest id first
    int64_t *ids;           // of pending events, newest first
    size_t count;
    // By term and id: a verdict of enum filter_verdict.
    unsigned char says[TRUTH_TERMS][TRUTH_EVENTS + 1];
    size_t terms;
};

void truth_begin(struct truth *truth);
void truth_begin_alone(struct truth *truth); // no records and no corrected payloads are kept beside the table
void truth_end(struct truth *truth);

const char *truth_term(size_t i); // as it is typed, without its !
struct filter *truth_parse(const struct truth *truth, const char *text);
const struct event *truth_event(const struct truth *truth, int64_t id);

// A filter of some of these terms, each as it is or inverted.
struct truth_filter {
    char text[500];
    size_t terms[4];
    bool inverted[4];
    size_t count;
};
// Left out where it would run together with one that is there.
void truth_add(struct truth_filter *filter, size_t term, bool is_inverted);
enum filter_verdict truth_says(const struct truth *truth, const struct truth_filter *filter, int64_t id);

#endif
