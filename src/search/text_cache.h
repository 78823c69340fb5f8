// text_cache: long texts of the pending events, compressed in memory, so that a search for a regular
// expression does not read the table again.
//
// A search that needs a column fills it from the newest event down, in steps of some milliseconds; error
// messages, and what the server was asked about, are filled also while nothing else is to be done. All
// columns together hold at most `limit` bytes; the rest is read from the table each time. Error messages come
// from snapshots (store/rollup/snapshots.h) where a maintainer keeps them.
//
// Stale texts. Every text was read after the cache's xmin floor. The cache asks once a second whether the
// table's change counter has moved; then a look (search/text_watch) finds the rows written since the floor,
// and their texts are renewed. Snapshots are as true as the maintainer's last comparison, some ten seconds
// ago: adopting one lowers the floor to the snapshot's, so the next look finds what was written since. Where
// a look finds too many rows, the cache forgets everything.
//
// A cache belongs to one thread.
#ifndef REDRIVE_SEARCH_TEXT_CACHE_H
#define REDRIVE_SEARCH_TEXT_CACHE_H

#include "core/backlog/column.h"
#include "search/text_seek.h"
#include "store/events/texts.h"

struct text_cache;

// limit 0: nothing is kept. settings (borrowed): pages are read ahead on other connections
// (search/text_reader); NULL: page by page, on the store of each call.
struct text_cache *text_cache_create(int64_t limit, const struct store_settings *settings);
void text_cache_destroy(struct text_cache *cache);
// text_cache_check calls `changed` with the events that a look found written (arrivals among them, in no
// order), for somebody else who keeps copies of pending events. ids NULL: too many to name, or unknown which.
typedef void text_cache_changed_fn(void *context, const int64_t *ids, size_t count);
void text_cache_tell(struct text_cache *cache, text_cache_changed_fn *changed, void *context);

// Looks whether the texts are still those of the table, at most once a second, and renews them.
bool text_cache_check(struct text_cache *cache, struct store *store, struct err *err) MUST_CHECK;
// Reads one page towards `id` (0: the bottom). *is_over: the table has no more in that direction, or the
// limit is reached.
bool text_cache_fill(struct text_cache *cache, struct store *store, enum event_text text, int64_t id,
                     bool *is_over, struct err *err) MUST_CHECK;
// For a search that began at this clock_mono and would ask the server which events hold a literal. NULL:
// reading the column is worth more now. While a person types, searches follow each other, each gives up what
// the server did for the one before, and a column that fills serves them all; a search that nobody gave up
// for some tenths of a second may ask.
struct text_seek *text_cache_seek(struct text_cache *cache, enum event_text text, int64_t began);
// Is the column to be filled while nothing else is to be done: error messages, and what the server was asked
// about? False: also where it reaches down to the bottom and up to `highest`, or the limit is reached.
bool text_cache_wants(const struct text_cache *cache, enum event_text text, int64_t highest);
// Of how many events snapshots hold the text. Where that is most of the column, reading them is quicker than
// asking the server.
size_t text_cache_in_snapshots(struct text_cache *cache, struct store *store, enum event_text text);
// Are there texts in the cache that another process wrote into a snapshot? They may be anything.
bool text_cache_has_foreign(const struct text_cache *cache);
void text_cache_was_left(struct text_cache *cache); // a search was given up before its end
void text_cache_rest(struct text_cache *cache);     // no search runs: ends idle connections
struct column *text_cache_column(struct text_cache *cache, enum event_text text);
// Changes when the cache forgets everything: from then on texts have other numbers.
uint64_t text_cache_generation(const struct text_cache *cache);
bool text_cache_is_full(const struct text_cache *cache);
size_t text_cache_memory(const struct text_cache *cache);

#endif
