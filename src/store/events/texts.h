// event_texts: one long column of many pending events, for a search that keeps it (search/text_cache).
#ifndef REDRIVE_STORE_EVENTS_TEXTS_H
#define REDRIVE_STORE_EVENTS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "store/store.h"

enum event_text {
    EVENT_TEXT_ERROR,
    EVENT_TEXT_STACK,
    EVENT_TEXT_KEY,     // the record's key where it is kept, else source_id; not for store_scan_texts
    EVENT_TEXT_PAYLOAD, // as EVENT_PAYLOAD: newest revision, else raw bytes, else the jsonb's text
    EVENT_TEXT_COUNT
};

// Pending events with ids above after_id and below before_id, highest first or lowest first, at most `limit`.
// They come one by one, so that long ones are not here together; the bytes are valid during the call. false:
// that was enough, the rest is not read.
struct event_texts_query {
    enum event_text text;
    int64_t after_id, before_id;
    bool ascending;
    size_t limit;
    const int64_t *ids; // of these only, in no order (with id_count); NULL: by the above
    size_t id_count;
};
typedef bool event_text_fn(void *context, int64_t id, struct bytes text);
bool store_event_texts(struct store *store, const struct event_texts_query *query, event_text_fn *each,
                       void *context, struct err *err) MUST_CHECK;

// The lowest and highest id of all events; 0 and 0 when there are none.
bool store_id_bounds(struct store *store, int64_t *lowest, int64_t *highest, struct err *err) MUST_CHECK;

// One pass over the whole column, in the table's order, in one statement. Only rows whose text fits the
// required (core/filter/required_literals), where one is given; caseless: by required_ignore_case, where
// is_indexed of "i" too, because then the server's idea of case decides. Rows whose payload is kept elsewhere
// come in any case.
struct event_scan {
    enum event_text text;
    unsigned statuses;     // set of 1 << enum event_status; more may come
    struct bytes required; // absent or empty: every row
    bool is_caseless;
    bool is_enough;  // what fits the required (there is one) matches: its text is not read
    bool is_indexed; // by store_trigram_index
};
struct scanned_row {
    int64_t id;
    int64_t created_wall; // as in struct event
    struct bytes text;
    bool fits; // and that was enough: the text did not come
};
// One by one; the bytes are valid during the call. false: stop, ERR_CANCELLED.
typedef bool event_scan_fn(void *context, const struct scanned_row *row);
bool store_scan_texts(struct store *store, const struct event_scan *scan, event_scan_fn *each, void *context,
                      struct err *err) MUST_CHECK;
// The same of pending events with ids low … high alone, highest first; false: that was enough.
bool store_scan_range(struct store *store, const struct event_scan *scan, int64_t low, int64_t high,
                      event_scan_fn *each, void *context, struct err *err) MUST_CHECK;

// How many of the rows with ids from `lowest` on fit the scan's required, by the server's own count: to
// measure.
bool store_count_fitting(struct store *store, const struct event_scan *scan, int64_t lowest, int64_t *count,
                         struct err *err) MUST_CHECK;

// A number that changes when a row of the contract table, or what its payload may come from, was changed,
// deleted or, of the latter, added; late by up to some seconds (pg_stat_all_tables). Arrivals do not change
// it.
bool store_change_count(struct store *store, int64_t *count, struct err *err) MUST_CHECK;

// Which pending events, or what their payloads come from, were written by a transaction that was not yet over
// when the mark was made: at most `limit` ids up to `highest`, heap, the caller frees. A pass over the table.
// Arrivals are among them.
bool store_xmin_floor(struct store *store, int64_t *mark, struct err *err) MUST_CHECK;
bool store_changed_ids(struct store *store, int64_t mark, int64_t highest, size_t limit, int64_t **ids,
                       size_t *count, struct err *err) MUST_CHECK;

// Does the table have a trigram index (pg_trgm) on this column? *name (may be NULL) receives it, "" without.
bool store_trigram_index(struct store *store, enum event_text text, char name[64],
                         struct err *err) MUST_CHECK;

#endif
