// text_cache: the long texts of the pending events, compressed in memory, so that a search for a regular
// expression does not read the table again.
//
// A column is filled from the newest event down, in steps of some milliseconds, when a search needs it (error
// messages also while nothing else is to be done), and holds at most `limit` bytes together with the others;
// what does not fit is read from the table each time. Error messages come from packs where somebody keeps
// them (store/rollup/packs.h), which are as true as the last comparison of all events, some ten seconds ago:
// what was written since is looked for at the next check, like any change. When the table says that rows were
// changed, those written since the look before are looked for, and the texts of what is held are renewed;
// where that are too many, everything is forgotten. Belongs to one thread.
#ifndef REDRIVE_SEARCH_TEXT_CACHE_H
#define REDRIVE_SEARCH_TEXT_CACHE_H

#include "core/backlog/column.h"
#include "search/text_seek.h"
#include "store/events/texts.h"

struct text_cache;

// limit 0: nothing is kept. settings: pages are read ahead on connections of its own (search/text_reader);
// NULL: on the store that is given, page by page. Borrowed.
struct text_cache *text_cache_create(int64_t limit, const struct store_settings *settings);
void text_cache_destroy(struct text_cache *cache);
// Who else holds something of pending events is told, by text_cache_check, which were written since it was
// told last (arrivals among them, in no order); ids NULL: too many to name, or nobody knows which.
typedef void text_cache_changed_fn(void *context, const int64_t *ids, size_t count);
void text_cache_tell(struct text_cache *cache, text_cache_changed_fn *changed, void *context);

// Looks whether what is held is still true; at most once a second.
bool text_cache_check(struct text_cache *cache, struct store *store, struct err *err) MUST_CHECK;
// Reads one page towards `id` (0: the bottom). *is_over: nothing more is to be had in that direction, or in
// the limit.
bool text_cache_fill(struct text_cache *cache, struct store *store, enum event_text text, int64_t id,
                     bool *is_over, struct err *err) MUST_CHECK;
// For a search: who asks the server which events hold a literal, where that is worth more than reading the
// column. It is the first time or where the column does not fit in the limit, and not while searches follow
// each other, because who types on is served best by a column that fills. NULL: not now.
struct text_seek *text_cache_seek(struct text_cache *cache, enum event_text text);
// Of how many events the text is to be had from packs (store/rollup/packs.h). Where that is most of the
// column, reading it is quicker than anything else.
size_t text_cache_packed(struct text_cache *cache, struct store *store, enum event_text text);
void text_cache_was_left(struct text_cache *cache); // by a search, before its end
void text_cache_rest(struct text_cache *cache);     // nothing is being searched for: gives back what it can
struct column *text_cache_column(struct text_cache *cache, enum event_text text);
// Another number once what was held is forgotten: texts have other numbers then.
uint64_t text_cache_generation(const struct text_cache *cache);
bool text_cache_is_full(const struct text_cache *cache);
size_t text_cache_memory(const struct text_cache *cache);

#endif
