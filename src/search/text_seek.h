// text_seek: one pass of the server over the table that finds the pending events whose text may match, on a
// lane of its own (async/lane).
//
// The pass is one statement, so that the server may use several processes. Its rows come in no order: nothing
// is known of an event that did not come until the pass is over. At most a handful of pages of about a
// megabyte is on its way. The connection stays until text_seek_rest. Used by one thread.
#ifndef REDRIVE_SEARCH_TEXT_SEEK_H
#define REDRIVE_SEARCH_TEXT_SEEK_H

#include "search/texts_page.h"

struct text_seek;

struct text_seek *text_seek_create(const struct store_settings *settings); // borrowed
void text_seek_destroy(struct text_seek *seek);

void text_seek_prepare(struct text_seek *seek); // connects, so that the pass does not wait for it
// Begins a pass; the scan's required literals are copied. Not while it is busy.
void text_seek_begin(struct text_seek *seek, const struct event_scan *scan);
// The next page, NULL: none within wait_us. The last one is_bottom, with err where the pass failed. The
// caller destroys it.
struct texts_page *text_seek_take(struct text_seek *seek, int64_t wait_us);
void text_seek_stop(struct text_seek *seek); // ends the pass; does not wait for the server
bool
text_seek_is_busy(const struct text_seek *seek); // a pass was begun, and neither stopped nor taken to its end
// Ends thread and connection, where nothing used them for a while.
void text_seek_rest(struct text_seek *seek);

#endif
