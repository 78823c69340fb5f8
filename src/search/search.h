// search: which of many pending events match a filter, in the order in which they are given, a few
// milliseconds at a time.
//
// Each term is answered by the cheapest source that knows:
//   the backlog in memory          short columns;
//   the text cache in memory       long texts; a text that many events share is matched once, and only where
//   it
//                                  holds the literal of the pattern;
//   the server (search/hits)       which events hold the literals of a pattern, while the cache is not
//   filled; the row                        where no other source has said no.
// Every source gives the verdict that filter_match gives on the whole event. An event that ran into a limit
// is undecided: it is found and counted, never treated as no match.
//
// A search belongs to one thread; other threads match texts only while search_step runs. Everything that the
// query points to is borrowed until search_destroy.
#ifndef REDRIVE_SEARCH_SEARCH_H
#define REDRIVE_SEARCH_SEARCH_H

#include "base/strbuf.h"
#include "core/backlog/backlog.h"
#include "core/filter/filter.h"
#include "search/text_cache.h"

// How the server is asked. SEEK_BY_WORTH is for programs; tests force a pass that is waited for, or ranges
// only, however little the cache misses.
enum search_seek { SEEK_BY_WORTH, SEEK_ALL_FIRST, SEEK_RANGES };

struct search_query {
    struct filter *filter;
    const int64_t *ids; // candidates
    size_t count;
    const struct backlog *backlog; // of the candidates; NULL: short columns are read from rows
    struct text_cache *cache;      // NULL: texts are read from rows
    bool leaves_undecided;         // undecided events are counted and not found
    enum search_seek seek;
    unsigned threads; // that match texts; 0: one for each processor, a few at most
    // Called every few milliseconds: true ends the step early (may be NULL).
    bool (*is_wanted_elsewhere)(void *context);
    void *context;
};

struct search_found {
    int64_t *ids; // heap, grows; the caller takes or resets it
    size_t count, capacity;
    int64_t undecided; // events, found or left out, since the search began
};

struct search;

struct search *search_create(const struct search_query *query);
void search_destroy(struct search *search);
// Searches until `until` (clock_mono) or the end, and appends matches. False: the store failed; the search
// keeps its place and may continue after a reconnect.
bool search_step(struct search *search, struct store *store, int64_t until, struct search_found *found,
                 struct err *err) MUST_CHECK;
bool search_is_over(const struct search *search);
size_t search_at(const struct search *search); // candidates looked at
// How much was read and matched so far, in lines for a person.
void search_explain(const struct search *search, struct strbuf *out);

#endif
