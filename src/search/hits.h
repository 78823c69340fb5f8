// search_hits: the verdicts of one part of a search (a term, or several with or between them), by the
// server's answer, while the texts are not in memory yet.
//
// The server is asked for the events whose text holds the required literals of the part. Only those come
// here, and are matched; every other event cannot match what the part looks for.
//
// Two ways lead there. Ranges: for the events that the search looks at first, range by range, some
// milliseconds each, on the connection of the search. The pass: for all events, one statement over the whole
// table, below what the column in memory holds, on another connection (search/text_seek). The pass says
// nothing of any event until it is over. Where most events would come, reading the column is as quick: then
// the pass is given up, or not begun.
#ifndef REDRIVE_SEARCH_HITS_H
#define REDRIVE_SEARCH_HITS_H

#include "core/filter/filter.h"
#include "search/text_seek.h"

struct hit_list {
    struct texts_page *page; // being matched, from row `at` on; NULL: none
    size_t at;
    struct hit {
        int64_t id;
        enum filter_verdict verdict; // other than `without`
    } * hits;
    size_t count, capacity;
};

struct search_hits {
    struct filter *filter;
    size_t part;
    bool is_inverted;            // a term with !
    enum filter_verdict without; // of events that did not come
    enum hits_state {
        HITS_NONE,   // the server is not asked
        HITS_NEAR,   // ranges only: the pass has not begun
        HITS_COMING, // the pass is under way
        HITS_WHOLE,  // the pass is over: every event is known
        HITS_VAIN,   // given up
    } state;
    struct text_seek *seek;
    struct event_scan scan; // its required literals are borrowed; the pass is about the ids that it bounds
    int64_t began;          // clock_mono
    size_t most, rows;      // rows of the pass: more than `most` end it, `rows` came

    struct hit_list far;  // of the pass; highest id first once it is over
    struct hit_list near; // of the last range, highest id first
    int64_t low, high;    // that range; low > high: none
    int64_t spread;       // ids that a range may have for each of its events
    size_t window;        // events of the next range
    size_t looked, came;  // of all ranges: events, and rows that came
};

// Begins for `count` events, in the order in which the search looks at them. Everything is borrowed until the
// release; the seek must not be busy.
void search_hits_begin(struct search_hits *hits, struct filter *filter, size_t part, struct text_seek *seek,
                       const struct event_scan *scan, const int64_t *ids, size_t count);
void search_hits_release(struct search_hits *hits);        // stops the pass
bool search_hits_are_open(const struct search_hits *hits); // the pass is still to come, or under way
void search_hits_seek(struct search_hits *hits);           // begins the pass, unless that is in vain
// Matches rows of the pass until `until` (clock_mono). may_wait: waits that long for rows where none came
// yet.
void search_hits_take(struct search_hits *hits, int64_t until, bool may_wait);
// One step towards the verdict of the first of these events, by ranges; *did: something was done. Nothing is
// done where the ids are too far apart for a range. A question that the server refuses gives up the hits;
// false: the server cannot be reached.
bool search_hits_look(struct search_hits *hits, struct store *store, const int64_t *ids, size_t count,
                      int64_t until, bool *did, struct err *err) MUST_CHECK;
bool search_hits_know(const struct search_hits *hits, int64_t id);
// The verdict of the part on an event that is known. *hint (begin with 0) makes walking the ids down quick.
enum filter_verdict search_hits_verdict(const struct search_hits *hits, int64_t id, size_t *hint);

#endif
