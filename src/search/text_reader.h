// text_reader: reads one long text of the pending events from the newest down, ahead of the thread that keeps
// the texts, so that PostgreSQL reads while this process compresses and matches.
//
// Several lanes (async/lane) take ranges of ids in turn. Pages come out in the order of the ids, highest
// first and without gaps; an id that is in no page is not pending. At most a handful of pages of about a
// megabyte is on its way. Lanes live from text_reader_begin to text_reader_rest. Used by one thread.
#ifndef REDRIVE_SEARCH_TEXT_READER_H
#define REDRIVE_SEARCH_TEXT_READER_H

#include "search/texts_page.h"

struct text_reader;

// Borrows the settings.
struct text_reader *text_reader_create(const struct store_settings *settings);
void text_reader_destroy(struct text_reader *reader);

// Begins below before_id (INT64_MAX: at the newest); the table's ids are lowest … highest. Pages of an
// earlier begin are thrown away.
void text_reader_begin(struct text_reader *reader, enum event_text text, int64_t before_id, int64_t lowest,
                       int64_t highest);
bool text_reader_is_reading(const struct text_reader *reader, enum event_text text);
// Stops reading and ends threads and connections.
void text_reader_rest(struct text_reader *reader);
// The next page; NULL: none within wait_us. The caller destroys it. A page with err leaves a gap: call
// text_reader_rest before the next begin, since other connections may be broken too.
struct texts_page *text_reader_take(struct text_reader *reader, int64_t wait_us);

#endif
