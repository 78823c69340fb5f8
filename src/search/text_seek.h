// text_seek: which pending events fit an required in one of their texts, by one pass of the server over the
// table, on a thread and a connection of its own.
//
// The server is asked in one statement, so that it may use several processes, and gives the events in no
// order: nothing is known of an event that did not come until all is over. At most a handful of pages of
// about a megabyte is on its way. The connection stays until text_seek_rest. Used by one thread.
#ifndef REDRIVE_SEARCH_TEXT_SEEK_H
#define REDRIVE_SEARCH_TEXT_SEEK_H

#include "search/text_reader.h"

struct text_seek;

struct text_seek *text_seek_create(const struct store_settings *settings); // borrowed
void text_seek_destroy(struct text_seek *seek);

void text_seek_prepare(struct text_seek *seek); // connects, so that the pass does not wait for it
// Begins; the required is copied. Not while it is busy.
void text_seek_begin(struct text_seek *seek, const struct event_scan *scan);
// The next page, NULL: none within wait_us. The last one is_bottom, with err where it failed. The caller
// destroys it.
struct text_page *text_seek_take(struct text_seek *seek, int64_t wait_us);
void text_seek_stop(struct text_seek *seek);          // at once; does not wait for the server
bool text_seek_is_busy(const struct text_seek *seek); // begun, and neither stopped nor over
// Gives thread and connection back where they were not used for a while.
void text_seek_rest(struct text_seek *seek);

#endif
