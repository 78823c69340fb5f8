// search_hits: of a search, what one term says of every event by one pass of the server over the table
// (engine/text_seek): those that hold what every match holds come here and are matched, all the
// others do not match.
//
// For a search whose texts are not in memory yet: half the work of reading them all. Nothing is said until
// the pass is over, and it is given up where so many texts come that reading all is as good.
#ifndef REDRIVE_ENGINE_SEARCH_HITS_H
#define REDRIVE_ENGINE_SEARCH_HITS_H

#include "core/filter.h"
#include "engine/text_seek.h"

struct search_hits {
    struct filter *filter;
    size_t term;
    struct text_seek *seek; // NULL: nobody was asked, or to no end
    int64_t began;          // clock_mono
    bool is_whole;
    struct text_page *page; // that is being matched, from row `at` on
    size_t at;
    size_t most, rows; // that come before it is given up, and came
    struct hit {
        int64_t id;
        bool is_undecided;
    } * hits; // in the end highest id first
    size_t count, capacity;
};

// Begins for the events with this term, of which there are `count`. Both are borrowed until the release, the
// seek is to be free.
void search_hits_begin(struct search_hits *hits, struct filter *filter, size_t term, struct text_seek *seek,
                       const struct event_scan *scan, size_t count);
void search_hits_release(struct search_hits *hits); // stops it
bool search_hits_are_coming(const struct search_hits *hits);
// Matches what came until `until` (clock_mono), for which it waits where nothing is there yet and it may.
void search_hits_take(struct search_hits *hits, int64_t until, bool may_wait);
// What the term says, once is_whole. *hint (begin with 0) makes walking the ids down quick.
enum filter_verdict search_hits_verdict(const struct search_hits *hits, int64_t id, size_t *hint);

#endif
