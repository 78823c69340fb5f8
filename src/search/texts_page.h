// texts_page: one long text of some pending events, as rows that came together from PostgreSQL.
#ifndef REDRIVE_SEARCH_TEXTS_PAGE_H
#define REDRIVE_SEARCH_TEXTS_PAGE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/events/texts.h"

struct texts_page {
    enum event_text text;
    struct texts_row {
        int64_t id;
        size_t from, len; // in bytes; len SIZE_MAX: absent
        bool fits;        // as in struct scanned_row
    } * rows;
    size_t count, capacity;
    struct strbuf bytes;
    bool is_bottom; // nothing comes after this page
    struct err err; // set: the rest could not be read

    // Of search/text_reader: the page holds all pending events with ids from low up to the page before it.
    int64_t low;
    bool is_range_over; // the last page of its range,
    int64_t range_ids;  // which has so many ids
};

struct texts_page *texts_page_create(enum event_text text);
void texts_page_destroy(struct texts_page *page); // NULL is fine
void texts_page_drop(void *page);                 // the same, for queues
// The bytes are copied. False: the page is full (some megabytes), take no more.
bool texts_page_add(void *page, int64_t id, struct bytes text); // an event_text_fn
bool texts_page_add_row(struct texts_page *page, const struct scanned_row *row);
bool texts_page_is_full(const struct texts_page *page);
void texts_page_clear(struct texts_page *page); // takes its rows away
void texts_page_reverse(struct texts_page *page);
struct bytes texts_page_at(const struct texts_page *page, size_t i);

#endif
