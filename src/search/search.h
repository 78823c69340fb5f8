// search: which of many pending events match a filter, in the order they are given in, a few milliseconds at
// a time.
//
// Each term is answered by what knows it cheapest: the backlog in memory, the texts held compressed in memory
// (a different text once, and only those with the literal of the pattern), the server's own search for what
// every match holds while they are not in memory yet, or the row itself. A row is read only where nothing
// else has said no. Every road gives the answer of filter_match on the whole event; what
// ran into a limit is among what is found, and counted. One thread, but for texts in memory, which several
// match while a step lasts; everything given is borrowed until search_destroy.
#ifndef REDRIVE_SEARCH_SEARCH_H
#define REDRIVE_SEARCH_SEARCH_H

#include "base/strbuf.h"
#include "core/backlog/backlog.h"
#include "core/filter/filter.h"
#include "search/text_cache.h"

// How the server is asked for what every match holds. By worth, but for tests: however little is missing, its
// pass is waited for, or there is none and all is asked for range by range.
enum search_seek { SEEK_BY_WORTH, SEEK_ALL_FIRST, SEEK_RANGES };

struct search_query {
    struct filter *filter;
    const int64_t *ids; // candidates
    size_t count;
    const struct backlog *backlog; // that they are from; NULL: rows are read for what it would know
    struct text_cache *cache;      // NULL: rows are read
    bool leaves_undecided;         // out of what is found: they are only counted
    enum search_seek seek;
    unsigned threads; // that match texts; 0: as many as there are processors, but a few at most
    // Called between pieces of work of some milliseconds: true ends the step early (may be NULL).
    bool (*is_wanted_elsewhere)(void *context);
    void *context;
};

struct search_found {
    int64_t *ids; // heap, grows; the caller takes or resets it
    size_t count, capacity;
    int64_t undecided; // among them or left out, since the search began
};

struct search;

struct search *search_create(const struct search_query *query);
void search_destroy(struct search *search);
// Goes on until `until` (clock_mono) or the end and appends what matches. False: the store failed; the place
// is kept, so it may go on after a reconnect.
bool search_step(struct search *search, struct store *store, int64_t until, struct search_found *found,
                 struct err *err) MUST_CHECK;
bool search_is_over(const struct search *search);
size_t search_at(const struct search *search); // candidates looked at
// How it went so far, a line each: what each term was answered from, and how much was read.
void search_explain(const struct search *search, struct strbuf *out);

#endif
