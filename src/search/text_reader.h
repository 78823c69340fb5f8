// text_reader: reads one long text of the pending events from the newest down, on connections of its own and
// ahead of whoever keeps the texts, so that PostgreSQL reads while this process packs and matches.
//
// Several threads take ranges of ids in turn; pages come out in the order of the ids, without gaps. At most a
// handful of pages of about a megabyte is on its way. Threads and connections are there while it reads. Used
// by one thread.
#ifndef REDRIVE_SEARCH_TEXT_READER_H
#define REDRIVE_SEARCH_TEXT_READER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/events/texts.h"

struct text_reader;

// Pending events with ids in low … high, highest first. What is not there is not pending.
struct text_page {
    enum event_text text;
    int64_t low;
    bool is_bottom; // there is nothing below
    struct text_place {
        int64_t id;
        size_t from, len; // of bytes; len SIZE_MAX: absent
        bool fits;        // as in struct scanned_row
    } * places;
    size_t count, capacity;
    struct strbuf bytes;
    struct err err; // set: it could not be read, and there is a gap; rest before the next begin, since other
                    // connections may be broken too
    // Of the reader.
    uint64_t run;
    bool is_range_over;
    int64_t range_ids;
};
bool text_page_add(void *page, int64_t id, struct bytes text); // an event_text_fn, until the page is full
bool text_page_add_row(struct text_page *page, const struct scanned_row *row);
bool text_page_is_full(const struct text_page *page); // it has some megabytes
void text_page_destroy(struct text_page *page);
struct bytes text_page_at(const struct text_page *page, size_t i);

// Borrows the settings.
struct text_reader *text_reader_create(const struct store_settings *settings);
void text_reader_destroy(struct text_reader *reader);

// Begins below before_id (INT64_MAX: at the newest); the table's ids are lowest … highest. What was on its
// way is thrown away.
void text_reader_begin(struct text_reader *reader, enum event_text text, int64_t before_id, int64_t lowest,
                       int64_t highest);
bool text_reader_is_reading(const struct text_reader *reader, enum event_text text);
// Ends what it does, with threads and connections.
void text_reader_rest(struct text_reader *reader);
// The next page; NULL: none within wait_us. The caller destroys it.
struct text_page *text_reader_take(struct text_reader *reader, int64_t wait_us);

#endif
