// search_hits: of a search, what one term says of events by what the server finds: those that fit the
// required of its pattern come here and are matched, all the others do not match the pattern.
//
// For a search whose texts are not in memory yet. The events that are looked at first are asked for range by
// range, a few milliseconds each, on the connection of the search; all of them by one pass over the table on
// another one (search/text_seek), which is given up, or not begun, where so many texts come that reading all
// is as good. Nothing is said by the pass until it is over.
#ifndef REDRIVE_SEARCH_HITS_H
#define REDRIVE_SEARCH_HITS_H

#include "core/filter/filter.h"
#include "search/text_seek.h"

struct hit_list {
    struct text_page *page; // that is being matched, from row `at` on
    size_t at;
    struct hit {
        int64_t id;
        enum filter_verdict verdict; // other than of what does not match the pattern
    } * hits;
    size_t count, capacity;
};

struct search_hits {
    struct filter *filter;
    size_t term;
    bool is_inverted;
    enum hits_state {
        HITS_NONE,   // nobody is asked
        HITS_NEAR,   // the pass has not begun
        HITS_COMING, // it is under way
        HITS_WHOLE,  // and over: everything is known
        HITS_VAIN,   // or to no end
    } state;
    struct text_seek *seek;
    struct event_scan scan; // its required is the pattern's
    int64_t began;          // clock_mono
    size_t most, rows;      // that come before the pass is given up, and came

    struct hit_list far;  // of the pass; in the end highest id first
    struct hit_list near; // of the last range, highest id first
    int64_t low, high;    // that range; low > high: none
    int64_t spread;       // ids that a range may have for each of its events
    size_t window;        // events of the next range
    size_t looked, came;  // events of all ranges, and rows that came
};

// Begins for `count` events, in the order in which they are looked at, with this term. All is borrowed until
// the release, the seek is to be free.
void search_hits_begin(struct search_hits *hits, struct filter *filter, size_t term, struct text_seek *seek,
                       const struct event_scan *scan, const int64_t *ids, size_t count);
void search_hits_release(struct search_hits *hits);        // stops the pass
bool search_hits_are_open(const struct search_hits *hits); // something may come yet
void search_hits_seek(struct search_hits *hits);           // begins the pass, unless that is vain
// Matches what came of the pass until `until` (clock_mono), for which it waits where nothing is there yet and
// it may.
void search_hits_take(struct search_hits *hits, int64_t until, bool may_wait);
// Goes on towards what the first of these events is; *did: something was done. Not where they lie too far
// apart to be asked for together. What the server cannot be asked for (a letter that its encoding does not
// have) is given up; false: it cannot be reached.
bool search_hits_look(struct search_hits *hits, struct store *store, const int64_t *ids, size_t count,
                      int64_t until, bool *did, struct err *err) MUST_CHECK;
bool search_hits_know(const struct search_hits *hits, int64_t id);
// What the term says of an event that is known. *hint (begin with 0) makes walking the ids down quick.
enum filter_verdict search_hits_verdict(const struct search_hits *hits, int64_t id, size_t *hint);

#endif
