// pages: events read page by page, ahead of who looks at them, by a thread of its own or by two.
//
// The threads alone use the stores, and what looks for original records, until pages_stop. Few pages are in
// memory: of each thread one that is read and one that waits, and those that were taken.
#ifndef REDRIVE_CORRECT_PAGES_H
#define REDRIVE_CORRECT_PAGES_H

#include "correct/correct.h"
#include "correct/shapes.h"
#include "store/events/events.h"

enum { PAGE_MOST = 4000, PAGE_FEW = 1000 };
// How many events a page has: PAGE_MOST, so that the cost of a statement does not count; PAGE_FEW where pages
// are to end by their events, not by `most_bytes`, and events are not known to be small. `event_bytes`: how
// large they are on average; 0: not known. `most_bytes` of SIZE_MAX: pages may end by either.
size_t pages_size(size_t event_bytes, size_t most_bytes);

// What one thread reads by, and no other uses.
struct page_source {
    struct store *store;
    struct shapes *shapes; // of the events; NULL: not wanted
};

enum { PAGE_SOURCES = 2 };

struct pages_settings {
    struct corrector *corrector; // that looks for original records
    struct page_source sources[PAGE_SOURCES];
    size_t source_count; // two take turns, page by page; only with `size`
    const int64_t *ids;  // ascending; borrowed
    size_t count;
    const size_t *sizes; // how many events each page has, as many pages as there are; borrowed
    size_t size;         // where `sizes` is NULL: of every page
    bool is_careful;   // a page has PAGE_FEW events at most until one was read that shows that they are small
    size_t most_bytes; // of texts, after which a page ends early; then the next one has the rest of it
    int64_t until;     // clock_mono after which the thread begins no other page; 0: it reads all
    bool is_kept_for_good; // original records that were found are written down
};

struct page {
    const int64_t *ids;            // that it answers
    size_t count;                  // of ids
    struct event_page events;      // of these ids those that are still there
    const char **troubles;         // why the original of an event could not be read; NULL: none
    const struct shape **shape_of; // one an event, where shapes are wanted
    bool ends_turn;                // the next one is from the other source
    bool ok;                       // false: it could not be read, and it is the last one
    struct err err;
};
void page_destroy(struct page *page); // NULL is fine

struct pages;
struct pages *pages_start(const struct pages_settings *settings);
struct page *pages_next(struct pages *pages); // waits; the caller's. NULL: there is no other
// Ends the thread after the page that it reads, and forgets what nobody took.
void pages_stop(struct pages *pages);

// The same without a thread, by the first source: reads the page that begins `from` ids behind the first, at
// most `most` events.
struct page *pages_read(const struct pages_settings *settings, size_t from, size_t most);

#endif
